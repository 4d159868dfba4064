"""Binds the body of a call: its properties or `body=` are checked, and become the bytes of one media type.

The other places of a request are bound in protocols.calls.binding, whose checks are used here.
"""

from __future__ import annotations

import typing
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from protocols.calls.bodies import encoded_body
from protocols.calls.schema_values import coerce, has_bytes
from protocols.calls.serialization import UnwritableError
from protocols.calls.text_forms import in_json
from protocols.documents.schemas import object_properties
from protocols.errors import ToolError
from protocols.media_types import family
from protocols.model import Body, Parameter, Schema, Tool

__all__ = ["NO_TEXT", "ArgumentChecks", "bound_body", "property_names", "whole_body"]

NO_TEXT = (
    "takes a text, and holds bytes that are no UTF-8; decode them with their encoding, or pass "
    "base64.b64encode(…).decode()"
)


class ArgumentChecks(typing.Protocol):
    """What the arguments of a call are checked with. Each method raises: ToolError."""

    @property
    def tool(self) -> Tool: ...
    @property
    def definitions(self) -> Mapping[str, Schema]: ...

    def value(self, parameter: Parameter, value: object, schema: Schema | None = None) -> object:
        """The value of an argument in the type that the schema asks for."""

    def refuse(self, parameter: Parameter, problem: str) -> NoReturn:
        """Say what is wrong with an argument."""

    def check_required(self, parameters: Iterable[Parameter], values: Mapping[str, object]) -> None:
        """See that none is missing."""

    def check_body(self, body: Body, content: object, called: str) -> None:
        """See that a body is what its schema asks for."""


def bound_body(
    checks: ArgumentChecks,
    body: Body,
    passed: Sequence[tuple[Parameter, object]],
    values: Mapping[str, object],
    whole: tuple[object, ...],
) -> tuple[dict[str, object], tuple[bytes, str] | None]:
    """The values of a body by argument, and its bytes with their Content-Type; None where none is sent.

    Args:
        passed: The arguments of the body. values: Those of the other places.
        whole: What `body=` passes, alone; empty without it.
    Raises: ToolError.
    """
    properties, needed = object_properties(body.schema)
    names = property_names(body)
    for parameter, _ in passed:
        if parameter.name not in names:
            checks.refuse(parameter, f"is no part of a body that is sent as {body.media_type}; leave it out")
    of_body: dict[str, object] = {}
    own: dict[str, object] = {}
    for parameter, value in passed:
        written = not parameter.name and _is_written(body, value)
        schema = properties.get(parameter.name, parameter.schema) if parameter.name else body.schema
        own[parameter.name] = value if written else checks.value(parameter, value, schema)
        of_body[parameter.argument] = own[parameter.name]
    if "" in own:
        content: object = own[""]
    elif whole:
        content = whole_body(checks, body, whole[0], own)
    else:
        if not properties:  # one argument is all of the body
            checks.check_required([p for p in checks.tool.arguments if p.location == "body"], {})
            return of_body, None
        own = {**_shared(checks.tool, needed, values, own), **own}
        by_name = {p.name: p for p in checks.tool.arguments if p.location == "body"}
        absent = [name for name in properties if name in needed and name in by_name and name not in own]
        checks.check_required([replace(by_name[name], required=True) for name in absent], {})
        content = own
        if body.schema.keys() & {"anyOf", "allOf", "not", "if", "minProperties", "dependentRequired"}:
            checks.check_body(body, content, "the body")
    if family(body.media_type) == "json" and has_bytes(content):
        for parameter, _ in passed:
            try:
                in_json(own[parameter.name], properties.get(parameter.name, parameter.schema))
            except ValueError:
                checks.refuse(parameter, NO_TEXT)
        content = in_json(content, body.schema)
    try:
        return of_body, encoded_body(body, content)
    except UnwritableError as error:
        of_field = [p for p in checks.tool.arguments if p.location == "body" and p.name == error.field != ""]
        if of_field:
            checks.refuse(of_field[0], str(error))
        name = next(iter(of_body)) if len(of_body) == 1 and "" in own else "body"
        raise ToolError(f"{checks.tool.name}(): {name} {error}", tool=checks.tool.name) from None


def whole_body(checks: ArgumentChecks, body: Body, whole: object, own: Mapping[str, object]) -> object:
    """The body that `body=` passes, with the properties beside it. Raises: ToolError."""
    content = coerce(whole, body.schema, checks.definitions)
    if own and not isinstance(content, dict):
        raise ToolError(f"{checks.tool.name}(): body= is not a dict, so {next(iter(own))!r} has no place in it")
    content = {**content, **own} if isinstance(content, dict) else content
    if not _is_written(body, content):
        checks.check_body(body, content, "body=")
    return content


def _shared(
    tool: Tool, needed: Collection[str], values: Mapping[str, object], own: Mapping[str, object]
) -> dict[str, object]:
    """Required properties of a body that were not passed, and have the value of the parameter of the same name."""
    named = {p.name: values[p.argument] for p in tool.parameters if p.argument in values}
    return {name: named[name] for name in sorted(needed) if name in named and name not in own}


def _is_written(body: Body, value: object) -> bool:
    """True for a body that the program has written itself: bytes, or the text of an XML document or a form."""
    return isinstance(value, str | bytes) and family(body.media_type) not in ("json", "yaml")


def property_names(body: Body) -> frozenset[str]:
    """The names of the arguments that a body takes: its properties, or "" for all of it."""
    properties, _ = object_properties(body.schema)
    return frozenset(properties) if properties else frozenset({""})
