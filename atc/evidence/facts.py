"""The facts about a run that may speak against its answer, ours and those of other packages.

A fact is a function of a `TracedRun` that gives a `Finding` or None; another package registers its own as an entry
point `atc.facts`. How often each stands beside right and wrong answers is written beside its test.

The rates of the unseen splits are those of the forms before control dependence counted; the present forms were judged
on the development splits alone, which had been read.
"""

from __future__ import annotations

import ast

from atc.doors import doors, load
from atc.evidence.emptiness import empty_selection, nothing_found
from atc.evidence.failures import caught_error, failed_call, no_evidence, no_good_call
from atc.evidence.finding import Finding, name_of
from atc.evidence.pages import first_page
from atc.evidence.traced_run import TracedRun
from atc.program.tree import lines_of, nodes_of
from protocols.dataflow.graph import ProtocolGraph
from sandbox.records import Run

__all__ = ["facts"]


def _dead_call(traced: TracedRun) -> Finding | None:
    """Neither the answer, a write nor a decision of the program depends on what a call returned."""
    if traced.run.provenance is None:
        return None
    methods = {line for node in nodes_of(traced.tree, ast.ClassDef) for line in lines_of(node)}  # not followed
    for call in traced.good_calls:
        tool = traced.tools.get(call.tool or "")
        if call.writes or call.line in methods or traced.is_behind_output(call):
            continue
        if tool is None or not tool.gives_nothing:
            return Finding.of_call("DeadCall", f"nothing of the answer depends on what {name_of(call)} returned", call)
    return None


_FACTS = (
    no_good_call,
    failed_call,
    caught_error,
    no_evidence,
    first_page,
    empty_selection,
    nothing_found,
    _dead_call,
)
"""Most telling first."""


def facts(program: str, run: Run, graph: ProtocolGraph | None = None) -> tuple[Finding, ...]:
    """List what the run itself shows against a printed answer, the most telling first, one of each kind.

    Args:
        run: A run that ended well and printed something (see `judge`).
        graph: The data flow between the tools.
    """
    traced = TracedRun(program, run, graph)
    findings: dict[str, Finding] = {}
    for fact in (*_FACTS, *(load("atc.facts", name) for name in doors("atc.facts"))):
        try:
            finding = fact(traced)
        except RecursionError:  # a program nested so deeply is not read
            continue
        if finding is not None:
            findings.setdefault(finding.kind, finding)
    return tuple(findings.values())
