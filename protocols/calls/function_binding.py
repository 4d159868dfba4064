"""Binds the call of a function: its arguments go as its signature takes them, and no request is laid out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from protocols.calls.call_errors import abbreviated, refused_call
from protocols.calls.schema_values import json_value, violation
from protocols.calls.serialization import BoundCall, as_base64
from protocols.errors import ToolError
from protocols.functions import plain
from protocols.functions.host_function import HostFunction
from protocols.model import Tool

__all__ = ["bind_function", "check_function_argument"]


def bind_function(
    tool: Tool, function: HostFunction, args: Sequence[object], kwargs: Mapping[str, object]
) -> BoundCall:
    """The arguments of a function as its signature takes them; nothing is converted but lists into tuples and the like.

    Raises: ToolError.
    """
    kinds = function.kinds
    unknown = next((name for name in kwargs if name not in kinds), None)
    if unknown is not None and not any(kind.name == "VAR_KEYWORD" for kind in kinds.values()):
        raise refused_call(tool, f"got an unexpected keyword argument {unknown!r}", kwargs, unknown)
    try:
        values = function.bind([json_value(value) for value in args], {n: json_value(v) for n, v in kwargs.items()})
    except TypeError as error:
        text = str(error).replace("missing a required", "missing 1 required")
        raise refused_call(tool, text.replace("too many", f"got {len(args)}, too many"), kwargs, missing=True) from None
    for name, value in values.items():
        check_function_argument(tool, function, name, value)
    content = json.dumps(values, ensure_ascii=False, default=as_base64).encode()
    return BoundCall(tool, values, tool.path, content=(content, "application/json"))


def check_function_argument(tool: Tool, function: HostFunction, name: str, value: object) -> None:
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
