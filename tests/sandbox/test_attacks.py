"""Attacks on what the broker sends and shows: by a program, by a service, by a document."""

from __future__ import annotations

import base64
import json
import logging
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import pytest

from atc.apps.cli.options import check_api_options
from atc.apps.cli.reachable import check_server
from protocols import Protocol, ProtocolError, load
from protocols.calls.api_keys import APIKey
from protocols.calls.credentials import BearerToken
from protocols.errors import APIError, UsageError
from sandbox import Broker
from tests.local_api import LocalAPI, document

SECRET = "s3cr3t-k3y-0123"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": []})
        api.answer("GET", "/cities/oslo", {"id": "oslo"})
        api.answer("POST", "/alerts", {"text": "Storm"})
        yield api


@pytest.fixture
def broker(api: LocalAPI) -> Iterator[Broker]:
    broker = Broker(api.protocol, credentials=[APIKey(SECRET, "query", "key")])
    yield broker
    broker.close()


@pytest.mark.parametrize("broken", [True, False])
def test_a_log_of_everything_does_not_hold_the_key(
    api: LocalAPI, broker: Broker, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], broken: bool
) -> None:
    """The library shows requests, and warns of headers that are none, with the URL and what the service wrote."""
    if broken:
        raw = f"HTTP/1.1 200 OK\r\nno header: at all\r\nbroken {SECRET}\r\nX: y\r\n\r\nok".encode()
        api.answer("GET", "/cities/oslo", raw=raw)
    with caplog.at_level(logging.DEBUG):
        assert broker.request("GET", f"{api.url}/cities/oslo").record.status == 200

    assert api.requests[0].query == (("key", SECRET),)
    assert "/cities/oslo" in caplog.text
    assert SECRET not in caplog.text + capfd.readouterr().err


