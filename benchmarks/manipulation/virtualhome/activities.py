"""Household activities with their programs, written out from `activities.yaml`.

An entry has a goal, steps, and cases that fill both. A step is a call without the agent's name (`Find novel`,
`Put plate on table`); `A | B` is either of two steps, and a step behind a question mark may be left out. So an activity
has several programs. Words of a goal are those of people: the objects are named in `words`, or like the words.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from benchmarks.manipulation.virtualhome.grounding import line_of

__all__ = ["Activity", "read_activities", "spelled"]

_PROGRAMS = 6
"""Most programs of an activity that are shown; in the paper it is six on average."""

_BETWEEN = re.compile(r"\s+(?:(?:on|in|into)\s+)?")

Step = tuple[str, ...]
"""Name of the function, then the objects."""


@dataclass(frozen=True, slots=True)
class Activity:
    """A goal with all programs that reach it; `programs` are those that are shown."""

    goal: str
    variations: tuple[tuple[Step, ...], ...]

    @property
    def programs(self) -> tuple[tuple[Step, ...], ...]:
        """The first, which leaves out nothing, and others drawn by the goal."""
        first, *others = self.variations
        drawn = random.Random(self.goal).sample(others, min(_PROGRAMS - 1, len(others)))
        return (first, *drawn)


def spelled(program: Sequence[Step], quoted: bool = False) -> str:
    """A program as lines of calls."""
    return "\n".join(line_of(name, objects, quoted) for name, *objects in program)


@cache
def read_activities(part: str) -> tuple[Activity, ...]:
    """The activities of a part, `demonstrations` or `tests`."""
    data = yaml.safe_load(files(__package__).joinpath("activities.yaml").read_text("utf-8"))
    return tuple(activity for entry in data[part] for activity in _expanded(entry, data["words"]))


def _expanded(entry: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[Activity]:
    """An activity for each case."""
    for case in entry.get("cases", [{}]):
        objects = {name: words.get(word, word.replace(" ", "_")) for name, word in case.items()}
        lines = entry["steps"].format(**objects).strip().splitlines()
        variations = tuple(dict.fromkeys(_variations(lines)))
        yield Activity(entry["goal"].format(**case), variations)


def _variations(lines: Sequence[str]) -> Iterator[tuple[Step, ...]]:
    """All programs of an activity, that with the first of each choice at the head."""
    choices = []
    for line in lines:
        optional = line.startswith("?")
        steps = [_step(text) for text in line.removeprefix("?").split("|")]
        choices.append([(step,) for step in steps] + ([()] if optional else []))
    for chosen in itertools.product(*choices):
        yield tuple(step for steps in chosen for step in steps)


def _step(text: str) -> Step:
    return tuple(_BETWEEN.split(text.strip()))
