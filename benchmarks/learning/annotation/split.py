"""Query files in three parts that share no query, no tool or no category.

Queries that share one belong together, over any number of steps: each such group goes into one part as a whole, so that
nothing is left out. ToolLLM tests at the same three distances.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from benchmarks.toolbench.corpus.queries import ToolQuery, read_queries
from protocols.documents.tool_records import category_folder, standard_name
from protocols.errors import UsageError

__all__ = ["PARTS", "SplitDistance", "numbered", "read_entries", "split_queries"]

SplitDistance = Literal["query", "tool", "category"]
PARTS = ("train", "dev", "test")

Entry = tuple[dict[str, Any], ToolQuery]
"""A query as it is in its file, and as it is read."""


def read_entries(files: Iterable[Path]) -> list[Entry]:
    """The queries of some files, in their order. Raises: UsageError: One is no query file."""
    entries: list[Entry] = []
    for file in files:
        queries = read_queries(file)
        entries += zip(json.loads(file.read_text("utf-8")), queries, strict=True)
    return entries


def split_queries(
    entries: Sequence[Entry], distance: SplitDistance, seed: int, dev: float, test: float
) -> dict[str, list[Entry]]:
    """The queries of each part, in the given order.

    Args:
        dev, test: About the shares of the queries in these parts; a group that is too large for them is in `train`.
    Raises: UsageError: A part is empty.
    """
    groups = _groups(entries, distance)
    random.Random(seed).shuffle(groups)
    wanted = {"test": max(1, round(test * len(entries))), "dev": max(1, round(dev * len(entries)))}
    places: dict[str, list[int]] = {part: [] for part in PARTS}
    for group in groups:
        part = next((name for name, size in wanted.items() if len(places[name]) + len(group) <= size), "train")
        places[part] += group
    if empty := [part for part in PARTS if not places[part]]:
        largest = max(map(len, groups), default=0)
        raise UsageError(
            f"{len(entries)} queries cannot be split by {distance}: {empty[0]} would be empty, since {largest} of them "
            f"share a {distance}, directly or through others; name more files, or split by query"
        )
    return {part: [entries[place] for place in sorted(numbers)] for part, numbers in places.items()}


def numbered(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """The queries as in their files, with numbers of their own where two have the same id."""
    counts = Counter(query.id for _, query in entries)
    if max(counts.values(), default=0) <= 1:
        return [{**data, "query_id": query.id} for data, query in entries]
    return [{**data, "query_id": number} for number, (data, _) in enumerate(entries)]


def _groups(entries: Sequence[Entry], distance: SplitDistance) -> list[list[int]]:
    """The places of queries that belong together."""
    import networkx as nx

    categories: dict[str, set[str]] = defaultdict(set)
    for _, query in entries:
        for name in query.names:
            categories[standard_name(name.tool)].update(filter(None, [category_folder(name.category)]))
    graph: nx.Graph[tuple[str, str | int]] = nx.Graph()
    for number, (_, query) in enumerate(entries):
        graph.add_node(("query", number))
        for key in _keys(query, distance, categories):
            graph.add_edge(("query", number), ("key", key))
    components = nx.connected_components(graph)
    return [
        sorted(number for kind, number in component if kind == "query" and isinstance(number, int))
        for component in components
    ]


def _keys(query: ToolQuery, distance: SplitDistance, categories: Mapping[str, set[str]]) -> set[str]:
    """What a query may share with others. An API that it lists counts, whether it needs it or not.

    Tools of one name count as one; without a category that another query lists, a tool is a category of its own.
    """
    if distance == "query":
        return {" ".join(query.text.casefold().split())}
    tools = {standard_name(name.tool) for name in query.names} | {standard_name(tool) for tool, _ in query.relevant}
    if distance == "tool":
        return tools
    return {category for tool in tools for category in categories.get(tool) or {tool}}
