"""The tools of a protocol as typed stubs: a function for each tool, a TypedDict for every object returned.

The types are those of the calling convention, which takes more than the document says: a number for its text, one value
for a list. Enum values are literals.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from atc.assist.check.function_stubs import function_stubs
from protocols.calls.binding import takes_null
from protocols.contracts.contract import ANY, Contract, ValueType
from protocols.functions.host_function import HostFunction
from protocols.json_path import Step, subscripts
from protocols.model import Parameter, Schema, Tool
from protocols.schema_fields import json_types

__all__ = ["ResponseObject", "Stubs", "write_stubs"]

HEAD = """from collections.abc import Mapping as _Mapping, Sequence as _Sequence
from datetime import date as _date, time as _time
from uuid import UUID as _UUID
from typing import Any, Literal, NotRequired, TypedDict
class ToolError(Exception):
    def __getattr__(self, name: str) -> Any: ...
"""

_ACCEPTED = {
    "integer": "float",
    "number": "float",
    "string": "str | float | bytes | _date | _time | _UUID",
    "boolean": "bool",
    "object": "_Mapping[str, object]",
}
"""The Python types accepted for a JSON type; texts of numbers are left to `atc.assist.check.diagnostics`."""

_SEVERAL = "list[Any] | tuple[Any, ...] | set[Any]"
"""One value may also come as a list; see `protocols.calls.binding.bind`."""

_ENTRIES = "_Sequence[_Mapping[str, object]] | _Mapping[str, object]"
"""The type accepted for a list of objects."""


@dataclass(frozen=True, slots=True)
class ResponseObject:
    """The object of a response that a stub class stands for, and its keys."""

    tool: str
    path: tuple[Step, ...]
    keys: tuple[str, ...]

    @property
    def text(self) -> str:
        """The object as a message names it."""
        return f"{self.tool}(…){subscripts(self.path)}"


@dataclass(slots=True)
class Stubs:
    """The text of a stub file. `returns` has the type of each tool's result, `objects` the object of each class."""

    text: str = ""
    returns: dict[str, str] = field(default_factory=dict)
    objects: dict[str, ResponseObject] = field(default_factory=dict)


def write_stubs(contract: Contract, tools: Iterable[str]) -> Stubs:
    """The stubs of some tools. Raises: KeyError: There is no such tool."""
    stubs = Stubs()
    classes: list[str] = []
    functions: list[str] = []
    callable_tools = dict.fromkeys(tools)
    for name in callable_tools:
        tool = contract.protocol.tool(name)
        if tool.function is not None and not tool.function.remote:
            continue
        shape = contract.body(name)
        stubs.returns[name] = _type(shape, tool, (), stubs, classes, {}) if shape is not None else "Any"
        signature = _signature(tool) if tool.function is None else _remote_signature(tool, tool.function)
        functions.append(f"def {name}({signature}) -> {stubs.returns[name]}: ...")
    python = function_stubs(
        tool for tool in map(contract.protocol.tool, callable_tools) if tool.name not in stubs.returns
    )
    stubs.text = "\n".join([HEAD, *python, *classes, *functions, ""])
    return stubs


def _type(
    shape: ValueType, tool: Tool, path: tuple[Step, ...], stubs: Stubs, classes: list[str], names: dict[int, str]
) -> str:
    if shape.kind == "list":
        return f"list[{_type(shape.item or ANY, tool, (*path, 0), stubs, classes, names)}]"
    if shape.kind != "object":
        return {"any": "Any"}.get(shape.kind, shape.kind)
    if not shape.keys:
        return "dict[str, Any]"
    if (class_name := names.get(id(shape))) is not None:
        return class_name
    name = names[id(shape)] = f"_T{len(stubs.objects)}"
    stubs.objects[name] = ResponseObject(tool.name, path, tuple(shape.keys))
    members = []
    for key, value in shape.keys.items():
        kind = _type(value.type, tool, (*path, key), stubs, classes, names)
        members.append(f"{json.dumps(key, ensure_ascii=False)}: {kind if value.certain else f'NotRequired[{kind}]'}")
    extra = ", extra_items=Any" if shape.open else ""
    classes.append(f"{name} = TypedDict({name!r}, {{{', '.join(members)}}}{extra})")
    return name


def _signature(tool: Tool) -> str:
    """The parameters of a tool; only path arguments may be positional."""
    parts = []
    named = False
    for parameter in tool.arguments:
        if parameter.location != "path" and not named:
            parts.append("*")
            named = True
        parts.append(_argument(parameter))
    if tool.body is not None and tool.argument("body") is None:
        parts += ([] if named else ["*"]) + ["body: Any = ..."]
    wire = {p.name for p in tool.arguments if p.name != p.argument and p.name.isidentifier()}
    wire -= {p.argument for p in tool.arguments} | set(keyword.kwlist)
    if wire:  # the name that goes over the wire is taken, too
        parts += ([] if named or "*" in parts else ["*"]) + [f"{name}: Any = ..." for name in sorted(wire)]
    return ", ".join(parts)


def _remote_signature(tool: Tool, function: HostFunction) -> str:
    """The parameters of a tool of a server; it may take others that it does not name."""
    parts = []
    for parameter in tool.arguments:
        others = function.kinds[parameter.argument].name == "VAR_KEYWORD"
        parts.append(f"**{parameter.argument}: Any" if others else _argument(parameter))
    return ", ".join(parts)


def _argument(parameter: Parameter) -> str:
    kind = accepted_type(parameter.schema)
    # What has another name on the wire may be written by either.
    optional = not parameter.required or parameter.name not in ("", parameter.argument)
    if optional:
        return f"{parameter.argument}: {kind} | None = ..."
    return f"{parameter.argument}: {kind} | None" if takes_null(parameter) else f"{parameter.argument}: {kind}"


def accepted_type(schema: Schema) -> str:
    """The type that an argument accepts."""
    values = schema.get("enum")
    if isinstance(values, list) and values and all(isinstance(value, str | int | bool) for value in values):
        return f"Literal[{', '.join(repr(value) for value in values)}] | {_SEVERAL}"
    kinds = json_types(schema)
    types = []
    for kind in kinds:
        items = schema.get("items") if kind == "array" else None
        if isinstance(items, Mapping) and items.get("properties") and len(kinds) == 1:
            return _ENTRIES
        types.append(accepted_type(items) if isinstance(items, Mapping) else _ACCEPTED.get(kind, "Any"))
    return f"{' | '.join(dict.fromkeys(types))} | {_SEVERAL}" if kinds and "Any" not in types else "Any"
