"""Pairs one after another, and a file of them: each is drafted, tried, and appended if it is right."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from atc.files import append_line
from benchmarks.harness.runner import resumed_lines
from benchmarks.learning.pairs.draft import NoQuestion, QuestionPair
from benchmarks.learning.pairs.questions import ReadQuestions
from benchmarks.learning.pairs.reach import Reach
from benchmarks.learning.pairs.trial import Trial
from benchmarks.learning.pairs.wording import form
from benchmarks.learning.pairs.writes import WriteQuestions
from protocols.errors import UsageError
from protocols.model import Protocol

__all__ = ["PairSettings", "PairSource", "Tally", "generate"]

Excluded = Callable[[Sequence[str]], bool]
_FEW_PAIRS, _MAX_CALLS = 10, 5
_PER_FORM = 40
"""Most pairs of the same question form."""
_CHOICES = 4
_BARREN = 6000
"""Drafts without a trial after which there is nothing more to ask."""
_FRUITLESS, _FRUITLESS_AT_SERVICE = 500, 20
"""Trials in a row without a pair after which a simulated and a real service is asked no more."""


@dataclass(frozen=True, slots=True)
class PairSettings:
    """All that decides a pair beside its number: `protocol` and `exclusion` are digests.

    `candidates` are the tools in each prompt; 0 leaves the messages out. `profile` is that of the prompts.
    """

    protocol: str
    seed: int = 0
    candidates: int = 5
    profile: str = "tiny"
    exclusion: str = ""


@dataclass
class Tally:
    """What became of the drafts: `dropped` by reason, and of the pairs in the file their tools, shapes and forms."""

    drafts: int = 0
    written: int = 0
    before: int = 0
    added: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    multisets: Counter[tuple[str, ...]] = field(default_factory=Counter)
    shapes: set[str] = field(default_factory=set)
    forms: Counter[str] = field(default_factory=Counter)
    questions: set[str] = field(default_factory=set)
    next_draft: int = 0

    @property
    def per_tools(self) -> float:
        """Most pairs of the same multiset of tools: twice the mean, so that rare ones get room."""
        return max(_FEW_PAIRS, 2 * self.multisets.total() / max(len(self.multisets), 1))

    def drop(self, reason: str, example: str = "") -> None:
        """Count a draft that is no pair."""
        self.dropped[reason] += 1
        self.examples.setdefault(reason, example)

    def note(self, line: Mapping[str, object]) -> None:
        """Count a pair. Raises: KeyError, TypeError, ValueError: The line is none."""
        tools = line["tools"]
        if not isinstance(tools, list):
            raise TypeError("its tools are no list")
        self.next_draft = int(str(line["id"]).rpartition("-")[2]) + 1
        self.multisets[tuple(sorted(tools))] += 1
        self.shapes.add(str(line["shape"]))
        self.forms[str(line["form"])] += 1
        self.questions.add(str(line["question"]).casefold())
        self.added += bool(line.get("added"))

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        return {
            "drafts": self.drafts,
            "written": self.written,
            "before": self.before,
            "dropped": dict(self.dropped.most_common()),
            "examples": self.examples,
            "tools": len({tool for tools in self.multisets for tool in tools}),
            "multisets": len(self.multisets),
            "shapes": len(self.shapes),
            "forms": len(self.forms),
            "most_of_a_form": max(self.forms.values(), default=0),
            "prompts_with_added_tools": self.added,
        }


def generate(
    protocol: Protocol,
    settings: PairSettings,
    out: Path,
    count: int,
    excluded: Excluded,
    on_pair: Callable[[int], None],
) -> Tally:
    """Append pairs to a file until it has `count`; it goes on where an earlier call with the same settings ended.

    Args:
        excluded: True for tools whose pairs are left out.
        on_pair: Told of the number of pairs after each one.
    Raises: UsageError: The file is of other settings, or nothing can be asked of the API.
    """
    tally = Tally()
    for where, line in resumed_lines(out, settings):
        try:
            tally.note(line)
        except (KeyError, TypeError, ValueError):
            raise UsageError(f"{where}: no pair of `atc train data`; delete the line") from None
        tally.before += 1
    on_pair(tally.before)
    if tally.before >= count:
        return tally
    with closing(Trial(protocol, settings.seed, settings.candidates, settings.profile)) as trial:
        for line in PairSource(trial, settings.seed, tally, excluded).pairs():
            append_line(out, json.dumps(line, ensure_ascii=False))
            tally.written += 1
            on_pair(tally.before + tally.written)
            if tally.before + tally.written >= count:
                return tally
    if not tally.before + tally.written:
        raise UsageError(_why_nothing(protocol, tally))
    return tally


def _why_nothing(protocol: Protocol, tally: Tally) -> str:
    """Why there is no pair at all, and what to do."""
    tried = [(reason, count) for reason, count in tally.dropped.most_common() if reason != "no question"]
    if not tried:
        return (
            f"nothing can be asked of {protocol.title!r}: its document describes no response whose values a question "
            "could be about; learn them from the service (`atc probe`)"
        )
    reason, count = tried[0]
    example = tally.examples.get(reason, "")
    return f"no pair of {protocol.title!r} is right: {count} are dropped ({reason}), such as {example[:200]!r}"


class PairSource:
    """Right pairs, drafted from the number on that the tally has got to; of a real service none that writes.

    Args:
        tally: Counts what becomes of each draft.
        excluded: True for tools whose pairs are left out.
    """

    def __init__(self, trial: Trial, seed: int, tally: Tally, excluded: Excluded) -> None:
        self._trial, self._seed, self._tally, self._excluded = trial, seed, tally, excluded
        self._fruitless = _FRUITLESS_AT_SERVICE if trial.is_real else _FRUITLESS
        reach = Reach(trial.views, trial.pools())
        self._reads, self._writes = ReadQuestions(reach), WriteQuestions(reach)
        self._tools = [*trial.views.reads, *(() if trial.is_real else self._writes.tools)]

    def pairs(self) -> Iterator[Mapping[str, object]]:
        """The lines of right pairs, until nothing more is to be asked."""
        barren = fruitless = 0
        while self._tools and barren < _BARREN and fruitless < self._fruitless:
            number, barren = self._tally.next_draft, barren + 1
            self._tally.next_draft += 1
            pair = self._draft(number)
            if pair is None:
                continue
            asked_form = form(pair.question, list(pair.values))
            if (reason := self._why_not(pair, asked_form)) is not None:
                self._tally.drop(reason, pair.question)
                continue
            barren, fruitless = 0, fruitless + 1
            self._tally.questions.add(pair.question.casefold())
            tried = self._trial(f"{self._seed}-{number:06d}", pair, asked_form)
            if tried.dropped:
                self._tally.drop(tried.dropped, f"{pair.question} ({tried.detail})")
                continue
            fruitless = 0
            self._tally.note(tried.line)
            yield tried.line

    def _draft(self, number: int) -> QuestionPair | None:
        """The draft of a number; the tools take turns. Every second one is that of a few with the rarest tools."""
        self._tally.drafts += 1
        tool = self._tools[number % len(self._tools)]
        questions = self._writes if tool in self._writes.tools else self._reads
        pairs: list[QuestionPair] = []
        for attempt in range(_CHOICES if number % 2 else 1):
            with suppress(NoQuestion):
                pairs.append(questions.ask(tool, Random(f"{self._seed} {number} {attempt}")))
        if not pairs:
            self._tally.drop("no question")
            return None
        return min(pairs, key=lambda pair: self._tally.multisets[tuple(sorted(pair.tools))])

    def _why_not(self, pair: QuestionPair, asked_form: str) -> str | None:
        if len(pair.tools) > _MAX_CALLS:
            return "calls"
        if self._excluded(pair.tools):
            return "excluded"
        if pair.question.casefold() in self._tally.questions:
            return "duplicate"
        if self._tally.forms[asked_form] >= _PER_FORM:
            return "form"
        return "tools" if self._tally.multisets[tuple(sorted(pair.tools))] >= self._tally.per_tools else None
