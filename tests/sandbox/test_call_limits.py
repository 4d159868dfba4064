"""Limits of calls: on their number, their sizes and their time."""

from __future__ import annotations

import json
import socket
import threading
import time
from dataclasses import asdict

import pytest

from protocols.errors import ToolError
from sandbox import Broker, Limits
from sandbox.body_store import LargeBody
from sandbox.egress.egress_rules import origin
from sandbox.egress.stages import LimitExceeded
from tests.local_api import DOCUMENTED, LocalAPI
from tests.sandbox.runs import OSLO, SECRET


def test_the_size_of_a_reply_is_bounded(api: LocalAPI) -> None:
    """Also of one that is packed; the record keeps its beginning."""
    import gzip

    packed = gzip.compress(b"x" * 50_000_000)
    api.answer("GET", "/cities/oslo", packed, headers={"Content-Encoding": "gzip"})
    broker = Broker(api.protocol, limits=Limits(response=1_000_000))

    with pytest.raises(LimitExceeded) as caught:
        broker.call("GET_cities_city_id", ["oslo"])

    assert caught.value.limit == "response"
    assert broker.calls[0].status == 200
    assert str(broker.calls[0].response).startswith("xxx")


def test_a_large_reply_lies_in_a_file_without_the_secret(api: LocalAPI, broker: Broker) -> None:
    """Not even where two parts of it meet; it is read when it is asked for."""
    api.answer("GET", "/cities/oslo", ("x" * 65_530 + SECRET) * 10)

    value = broker.call("GET_cities_city_id", ["oslo"])

    body = broker.calls[0].response
    assert isinstance(body, LargeBody)
    assert body.read().decode() == value == ("x" * 65_530 + "[secret]") * 10
    assert json.loads(json.dumps(asdict(broker.calls[0])))["response"]["size"] == len(body.read())


def test_of_a_call_nothing_is_kept_without_end(api: LocalAPI, broker: Broker) -> None:
    """Not its URL, its method, its name, its arguments or its error."""
    long = "é" * 50_000
    broker.request("GET", f"{DOCUMENTED}/{long}")
    method = broker.request(long, DOCUMENTED)
    headers = broker.request("GET", f"{DOCUMENTED}/cities/oslo", headers={f"X{number}": "" for number in range(30_000)})
    broker.fetch(long, [], {"a": long})
    broker.fetch("POST_alerts", [], {f"{number}{long}": long for number in range(30)})

    many = broker.fetch("POST_alerts", [], {f"a{number}": number for number in range(1001)})
    named = broker.fetch("POST_alerts", [], {"é" * 501: 1})

    assert (method.problem or "").startswith("there is no method")
    assert headers.problem == "the headers have more than 65536 characters"
    assert "takes no more than 1000 arguments, with names of at most 500 characters" in (many.problem or "")
    assert many.problem == named.problem
    assert api.requests == []
    for call in broker.calls:
        assert len(json.dumps(asdict(call), ensure_ascii=False).encode()) < 600_000
        assert len(call.url) + len(call.method) + len(call.tool or "") + len(call.error or "") < 5000


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (f"{DOCUMENTED}/cities/{'x' * 9000}", "the URL has 9034 characters and 8192 are the most"),
        (f"{DOCUMENTED}/cities?query={'ø' * 3000}", "characters and 8192 are the most; send long values in a body"),
        (f"https://{'é' * 4000}.example/", "the host has more than 512 characters"),
        (f"{DOCUMENTED}/cities/%{'25' * 3000}", "is no operation of this API"),
    ],
)
def test_a_url_has_a_length(api: LocalAPI, broker: Broker, url: str, message: str) -> None:
    """Nothing that takes long to look at is looked at."""
    reply = broker.request("GET", url)

    assert (reply.failure, api.requests) == ("InvalidURL", [])
    assert message in (reply.problem or "")
    with pytest.raises(ToolError, match="its path would have more than 8192 characters"):
        broker.call("GET_cities_city_id", ["x" * 9000])


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"HTTP/1.1 200 OK\r\n" + b"X: %s\r\n" % (b"a" * 60_000) * 3 + b"\r\n", "the headers of the reply are larger"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 70_000, "the reply has a line of more than"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 9000, "the headers of the reply are larger"),
    ],
)
def test_a_reply_without_end_is_none(api: LocalAPI, broker: Broker, raw: bytes, message: str) -> None:
    """Headers and lines have a size, as bodies have."""
    api.answer("GET", "/cities/oslo", raw=raw)

    with pytest.raises(ToolError, match=message):
        broker.call("GET_cities_city_id", ["oslo"])


