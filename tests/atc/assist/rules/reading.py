"""The readings of a question about a run, in short."""

from __future__ import annotations

from atc.assist.language.question import Question
from atc.assist.rules import readings
from sandbox import Run
from tests.atc.evidence.runs import GRAPH


def kinds(program: str, finished: Run, query: str) -> list[str]:
    """The kinds of the findings."""
    return [finding.kind for finding in readings(program, finished, Question(query), GRAPH)]
