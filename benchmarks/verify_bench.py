"""How often a wrong answer is accepted, and how often a right one is doubted: ours, none, the check before, keywords.

`python -m benchmarks.verify_bench` runs the corpus (benchmarks/verify) against its simulated services: programs that
are right, of ours and of a model's, and the same programs with one fault of eight kinds each, as many of one kind as of
another. References say whether an answer is right; no model is asked. Of the two halves the first (seen) may be looked
at while rules are worked on, the second (held) may not; they share no program.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from atc.files import to_json
from atc.verify import inspect
from atc.verify.findings import Inspected
from atc.verify.printed import nothing_new, says_nothing
from atc.verify.support import no_reply, rests_on_nothing
from benchmarks.verify import KINDS, Half, Kind, Origin, Script, Services, faults, scripts
from protocols.graph import ProtocolGraph
from sandbox import Run

__all__ = ["CHECKS", "Verdict", "judge", "main", "spread"]

EACH = 10
"""Faulty programs of one kind, one origin and one half; right ones are as many as all of these together."""

WORLDS = 40
"""Worlds that a program is tried in."""

_KEYWORDS = re.compile(
    r"\b(error|sorry|unfortunately|not found|couldn't|could not|cannot|failed|invalid|unable|exception|traceback|none"
    r"|null|unknown|not available|nothing|no results?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one run is and what was made of it.

    `kind` is "right" for a program without a fault, or "as written" for a model's own mistake; `doubted` has for each
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


def _ours(program: str, run: Run, query: str, graph: ProtocolGraph) -> bool:
    return not run.stdout.strip() or bool(inspect(program, run, query, graph))


def _before(program: str, run: Run, query: str, graph: ProtocolGraph) -> bool:
    """The check that there was before: nothing printed, no reply behind it, nothing found, nothing new."""
    seen = Inspected(program, run, query, graph)
    if not run.stdout.strip() or no_reply(seen) or rests_on_nothing(run):
        return True
    return not seen.changed and (says_nothing(seen.lines) or nothing_new(seen) is not None)


def _keywords(program: str, run: Run, query: str, graph: ProtocolGraph) -> bool:
    return not run.stdout.strip() or _KEYWORDS.search(run.stdout) is not None


CHECKS: Mapping[str, Callable[[str, Run, str, ProtocolGraph], bool]] = {
    "ours": _ours,
    "before": _before,
    "keywords": _keywords,
    "none": lambda program, run, query, graph: False,
}
"""Whether an answer is not taken, in each way that is compared; all but "none" want something printed."""


def judge(services: Services, script: Script, seed: int, kind: Kind | None, number: int) -> Verdict | None:
    """Run one program, right or with the fault of that number among those that fit; None where there is no such fault,
    or where it does no harm: the program fails, which everybody notices, or is right all the same."""
    program, way, twist = script.program, "", None
    if kind is not None:
        with services.place(script, seed) as place, services.place(script, seed + WORLDS) as elsewhere:
            run, other = place.run(script.program, track=False), elsewhere.run(script.program, track=False)
        if run.outcome != "ok" or not run.calls or not other.stdout.strip():
            return None
        chance = random.Random(f"{script.name} {seed} {kind}")
        made = faults(kind, script, run, other, chance)
        if number >= len(made):
            return None
        program, way, twist = made[number].program, made[number].way, made[number].twist
    with services.place(script, seed, twist) as place:
        run = place.run(program)
        correct = place.is_right(run)
    if run.outcome != "ok" or correct != (kind is None):
        return None
    graph = services.graph(script.api)
    doubted = {name: check(program, run, script.query, graph) for name, check in CHECKS.items()}
    printed = bool(run.stdout.strip())
    findings = tuple(one.kind for one in inspect(program, run, script.query, graph)) if printed else ("NoOutput",)
    shown = run.stdout.strip()[:200]
    return Verdict(
        script.name, script.half, script.origin, kind or "right", way, seed, correct, shown, doubted, findings
    )


def _tries(services: Services, some: Sequence[Script], kind: Kind | None) -> Iterator[Verdict]:
    """Runs of one kind: of each program in turn, each time in another world and with another fault."""
    for seed in range(WORLDS):
        for script in some:
            # A program in another world is another run, but one whose fault was tried before comes last.
            for number in (seed,) if kind is None else range(seed % 4, seed % 4 + 3):
                verdict = judge(services, script, seed, kind, number)
                if verdict is not None:
                    yield verdict
                    break


def spread(services: Services, half: Half, origin: Origin, each: int = EACH) -> Iterator[Verdict]:
    """The runs of one half with programs of one origin: `each` of each kind, and as many right ones."""
    some = [script for script in scripts() if (script.half, script.origin) == (half, origin)]
    random.Random(f"{half} {origin}").shuffle(some)
    for kind in KINDS:
        yield from islice(_tries(services, some, kind), each)
    yield from islice(_tries(services, some, None), each * len(KINDS))


@click.command(help=__doc__)
@click.option("--half", type=click.Choice(["seen", "held"]), help="Only this half of the corpus.")
@click.option("--each", type=click.IntRange(min=1), default=EACH, help="Faulty programs of one kind, origin and half.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def main(half: Half | None, each: int, as_json: bool) -> None:
    halves: list[Half] = [half] if half else ["seen", "held"]
    verdicts: list[Verdict] = []
    with Services() as services:
        for one in halves:
            for origin in ("ours", "model"):
                runs = spread(services, one, origin, each)
                shown = track(runs, f"{one}, {origin}", total=2 * each * len(KINDS), console=Console(stderr=True))
                verdicts += shown
    if as_json:
        click.echo(to_json({"verdicts": [asdict(one) for one in verdicts]}), nl=False)
        return
    Console().print(table(verdicts, halves))


def table(verdicts: Sequence[Verdict], halves: Sequence[Half]) -> Table:
    """For each half and kind how many runs there are and how many of them each check takes; below, the two rates."""
    shown = Table("kind")
    for half in halves:
        shown.add_column(f"{half}: n", justify="right")
        for name in CHECKS:
            shown.add_column(name, justify="right")
    for kind in (*KINDS, "right"):
        cells: list[str] = []
        for half in halves:
            here = [one for one in verdicts if (one.half, one.kind) == (half, kind)]
            cells.append(str(len(here)))
            cells += [str(sum(not one.doubted[name] for one in here)) for name in CHECKS]
        shown.add_row(f"{kind.replace('_', ' ')}, accepted", *cells, end_section=kind in (KINDS[-1], "right"))
    for title, rate in (("false success", false_success), ("false alarm", false_alarm)):
        cells = []
        for half in halves:
            here = [one for one in verdicts if one.half == half]
            cells += ["", *(f"{100 * rate(here, name):.1f} %" for name in CHECKS)]
        shown.add_row(title, *cells)
    return shown


def false_success(verdicts: Sequence[Verdict], check: str) -> float:
    """Of the answers that a check takes, the share that is wrong."""
    taken = [one for one in verdicts if not one.doubted[check]]
    return sum(not one.correct for one in taken) / len(taken) if taken else 0.0


def false_alarm(verdicts: Sequence[Verdict], check: str) -> float:
    """Of the right answers, the share that a check does not take."""
    right = [one for one in verdicts if one.correct]
    return sum(one.doubted[check] for one in right) / len(right) if right else 0.0


if __name__ == "__main__":
    main()
