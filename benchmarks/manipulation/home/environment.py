"""The environment of Home Search."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.manipulation.criteria.environment import CriteriaEnvironment
from benchmarks.manipulation.criteria.state import CriteriaState
from benchmarks.manipulation.home.api import HomeSearchAPI

__all__ = ["HomeSearch"]


class HomeSearch(CriteriaEnvironment):
    """100 tests and 10 demonstrations, in which three of the 15 functions never occur."""

    name = "home"
    max_tokens = 128
    folder = Path(__file__).parent
    test_count = 100
    template_count = 100

    def namespace(self, state: CriteriaState) -> Mapping[str, object]:
        """The object `API` over a state."""
        return {"API": HomeSearchAPI(state)}
