"""An environment that compares the criteria which a program has set with those of a label.

Source: Xu et al. (arXiv:2305.16504), appendix A.3 and A.4.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from benchmarks.manipulation.criteria.templates import CriteriaTemplates, GoalTemplate, demonstration
from benchmarks.manipulation.environment import GoalAction, ManipulationTest, TestScore, f1_figures, failure_of
from benchmarks.manipulation.function_environment import FunctionEnvironment
from protocols.errors import UsageError

__all__ = ["CriteriaEnvironment", "CriteriaState"]

_ATTEMPTS = 1000
"""Draws of values for one sample."""

_SEARCH = "API.search"


@dataclass(slots=True)
class CriteriaState:
    """What one episode has set so far; `called` are the functions, those that failed included.

    Args:
        compat: Let criteria be set after a search, as the released evaluators do.
    """

    compat: bool = False
    criteria: dict[str, object] = field(default_factory=dict)
    called: list[str] = field(default_factory=list)

    def clear(self) -> None:
        """Begin a new episode."""
        self.criteria.clear()
        self.called.clear()

    @property
    def submitted(self) -> bool:
        """Whether a search was the last call."""
        return self.called[-1:] == [_SEARCH]

    def call(self, function: str) -> None:
        """Note the call of a function of the object `API`. Raises: ValueError: The search was submitted already."""
        submitted = _SEARCH in self.called
        name = f"API.{function}"
        self.called.append(name)
        if submitted and name != _SEARCH and not self.compat:
            raise ValueError(f"{function} comes too late: the search was submitted already")


class CriteriaEnvironment(FunctionEnvironment):
    """A test succeeds if its program ran, ended with a search, and set just the criteria of a label.

    The order of criteria is free where no function refuses it, and a later value of a criterion replaces an earlier
    one. A program whose last call is no search submitted nothing, and counts as not executable; with `compat` that is
    not looked at, so that only what a search fills in is missing. The types of arguments are checked with `compat` too,
    where the released setters take any: such a program is not executable in place of having wrong arguments, or, with
    the parts of a date as texts, of being right.

    Attributes:
        folder: Where `templates.yaml` lies.
        test_count, template_count: Tests; templates of training samples.
    """

    folder: Path
    test_count: int
    template_count: int
    readable = True
    figures = ("f1", "precision", "recall")

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self.state = CriteriaState(compat)
        self._objects = self.namespace(self.state)
        self._label_criteria: dict[str, Mapping[str, object]] = {}

    @abstractmethod
    def namespace(self, state: CriteriaState) -> Mapping[str, object]:
        """The object `API` over a state, and value classes, by their names in a program."""

    def objects(self) -> Mapping[str, object]:
        """Those over the present state."""
        return self._objects

    @cached_property
    def _templates(self) -> CriteriaTemplates:
        return CriteriaTemplates.read(self.folder / "templates.yaml")

    @cached_property
    def demonstrations(self) -> Sequence[GoalAction]:
        """Written one by one."""
        return self._templates.demonstrations

    @cached_property
    def tests(self) -> Sequence[ManipulationTest]:
        """Generated from templates; none calls just the functions of a demonstration."""
        demonstrated = {combination(example.names) for example in self.demonstrations}
        rng = random.Random(f"{self.name} tests")
        templates = self._templates.compose("tests", self.test_count, rng, demonstrated)
        tests, goals = [], {example.goal for example in self.demonstrations}
        for number, template in enumerate(templates, 1):
            sample = self._new_sample(template, rng, goals)
            goals.add(sample.goal)
            test = ManipulationTest(f"{number:03}", sample.goal, (sample.action,), (sample.names,), (sample.program,))
            tests.append(test)
        return tuple(tests)

    @cached_property
    def sample_templates(self) -> Sequence[GoalTemplate]:
        """The templates of training samples; none calls just the functions of a test."""
        tested = {combination(names) for test in self.tests for names in test.names}
        rng = random.Random(f"{self.name} training")
        return self._templates.compose("training", self.template_count, rng, tested)

    def samples(self, count: int, seed: int) -> Sequence[GoalAction]:
        """Training samples, of all templates equally often, in random order; all goals differ."""
        rng = random.Random(f"{self.name} samples {seed}")
        goals = {test.goal for test in self.tests}
        samples = []
        for number in range(count):
            sample = self._new_sample(self.sample_templates[number % self.template_count], rng, goals)
            goals.add(sample.goal)
            samples.append(sample)
        rng.shuffle(samples)
        return samples

    def _new_sample(self, template: GoalTemplate, rng: random.Random, goals: set[str]) -> GoalAction:
        for _ in range(_ATTEMPTS):
            goal, action = self._templates.fill(template, rng)
            if goal not in goals:
                return demonstration(goal, action)
        raise ValueError(f"no values are left for the template {template.goal!r}; ask for fewer samples")

    def read_action(self, goal: str, action: str) -> GoalAction:
        """A program; the functions that it calls are those of the object `API` and the value classes."""
        try:
            pair = demonstration(goal, action.strip())
        except SyntaxError as error:
            raise UsageError(f"no program: {error.msg}, in its line {error.lineno}") from None
        names = tuple(name for name in pair.names if name in self.protocol())
        if not names:
            raise UsageError(f"it calls no function of {self.name}, such as API.search()")
        return replace(pair, names=names)

    def restore(self, test: ManipulationTest, seed: int) -> None:
        """No criteria are set in the beginning."""
        self.state.clear()

    def score(self) -> TestScore:
        """Compare the criteria with those of each label; `f1`, `precision` and `recall` are with the nearest one."""
        test, state = self.test, self.state
        criteria, expected = dict(state.criteria), [self._expected(label) for label in test.labels]
        compared = [f1_figures(criteria, label_criteria) for label_criteria in expected]
        figures = max(compared, key=lambda f: f["f1"])
        executed = not self.error and (self.compat or state.submitted)
        if executed and figures["f1"] == 1.0:
            return TestScore(1.0, "", figures)
        # What makes a value is no step of its own: one date may serve two calls.
        methods = tuple(tuple(name for name in names if name.startswith("API.")) for names in test.names)
        if not executed:
            figures = dict.fromkeys(figures, 0.0)
        return TestScore(0.0, failure_of(executed, state.called, replace(test, names=methods)), figures)

    def _expected(self, label: str) -> Mapping[str, object]:
        """The criteria that a label sets. Raises: ValueError: The label does not run."""
        if label not in self._label_criteria:
            criteria, called = dict(self.state.criteria), list(self.state.called)
            self.state.clear()
            self.run_label(self.test, label)
            self._label_criteria[label] = dict(self.state.criteria)
            self.state.criteria, self.state.called = criteria, called
        return self._label_criteria[label]


def combination(names: Sequence[str]) -> tuple[str, ...]:
    """The functions of a program without their order."""
    return tuple(sorted(names))
