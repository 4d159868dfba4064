"""Readings of an English question that speak against an answer: another entity, another list, another kind of answer.

A reading may be wrong, and with a strong model it is more often wrong than right, so it belongs to the help of small
models. What needs no English is a fact (`atc.evidence`).
"""

from __future__ import annotations

from atc.assist.language.question import Question
from atc.assist.rules import entities, kinds, lists
from atc.assist.rules.inspection import Inspection
from atc.evidence import Finding, made_writes
from protocols.dataflow.graph import ProtocolGraph
from sandbox.records import Run

__all__ = ["readings"]

_RULES = (
    entities.unused_name,
    entities.merged_names,
    entities.unused_search,
    entities.wrong_item,
    kinds.wrong_kind,
    lists.other_entry,
    lists.other_list,
    lists.taken_by_place,
    lists.no_extreme,
)
"""Most telling first: a wrong call explains wrong words."""


def readings(program: str, run: Run, question: Question, graph: ProtocolGraph) -> tuple[Finding, ...]:
    """List what a question asks for and an answer does not give, the most telling first, one of each kind.

    Args:
        run: A run that ended well and printed something (see `atc.evidence.judge`).
        graph: The data flow between the tools.
    """
    inspection = Inspection(program, run, question, graph)
    findings: dict[str, Finding] = {}
    for rule in _RULES:
        if rule is kinds.wrong_kind and made_writes(run):
            continue  # the task is done, whatever is printed
        try:
            finding = rule(inspection)
        except RecursionError:  # a program nested so deeply is not read
            continue
        if finding is not None:
            findings.setdefault(finding.kind, finding)
    return tuple(findings.values())
