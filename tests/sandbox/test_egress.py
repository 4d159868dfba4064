"""Where a request may go, with which secrets, and where names may lead."""

from __future__ import annotations

import base64
import socket
from urllib.parse import urlsplit

import pytest

from protocols import load
from protocols.calls.api_keys import APIKey
from protocols.calls.credentials import ANY_REQUEST, BasicLogin, BearerToken, Credential
from protocols.errors import ToolError, UsageError
from sandbox import Broker, Limits
from sandbox.egress.egress_rules import origin
from sandbox.egress.stages import LimitExceeded
from tests.local_api import DOCUMENTED, LocalAPI, document
from tests.sandbox.runs import OSLO, SECRET


def test_documented_addresses_lead_to_the_base_url(api: LocalAPI, broker: Broker) -> None:
    """A program writes the documented server; the broker knows where the API really is."""
    reply = broker.request("get", f"{DOCUMENTED}/cities?query=Oslo", params=[("page", "2")], line=3)

    record = reply.record
    assert (record.status, record.tool, record.style) == (200, "GET_cities", "requests")
    assert reply.url == f"{DOCUMENTED}/cities?query=Oslo&page=2"
    assert record.url == f"{api.url}/cities?query=Oslo&page=2"
    assert record.arguments == {"query": "Oslo", "page": "2"}


_ELSEWHERE = """
    https://evil.example/v1/cities/oslo https://weather.example.evil.example/v1/cities/oslo https://
    https://weather.example@evil.example/v1/cities/oslo https://evil.example@weather.example/v1/cities/oslo
    https://weather.example:8443/v1/cities/oslo http://weather.example/v1/cities/oslo http://[::1]:80/
    http://169.254.169.254/latest/meta-data
"""
_OTHER_PATHS = r"""
    v1evil/cities/oslo v2/cities/oslo v1/../admin v1/cities/%2e%2e/admin v1/cities/../../admin v1/cities\..\admin
    v1/cities/..%2Fadmin v1/cities/a%2F..%2F..%2Fadmin v1/cities/a%5c..%5cadmin v1/cities/a%2f%2e
    v1/cities/%252e%252e%252Fadmin v1/cities/..;x=1/weather v1/cities/..%20/weather v1/nothing/here
"""


@pytest.mark.parametrize(
    ("url", "failure"),
    [
        *((url, "InvalidURL") for url in _ELSEWHERE.split()),
        *((f"https://weather.example/{path}", "InvalidURL") for path in _OTHER_PATHS.split()),
        ("file:///etc/passwd", "InvalidSchema"),
        ("ftp://weather.example/v1/cities", "InvalidSchema"),
        ("weather.example/v1/cities", "MissingSchema"),
    ],
)
def test_no_other_address_is_reached(api: LocalAPI, broker: Broker, url: str, failure: str) -> None:
    """Scheme, host, port and path are compared as parts, never as text."""
    reply = broker.request("GET", url)

    assert (reply.failure, api.requests) == (failure, [])
    assert (broker.calls[0].attempts, bool(broker.calls[0].error)) == (0, True)


def test_a_refusal_names_what_can_be_reached(broker: Broker) -> None:
    """The model learns the right address, or the nearest operation, from the error."""
    host = broker.request("GET", "https://evil.example/cities").problem or ""
    path = broker.request("GET", f"{DOCUMENTED}/city/oslo").problem or ""
    method = broker.request("PATCH", f"{DOCUMENTED}/cities/oslo").problem or ""

    assert host == "https://evil.example can't be reached: this program may reach only https://weather.example/v1"
    assert "did you mean GET /cities" in path
    assert "PATCH /v1/cities/oslo is no operation of this API" in method


_NOT_FOLLOWED = "http://localhost:1/v1/cities/oslo /admin //evil.example/v1/cities/oslo //[ http://[::1"
_NOT_FOLLOWED += " http://127.0.0.1:99999/ http://127.0.0.1:x/"


@pytest.mark.parametrize("target", _NOT_FOLLOWED.split())
def test_redirects_out_of_the_api_are_not(api: LocalAPI, broker: Broker, target: str) -> None:
    """The credential would go along."""
    api.answer("GET", "/cities/old", None, 302, headers={"Location": target})

    with pytest.raises(ToolError, match=r"302 Found — it redirects to .*, which is no operation of this API"):
        broker.call("GET_cities_city_id", ["old"])
    assert len(api.requests) == 1


