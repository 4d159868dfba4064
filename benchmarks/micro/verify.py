"""How often a wrong answer is accepted, and how often a right one is doubted: ours, none, the check before, keywords.

`python -m benchmarks.micro.verify` runs the corpus (benchmarks/injection) against its simulated services:
programs that are right, of ours and of a model's, and the same programs with one fault of eight kinds each, as many of
one kind as of another. References say whether an answer is right; no model is asked. Of the two halves the first (seen)
may be looked at while rules are worked on, the second (held) may not; they share no program.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import click
from rich.console import Console
from rich.progress import track

from atc.assist.language.question import Question
from atc.assist.rules import inspect
from atc.assist.rules.findings import Inspection
from atc.assist.rules.printed import is_empty_answer, nothing_new
from atc.assist.rules.support import no_good_call
from atc.evidence import is_unsupported, made_writes
from atc.files import to_json
from benchmarks.injection.corpus import Half, Origin, Script, scripts
from benchmarks.injection.mutations import KINDS, injected_faults
from benchmarks.injection.services import Closed, CorpusServices, Namesakes, Paged, Twist
from benchmarks.micro.frame import Measurement, half_option, json_option, print_table
from protocols.dataflow.graph import ProtocolGraph
from sandbox import Run

__all__ = ["CHECKS", "AnswerVerdict", "judge", "main", "sample_runs"]

ORIGINS: tuple[Origin, ...] = ("ours", "model")

EACH = 10
"""Faulty programs of one kind, one origin and one half; right ones are as many as all of these together."""

WORLDS = 40
"""Worlds that a program is tried in."""

RIGHT, WRITTEN = "right", "as written"
"""The kinds of runs without a fault of ours: right, or wrong as a model wrote it."""

_KEYWORDS = re.compile(
    r"\b(error|sorry|unfortunately|not found|couldn't|could not|cannot|failed|invalid|unable|exception|traceback|none"
    r"|null|unknown|not available|nothing|no results?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """One run, and the verdict of each check.

    `kind` is that of its fault; RIGHT without one, WRITTEN for a mistake of a model's own. `doubted` has for each
    check whether it would not take the answer; `findings` are the kinds of ours.
    """

    name: str
    half: Half
    origin: Origin
    kind: str
    way: str
    seed: int
    correct: bool
    answer: str
    doubted: Mapping[str, bool]
    findings: tuple[str, ...]


def _ours(program: str, run: Run, question: Question, graph: ProtocolGraph) -> bool:
    return not run.stdout.strip() or bool(inspect(program, run, question, graph))


def _earlier_check(program: str, run: Run, question: Question, graph: ProtocolGraph) -> bool:
    """The earlier check: nothing printed, no reply behind it, nothing found, nothing new."""
    inspected = Inspection(program, run, question, graph)
    if not run.stdout.strip() or no_good_call(inspected) or is_unsupported(program, run):
        return True
    return not made_writes(run) and (is_empty_answer(inspected.lines) or nothing_new(inspected) is not None)


def _keywords(program: str, run: Run, question: Question, graph: ProtocolGraph) -> bool:
    return not run.stdout.strip() or _KEYWORDS.search(run.stdout) is not None


CHECKS: Mapping[str, Callable[[str, Run, Question, ProtocolGraph], bool]] = {
    "ours": _ours,
    "before": _earlier_check,
    "keywords": _keywords,
    "none": lambda program, run, question, graph: False,
}
"""The checks that are compared: True if one doubts an answer; all but "none" want something printed."""


def judge(
    services: CorpusServices,
    script: Script,
    seed: int,
    kind: str | None = None,
    number: int = 0,
    twist: Twist | None = None,
) -> AnswerVerdict | None:
    """Run one program in one world, as it is or with the fault of that number among those of a kind.

    None where there is no such fault, where the program is not right without it, and where it does no harm: the program
    fails, which everybody notices, or is right all the same.
    """
    program, variant = script.program, "" if twist is None else type(twist).__name__.lower()
    if kind is not None:
        run, right = _run_unchanged(services, script, seed)
        other_run, _ = _run_unchanged(services, script, seed + WORLDS)
        if not right or not run.calls or not other_run.stdout.strip():
            return None
        candidates = injected_faults(kind, script, run, other_run, random.Random(f"{script.name} {seed} {kind}"))
        if number >= len(candidates):
            return None
        variant, program, twist = candidates[number]
    with services.world(script, seed, twist) as world:
        run = world.run(program)
        correct = world.is_right(run)
    if run.outcome != "ok" or (correct and kind is not None):
        return None
    graph, question = services.graph(script.api), Question(script.query)
    doubted = {name: check(program, run, question, graph) for name, check in CHECKS.items()}
    printed = bool(run.stdout.strip())
    findings = tuple(finding.kind for finding in inspect(program, run, question, graph)) if printed else ("NoOutput",)
    answer = run.stdout.strip()[:200]
    named = kind or (RIGHT if correct else WRITTEN)
    return AnswerVerdict(
        script.name, script.half, script.origin, named, variant, seed, correct, answer, doubted, findings
    )


def _run_unchanged(services: CorpusServices, script: Script, seed: int) -> tuple[Run, bool]:
    """A run of the unchanged program, and True if it is right."""
    with services.world(script, seed) as world:
        run = world.run(script.program, track=False)
        return run, world.is_right(run)


def _faulty_runs(services: CorpusServices, programs: Sequence[Script], kind: str) -> Iterator[AnswerVerdict]:
    """Runs of one kind: of each program in turn, each time in another world and with other faults."""
    for seed in range(WORLDS):
        for script in programs:
            tried = (judge(services, script, seed, kind, number) for number in range(seed % 4, seed % 4 + 3))
            verdict = next((judged for judged in tried if judged is not None), None)
            if verdict is not None:
                yield verdict


def _unchanged_runs(services: CorpusServices, programs: Sequence[Script], seeds: int) -> Iterator[AnswerVerdict]:
    """Programs without a fault of ours: in each world but the first they meet a service that is not as usual, too."""
    for seed in range(seeds):
        for script in programs:
            twists = (None, Namesakes("Junior", first=False), Paged(5, seed), Closed(script.query))
            verdict = judge(services, script, seed, twist=twists[seed % len(twists)])
            if verdict is not None:
                yield verdict


def sample_runs(services: CorpusServices, half: Half, origin: Origin, per_kind: int = EACH) -> Iterator[AnswerVerdict]:
    """The runs of one half with programs of one origin: `per_kind` of each kind, and as many right ones.

    What a model wrote wrong comes last, in one world.
    """
    programs = [script for script in scripts() if (script.half, script.origin) == (half, origin)]
    random.Random(f"{half} {origin}").shuffle(programs)
    for kind in KINDS:
        yield from itertools.islice(_faulty_runs(services, programs, kind), per_kind)
    right = (verdict for verdict in _unchanged_runs(services, programs, WORLDS) if verdict.kind == RIGHT)
    yield from itertools.islice(right, per_kind * len(KINDS))
    yield from (verdict for verdict in _unchanged_runs(services, programs, 1) if verdict.kind == WRITTEN)


@click.command(cls=Measurement, help=__doc__)
@half_option
@click.option(
    "--each", "per_kind", type=click.IntRange(min=1), default=EACH, help="Faulty programs of one kind, origin and half."
)
@json_option("Print the verdicts as JSON.")
def main(half: Half | None, per_kind: int, as_json: bool) -> None:
    halves: list[Half] = [half] if half else ["seen", "held"]
    verdicts: list[AnswerVerdict] = []
    with CorpusServices() as services:
        for corpus_half, origin in itertools.product(halves, ORIGINS):
            runs = sample_runs(services, corpus_half, origin, per_kind)
            total = 2 * per_kind * len(KINDS)
            verdicts += track(runs, f"{corpus_half}, {origin}", total=total, console=Console(stderr=True))
    if as_json:
        click.echo(to_json({"verdicts": [asdict(verdict) for verdict in verdicts]}), nl=False)
        return
    columns = [f"{half}: n" if name is None else name for half in halves for name in (None, *CHECKS)]
    lines = [f"{kind}, accepted" for kind in (WRITTEN, RIGHT)]
    print_table(("kind", *columns), _rows(verdicts, halves), figures_from=1, line_below=lines)


def _rows(verdicts: Sequence[AnswerVerdict], halves: Sequence[Half]) -> Iterator[list[str]]:
    """For each half and kind how many runs there are and how many of them each check takes; below, the two rates."""
    by_half = [[verdict for verdict in verdicts if verdict.half == half] for half in halves]
    for kind in (*KINDS, WRITTEN, RIGHT):
        cells: list[str] = []
        for in_half in by_half:
            here = [verdict for verdict in in_half if verdict.kind == kind]
            cells += [str(len(here)), *(str(sum(not verdict.doubted[name] for verdict in here)) for name in CHECKS)]
        yield [f"{kind.replace('_', ' ')}, accepted", *cells]
    for title, rate in (("false success", false_success), ("false alarm", false_alarm)):
        shares = [cell for here in by_half for cell in ("", *(f"{100 * rate(here, name):.1f} %" for name in CHECKS))]
        yield [title, *shares]


def false_success(verdicts: Sequence[AnswerVerdict], check: str) -> float:
    """Of the answers that a check takes, the share that is wrong."""
    taken = [verdict for verdict in verdicts if not verdict.doubted[check]]
    return sum(not verdict.correct for verdict in taken) / len(taken) if taken else 0.0


def false_alarm(verdicts: Sequence[AnswerVerdict], check: str) -> float:
    """Of the right answers, the share that a check does not take."""
    right = [verdict for verdict in verdicts if verdict.correct]
    return sum(verdict.doubted[check] for verdict in right) / len(right) if right else 0.0


if __name__ == "__main__":
    main()
