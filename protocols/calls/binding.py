"""The calling convention: how `GET_search_person(query="Sofia Coppola")` becomes an HTTP request.

Prompts, hints, checks and records all use it. Whatever is wrong with a call is said here, before anything is sent, in
words that help to repair the call: the nearest valid argument, the values allowed, the type expected.
"""

from __future__ import annotations

import base64
import datetime
import difflib
import json
import math
import operator
import re
import warnings
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from protocols.bounded import Exhausted, bounded, rules, spend
from protocols.errors import ToolError, UsageError
from protocols.model import SEPARATORS, Parameter, Protocol, Schema, Tool
from protocols.naming import argument_name, tool_name
from protocols.patterns import matches

__all__ = ["BoundCall", "bind", "check_argument", "match", "match_gold", "nearest_argument", "payload", "signature"]

_PLAIN = frozenset({"type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_PLAIN |= {"minLength", "maxLength", "pattern", "items", "minItems", "maxItems"}
_PLAIN |= {
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
}  # say nothing of values
_PLAIN |= {"format", "discriminator", "contentMediaType", "contentEncoding"}
_INTEGER = re.compile(r"[-+]?\d+")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_LONGEST_NUMBER = 4000  # Python reads no longer ones
_TEMPLATE = re.compile(r"\{([^{}]*)\}")
_ARTICLES = {"integer": "an integer", "array": "a list", "object": "a dict", "boolean": "True or False", "null": "None"}


@dataclass(frozen=True, slots=True)
class BoundCall:
    """One call, checked and ready to be sent.

    `arguments` are by argument name in signature order, with the values that the schema asks for (a body passed as a
    whole is `body`). `path` is relative to the server's URL, filled, percent-encoded and starts with "/". `query` are
    pairs in order, not encoded. `body` is data for JSON, a dict of strings or lists of strings for forms; see
    `payload` for the bytes. None and no `media_type`: there is no body.
    """

    tool: Tool
    arguments: dict[str, object]
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    body: object | None = None
    media_type: str | None = None


def signature(tool: Tool) -> str:
    """The function as a program sees it: `GET_search_person(query, page=None)`."""
    inside = [p.argument if p.required else f"{p.argument}=None" for p in tool.arguments]
    return f"{tool.name}({', '.join(inside)})"


def bind(
    tool: Tool,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    definitions: Mapping[str, Schema] | None = None,
) -> BoundCall:
    """Check the arguments of a call and lay out its request.

    Path arguments may be positional. `None` means that an optional argument is absent. A string is taken where its
    text is the number or truth value asked for, and the other way round. `body=` passes a whole body; properties
    given beside it are laid over it.

    Args:
        definitions: `Protocol.definitions`, to check inside schemas that contain themselves.
    Raises: ToolError: An argument is unknown, missing or wrong; the message names the nearest valid one.
    """
    with bounded():
        return _bound(tool, args, kwargs, definitions or {})


def _bound(
    tool: Tool, args: Sequence[object], kwargs: Mapping[str, object], definitions: Mapping[str, Schema]
) -> BoundCall:
    given, whole = _assigned(tool, args, kwargs)
    values: dict[str, object] = {}
    for parameter in tool.arguments:
        if parameter.argument not in given:
            continue
        values[parameter.argument] = _checked(tool, parameter, given[parameter.argument], definitions)
    covered = whole is not _ABSENT or _may_go_without(tool, values)
    for parameter in tool.arguments:
        if parameter.required and parameter.argument not in values and not (covered and parameter.location == "body"):
            raise _error(tool, f"misses the required argument {parameter.argument!r}", kwargs, missing=True)
    body, sent = _body(tool, values, whole, definitions)
    path = _path(tool, values)
    query: list[tuple[str, str]] = []
    headers: dict[str, str] = {}
    cookies: dict[str, str] = {}
    shown = {parameter.argument for parameter in tool.arguments}
    for parameter in tool.parameters:
        value = values.get(parameter.argument)
        if parameter.argument not in shown:  # fixed by the document, nothing for a program to choose
            value = parameter.schema.get("const")
        if value is None:
            continue
        if parameter.location == "query":
            query += _query(parameter, value)
        elif parameter.location == "header":
            headers[parameter.name] = _one_line(tool, parameter, _joined(parameter, value))
        elif parameter.location == "cookie":
            cookies[parameter.name] = _one_line(tool, parameter, _joined(parameter, value))
    if whole is not _ABSENT:
        values["body"] = whole
    media_type = tool.body.media_type if tool.body is not None and sent else None
    return BoundCall(tool, values, path, tuple(query), headers, cookies, body if sent else None, media_type)


def check_argument(tool: Tool, argument: str, value: object, definitions: Mapping[str, Schema] | None = None) -> None:
    """Look at one argument of a call by itself. Raises: ToolError: It is unknown, or its value is wrong."""
    given, whole = _assigned(tool, (), {argument: value})
    with bounded():
        for name in given:
            _checked(tool, _argument(tool, name), given[name], definitions or {})
        if whole is not _ABSENT:
            _body(tool, {}, whole, definitions or {})


def payload(call: BoundCall) -> tuple[bytes, str] | None:
    """The bytes of the body and its Content-Type, or None for a call without one. Equal calls give equal bytes."""
    if call.media_type is None:
        return None
    kind = call.media_type.partition(";")[0].strip().lower()
    body = call.body
    if kind == "application/x-www-form-urlencoded" and isinstance(body, Mapping):
        return urlencode(list(_form_fields(call.tool, body))).encode(), call.media_type
    if kind.startswith("multipart/") and isinstance(body, Mapping):
        import hashlib

        from urllib3.filepost import encode_multipart_formdata

        assert call.tool.body is not None
        properties = call.tool.body.schema.get("properties")
        schemas = properties if isinstance(properties, Mapping) else {}
        fields = [_form_part(name, value, schemas.get(name) or {}) for name, value in _form_fields(call.tool, body)]
        boundary = hashlib.sha256(repr(fields).encode()).hexdigest()[:32]
        data, content_type = encode_multipart_formdata(fields, boundary)
        return data, content_type.replace("multipart/form-data", kind, 1)
    if kind == "application/json" or kind.endswith("+json") or not isinstance(body, str | bytes):
        return json.dumps(body, ensure_ascii=False, default=_as_base64).encode(), call.media_type
    return (body.encode() if isinstance(body, str) else body), call.media_type


def _form_fields(tool: Tool, body: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Names and values of a form; a list is repeated, or joined where the document says so."""
    joined = tool.body.joined if tool.body is not None else {}
    for name, value in body.items():
        if isinstance(value, list) and name in joined:
            yield name, joined[name].join(map(_text, value))
            continue
        for one in value if isinstance(value, list) else [value]:
            yield name, one if isinstance(one, bytes) else _text(one)


def _form_part(name: str, value: Any, schema: Schema) -> Any:
    """A field of a multipart form; what is a file goes with a file name and its media type."""
    items = schema.get("items")
    kind = items if isinstance(items, Mapping) else schema
    media_type = kind.get("contentMediaType")
    if isinstance(value, bytes) or media_type is not None or kind.get("format") == "binary":
        return name, (name, value, str(media_type or "application/octet-stream"))
    return name, value


def _as_base64(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


def match(protocol: Protocol, method: str, path: str) -> tuple[Tool, dict[str, str]] | None:
    """The tool that a request addresses, and its path arguments by argument name, decoded.

    Args:
        path: Percent-encoded, without the server's URL, without a query. A slash at the end makes no difference.
    """
    wanted = (path.split("?")[0].rstrip("/") or "/").split("/")
    best: tuple[tuple[int, ...], Tool, dict[str, str]] | None = None
    for tool in protocol.tools:
        if tool.method != method.upper():
            continue
        segments, names, rank = _template(tool.path)
        if len(segments) != len(wanted) or (best is not None and rank >= best[0]):
            continue
        found = [_filled(literals, text) for literals, text in zip(segments, wanted, strict=True)]
        if all(values is not None for values in found):
            arguments = {p.name: p.argument for p in tool.parameters if p.location == "path"}
            values = [unquote(value) for segment in found for value in segment or ()]
            best = rank, tool, {arguments.get(name, name): value for name, value in zip(names, values, strict=True)}
    return best[1:] if best is not None else None


@lru_cache(maxsize=4096)
def _template(path: str) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...], tuple[int, ...]]:
    """A template as segments, its variables, and a rank that puts literal segments before templated ones.

    A segment is the texts around its variables: `("v",)` for `v`, `("", "...", "")` for `{base}...{head}`.
    """
    parts = _TEMPLATE.split(path.rstrip("/") or "/")
    segments: list[list[str]] = [[]]
    for literal in parts[::2]:
        first, *others = literal.split("/")
        segments[-1].append(first)
        segments += [[other] for other in others]
    rank = tuple(0 if len(texts) == 1 else 2 if texts == ["", ""] else 1 for texts in segments)
    return tuple(map(tuple, segments)), tuple(parts[1::2]), rank


def _filled(literals: tuple[str, ...], text: str) -> list[str] | None:
    """What the variables of a segment hold, each as much as it can before the next; None where it does not fit.

    It is found from the end, in one pass; a pattern with several variables would try all ways to divide the text.
    """
    first, *between, last = literals if len(literals) > 1 else (literals[0], "")
    if len(literals) == 1:
        return [] if text == first else None
    if not text.startswith(first) or not text.endswith(last):
        return None
    end = len(text) - len(last)
    values: list[str] = []
    for literal in reversed(between):
        start = text.rfind(literal, len(first) + 1, end - 1)
        if start < 0:
            return None
        values.append(text[start + len(literal) : end])
        end = start
    if end <= len(first):
        return None
    return [text[len(first) : end], *reversed(values)]


def match_gold(protocol: Protocol, gold: str) -> str:
    """The name of the tool that a line of a benchmark means: `GET /person/{person_id}` or a tool's name.

    A path that no tool has is matched to the only tool of that method whose path differs by a plural `s` of its
    words; this is said with `warnings.warn`. Names of path variables do not matter.

    Raises: UsageError: No tool, or more than one, comes into question.
    """
    method, _, path = gold.strip().partition(" ")
    if not path:
        if gold.strip() in protocol:
            return gold.strip()
        raise UsageError(f"{gold!r} is no tool of {protocol.title!r}")
    path = _within(protocol, path.strip())
    if tool_name(method, path) in protocol:
        return tool_name(method, path)
    tools = [tool for tool in protocol.tools if tool.method == method.upper()]
    for form in (_anonymous, _singular):
        found = [tool for tool in tools if form(tool.path) == form(path)]
        if len(found) == 1:
            if form is _singular:
                warnings.warn(f"{gold!r} is no tool; taken for {found[0].name} ({found[0].path})", stacklevel=2)
            return found[0].name
    raise UsageError(f"{gold!r} is no tool of {protocol.title!r}")


def _within(protocol: Protocol, path: str) -> str:
    for server in protocol.servers:
        if path.startswith(server.url + "/"):
            return path[len(server.url) :]
    return urlsplit(path).path if "://" in path else path


def _anonymous(path: str) -> str:
    return _TEMPLATE.sub("{}", path).rstrip("/")


def _singular(path: str) -> str:
    return "/".join(segment.removesuffix("s") for segment in _anonymous(path).split("/"))


_ABSENT: Any = object()


def _assigned(tool: Tool, args: Sequence[object], kwargs: Mapping[str, object]) -> tuple[dict[str, object], Any]:
    """Values by argument name, absent ones left out, and the whole body if one was passed."""
    positional = [parameter for parameter in tool.arguments if parameter.location == "path"]
    if len(args) > len(positional):
        names = ", ".join(parameter.argument for parameter in positional)
        only = f"only {names} may go without a name" if names else "all its arguments need their names"
        raise _error(tool, f"got {len(args)} positional arguments; {only}", kwargs)
    given: dict[str, object] = {}
    for parameter, value in zip(positional, args, strict=False):
        if parameter.argument in kwargs:
            raise _error(tool, f"got two values for the argument {parameter.argument!r}", kwargs)
        given[parameter.argument] = value
    by_wire = {parameter.name: parameter.argument for parameter in reversed(tool.arguments) if parameter.name}
    fixed = {p.argument: p.schema["const"] for p in tool.parameters if "const" in p.schema}
    whole = _ABSENT
    for name, value in kwargs.items():
        if name == "body" and _is_whole(tool, value, kwargs):
            whole = _ABSENT if value is None else value
        elif tool.argument(name) is not None:
            given[name] = value
        elif name in by_wire and by_wire[name] not in kwargs:
            given[by_wire[name]] = value
        elif name not in fixed or fixed[name] != value:
            raise _error(tool, f"has no argument {name!r}", kwargs, name)
    result = {}
    for name, value in given.items():
        parameter = _argument(tool, name)
        if value is None and not (parameter.required and "null" in _types(parameter.schema)):
            continue
        result[name] = value
    return result, whole


def _argument(tool: Tool, name: str) -> Parameter:
    parameter = tool.argument(name)
    assert parameter is not None
    return parameter


def _is_whole(tool: Tool, value: object, kwargs: Mapping[str, object]) -> bool:
    """Whether `body=` means all of the body and not a property or parameter of that name."""
    if tool.body is None:
        return False
    own = tool.argument("body")
    if own is None or (own.location == "body" and not own.name):
        return own is None
    others = any(p.location == "body" and p.argument in kwargs for p in tool.arguments if p is not own)
    types = _types(own.schema)
    return (
        own.location == "body" and isinstance(value, Mapping) and bool(types) and "object" not in types and not others
    )


def _error(
    tool: Tool, problem: str, kwargs: Mapping[str, object], unknown: str | None = None, missing: bool = False
) -> ToolError:
    """`GET_x() has no argument 'name'; did you mean 'query'? It takes: query, page`."""
    names = [parameter.argument for parameter in tool.arguments]
    if tool.body is not None and any(p.location == "body" for p in tool.arguments) and "body" not in names:
        names.append("body")
    hint = ""
    if unknown is not None:
        nearest = nearest_argument(tool, unknown, [name for name in names if name not in kwargs])
        hint = f"; did you mean {nearest!r}?" if nearest else "."
    takes = f"It takes: {', '.join(names)}" if names else "It takes no arguments"
    end = hint or "."
    if missing:
        takes = f"It is called as {signature(tool)}"
    return ToolError(f"{tool.name}() {problem}{end} {takes}", tool=tool.name)


def nearest_argument(tool: Tool, unknown: str, names: Sequence[str]) -> str | None:
    """The argument that was probably meant: like in spelling, else the only one that still must be given."""
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


def _types(schema: Schema) -> tuple[str, ...]:
    declared = schema.get("type")
    if isinstance(declared, list):
        return tuple(map(str, declared))
    return (str(declared),) if declared is not None else ()


def _checked(tool: Tool, parameter: Parameter, value: object, definitions: Mapping[str, Schema]) -> object:
    """The value as the schema wants it. Raises: ToolError."""
    schema = parameter.schema
    value = _plain(value)
    foreign = _foreign(value)
    if foreign is not None:
        held = f"holds {_shown(foreign)}, which cannot be sent"
        raise ToolError(f"{tool.name}(): argument {parameter.argument!r} {held}", tool=tool.name)
    if parameter.location != "body":
        types = _types(schema)
        if isinstance(value, str) and "array" in types and "string" not in types:
            separator = SEPARATORS.get(parameter.style, ",")
            value = [value] if parameter.explode else value.split(separator)
        elif isinstance(value, list) and types and not {"array", "object"} & set(types):
            value = SEPARATORS.get(parameter.style, ",").join(map(_text, value))
    value = _coerced_in_time(value, schema)
    if _types(schema) == ("array",) and parameter.argument != "body" and isinstance(value, str | int | float):
        value = _coerced_in_time([value], schema)  # a value alone is a list of one
    problem = _violation_in_time(value, schema, definitions)
    if problem is not None:
        raise ToolError(f"{tool.name}(): argument {parameter.argument!r} {problem}", tool=tool.name)
    return value


def _plain(value: object) -> object:
    """Python values that JSON does not know, as it would write them."""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset | range) or hasattr(value, "__next__"):
        items = [_plain(inner) for inner in value]  # type: ignore[attr-defined]
        return sorted(items, key=str) if isinstance(value, set | frozenset) else items
    if isinstance(value, KeysView | ValuesView):
        return [_plain(inner) for inner in value]
    return value


def _foreign(value: object) -> object | None:
    """The first part of a value that JSON cannot hold."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return next((found for found in map(_foreign, value) if found is not None), None)
    if isinstance(value, float) and not math.isfinite(value):
        return value
    return None if value is None or isinstance(value, str | int | float | bytes) else value


def _coerced_in_time(value: Any, schema: object) -> Any:
    try:
        return _coerced(value, schema)
    except Exhausted:
        return value


def _violation_in_time(value: Any, schema: object, definitions: Mapping[str, Schema]) -> str | None:
    try:
        return _violation(value, schema, definitions)
    except Exhausted:  # the service says what it makes of it
        return None


def _coerced(value: Any, schema: object) -> Any:
    """The value in the type that the schema names, where no information is lost; else as it was."""
    spend()
    if not isinstance(schema, Mapping):
        return value
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if isinstance(branches, list) and "type" not in schema:
            fitting = [branch for branch in branches if _violation(value, branch, {}) is None]
            if fitting:
                return _coerced(value, fitting[0])
            changed = [(branch, _coerced(value, branch)) for branch in branches]
            return next((new for branch, new in changed if _violation(new, branch, {}) is None), value)
    types = _types(schema)
    if not types or (isinstance(value, str) and "string" in types):
        return value
    if isinstance(value, str):
        return _from_text(value.strip(), types, value)
    if isinstance(value, list) and "array" in types:
        return [_coerced(item, schema.get("items")) for item in value]
    if isinstance(value, dict) and "object" in types:
        inner = schema.get("properties")
        inner = inner if isinstance(inner, Mapping) else {}
        return {key: _coerced(item, inner.get(key)) for key, item in value.items()}
    if isinstance(value, bool):
        return _text(value) if "string" in types and "boolean" not in types else value
    if isinstance(value, float) and "integer" in types and "number" not in types and value.is_integer():
        return int(value)
    if isinstance(value, int | float) and "string" in types and not {"integer", "number"} & set(types):
        return _text(value)
    return value


def _from_text(text: str, types: Sequence[str], value: str) -> object:
    if ("integer" in types or "number" in types) and len(text) <= _LONGEST_NUMBER and _INTEGER.fullmatch(text):
        return int(text)
    if "number" in types and len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text):
        return float(text)
    if "boolean" in types and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if "object" in types or "array" in types:
        try:
            return json.loads(text)
        except ValueError:
            return value
    return value


def _violation(value: Any, schema: object, definitions: Mapping[str, Schema]) -> str | None:
    """What is wrong with the value, as the end of a sentence that begins with the argument; None if nothing is."""
    spend()
    if schema is True or schema is None or not isinstance(schema, Mapping):
        return "is not allowed" if schema is False else None
    if not _is_plain(schema):
        return _deep_violation(value, schema, definitions)
    types = _types(schema)
    if types and not any(_is_type(value, name) for name in types):
        return f"must be {' or '.join(_ARTICLES.get(name, f'a {name}') for name in types)}, not {_shown(value)}"
    if "const" in schema and value != schema["const"]:
        return f"must be {_shown(schema['const'])}, not {_shown(value)}"
    enum = schema.get("enum")
    if isinstance(enum, list) and value not in enum:
        listed = ", ".join(map(_shown, enum[:40])) + (", …" if len(enum) > 40 else "")
        close = (
            difflib.get_close_matches(value, [v for v in enum if isinstance(v, str)], n=1) if _is_text(value) else []
        )
        return f"must be one of {listed}, not {_shown(value)}" + (f"; did you mean {close[0]!r}?" if close else "")
    if isinstance(value, str):
        return _text_violation(value, schema)
    if isinstance(value, list):
        return _list_violation(value, schema, definitions)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number_violation(value, schema)
    return None


def _is_plain(schema: Schema) -> bool:
    items = schema.get("items")
    return schema.keys() <= _PLAIN and (items is None or (isinstance(items, Mapping) and _is_plain(items)))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_type(value: object, name: str) -> bool:
    if name == "integer":
        return (isinstance(value, int) and not isinstance(value, bool)) or (
            isinstance(value, float) and value.is_integer()
        )
    if name == "number":
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if name == "string":
        return isinstance(value, str | bytes)
    kinds: dict[str, type] = {"boolean": bool, "array": list, "object": dict, "null": type(None)}
    return isinstance(value, kinds[name]) if name in kinds else True


def _text_violation(value: str, schema: Schema) -> str | None:
    shortest, longest, pattern = schema.get("minLength"), schema.get("maxLength"), schema.get("pattern")
    if isinstance(shortest, int) and len(value) < shortest:
        return f"must have at least {shortest} characters, not {_shown(value)}"
    if isinstance(longest, int) and len(value) > longest:
        return f"must have at most {longest} characters, not {len(value)}"
    if isinstance(pattern, str) and not matches(pattern, value):
        return f"must match the pattern {pattern}, not {_shown(value)}"
    return None


def _number_violation(value: float, schema: Schema) -> str | None:
    for key, words, wrong in (
        ("minimum", "at least", operator.lt),
        ("maximum", "at most", operator.gt),
        ("exclusiveMinimum", "more than", operator.le),
        ("exclusiveMaximum", "less than", operator.ge),
    ):
        limit = schema.get(key)
        if isinstance(limit, int | float) and wrong(value, limit):
            return f"must be {words} {limit}, not {value}"
    return None


def _list_violation(value: list[Any], schema: Schema, definitions: Mapping[str, Schema]) -> str | None:
    fewest, most = schema.get("minItems"), schema.get("maxItems")
    if isinstance(fewest, int) and len(value) < fewest:
        return f"must have at least {fewest} items, not {len(value)}"
    if isinstance(most, int) and len(value) > most:
        return f"must have at most {most} items, not {len(value)}"
    for index, item in enumerate(value):
        problem = _violation(item, schema.get("items"), definitions)
        if problem is not None:
            return f"[{index}] {problem}"
    return None


class _ByIdentity:
    """Lets a cache hold a schema, which is a dict, by what it is rather than by what it says."""

    def __init__(self, schema: Schema, definitions: Mapping[str, Schema]) -> None:
        self.schema, self.definitions = schema, definitions

    def __hash__(self) -> int:
        return hash((id(self.schema), id(self.definitions)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _ByIdentity):
            return NotImplemented
        return self.schema is other.schema and (self.definitions is other.definitions)


@lru_cache(maxsize=512)
def _validator(key: _ByIdentity) -> Any:
    from jsonschema.validators import extend

    sending = extend(rules(), {"required": _required})  # type: ignore[no-untyped-call]
    return sending({**key.schema, "$defs": dict(key.definitions)} if key.definitions else dict(key.schema))


def _required(_: Any, required: Sequence[str], value: Any, schema: Schema) -> Iterator[Any]:
    """What must be there in a request: a property that only the server may set is none of it."""
    from jsonschema import ValidationError

    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    for name in required if isinstance(value, Mapping) else ():
        if name not in value and not (isinstance(known.get(name), Mapping) and known[name].get("readOnly") is True):
            yield ValidationError(f"{name!r} is a required property")


def _deep_violation(value: Any, schema: Schema, definitions: Mapping[str, Schema]) -> str | None:
    from jsonschema.exceptions import best_match
    from referencing.exceptions import Unresolvable

    try:
        error = best_match(_validator(_ByIdentity(schema, definitions or _NO_DEFINITIONS)).iter_errors(value))
    except Unresolvable:  # it contains itself and the definitions were not given: as far as seen nothing is wrong
        return None
    if error is None:
        return None
    where = "".join(f"[{key!r}]" for key in error.absolute_path)
    return f"{where + ' ' if where else ''}is not what the schema asks for: {error.message[:300]}"


_NO_DEFINITIONS: Mapping[str, Schema] = {}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def _text(value: object) -> str:
    """A value as text on the wire."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False, default=_as_base64)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _parts(value: object) -> list[str]:
    """A value as the list of texts that a style joins; of an object, names and values in turn."""
    if isinstance(value, list):
        return [_text(item) for item in value]
    if isinstance(value, Mapping):
        return [text for key, item in value.items() for text in (key, _text(item))]
    return [_text(value)]


def _joined(parameter: Parameter, value: object) -> str:
    if parameter.style == "json":
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping) and parameter.explode:
        return ",".join(f"{key}={_text(item)}" for key, item in value.items())
    return SEPARATORS.get(parameter.style, ",").join(_parts(value))


def _query(parameter: Parameter, value: object) -> list[tuple[str, str]]:
    name, style = parameter.name, parameter.style
    if style == "json":
        return [(name, json.dumps(value, ensure_ascii=False))]
    if isinstance(value, Mapping) and style == "deepObject":
        return [(f"{name}[{key}]", text) for key, item in value.items() for text in _parts(item)]
    if isinstance(value, Mapping) and parameter.explode:
        return [(key, text) for key, item in value.items() for text in _parts(item)]
    if isinstance(value, list) and parameter.explode:
        return [(name, text) for text in _parts(value)]
    if isinstance(value, list) and not value:
        return []
    return [(name, SEPARATORS.get(style, ",").join(_parts(value)))]


def _one_line(tool: Tool, parameter: Parameter, text: str) -> str:
    if any(char in text for char in "\r\n\0"):
        raise ToolError(f"{tool.name}(): argument {parameter.argument!r} must be one line of text", tool=tool.name)
    return text


def _path(tool: Tool, values: Mapping[str, object]) -> str:
    by_name = {parameter.name: parameter for parameter in tool.parameters if parameter.location == "path"}

    def filled(found: re.Match[str]) -> str:
        parameter = by_name[found[1]]
        text = _segment(parameter, values[parameter.argument])
        if not text:
            raise ToolError(f"{tool.name}(): argument {parameter.argument!r} must not be empty", tool=tool.name)
        return text

    path = _TEMPLATE.sub(filled, tool.path)
    # Servers and HTTP libraries read `.` and `..` as steps between folders, percent-encoded or not.
    if {".", ".."} & set(path.split("/")) - set(tool.path.split("/")):
        raise ToolError(f"{tool.name}(): a path argument must not be '.' or '..'", tool=tool.name)
    return path


def _segment(parameter: Parameter, value: object) -> str:
    if parameter.style == "json":
        return quote(json.dumps(value, ensure_ascii=False), safe="")
    if isinstance(value, Mapping) and parameter.explode:
        parts = [f"{quote(key, safe='')}={quote(_text(item), safe='')}" for key, item in value.items()]
    else:
        parts = [quote(text, safe="") for text in _parts(value)]
    if parameter.style == "label":
        return "." + ("." if parameter.explode else ",").join(parts)
    if parameter.style == "matrix":
        name = quote(parameter.name, safe="")
        if parameter.explode and isinstance(value, Mapping):
            return "".join(f";{part}" for part in parts)
        if parameter.explode and isinstance(value, list):
            return "".join(f";{name}={part}" for part in parts)
        return f";{name}={','.join(parts)}"
    return ",".join(parts)


def _body(
    tool: Tool, values: dict[str, object], whole: Any, definitions: Mapping[str, Schema]
) -> tuple[object | None, bool]:
    """The body, and whether one is sent."""
    if tool.body is None:
        return None, False
    inside = {p.name: values[p.argument] for p in tool.arguments if p.location == "body" and p.argument in values}
    if "" in inside:
        return _encodable(tool, inside[""]), True
    if whole is not _ABSENT:
        whole = _coerced_in_time(_plain(whole), tool.body.schema)
        if inside and not isinstance(whole, dict):
            raise ToolError(f"{tool.name}(): body= is not a dict, so {next(iter(inside))!r} has no place in it")
        body = {**whole, **inside} if isinstance(whole, dict) else whole
        problem = _violation_in_time(body, tool.body.schema, definitions)
        if problem is not None:
            raise ToolError(f"{tool.name}(): body= {problem}", tool=tool.name)
        return _encodable(tool, body), True
    if not inside and not tool.body.required:
        return None, False
    body = {**_shared(tool, values), **inside}
    if tool.body.schema.keys() & {"oneOf", "anyOf", "allOf", "not", "if", "minProperties", "dependentRequired"}:
        problem = _violation_in_time(body, tool.body.schema, definitions)
        if problem is not None:
            raise ToolError(f"{tool.name}(): the body {problem}", tool=tool.name)
    return _encodable(tool, body), True


def _may_go_without(tool: Tool, values: Mapping[str, object]) -> bool:
    """Whether no body is sent: none of it is given, and the document does not ask for one."""
    inside = any(parameter.location == "body" and parameter.argument in values for parameter in tool.arguments)
    return tool.body is not None and not tool.body.required and not inside


def _shared(tool: Tool, values: Mapping[str, object]) -> dict[str, object]:
    """Properties that a body must have and that an argument fills as a parameter of the same name."""
    assert tool.body is not None
    required = tool.body.schema.get("required")
    names = required if isinstance(required, list) and tool.body.required else []
    inside = {parameter.name for parameter in tool.arguments if parameter.location == "body"}
    return {name: values[argument_name(name)] for name in names if name not in inside and argument_name(name) in values}


def _encodable(tool: Tool, body: object) -> object:
    """Forms hold texts; everything else stays data."""
    assert tool.body is not None
    kind = tool.body.media_type.lower()
    if isinstance(body, Mapping) and ("form-urlencoded" in kind or kind.startswith("multipart/")):
        return {
            name: [_text(item) for item in value]
            if isinstance(value, list)
            else value
            if isinstance(value, bytes)
            else _text(value)
            for name, value in body.items()
            if value is not None
        }
    return body
