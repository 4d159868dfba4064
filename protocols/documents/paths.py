"""Paths as documents write them: variables that span segments, and a query within the key of a path."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from urllib.parse import parse_qsl

from protocols.errors import ProtocolError
from protocols.model import Parameter, Schema
from protocols.naming import argument_name

__all__ = ["VARIABLE", "plain_path", "reserved", "spanning_variables", "with_fixed_query", "without_query_template"]

VARIABLE = re.compile(r"\{([^{}]*)\}")
_EXPANSION = re.compile(r"(?P<sign>\+|\*{1,2}|)(?P<name>[^*+:=]+?)(?P<end>\*|\+|\.\.\.|)([:=](?P<pattern>.*))?")
"""A path variable of a dialect: `{+path}`, `{path*}`, `{proxy+}`, `{**path}`, `{path:.+}`, `{name=projects/*}`."""

_QUERY_TEMPLATE = re.compile(r"\{[?&]([^{}]*)\}")

_SPANNING = re.compile(r"\^?\(?(\.[*+]|path)\)?\$?|.*(/|\*\*).*")
"""The pattern of a variable whose value may have slashes."""


def plain_path(path: str) -> str:
    """A path whose variables have but their names: `/files/{+path}` is `/files/{path}`."""
    return VARIABLE.sub(lambda variable: f"{{{_variable_name(variable[1])}}}", path)


def without_query_template(path: str) -> tuple[str, tuple[str, ...]]:
    """A path without the query of a URI template, and its names: `/j/{id}{?page,size}` is `/j/{id}` (RFC 6570)."""
    written = ",".join(_QUERY_TEMPLATE.findall(path)).split(",")
    names = dict.fromkeys(name.partition(":")[0].strip(" *") for name in written)
    return _QUERY_TEMPLATE.sub("", path), tuple(filter(None, names))


def _variable_name(written: str) -> str:
    match = _EXPANSION.fullmatch(written)
    return match["name"] if match else written


def spanning_variables(path: str) -> Iterator[str]:
    """The names of the variables of a path whose values may have slashes."""
    for written in VARIABLE.findall(path):
        match = _EXPANSION.fullmatch(written)
        if match and (match["sign"] in ("+", "*", "**") or match["end"] or _SPANNING.fullmatch(match["pattern"] or "")):
            yield match["name"]


def reserved(parameter: Parameter, spanning: Collection[str]) -> Parameter:
    """The parameter, spanning segments if its path or its pattern says so."""
    if parameter.location != "path" or parameter.reserved:
        return parameter
    pattern = str(parameter.schema.get("pattern") or "")
    spans = parameter.name in spanning or _SPANNING.fullmatch(pattern.strip("^$")) is not None
    return replace(parameter, reserved=True) if spans else parameter


def with_fixed_query(
    parameters: Mapping[tuple[str, str], Parameter], query: str, optional: Collection[str] = ()
) -> dict[tuple[str, str], Parameter]:
    """The parameters with those of a query in the key of a path: `/items?kind=a&q={q}`; `optional`: of its template."""
    result = dict(parameters)
    for name in optional:
        if ("query", name) not in result:
            result["query", name] = Parameter(
                name, argument_name(name), "query", False, {"type": "string"}, style="form", explode=True
            )
    for name, value in parse_qsl(query, keep_blank_values=True):
        variable = VARIABLE.fullmatch(value)
        if variable is None:
            fixed: Schema = {"type": "string", "const": value}
            result["query", name] = Parameter(
                name, argument_name(name), "query", True, fixed, style="form", explode=True
            )
            continue
        described = result.pop(("path", variable[1]), None) or result.get(("query", name))
        if described is None:
            raise ProtocolError(f"the path holds {{{variable[1]}}}, which no parameter describes")
        result["query", name] = replace(described, name=name, location="query", style="form", explode=True)
    return result
