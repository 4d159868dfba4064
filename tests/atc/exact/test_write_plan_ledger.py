"""What counts as the planned write: tool, server, media type, and every value with its type and place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from sandbox import Broker, CallRecord
from sandbox.egress.write_plan import PlannedRun, PlannedValue, PlannedWrite, WritePlan, WriteRequest
from tests.atc.exact.planned_orders import Shop

JSON = "application/json"
ONE = PlannedWrite(
    1, 0, "POST_x", "POST", "http://h/x", "http://h", JSON, (PlannedValue(("n",), 1), PlannedValue(("o", "a", 0), "b"))
)
TWO = replace(ONE, number=2, values=(PlannedValue(("id",), "7", "write", 1, ("made", 0, "id"), as_text=True),))
FIELDS: Mapping[str, object] = {"n": 1, "o": {"a": ["b"]}}


def request(fields: Mapping[str, object] = FIELDS, **changes: str) -> WriteRequest:
    """What a write sends; as the first planned one, but for the changes."""
    return replace(WriteRequest("POST_x", "POST", "http://h/x", "http://h", JSON, fields), **changes)  # type: ignore[arg-type]


def refusal(*requests: WriteRequest, response: object = None) -> str | None:
    """The reason against the last of some writes; the ones before are answered with the response."""
    run = PlannedRun("execute", WritePlan((ONE, TWO)).approved())
    reason = None
    for index, sent in enumerate(requests):
        run.begin(index, sent)
        reason = run.refusal(index)
        record = CallRecord(index, "POST_x", "POST", "http://h/x", {}, 1, 201, 1.0, 1, "function", response)
        run.answered(index, replace(record, refused=reason is not None))
    return reason


@pytest.mark.parametrize(
    ("sent", "allowed"),
    [
        (request(), True),
        (request({"o": {"a": ("b",)}, "n": 1}), True),
        (request({**FIELDS, "n": True}), False),
        (request({**FIELDS, "n": 1.0}), False),
        (request({**FIELDS, "n": "1"}), False),
        (request({**FIELDS, "o": {"a": ["b", "c"]}}), False),
        (request({**FIELDS, "o": {"a": "b"}}), False),
        (request({**FIELDS, "o": {"a": {"0": "b"}}}), False),
        (request({**FIELDS, "more": {}}), False),
        (request({"n": 1}), False),
        (request({**FIELDS, "header X-Account": "other"}), False),
        (request(tool="PUT_x"), False),
        (request(method="PUT"), False),
        (request(base="http://elsewhere"), False),
        (request(media_type="text/plain"), False),
    ],
)
def test_what_equals_a_planned_write(sent: WriteRequest, allowed: bool) -> None:
    """The order of names does not count; everything else does."""
    assert (refusal(sent) is None) == allowed


@pytest.mark.parametrize(
    ("response", "value", "allowed"),
    [
        ({"made": [{"id": 4711}]}, "4711", True),
        ({"made": [{"id": "4711"}]}, "4711", True),
        ({"made": [{"id": 4711}]}, 4711, False),
        ({"made": [{"id": 4711}]}, "7", False),
        ({"made": [{"id": 4711}], "id": 4712}, "4712", False),
        ({"made": []}, "7", False),
        ({}, "None", False),
        (None, "None", False),
    ],
)
def test_a_value_of_an_earlier_answer_is_that_of_its_place(response: object, value: object, allowed: bool) -> None:
    """The planned one is made up, and not allowed either."""
    assert (refusal(request(), request({"id": value}), response=response) is None) == allowed


def test_a_value_of_an_answer_that_did_not_come_is_stopped() -> None:
    """The write that it comes from was not made in this run."""
    assert refusal(request({"id": "7"})) is not None


def test_a_plan_is_read_back_from_its_json() -> None:
    """A resumed solve is held to the same plan."""
    plan = WritePlan((ONE, TWO)).approved()

    assert WritePlan.from_json(plan.to_json()) == plan


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("planned", "sent"),
    [
        (("", b'{"customer": "Ada", "x": "1"}', JSON), ("?x=1", b'{"customer": "Ada"}', JSON)),
        (("?x=1", b'{"customer": "Ada"}', JSON), ("", b'{"customer": "Ada", "query x": "1"}', JSON)),
        (("", b'["Ada"]', JSON), ("", b'{"body": ["Ada"]}', JSON)),
        (("?x=%FF", b"{}", JSON), ("?x=%FE", b"{}", JSON)),
        (("", b'{"customer": 1e999}', JSON), ("", b'{"customer": 2e999}', JSON)),
        (("", b'{"customer": "+AGE-"}', JSON), ("", b'{"customer": "+AGE-"}', f"{JSON}; charset=utf-7")),
        (("", b'{"customer": "%41"}', f"{JSON}; a={FORM}"), ("", b'{"customer": "A"}', f"{JSON}; a={FORM}")),
        (("", b"customer=%FF", FORM), ("", b"customer=%FE", FORM)),
        (("/", b"{}", JSON), ("", b"{}", JSON)),
    ],
)
def test_a_request_that_reads_like_the_planned_one_has_other_values(
    planned: tuple[str, bytes, str], sent: tuple[str, bytes, str], shop: Shop
) -> None:
    """Query or body, bytes that are no text, numbers without bounds, charsets: what a service may take otherwise."""
    questions: list[dict[str, object]] = []

    def confirm(call: CallRecord) -> bool:
        questions.append(call.arguments)
        return False

    broker = Broker(shop.protocol, writes=confirm)
    for path, data, kind in (planned, sent):
        broker.request("POST", f"{shop.api.url}/orders{path}", data=data, headers={"Content-Type": kind})

    assert len(questions) == 2
    assert questions[0] != questions[1]
    assert shop.sent() == []