def test_headers_count_as_traffic(api: LocalAPI) -> None:
    """Else a service could send what it likes in them."""
    api.answer("GET", "/cities/oslo", {}, headers={"X-Long": "a" * 60_000})
    broker = Broker(api.protocol, limits=Limits(traffic=100_000))
    broker.call("GET_cities_city_id", ["oslo"])

    with pytest.raises(LimitExceeded, match="moved more than the 100000 bytes"):
        broker.call("GET_cities_city_id", ["oslo"])


def test_cookies_are_read_as_the_library_reads_them(api: LocalAPI, broker: Broker) -> None:
    """Name and value, at once however they are written."""
    api.answer("GET", "/cities/oslo", {}, headers={"Set-Cookie": 'a="b=c"; Path=/; HttpOnly'})
    api.answer("GET", "/cities/long", {}, headers={"Set-Cookie": 'a="' + '\\"' * 30_000 + '"'})

    assert dict(broker.request("GET", f"{DOCUMENTED}/cities/oslo").cookies) == {"a": '"b=c"'}
    assert dict(broker.request("GET", f"{DOCUMENTED}/cities/long").cookies) == {"a": '""'}


def test_cancel_ends_a_handshake(api: LocalAPI) -> None:
    """A server that never answers a TLS greeting holds nobody up."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"https://127.0.0.1:{silent.getsockname()[1]}"
        broker = Broker(None, allow=[origin(server)])
        waiting = threading.Thread(target=broker.request, args=("GET", server))
        waiting.start()
        connection, _ = silent.accept()
        assert connection.recv(1)  # the greeting

        broker.cancel()
        waiting.join(1)

        assert not waiting.is_alive()
        connection.close()


def test_the_records_of_a_run_have_a_size(api: LocalAPI, broker: Broker) -> None:
    """What they have no room for is in files, and large arguments are cut."""
    api.answer("GET", "/cities/oslo", "x" * 200_000)
    for _ in range(12):
        assert broker.call("GET_cities_city_id", ["oslo"]) == "x" * 200_000
    broker.call("POST_alerts", (), {"text": "y" * 300_000, "level": 3})

    responses = [call.response for call in broker.calls]
    assert responses[:9] == ["x" * 200_000] * 9
    assert isinstance(responses[11], LargeBody)
    assert broker.calls[12].arguments == {"text": "y" * 100 + "… (300000 characters)", "level": 3}
    assert len(api.requests[-1].body) > 300_000


def test_cancel_ends_calls_at_once_and_records_them(api: LocalAPI) -> None:
    """Whoever waits for a silent server gets on; nothing is left open."""
    api.answer("GET", "/cities/oslo", OSLO, wait=30)
    broker = Broker(api.protocol)
    ended = threading.Event()

    def wait() -> None:
        with pytest.raises(ToolError, match="the run ended before a reply came"):
            broker.call("GET_cities_city_id", ["oslo"])
        ended.set()

    threading.Thread(target=wait).start()
    while not api.requests:
        time.sleep(0.005)
    broker.cancel()

    assert [call.error for call in broker.calls] == ["the run ended before a reply came"]
    assert ended.wait(0.5)
