"""Tabletop as a task: programs that move blocks, judged by where everything lies in the end.

Its prompts have demonstrations only. A goal lists the objects and has the instruction as a comment, as published; many
programs follow an instruction, so a test has a check, and its labels are examples of programs that meet it.

Source: Xu et al. (arXiv:2305.16504), appendix A.8.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from benchmarks.manipulation.environment import ActionResult, Failure, GoalAction, ManipulationTest, TestScore
from benchmarks.manipulation.function_environment import FunctionEnvironment
from benchmarks.manipulation.tabletop.functions import READS, TabletopFunctions
from benchmarks.manipulation.tabletop.scene import COLOURS, Placement, Scene
from benchmarks.manipulation.tabletop.setups import called, goal_text, layout, make_tests
from benchmarks.manipulation.tabletop.table_checks import CHECKS, Table
from protocols.errors import UsageError

__all__ = ["Tabletop"]

_FOLDER = Path(__file__).parent
_REPEATED = 2000
"""Goals drawn one after another that there were before: then there are hardly any new ones."""
_COLOUR = re.compile(rf"\b({'|'.join(COLOURS)})\b")


class Tabletop(FunctionEnvironment):
    """15 types of instruction in seven setups each; a seed other than 0 lays the objects of each test anew.

    Under `compat` the checks are the released ones, and an empty program is executable.
    """

    name = "tabletop"
    max_tokens = 256
    documents_shown = 0
    stops = ("#", "objects = [")
    reads: Collection[str] = tuple(READS.split())

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self._scene = Scene()
        self._functions = TabletopFunctions(self._scene)
        self._before: Mapping[str, Placement] = {}
        self._layouts: dict[tuple[str, int], dict[str, list[float]]] = {}

    @property
    def scene(self) -> Scene:
        """The table as it is."""
        return self._scene

    def objects(self) -> Any:
        """The functions, which a program calls without a name before them."""
        return {"": self._functions}

    @cached_property
    def _names(self) -> list[str]:
        return [document.name for document in self.functions]

    @cached_property
    def demonstrations(self) -> Sequence[GoalAction]:
        """Our own, each function in one at least."""
        entries = yaml.safe_load((_FOLDER / "demonstrations.yaml").read_text("utf-8"))
        return tuple(self._goal_action(entry) for entry in entries)

    def _goal_action(self, entry: Mapping[str, str]) -> GoalAction:
        goal = goal_text(re.split(r",\s*", entry["objects"].strip()), entry["task"])
        action = entry["action"].strip()
        return GoalAction(goal, action, called(action, self._names))

    @cached_property
    def tests(self) -> Sequence[ManipulationTest]:
        """The 105 tests, type by type."""
        return make_tests(self._names)

    def samples(self, count: int, seed: int) -> Sequence[GoalAction]:
        """The demonstrations in other colours. Raises: UsageError: There are not so many that differ."""
        draw = random.Random(f"samples {seed}")
        taken = {test.goal for test in self.tests}
        samples: list[GoalAction] = []
        repeated = 0
        while len(samples) < count:
            if repeated > _REPEATED:
                raise UsageError(f"there are hardly more than {len(samples)} different samples; ask for fewer")
            pair = self.demonstrations[len(samples) % len(self.demonstrations)]
            colours = dict(zip(COLOURS, draw.sample(COLOURS, len(COLOURS)), strict=True))
            goal, action = (_COLOUR.sub(lambda match: colours[match[1]], text) for text in (pair.goal, pair.action))  # noqa: B023
            repeated += 1
            if goal not in taken:
                repeated = 0
                taken.add(goal)
                samples.append(GoalAction(goal, action, pair.names))
        return samples

    def restore(self, test: ManipulationTest, seed: int) -> None:
        """Lay the table of a test; with another seed than 0, its objects lie elsewhere."""
        objects = test.state["objects"]
        if seed:
            if (test.id, seed) not in self._layouts:
                state = test.state
                self._layouts[test.id, seed] = layout(test.id, state["type"], list(objects), state["values"], seed)
            objects = self._layouts[test.id, seed]
        self._scene.lay(objects)
        self._before = self._scene.places

    def act(self, text: str) -> ActionResult:
        """Run the text as a program; one that calls nothing is not executable, but for `compat`."""
        result = super().act(text)
        if not self.compat and not self.error and not result.names:
            self.error = "the program calls no function"
            return ActionResult((), result.observation, self.error)
        return result

    def score(self) -> TestScore:
        """1 if the program ran to its end and everything lies as the instruction wants it, else 0.

        A failure is a wrong API where nothing was to be picked up at all, since many sets of calls reach a goal.
        """
        state = self.test.state
        table = Table(self._before, self._scene.places, state["values"], strict=not self.compat)
        if not self.error and CHECKS[state["type"]](table):
            return TestScore(1.0)
        return TestScore(0.0, self._failure())

    def _failure(self) -> Failure:
        if self.error:
            return "non-executable"
        return "wrong arguments" if self._scene.moves else "wrong API"
