"""The criteria that functions have set, and the order in which they were called."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["CriteriaState"]

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
