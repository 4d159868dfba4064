"""The task VirtualHome: activities to be written as calls of an agent, judged by the longest common subsequence.

Source: Xu et al. (arXiv:2305.16504), section 5 and appendix A. By default an answer without any line is not executable;
the released evaluator takes it as executable, and so does `compat`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from benchmarks.manipulation.environment import (
    ActionResult,
    Environment,
    FunctionDocument,
    GoalAction,
    ManipulationTest,
    TestScore,
    drawn_in_rounds,
    failure_of,
    subsequence_length,
)
from benchmarks.manipulation.virtualhome.activities import Activity, Step, read_activities, spelled
from benchmarks.manipulation.virtualhome.agent import make_agent
from benchmarks.manipulation.virtualhome.grounding import AGENT, GroundedLine, agent_functions, ground
from protocols import Protocol
from protocols.errors import UsageError

__all__ = ["VirtualHome", "likeness"]


class VirtualHome(Environment):
    """Activities of a household. The calls made are the lines compared, written down or made by a program."""

    name = "virtualhome"
    metric = "LCS"
    documents_shown = 10
    readable = True
    figures = ("executable",)

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self._lines: list[GroundedLine] = []

    @cached_property
    def functions(self) -> Sequence[FunctionDocument]:
        """The 40 functions; what objects each takes is not said."""
        return tuple(function.document for function in agent_functions().values())

    @cached_property
    def demonstrations(self) -> Sequence[GoalAction]:
        """Every program of the demonstration activities."""
        return tuple(
            _pair(activity, program) for activity in read_activities("demonstrations") for program in activity.programs
        )

    @cached_property
    def tests(self) -> Sequence[ManipulationTest]:
        """A test for each test activity, with all its programs."""
        return tuple(
            ManipulationTest(
                f"{number:03}",
                activity.goal,
                tuple(map(spelled, activity.variations)),
                tuple(map(_names, activity.variations)),
                tuple(spelled(program, quoted=True) for program in activity.variations),
            )
            for number, activity in enumerate(read_activities("tests"), 1)
        )

    def samples(self, count: int, seed: int) -> Sequence[GoalAction]:
        """Demonstration activities with any of their programs, each once before one is repeated."""
        pairs = [
            _pair(activity, program)
            for activity in read_activities("demonstrations")
            for program in activity.variations
        ]
        return drawn_in_rounds(pairs, count, seed)

    def read_action(self, goal: str, action: str) -> GoalAction:
        """Lines of calls, as they are compared."""
        lines = ground(action)
        names = tuple(line.name for line in lines if line.name)
        if not names:
            raise UsageError(f"it calls no function of {self.name}, such as {AGENT}.Find(novel)")
        return GoalAction(goal, "\n".join(line.text for line in lines), names, "\n".join(line.quoted for line in lines))

    def reset(self, test: ManipulationTest, seed: int = 0) -> str:
        """Start with no lines; there is nothing that a seed could vary. Returns: The goal."""
        self._test = test
        self._lines.clear()
        return test.goal

    @cached_property
    def _protocol(self) -> Protocol:
        return Protocol.from_functions({AGENT: make_agent(self._lines)}, name=self.name)

    def protocol(self) -> Protocol:
        """The functions as methods of `Agent`, whose objects are texts."""
        return self._protocol

    def act(self, text: str) -> ActionResult:
        """Ground each line; nothing runs."""
        lines = ground(text)
        self._lines += lines
        names = tuple(line.name for line in lines if line.name)
        return ActionResult(names, error=next((line.error for line in lines if line.error), ""))

    def score(self) -> TestScore:
        """LCS with the nearest program; `executable` is 1 where every line is, `empty` where there is none.

        `executable LCS` is the same LCS, and there only where every line is executable.
        """
        test = self.test
        written = [line.text for line in self._lines]
        value = max(likeness(written, label.splitlines()) for label in test.labels)
        executable = not any(line.error for line in self._lines) and (bool(written) or self.compat)
        failure = "" if value == 1 else failure_of(executable, [line.name for line in self._lines], test)
        details = {"executable": float(executable), "empty": float(not written)}
        if executable:
            details["executable LCS"] = value
        return TestScore(value, failure, details)


def likeness(written: Sequence[str], label: Sequence[str]) -> float:
    """Lines of the longest common subsequence for each line of the longer text, from 0 to 1."""
    return subsequence_length(written, label) / max(len(written), len(label), 1)


def _names(program: Sequence[Step]) -> tuple[str, ...]:
    return tuple(f"{AGENT}.{step[0]}" for step in program)


def _pair(activity: Activity, program: Sequence[Step]) -> GoalAction:
    return GoalAction(activity.goal, spelled(program), _names(program), spelled(program, quoted=True))
