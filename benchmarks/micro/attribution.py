"""How often the culprit of a failed program is named: ours, and the traceback alone.

`python -m benchmarks.micro.attribution` runs the corpus of faulty programs (benchmarks/injection) against its
simulated services and prints how often each way names the right tool first, by kind of fault and by half of the corpus.
The first half (seen) may be looked at while attribution is worked on, the second (held) may not. No model is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

import click
from rich.console import Console
from rich.progress import track

from atc.diagnosis.attribution import attribute, by_traceback
from atc.fault import Fault
from atc.files import to_json
from benchmarks.injection.corpus import FailingProgram, Half, failing_programs, open_sandbox, serve
from benchmarks.micro.frame import Measurement, json_option
from benchmarks.report.render import print_table
from protocols.dataflow.graph import ProtocolGraph

__all__ = ["AttributionVerdict", "judge", "main"]


@dataclass(frozen=True, slots=True)
class AttributionVerdict:
    """Whether each way named the culprit of one case first; `path` also where in its response, None where that has no
    meaning."""

    name: str
    half: str
    kind: str
    twin: bool
    ours: bool
    path: bool | None
    traceback: bool


def judge(case: FailingProgram, graphs: dict[str, ProtocolGraph]) -> AttributionVerdict:
    """Run one faulty program and compare."""
    with serve(case) as service, open_sandbox(service) as sandbox:
        graph = graphs.setdefault(case.api, ProtocolGraph(service.protocol))
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
    )


@click.command(cls=Measurement, help=__doc__)
@click.option("--half", type=click.Choice(["seen", "held"]), help="Only this half of the corpus.")
@json_option("Print the verdicts as JSON.")
def main(half: Half | None, as_json: bool) -> None:
    halves: list[Half] = [half] if half else ["seen", "held"]
    graphs: dict[str, ProtocolGraph] = {}
    verdicts: list[AttributionVerdict] = []
    for corpus_half in halves:
        tracked = track(failing_programs(corpus_half), f"half {corpus_half}", console=Console(stderr=True))
        verdicts += [judge(case, graphs) for case in tracked]
    if as_json:
        click.echo(to_json([asdict(verdict) for verdict in verdicts]), nl=False)
        return
    titles = ("ours", "traceback")
    columns = [f"{half}: n" if title is None else title for half in halves for title in (None, *titles)]
    print_table("", ("kind of fault", *columns), _rows(verdicts, halves, titles))


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
