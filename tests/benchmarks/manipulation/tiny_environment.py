"""A tool of three functions, as small as one of the suite can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.manipulation.environment import (
    ActionResult,
    GoalAction,
    ManipulationTest,
    TestScore,
    f1_figures,
    failure_of,
)
from benchmarks.manipulation.function_environment import FunctionEnvironment

__all__ = ["TinyEnvironment", "TinySteps"]

_PLACES = ("Bonn", "Graz", "Lund", "Pisa", "Riga", "Vigo", "Cork", "Brno")


def _pair(place: str, count: int | None) -> GoalAction:
    limit = [] if count is None else [f"POST_limit(count={count})"]
    goal = f"Look around in {place}" + ("." if count is None else f", at most {count} hits.")
    names = ("POST_place", *["POST_limit"] * len(limit), "POST_search")
    return GoalAction(goal, "\n".join([f'POST_place(name="{place}")', *limit, "POST_search()"]), names)


def _test(number: int, place: str, count: int | None) -> ManipulationTest:
    pair = _pair(place, count)
    state = {"place": place, "searched": True} | ({} if count is None else {"limit": count})
    return ManipulationTest(str(number), pair.goal, (pair.action,), (pair.names,), state={"wanted": state})


class _Finder:
    """What the functions act on."""

    def __init__(self) -> None:
        self._state: dict[str, object] = {}
        self._called: list[str] = []

    def POST_place(self, name: str) -> None:  # noqa: N802
        """Choose the place to look at."""
        self._note("POST_place", place=name)

    def POST_limit(self, count: int) -> None:  # noqa: N802
        """Choose how many results there may be."""
        self._note("POST_limit", limit=count)

    def POST_search(self) -> None:  # noqa: N802
        """Start the search."""
        self._note("POST_search", searched=True)

    def _note(self, function: str, **changes: object) -> None:
        self._called.append(function)
        self._state |= changes


class TinyEnvironment(FunctionEnvironment):
    """Remembers a place and a limit until a search."""

    name = "tiny"
    max_tokens = 64

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self._finder = _Finder()

    @property
    def demonstrations(self) -> Sequence[GoalAction]:
        alone = [_pair(place, None) for place in ("Oslo", "Nice", "Rome", "Bari", "Lyon")]
        return [*alone, _pair("Kiel", 4), _pair("Kiel", 4)]

    @property
    def tests(self) -> Sequence[ManipulationTest]:
        return [_test(number, place, number if number % 2 else None) for number, place in enumerate(_PLACES)]

    @property
    def samples(self) -> Sequence[GoalAction]:
        return [_pair(f"Town {number}", 7 if number % 3 else None) for number in range(20)]

    def objects(self) -> Any:
        return {"": self._finder}

    def restore(self, test: ManipulationTest, seed: int) -> None:
        self._finder._state.clear()
        self._finder._called.clear()

    def score(self) -> TestScore:
        wanted: Mapping[str, Any] = self.test.state["wanted"]
        called = self._finder._called
        value = float(f1_figures(self._finder._state, wanted)["f1"] == 1 and not self.error)
        failure = "" if value else failure_of(not self.error and bool(called), called, self.test)
        return TestScore(value, failure, {"calls": float(len(called))})


class TinySteps(TinyEnvironment):
    """The same, one call an answer; what it shows counts the calls."""

    name = "tiny-steps"
    steps = 6

    def act(self, text: str) -> ActionResult:
        result = super().act(text)
        called = self._finder._called
        seen = f"{self.test.goal} So far: {len(called)} calls."
        return ActionResult(result.names, seen, result.error, done="POST_search" in called)
