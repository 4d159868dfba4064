"""The tools of an MCP server become those of a protocol: functions that are called over the connection."""

from __future__ import annotations

import hashlib
import inspect
import ipaddress
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from protocols.bounded import bounded
from protocols.calls.auth import credential, variable
from protocols.calls.credentials import Credential
from protocols.calls.schema_values import coerce, violation
from protocols.documents.schemas import SchemaReader, object_properties
from protocols.documents.source import DocumentSet
from protocols.errors import ProtocolError, UsageError
from protocols.functions.hints import Convert, Hint
from protocols.functions.host_function import Docstring, Remaining, RemoteFunction, read_docstring
from protocols.mcp.connection import MCPAddress, MCPConnection, claims_to_read
from protocols.model import LeftOut, Protocol, Schema, tool_of
from protocols.naming import RESERVED, argument_name, fold, unique
from protocols.quoting import one_line
from protocols.schema_fields import declared_types

if TYPE_CHECKING:
    import mcp_types as types

__all__ = ["is_loopback", "load_server"]

_STDIO = "mcp:stdio:"
_FORMS = "write mcp:stdio:'COMMAND ARGUMENTS' or mcp:https://HOST/PATH"

_WRAPPED = "x-fastmcp-wrap-result"
"""In an output schema: the result is the member `result` of what is sent, since that has to be an object."""

_SEPARATORS = str.maketrans("/.:", "///")
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": "dict"}


def load_server(source: str, auth: Sequence[str] = ()) -> Protocol:
    """Start or reach the server that a source names, and list its tools.

    Args:
        source: `mcp:stdio:COMMAND` or `mcp:URL`.
        auth: What the server gets: `env:NAME` for a variable of one that is started, else credentials for headers.
    Returns: A protocol whose tools are called over the connection, until `Protocol.close` or the end of the process.
    Raises:
        UsageError: The source or a credential is none that can be used.
        APIError: The server does not start, or does not list its tools in time.
        ProtocolError: It has no tool that can be used.
    """
    address = _read_address(source)
    connection = MCPConnection(address, _server_credentials(address, auth))
    listing = connection.listing()
    schemas = _ToolSchemas(listing.tools)
    reader = SchemaReader(schemas, Counter())
    names, warnings = _names(tool.name for tool in listing.tools)
    warnings += listing.warnings
    turn = RLock()
    functions = []
    left_out = []
    for tool, name in zip(listing.tools, names, strict=True):
        try:
            functions.append(_function(name, tool, connection, reader, turn))
        except (ProtocolError, RecursionError) as error:
            reason = str(error) or "its schemas are nested too deeply"
            warnings.append(f"left out the tool {one_line(tool.name, 100)}: {one_line(reason)}")
            left_out.append(LeftOut("CALL", tool.name[:100], name, reason))
    for broken, reason in listing.broken:
        warnings.append(f"left out the tool {one_line(broken, 100)}: {one_line(reason)}")
        left_out.append(LeftOut("CALL", broken[:100], _name(broken[:100]), reason))
    if not functions:
        raise ProtocolError(f"the MCP server {address.text} has no tools{''.join(f'; {text}' for text in warnings)}")
    described = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listing.tools]
    return Protocol(
        title=listing.title,
        version=listing.version,
        description=listing.instructions,
        servers=(),
        tools=tuple(map(tool_of, functions)),
        definitions=reader.definitions,
        warnings=tuple(warnings),
        left_out=tuple(left_out),
        digest=hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest(),
    )


