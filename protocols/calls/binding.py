"""The calling convention: `GET_search_person(query="Sofia Coppola")` is checked and becomes an HTTP request.

Prompts, hints, checks and records all use it. An error is raised before anything is sent, and its message helps to
repair the call: it names the nearest valid argument, the values allowed, the type expected.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from protocols.bounded import bounded
from protocols.calls.coercion import coerce, json_value, unsendable_part
from protocols.calls.constraints import abbreviated, violation
from protocols.calls.serialization import BoundCall, encoded_fields, filled_path, joined_value, query_pairs, wire_text
from protocols.errors import ToolError
from protocols.functions.host_function import HostFunction
from protocols.functions.values import plain
from protocols.model import SEPARATORS, Parameter, Schema, Tool
from protocols.naming import argument_name
from protocols.schema_fields import declared_types

__all__ = ["bind", "check_argument", "nearest_argument", "signature"]

_ABSENT: Any = object()


def signature(tool: Tool) -> str:
    """The function as a program sees it: `GET_search_person(query, page=None)`."""
    if tool.function is not None:
        return tool.function.usage
    inside = [p.argument if p.required else f"{p.argument}=None" for p in tool.arguments]
    return f"{tool.name}({', '.join(inside)})"


def bind(
    tool: Tool, args: Sequence[object], kwargs: Mapping[str, object], definitions: Mapping[str, Schema] | None = None
) -> BoundCall:
    """Check the arguments of a call and lay out its request.

    Path arguments may be positional, and those of a function as its signature has them. For an operation, `None` leaves
    an optional argument out, and strings and numbers or booleans are converted into each other if that loses nothing.
    `body=` passes a whole body; further properties override its own.

    Args:
        definitions: `Protocol.definitions`, to check recursive schemas.
    Raises: ToolError: An argument is unknown, missing or wrong; the message names the nearest valid one.
    """
    if tool.function is not None:
        return _bind_function(tool, tool.function, args, kwargs)
    with bounded():
        return _bind(tool, args, kwargs, definitions or {})


def _bind(
    tool: Tool, args: Sequence[object], kwargs: Mapping[str, object], definitions: Mapping[str, Schema]
) -> BoundCall:
    assigned, whole_body = _assign_arguments(tool, args, kwargs)
    values: dict[str, object] = {}
    for parameter in tool.arguments:
        if parameter.argument not in assigned:
            continue
        values[parameter.argument] = _check_value(tool, parameter, assigned[parameter.argument], definitions)
    body_complete = whole_body is not _ABSENT or _is_body_omitted(tool, values)
    for parameter in tool.arguments:
        if (
            parameter.required
            and parameter.argument not in values
            and not (body_complete and parameter.location == "body")
        ):
            raise _error(tool, f"missing 1 required argument: {parameter.argument!r}", kwargs, missing=True)
    body, sent = _bind_body(tool, values, whole_body, definitions)
    path = filled_path(tool, values)
    query: list[tuple[str, str]] = []
    headers: dict[str, str] = {}
    cookies: dict[str, str] = {}
    argument_names = {parameter.argument for parameter in tool.arguments}
    for parameter in tool.parameters:
        value = values.get(parameter.argument)
        if parameter.argument not in argument_names:  # a constant of the document
            value = parameter.schema.get("const")
        if value is None:
            continue
        if parameter.location == "query":
            query += query_pairs(parameter, value)
        elif parameter.location == "header":
            headers[parameter.name] = _check_single_line(tool, parameter, joined_value(parameter, value))
        elif parameter.location == "cookie":
            cookies[parameter.name] = _check_single_line(tool, parameter, joined_value(parameter, value))
    if whole_body is not _ABSENT:
        values["body"] = whole_body
    media_type = tool.body.media_type if tool.body is not None and sent else None
    return BoundCall(tool, values, path, tuple(query), headers, cookies, body if sent else None, media_type)


def _bind_function(
    tool: Tool, function: HostFunction, args: Sequence[object], kwargs: Mapping[str, object]
) -> BoundCall:
    """The arguments of a function as its signature takes them; nothing is converted but lists into tuples and the like.

    Raises: ToolError.
    """
    kinds = function.kinds
    unknown = next((name for name in kwargs if name not in kinds), None)
    if unknown is not None and not any(kind.name == "VAR_KEYWORD" for kind in kinds.values()):
        raise _error(tool, f"got an unexpected keyword argument {unknown!r}", kwargs, unknown)
    try:
        values = function.bind([json_value(value) for value in args], {n: json_value(v) for n, v in kwargs.items()})
    except TypeError as error:
        text = str(error).replace("missing a required", "missing 1 required")
        raise _error(tool, text.replace("too many", f"got {len(args)}, too many"), kwargs, missing=True) from None
    for name, value in values.items():
        _check_function_argument(tool, function, name, value)
    return BoundCall(tool, values, tool.path, body=values, media_type="application/json")


def _check_function_argument(tool: Tool, function: HostFunction, name: str, value: object) -> None:
    """Check one argument of a function. Raises: ToolError."""
    try:
        function.hints[name].convert(value)
    except (TypeError, ValueError) as error:
        schema = function.hints[name].schema
        problem = violation(plain(value), schema, {}) if schema.keys() <= {"type", "enum", "items"} else None
        text = str(error)
        refusal = (
            f"{text}, not {abbreviated(plain(value))}" if text.startswith("must be") and not function.remote else text
        )
        raise ToolError(f"{tool.name}(): argument {name!r} {problem or refusal}", tool=tool.name) from None


def check_argument(tool: Tool, argument: str, value: object, definitions: Mapping[str, Schema] | None = None) -> None:
    """Check one argument of a call alone. Raises: ToolError: It is unknown, or its value is wrong."""
    if tool.function is not None:
        if tool.argument(argument) is None:
            raise _error(tool, f"got an unexpected keyword argument {argument!r}", {}, argument)
        _check_function_argument(tool, tool.function, argument, json_value(value))
        return
    assigned, whole_body = _assign_arguments(tool, (), {argument: value})
    with bounded():
        for name in assigned:
            _check_value(tool, _argument(tool, name), assigned[name], definitions or {})
        if whole_body is not _ABSENT:
            _bind_body(tool, {}, whole_body, definitions or {})


def _assign_arguments(
    tool: Tool, args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[dict[str, object], Any]:
    """Values by argument name without absent ones, and the whole body if one was passed."""
    positional = tool.positional
    if len(args) > len(positional):
        names = ", ".join(parameter.argument for parameter in positional)
        only = f"only {names} may go without a name" if names else "all its arguments need their names"
        expected = f"{len(positional)} positional argument{'s' if len(positional) != 1 else ''}"
        verb = "was" if len(args) == 1 else "were"
        raise _error(tool, f"takes {expected} but {len(args)} {verb} given; {only}", kwargs)
    assigned: dict[str, object] = {}
    for parameter, value in zip(positional, args, strict=False):
        if parameter.argument in kwargs:
            raise _error(tool, f"got multiple values for argument {parameter.argument!r}", kwargs)
        assigned[parameter.argument] = value
    by_wire = {parameter.name: parameter.argument for parameter in reversed(tool.arguments) if parameter.name}
    fixed = {p.argument: p.schema["const"] for p in tool.parameters if "const" in p.schema}
    whole_body = _ABSENT
    for name, value in kwargs.items():
        if name == "body" and _is_whole_body(tool, value, kwargs):
            whole_body = _ABSENT if value is None else value
        elif tool.argument(name) is not None:
            assigned[name] = value
        elif name in by_wire and by_wire[name] not in kwargs:
            assigned[by_wire[name]] = value
        elif name not in fixed or fixed[name] != value:
            raise _error(tool, f"got an unexpected keyword argument {name!r}", kwargs, name)
    result = {}
    for name, value in assigned.items():
        parameter = _argument(tool, name)
        if value is None and not (parameter.required and "null" in declared_types(parameter.schema)):
            continue
        result[name] = value
    return result, whole_body


def _argument(tool: Tool, name: str) -> Parameter:
    parameter = tool.argument(name)
    assert parameter is not None
    return parameter


def _is_whole_body(tool: Tool, value: object, kwargs: Mapping[str, object]) -> bool:
    """True if `body=` means all of the body and not a property or parameter of that name."""
    if tool.body is None:
        return False
    own = tool.argument("body")
    if own is None or (own.location == "body" and not own.name):
        return own is None
    has_properties = any(p.location == "body" and p.argument in kwargs for p in tool.arguments if p is not own)
    types = declared_types(own.schema)
    return (
        own.location == "body"
        and isinstance(value, Mapping)
        and bool(types)
        and "object" not in types
        and not has_properties
    )


def _check_value(tool: Tool, parameter: Parameter, value: object, definitions: Mapping[str, Schema]) -> object:
    """The value in the type that the schema asks for. Raises: ToolError."""
    schema = parameter.schema
    value = json_value(value)
    foreign = unsendable_part(value)
    if foreign is not None:
        held = f"holds {abbreviated(foreign)}, which cannot be sent"
        raise ToolError(f"{tool.name}(): argument {parameter.argument!r} {held}", tool=tool.name)
    if parameter.location != "body":
        types = declared_types(schema)
        if isinstance(value, str) and "array" in types and "string" not in types:
            separator = SEPARATORS.get(parameter.style, ",")
            value = [value] if parameter.explode else value.split(separator)
        elif isinstance(value, list) and types and not {"array", "object"} & set(types):
            value = SEPARATORS.get(parameter.style, ",").join(map(wire_text, value))
    value = coerce(value, schema)
    if declared_types(schema) == ("array",) and parameter.argument != "body" and isinstance(value, str | int | float):
        value = coerce([value], schema)  # a value alone is a list of one
    problem = violation(value, schema, definitions)
    if problem is not None:
        raise ToolError(f"{tool.name}(): argument {parameter.argument!r} {problem}", tool=tool.name)
    return value


def _check_single_line(tool: Tool, parameter: Parameter, text: str) -> str:
    if any(char in text for char in "\r\n\0"):
        raise ToolError(f"{tool.name}(): argument {parameter.argument!r} must be one line of text", tool=tool.name)
    return text


def _bind_body(
    tool: Tool, values: dict[str, object], whole_body: Any, definitions: Mapping[str, Schema]
) -> tuple[object | None, bool]:
    """The body, and whether one is sent."""
    if tool.body is None:
        return None, False
    properties = {p.name: values[p.argument] for p in tool.arguments if p.location == "body" and p.argument in values}
    if "" in properties:
        return encoded_fields(tool, properties[""]), True
    if whole_body is not _ABSENT:
        whole_body = coerce(json_value(whole_body), tool.body.schema)
        if properties and not isinstance(whole_body, dict):
            raise ToolError(f"{tool.name}(): body= is not a dict, so {next(iter(properties))!r} has no place in it")
        body = {**whole_body, **properties} if isinstance(whole_body, dict) else whole_body
        problem = violation(body, tool.body.schema, definitions)
        if problem is not None:
            raise ToolError(f"{tool.name}(): body= {problem}", tool=tool.name)
        return encoded_fields(tool, body), True
    if not properties and not tool.body.required:
        return None, False
    body = {**_shared_properties(tool, values), **properties}
    if tool.body.schema.keys() & {"oneOf", "anyOf", "allOf", "not", "if", "minProperties", "dependentRequired"}:
        problem = violation(body, tool.body.schema, definitions)
        if problem is not None:
            raise ToolError(f"{tool.name}(): the body {problem}", tool=tool.name)
    return encoded_fields(tool, body), True


def _is_body_omitted(tool: Tool, values: Mapping[str, object]) -> bool:
    """True if no body is sent: it is optional, and no property of it was passed."""
    has_properties = any(parameter.location == "body" and parameter.argument in values for parameter in tool.arguments)
    return tool.body is not None and not tool.body.required and not has_properties


def _shared_properties(tool: Tool, values: Mapping[str, object]) -> dict[str, object]:
    """Required properties of a body whose value is the parameter of the same name."""
    assert tool.body is not None
    required = tool.body.schema.get("required")
    names = required if isinstance(required, list) and tool.body.required else []
    inside = {parameter.name for parameter in tool.arguments if parameter.location == "body"}
    return {name: values[argument_name(name)] for name in names if name not in inside and argument_name(name) in values}


def _error(
    tool: Tool, problem: str, kwargs: Mapping[str, object], unknown: str | None = None, missing: bool = False
) -> ToolError:
    """`GET_x() got an unexpected keyword argument 'name'; did you mean 'query'? It takes: query, page`."""
    names = [parameter.argument for parameter in tool.arguments]
    if tool.body is not None and any(p.location == "body" for p in tool.arguments) and "body" not in names:
        names.append("body")
    free = [name for name in names if name not in kwargs]
    nearest = nearest_argument(tool, unknown, free) if unknown is not None else None
    end = f"; did you mean {nearest!r}?" if nearest else "."
    takes = f"It takes: {', '.join(names)}" if names else "It takes no arguments"
    usage = f"It is called as {signature(tool)}" if missing else takes
    return ToolError(f"{tool.name}() {problem}{end} {usage}", tool=tool.name)


def nearest_argument(tool: Tool, unknown: str, names: Sequence[str]) -> str | None:
    """The argument that was probably meant: similar in spelling, else the only required one that is missing."""
    lowered = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(unknown.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return lowered[close[0]]
    words = set(unknown.lower().split("_"))
    sharing = [name for name in names if words & set(name.lower().split("_"))]
    if len(sharing) == 1:
        return sharing[0]
    needed = [p.argument for p in tool.arguments if p.required and p.argument in names]
    return needed[0] if len(needed) == 1 else None
