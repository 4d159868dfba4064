"""The order of training, known before it begins: rows, updates, and the tokens that each update has seen.

All epochs are one list of rows. So a run that is continued reads on at a place in that list, whatever had been drawn.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.learning.sft.examples import TokenizedExample
from benchmarks.learning.sft.settings import TuningConfig

__all__ = ["TrainingPlan", "make_plan", "split_dev"]


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Rows in the order of training; update k (from 0) takes `order[k * batch : (k + 1) * batch]`."""

    rows: Sequence[TokenizedExample]
    order: Sequence[int]
    steps: int
    tokens_after: Sequence[int]
    """Tokens seen after each update, padding left out."""


def split_dev(
    examples: Sequence[TokenizedExample], share: float, seed: int
) -> tuple[list[TokenizedExample], list[TokenizedExample]]:
    """Training and held-out examples: whole groups, so that no dialogue is on both sides.

    No more than the share is held out, but one group at least where there are two and the share is not 0.
    """
    groups: dict[str, list[int]] = {}
    for place, example in enumerate(examples):
        groups.setdefault(example.group or f"example {place}", []).append(place)
    count = max(round(share * len(examples)), 1 if share else 0)
    held_out: set[int] = set()
    order = random.Random(f"{seed} dev").sample(list(groups), len(groups))[:-1]
    for group in order:
        if len(held_out) + len(groups[group]) <= count:
            held_out.update(groups[group])
    if count and order and not held_out:  # each is larger than the share
        held_out.update(groups[min(order, key=lambda group: len(groups[group]))])
    training = [example for place, example in enumerate(examples) if place not in held_out]
    return training, [examples[place] for place in sorted(held_out)]


def make_plan(rows: Sequence[TokenizedExample], config: TuningConfig) -> TrainingPlan:
    """Decide which rows each update takes.

    Rows are shuffled anew in each epoch, and sorted by length within an update, so that little is padded. Training
    ends with the first limit: epochs, `max_steps`, or `max_tokens`. Rows that would fill only a part of the last
    update are left out, unless there is no other.
    """
    planned_rows = max(round(config.epochs * len(rows)), 1)
    stream = itertools.islice(_epochs(len(rows), config.seed), planned_rows)
    order: list[int] = []
    tokens_after: list[int] = []
    seen = 0
    while members := list(itertools.islice(stream, config.batch)):
        if len(members) < config.batch and order:
            break
        order += sorted(members, key=lambda place: len(rows[place]), reverse=True)
        seen += sum(len(rows[place]) for place in members)
        tokens_after.append(seen)
        if len(tokens_after) == config.max_steps or 0 < config.max_tokens <= seen:
            break
    return TrainingPlan(rows, order, len(tokens_after), tokens_after)


def _epochs(count: int, seed: int) -> Iterator[int]:
    for epoch in itertools.count():
        places = list(range(count))
        random.Random(f"{seed} epoch {epoch}").shuffle(places)
        yield from places
