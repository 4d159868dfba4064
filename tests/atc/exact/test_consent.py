"""Whoever confirms a write sees what is sent, all of it, and confirms nothing else."""

from __future__ import annotations

import io
import os
import pty
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path

import pytest

from atc.apps.cli.confirm import Confirmation
from sandbox import Broker, CallRecord
from tests.local_api import LocalAPI

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("POST", "/alerts", {"text": "Storm"})
        api.answer("DELETE", "/cities/oslo", None, 204)
        yield api


def asked_of(api: LocalAPI, act: Callable[[Broker], object]) -> CallRecord:
    """The call that somebody is asked about; the answer is no."""
    questions: list[CallRecord] = []

    def confirm(call: CallRecord) -> bool:
        questions.append(call)
        return False

    act(Broker(api.protocol, writes=confirm))
    assert api.requests == []
    return questions[0]


def question(call: CallRecord, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the terminal shows of a call; nothing that is typed is no yes."""
    with Path(os.devnull).open() as stdin, redirect_stderr(io.StringIO()) as screen:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert Confirmation().write(call) is False
    return screen.getvalue()


def test_what_was_typed_before_the_question_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second `y`, pressed too long, does not confirm the next write."""
    call = CallRecord(0, "POST_alerts", "POST", "http://h/alerts", {}, None, None, 0.0, 0, "function")
    typing, device = pty.openpty()
    with os.fdopen(device) as stdin, redirect_stderr(io.StringIO()):
        monkeypatch.setattr(sys, "stdin", stdin)
        os.write(typing, b"y\ny\n")
        timer = threading.Timer(0.5, os.write, (typing, b"n\n"))
        timer.start()
        assert Confirmation().write(call) is False
        timer.join()
    os.close(typing)


@pytest.mark.parametrize(
    ("send", "expected"),
    [
        ({"data": b'{"text": "a", "text": "b"}', "headers": JSON}, '{"text": "a", "text": "b"}'),
        ({"params": [("id", "1"), ("id", "2")], "json_body": b'{"text": "a"}'}, "['1', '2']"),
        ({"params": [("text", "shown")], "json_body": b'{"text": "hidden"}'}, "hidden"),
        ({"json_body": b'{"text": "a"}', "headers": {"X-Account": "of somebody else"}}, "of somebody else"),
        ({"json_body": b'{"text": "a"}', "cookies": {"account": "of somebody else"}}, "of somebody else"),
        ({"json_body": b'{"text": "a"}', "auth": ("ann", "pw")}, "Authorization"),
        ({"data": b"<x/>", "headers": {"Content-Type": "application/xml"}}, "application/xml"),
        ({"data": b"x" * 400_000}, "(400000 bytes)"),
        ({"data": b"y" * 4_000}, "(4000 bytes)"),
    ],
)
def test_nothing_that_is_sent_is_left_out_of_the_question(
    api: LocalAPI, send: dict[str, object], expected: str
) -> None:
    """Names given twice or in two places, headers, cookies, sign-ins, and how large a body really is."""
    call = asked_of(api, lambda broker: broker.request("POST", f"{api.url}/alerts", **send))  # type: ignore[arg-type]

    assert expected in str(call.arguments)


def test_the_size_of_a_large_argument_is_in_the_question(api: LocalAPI) -> None:
    call = asked_of(api, lambda broker: broker.fetch("POST_alerts", (), {"text": "x" * 300_000}))

    assert str(call.arguments["text"]).endswith("… (300000 characters)")


def test_a_body_does_not_hide_what_the_path_names(api: LocalAPI) -> None:
    """Both are shown, so that a body for another object is seen."""
    call = asked_of(
        api, lambda broker: broker.request("DELETE", f"{api.url}/cities/oslo", json_body=b'{"city_id": "bergen"}')
    )

    assert call.arguments == {"city_id": "oslo", "body city_id": "bergen"}


def test_a_packed_body_is_not_sent_as_one(api: LocalAPI) -> None:
    """Nobody could read in the question what is in it."""
    broker = Broker(api.protocol)
    broker.request("POST", f"{api.url}/alerts", data=b"\x1f\x8b\x08", headers={"Content-Encoding": "gzip"})

    assert all("content-encoding" not in request.headers for request in api.requests)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"order": {"note": "x" * 300, "amount": 1_000_000}}, "order.amount: 1000000"),
        ({"ids": ["x" * 250, "all"]}, 'ids[1]: "all"'),
        ({"a: 1\nSend it? [y/N] y\n  b": 2}, r'"a: 1\nSend it? [y/N] y\n  b": 2'),
        ({"to": "ad\u200dmin"}, "ad<U+200D>min"),
        ({"to": "admin\u3164\u2800"}, "admin<U+3164><U+2800>"),
        ({"to": "a\u00a0b\ufe0f"}, "a<U+00A0>b<U+FE0F>"),
        ({"to": "\u202eevil"}, "<U+202E>evil"),
        ({"to": "\u0430dmin@example.com"}, "<U+0430>dmin@example.com"),
        ({"to": "Ærøskøbing Москва 東京"}, '"Ærøskøbing Москва 東京"'),
        ({"to": "\x1b]8;;http://evil\x1b\\ok"}, r"\u001b]8;;http://evil\u001b\\ok"),
    ],
)
def test_the_question_shows_what_would_not_be_seen(
    monkeypatch: pytest.MonkeyPatch, arguments: dict[str, object], expected: str
) -> None:
    """What a long value is followed by, line ends in names, signs without width, letters that look like others."""
    call = CallRecord(0, "POST_x", "POST", "http://h/x", arguments, None, None, 0.0, 0, "function")
    screen = question(call, monkeypatch)

    assert expected in screen
    assert "\n  b" not in screen
    assert screen.count("Send it? Type ") == 1


def test_many_values_do_not_push_the_request_off_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shown again after them, and said if some are not shown."""
    arguments: dict[str, object] = {f"x{number}": number for number in range(500)}
    call = CallRecord(0, "DELETE_all", "DELETE", "http://h/all", arguments, None, None, 0.0, 0, "function")
    lines = question(call, monkeypatch).splitlines()

    assert len(lines) < 80
    assert lines[-3:-1] == ["and more values, which are NOT shown here", "  DELETE http://h/all"]


def test_a_yes_is_for_one_call_whatever_runs_beside_it(api: LocalAPI) -> None:
    """Calls of threads are asked about in turn, also equal ones, and each gets its own answer."""
    questions: list[object] = []

    def confirm(call: CallRecord) -> bool:
        questions.append(call.arguments["text"])
        return call.arguments["text"] == "Storm" and questions.count("Storm") == 1

    broker = Broker(api.protocol, writes=confirm)
    threads = [
        threading.Thread(target=broker.fetch, args=("POST_alerts", (), {"text": text}))
        for text in ("Storm", "Rain", "Storm", "Hail")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(map(str, questions)) == ["Hail", "Rain", "Storm", "Storm"]
    assert [request.json() for request in api.requests] == [{"text": "Storm"}]
