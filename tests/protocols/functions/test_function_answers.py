"""Programs over Python functions are answers by what they called, and are doubted only for what is known."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import pytest

from atc import Agent
from atc.solution import Solution
from protocols import Protocol
from tests.scripted import ScriptedModel

SETTERS = 'form.begin("oak")\nform.set_day(Day(2, 6, 2025))\nform.set_length(4)'


@dataclass(frozen=True)
class Day:
    """A day."""

    month: int
    day: int
    year: int


class Form:
    """The order of a plank."""

    def __init__(self) -> None:
        self.entries: dict[str, Any] = {"wood": "ash"}

    def begin(self, wood: str) -> None:
        """Begin with the wood."""
        self.entries = {"wood": wood}

    def set_day(self, day: Day) -> None:
        """Set when it is fetched."""
        self.entries["day"] = day.day

    def set_length(self, length: int) -> None:
        """Set the length, in metres."""
        self.entries["length"] = length

    def submit(self) -> dict[str, Any]:
        """Submit the form, as the last call."""
        return dict(self.entries)


def solve(program: str, query: str, reads: Collection[str] = (), *later: str) -> tuple[Solution, ScriptedModel]:
    """The solution of a model that writes this program, and then others."""
    protocol = Protocol.from_functions({"form": Form(), "Day": Day}, reads=reads)
    model = ScriptedModel(*(f"{text}\n```" for text in (program, *later)))
    return Agent(protocol, model=model, writes="allow").solve(query), model


@pytest.mark.parametrize(
    ("program", "answer"),
    [
        (f"{SETTERS}\nform.submit()", "{'wood': 'oak', 'day': 6, 'length': 4}"),
        (SETTERS, "called form.begin, form.set_day, form.set_length"),
        (f"{SETTERS}\nprint(form.submit())", "{'wood': 'oak', 'day': 6, 'length': 4}"),
    ],
)
@pytest.mark.parametrize(
    "query",
    ["Which planks of oak are there, 4 metres long, for 2025/02/06?", "Order 4 metres of oak for February 6, 2025."],
)
def test_a_program_that_acts_is_an_answer(program: str, answer: str, query: str) -> None:
    """It is accepted at once, printed or not, and nothing speaks against it."""
    solution, _ = solve(program, query)

    assert (solution.status, solution.answer) == ("answered", answer)
    assert [attempt.program for attempt in solution.attempts] == [program]
    assert (solution.findings, solution.standing) == ((), "supported")


def test_a_program_that_only_reads_has_to_print() -> None:
    """Where `reads` names the function, a silent program is no answer."""
    solution, _ = solve("form.submit()", "What is in the form?", ["submit"], "print(form.submit())")

    assert solution.answer == "{'wood': 'ash'}"
    assert [attempt.fault and attempt.fault.type for attempt in solution.attempts] == ["NoOutput", None]
