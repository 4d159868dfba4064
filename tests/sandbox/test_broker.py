"""The only door to the network: what it sends, what it refuses, what it keeps to itself."""

from __future__ import annotations

import time

import pytest

from protocols import load
from protocols.errors import ToolError
from sandbox import Broker, CallRecord, Limits
from tests.local_api import DOCUMENTED, Answer, LocalAPI, document
from tests.sandbox.runs import OSLO, SECRET


def test_a_call_gives_the_parsed_reply_and_a_record(api: LocalAPI, broker: Broker) -> None:
    """Everything that is known of a call is in its record, in the words that the program used."""
    assert broker.call("GET_cities", (), {"query": "Oslo", "page": "2"}, line=7) == {"results": [OSLO]}

    (record,) = broker.calls
    assert record == CallRecord(
        index=0,
        tool="GET_cities",
        method="GET",
        url=f"{api.url}/cities?query=Oslo&page=2",
        arguments={"query": "Oslo", "page": 2},
        line=7,
        status=200,
        ms=record.ms,
        attempts=1,
        style="function",
        response={"results": [OSLO]},
    )
    assert api.requests[0].query == (("query", "Oslo"), ("page", "2"))
    assert api.requests[0].headers["authorization"] == f"Bearer {SECRET}"


def test_path_arguments_stay_one_segment(api: LocalAPI, broker: Broker) -> None:
    """What a value holds is percent-encoded, and no value climbs out of its place."""
    with pytest.raises(ToolError, match="404"):
        broker.call("GET_cities_city_id", ["oslo?x=1#y"])
    with pytest.raises(ToolError, match=r"argument 'city_id' must not be '\.\.'"):
        broker.call("GET_cities_city_id", [".."])
    for climbing in ("../admin", "a/../../admin", "a\\..\\admin", "a/.", "%2e%2e/admin"):
        with pytest.raises(ToolError, match=r"a path argument must not have '\.' or '\.\.' between slashes"):
            broker.call("GET_cities_city_id", [climbing])

    assert [request.path for request in api.requests] == ["/v1/cities/oslo%3Fx%3D1%23y"]


def test_a_path_argument_may_hold_a_slash(api: LocalAPI, broker: Broker) -> None:
    """Services of files, repositories and buckets take it percent-encoded, in one segment."""
    api.answer("GET", "/cities/notes%2Ftodo.txt", OSLO)

    assert broker.call("GET_cities_city_id", ["notes/todo.txt"]) == OSLO
    assert broker.request("GET", f"{api.url}/cities/notes%2Ftodo.txt").record.arguments == {"city_id": "notes/todo.txt"}
    assert [request.path for request in api.requests] == ["/v1/cities/notes%2Ftodo.txt"] * 2


def test_wrong_arguments_are_never_sent(api: LocalAPI, broker: Broker) -> None:
    """The program is told the nearest valid argument; the record shows that nothing left."""
    with pytest.raises(ToolError, match="got an unexpected keyword argument 'qery'; did you mean 'query'"):
        broker.call("GET_cities", (), {"qery": "Oslo"})

    assert api.requests == []
    assert [(call.status, call.attempts) for call in broker.calls] == [(None, 0)]
    assert "did you mean 'query'" in (broker.calls[0].error or "")
    assert broker.calls[0].arguments == {"qery": "Oslo"}


@pytest.mark.parametrize("value", [" x", "\x0bx", "\u2028"])
def test_a_header_that_cannot_be_sent_is_the_calls_failure(api: LocalAPI, value: str) -> None:
    """It would arrive as something else; the program hears of it as of any other wrong argument."""
    described = document(api.url)
    trace = {"name": "X-Trace", "in": "header", "schema": {"type": "string"}}
    described["paths"]["/alerts"]["get"]["parameters"] = [trace]  # type: ignore[index]
    broker = Broker(load(described))

    with pytest.raises(ToolError, match=r"argument 'X_Trace' must (not begin or end with a space|be one line of text)"):
        broker.call("GET_alerts", (), {"X_Trace": value})

    assert api.requests == []
    assert "argument 'X_Trace' must" in str(broker.calls[0].error)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(404, {"message": "No such city"}), '404 Not Found — the service said "No such city"'),
        (Answer(422, {"errors": [{"detail": "too high", "field": "page"}]}), 'the service said "page: too high"'),
        (Answer(500, "boom"), '500 Internal Server Error — the service said "boom"'),
        (Answer(400, 'a\n\x1b[2Jb\u202e"c'), '— the service said "a ␛[2Jb<U+202E>\'c"'),
        (Answer(409, None), "409 Conflict (GET /cities/oslo)"),
    ],
)
def test_an_error_of_the_service_is_one_short_line(api: LocalAPI, broker: Broker, answer: Answer, message: str) -> None:
    """Name of the tool, status, and what the service says, wherever in its reply it says it."""
    api.script("GET", "/cities/oslo", answer)

    with pytest.raises(ToolError) as caught:
        broker.call("GET_cities_city_id", ["oslo"])

    assert str(caught.value).startswith("GET_cities_city_id: ")
    assert message in str(caught.value)
    assert caught.value.status == answer.status
    assert broker.calls[0].status == answer.status


