"""Tabletop as a task: programs that move blocks, judged by where everything lies in the end.

Its prompts have demonstrations only. A goal lists the objects and has the instruction as a comment, as published; many
programs follow an instruction, so a test has a check, and its labels are examples of programs that meet it.

Source: Xu et al. (arXiv:2305.16504), appendix A.8.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from benchmarks.manipulation.environment import ActionResult, Failure, ManipulationTest, TestScore
from benchmarks.manipulation.function_environment import FunctionEnvironment
from benchmarks.manipulation.tabletop.functions import READS, TabletopFunctions
from benchmarks.manipulation.tabletop.scene import Placement, Scene
from benchmarks.manipulation.tabletop.table_checks import CHECKS, Table

__all__ = ["Tabletop"]


class Tabletop(FunctionEnvironment):
    """15 types of instruction in seven setups each, of which the first 15 tests have one each.

    Each test has three layouts, in which its instruction can be followed and is not followed yet: one for each of the
    paper's three runs, by the seed. Two objects are 15 cm apart or more.

    Under `compat` the checks are the released ones, and an empty program is executable.
    """

    name = "tabletop"
    folder = Path(__file__).parent
    max_tokens = 256
    documents_shown = 0
    stops = ("#", "objects = [")
    reads: Collection[str] = tuple(READS.split())

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self._scene = Scene()
        self._functions = TabletopFunctions(self._scene)
        self._before: Mapping[str, Placement] = {}

    @property
    def scene(self) -> Scene:
        """The table as it is."""
        return self._scene

    def objects(self) -> Any:
        """The functions, which a program calls without a name before them."""
        return {"": self._functions}

    def restore(self, test: ManipulationTest, seed: int) -> None:
        """Lay the table of a test; the seed chooses among its layouts."""
        layouts = test.state["layouts"]
        self._scene.lay(layouts[seed % len(layouts)])
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
