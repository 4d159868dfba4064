"""The facts about a run that may speak against its answer, and how often each of them stood beside a right one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from atc.evidence.emptiness import empty_selection, nothing_found
from atc.evidence.failures import caught_error, failed_call, no_evidence, no_good_call
from atc.evidence.finding import Finding, Kind
from atc.evidence.flow import dead_call, overwritten
from atc.evidence.pages import first_page
from atc.evidence.traced_run import TracedRun
from protocols.dataflow.graph import ProtocolGraph
from sandbox.records import Run

__all__ = ["RATES", "Rate", "facts"]

_FACTS = (
    no_good_call,
    failed_call,
    caught_error,
    no_evidence,
    first_page,
    empty_selection,
    nothing_found,
    overwritten,
    dead_call,
)
"""Most telling first."""


@dataclass(frozen=True, slots=True)
class Rate:
    """On how many right and on how many wrong answers a fact stood."""

    right: int
    wrong: int


RATES: Mapping[Kind, tuple[Rate, Rate]] = {
    "FirstPage": (Rate(1, 6), Rate(2, 0)),
    "NothingFound": (Rate(1, 1), Rate(0, 2)),
    "ErrorSwallowed": (Rate(1, 0), Rate(0, 0)),
    "DeadCall": (Rate(0, 1), Rate(4, 6)),
    "Overwritten": (Rate(0, 0), Rate(2, 0)),
}
"""For each fact its rates with a strong model (67 right and 12 wrong answers) and with a local one (60 and 34).

The answers are those of both on the unseen splits of RestBench, before facts and readings were parted; see
benchmarks/README.md.
"""


def facts(program: str, run: Run, graph: ProtocolGraph | None = None) -> tuple[Finding, ...]:
    """List what the run itself shows against a printed answer, the most telling first, one of each kind.

    Args:
        run: A run that ended well and printed something (see `judge`).
        graph: The data flow between the tools.
    """
    traced = TracedRun(program, run, graph)
    findings: dict[Kind, Finding] = {}
    for fact in _FACTS:
        try:
            finding = fact(traced)
        except RecursionError:  # a program nested so deeply is not read
            continue
        if finding is not None:
            findings.setdefault(finding.kind, finding)
    return tuple(findings.values())
