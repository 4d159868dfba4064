"""How often the culprit of a failed program is named: ours, the traceback alone, and a model that is asked.

`python -m benchmarks.micro.attribution` runs the corpus of faulty programs (benchmarks/injection) against its
simulated services and prints how often each way names the right tool first, by kind of fault and by half of the corpus.
The first half (seen) may be looked at while attribution is worked on, the second (held) may not. With `--ask N`, N
programs of each half are put to a model as the ATC paper does (section 3.3); the other two ways ask none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass

import click
from rich.console import Console
from rich.progress import track

from atc.diagnosis.attribution import attribute, by_traceback
from atc.fault import Fault
from atc.files import to_json
from atc.models import Message, Model, open_model
from atc.prompting import templates
from benchmarks.injection.corpus import FailingProgram, Half, failing_programs
from benchmarks.injection.services import SEED, open_sandbox, serve
from benchmarks.micro.frame import Measurement, half_option, json_option, print_table
from protocols.dataflow.graph import ProtocolGraph
from sandbox import Run

__all__ = ["AttributionVerdict", "judge", "main", "sample_by_kind"]


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


@click.command(cls=Measurement, help=__doc__)
@half_option
@click.option("--ask", type=click.IntRange(min=0), default=0, metavar="N", help="Ask a model about N programs a half.")
@click.option("--model", metavar="NAME", help="The model to ask  [default: the local one]")
@json_option("Print the verdicts as JSON.")
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
    if as_json:
        click.echo(to_json([asdict(verdict) for verdict in verdicts]), nl=False)
        return
    titles = ("ours", "traceback", *(["asked"] if ask else []))
    columns = [f"{half}: n" if title is None else title for half in halves for title in (None, *titles)]
    rows = _rows(verdicts, halves, titles)
    print_table(("kind of fault", *columns), rows, figures_from=1, line_below=["value in two responses"])


def _rows(verdicts: Sequence[AttributionVerdict], halves: Sequence[str], ways: Sequence[str]) -> Iterator[list[str]]:
    """Kinds as rows; for each half the number of cases and the share that each way named."""
    kinds = dict.fromkeys(verdict.kind for verdict in verdicts)
    groups = {kind.replace("_", " "): [verdict for verdict in verdicts if verdict.kind == kind] for kind in kinds}
    groups |= {"value in two responses": [verdict for verdict in verdicts if verdict.twin], "all": list(verdicts)}
    for name, group in groups.items():
        cells: list[str] = []
        for half in halves:
            here = [verdict for verdict in group if verdict.half == half]
            shares = (_share(getattr(verdict, way) for verdict in here) for way in ways)
            cells += [str(len(here)), *shares]
        yield [name, *cells]


def _share(hits: Iterable[bool | None]) -> str:
    counted = [hit for hit in hits if hit is not None]
    return f"{100 * sum(counted) / len(counted):.1f} %" if counted else "-"


if __name__ == "__main__":
    main()
