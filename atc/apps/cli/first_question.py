"""A question to begin with, from the document alone: one call that reads, or two where the first gives the second's id.

Its words are those of the document's paths and fields. It asks for one value of one item, so it needs no page but the
first.

Of twelve documents eleven have one; six were read while this was made. The local model answered 7 of 7 that were tried
there, and 0 of 2 of somebody else's documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.identifiers import literals_of
from protocols.dataflow.sources import certain_source
from protocols.json_path import Step
from protocols.schema_fields import items_of, properties_of, type_of
from protocols.text.words import is_identifier, singular, words

if TYPE_CHECKING:
    from protocols.model import Protocol, Schema, Tool

__all__ = ["first_question"]

_VERBS = frozenset({"all", "fetch", "find", "get", "list", "query", "read", "search"})
_DISPLAY = ("name", "title", "label", "subject", "summary", "description", "status")
"""Fields that say what an item is, the most telling first."""
_OBJECT, _CHAIN, _IDENTIFIER = 100, 200, 300
"""Ranks: a list's item before an object, before a second call; an identifier comes last, since it says nothing."""


def first_question(protocol: Protocol) -> str:
    """A question that the document lets one expect an answer to; empty where no operation reads without arguments."""
    graph = ProtocolGraph(protocol)
    reading = [tool for tool in protocol.tools if not tool.writes and not tool.deprecated]
    free = [tool for tool in reading if not any(parameter.required for parameter in tool.arguments)]
    ranked = sorted(free, key=lambda tool: len(literals_of(tool.path)))
    questions = (*_of_lists(graph, ranked), *_of_objects(graph, ranked), *_of_chains(graph, reading, free))
    return min(questions, key=lambda rated: rated[0], default=(0, ""))[1]


def _of_lists(graph: ProtocolGraph, tools: list[Tool]) -> Iterator[tuple[int, str]]:
    """Questions about the first item of a list, each with the rank of its field."""
    for tool in tools:
        item = _item(graph, tool)
        rank, field = _field(graph.protocol, item) if item else (0, "")
        if field:
            yield rank, f"What is the {field} of the first {_noun(tool)}?"


def _of_objects(graph: ProtocolGraph, tools: list[Tool]) -> Iterator[tuple[int, str]]:
    for tool in tools:
        schema = tool.response_schema
        rank, field = _field(graph.protocol, schema) if schema and not _item(graph, tool) else (0, "")
        if field:
            yield _OBJECT + rank, f"What is the {field} of the {_noun(tool)}?"


def _of_chains(graph: ProtocolGraph, reading: list[Tool], free: list[Tool]) -> Iterator[tuple[int, str]]:
    """Questions about what an operation gives for the first item that another one lists."""
    names = {tool.name: tool for tool in free}
    for tool in reading:
        required = [parameter.argument for parameter in tool.arguments if parameter.required]
        source = certain_source(graph, tool.name, required[0], set(names)) if len(required) == 1 else None
        item = _item(graph, tool)
        schema = item or tool.response_schema
        rank, field = _field(graph.protocol, schema) if source and schema else (0, "")
        if source and field:
            of_item = f"the first {_noun(tool)} of " if item else ""
            yield _CHAIN + rank, f"What is the {field} of {of_item}the first {_noun(names[source.tool])}?"


def _item(graph: ProtocolGraph, tool: Tool) -> Schema | None:
    """The schema of an item of the list that an operation gives; None where it gives none."""
    schema = tool.response_schema
    if schema is None:
        return None
    if items := items_of(schema, graph.protocol):
        return items
    for path in graph.lists(tool.name)[:1]:
        return _at(graph.protocol, schema, path)
    return None


def _at(protocol: Protocol, schema: Schema, path: tuple[Step, ...]) -> Schema | None:
    """The schema of an item of the list at a path."""
    for key in path:
        schema = properties_of(schema, protocol).get(str(key), {})
    return items_of(schema, protocol)


def _field(protocol: Protocol, schema: Schema) -> tuple[int, str]:
    """The field of an object to ask for, in words, and its rank; the second is empty where it has no value to print."""
    scalars = {
        name: part
        for name, part in properties_of(schema, protocol).items()
        if type_of(part) in ("string", "integer", "number")
    }
    named = {name.lower(): name for name in scalars}
    for rank, name in enumerate(_DISPLAY):
        if name in named:
            return rank, name
    others = [name for name in scalars if not is_identifier(name)]
    rank = len(_DISPLAY) if others else _IDENTIFIER
    return rank, " ".join(words(next(iter(others or scalars), "")))


def _noun(tool: Tool) -> str:
    """What an operation is about, in words: `order item` for `/orders/{id}/order-items`."""
    literals = literals_of(tool.path) if tool.function is None else ()
    parts = [part for part in words(literals[-1] if literals else tool.local_name) if part not in _VERBS]
    return " ".join([*parts[:-1], singular(parts[-1])]) if parts else "entry"