OVERRIDES = """
    X-HTTP-Method-Override x-http-method X-METHOD-OVERRIDE X-Original-URL X-Rewrite-URL X-Original-Method X-Override-URL
    X-Forwarded-Path X_Forwarded_Host Forwarded X-Forwarded-Uri X-Original-Host X-Host X-Forwarded-Server
    X-HTTP-Verb-Override HTTP-Method-Override X-Envoy-Original-Path X-Http-Host-Override _method Destination
    X_Forwarded_Uri
"""


_METHOD = "it may change the method or path"
_PLAIN = "a name has letters, digits, - and _ alone"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        *((name, _METHOD) for name in [*OVERRIDES.split(), "x_http_method "]),
        *((name, _PLAIN) for name in ("X.HTTP.Method.Override", "X-HTTP\xa0Method", "X~Trace")),
    ],
)
def test_no_header_changes_the_method_or_path(api: LocalAPI, broker: Broker, name: str, why: str) -> None:
    """What was checked is what the service does, however it reads a header's name; the user is told."""
    broker.request("POST", f"{DOCUMENTED}/alerts", headers={name: "DELETE", "X-Trace": "1"}, json_body=b"{}")

    (request,) = api.requests
    assert request.headers["x-trace"] == "1"
    assert "DELETE" not in request.headers.values()
    shown = name.strip() if why == _METHOD else repr(name)
    assert broker.warnings == (f"the program's own header {shown} was not sent: {why}",)


def test_a_cookie_header_is_sent_as_the_library_sends_it(api: LocalAPI) -> None:
    """It replaces `cookies`, and a configured credential of the same name replaces its own."""
    broker = Broker(api.documented, base_url=api.url, credentials=[APIKey(SECRET, "cookie", "sid")])

    broker.request("GET", f"{DOCUMENTED}/cities/oslo", headers={"cookie": "theme=dark; sid=x"}, cookies={"a": "1"})

    assert api.requests[0].headers["cookie"] == f"theme=dark; sid={SECRET}"
    assert broker.warnings == ("the program's own cookie sid was replaced by the configured credential",)


# Secrets


@pytest.mark.parametrize(
    ("credential", "place"),
    [
        (BearerToken(SECRET), "Authorization"),
        (APIKey(SECRET, "header", "X-Key"), "x-key"),
        (BasicLogin(f"me:{SECRET}"), "authorization"),
    ],
)
def test_the_configured_credential_wins(api: LocalAPI, credential: Credential, place: str) -> None:
    """A placeholder in the program is replaced, whatever its case, and the user is told."""
    broker = Broker(api.documented, base_url=api.url, credentials=[credential])
    broker.request("GET", f"{DOCUMENTED}/cities/oslo", headers={place: "YOUR_KEY_HERE"})

    sent = credential.sign(ANY_REQUEST)
    assert api.requests[0].headers[place.lower()] == next(iter(sent.values()))
    assert broker.warnings == (f"the program's own header {place} was replaced by the configured credential",)


def test_a_key_in_the_query_is_replaced(api: LocalAPI) -> None:
    """As models write it: `params={"api_key": "…"}`."""
    broker = Broker(api.documented, base_url=api.url, credentials=[APIKey(SECRET, "query", "api_key")])
    reply = broker.request("GET", f"{DOCUMENTED}/cities", params=[("api_key", "YOUR_KEY"), ("query", "Oslo")])

    assert api.requests[0].query == (("query", "Oslo"), ("api_key", SECRET))
    assert SECRET not in repr(reply)
    assert len(broker.warnings) == 1


