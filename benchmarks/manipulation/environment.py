"""What the eight tools of the suite have in common: tests, demonstrations, an environment that acts and is scored.

An environment takes the place of a simulated world and of gold calls. It is used in one of two ways: `act` executes
what the action generator wrote, or a program of `atc` runs over `protocol()`; then `score()` judges what was done.

Tests, demonstrations and training samples are data, `content.json.gz` in the folder of a tool. They were made from
templates and pools of values as the paper describes it, and are frozen since (the generators are in cb99d149).

Source: Xu et al. (arXiv:2305.16504), sections 3 and 5.
"""

from __future__ import annotations

import gzip
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from protocols.errors import UsageError

if TYPE_CHECKING:
    from protocols.calls.credentials import Credential
    from protocols.model import Protocol

__all__ = [
    "NOW",
    "ActionResult",
    "Environment",
    "Failure",
    "FunctionDocument",
    "GoalAction",
    "ManipulationTest",
    "TestScore",
    "f1_figures",
    "failure_of",
    "subsequence_length",
]

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
"""The time that programs and services are told."""

Failure = Literal["", "non-executable", "wrong API", "wrong arguments"]
"""Why a test failed, the first that applies in this order; empty where it did not."""


@dataclass(frozen=True, slots=True)
class FunctionDocument:
    """What a prompt says of one function: its signature, and what it does."""

    name: str
    signature: str
    description: str


@dataclass(frozen=True, slots=True)
class GoalAction:
    """A goal in words and the calls that reach it: a demonstration, or a training sample.

    `names` are the functions called, a repeated one as often as it is called. `program` is the action for `atc`, as a
    program over the tools of `protocol()`; empty where the action is such a program.
    """

    goal: str
    action: str
    names: tuple[str, ...]
    program: str = ""


