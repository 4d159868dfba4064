"""Headers of the user: on each request to the API's own server, on no other, and no program's to change."""

from __future__ import annotations

from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring

from atc import Agent
from protocols import UsageError
from protocols.calls.auth import credential
from protocols.calls.header_option import header_of
from sandbox import Sandbox
from tests.local_api import Answer, LocalAPI
from tests.protocols.several.conftest import SHOP_TOKEN
from tests.scripted import ScriptedModel

LIST = "print(GET_alerts())"


def test_a_header_is_on_each_request(api: LocalAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions and `requests` send it; its value is no secret, unless it is that of a source."""
    monkeypatch.setenv("MY_KEY", "k-12345678")
    api.answer("GET", "/alerts", ["acme", "k-12345678"])
    headers = [header_of(text, api.protocol) for text in ("X-Tenant: acme", "X-Key:env:MY_KEY")]
    run = Sandbox(api.protocol, credentials=headers).run(
        f"import requests\n{LIST}\nprint(requests.get('{api.url}/alerts').json())"
    )

    assert run.stdout == "['acme', '[secret]']\n" * 2
    sent = [(received.headers["x-tenant"], received.headers["x-key"]) for received in api.requests]
    assert sent == [("acme", "k-12345678")] * 2
    assert "k-12345678" not in repr(run)


def test_a_program_does_not_replace_it(api: LocalAPI) -> None:
    """A header of that name in a program, however it is written, is dropped with a warning."""
    sandbox = Sandbox(api.protocol, credentials=[header_of("X-Tenant: acme", api.protocol)])
    program = f"import requests\nrequests.get('{api.url}/alerts', headers={{'x_TENANT': 'evil', 'X-tenant': 'evil'}})"
    run = sandbox.run(program)

    assert api.requests[0].headers["x-tenant"] == "acme"
    assert "evil" not in str(api.requests[0].headers)
    assert any("was replaced" in warning for warning in run.warnings)


def test_no_other_server_gets_it(api: LocalAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an allowed origin nor a redirect to it."""
    monkeypatch.setenv("MY_KEY", "k-12345678")
    with LocalAPI() as elsewhere:
        elsewhere.answer("GET", "/files", "x")
        origin = elsewhere.url.removesuffix("/v1")
        api.script("GET", "/alerts", Answer(302, None, {"Location": f"{elsewhere.url}/files"}))
        headers = [header_of(text, api.protocol) for text in ("X-Tenant: acme", "X-Key:env:MY_KEY")]
        sandbox = Sandbox(api.protocol, credentials=headers, allow=[origin])
        sandbox.run(f"import requests\nprint(requests.get('{elsewhere.url}/files').text)\nGET_alerts()")

    assert [received.path for received in elsewhere.requests] == ["/v1/files", "/v1/files"]
    for received in elsewhere.requests:
        assert "acme" not in str(received.headers)
        assert "k-12345678" not in str(received.headers)


@pytest.mark.parametrize(
    "name",
    [
        *("Host", "content-length", "Connection", "Transfer-Encoding", "TE", "Upgrade", "Proxy-Authorization"),
        *("Accept-Encoding", "Content-Type", "X-HTTP-Method-Override", "X_Original_URL", "X-Forwarded-Host"),
    ],
)
def test_headers_that_frame_or_redirect_a_request_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"--header cannot set {name}"):
        header_of(f"{name}: x", None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X-Tenant", "--header takes NAME:VALUE"),
        ("X Tenant: a", "--header takes NAME:VALUE"),
        ("X-Tenant:", "must be one line of ASCII text"),
        ("X-Tenant: a\nX-Other: b", "must be one line of ASCII text"),
        ("X-Tenant: bär", "must be one line of ASCII text"),
        ("Authorization: Bearer abc", "its value is a secret; give it with --auth"),
        ("Cookie: a=b", "its value is a secret; give it with --auth"),
        ("X-Key:env:NOT_SET_HERE", "NOT_SET_HERE is not set"),
    ],
)
def test_a_header_that_will_not_do_is_told(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        header_of(text, None)

    assert "Bearer abc" not in str(raised.value)


class Memory(KeyringBackend):
    """A keyring with two entries."""

    priority = 1.0

    def get_password(self, service: str, username: str) -> str | None:
        return {("shop", "me"): SHOP_TOKEN, ("shop", "none"): ""}.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None: ...
    def delete_password(self, service: str, username: str) -> None: ...


@pytest.fixture
def own_keyring() -> Iterator[None]:
    """What a test does to the keyring of the process is undone."""
    before = keyring.get_keyring()
    yield
    keyring.set_keyring(before)


@pytest.mark.usefixtures("own_keyring")
def test_a_secret_lies_in_the_keyring(api: LocalAPI) -> None:
    """`keyring:SERVICE/USER` is a source for every kind of credential and for headers."""
    keyring.set_keyring(Memory())  # type: ignore[no-untyped-call]
    signed = [credential("bearer:keyring:shop/me", None), header_of("X-Key:keyring:shop/me", None)]
    Sandbox(api.protocol, credentials=signed).run(LIST)

    assert api.requests[0].headers["authorization"] == f"Bearer {SHOP_TOKEN}"
    assert api.requests[0].headers["x-key"] == SHOP_TOKEN


@pytest.mark.usefixtures("own_keyring")
@pytest.mark.parametrize(
    ("backend", "place", "message"),
    [
        (Memory, "shop/you", "the keyring has nothing for shop/you; store it with"),
        (Memory, "shop/none", "the keyring's shop/none is empty"),
        (Memory, "shop", "takes SERVICE/USER"),
        (Keyring, "shop/me", "there is no keyring on this machine; use env: or file:"),
    ],
)
def test_a_keyring_without_the_secret_is_told(backend: type[KeyringBackend], place: str, message: str) -> None:
    keyring.set_keyring(backend())
    with pytest.raises(UsageError, match=message):
        credential(f"bearer:keyring:{place}", None)


def test_a_documented_header_that_the_user_sets_is_no_argument() -> None:
    """The document demands `X-Tenant` of each call; with `--header` neither model nor program is asked for it."""
    with LocalAPI() as server:
        server.answer("GET", "/orders", [{"id": 7}])
        parameters = [
            {"name": "X-Tenant", "in": "header", "required": True, "schema": {"type": "string"}},
            {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
        ]
        operation = {"parameters": parameters, "responses": {"200": {"description": "ok"}}}
        content = {"info": {"title": "t", "version": "1"}, "paths": {"/orders": {"get": operation}}}
        source = {"openapi": "3.0.0", "servers": [{"url": server.url}], **content}
        model = ScriptedModel("```python\nprint(GET_orders())\n```")
        with Agent.from_openapi(source, model=model, headers=["x-tenant: acme"]) as agent:
            solution = agent.solve("Which orders are there?")

    assert solution.answer == "[{'id': 7}]", solution.message
    assert server.requests[0].headers["x-tenant"] == "acme"
    assert [parameter.name for parameter in agent.protocol.tools[0].arguments] == ["X-Trace"]
    assert "X_Tenant" not in str(model.asked[0])