def test_the_environment_does_not_lead_requests_elsewhere(
    api: LocalAPI, broker: Broker, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """Neither proxies, with a sign-in or without, nor a .netrc file."""
    login = tmp_path / "netrc"
    login.write_text("machine 127.0.0.1 login ann password netrc-password")
    login.chmod(0o600)
    monkeypatch.setenv("NETRC", str(login))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://ann:proxy-password@127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    assert broker.request("GET", f"{api.url}/cities/oslo").record.status == 200
    assert not {"authorization", "proxy-authorization"} & api.requests[0].headers.keys()


@pytest.mark.parametrize("name", ["X_Key", "x_key", "X-KEY"])
def test_no_other_spelling_of_a_header_overrules_the_credential(api: LocalAPI, name: str) -> None:
    """Many servers take `X_Key` for `X-Key`, and the last one of both."""
    broker = Broker(api.protocol, credentials=[APIKey(SECRET, "header", "X-Key")])
    broker.request("GET", f"{api.url}/cities/oslo", headers={name: "somebody-else"})

    assert "somebody-else" not in api.requests[0].headers.values()
    assert broker.warnings == (f"the program's own header {name} was replaced by the configured credential",)


@pytest.mark.parametrize("name", ["x=1; SESSION", "SESSION\r\nX-Evil", "x\r\n y", "a b", ""])
def test_a_cookies_name_is_a_name(api: LocalAPI, name: str) -> None:
    """It cannot bring a second cookie, or a header, along."""
    broker = Broker(api.protocol, credentials=[APIKey(SECRET, "cookie", "SESSION")])
    broker.request("GET", f"{api.url}/cities/oslo", cookies={name: "somebody-else", "page": "2"})

    assert [request.headers["cookie"] for request in api.requests] in ([f"page=2; SESSION={SECRET}"], [])
    assert all("x-evil" not in request.headers for request in api.requests)


@pytest.mark.parametrize(
    "query",
    [
        *("a=1;_method=DELETE", "%20_method=DELETE", ".method=DELETE", "_method%00x=DELETE"),
        *("a=1&_METHOD=PUT", "[method=DELETE"),
    ],
)
def test_no_spelling_of_a_name_changes_the_method(api: LocalAPI, query: str) -> None:
    """In a query and in a form: some services part fields at `;`, and some read `.method` as `_method`."""
    broker = Broker(api.protocol)
    api.answer("GET", "/cities/old", None, 302, headers={"Location": f"/v1/cities?{query}"})
    replies = [
        broker.request("GET", f"{api.url}/cities?{query}"),
        broker.request("POST", f"{api.url}/alerts", data=query.encode(), headers=FORM),
        broker.request("POST", f"{api.url}/alerts", data=parse_qsl(query, separator=";" if ";" in query else "&")),
        broker.request("GET", f"{api.url}/cities/old"),
    ]

    assert all("_method" in (reply.problem or "") for reply in replies)
    assert [request.path for request in api.requests] == ["/v1/cities/old"]


_PART = b'--b\r\nContent-Disposition: form-data; name="_method"\r\n\r\nDELETE\r\n--b--\r\n'


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("multipart/form-data; boundary=b", _PART),
        ("multipart/form-data; boundary=b", _PART.replace(b'"_method"', b"_Method")),
        ("application/json", b'{"_method": "DELETE", "text": "Storm"}'),
        ("application/json", b'{"\\u005fmeth\\u006Fd" : "DELETE", "text": "Storm"}'),
        ("application/merge-patch+json", b'[{"_METHOD":"DELETE"}]'),
        ("text/plain", b'{"_method": "DELETE"}'),
        ("application/json", b'{"_method": "DELETE", "text": "' + b"x" * 300_000 + b'"}'),
    ],
)
def test_no_body_changes_the_method(api: LocalAPI, kind: str, data: bytes) -> None:
    """Some services take the method of a multipart form or of JSON for that of the request."""
    broker = Broker(api.protocol)
    reply = broker.request("POST", f"{api.url}/alerts", data=data, headers={"Content-Type": kind})

    assert api.requests == []
    assert "_method" in (reply.problem or "")


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_no_whole_body_changes_the_method(api: LocalAPI, kind: str) -> None:
    """A body that is passed as a whole may have more members than the document says, but not that one."""
    text = document(api.url)
    content = text["paths"]["/alerts"]["post"]["requestBody"]["content"]  # type: ignore[index]
    content[kind] = content.pop("application/json")
    broker = Broker(load(text))
    reply = broker.fetch("POST_alerts", kwargs={"body": {"text": "Storm", "_method": "DELETE"}})
    fine = broker.fetch("POST_alerts", kwargs={"body": {"text": "_method: DELETE"}})

    assert "_method" in (reply.problem or "")
    assert (fine.record.status, len(api.requests)) == (200, 1)


def with_header(api: LocalAPI, name: str) -> tuple[Protocol, str | None]:
    """The API whose read of a city takes a header, and the name of its argument."""
    text = document(api.url)
    header = {"name": name, "in": "header", "schema": {"type": "string"}}
    text["paths"]["/cities/{city_id}"]["parameters"].append(header)  # type: ignore[index]
    protocol = load(text)
    arguments = protocol.tool("GET_cities_city_id").arguments
    return protocol, next((p.argument for p in arguments if p.name == name), None)


@pytest.mark.parametrize(
    "name",
    ["Host", "Content-Length", "Transfer-Encoding", "Connection", "Content-Encoding", "TE", "Proxy-Authorization"],
)
def test_a_document_does_not_give_headers_of_the_connection_to_a_program(api: LocalAPI, name: str) -> None:
    """Two lengths, or another host, would have the service read another request than the one that was checked."""
    protocol, argument = with_header(api, name)
    broker = Broker(protocol)
    broker.fetch("GET_cities_city_id", ["oslo"], {argument: "chunked"} if argument else {})
    broker.request("GET", f"{api.url}/cities/oslo", headers={name: "chunked"})

    assert [request.headers.get(name.lower()) == "chunked" for request in api.requests] == [False, False]


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "X-Original-URL"])
def test_a_documented_override_does_not_make_a_write_of_a_read(api: LocalAPI, name: str) -> None:
    """Nobody is asked about a read, so it has to stay one."""
    protocol, argument = with_header(api, name)
    Broker(protocol, writes="deny").fetch("GET_cities_city_id", ["oslo"], {str(argument): "DELETE"})

    assert argument is not None
    assert [name.lower() in request.headers for request in api.requests] in ([False], [])