@dataclass(frozen=True, slots=True)
class ManipulationTest:
    """A test: its goal, and the actions that are accepted.

    `labels` are as the action generator has to write them, and `names` their functions, in the same order. `programs`
    are the same for `atc`, as programs over the tools of `protocol()`; empty where the labels are such programs.
    `state` is what the environment starts from, as JSON values.
    """

    id: str
    goal: str
    labels: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    programs: tuple[str, ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What became of a text that was executed: the functions called, what came back, and the error that ended it."""

    names: tuple[str, ...] = ()
    observation: str = ""
    error: str = ""
    done: bool = True


@dataclass(frozen=True, slots=True)
class TestScore:
    """`value` is from 0 to 1: success, the longest common subsequence, or a reward. `details` are further figures."""

    value: float
    failure: Failure = ""
    details: Mapping[str, float] = field(default_factory=dict)

    __test__ = False


@dataclass(frozen=True, slots=True)
class SuiteContent:
    """What a tool's file has; `functions` only where its code does not tell them."""

    tests: tuple[ManipulationTest, ...]
    demonstrations: tuple[GoalAction, ...]
    samples: tuple[GoalAction, ...]
    functions: tuple[FunctionDocument, ...] = ()


@cache
def _read_content(folder: Path) -> SuiteContent:
    """The content of a tool by its folder."""
    data = json.loads(gzip.decompress((folder / "content.json.gz").read_bytes()))
    tests, demonstrations, samples, functions = (
        [{name: _tuple(value) for name, value in record.items()} for record in data.get(part, ())]
        for part in ("tests", "demonstrations", "samples", "functions")
    )
    return SuiteContent(
        tuple(ManipulationTest(**record) for record in tests),
        tuple(GoalAction(**record) for record in demonstrations),
        tuple(GoalAction(**record) for record in samples),
        tuple(FunctionDocument(**record) for record in functions),
    )


def _tuple(value: Any) -> Any:
    """Lists become tuples, at any depth."""
    return tuple(map(_tuple, value)) if isinstance(value, list) else value


class Environment(ABC):
    """One tool of the suite with its tests.

    Attributes:
        name: As `--task` takes it.
        folder: Where its content lies.
        metric: What the value of a score is.
        functions: All that a prompt may describe, in a fixed order.
        demonstrations: Each function is in one at least, except where the paper leaves some out.
        tests: All of them, in a fixed order.
        max_tokens: Tokens of one answer (the paper's table of prompts).
        documents_shown: Functions in a prompt, None for all.
        stops: Texts that end an answer, beside those of every tool.
        steps: Answers of an episode; 1 where all calls come in one.
        credentials: What calls of the tools of `protocol()` are signed with.
        readable: A test is made of texts alone, so that tests may be read from files.
        figures: The details of each score that are 0 where nothing could be executed.
        compat: Score as the released evaluators do, with the holes that they leave.
    """

    name: str
    folder: Path
    metric: Literal["success", "LCS", "reward"] = "success"
    max_tokens: int = 128
    documents_shown: int | None = None
    stops: tuple[str, ...] = ()
    steps: int = 1
    credentials: Sequence[Credential] = ()
    readable = False
    figures: tuple[str, ...] = ()

    def __init__(self, *, compat: bool = False) -> None:
        self.compat = compat
        self._test: ManipulationTest | None = None

    @property
    def test(self) -> ManipulationTest:
        """The test that was started last. Raises: ValueError: The environment was not reset."""
        if self._test is None:
            raise ValueError("reset the environment with a test first")
        return self._test

    @cached_property
    def functions(self) -> Sequence[FunctionDocument]:
        """Those of the tool's content."""
        return _read_content(self.folder).functions

    @cached_property
    def demonstrations(self) -> Sequence[GoalAction]:
        """Those of the tool's content."""
        return _read_content(self.folder).demonstrations

    @cached_property
    def tests(self) -> Sequence[ManipulationTest]:
        """Those of the tool's content."""
        return _read_content(self.folder).tests

    @cached_property
    def samples(self) -> Sequence[GoalAction]:
        """Training samples, as many as the paper has; none has the goal of a test. Source: section 4.1."""
        return _read_content(self.folder).samples

    @abstractmethod
    def reset(self, test: ManipulationTest, seed: int = 0) -> str:
        """Start a test from its state, and give what an agent sees first: the goal, or a page.

        `seed` varies what the paper's three runs vary: a layout, prices, the order of a search.
        """

    @property
    @abstractmethod
    def tools(self) -> Protocol:
        """What `protocol` gives, which is made once."""

    def protocol(self) -> Protocol:
        """The tools of a program, the same from test to test; they act on the present state."""
        return self.tools

    @abstractmethod
    def act(self, text: str) -> ActionResult:
        """Execute what the action generator wrote, in the sandbox or by parsing; nothing of it is cleaned."""

    def note_calls(self, names: Sequence[str]) -> None:  # noqa: B027 (most environments see their calls)
        """Take the functions that an agent's program called, where the environment does not see them itself."""

    @abstractmethod
    def score(self) -> TestScore:
        """Judge what was done since `reset`, by `act` or by calls of the tools."""

    def replace_content(
        self,
        functions: Sequence[FunctionDocument],
        demonstrations: Sequence[GoalAction],
        tests: Sequence[ManipulationTest],
    ) -> None:
        """Take functions, demonstrations and tests from files in place of the environment's own."""
        vars(self).update(functions=functions, demonstrations=demonstrations, tests=tests)  # as if they were computed

    def read_action(self, goal: str, action: str) -> GoalAction:
        """A goal and an action from files, with the functions called.

        Raises: UsageError: It calls no function that there is, or this tool's tests are more than texts.
        """
        raise UsageError(f"the tests of {self.name} need scene files")

    def state_of(self, number: int, action: GoalAction) -> Mapping[str, Any]:
        """What the test with this number and this label starts from."""
        return {}

    def close(self) -> None:  # noqa: B027 (most environments start nothing)
        """Stop what the environment started. It may not be used afterwards."""


def failure_of(executed: bool, called: Sequence[str], test: ManipulationTest) -> Failure:
    """The class of a failed test: the first of non-executable, wrong API and wrong arguments (section 3).

    Args:
        executed: Whether all that was written ran to its end.
        called: The functions called, in any order.
    """
    if not executed:
        return "non-executable"
    if all(Counter(called) != Counter(names) for names in test.names):
        return "wrong API"
    return "wrong arguments"


def f1_figures(prediction: Mapping[str, object], label: Mapping[str, object]) -> dict[str, float]:
    """`f1`, `precision` and `recall` of the members of a state; 0 where none is equal (section 5)."""
    overlap = sum(name in label and label[name] == value for name, value in prediction.items())
    if not overlap:
        return {"f1": 0.0, "precision": 0.0, "recall": 0.0}
    precision, recall = overlap / len(prediction), overlap / len(label)
    return {"f1": 2 * precision * recall / (precision + recall), "precision": precision, "recall": recall}


def subsequence_length(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(second) + 1)
    for item in first:
        before, row = row, [0]
        for place, expected in enumerate(second):
            row.append(before[place] + 1 if item == expected else max(row[-1], before[place + 1]))
    return row[-1]
