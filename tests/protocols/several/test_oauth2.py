"""OAuth 2: a token is fetched at its first use, renewed in time and after a 401, and never seen by a program."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from atc import Agent
from protocols import APIError, Protocol, UsageError
from protocols.calls.auth import credential
from protocols.calls.credentials import ANY_REQUEST, BearerToken
from protocols.calls.redaction import redact
from sandbox import Journal, Sandbox
from tests.local_api import Answer, LocalAPI, Received
from tests.protocols.several.token_server import CLIENT_SECRET, TokenServer, token_server
from tests.scripted import ScriptedModel

LIST = "print(GET_alerts())"


@pytest.fixture
def tokens(monkeypatch: pytest.MonkeyPatch) -> Iterator[TokenServer]:
    """A token server, and in the environment a client of it under the prefix SHOP."""
    with token_server() as server:
        monkeypatch.setenv("SHOP_TOKEN_URL", server.url)
        monkeypatch.setenv("SHOP_CLIENT_ID", "me")
        monkeypatch.setenv("SHOP_CLIENT_SECRET", CLIENT_SECRET)
        monkeypatch.setenv("SHOP_SCOPE", "read write")
        yield server


def bearers(api: LocalAPI) -> list[str]:
    return [received.headers["authorization"].removeprefix("Bearer ") for received in api.requests]


def test_a_token_is_fetched_once_and_used_for_all_calls(tokens: TokenServer, api: LocalAPI) -> None:
    """Nothing is asked before the first call; later runs use the same token."""
    signed = credential("oauth2:env:SHOP", api.protocol)
    assert tokens.forms == []
    sandbox = Sandbox(api.protocol, credentials=[signed])
    sandbox.run(f"{LIST}\n{LIST}")
    sandbox.run(LIST)

    assert bearers(api) == ["token-1-c0de"] * 3
    assert tokens.forms == [{"grant_type": "client_credentials", "scope": "read write"}]
    assert tokens.clients == [f"me:{CLIENT_SECRET}"]


@pytest.mark.parametrize(
    "program", [LIST, "print(POST_alerts(text='a'))", "import requests\nprint(requests.get('URL/alerts').json())"]
)
def test_a_refused_token_is_renewed_once(tokens: TokenServer, api: LocalAPI, program: str) -> None:
    """A 401 leads to another token and one more try; a write is not done by a service that refuses it."""

    def answer(received: Received) -> Answer:
        good = received.headers["authorization"] == "Bearer token-2-c0de"
        return Answer(200, []) if good else Answer(401, {"message": "expired"})

    api.respond("GET", "/alerts", answer)
    api.respond("POST", "/alerts", answer)
    with Journal() as journal:
        sandbox = Sandbox(api.protocol, credentials=[credential("oauth2:env:SHOP", api.protocol)], journal=journal)
        run = sandbox.run(program.replace("URL", api.url))

    assert run.stdout == "[]\n", run.error
    assert bearers(api) == ["token-1-c0de", "token-2-c0de"]
    assert [call.attempts for call in run.calls] == [2]


def test_tokens_are_redacted_also_those_fetched_later(tokens: TokenServer, api: LocalAPI) -> None:
    """After nine tenths of its life a token is renewed. A service that tells a token or the secret tells nobody."""
    api.respond("GET", "/alerts", lambda received: Answer(200, [received.headers["authorization"], CLIENT_SECRET]))
    tokens.life = 0.2
    signed = credential("oauth2:env:SHOP", api.protocol)
    program = f"import time\n{LIST}\ntime.sleep(0.3)\n{LIST}"
    run = Sandbox(api.protocol, credentials=[signed]).run(program)

    assert run.stdout == "['Bearer [secret]', '[secret]']\n" * 2
    assert bearers(api) == ["token-1-c0de", "token-2-c0de"]
    assert "c0de" not in repr(run)
    assert redact("token-1-c0de token-2-c0de", [signed]) == "[secret] [secret]"
    assert "c0de" not in repr(signed)
    assert CLIENT_SECRET not in repr(signed)


def _file(tokens: TokenServer, folder: Path) -> Path:
    path = folder / "client.json"
    settings = {"token_url": tokens.url, "client_id": "me", "client_secret": CLIENT_SECRET, "note": "mine"}
    path.write_text(json.dumps({**settings, "refresh_token": "refresh-0-beef"}))
    path.chmod(0o644)
    return path


def test_a_rotated_refresh_token_is_written_back(tokens: TokenServer, api: LocalAPI, tmp_path: Path) -> None:
    """Each refresh token is used once; the new one is in the file, for its owner alone, with all else as it was."""
    tokens.rotates, tokens.life = True, 0.1
    path = _file(tokens, tmp_path)
    sandbox = Sandbox(api.protocol, credentials=[credential(f"oauth2:file:{path}", api.protocol)])
    sandbox.run(LIST)
    time.sleep(0.1)
    sandbox.run(LIST)
    content = json.loads(path.read_text())

    assert [form["grant_type"] for form in tokens.forms] == ["refresh_token"] * 2
    assert [form["refresh_token"] for form in tokens.forms] == ["refresh-0-beef", "refresh-1-beef"]
    assert (content["refresh_token"], content["note"]) == ("refresh-2-beef", "mine")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["client.json"]


def test_the_newest_refresh_token_in_the_file_counts(tokens: TokenServer, tmp_path: Path) -> None:
    """Two processes share a file: the second one uses the token that the first one wrote."""
    tokens.rotates = True
    path = _file(tokens, tmp_path)
    first, second = (credential(f"oauth2:file:{path}", None) for _ in range(2))
    first.sign(ANY_REQUEST)
    second.sign(ANY_REQUEST)

    assert [form["refresh_token"] for form in tokens.forms] == ["refresh-0-beef", "refresh-1-beef"]


def test_a_token_whose_refresh_token_is_lost_is_not_used(tmp_path: Path) -> None:
    """The file cannot be written: the old refresh token may be used up, which is told at each call, not once."""
    path = tmp_path / "client.json"

    def answered(_: Received) -> Answer:
        path.unlink()
        path.mkdir()  # nothing is written over a folder
        return Answer(200, {"access_token": "token-1-c0de", "token_type": "Bearer", "refresh_token": "refresh-1-beef"})

    with LocalAPI() as server:
        server.respond("POST", "/token", answered)
        settings = {"token_url": f"{server.url}/token", "client_id": "me", "refresh_token": "refresh-0-beef"}
        path.write_text(json.dumps(settings))
        signed = credential(f"oauth2:file:{path}", None)
        for message in ("the new refresh token cannot be written to .* may be used up", "cannot be read"):
            with pytest.raises(UsageError, match=message) as raised:
                signed.sign(ANY_REQUEST)
            assert "beef" not in str(raised.value)


def test_a_solve_without_a_token_says_so(tokens: TokenServer, api: LocalAPI) -> None:
    """The solution's status is api_error; what the server says is quoted, without the secret."""
    tokens.refused = f"no client with {CLIENT_SECRET}"
    model = ScriptedModel(f"```python\n{LIST}\n```")
    with Agent(api.protocol, model=model, auth=["oauth2:env:SHOP"]) as agent:
        solution = agent.solve("Which alerts are there?")

    assert (solution.status, solution.exit_code) == ("api_error", 6)
    assert "gave no token: invalid_client: no client with [secret]" in solution.message
    assert CLIENT_SECRET not in str(solution.to_json())


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(500, {"oops": 1}), "answered 500"),
        (Answer(200, "<html>"), "no JSON object of OAuth 2"),
        (Answer(200, ["x"]), "no JSON object of OAuth 2|no access token"),
        *((Answer(200, {"access_token": text}), "gave no access token") for text in ("abc", "tokén", "token\r\nX: y")),
        (Answer(200, {"token_type": "bearer"}), "gave no access token"),
        (Answer(200, {"access_token": "abcdef", "token_type": "mac"}), "another type than bearer"),
        (Answer(302, None, {"Location": "http://127.0.0.1:9/"}), "gave no token|no JSON object|no access token"),
    ],
)
def test_an_answer_that_is_no_token_is_told(tokens: TokenServer, answer: Answer, message: str) -> None:
    tokens.api.respond("POST", "/token", lambda received: answer)
    with pytest.raises(APIError, match=message):
        credential("oauth2:env:SHOP", None).sign(ANY_REQUEST)


