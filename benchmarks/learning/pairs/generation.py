"""A file of pairs: drafted one after another, tried by several processes, appended in order."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from random import Random

from atc.files import append_line, cut_unfinished, read_lines
from benchmarks.learning.pairs.draft import NoQuestion, QuestionPair
from benchmarks.learning.pairs.questions import ReadQuestions
from benchmarks.learning.pairs.reach import Reach
from benchmarks.learning.pairs.trial import PairKind, RealService, Trial, TriedPair
from benchmarks.learning.pairs.wording import form
from benchmarks.learning.pairs.writes import WriteQuestions
from protocols.errors import UsageError
from protocols.model import Protocol

__all__ = ["PairSettings", "Tally", "generate"]

Excluded = Callable[[Sequence[str]], bool]
_BATCH, _AHEAD = 16, 6
"""Pairs of a batch, and batches under way; drafts depend on them, so their number is fixed."""
_FEW_PAIRS, _MAX_CALLS = 10, 5
_PER_FORM = 40
"""Most pairs of the same question form."""
_PAIR = b'{"id": "'
"""What each line of a file of pairs begins with."""
_KEYS = frozenset({"id", "question", "tools", "shape", "form"})
_CHOICES = 4
_BARREN = 6000
"""Drafts without a pair after which there is nothing more to ask."""


@dataclass(frozen=True, slots=True)
class PairSettings:
    """What is made.

    Args:
        count: Pairs in the file at the end. candidates: Tools in each prompt; 0 leaves the messages out.
        profile: That of the prompts.
        service: Asked in place of the simulated one, and not to write anything.
        exclusion: A digest of what is left out, kept in each line.
        trials: Most drafts that are tried, since a service is asked in each.
    """

    out: Path
    count: int
    seed: int = 0
    kind: PairKind = "program"
    candidates: int = 5
    processes: int = 2
    profile: str = "tiny"
    service: RealService | None = None
    exclusion: str = ""
    trials: int | None = None

    @property
    def prompt(self) -> str:
        """What the messages of each line are; empty where there are none."""
        return f"{self.kind}, {self.candidates} candidates, {self.profile}" if self.candidates else ""


@dataclass
class Tally:
    """What became of the drafts: `dropped` by reason, and of the pairs in the file their tools, shapes and forms."""

    drafts: int = 0
    written: int = 0
    before: int = 0
    added: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    tools: set[str] = field(default_factory=set)
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
        """Count a draft that is not written."""
        self.dropped[reason] += 1
        self.examples.setdefault(reason, example)

    def note(self, line: dict[str, object] | TriedPair) -> None:
        """Count a pair of the file."""
        entry = line.line if isinstance(line, TriedPair) else line
        tools = entry["tools"]
        assert isinstance(tools, list)
        self.tools.update(tools)
        self.multisets[tuple(sorted(tools))] += 1
        self.shapes.add(str(entry["shape"]))
        self.forms[str(entry["form"])] += 1
        self.questions.add(str(entry["question"]).casefold())
        self.added += bool(entry.get("added"))

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        return {
            "drafts": self.drafts,
            "written": self.written,
            "before": self.before,
            "dropped": dict(self.dropped.most_common()),
            "examples": self.examples,
            "tools": len(self.tools),
            "multisets": len(self.multisets),
            "shapes": len(self.shapes),
            "forms": len(self.forms),
            "most_of_a_form": max(self.forms.values(), default=0),
            "prompts_with_added_tools": self.added,
        }


def generate(protocol: Protocol, settings: PairSettings, excluded: Excluded, on_pair: Callable[[int], None]) -> Tally:
    """Append pairs to a file until it has `count`; it goes on where an earlier call with the same seed ended.

    Args:
        excluded: True for tools whose pairs are left out.
        on_pair: Told of the number of pairs after each one.
    Raises: UsageError: The file is of another seed, API or prompt, or has pairs that are excluded, or nothing can be
        asked of the API.
    """
    tally = _read(settings, protocol, excluded)
    on_pair(tally.before)
    if tally.before >= settings.count:
        return tally
    trial = Trial(protocol, settings.seed, 0, settings.kind, service=settings.service)
    try:
        drafts = _Drafts(trial, settings, tally, excluded)
        context = multiprocessing.get_context("spawn")
        arguments = (protocol, settings.seed, settings.candidates, settings.kind, settings.profile, settings.service)
        with ProcessPoolExecutor(settings.processes, context, _start, arguments) as pool:
            try:
                _write(pool, drafts, settings, tally, on_pair)
            finally:
                pool.shutdown(cancel_futures=True)
    finally:
        trial.close()
    if not tally.before + tally.written and settings.service is None:
        raise UsageError(_why_nothing(protocol, tally))
    return tally


def _write(
    pool: ProcessPoolExecutor,
    drafts: _Drafts,
    settings: PairSettings,
    tally: Tally,
    on_pair: Callable[[int], None],
) -> None:
    """Try batches of drafts, and write what is right of each, in order."""
    under_way: deque[tuple[list[tuple[str, QuestionPair, str]], Future[list[TriedPair]]]] = deque()
    while True:
        size = max(2, min(_BATCH, settings.count - tally.before - tally.written))
        while len(under_way) < _AHEAD and (batch := drafts.batch(size)):
            under_way.append((batch, pool.submit(_try, batch)))
        if not under_way:
            return
        batch, future = under_way.popleft()
        for (_, pair, asked_form), tried in zip(batch, future.result(), strict=True):
            tools = tuple(sorted(pair.tools))
            drafts.under_way[asked_form] -= 1
            drafts.tools_under_way[tools] -= 1
            drafts.go_on()
            if tried.dropped:
                tally.drop(tried.dropped, f"{pair.question} ({tried.detail})")
            elif tally.forms[asked_form] >= _PER_FORM:
                tally.drop("form", pair.question)
            elif tally.multisets[tools] >= tally.per_tools:
                tally.drop("tools", pair.question)
            else:
                facts = {"prompt": settings.prompt, "exclusion": settings.exclusion}
                line = {**tried.line, **{name: value for name, value in facts.items() if value}}
                append_line(settings.out, json.dumps(line, ensure_ascii=False))
                tally.note(tried)
                tally.written += 1
                on_pair(tally.before + tally.written)
                if tally.before + tally.written >= settings.count:
                    return


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


class _Drafts:
    """Drafts of pairs, one for each number from that of the last pair of the file on."""

    def __init__(self, trial: Trial, settings: PairSettings, tally: Tally, excluded: Excluded) -> None:
        self._settings = settings
        self._tally = tally
        self._excluded = excluded
        reach = Reach(trial.views, trial.pools())
        self._reads, self._writes = ReadQuestions(reach), WriteQuestions(reach)
        writing = () if settings.service is not None else self._writes.tools
        self._tools = [*trial.views.reads, *writing]
        self._tried = 0
        self._numbered = self._numbers()
        self._barren = 0
        self.under_way: Counter[str] = Counter()
        self.tools_under_way: Counter[tuple[str, ...]] = Counter()

    def batch(self, size: int) -> list[tuple[str, QuestionPair, str]]:
        """The next drafts that are worth a trial, each with its id and form; fewer where there are no more."""
        drafts: list[tuple[str, QuestionPair, str]] = []
        most = self._settings.trials
        while len(drafts) < size and self._barren < _BARREN and (most is None or self._tried < most):
            number = next(self._numbered)
            pair = self._draft(number)
            self._barren += 1
            if pair is None:
                continue
            asked_form = form(pair.question, list(pair.values))
            if (reason := self._why_not(pair, asked_form)) is not None:
                self._tally.drop(reason, pair.question)
                continue
            self._barren = 0
            self._tried += 1
            self._tally.questions.add(pair.question.casefold())
            self.under_way[asked_form] += 1
            self.tools_under_way[tuple(sorted(pair.tools))] += 1
            drafts.append((f"{self._settings.seed}-{number:06d}", pair, asked_form))
        return drafts

    def go_on(self) -> None:
        """A trial has ended, and made room for drafts of its form and tools, or for more of all tools."""
        self._barren = 0

    def _numbers(self) -> Iterator[int]:
        while True:
            yield self._tally.next_draft
            self._tally.next_draft += 1

    def _draft(self, number: int) -> QuestionPair | None:
        """The draft of a number; the tools take turns. Every second one is that of a few with the rarest tools."""
        self._tally.drafts += 1
        tool = self._tools[number % len(self._tools)]
        questions = self._writes if tool in self._writes.tools else self._reads
        pairs: list[QuestionPair] = []
        for attempt in range(_CHOICES if number % 2 else 1):
            with suppress(NoQuestion):
                pairs.append(questions.ask(tool, Random(f"{self._settings.seed} {number} {attempt}")))
        if not pairs:
            self._tally.drop("no question")
            return None
        return min(pairs, key=lambda pair: self._with_tools(tuple(sorted(pair.tools))))

    def _with_tools(self, tools: tuple[str, ...]) -> int:
        """The number of pairs with a multiset of tools."""
        return self._tally.multisets[tools] + self.tools_under_way[tools]

    def _why_not(self, pair: QuestionPair, asked_form: str) -> str | None:
        if len(pair.tools) > _MAX_CALLS:
            return "calls"
        if self._excluded(pair.tools):
            return "excluded"
        if pair.question.casefold() in self._tally.questions:
            return "duplicate"
        if self._tally.forms[asked_form] + self.under_way[asked_form] >= _PER_FORM:
            return "form"
        if self._with_tools(tuple(sorted(pair.tools))) >= self._tally.per_tools:
            return "tools"
        return None


def _read(settings: PairSettings, protocol: Protocol, excluded: Excluded) -> Tally:
    """The tally of a file that is there already. Raises: UsageError."""
    out, tally = settings.out, Tally()
    lines = list(read_lines(out))
    for where, line in lines:
        if (why := _why_not_ours(line, settings, protocol, excluded)) is not None:
            raise UsageError(f"{where}: {why}, or name another file with --out")
    if out.is_file():
        if not lines and not _begins_with_a_pair(out):
            raise UsageError(f"{out}: no pair of `atc train data`; name another file with --out")
        cut_unfinished(out)
    for _, line in read_lines(out):
        number = str(line["id"]).rpartition("-")[2]
        tally.note(line)
        tally.before += 1
        tally.next_draft = int(number) + 1
    return tally


def _why_not_ours(line: object, settings: PairSettings, protocol: Protocol, excluded: Excluded) -> str | None:
    """Why a line is no pair of these settings, and what to do; None where it is one."""
    if not isinstance(line, dict) or not line.keys() >= _KEYS or not isinstance(line["tools"], list):
        return "no pair of `atc train data`; delete the line"
    if not all(isinstance(name, str) for name in line["tools"]):
        return "its tools are no names; delete the line"
    seed, dash, number = str(line["id"]).rpartition("-")
    if not dash or not number.isdecimal():
        return "no pair of `atc train data`; delete the line"
    if seed != str(settings.seed):
        return f"made with --seed {seed}; give that seed"
    absent = [name for name in line["tools"] if name not in protocol]
    if absent:
        return f"{protocol.title} has no tool {absent[0]}; give the document of these pairs"
    if line.get("prompt", "") != settings.prompt:
        made = line.get("prompt") or "none, or by an earlier version"
        return f"its prompt is another one ({made}) than now ({settings.prompt or 'none'}); give the same options"
    if excluded(line["tools"]):
        return "it has the tools of an excluded task; give the same --exclude"
    if line.get("exclusion", "") != settings.exclusion:
        return "other tasks were excluded, or by an earlier version; give the same --exclude"
    return None


def _begins_with_a_pair(file: Path) -> bool:
    """Whether a file without a whole line is empty, or has the beginning of the first pair."""
    with file.open("rb") as stream:
        content = stream.read(len(_PAIR))
    return _PAIR.startswith(content)


_trial: Trial | None = None
"""The trial of this process."""


def _start(
    protocol: Protocol, seed: int, candidates: int, kind: PairKind, profile: str, service: RealService | None
) -> None:
    """Set up a process; the first one alone hears Ctrl-C, and this one ends with it."""
    global _trial
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _trial = Trial(protocol, seed, candidates, kind, profile, service)


def _end_with_parent() -> None:
    """End this process once the first one is gone, however that ended."""
    if (parent := multiprocessing.parent_process()) is not None:
        wait([parent.sentinel])
        os._exit(1)


def _try(batch: Sequence[tuple[str, QuestionPair, str]]) -> list[TriedPair]:
    assert _trial is not None
    return [_trial(id, pair, asked_form) for id, pair, asked_form in batch]
