"""Decide whether a run is an answer, and whether that answer deserves a second look.

A program that ends well may still have answered nothing or the wrong question. It may print or swallow an error,
read another entity, only the first page of a list, a misspelled name or the wrong field. The paper's loop counts all
of these as success (section A.4 names it as a limitation).

The rules here inspect the run's own records, without a model. A finding is no proof: an answer that the model repeats
is accepted.
"""

from __future__ import annotations

from collections.abc import Sequence

from atc.assist.language.question import Question
from atc.assist.rules import entities, flow, labels, negatives, pages, printed, support
from atc.assist.rules.findings import Inspection
from atc.assist.rules.support import describe_silent_writes
from atc.evidence import Finding, Kind, made_writes
from protocols.dataflow.graph import ProtocolGraph
from sandbox.records import Run

__all__ = ["describe_silent_writes", "inspect"]

_RULES = (
    support.no_good_call,
    support.failed_call,
    support.caught_error,
    support.missing_write,
    support.no_evidence,
    entities.unused_name,
    entities.misspelt,
    entities.merged_names,
    entities.unused_search,
    entities.wrong_item,
    entities.hallucinated_identifier,
    pages.first_page,
    negatives.empty_for_negative,
    printed.error_text,
    printed.nothing_found,
    printed.nothing_new,
    printed.wrong_kind,
    labels.mislabelled,
    labels.repeated_value,
    labels.unanswered,
    flow.unasked_change,
    flow.placeholder,
    flow.unused_code,
    flow.missing_value,
    flow.dead_call,
    flow.overwritten,
    flow.other_entry,
    flow.sibling_tool,
    flow.other_list,
    flow.named_field,
    flow.taken_by_place,
    flow.no_extreme,
    flow.one_for_all,
    flow.one_of_many,
    flow.few_of_many,
    flow.weakened,
    flow.changed_between,
    flow.foreign_write,
    flow.unasked_write,
    flow.unrelated_output,
)
"""Most telling first: a wrong call explains wrong words."""

_READING = frozenset(
    {support.no_evidence, printed.error_text, printed.nothing_found, printed.nothing_new, printed.wrong_kind}
    | {labels.unanswered}
)
"""Rules that say nothing where the service accepted a write: the task is then done, whatever is printed."""


def inspect(
    program: str,
    run: Run,
    question: Question,
    graph: ProtocolGraph | None = None,
    earlier_programs: Sequence[str] = (),
) -> tuple[Finding, ...]:
    """List the reasons to doubt a printed answer, the most telling first, one of each kind.

    Args:
        run: A run that ended well and printed something (see `judge`).
        graph: The data flow between the tools.
        earlier_programs: Those that the model wrote before in the solve.
    """
    inspection = Inspection(program, run, question, graph, earlier_programs)
    findings: dict[Kind, Finding] = {}
    for rule in _RULES:
        if rule in _READING and made_writes(run):
            continue
        try:
            finding = rule(inspection)
        except RecursionError:  # a program nested so deeply is not read
            continue
        if finding is not None:
            findings.setdefault(finding.kind, finding)
    return tuple(findings.values())