@pytest.mark.parametrize("status", [302, 307, 308])
@pytest.mark.parametrize("refreshes", [True, False])
def test_a_client_secret_does_not_follow_a_redirect(status: int, refreshes: bool, tmp_path: Path) -> None:
    """The secret and the refresh token are for the server that the settings name."""
    with LocalAPI() as named, LocalAPI() as elsewhere:
        elsewhere.answer("POST", "/token", {"access_token": "a-token-of-mine", "token_type": "Bearer"})
        named.respond("POST", "/token", lambda _: Answer(status, {}, headers={"Location": f"{elsewhere.url}/token"}))
        settings = {"token_url": f"{named.url}/token", "client_id": "me", "client_secret": CLIENT_SECRET}
        file = tmp_path / "client.json"
        file.write_text(json.dumps(settings | ({"refresh_token": "refresh-0-beef"} if refreshes else {})))
        with pytest.raises(APIError) as error:
            credential(f"oauth2:file:{file}", None).sign(ANY_REQUEST)

    assert len(named.requests) == 1
    assert elsewhere.requests == []
    assert not any(secret in str(error.value) for secret in (CLIENT_SECRET, "refresh-0-beef"))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://login.example/token", "must begin with https://"),
        ("ftp://login.example/token", "must begin with https://"),
        ("http://127.0.0.1.evil.example/token", "must begin with https://"),
        ("https://me:pw@login.example/token", "no user name"),
        ("https://", "must begin with https://"),
        ("https://login.example/token?key=1", "no user name, query"),
    ],
)
def test_a_secret_is_sent_over_https_or_to_this_machine(
    tokens: TokenServer, monkeypatch: pytest.MonkeyPatch, url: str, message: str
) -> None:
    monkeypatch.setenv("SHOP_TOKEN_URL", url)
    with pytest.raises(UsageError, match=message):
        credential("oauth2:env:SHOP", None)


