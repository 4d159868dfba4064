"""The APIs that instructions are written for, and how some of them are drawn for one.

I1 goes through the tools one by one, I2 draws tools of one category, I3 tools of one collection. The published
collections are those of a web page, and no file has them. Ours are proposed from descriptions: communities of a graph
in which each tool is joined to the tools that are described most like it.

Source: ToolLLM (arXiv:2307.16789), section 2.2: 2 to 5 tools, at most 3 APIs of each.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from atc.retrieval.embeddings import embed
from benchmarks.toolbench.server.address import APIAddress
from benchmarks.toolbench.server.catalogue import Catalogue
from protocols.documents.tool_records import parameter_name, record_parameters
from protocols.errors import UsageError

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["InstructionKind", "PooledAPI", "ToolKey", "ToolPool", "proposed_collections", "required_names"]

InstructionKind = Literal["I1", "I2", "I3"]
ToolKey = tuple[str, str]
"""Folder of the category, and standard name of the tool."""

_MOST_APIS = 3
_TOOLS = (2, 5)
_NEEDED = (2, 3)
"""How many of the drawn APIs an instruction needs."""

_NEIGHBOURS = 6
_LIKENESS = 0.35
"""The least cosine of two tools that are joined."""
_FEWEST_MEMBERS = 10
"""Communities up to this size are not divided further."""
_RESOLUTION = 1.5
_DEPTH = 6


@dataclass(frozen=True, slots=True)
class PooledAPI:
    """An API that may be drawn: its address, and its record as a member of a query's `api_list`."""

    address: APIAddress
    record: Mapping[str, Any]

    @property
    def key(self) -> ToolKey:
        """Its tool: tools of several categories may have one name."""
        return self.address.category, self.address.tool

    @property
    def tool(self) -> str:
        """The display name of its tool."""
        return str(self.record["tool_name"])

    @property
    def name(self) -> str:
        """Its display name."""
        return str(self.record["api_name"])

    @property
    def required(self) -> list[Mapping[str, Any]]:
        """Its required parameters."""
        return [raw for raw, required in record_parameters(self.record) if required]


def required_names(apis: Iterable[PooledAPI]) -> list[str]:
    """The published names of the required parameters; those of the same name in two APIs have one value."""
    return list(dict.fromkeys(parameter_name(str(parameter["name"])) for api in apis for parameter in api.required))


class ToolPool:
    """All APIs of a catalogue, tool by tool.

    Args:
        catalogue: Each of its tool files is read.
    Raises: UsageError: It documents no API.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self.tools: dict[ToolKey, tuple[PooledAPI, ...]] = {}
        self.descriptions: dict[ToolKey, str] = {}
        grouped: dict[ToolKey, list[PooledAPI]] = {}
        for address in catalogue.addresses():
            tool = catalogue.tool(address.category, address.tool)
            if tool is not None:
                record = _query_record(tool.category, tool.title, tool.records[address.api])
                grouped.setdefault((tool.category, tool.name), []).append(PooledAPI(address, record))
                self.descriptions[tool.category, tool.name] = f"{tool.title}. {tool.description}".strip()
        self.tools = {key: tuple(apis) for key, apis in grouped.items()}
        if not self.tools:
            raise UsageError("the sources document no API; name tool files or query files with an api_list")

    @property
    def digest(self) -> str:
        """A hash of the APIs and their records, 16 hex digits."""
        text = json.dumps([[*key, *(api.record for api in apis)] for key, apis in self.tools.items()], default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def draw(
        self, kind: InstructionKind, number: int, seed: int, collections: Sequence[Sequence[ToolKey]]
    ) -> list[PooledAPI]:
        """The APIs of instruction `number`; the same for the same arguments.

        Args:
            number: From 0. For I1 it is the place of the tool in a shuffled order, which begins anew at its end.
            collections: The tools of each collection, of two categories or more, for I3.
        Raises: UsageError: No category has enough tools.
        """
        generator = random.Random(f"{seed}:{kind}:{number}")
        if kind == "I1":
            order = list(self.tools)
            random.Random(seed).shuffle(order)
            chosen = [order[number % len(order)]]
        else:
            groups = self._categories() if kind == "I2" else collections
            group = generator.choices(groups, weights=[len(tools) for tools in groups])[0]
            count = generator.randint(_TOOLS[0], min(_TOOLS[1], len(group)))
            chosen = generator.sample(group, count)
            if kind == "I3" and len({category for category, _ in chosen}) == 1:
                chosen[-1] = generator.choice([key for key in group if key[0] != chosen[0][0]])
        return [
            api for key in chosen for api in generator.sample(self.tools[key], min(_MOST_APIS, len(self.tools[key])))
        ]

    def needed(self, kind: InstructionKind, number: int, seed: int, drawn: Sequence[PooledAPI]) -> list[PooledAPI]:
        """Those of the drawn APIs that instruction `number` needs: two or three, of several tools but for I1."""
        generator = random.Random(f"{seed}:{kind}:{number}:needed")
        chosen = generator.sample(drawn, min(generator.randint(*_NEEDED), len(drawn)))
        tools = {api.key for api in chosen}
        if kind != "I1" and len(tools) == 1:
            chosen[-1] = generator.choice([api for api in drawn if api.key not in tools])
        return chosen

    def _categories(self) -> Sequence[Sequence[ToolKey]]:
        """The tools of each category with two or more."""
        grouped: dict[str, list[ToolKey]] = {}
        for key in self.tools:
            grouped.setdefault(key[0], []).append(key)
        groups = [tools for tools in grouped.values() if len(tools) >= _TOOLS[0]]
        if not groups:
            raise UsageError("--kind I2 needs a category with two tools or more; name more sources")
        return groups


def _query_record(category: str, title: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record in the form of queries, whichever form it has."""
    data: dict[str, Any] = {
        "category_name": category,
        "tool_name": title,
        "api_name": str(record.get("api_name") or record.get("name")),
        "api_description": str(record.get("api_description") or record.get("description") or ""),
        "required_parameters": record.get("required_parameters") or [],
        "optional_parameters": record.get("optional_parameters") or [],
        "method": str(record.get("method") or "GET"),
    }
    template = record.get("template_response")
    return data if template is None else {**data, "template_response": template}


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
