"""What decides the outcome of a task that an agent solves, beside the task itself: `config.json` of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from atc.options import SearchSettings

__all__ = ["BEST", "RunSettings"]

BEST = "best "
"""The prefix of `candidates` in the settings where the agent chooses them, before their number."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """All that decides the outcome of a task. `files` has name and SHA-256 of the task file and of each document, with
    `learned-DOMAIN` for one that only the agent sees.

    `api` is "simulated" or the base URL; `now` is in ISO 8601; `candidates` is "listed" (in the task file), "all", or
    "best N" where the agent chooses them. The budgets are those of one task, 0 for none.
    `profile` is a name or a file, empty for that of the model; `without` names features that are off (see atc.profile).
    `writes`: whether calls that may change something are sent. `repeat` is added to `seed` for the model alone: worlds
    and candidates stay the same. `search` is that of the agent.
    """

    benchmark: str
    model: str
    mode: str
    max_reflections: int
    candidates: str
    seed: int
    now: str
    api: str
    files: Mapping[str, Mapping[str, str]]
    max_model_calls: int = 0
    max_tokens: int = 0
    max_seconds: float = 0.0
    without: Sequence[str] = ()
    profile: str = ""
    writes: Literal["allow", "deny", "simulate"] = "allow"
    repeat: int = 0
    search: SearchSettings = field(default_factory=SearchSettings)

    @property
    def chosen(self) -> int | None:
        """The number of candidates that the agent chooses; None where it does not."""
        return int(self.candidates.removeprefix(BEST)) if self.candidates.startswith(BEST) else None
