"""The order of training, known before it begins: rows, updates, and the tokens that each update has seen.

All epochs are one list of rows. So a run that is continued reads on at a place in that list, whatever had been drawn.
"""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.learning.sft.examples import IGNORED, TokenizedExample
from benchmarks.learning.sft.settings import TuningConfig

__all__ = ["TrainingPlan", "TrainingRow", "make_plan", "pack", "split_dev"]


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """What one place of a batch holds: three lists of the same length, several examples one after another.

    `positions` begins anew at 0 with each example.
    """

    ids: list[int]
    labels: list[int]
    positions: list[int]


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Rows in the order of training; update k (from 0) takes `order[k * batch : (k + 1) * batch]`."""

    rows: Sequence[TrainingRow]
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


def pack(examples: Sequence[TokenizedExample], max_length: int, packing: bool) -> list[TrainingRow]:
    """Rows of at most `max_length` tokens: one example each, or with `packing` as many as fit, the longest first."""
    if not packing:
        return [_row([example]) for example in examples]
    bins: list[list[TokenizedExample]] = []
    free: list[tuple[int, int]] = []  # free tokens and place of each bin, ascending
    for example in sorted(examples, key=lambda example: len(example.ids), reverse=True):
        place = bisect.bisect_left(free, (len(example.ids), -1))
        if place < len(free):
            room, number = free.pop(place)
        else:
            room, number = max_length, len(bins)
            bins.append([])
        bins[number].append(example)
        bisect.insort(free, (room - len(example.ids), number))
    return [_row(members) for members in bins]


def _row(examples: Sequence[TokenizedExample]) -> TrainingRow:
    ids = [token for example in examples for token in example.ids]
    # The first token of an example would be predicted from the end of another one.
    labels = [label for example in examples for label in (IGNORED, *example.labels[1:])]
    positions = [place for example in examples for place in range(len(example.ids))]
    return TrainingRow(ids, labels, positions)


def make_plan(rows: Sequence[TrainingRow], config: TuningConfig) -> TrainingPlan:
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
        order += sorted(members, key=lambda place: len(rows[place].ids), reverse=True)
        seen += sum(len(rows[place].ids) for place in members)
        tokens_after.append(seen)
        if len(tokens_after) == config.max_steps or 0 < config.max_tokens <= seen:
            break
    return TrainingPlan(rows, order, len(tokens_after), tokens_after)


def _epochs(count: int, seed: int) -> Iterator[int]:
    for epoch in itertools.count():
        places = list(range(count))
        random.Random(f"{seed} epoch {epoch}").shuffle(places)
        yield from places
