"""The tools that a question is likely to need, and the plans for them: a small model copies what it is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from atc.assist.language.question import Question
from atc.assist.language.relative_dates import with_dates
from atc.assist.planning.planner import plans
from atc.program.plan import Plan
from atc.prompting import Offer
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.identifiers import is_called, is_current

__all__ = ["plans_for"]

_MAX_PLANS = 3
"""Tools that read, and tools that write where the question asks for an action, that get a plan."""
_LIKELY, _SURE = 0.3, 0.5
"""Parts of the best tool's score: a tool with less gets no plan (a small model copies what it is shown); one with less
gets none that is its call alone."""
_AS_LIKELY = 0.65
"""Part of the best writing tool's score that another one needs: a small model copies its plan, and writes."""
_FILLS = 0.55
"""Part of that score that a tool needs which adds items to a new entity."""
_MORE = re.compile(r"[,;]|\b(?:and|then)\b", re.IGNORECASE)
"""What more follows to be done, as far as commas and small words tell."""
_EACH, _NEAR = 3, 0.85
"""Tools for each part of a long question, and the part of the best one's score that the second one needs."""


def plans_for(question: Question, today: str, offer: Offer) -> tuple[Plan, ...]:
    """The plans for the likeliest tools of an offer.

    Args:
        today: As YYYY-MM-DD.
    """
    scores = offer.scores
    tools = _planned_tools(offer, question)
    sure = {name for name in tools if scores[name] >= _SURE * scores[offer.ranked[0]]}
    dated = Question(with_dates(question.in_context.text, today))
    return plans(offer.graph, tools, offer.tools, dated, sure)


def _planned_tools(offer: Offer, question: Question) -> list[str]:
    """The tools to plan for: the likeliest ones, and for each part of a long question the best that reads."""
    protocol, scores, ranked = offer.graph.protocol, offer.scores, offer.ranked
    reads = [name for name in ranked if not protocol.tool(name).writes]
    writes = [] if question.is_information_request else [name for name in ranked if protocol.tool(name).writes]
    writes = _together(offer.graph, writes, scores, question)
    likely = [
        name for name in (*reads[:_MAX_PLANS], *writes[:_MAX_PLANS]) if scores[name] >= _LIKELY * scores[ranked[0]]
    ]
    likely += [name for name in reads if question.now and is_current(protocol.tool(name))][:1]
    parts = question.parts
    for part in parts if len(parts) > 1 else ():
        part_scores = {name: score for name, score in offer.ranking.scores(part).items() if name in reads}
        likely += [name for name in list(part_scores)[:_EACH] if part_scores[name] >= _NEAR * max(part_scores.values())]
    return [name for name in ranked if name in likely]


def _together(
    graph: ProtocolGraph, writes: Sequence[str], scores: Mapping[str, float], question: Question
) -> list[str]:
    """Of the tools that write, the best one first, those that are likely beside it.

    First those that are called as the question says (`play` of `/player/play`), and only those where they are all it
    says. What is only now made is filled and not changed.
    """
    if not writes:
        return []
    protocol, best = graph.protocol, scores[writes[0]]
    verbs = question.requested_actions
    called = [name for name in writes if any(is_called(protocol.tool(name), verb) for verb in verbs)]
    if called and _MORE.search(question.text) is None:
        return called
    likely = [name for name in writes if name not in called and scores[name] >= _AS_LIKELY * best]
    maker = next((name for name in likely if question.creates and protocol.tool(name).method == "POST"), None)
    takes = {
        name
        for name in writes
        if any(provider.tool == maker for argument in graph.needs(name) for provider in graph.providers(name, argument))
    }
    fills = [name for name in writes if name in takes and protocol.tool(name).method == "POST"]
    changes = takes.difference(fills)
    beside = [name for name in fills if name not in likely and scores[name] >= _FILLS * best]
    return [*called, *(name for name in [*likely, *beside] if name not in changes)]