def test_what_is_missing_is_named(tokens: TokenServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SHOP_CLIENT_ID")
    with pytest.raises(UsageError, match="SHOP_CLIENT_ID is not set"):
        credential("oauth2:env:SHOP", None)
    with pytest.raises(UsageError, match="OTHER_TOKEN_URL is not set"):
        credential("oauth2:env:OTHER", None)
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(UsageError, match=r"a\.json must hold a JSON object: token_url, client_id"):
        credential(f"oauth2:file:{tmp_path / 'a.json'}", None)
    (tmp_path / "b.json").write_text(json.dumps({"token_url": tokens.url, "client_id": "me"}))
    with pytest.raises(UsageError, match="client_secret is missing, and there is no refresh_token"):
        credential(f"oauth2:file:{tmp_path / 'b.json'}", None)
    with pytest.raises(UsageError, match="oauth2 takes env:PREFIX"):
        credential("oauth2:keyring:a/b", None)


def test_a_token_for_a_scheme_of_that_name_is_as_before(monkeypatch: pytest.MonkeyPatch, library: Protocol) -> None:
    """Where the document has a scheme `oauth2` and there is no PREFIX_TOKEN_URL, the source holds the token."""
    monkeypatch.setenv("MY_TOKEN", "abcd-efgh")
    signed = credential("oauth2:env:MY_TOKEN", library)

    assert signed == BearerToken("abcd-efgh", scheme="oauth2")


@pytest.fixture
def library() -> Protocol:
    from protocols import load

    return load(
        {
            "openapi": "3.0.0",
            "info": {"title": "t", "version": "1"},
            "servers": [{"url": "https://api.example"}],
            "components": {"securitySchemes": {"oauth2": {"type": "oauth2", "flows": {}}}},
            "paths": {"/a": {"get": {"responses": {"200": {"description": "ok"}}}}},
        }
    )


def test_without_the_package_the_extra_is_named(tokens: TokenServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "authlib.integrations.requests_client", None)
    with pytest.raises(UsageError, match=r"pip install -e '?\S+\[auth\]"):
        credential("oauth2:env:SHOP", None).sign(ANY_REQUEST)
