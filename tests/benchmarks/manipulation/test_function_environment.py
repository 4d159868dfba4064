"""What environments over Python functions share: documents, a sandbox, and labels that run in this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import pytest

from benchmarks.manipulation.environment import GoalAction, ManipulationTest, TestScore
from benchmarks.manipulation.function_environment import FunctionEnvironment, called_functions

TEST = ManipulationTest("one", "Count to three.", ("add(1)\nadd(2)",), (("add", "add"),))


@dataclass(frozen=True)
class Step:
    """A step of a count."""

    size: int


class Counting:
    """Adds numbers up."""

    def __init__(self) -> None:
        self.total = 0

    def add(self, *numbers: int, times: int = 1) -> int:
        """Add numbers to the total.

        Args:
            times: How often.
        """
        self.total += times * sum(numbers)
        return self.total

    def walk(self, step: Step, name: str = "") -> None:
        """Add a step.

        The total never falls.
        """
        if step.size < 0:
            raise ValueError("a step leads onwards")
        self.total += step.size


class CountingEnvironment(FunctionEnvironment):
    """Counts to the number that a state has."""

    name = "counting"
    demonstrations: Sequence[GoalAction] = ()
    tests: Sequence[ManipulationTest] = (TEST,)

    def __init__(self) -> None:
        super().__init__()
        self.counting = Counting()

    def objects(self) -> object:
        return {"": self.counting}

    def restore(self, test: ManipulationTest, seed: int) -> None:
        self.counting.total = 0

    def score(self) -> TestScore:
        return TestScore(float(self.counting.total == 3 and not self.error))


@pytest.fixture(scope="module")
def counting() -> Iterator[CountingEnvironment]:
    with closing(CountingEnvironment()) as environment:
        yield environment


def test_documents_are_python_signatures_with_their_words(counting: CountingEnvironment) -> None:
    """Types and defaults are shown as Python has them, results in words; a constructor is a function, too."""
    assert [document.signature for document in counting.functions] == [
        "add(*numbers: int, times: int = 1)",
        "walk(step: Step, name: str = '')",
        "Step(size: int)",
    ]
    assert [document.description for document in counting.functions] == [
        "Add numbers to the total.\ntimes: How often.\nreturns: int",
        "Add a step.\nThe total never falls.",
        "A step of a count.",
    ]


def test_a_program_acts_on_the_objects_and_is_observed(counting: CountingEnvironment) -> None:
    """It is plain Python; what it prints comes back, with the functions that were called."""
    counting.reset(TEST)
    result = counting.act("for number in [1, 1]:\n    total = add(number)\nwalk(Step(1))\nprint(total)")

    assert (result.names, result.observation, result.error) == (("add", "add", "walk", "Step"), "2\n", "")
    assert counting.score().value == 1.0


def test_a_test_starts_once_a_call_of_the_last_one_has_ended(counting: CountingEnvironment) -> None:
    """A run may be over before its call is: that call goes on, and must not touch the next test."""
    function = counting.protocol().tools[0].function
    assert function is not None
    started, free = threading.Event(), threading.Event()

    def go_on() -> None:
        with function.turn:
            started.set()
            free.wait(5)
            counting.counting.total = 7

    call = threading.Thread(target=go_on)
    call.start()
    started.wait(5)
    threading.Timer(0.1, free.set).start()
    counting.reset(TEST)
    call.join()

    assert counting.counting.total == 0


@pytest.mark.parametrize(
    ("program", "error"),
    [
        ("Here you are:\nadd(3)", "SyntaxError: invalid syntax (line 1)"),
        ("```\nadd(3)\n```", "SyntaxError: invalid syntax (line 1)"),
        ("add(3)\nwalk(Step(-1))", "ValueError: a step leads onwards (line 2)"),
        ("subtract(3)", "NameError: name 'subtract' is not defined (line 1)"),
        ("import os", "ProgramRefused: "),
    ],
)
def test_why_a_program_did_not_run_is_said(counting: CountingEnvironment, program: str, error: str) -> None:
    """Kind, message and line, as Python has them; nothing is cleaned out of the text."""
    counting.reset(TEST)

    assert counting.act(program).error.startswith(error)


def test_the_functions_of_a_text_are_in_the_order_of_their_calls() -> None:
    """An argument is made before the call that takes it."""
    assert called_functions("walk(Step(1))\nAPI.add(2)\nadd(3)") == ("Step", "walk", "API.add", "add")
