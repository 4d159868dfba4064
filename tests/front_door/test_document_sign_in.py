"""A document that its server shows only after a sign-in: what is said, and where the credential goes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from atc import Agent
from protocols import load
from protocols.errors import ProtocolError, UsageError
from tests.atc_command import atc
from tests.local_api import Answer, LocalAPI, Received, document

SECRET = "token-of-nobody-else"
PATH = "/openapi.json"


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as server:
        yield server


@pytest.fixture
def other() -> Iterator[LocalAPI]:
    """A server at another origin, which shows its document to everybody."""
    with LocalAPI() as server:
        server.answer("GET", PATH, document(server.url))
        yield server


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", SECRET)


def guard(api: LocalAPI, refusal: Answer, path: str = PATH, content: object = None) -> None:
    """Show a document to who sends the secret, anywhere in the request; answer all others with the refusal."""

    def respond(request: Received) -> Answer:
        return Answer(200, content or document(api.url)) if secret_in(request) else refusal

    api.respond("GET", path, respond)


def secret_in(request: Received) -> bool:
    return SECRET in json.dumps([dict(request.headers), request.path, request.query])


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_says_what_to_do(api: LocalAPI, status: int) -> None:
    """The message names the option and the origin that gets the credential; nothing is written."""
    guard(api, Answer(status, "no"))
    result = atc("explain", "--api", api.url + PATH, "What?")

    assert result.exit_code == 2
    assert f"the server answered {status}" in result.stderr
    assert "the document needs a sign-in; name a credential" in result.stderr
    assert "--auth bearer:env:VARIABLE; or download the document and name the file" in result.stderr


@pytest.mark.parametrize(
    "auth", ["bearer:env:MY_TOKEN", "header:X-Key:env:MY_TOKEN", "query:key:env:MY_TOKEN", "cookie:sid:env:MY_TOKEN"]
)
@pytest.mark.parametrize(
    "refusal",
    [Answer(401), Answer(403), Answer(404), Answer(200, "<html>", headers={"Content-Type": "text/html"})],
    ids=["401", "403", "404", "page"],
)
def test_the_credential_reads_the_document(api: LocalAPI, auth: str, refusal: Answer) -> None:
    """It is sent when the server has refused the document without it."""
    guard(api, refusal)

    assert load(api.url + PATH, [auth]).tools[0].name == "GET_cities"
    assert [secret_in(request) for request in api.requests] == [False, True]
    with Agent.from_openapi(api.url + PATH, model="replay:none", auth=[auth]) as agent:
        assert len(agent.protocol.tools) == 6


def test_a_public_document_is_read_without_it(other: LocalAPI) -> None:
    """The first request is answered, and there is no other."""
    load(other.url + PATH, ["bearer:env:MY_TOKEN"])

    assert [secret_in(request) for request in other.requests] == [False]


@pytest.mark.parametrize("auth", ["bearer:env:MY_TOKEN", "header:X-Key:env:MY_TOKEN", "cookie:sid:env:MY_TOKEN"])
def test_a_redirect_takes_it_nowhere_else(api: LocalAPI, other: LocalAPI, auth: str) -> None:
    """After the sign-in the server leads to another one: the document is read there, without the credential."""
    away = Answer(302, headers={"Location": other.url + PATH})
    api.respond("GET", PATH, lambda request: away if secret_in(request) else Answer(401))

    assert load(api.url + PATH, [auth]).tools
    assert [secret_in(request) for request in api.requests] == [False, True]
    assert [secret_in(request) for request in other.requests] == [False]


def test_an_address_with_the_secret_is_not_followed(api: LocalAPI, other: LocalAPI) -> None:
    """A server that repeats the query of a request in its redirect would pass the secret on."""
    away = Answer(302, headers={"Location": f"{other.url}{PATH}?key={SECRET}"})
    api.respond("GET", PATH, lambda request: away if secret_in(request) else Answer(401))

    with pytest.raises(ProtocolError, match="with your credential in the address, which is not followed") as caught:
        load(api.url + PATH, ["query:key:env:MY_TOKEN"])
    assert SECRET not in str(caught.value)
    assert other.requests == []


def test_a_redirect_before_the_sign_in_gets_nothing(api: LocalAPI, other: LocalAPI) -> None:
    """The other server refuses: it is not the one that the user named."""
    api.answer("GET", PATH, status=302, headers={"Location": other.url + PATH})
    other.answer("GET", PATH, status=401)

    with pytest.raises(ProtocolError, match=r"needs a sign-in there, and a credential for .* is not sent to") as caught:
        load(api.url + PATH, ["bearer:env:MY_TOKEN"])
    assert f"leads to {other.url.removesuffix('/v1')}, which answered 401" in str(caught.value)
    assert [secret_in(request) for request in other.requests] == [False, False]


def test_a_page_to_sign_in_is_named(api: LocalAPI) -> None:
    """The server leads to it in place of a refusal; a page at the address itself is told from a document, too."""
    api.answer("GET", PATH, status=302, headers={"Location": "/v1/login?next=secret"})
    api.answer("GET", "/login", "<html>", headers={"Content-Type": "text/html"})

    with pytest.raises(ProtocolError, match=r"leads to the web page http://[\d.:]+/v1/login, perhaps for a sign-in"):
        load(api.url + PATH)
    with pytest.raises(ProtocolError, match="this is HTML or XML, not an API document; give the address of the raw"):
        load(api.url + "/login")


def test_a_wrong_credential_is_told_from_none(api: LocalAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was sent, and refused; neither is in the message."""
    guard(api, Answer(403))
    monkeypatch.setenv("MY_TOKEN", "another-secret")

    with pytest.raises(ProtocolError, match="the credential of --auth was sent") as caught:
        load(api.url + PATH, ["bearer:env:MY_TOKEN"])
    assert "another-secret" not in str(caught.value)


def test_a_scheme_of_the_document_cannot_read_it(api: LocalAPI) -> None:
    """Its names are in the document; the message says so, and lists the kinds that need none."""
    guard(api, Answer(401))

    with pytest.raises(UsageError, match="not known before it is read: --auth names a KIND that is not known"):
        load(api.url + PATH, ["token:env:MY_TOKEN"])


def test_a_credential_for_an_api_elsewhere_is_not_for_the_document(api: LocalAPI, other: LocalAPI) -> None:
    """Where --base-url says that the API is at another origin, its credential stays there."""
    guard(api, Answer(401))

    with pytest.raises(ProtocolError, match="needs a sign-in"):
        load(api.url + PATH, ["bearer:env:MY_TOKEN"], other.url)
    assert load(api.url + PATH, ["bearer:env:MY_TOKEN"], api.url).tools
    assert [secret_in(request) for request in api.requests] == [False, False, True]


def test_a_part_at_another_server_is_read_without(api: LocalAPI, other: LocalAPI) -> None:
    """A document's references lead to its own server with the credential, and elsewhere without."""
    body = document(api.url)
    part = {"get": {"responses": {"200": {"description": "ok"}}}}
    body["paths"] = {"/near": {"$ref": api.url + "/part.json"}, "/far": {"$ref": other.url + "/part.json"}}
    other.answer("GET", "/part.json", part)
    guard(api, Answer(401), "/part.json", part)
    guard(api, Answer(401), PATH, body)

    assert {tool.path for tool in load(api.url + PATH, ["bearer:env:MY_TOKEN"]).tools} == {"/near", "/far"}
    assert [secret_in(request) for request in other.requests] == [False]
