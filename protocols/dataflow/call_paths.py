"""Call paths: the calls that lead from an object in a program to a field that another tool returns.

`person["birthday"]` fails when a search lists people without their birthdays. The data flow between the tools gives
`GET_person_person_id(person_id=person["id"])["birthday"]` instead.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from protocols.dataflow.graph import ProtocolGraph, ProvidedField, selector_arguments
from protocols.dataflow.identifiers import IdentifierReference
from protocols.json_path import Step, subscripts
from protocols.text.words import SEARCHES, WRAPPERS, noun_of

__all__ = ["AvailableObject", "CallPath", "path_to_field", "path_to_resource", "search_expression"]

_MAX_CALLS = 3
"""Calls of a path."""
_MAX_TOOLS_WITH_FIELD = 3
"""A nested field that more tools return is too common to be the one looked for."""


Identifiers: TypeAlias = Mapping[IdentifierReference, str]
"""Expressions of identifiers that a program used already."""


@dataclass(frozen=True, slots=True)
class AvailableObject:
    """An object in a program: its expression, and the tool and path it came from, 0 standing for any item."""

    text: str
    tool: str
    path: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class CallPath:
    """The expression of the last call, its tool, and the path of the field in its response."""

    text: str
    tool: str
    path: tuple[Step, ...]

    def __str__(self) -> str:
        return self.text + subscripts(self.path)


def path_to_field(
    graph: ProtocolGraph, field: str, objects: Sequence[AvailableObject], identifiers: Identifiers, among: Sequence[str]
) -> CallPath | None:
    """The shortest call path to a field, or None.

    Args:
        graph: The data flow of the protocol.
        field: The name of the field.
        objects: Objects that the program has, the likeliest start first.
        identifiers: Preferred for arguments that take them.
        among: Tools that may be called; of equally short paths the one to the earlier tool is taken.
    """
    for calls in _next_calls(graph, objects, identifiers, among):
        candidates = [
            (len(_keys_without_wrappers(path)), place, CallPath(call.text, call.tool, path))
            for place, call in enumerate(calls)
            if (path := _field_path(graph, call.tool, field, among)) is not None
        ]
        if candidates:
            return min(candidates, key=lambda item: item[:2])[2]
    return None


def path_to_resource(
    graph: ProtocolGraph, name: str, objects: Sequence[AvailableObject], identifiers: Identifiers, among: Sequence[str]
) -> CallPath | None:
    """The call of a sub-resource: `/films/{id}/credits` for `film["credits"]`."""
    for calls in _next_calls(graph, objects, identifiers, among):
        for call in calls:
            last = graph.protocol.tool(call.tool).path.rstrip("/").rpartition("/")[2]
            if not last.startswith("{") and noun_of(last) == noun_of(name):
                return CallPath(call.text, call.tool, ())
    return None


def search_expression(graph: ProtocolGraph, sources: Sequence[ProvidedField], name: str) -> str | None:
    """The expression that finds a named entity by the first source that searches by text; None if no source does."""
    for source in sources:
        tool = graph.protocol.tool(source.tool)
        required = [parameter.argument for parameter in tool.arguments if parameter.required]
        # without required arguments, a list with a search argument
        names = required or [parameter.argument for parameter in tool.arguments]
        search = next((argument for argument in names if argument.lower() in SEARCHES), None)
        if search is None or source.header:
            continue
        values = {search: name, **selector_arguments(tool, source)}
        if values.keys() >= set(required):
            texts = (f"{argument}={json.dumps(value, ensure_ascii=False)}" for argument, value in values.items())
            arguments = ", ".join(texts)
            return f"{tool.name}({arguments}){source.accessor()}"
    return None


def _next_calls(
    graph: ProtocolGraph, objects: Sequence[AvailableObject], identifiers: Identifiers, among: Sequence[str]
) -> Iterator[list[AvailableObject]]:
    """The calls possible with the objects at hand, then those possible with their responses, and so on."""
    reached = list(objects)
    called_tools = {available.tool for available in objects}
    for length in range(_MAX_CALLS):
        reached = [
            AvailableObject(f"{name}({argument}={text})", name, ())
            for name in among
            if name not in called_tools
            and (argument := _sole_identifier(graph, name)) is not None
            and (text := _argument_text(graph, name, argument, reached, {} if length else identifiers)) is not None
        ]
        called_tools.update(call.tool for call in reached)
        yield reached


def _sole_identifier(graph: ProtocolGraph, name: str) -> str | None:
    """The only required argument of a reading tool, if it is an identifier; else None."""
    tool = graph.protocol.tool(name)
    required = [parameter.argument for parameter in tool.arguments if parameter.required]
    alone = len(required) == 1 and not tool.writes and graph.reference(name, required[0]) is not None
    return required[0] if alone else None


def _argument_text(
    graph: ProtocolGraph, name: str, argument: str, reached: Sequence[AvailableObject], identifiers: Identifiers
) -> str | None:
    """The expression for a tool's argument from the reached objects, or None."""
    reference = graph.reference(name, argument)
    if reference is not None and reference in identifiers:
        return identifiers[reference]
    for available in reached:
        for source in graph.providers(name, argument, (available.tool,)):
            if source.header is None and source.path[: len(available.path)] == available.path:
                return available.text + source.accessor(len(available.path))
    return None


def _field_path(graph: ProtocolGraph, tool: str, name: str, among: Collection[str]) -> tuple[Step, ...] | None:
    """The outermost path of a field in a tool's response; None without one, or if it is nested and common."""
    places = graph.response_fields(tool).get(name)
    if not places:
        return None
    is_nested = len(_keys_without_wrappers(places[0])) > 1
    is_common = sum(name in graph.response_fields(tool_name) for tool_name in among) > _MAX_TOOLS_WITH_FIELD
    return None if is_nested and is_common else places[0]


def _keys_without_wrappers(path: tuple[Step, ...]) -> list[str]:
    """The keys of a path without wrappers such as "results"."""
    return [step for step in path if isinstance(step, str) and noun_of(step) not in WRAPPERS]