@pytest.mark.parametrize(
    "argument", ["\uff0e\uff0e\uff0fadmin", "\u2025/admin", "x/%c0%ae%c0%ae/y", "x/..\0/y", "x/%e0%80%ae%e0%80%ae/y"]
)
def test_dots_in_other_letters_do_not_climb(api: LocalAPI, argument: str) -> None:
    """Some services read full-width dots, and dots in two bytes of UTF-8, as dots."""
    broker = Broker(api.protocol)
    reply = broker.fetch("GET_cities_city_id", [argument])
    encoded_reply = broker.request("GET", f"{api.url}/cities/" + argument.replace("/", "%2F"))

    assert api.requests == []
    assert reply.problem
    assert encoded_reply.failure


@pytest.mark.parametrize(
    "host",
    [
        *("2130706434", "0x0a000001", "012.0.0.1", "10.1", "[::ffff:10.0.0.1]", "[fe80::1%25lo]", "0", "127.1.", "1"),
        *("169.254.169.254", "10.0.0.1", "[fe80::1]", "0.0.0.0", "2852039166", "0x7f.1", "224.0.1.1", "[ff0e::1]"),
        *("[64:ff9b::a00:1]", "[64:ff9b::808:808]", "[64:ff9b:1::1]", "[2002:a00:1::1]", "[::a00:1]"),
        *("[2001:0:1::1]", "[fec0::1]", "255.255.255.255", "240.0.0.1"),
    ],
)
def test_no_spelling_of_a_private_address_is_reached(host: str) -> None:
    """As one number, in octal or hex, with fewer parts, mapped, with a zone: only the user may mean such a network."""
    with _quiet_server() as (port, connections):
        broker = Broker(load(document(f"http://{host}:{port}/v1")))
        reply = broker.fetch("GET_cities_city_id", ["oslo"])

    assert reply.record.status is None
    assert "private address" in (reply.problem or "")
    assert connections == []


