"""Choose the tools worth showing to the model, when an API has more than it should read.

A tool that wins on words alone is of no use without the tools that yield its identifiers, so those come with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from protocols.graph import ProtocolGraph
from protocols.words import singular, words

__all__ = ["choose"]


def choose(query: str, graph: ProtocolGraph, most: int) -> tuple[str, ...]:
    """The names of the `most` best tools for a query (BM25), then the producers of their required identifiers.

    With no more than `most` tools in the protocol it is all of them, in document order.
    """
    tools = graph.protocol.tools
    if len(tools) <= most:
        return tuple(tool.name for tool in tools)
    from rank_bm25 import BM25Okapi

    index = BM25Okapi([_terms(f"{tool.name} {tool.path} {tool.summary} {tool.description}") for tool in tools])
    scores: Sequence[float] = index.get_scores(_terms(query))
    ranked = sorted(range(len(tools)), key=lambda place: (-scores[place], place))
    return graph.closure(tools[place].name for place in ranked[:most])


def _terms(text: str) -> list[str]:
    return [singular(word) for word in words(text)]
