"""An environment that compares the criteria which a program has set with those of a label.

Source: Xu et al. (arXiv:2305.16504), appendix A.3 and A.4.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from benchmarks.manipulation.environment import GoalAction, ManipulationTest, TestScore, f1_figures, failure_of
from benchmarks.manipulation.function_environment import FunctionEnvironment, called_functions
from protocols.errors import UsageError

__all__ = ["CriteriaEnvironment", "CriteriaState"]

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
    """

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

    def read_action(self, goal: str, action: str) -> GoalAction:
        """A program; the functions that it calls are those of the object `API` and the value classes."""
        try:
            called = called_functions(action.strip())
        except SyntaxError as error:
            raise UsageError(f"no program: {error.msg}, in its line {error.lineno}") from None
        names = tuple(name for name in called if name in self.protocol())
        if not names:
            raise UsageError(f"it calls no function of {self.name}, such as API.search()")
        before, _, last = action.strip().rpartition("\n")
        return GoalAction(goal, action.strip(), names, f"{before}\nprint({last})")

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
