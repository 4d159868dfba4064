"""What a saved program relies on in an API, and what of that a later document no longer has."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from atc.program.def_use import DefUse, calling
from atc.program.source import called_tool, calls_of
from protocols.json_path import Step, readable_path
from protocols.model import Protocol, Schema, Tool
from protocols.schema_fields import items_of, properties_of, resolve, type_of
from sandbox.records import Run

__all__ = ["ToolContract", "broken_contracts", "contracts_of"]


@dataclass(frozen=True, slots=True)
class ToolContract:
    """What a program relies on in a tool. `arguments` are those that it passes, with their types; `required` those
    that the tool asked for. `fields` are the paths in its response that the program reads, of those that end in a key
    which the document declares, with their types; 0 stands for any item. A type is "" where the document names none,
    or several.
    """

    method: str
    path: str
    required: tuple[str, ...]
    arguments: Mapping[str, str]
    fields: Mapping[tuple[Step, ...], str]


def contracts_of(tree: ast.Module, protocol: Protocol, run: Run | None) -> dict[str, ToolContract]:
    """What a program relies on, by the name of the tool; `run` adds what its run read."""
    tools = {tool.name: tool for tool in protocol.tools}
    paths = _paths_read(tree, tools, run)
    passed: dict[str, dict[str, str]] = {}
    for call, name in calls_of(tree, tools):
        passed.setdefault(name, {}).update(_passed_arguments(call, tools[name]))
    for record in run.calls if run is not None else ():
        if record.tool in tools:
            tool = tools[record.tool]
            arguments = passed.setdefault(record.tool, {})
            arguments |= {
                argument: type_of(parameter.schema)
                for argument in record.arguments
                if (parameter := tool.argument(argument)) is not None and not parameter.is_idempotency_key
            }
    return {
        name: ToolContract(
            tools[name].method,
            tools[name].path,
            tuple(parameter.argument for parameter in tools[name].arguments if parameter.required),
            arguments,
            {
                path: type_of(resolve(schema, protocol))
                for path in paths.get(name, ())
                if path and isinstance(path[-1], str) and (schema := _at(tools[name], protocol, path)) is not None
            },
        )
        for name, arguments in sorted(passed.items())
    }


def broken_contracts(contracts: Mapping[str, ToolContract], protocol: Protocol) -> list[str]:
    """What a document no longer has of what a program relies on: a line for each tool, argument and field."""
    tools = {tool.name: tool for tool in protocol.tools}
    problems: list[str] = []
    for name, contract in contracts.items():
        tool = tools.get(name)
        if tool is None:
            problems.append(f"{name} ({contract.method} {contract.path}) is no tool of the API any more")
            continue
        if (tool.method, tool.path) != (contract.method, contract.path):
            problems.append(f"{name} was {contract.method} {contract.path} and is {tool.method} {tool.path} now")
        problems += _broken_arguments(name, contract, tool)
        for path, kind in contract.fields.items():
            field = _at(tool, protocol, path)
            if field is None:
                problems.append(f"{name}: its response has no `{readable_path(path)}` any more")
            elif kind and (now := type_of(resolve(field, protocol))) and now != kind:
                problems.append(f"{name}: `{readable_path(path)}` of its response was {kind} and is {now} now")
    return problems


def _broken_arguments(name: str, contract: ToolContract, tool: Tool) -> Iterator[str]:
    for argument, kind in contract.arguments.items():
        parameter = tool.argument(argument)
        if parameter is None:
            yield f"{name} has no argument {argument!r} any more"
        elif kind and (now := type_of(parameter.schema)) and now != kind:
            yield f"{name}: its argument {argument!r} was {kind} and is {now} now"
    for parameter in tool.arguments:
        if parameter.required and parameter.argument not in {*contract.required, *contract.arguments}:
            yield f"{name} now requires the argument {parameter.argument!r}"


def _passed_arguments(call: ast.Call, tool: Tool) -> dict[str, str]:
    """The arguments that a call passes, with their types."""
    positional = [parameter.argument for parameter in tool.positional][: len(call.args)]
    names = [*positional, *(word.arg for word in call.keywords if word.arg is not None)]
    return {
        parameter.argument: type_of(parameter.schema)
        for name in names
        if (parameter := tool.argument(name)) is not None
    }


def _paths_read(
    tree: ast.Module, tools: Mapping[str, Tool], run: Run | None
) -> dict[str, dict[tuple[Step, ...], None]]:
    """The paths that a program reads, by tool: by its text, and by the values that its run took."""
    flow = DefUse(tree)
    read: list[tuple[str | None, tuple[Step, ...]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript | ast.Call) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            read += [(called_tool(origin.call), origin.path) for origin in flow.origins(node, calling(tools))]
    provenance = run.provenance if run is not None else None
    if run is not None and provenance is not None:
        passed = [source for sources in provenance.arguments.values() for each in sources.values() for source in each]
        read += [(run.calls[source.call].tool, source.path) for source in (*provenance.printed, *passed)]
    paths: dict[str, dict[tuple[Step, ...], None]] = {}
    for tool, path in read:
        if tool is not None:
            paths.setdefault(tool, {})[tuple(0 if isinstance(step, int) else step for step in path)] = None
    return paths


def _at(tool: Tool, protocol: Protocol, path: tuple[Step, ...]) -> Schema | None:
    """The schema at a path of a tool's response; None where the document declares nothing there."""
    schema = tool.response_schema
    for step in path:
        if schema is None:
            return None
        schema = resolve(schema, protocol)
        schema = items_of(schema, protocol) if isinstance(step, int) else properties_of(schema, protocol).get(step)
    return schema