def test_secrets_do_not_come_back(api: LocalAPI) -> None:
    """A server that echoes what it got can't tell the program the secret: plain, encoded, in hex or in base64."""
    basic = BasicLogin(f"me:{SECRET}")
    coded = basic.sign(ANY_REQUEST)["Authorization"].removeprefix("Basic ")
    body = {"plain": SECRET, "hex": SECRET.encode().hex(), "b64": base64.b64encode(SECRET.encode()).decode()}
    body |= {"basic": coded, "percent": "tok%2Fen%2B4711%3D%3D"}
    api.answer("GET", "/cities/oslo", body, headers={"X-Echo": coded})
    api.answer("GET", "/cities/bad", {"message": f"bad token {SECRET}"}, 401)
    broker = Broker(api.protocol, credentials=[basic])

    reply = broker.request("GET", f"{api.url}/cities/oslo")
    value = broker.call("GET_cities_city_id", ["oslo"])
    with pytest.raises(ToolError) as caught:
        broker.call("GET_cities_city_id", ["bad"])

    assert value == dict.fromkeys(body, "[secret]")
    for text in (str(reply.body), str(reply.headers), str(caught.value), repr(broker.calls), repr(broker)):
        for form in (SECRET, *list(body.values())):
            assert form not in text


def test_the_reason_against_a_call_is_freed_of_secrets(api: LocalAPI) -> None:
    """A hook may quote what it looked at."""
    broker = Broker(api.protocol, credentials=[BearerToken(SECRET)], before_call=lambda _: f"{SECRET} is not for that")
    reply = broker.fetch("GET_cities_city_id", ["oslo"])

    assert reply.problem == "GET_cities_city_id: [secret] is not for that"
    assert (SECRET in repr(reply), api.requests) == (False, [])


