"""Collections proposed from descriptions: tools of like purpose in several categories.

The published collections are those of a web page, and no file has them. These are communities of a graph in which each
tool is joined to the tools that are described most like it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from atc.retrieval.embeddings import embed
from benchmarks.learning.generation.pool import ToolKey, ToolPool
from protocols.errors import UsageError

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["proposed_collections"]

_NEIGHBOURS = 6
_LIKENESS = 0.35
"""The least cosine of two tools that are joined."""
_FEWEST_MEMBERS = 10
"""Communities up to this size are not divided further."""
_RESOLUTION = 1.5
_DEPTH = 6


def proposed_collections(pool: ToolPool, seed: int = 0) -> list[list[ToolKey]]:
    """Collections with tools of two categories or more, the largest first.

    A tool is in at most one. Raises: UsageError: No two tools of different categories are alike.
    """
    import networkx as nx
    import numpy as np

    keys = list(pool.tools)
    vectors = embed([_text(pool, key) for key in keys])
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(keys)))
    for place, vector in enumerate(vectors):
        likeness = vectors @ vector
        likeness[place] = -1.0
        for neighbour in np.argsort(-likeness)[:_NEIGHBOURS]:
            if likeness[neighbour] >= _LIKENESS:
                graph.add_edge(place, int(neighbour), weight=float(likeness[neighbour]))
    members = [[keys[place] for place in sorted(group)] for group in _communities(graph, seed, _DEPTH)]
    spanning = [group for group in members if len({category for category, _ in group}) > 1]
    if not spanning:
        raise UsageError("no tools of different categories are described alike; name sources with more categories")
    return sorted(spanning, key=lambda group: (-len(group), group))


def _communities(graph: nx.Graph[int], seed: int, depth: int) -> list[set[int]]:
    """The communities of a graph; large ones are divided again."""
    import networkx as nx

    groups: list[set[int]] = []
    for group in nx.community.louvain_communities(graph, seed=seed, resolution=_RESOLUTION):
        if len(group) <= _FEWEST_MEMBERS or depth == 0 or len(group) == len(graph):
            groups.append(set(group))
        else:
            groups += _communities(graph.subgraph(group), seed, depth - 1)
    return groups


def _text(pool: ToolPool, key: ToolKey) -> str:
    """The text that a tool is compared by: its description, and those of its APIs; not its category."""
    apis = [f"{api.name}: {str(api.record['api_description'])[:200]}" for api in pool.tools[key]]
    return " ".join([pool.descriptions[key], *apis])