def _read_address(source: str) -> MCPAddress:
    """Read `mcp:stdio:COMMAND` or `mcp:URL`. Raises: UsageError: It is neither, or a URL that is not safe to use."""
    if source.startswith(_STDIO):
        try:
            command = tuple(shlex.split(source.removeprefix(_STDIO)))
        except ValueError as error:
            raise UsageError(f"{_STDIO}: the command line cannot be read: {error}; {_FORMS}") from None
        if not command:
            raise UsageError(f"{_STDIO} names no command; {_FORMS}")
        return MCPAddress(command=command)
    url = source.removeprefix("mcp:")
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        raise UsageError(f"mcp:: this is no URL: {error}; {_FORMS}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"mcp: names no server; {_FORMS}")
    if "@" in parts.netloc:
        raise UsageError("the URL behind mcp: holds a user name or password; leave it out and pass it with --auth")
    if parts.scheme == "http" and not is_loopback(host):
        raise UsageError(f"mcp:http://{host}: plain http is for servers on this machine; use https")
    return MCPAddress(url=url)


def is_loopback(host: str) -> bool:
    """True if only this machine can reach what listens there."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _server_credentials(address: MCPAddress, auth: Sequence[str]) -> tuple[Credential, ...]:
    """What `--auth` names for a server: `env:NAME` for one that is started, else what is sent in a header.

    Raises: UsageError: Such a credential cannot be passed on, or its source is empty. The message repeats no secret.
    """
    if address.command:
        return tuple(map(variable, auth))
    credentials = tuple(credential(text, None) for text in auth)
    if any(sent.place[0] != "header" for sent in credentials):
        raise UsageError(
            "--auth: an MCP server takes no secret in its URL or a cookie; give another KIND, as bearer or header:NAME"
        )
    return credentials


class _ToolSchemas(DocumentSet):
    """The schemas of tools, each a document of its own: one refers to nothing outside of it."""

    def __init__(self, tools: Sequence[types.Tool]) -> None:
        super().__init__({}, "")
        self._documents = {f"tool:{tool.name}:input": tool.input_schema for tool in tools}
        self._documents |= {f"tool:{tool.name}:output": tool.output_schema or {} for tool in tools}

    def linked_document(self, uri: str) -> Any:
        """Raises: ProtocolError: It is no schema of these tools."""
        if uri not in self._documents:
            raise ProtocolError(f"{uri[:100]}: a schema that lies elsewhere, which is not read")
        return self._documents[uri]


def _names(listed: Iterable[str]) -> tuple[list[str], list[str]]:
    """What programs call the tools of these names, and warnings about those that are not told from their names."""
    originals = list(listed)
    names = unique(map(_name, originals))
    warnings = []
    for original, name in zip(originals, names, strict=True):
        if name != _name(original) or name != original.translate(_SEPARATORS).replace("/", "__"):
            warnings.append(f"the tool {original[:100]!r} of the MCP server is called {name}")
    return names, warnings


def _name(name: str) -> str:
    """`files/read` and `files.read` -> `files__read`; a builtin gets an underscore behind it, as in `list_`."""
    if name.isidentifier() and name.isascii() and not name.startswith("_"):
        return f"{name}_" if name in RESERVED else name
    parts = [part for part in map(fold, name.translate(_SEPARATORS).split("/")) if part]
    written = "__".join(parts) or "tool"
    written = f"n{written}" if written[0].isdigit() else written
    return f"{written}_" if written in RESERVED else written


def _function(
    name: str, tool: types.Tool, connection: MCPConnection, reader: SchemaReader, turn: RLock
) -> RemoteFunction:
    """One tool as a function. Raises: ProtocolError: Its schemas cannot be read."""
    schema = reader.read(tool.input_schema, f"tool:{tool.name}:input")
    properties, required = object_properties(schema)
    wire = dict(zip(unique(map(argument_name, properties)), properties, strict=True))
    in_order = sorted(wire, key=lambda argument: wire[argument] not in required)
    parameters, hints = [], {}
    for argument in in_order:
        member, is_required = properties[wire[argument]], wire[argument] in required
        default = inspect.Parameter.empty if is_required else member.get("default")
        parameters.append(inspect.Parameter(argument, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
        hints[argument] = Hint(member, _converter(member, reader.definitions, is_required), _type_text(member))
    others = _others(schema)
    rest = unique([*in_order, "others"])[-1]
    if others is not None:
        parameters.append(inspect.Parameter(rest, inspect.Parameter.VAR_KEYWORD))
        of_all: Schema = {"type": "object", "additionalProperties": others}
        convert = _converter(of_all, reader.definitions, required=True)
        hints[rest] = Hint(of_all, convert, f"dict[str, {_type_text(others)}]")
    result = Hint({}, lambda value: value, "Any")
    wrapped = False
    if tool.output_schema is not None:
        output = reader.read(tool.output_schema, f"tool:{tool.name}:output")
        members, _ = object_properties(output)
        wrapped = tool.output_schema.get(_WRAPPED) is True and list(members) == ["result"]
        output = members["result"] if wrapped else output
        result = Hint(output, lambda value: value, _type_text(output))
    title = tool.title or (tool.annotations.title if tool.annotations is not None else None) or ""
    description = inspect.cleandoc(tool.description or title)
    written = read_docstring(description).arguments
    descriptions = {
        argument: str(properties[key].get("description") or written.get(key, "")) for argument, key in wire.items()
    }

    def send(arguments: Mapping[str, object], remaining: Remaining) -> object:
        values = {wire[argument]: value for argument, value in arguments.items() if argument in wire}
        sent = {k: value for k, value in values.items() if value is not None or "null" in declared_types(properties[k])}
        free = arguments.get(rest)
        sent |= {key: value for key, value in free.items() if key not in sent} if isinstance(free, Mapping) else {}
        value = connection.call(tool.name, sent, remaining)
        return value["result"] if wrapped and isinstance(value, Mapping) and list(value) == ["result"] else value

    return RemoteFunction(
        name=name,
        function=send,
        signature=inspect.Signature(parameters),
        hints=hints,
        result=result,
        document=Docstring(title or description.partition("\n")[0], description, descriptions),
        place=f"the tool {tool.name}",
        reads=claims_to_read(tool),
        classes={},
        turn=turn,
        disconnect=connection.close,
    )


def _others(schema: Schema) -> Schema | None:
    """The schema of arguments that a tool takes without naming them; None where it takes no others."""
    others = schema.get("additionalProperties", None if "properties" in schema else {})
    return {} if others is True else others if isinstance(others, Mapping) else None


def _converter(schema: Schema, definitions: Mapping[str, Schema], required: bool) -> Convert:
    """Checks a value as the calling convention does; None leaves an optional argument out."""

    def convert(value: Any) -> object:
        if value is None and not required:
            return None
        with bounded():
            converted = coerce(value, schema)
            problem = violation(converted, schema, definitions)
        if problem is not None:
            raise TypeError(problem)
        return converted

    return convert


def _type_text(schema: Schema) -> str:
    """A schema as a hint, as far as hints go: `list[str]`, `int | None`, `Literal['a', 'b']`."""
    values = schema.get("enum")
    if isinstance(values, list) and values:
        return f"Literal[{', '.join(map(repr, values[:12]))}{', …' if len(values) > 12 else ''}]"
    kinds = declared_types(schema)
    texts = []
    for kind in kinds:
        items = schema.get("items")
        inner = _type_text(items) if isinstance(items, Mapping) else "Any"
        texts.append(f"list[{inner}]" if kind == "array" else _TYPES.get(kind, "Any"))
    return " | ".join(dict.fromkeys(texts)) or "Any"
