"""The calling convention: `GET_search_person(query="Sofia Coppola")` is checked and becomes an HTTP request.

Prompts, hints, checks and records all use it. An error is raised before anything is sent, and its message helps to
repair the call: it names the nearest valid argument, the values allowed, the type expected.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote

from protocols.bounded import bounded
from protocols.calls.schema_values import (
    Doubt,
    abbreviated,
    coerce,
    has_bytes,
    in_json,
    json_value,
    named_files,
    unsendable_part,
    violation,
)
from protocols.calls.serialization import (
    BoundCall,
    Pair,
    UnwritableError,
    as_base64,
    cookie_values,
    filled_path,
    joined_value,
    query_pairs,
    wire_text,
)
from protocols.documents.schemas import object_properties
from protocols.errors import DoubtfulCall, ToolError
from protocols.functions import plain
from protocols.media_types import essence, family
from protocols.model import SEPARATORS, Body, Parameter, Schema, Tool
from protocols.schema_fields import declared_types

if TYPE_CHECKING:
    from protocols.functions.host_function import HostFunction

__all__ = ["bind", "check_argument", "nearest_argument", "signature", "takes_null"]

_ABSENT: Any = object()
_NO_NULL = "is None, and the document does not say that it may be null; leave it out to keep what is there"
_MOST_DOUBTS = 10
_USAGE = ". It is called as "
_NO_TEXT = (
    "takes a text, and holds bytes that are no UTF-8; decode them with their encoding, or pass "
    "base64.b64encode(…).decode()"
)


def signature(tool: Tool) -> str:
    """The function as a program sees it: `GET_search_person(query, page=None)`."""
    if tool.function is not None:
        return tool.function.usage
    inside = [p.argument if p.required else f"{p.argument}=None" for p in tool.arguments]
    return f"{tool.name}({', '.join(inside)})"


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
        return _bind_function(tool, tool.function, args, kwargs)
    binder = _Binder(tool, kwargs, definitions or {}, insists)
    with bounded():
        bound = binder.bind(args)
    binder.tell_doubts()
    return bound


def _together(tool: Tool, doubts: Sequence[str]) -> str:
    """One message for all that the document says against a call."""
    if len(doubts) == 1:
        return doubts[0]
    parts = [text.removeprefix(f"{tool.name}()").lstrip(": ").partition(_USAGE) for text in doubts]
    usage = next((f"{_USAGE}{usage}" for _, _, usage in parts if usage), "")
    return f"{tool.name}(): {'; '.join(problem for problem, _, _ in parts)}{usage}"


@dataclass(frozen=True, slots=True)
class _Binder:
    """Binds one call of an operation; `doubts` gets what only the document says against it."""

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
        self._check_required([p for p in tool.arguments if p.location != "body"], values)
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
            raise DoubtfulCall(_together(self.tool, doubts), tool=self.tool.name, problems=doubts)

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
            self._refuse(parameter, f"holds {abbreviated(foreign)}, which cannot be sent")
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
            self._refuse(parameter, _NO_TEXT)
        merges = parameter.location == "body" and _is_merge_patch(self.tool)
        problem = violation(_without_nulls(value) if merges else value, schema, self.definitions)
        if problem is not None:
            self._object(f"argument {parameter.argument!r}", problem)
        return value

    def _refuse(self, parameter: Parameter, problem: str) -> NoReturn:
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

    def _check_required(self, parameters: Iterable[Parameter], values: Mapping[str, object]) -> None:
        for parameter in parameters:
            if parameter.required and parameter.argument not in values:
                problem = f"missing 1 required argument: {parameter.argument!r}"
                error = _error(self.tool, problem, self.kwargs, missing=True)
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
                    headers[parameter.name] = joined_value(parameter, value)
                elif parameter.location == "cookie":
                    cookies |= cookie_values(parameter, value)
            except UnwritableError as error:
                self._refuse(parameter, str(error))
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
        names = {parameter.name for parameter, _ in passed}
        bodies = sorted((tool.body, *tool.body.others), key=lambda body: not names <= _property_names(body))
        for body in bodies:
            trial = replace(self, doubts=[])
            with suppress(ToolError):
                written = trial._body_in(body, passed, values, whole)
                if not trial.doubts:
                    return written
        return self._body_in(bodies[0], passed, values, whole)

    def _body_in(
        self, body: Body, passed: Sequence[tuple[Parameter, object]], values: Mapping[str, object], whole: Any
    ) -> tuple[dict[str, object], tuple[bytes, str] | None]:
        """The same in one media type. Raises: ToolError."""
        properties, needed = object_properties(body.schema)
        names = _property_names(body)
        for parameter, _ in passed:
            if parameter.name not in names:
                self._refuse(parameter, f"is no part of a body that is sent as {body.media_type}; leave it out")
        of_body: dict[str, object] = {}
        own: dict[str, object] = {}
        for parameter, value in passed:
            written = not parameter.name and _is_written(body, value)
            schema = properties.get(parameter.name, parameter.schema) if parameter.name else body.schema
            own[parameter.name] = value if written else self.value(parameter, value, schema)
            of_body[parameter.argument] = own[parameter.name]
        if "" in own:
            content: object = own[""]
        elif whole is not _ABSENT:
            content = self.whole_body(body, whole, own)
        else:
            if not properties:  # one argument is all of the body
                self._check_required([p for p in self.tool.arguments if p.location == "body"], {})
                return of_body, None
            own = {**self._shared(needed, values, own), **own}
            by_name = {p.name: p for p in self.tool.arguments if p.location == "body"}
            absent = [name for name in properties if name in needed and name in by_name and name not in own]
            self._check_required([replace(by_name[name], required=True) for name in absent], {})
            content = own
            if body.schema.keys() & {"anyOf", "allOf", "not", "if", "minProperties", "dependentRequired"}:
                self._check_body(body, content, "the body")
        if family(body.media_type) == "json" and has_bytes(content):
            for parameter, _ in passed:
                try:
                    in_json(own[parameter.name], properties.get(parameter.name, parameter.schema))
                except ValueError:
                    self._refuse(parameter, _NO_TEXT)
            content = in_json(content, body.schema)
        from protocols.calls.bodies import encoded_body

        try:
            return of_body, encoded_body(body, content)
        except UnwritableError as error:
            of_field = [p for p in self.tool.arguments if p.location == "body" and p.name == error.field != ""]
            if of_field:
                self._refuse(of_field[0], str(error))
            name = next(iter(of_body)) if len(of_body) == 1 and "" in own else "body"
            raise ToolError(f"{self.tool.name}(): {name} {error}", tool=self.tool.name) from None

    def whole_body(self, body: Body, whole: Any, own: Mapping[str, object]) -> object:
        """The body that `body=` passes, with the properties beside it. Raises: ToolError."""
        content = coerce(whole, body.schema, self.definitions)
        if own and not isinstance(content, dict):
            raise ToolError(f"{self.tool.name}(): body= is not a dict, so {next(iter(own))!r} has no place in it")
        content = {**content, **own} if isinstance(content, dict) else content
        if not _is_written(body, content):
            self._check_body(body, content, "body=")
        return content

    def _check_body(self, body: Body, content: object, called: str) -> None:
        merges = _is_merge_patch(self.tool)
        problem = violation(_without_nulls(content) if merges else content, body.schema, self.definitions)
        if problem is not None:
            self._object(called, problem)

    def _shared(
        self, needed: Collection[str], values: Mapping[str, object], own: Mapping[str, object]
    ) -> dict[str, object]:
        """Required properties of a body that were not passed, and have the value of the parameter of the same name."""
        named = {p.name: values[p.argument] for p in self.tool.parameters if p.argument in values}
        return {name: named[name] for name in sorted(needed) if name in named and name not in own}


def _is_written(body: Body, value: object) -> bool:
    """True for a body that the program has written itself: bytes, or the text of an XML document or a form."""
    return isinstance(value, str | bytes) and family(body.media_type) not in ("json", "yaml")


def _property_names(body: Body) -> frozenset[str]:
    """The names of the arguments that a body takes: its properties, or "" for all of it."""
    properties, _ = object_properties(body.schema)
    return frozenset(properties) if properties else frozenset({""})


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
    content = json.dumps(values, ensure_ascii=False, default=as_base64).encode()
    return BoundCall(tool, values, tool.path, content=(content, "application/json"))


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
    """Check one argument of a call alone, which the tool has. Raises: ToolError: Its value is wrong."""
    if tool.function is not None:
        _check_function_argument(tool, tool.function, argument, json_value(value))
        return
    assigned, whole_body = _assign_arguments(tool, (), {argument: value})
    binder = _Binder(tool, {}, definitions or {})
    with bounded():
        for name in assigned:
            binder.value(_argument(tool, name), assigned[name])
        if whole_body is not _ABSENT and tool.body is not None:
            binder.whole_body(tool.body, whole_body, {})
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
        raise _error(tool, f"takes {expected} but {len(args)} {verb} given; {only}", kwargs)
    assigned: dict[str, object] = {}
    for parameter, value in zip(positional, args, strict=False):
        if parameter.argument in kwargs:
            raise _error(tool, f"got multiple values for argument {parameter.argument!r}", kwargs)
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
            raise _error(tool, f"got an unexpected keyword argument {name!r}", kwargs, name)
    result = {}
    for name, value in assigned.items():
        parameter = _argument(tool, name)
        may_remove = parameter.location == "body" and tool.method == "PATCH"
        if value is not None or may_remove or takes_null(parameter):
            result[name] = value
    return result, whole_body


def takes_null(parameter: Parameter) -> bool:
    """True if None is a value: null in a body, and for a parameter that must be there."""
    if parameter.location != "body":
        return parameter.required and "null" in declared_types(parameter.schema)
    if not parameter.name and not parameter.schema:  # of a body that is not described, None is nothing
        return False
    return violation(None, parameter.schema, {}) is None


def _is_merge_patch(tool: Tool) -> bool:
    """True if null removes a member, whatever its schema says (RFC 7396)."""
    return tool.body is not None and essence(tool.body.media_type) == "application/merge-patch+json"


def _without_nulls(value: object) -> object:
    """The value without members that are None, at any depth."""
    if isinstance(value, Mapping):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


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


def _error(
    tool: Tool,
    problem: str,
    kwargs: Mapping[str, object],
    unknown: str | None = None,
    missing: bool = False,
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
