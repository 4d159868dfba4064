"""What a question leans to: what its words say for or against tools, beside their own words."""

from __future__ import annotations

from atc.assist.language.question import Question
from atc.assist.language.word_lists import QUESTIONS
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.identifiers import CURRENT, is_current, is_own, looks_like_read
from protocols.text.words import stem, words

__all__ = ["leanings"]

_DELETION_WORDS = frozenset(QUESTIONS["deletions"])
_PENALTY = 4.0
"""Of a tool that deletes, without such a word; where tools are chosen also of one that writes, if none is asked for."""
_BONUS = 2.0
"""Of a date, and of the present; beside word scores of 1 to 4."""


def leanings(question: Question, graph: ProtocolGraph, *, choosing: bool = False) -> dict[str, float]:
    """What is added to the score of each tool.

    Args:
        choosing: Tools are left out, so that those which write give way where the question only asks.
    """
    is_ongoing = question.now and set(question.stems).isdisjoint(map(stem, CURRENT))  # else the words count
    removes = not _DELETION_WORDS.isdisjoint(question.words)
    asks_only = choosing and question.is_information_request
    offsets: dict[str, float] = {}
    for tool in graph.protocol.tools:
        dated = any(
            parameter.required and not {"date", "day"}.isdisjoint(words(parameter.argument))
            for parameter in tool.arguments
        )
        offset = -_PENALTY * (tool.method == "DELETE" and not removes)
        offset -= _PENALTY * (asks_only and tool.writes and not looks_like_read(tool))
        offset += _BONUS * (question.dated and dated) + _BONUS * (is_ongoing and is_current(tool))
        offset -= _BONUS * (is_own(tool) and not (tool.writes or question.personal or question.now))
        offsets[tool.name] = offset
    return offsets