# Sending again


SOON = {"Retry-After": "0"}


@pytest.mark.parametrize(
    ("method", "answers", "statuses"),
    [
        ("GET", [Answer(429, headers=SOON), Answer(503, headers=SOON), Answer()], [429, 503, 200]),
        ("GET", [Answer(429, headers=SOON)] * 5, [429] * 4),
        ("POST", [Answer(429, headers=SOON), Answer()], [429, 200]),
        ("POST", [Answer(503, headers=SOON), Answer()], [503]),
        ("POST", [Answer(500), Answer()], [500]),
        ("POST", [Answer(cut=True), Answer()], [None]),
    ],
)
def test_what_is_sent_again(
    api: LocalAPI, broker: Broker, method: str, answers: list[Answer], statuses: list[int | None]
) -> None:
    """A busy service is asked again, when it says so, four times at most. A write goes again only after a 429, which
    says that nothing was done: 5xx and broken connections leave that open. With `requests` nothing does: a program
    sees each status itself, as the real library would show it."""
    api.script(method, "/alerts", *answers)
    reply = broker.fetch(f"{method}_alerts", (), {"text": "x"} if method == "POST" else {})

    assert (reply.record.status, reply.record.attempts) == (statuses[-1], len(statuses))
    assert len(api.requests) == len(statuses)

    api.script(method, "/alerts", *answers)
    assert broker.request(method, f"{DOCUMENTED}/alerts", json_body=b"{}").record.status == statuses[0]
    assert len(api.requests) == len(statuses) + 1


@pytest.mark.parametrize(
    "pause", ["1 Jan 99999999999999999999 00:00:00 GMT", "1 Jan 0001 00:00:00 -0000", "nan", "soon"]
)
def test_a_pause_that_is_none_is_ours_to_choose(api: LocalAPI, broker: Broker, pause: str) -> None:
    """Whatever stands in Retry-After, the call goes on."""
    api.script("GET", "/cities/oslo", Answer(429, headers={"Retry-After": pause}), Answer(200, OSLO))

    assert broker.call("GET_cities_city_id", ["oslo"]) == OSLO


def test_a_pause_is_a_day_at_most(api: LocalAPI) -> None:
    """No clock waits for more seconds than it can count."""
    api.answer("GET", "/cities/oslo", {}, 429, headers={"Retry-After": "1e300"})
    broker = Broker(api.protocol, deadline=time.monotonic() + 1)

    assert broker.fetch("GET_cities_city_id", ["oslo"]).record.retry_after == 86_400


def test_no_retry_waits_beyond_the_end_of_the_run(api: LocalAPI) -> None:
    """A pause that the run has no time for is not begun."""
    api.answer("GET", "/cities/oslo", None, 429, headers={"Retry-After": "60"})
    broker = Broker(api.protocol, deadline=time.monotonic() + 5)

    with pytest.raises(ToolError, match="429"):
        broker.call("GET_cities_city_id", ["oslo"])

    assert len(api.requests) == 1


def test_a_write_that_times_out_is_not_repeated(api: LocalAPI) -> None:
    """Nor is one without a reply."""
    api.script("POST", "/alerts", Answer(200, {"text": "x"}, wait=2))
    broker = Broker(api.protocol, limits=Limits(request_timeout=0.2))

    with pytest.raises(ToolError, match=r"no reply from POST /alerts — no whole reply within 0\.2 s"):
        broker.call("POST_alerts", (), {"text": "x"})

    assert len(api.requests) == 1
    assert broker.calls[0].status is None
