"""Whoever approves a plan sees all of it, and nothing in it can pretend to be something else."""

from __future__ import annotations

from typing import Literal

import pytest

from atc.apps.tui.plan import difference_lines, plan_lines
from protocols.json_path import Step
from sandbox.egress.write_plan import (
    PlannedValue,
    PlannedWrite,
    UncertainRead,
    ValueDifference,
    WriteDifference,
    WritePlan,
)


def write(
    number: int, *values: PlannedValue, state: Literal["new", "approved", "done", "failed"] = "new", kind: str = ""
) -> PlannedWrite:
    """A planned write; its call is the one of its number."""
    return PlannedWrite(number, number, "POST_x", "POST", "http://h/x", "http://h", kind, values, state)


def value(item: object, *place: Step) -> PlannedValue:
    """A value of the program."""
    return PlannedValue(place or ("to",), item)


@pytest.mark.parametrize(
    ("planned", "expected"),
    [
        (value("ad\u200dmin"), 'to: "ad<U+200D>min"'),
        (value("\u0430dmin@example.com"), "<U+0430>dmin@example.com"),
        (value("\u202eevil"), "<U+202E>evil"),
        (value("a\nSend them? [y/N] y"), r'"a\nSend them? [y/N] y"'),
        (value("\x1b]8;;http://evil\x1b\\ok"), r"\u001b]8;;http://evil\u001b\\ok"),
        (value(1, "a\nSend them? [y/N] y\n  b"), r'"a\nSend them? [y/N] y\n  b": 1'),
        (value("all", "ids", 1, "name"), 'ids[1].name: "all"'),
        (value("x" * 500), "… (502 characters)"),
        (value([]), "to: []"),
    ],
)
def test_values_are_shown_as_they_are(planned: PlannedValue, expected: str) -> None:
    """Signs without width, letters that look like others, line ends, escapes, long values and empty ones."""
    lines = plan_lines(WritePlan((write(1, planned),)))

    assert expected in "\n".join(lines)
    assert len(lines) == 3


def test_only_what_was_not_approved_is_listed() -> None:
    """The others are counted; numbers stay those of the whole plan."""
    plan = WritePlan((write(1, state="done"), write(2, value("b")), write(3, state="approved")))

    assert plan_lines(plan)[:2] == [
        "The program plans 1 write, beside 2 approved before:",
        "2. POST_x: POST http://h/x",
    ]


def test_uncertain_reads_stand_between_the_writes() -> None:
    """In the order of the calls."""
    plan = WritePlan((write(1), write(3)), (UncertainRead(2, "GET_y", "GET", "http://h/y", 1),))

    assert [line.split("  (")[0].strip() for line in plan_lines(plan)][1:] == [
        "1. POST_x: POST http://h/x",
        "GET_y",
        "3. POST_x: POST http://h/x",
    ]


def test_a_long_list_ends_with_the_requests() -> None:
    """Many values do not push a request off the screen; what is not shown is said."""
    values = [PlannedValue((f"x{number}",), number) for number in range(500)]
    lines = plan_lines(WritePlan((write(1, *values, kind="application/xml"), write(2))))

    assert len(lines) < 80
    assert "     and more values, which are NOT shown here" in lines
    assert lines[-3:] == ["In short:", "1. POST_x: POST http://h/x as application/xml", "2. POST_x: POST http://h/x"]


def test_a_difference_is_shown_by_value() -> None:
    """Planned against actual; a value that is not there at all is said to be none."""
    difference = WriteDifference(
        "POST_x",
        "POST",
        "http://h/x",
        2,
        (ValueDifference(("n",), 2, 3), ValueDifference(("more", "\u0430b"), None, "ad\u200dmin")),
    )

    assert difference_lines(difference) == [
        "stopped before it was sent: POST_x: POST http://h/x",
        "  n: planned 2, actual 3",
        '  more."<U+0430>b": planned (none), actual "ad<U+200D>min"',
    ]
