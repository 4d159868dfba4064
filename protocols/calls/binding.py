"""The calling convention: `GET_search_person(query="Sofia Coppola")` is checked and becomes an HTTP request.

Prompts, hints, checks and records all use it. An error is raised before anything is sent, and its message helps to
repair the call: it names the nearest valid argument, the values allowed, the type expected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn
from urllib.parse import quote

from protocols.bounded import bounded
from protocols.calls.schema_values import (
    Doubt,
    coerce,
    has_bytes,
    json_value,
    named_files,
    unsendable_part,
    violation,
)
from protocols.calls.serialization import (
    BoundCall,
    Pair,
    UnwritableError,
    filled_path,
    query_pairs,
    wire_text,
)
from protocols.errors import DoubtfulCall, ToolError
from protocols.media_types import essence
from protocols.model import SEPARATORS, Body, Parameter, Schema, Tool
from protocols.schema_fields import declared_types

__all__ = ["bind", "check_argument", "takes_null"]

_ABSENT: Any = object()
_NO_NULL = "is None, and the document does not say that it may be null; leave it out to keep what is there"
_MOST_DOUBTS = 10


def bind(
    tool: Tool,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    definitions: Mapping[str, Schema] | None = None,
    *,
    insists: bool = False,
) -> BoundCall:
    """Check the arguments of a call and lay out its request.

    Path arguments may be positional, and those of a function as its signature has them. For an operation, `None` leaves
    an optional argument out, but for a property of a body that may be null, which it sets to null (in a PATCH one that
    may not be is doubtful). Strings and numbers or booleans are converted into each other if that loses nothing, and
    times into the documented form. `body=` passes a whole body; further properties override its own. Of several media
    types the first is sent that takes the arguments.

    Args:
        definitions: `Protocol.definitions`, to check recursive schemas.
        insists: Send also what only the document speaks against (see `DoubtfulCall`).
    Raises: ToolError: An argument is unknown, missing or wrong; the message names the nearest valid one. DoubtfulCall:
        only the document speaks against it.
    """
    if tool.function is not None:
        from protocols.calls.function_binding import bind_function

        return bind_function(tool, tool.function, args, kwargs)
    binder = _Binder(tool, kwargs, definitions or {}, insists)
    with bounded():
        bound = binder.bind(args)
    binder.tell_doubts()
    return bound


@dataclass(frozen=True, slots=True)
class _Binder:
    """Binds one call of an operation; `doubts` gets what only the document says against it.

    It is the `ArgumentChecks` of a body (see protocols.calls.body_binding).
    """

    tool: Tool
    kwargs: Mapping[str, object]
    definitions: Mapping[str, Schema]
    insists: bool = False
    doubts: list[str] = field(default_factory=list)

    def bind(self, args: Sequence[object]) -> BoundCall:
        tool = self.tool
        assigned, whole_body = _assign_arguments(tool, args, self.kwargs)
        values = {
            parameter.argument: self.value(parameter, assigned[parameter.argument])
            for parameter in tool.arguments
            if parameter.argument in assigned and parameter.location != "body"
        }
        self.check_required([p for p in tool.arguments if p.location != "body"], values)
        of_body, content = self._body(assigned, values, whole_body)
        path = filled_path(tool, values)
        query, headers, cookies = self._places(values)
        ordered = {p.argument: {**values, **of_body}[p.argument] for p in tool.arguments if p.argument in assigned}
        if whole_body is not _ABSENT and tool.body is not None:
            ordered["body"] = coerce(whole_body, tool.body.schema)
        pairs = tuple((pair.name, pair.text) for pair in query)
        written = "&".join(f"{quote(pair.name, safe='')}={pair.written}" for pair in query)
        return BoundCall(tool, ordered, path, pairs, written, headers, cookies, content)

    def tell_doubts(self) -> None:
        """Raises: DoubtfulCall: The document speaks against the call."""
        if doubts := list(dict.fromkeys(self.doubts))[:_MOST_DOUBTS]:
            from protocols.calls.call_errors import together

            raise DoubtfulCall(together(self.tool, doubts), tool=self.tool.name, problems=doubts)

    def value(self, parameter: Parameter, value: object, schema: Schema | None = None) -> object:
        """The value of an argument in the type that the schema asks for. Raises: ToolError."""
        schema = parameter.schema if schema is None else schema
        value = named_files(value, schema)
        if value == "" and parameter.empty:
            return value
        if value is None and parameter.location == "body":
            if not (takes_null(parameter) or _is_merge_patch(self.tool)):
                self._object(f"argument {parameter.argument!r}", Doubt(_NO_NULL))
            return None
        if (foreign := unsendable_part(value)) is not None:
            from protocols.calls.call_errors import abbreviated

            self.refuse(parameter, f"holds {abbreviated(foreign)}, which cannot be sent")
        if parameter.location != "body":
            types = declared_types(schema)
            if isinstance(value, str) and "array" in types and "string" not in types:
                separator = SEPARATORS.get(parameter.style, ",")
                value = [value] if parameter.explode else value.split(separator)
            elif isinstance(value, list) and types and not {"array", "object"} & set(types):
                value = SEPARATORS.get(parameter.style, ",").join(map(wire_text, value))
        value = coerce(value, schema, self.definitions)
        is_list = set(declared_types(schema)) - {"null"} == {"array"} and parameter.argument != "body"
        if is_list and isinstance(value, str | int | float | bytes):
            value = coerce([value], schema, self.definitions)  # a value alone is a list of one
        if parameter.location != "body" and has_bytes(value):
            from protocols.calls.body_binding import NO_TEXT

            self.refuse(parameter, NO_TEXT)
        merges = parameter.location == "body" and _is_merge_patch(self.tool)
        problem = violation(_without_nulls(value) if merges else value, schema, self.definitions)
        if problem is not None:
            self._object(f"argument {parameter.argument!r}", problem)
        return value

    def refuse(self, parameter: Parameter, problem: str) -> NoReturn:
        """Say what is wrong with an argument. Raises: ToolError."""
        raise ToolError(f"{self.tool.name}(): argument {parameter.argument!r} {problem}", tool=self.tool.name)

    def _object(self, called: str, problem: str) -> None:
        """Raises: ToolError: It is not the document alone that speaks against a value."""
        message = f"{self.tool.name}(): {called} {problem}"
        if not isinstance(problem, Doubt):
            raise ToolError(message, tool=self.tool.name)
        self._doubt(message)

    def _doubt(self, message: str) -> None:
        if not self.insists:
            self.doubts.append(message)

    def check_required(self, parameters: Iterable[Parameter], values: Mapping[str, object]) -> None:
        """See that none is missing. Raises: ToolError."""
        for parameter in parameters:
            if parameter.required and parameter.argument not in values:
                problem = f"missing 1 required argument: {parameter.argument!r}"
                error = _refused(self.tool, problem, self.kwargs, missing=True)
                if parameter.location == "path":
                    raise error
                self._doubt(str(error))

    def _places(self, values: Mapping[str, object]) -> tuple[list[Pair], dict[str, str], dict[str, str]]:
        """The query, headers and cookies. Raises: ToolError: A value has no form there."""
        query: list[Pair] = []
        headers: dict[str, str] = {}
        cookies: dict[str, str] = {}
        argument_names = {parameter.argument for parameter in self.tool.arguments}
        for parameter in self.tool.parameters:
            value = values.get(parameter.argument)
            if parameter.argument not in argument_names:  # a constant of the document
                value = parameter.schema.get("const")
            if value is None:
                continue
            try:
                if parameter.location == "query":
                    query += query_pairs(parameter, value)
                elif parameter.location == "header":
                    from protocols.calls.header_values import joined_value

                    headers[parameter.name] = joined_value(parameter, value)
                elif parameter.location == "cookie":
                    from protocols.calls.header_values import cookie_values

                    cookies |= cookie_values(parameter, value)
            except UnwritableError as error:
                self.refuse(parameter, str(error))
        return query, headers, cookies

    # The body

    def _body(
        self, assigned: Mapping[str, object], values: Mapping[str, object], whole: Any
    ) -> tuple[dict[str, object], tuple[bytes, str] | None]:
        """The values of the body by argument, and its bytes with their Content-Type; None where none is sent.

        Of several media types it is the first that takes the arguments, else the first. Raises: ToolError.
        """
        tool = self.tool
        passed = [(p, assigned[p.argument]) for p in tool.arguments if p.location == "body" and p.argument in assigned]
        if tool.body is None or (not tool.body.required and not passed and whole is _ABSENT):
            return {}, None
        from protocols.calls.body_binding import bound_body, property_names

        wholes = () if whole is _ABSENT else (whole,)
        names = {parameter.name for parameter, _ in passed}
        bodies = sorted((tool.body, *tool.body.others), key=lambda body: not names <= property_names(body))
        for body in bodies:
            trial = replace(self, doubts=[])
            with suppress(ToolError):
                written = bound_body(trial, body, passed, values, wholes)
                if not trial.doubts:
                    return written
        return bound_body(self, bodies[0], passed, values, wholes)

    def check_body(self, body: Body, content: object, called: str) -> None:
        """See that a body is what its schema asks for. Raises: ToolError."""
        merges = _is_merge_patch(self.tool)
        problem = violation(_without_nulls(content) if merges else content, body.schema, self.definitions)
        if problem is not None:
            self._object(called, problem)


def _is_merge_patch(tool: Tool) -> bool:
    """True if null removes a member, whatever its schema says (RFC 7396)."""
    return tool.body is not None and essence(tool.body.media_type) == "application/merge-patch+json"


def _without_nulls(value: object) -> object:
    """The value without members that are None, at any depth."""
    if isinstance(value, Mapping):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def check_argument(tool: Tool, argument: str, value: object, definitions: Mapping[str, Schema] | None = None) -> None:
    """Check one argument of a call alone, which the tool has. Raises: ToolError: Its value is wrong."""
    if tool.function is not None:
        from protocols.calls.function_binding import check_function_argument

        check_function_argument(tool, tool.function, argument, json_value(value))
        return
    assigned, passed_body = _assign_arguments(tool, (), {argument: value})
    binder = _Binder(tool, {}, definitions or {})
    with bounded():
        for name in assigned:
            binder.value(_argument(tool, name), assigned[name])
        if passed_body is not _ABSENT and tool.body is not None:
            from protocols.calls.body_binding import whole_body

            whole_body(binder, tool.body, passed_body, {})
    binder.tell_doubts()


def _assign_arguments(
    tool: Tool, args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[dict[str, object], Any]:
    """Values of JSON by argument name without absent ones, and the whole body if one was passed."""
    kwargs = {name: json_value(value) for name, value in kwargs.items()}
    positional = tool.positional
    if len(args) > len(positional):
        names = ", ".join(parameter.argument for parameter in positional)
        only = f"only {names} may go without a name" if names else "all its arguments need their names"
        expected = f"{len(positional)} positional argument{'s' if len(positional) != 1 else ''}"
        verb = "was" if len(args) == 1 else "were"
        raise _refused(tool, f"takes {expected} but {len(args)} {verb} given; {only}", kwargs)
    assigned: dict[str, object] = {}
    for parameter, value in zip(positional, args, strict=False):
        if parameter.argument in kwargs:
            raise _refused(tool, f"got multiple values for argument {parameter.argument!r}", kwargs)
        assigned[parameter.argument] = json_value(value)
    by_wire = {parameter.name: parameter.argument for parameter in reversed(tool.arguments) if parameter.name}
    fixed = {p.argument: p.schema["const"] for p in tool.parameters if "const" in p.schema}
    whole_body = _ABSENT
    for name, value in kwargs.items():
        if name == "body" and tool.body is not None and _is_whole_body(tool, value, kwargs):
            is_absent = value is None and "null" not in declared_types(tool.body.schema)
            whole_body = _ABSENT if is_absent else value
        elif tool.argument(name) is not None:
            assigned[name] = value
        elif name in by_wire and by_wire[name] not in kwargs:
            assigned[by_wire[name]] = value
        elif name not in fixed or fixed[name] != value:
            raise _refused(tool, f"got an unexpected keyword argument {name!r}", kwargs, name)
    result = {}
    for name, value in assigned.items():
        parameter = _argument(tool, name)
        may_remove = parameter.location == "body" and tool.method == "PATCH"
        if value is not None or may_remove or takes_null(parameter):
            result[name] = value
    return result, whole_body


def _refused(
    tool: Tool, problem: str, kwargs: Mapping[str, object], unknown: str | None = None, missing: bool = False
) -> ToolError:
    from protocols.calls.call_errors import refused_call

    return refused_call(tool, problem, kwargs, unknown, missing)


def takes_null(parameter: Parameter) -> bool:
    """True if None is a value: null in a body, and for a parameter that must be there."""
    if parameter.location != "body":
        return parameter.required and "null" in declared_types(parameter.schema)
    if not parameter.name and not parameter.schema:  # of a body that is not described, None is nothing
        return False
    return violation(None, parameter.schema, {}) is None


def _argument(tool: Tool, name: str) -> Parameter:
    parameter = tool.argument(name)
    assert parameter is not None
    return parameter


def _is_whole_body(tool: Tool, value: object, kwargs: Mapping[str, object]) -> bool:
    """True if `body=` means all of the body and not a property or parameter of that name."""
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
