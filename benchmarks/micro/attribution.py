"""How often the culprit of a failed program is named: ours, the traceback alone, and a model that is asked.

`python -m benchmarks.micro.attribution` runs the corpus of faulty programs (benchmarks/injection) against its
simulated services and prints how often each way names the right tool first, by kind of fault and by half of the corpus.
The first half (seen) may be looked at while attribution is worked on, the second (held) may not. With `--ask N`, N
programs of each half are put to a model as the ATC paper does (section 3.3); the other two ways ask none.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from atc.diagnosis.attribution import attribute, by_traceback
from atc.fault import Fault
from atc.files import to_json
from atc.models import Message, Model, open_model
from atc.prompting import templates
from benchmarks.injection.corpus import FailingProgram, Half, failing_programs
from benchmarks.injection.services import SEED, open_sandbox, serve
from protocols.dataflow.graph import ProtocolGraph
from sandbox import Run

__all__ = ["AttributionVerdict", "judge", "main", "sample_by_kind"]

LOOP = """
found = {call}
total = 0
for number in range({size}):
    total += number * number if number % 3 == 0 else -1
print(total)
"""


@dataclass(frozen=True, slots=True)
class AttributionVerdict:
    """Whether each way named the culprit of one case first; `path` also where in its response, None where that has no
    meaning; `asked` is None where no model was asked."""

    name: str
    half: str
    kind: str
    twin: bool
    ours: bool
    path: bool | None
    traceback: bool
    asked: bool | None = None


def judge(case: FailingProgram, graphs: dict[str, ProtocolGraph], model: Model | None = None) -> AttributionVerdict:
    """Run one faulty program and compare."""
    with serve(case.api, case) as service:
        graph = graphs.setdefault(case.api, ProtocolGraph(service.protocol))
        with open_sandbox(service, SEED) as sandbox:
            run = sandbox.run(case.program)
    if run.error is None:
        raise RuntimeError(f"{case.name} did not fail; it printed {run.stdout!r}")
    fault = Fault("run", run.error.type, run.error.message, run.error.line, run.error.snippet)
    ours = attribute(fault, run, graph)
    right = ours.tool == case.culprit
    culprit = case.find(run.calls)
    return AttributionVerdict(
        case.name,
        case.half,
        case.kind,
        case.twin,
        right and (culprit is None or ours.call == culprit.index),
        ours.path == case.path if case.path else None,
        by_traceback(run).tool == case.culprit,
        None if model is None else _ask_model(model, case, fault, run) == case.culprit,
    )


def _ask_model(model: Model, case: FailingProgram, fault: Fault, run: Run) -> str | None:
    """The tool that a model names, of those that the program called; None when it names none of them."""
    names = list(dict.fromkeys(call.tool for call in run.calls if call.tool))
    error = f"{fault.snippet}\n{fault.type}: {fault.message}"
    messages = [
        Message("user", case.query),
        Message("assistant", f"```python\n{case.program}```"),
        Message("user", templates.render("attribute", error=error, candidates="\n".join(names))),
    ]
    reply = model.complete(messages, max_tokens=48).text
    mentions = [(place.start(), name) for name in names if (place := re.search(rf"\b{re.escape(name)}\b", reply))]
    return min(mentions)[1] if mentions else None


def sample_by_kind(programs: Sequence[FailingProgram], count: int) -> list[FailingProgram]:
    """So many of the programs with a culprit, of all kinds in turn."""
    kinds: dict[str, list[FailingProgram]] = {}
    for case in programs:
        if case.culprit is not None:
            kinds.setdefault(case.kind, []).append(case)
    chosen: list[FailingProgram] = []
    while len(chosen) < count and any(kinds.values()):
        chosen += [rest.pop(0) for rest in kinds.values() if rest]
    return chosen[:count]


def overhead(runs: int = 3) -> dict[str, float]:
    """A loop after a call, with where its values come from and without, as multiples of CPython."""
    case = next(case for case in failing_programs("seen") if case.api == "films")
    with serve(case.api, case) as service:
        program = LOOP.format(call="GET_films_popular()", size=12_000_000)
        ways = {on: open_sandbox(service, SEED, track=on) for on in (True, False)}
        plain = compile(LOOP.format(call="0", size=12_000_000).replace("print", "str"), "<loop>", "exec")
        seconds: dict[str, list[float]] = {"with": [], "without": [], "CPython": []}
        for _ in range(runs):
            seconds["CPython"].append(_timed(lambda: exec(plain, {})))
            seconds["with"].append(_timed(lambda: ways[True].run(program)))
            seconds["without"].append(_timed(lambda: ways[False].run(program)))
    python = statistics.median(seconds["CPython"])
    return {name: round(statistics.median(seconds[name]) / python, 2) for name in ("with", "without")}


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


@click.command(help=__doc__)
@click.option("--half", type=click.Choice(["seen", "held"]), help="Only this half of the corpus.")
@click.option("--ask", type=click.IntRange(min=0), default=0, metavar="N", help="Ask a model about N programs a half.")
@click.option("--model", metavar="NAME", help="The model to ask  [default: the local one]")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def main(half: Half | None, ask: int, model: str | None, as_json: bool) -> None:
    halves: list[Half] = [half] if half else ["seen", "held"]
    graphs: dict[str, ProtocolGraph] = {}
    verdicts: list[AttributionVerdict] = []
    with ExitStack() as closing_time:
        opened = closing_time.enter_context(closing(open_model(model))) if ask else None
        for corpus_half in halves:
            programs = failing_programs(corpus_half)
            put = {case.name for case in sample_by_kind(programs, ask)}
            tracked = track(programs, f"half {corpus_half}", console=Console(stderr=True))
            verdicts += [judge(case, graphs, opened if case.name in put else None) for case in tracked]
    costs = overhead()
    if as_json:
        click.echo(to_json({"verdicts": [asdict(verdict) for verdict in verdicts], "overhead": costs}), nl=False)
        return
    Console().print(table(verdicts, halves, bool(ask)))
    click.echo(
        f"a loop after a call takes {costs['with']} times what it takes in CPython with where its values come from, "
        f"{costs['without']} without"
    )


def table(verdicts: Sequence[AttributionVerdict], halves: Sequence[str], with_model: bool) -> Table:
    """Kinds as rows; for each half the number of cases and the share that each way named."""
    rendered = Table("kind of fault")
    for half in halves:
        for title in (f"{half}: n", "ours", "traceback", *(["asked"] if with_model else [])):
            rendered.add_column(title, justify="right")
    for name, row_verdicts in _rows(verdicts):
        cells: list[str] = []
        for half in halves:
            here = [verdict for verdict in row_verdicts if verdict.half == half]
            cells += [str(len(here)), _share(v.ours for v in here), _share(v.traceback for v in here)]
            if with_model:
                cells.append(_share(v.asked for v in here if v.asked is not None))
        rendered.add_row(name, *cells, end_section=name.startswith("value in two"))
    return rendered


def _rows(verdicts: Sequence[AttributionVerdict]) -> Iterator[tuple[str, Sequence[AttributionVerdict]]]:
    kinds: Mapping[str, None] = dict.fromkeys(verdict.kind for verdict in verdicts)
    for kind in kinds:
        yield kind.replace("_", " "), [verdict for verdict in verdicts if verdict.kind == kind]
    yield "value in two responses", [verdict for verdict in verdicts if verdict.twin]
    yield "all", verdicts


def _share(hits: Iterable[bool | None]) -> str:
    counted = [bool(hit) for hit in hits]
    return f"{100 * sum(counted) / len(counted):.1f} %" if counted else "-"


if __name__ == "__main__":
    main()