def test_no_part_of_a_reply_gives_a_secret_away(api: LocalAPI) -> None:
    """Not its reason, its encoding, the names of its headers and cookies, its bytes, nor what is cut from it."""
    key = "s3cr3t-T0ken"
    headers = {f"X-{key}": "1", "Set-Cookie": f"{key}=1", "Content-Type": f"text/plain; charset={key}"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    api.answer("GET", "/cities/all", raw=f"HTTP/1.0 200 {key}\r\n{lines}\r\nx".encode())
    api.answer("GET", "/cities/wide", key.encode("utf-16"), headers={"Content-Type": "text/plain; charset=utf-16"})
    api.answer("GET", "/cities/host", key.encode("cp500"), headers={"Content-Type": "text/plain; charset=cp500"})
    api.answer("GET", "/cities/long", "x" * (1000 - len(key) + 1) + key + "x" * 50_000)
    broker = Broker(api.protocol, credentials=[BearerToken(key)], limits=Limits(response=20_000))

    reply = broker.request("GET", f"{api.url}/cities/all")
    assert (reply.reason, reply.encoding, dict(reply.cookies)) == ("[secret]", "[secret]", {"[secret]": "1"})
    assert "X-[secret]" in reply.headers
    for name in ("wide", "host"):
        assert broker.call("GET_cities_city_id", [name]) in ("[secret]", "\ufeff[secret]")
        body = broker.request("GET", f"{api.url}/cities/{name}").body
        assert isinstance(body, bytes)
        assert not {key.encode("cp500"), key.encode("utf-16-le")} & {body, body[2:]}
    api.answer("GET", "/cities/image", b"\x89\xff" + key.encode() + b"\xff", headers={"Content-Type": "image/png"})
    assert broker.call("GET_cities_city_id", ["image"]) == b"\x89\xff[secret]\xff"
    with pytest.raises(LimitExceeded):
        broker.call("GET_cities_city_id", ["long"])
    assert key[:-1] not in repr(broker.calls)


def test_a_reply_is_packed_only_as_it_was_asked_for(api: LocalAPI, broker: Broker) -> None:
    """Else it could not be looked through; a program cannot ask for another way."""
    api.answer("GET", "/cities/oslo", b"x", headers={"Content-Encoding": "gzip, x-bzip2"})

    reply = broker.request("GET", f"{DOCUMENTED}/cities/oslo", headers={"accept-encoding": "x-bzip2"})

    assert api.requests[0].headers["accept-encoding"] == "gzip, deflate"
    assert reply.failure == "ContentDecodingError"
    assert "packed as x-bzip2, and only gzip and deflate were asked for" in str(reply.problem)


@pytest.mark.parametrize(
    ("security", "sent"),
    [
        ([{}, {"key": []}], True),
        ([{"key": []}, {}], True),
        ([{"other": []}, {}, {"key": []}], True),
        ([{}, {"other": []}], False),
        ([], False),
    ],
)
def test_a_credential_is_sent_where_it_may_be(api: LocalAPI, security: list[object], sent: bool) -> None:
    """To sign in not at all is the last of the ways that a document allows."""
    described = document(api.url)
    described["security"] = [{"key": []}]
    described["components"] = {
        "securitySchemes": {
            name: {"type": "apiKey", "in": "header", "name": header}
            for name, header in (("key", "X-Key"), ("other", "X-Other"))
        }
    }
    described["paths"]["/alerts"]["get"]["security"] = security  # type: ignore[index]
    api.answer("GET", "/alerts", [])
    broker = Broker(load(described), credentials=[APIKey(SECRET, "header", "X-Key", scheme="key")])

    broker.call("GET_alerts")

    assert api.requests[0].headers.get("x-key") == (SECRET if sent else None)


# Where names lead


def test_a_public_name_that_leads_into_a_private_network_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a document could name a host of its own that leads to the metadata service of a cloud."""
    _names(monkeypatch, "169.254.169.254")
    broker = Broker(load(document("http://api.example")))

    with pytest.raises(ToolError, match=r"api\.example leads to 169\.254\.169\.254, a private address"):
        broker.call("GET_cities", (), {"query": "Oslo"}, line=1)
    broker.close()


def test_a_name_that_the_user_gave_may_lead_anywhere_but_only_to_one_place(
    api: LocalAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a name leads to is asked once in a run: it cannot move while a program runs."""
    looked_up = _names(monkeypatch, "127.0.0.1", "127.0.0.2")
    port = api.url.rpartition(":")[2]
    broker = Broker(api.documented, base_url=f"http://intranet.example:{port}")

    for _ in range(2):
        api.answer("GET", "/cities", {"results": [OSLO]}, headers={"Connection": "close"})
        assert broker.call("GET_cities", (), {"query": "Oslo"}, line=1) == {"results": [OSLO]}
    broker.close()

    assert looked_up == ["intranet.example"]
    assert api.requests[0].headers["host"] == f"intranet.example:{port.partition('/')[0]}"


def test_an_allowed_origin_may_have_a_private_address(api: LocalAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """The document's own server too; its operations stay the only ones, and no other port is meant."""
    _names(monkeypatch, "127.0.0.1")
    port = int(urlsplit(api.url).port or 0)
    server = f"http://intranet.example:{port}"
    broker = Broker(load(document(f"{server}/v1")), allow=[origin(server)])
    wrong_port = Broker(load(document(f"{server}/v1")), allow=[origin("http://intranet.example:1")])

    assert broker.call("GET_cities_city_id", ["oslo"]) == OSLO
    assert "is no operation of this API" in str(broker.request("GET", f"{server}/admin").problem)
    with pytest.raises(ToolError, match="a private address; if that is meant, allow its origin"):
        wrong_port.call("GET_cities_city_id", ["oslo"])


@pytest.mark.parametrize("option", ["base_url", "allow"])
def test_a_private_address_that_the_user_names_is_tried(option: str) -> None:
    """Here nobody answers there."""
    server = "http://127.8.8.8:9" if option == "base_url" else "http://0.0.0.0:9"
    protocol = load(document(f"{server}/v1"))
    broker = Broker(protocol, base_url=server) if option == "base_url" else Broker(protocol, allow=[origin(server)])

    with pytest.raises(ToolError, match="connection refused"):
        broker.call("GET_cities", (), {"query": "Oslo"})


def test_this_machine_may_be_named_by_a_document(api: LocalAPI) -> None:
    """As in documents of services under development; localhost leads nowhere else."""
    port = urlsplit(api.url).port
    broker = Broker(load(document(f"http://localhost:{port}/v1")))

    assert broker.call("GET_cities_city_id", ["oslo"]) == OSLO


# Origins that the user allows


def test_an_allowed_origin_is_reached_under_any_path_but_without_credentials(api: LocalAPI) -> None:
    """They belong to the API alone."""
    with LocalAPI() as other:
        other.answer("PUT", "/anything", {"x": 1})
        here = origin(other.url.removesuffix("/v1"))
        broker = Broker(api.protocol, credentials=[BearerToken(SECRET)], allow=[here])

        reply = broker.request("PUT", f"{other.url}/anything?a=1", json_body=b"{}")
        refused = broker.request("GET", "http://127.0.0.1:9/anything")

        assert (reply.value(), reply.record.tool, reply.record.status) == ({"x": 1}, None, 200)
        assert "authorization" not in other.requests[0].headers
        assert f"may reach only {api.url}, {here}" in str(refused.problem)


def test_without_a_protocol_the_allowed_origins_get_the_credentials(api: LocalAPI) -> None:
    """They are all there is; a redirect that leaves them is not followed."""
    with LocalAPI() as foreign_api:
        api.answer("GET", "/out", None, 302, headers={"Location": f"{foreign_api.url}/cities"})
        api.answer("GET", "/in", None, 302, headers={"Location": "/v1/cities/oslo"})
        broker = Broker(None, credentials=[BearerToken(SECRET)], allow=[origin(api.url.removesuffix("/v1"))])

        followed = broker.request("GET", f"{api.url}/in")
        leaving = broker.request("GET", f"{api.url}/out")

        assert followed.value() == OSLO
        assert (leaving.record.status, foreign_api.requests) == (302, [])
        assert [request.headers["authorization"] for request in api.requests] == [f"Bearer {SECRET}"] * 3


_NO_ORIGINS = r"""
    api.example ftp://api.example https:// https://a.example/path https://u:p@a.example https://* https://a.example:0
    https://a.example: https://a.example:+80 https://a.example:99999 https://a.example? https://a.example# http://[::1
    http://[::1]x http://[:::] https://a\b https://%41.example
"""


@pytest.mark.parametrize("text", [*_NO_ORIGINS.split(), "https://a b", "https://a.example:\uff18\uff10"])
def test_an_origin_is_a_scheme_a_host_and_a_port(text: str) -> None:
    """Anything else is told, without a password that it may hold."""
    with pytest.raises(UsageError, match="--allow takes an origin") as caught:
        origin(text)
    assert "u:p" not in str(caught.value)


def test_an_origin_shows_as_it_is_written() -> None:
    """The port only where it is not the usual one."""
    written = ("https://A.example:443/", "http://localhost:8080", "http://[::1]:80", "https://Exämple.com.")
    shown = ["https://a.example", "http://localhost:8080", "http://[::1]", "https://xn--exmple-cua.com"]
    assert [str(origin(text)) for text in written] == shown


def test_a_host_with_other_letters_is_one_host(api: LocalAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the document, the user and the program write it."""
    looked_up = _names(monkeypatch, "127.0.0.1")
    port = urlsplit(api.url).port
    server = f"http://exämple.example:{port}"
    broker = Broker(load(document(f"{server}/v1")), allow=[origin(f"http://xn--exmple-cua.example:{port}")])

    assert broker.request("GET", f"{server}/v1/cities/oslo").value() == OSLO
    assert broker.call("GET_cities_city_id", ["oslo"]) == OSLO
    assert looked_up == ["xn--exmple-cua.example"]


def _names(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Answer questions for names under .example with these addresses in turn; gives the names that were asked."""
    real, remaining, looked_up = socket.getaddrinfo, list(addresses), []

    def lookup(host: str, *args: object, **kwargs: object) -> object:
        if not host.endswith(".example"):
            return real(host, *args, **kwargs)  # type: ignore[arg-type]
        looked_up.append(host)
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (remaining.pop(0) if len(remaining) > 1 else remaining[0], 0))
        ]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    return looked_up


def test_a_cookie_stays_one_cookie(api: LocalAPI, broker: Broker) -> None:
    broker.request("GET", f"{api.url}/cities", cookies={"a": "1; admin=1", "b": "plain", "c": 'x"y, z'})

    sent = api.requests[0].headers["cookie"]
    assert sent == 'a="1\\073 admin=1"; b=plain; c="x\\"y\\054 z"'


def test_an_address_cannot_write_a_line_of_ours(broker: Broker) -> None:
    reply = broker.request("GET", "https://evil.example/\natc: all is well\x1b[2J")

    assert reply.problem is not None
    assert "\n" not in reply.problem + (broker.calls[0].error or "")
    assert "\x1b" not in reply.problem