@contextmanager
def _quiet_server() -> Iterator[tuple[int, list[object]]]:
    """A server on all addresses of this machine; gives its port, and who has connected."""
    connections: list[object] = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            connections.append(self.client_address)

    with socketserver.ThreadingTCPServer(("0.0.0.0", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server.server_address[1], connections
        finally:
            server.shutdown()


def test_a_document_cannot_have_a_private_address_knocked_at() -> None:
    """Also to see if a service is there, nobody connects to where no call may go."""
    with _quiet_server() as (port, seen):
        with pytest.raises(APIError, match="private address"):
            check_server(load(document(f"http://0.0.0.0:{port}/v1")), None)
        check_server(load(document("https://weather.example/v1")), f"http://127.0.0.1:{port}")

    assert len(seen) <= 1


@pytest.mark.parametrize(
    "url", ["http://ann:pass-word@127.0.0.1:9/v1", "ftp://ann:pass-word@h", "http://ann:pass-word@[h"]
)
def test_a_password_in_the_base_url_is_not_repeated(url: str) -> None:
    """It is refused before anything is said or kept."""
    with pytest.raises(Exception, match="user name or password") as caught:
        check_api_options(False, url, ())
    assert "pass-word" not in str(caught.value)
    for base in (url, None):
        with pytest.raises((APIError, UsageError)) as refused:
            check_server(load(document(url if url.endswith("/v1") else "http://127.0.0.1:9")), base)
        assert "pass-word" not in str(refused.value)


def test_a_login_in_a_documents_server_is_nobodys(api: LocalAPI) -> None:
    """Neither a program nor a record sees it, wherever the document has it from."""
    protocol = load(document(api.url.replace("://", "://ann:pass-word@")))
    broker = Broker(protocol)
    reply = broker.fetch("GET_cities_city_id", ["oslo"])
    elsewhere = broker.request("GET", "https://elsewhere.example/")

    assert reply.record.status == 200
    for visible in (protocol.servers, protocol.tools, reply, elsewhere, broker.calls):
        assert "pass-word" not in repr(visible)
    assert "authorization" not in api.requests[0].headers


@pytest.mark.parametrize(("scheme", "named"), [("http", "127.0.0.1:9/openapi.json"), ("HTTP", "in small letters")])
def test_a_login_in_the_documents_own_address_is_not_repeated(scheme: str, named: str) -> None:
    """Nor where the address is taken for the path of a file."""
    with pytest.raises(ProtocolError) as caught:
        load(f"{scheme}://ann:pass-word@127.0.0.1:9/openapi.json?token=t0k3n-4711")

    assert named in str(caught.value)
    assert "pass-word" not in str(caught.value)
    assert "t0k3n" not in str(caught.value)


def test_a_redirect_takes_no_credential_elsewhere(api: LocalAPI) -> None:
    """To another port, scheme or name of the same machine; nor is a sign-in in the address used."""
    with LocalAPI() as other:
        other.answer("GET", "/cities", {"results": []})
        broker = Broker(api.protocol, credentials=[BearerToken(SECRET)])
        for target in (
            f"{other.url}/cities",
            api.url.replace("127.0.0.1", "localhost") + "/cities",
            api.url.replace("http", "https") + "/cities",
            f"//{other.url.partition('//')[2]}/cities",
            f"http://127.0.0.1@{other.url.partition('//')[2]}/cities",
        ):
            api.answer("GET", "/cities/oslo", None, 302, headers={"Location": target})
            assert broker.request("GET", f"{api.url}/cities/oslo").record.status == 302
        assert other.requests == []
        api.answer("GET", "/cities/oslo", None, 302, headers={"Location": f"{api.url}/cities".replace("//", "//a:b@")})
        broker.request("GET", f"{api.url}/cities/oslo")
        assert api.requests[-1].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("place", ["reason", "header", "trailer", "chunk", "status line"])
def test_no_part_of_a_broken_reply_shows_a_secret(api: LocalAPI, place: str) -> None:
    """Also where the library says in its own words what was wrong with it."""
    raw = {
        "reason": f"HTTP/1.1 500 {SECRET}\r\nContent-Length: 0\r\n\r\n",
        "header": f"HTTP/1.1 200 OK\r\nContent-Length: {SECRET}\r\n\r\n",
        "trailer": f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Echo: {SECRET}\r\n\r\n",
        "chunk": f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{SECRET}\r\nx",
        "status line": f"{SECRET} 200 OK\r\n\r\n",
    }[place]
    api.answer("GET", "/cities/oslo", raw=raw.encode())
    broker = Broker(api.protocol, credentials=[BearerToken(SECRET)])
    reply = broker.request("GET", f"{api.url}/cities/oslo")

    assert SECRET not in repr(reply) + repr(broker.calls) + repr(broker.warnings)


def test_an_error_that_is_cut_does_not_keep_half_a_secret(api: LocalAPI) -> None:
    """What is wrong with a call is cleaned before it is cut."""
    broker = Broker(api.protocol, credentials=[BearerToken(SECRET)])
    call = broker._recorder.begin("requests", None, None, ())
    broker.give_up(RuntimeError("x" * (2000 - len("RuntimeError: ") - 8) + SECRET))

    assert call.index == 0
    assert SECRET[:7] not in repr(broker.calls)


def test_a_credential_does_not_show_in_what_is_printed_or_kept(api: LocalAPI) -> None:
    """Objects that hold one do not show it."""
    credential = BearerToken(SECRET)
    broker = Broker(api.protocol, credentials=[credential])
    broker.fetch("GET_cities_city_id", ["oslo"])
    coded = base64.b64encode(SECRET.encode()).decode()

    kept = [vars(broker), vars(broker._recorder), vars(broker._sender), broker._context]
    printed = f"{credential!r} {broker!r} {broker.calls!r} {kept!r} {replace(credential, scheme='x')!r}"
    assert SECRET not in printed + json.dumps(printed)
    assert coded not in printed
