"""An API and its operations, after its document has been read, repaired and validated.

All other modules work on these frozen values and never on the raw document. Schemas are JSON Schema 2020-12, whatever
the document's dialect. A `$ref` remains only in recursive schemas; it points to `#/$defs/NAME` with NAME in
`Protocol.definitions`.
"""

from __future__ import annotations

import builtins
import hashlib
import json
import keyword
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from protocols.media_types import MediaKind, documented_kind
from protocols.naming import RESERVED, argument_name

if TYPE_CHECKING:
    from protocols.functions.host_function import HostFunction

__all__ = [
    "Body",
    "Encoding",
    "Envelope",
    "LeftOut",
    "Location",
    "Parameter",
    "Protocol",
    "Response",
    "Schema",
    "SecurityScheme",
    "Server",
    "Tool",
    "WholeURL",
    "telling_headers",
    "tool_of",
]

Schema = Mapping[str, object]
"""A JSON Schema (2020-12) as plain data; read-only, because tools share parts of it."""

Location = Literal["path", "query", "header", "cookie", "body", "function"]

READS = frozenset({"GET", "HEAD", "OPTIONS", "READ", "TRACE"})
"""Methods that change nothing. Those of a tool that is a function are READ, and CALL for one that may write."""

SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
"""The separator of list items, by style; a comma for all other styles."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One input of a tool.

    `name` is what goes over the wire, `argument` what a program writes. With `location` "body" it is one property of
    a JSON, form or multipart object body; with "function" it is an argument of a function. `style` and `explode` follow
    OpenAPI and say how lists are joined. With `reserved` the characters that mean something in a URL are sent as they
    are: slashes in a path, so that the value may span several segments, and those of `allowReserved` in a query. With
    `empty` an empty text is taken, whatever the schema says (`allowEmptyValue`).
    """

    name: str
    argument: str
    location: Location
    required: bool
    schema: Schema
    description: str = ""
    style: str = "simple"
    explode: bool = False
    reserved: bool = False
    empty: bool = False

    @property
    def is_idempotency_key(self) -> bool:
        """True for the header in which an operation takes an idempotency key; a call without one is given one."""
        name = self.name.lower().replace("_", "-")
        description = f"{self.description} {self.schema.get('description', '')}".lower()
        is_key = name in ("idempotency-key", "x-idempotency-key") or (
            name == "x-request-id" and "idempoten" in description
        )
        return is_key and self.location == "header"


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a field of a form is written: by its `style`, or where that is empty as content of its media type.

    An empty `media_type` stands for the one that follows from the value: JSON for an object, bytes as they are.
    """

    media_type: str = ""
    style: str = ""
    explode: bool = True


@dataclass(frozen=True, slots=True)
class Body:
    """The request body of a tool in one media type; `example` is the document's own, if it has one.

    `encoding` is that of form fields by name. `root` is the name of the outermost element in XML. `others` are the
    bodies of further media types that the document allows instead, each without others of its own.
    """

    media_type: str
    schema: Schema
    required: bool
    description: str = ""
    example: object = None
    encoding: Mapping[str, Encoding] = field(default_factory=dict)
    root: str = ""
    others: tuple[Body, ...] = ()


@dataclass(frozen=True, slots=True)
class Response:
    """The documented response of a tool with one status ("200", "4XX", "default").

    `media_type` and `schema` are None when the document gives no content for it; `media_types` are all that it gives.
    `examples` are whole bodies. `headers` maps a header name to its schema, which has its description.
    """

    status: str
    description: str = ""
    media_type: str | None = None
    schema: Schema | None = None
    examples: tuple[object, ...] = ()
    headers: Mapping[str, Schema] = field(default_factory=dict)
    media_types: tuple[str, ...] = ()

    @property
    def kind(self) -> MediaKind:
        """What a body of it is, as far as the document says."""
        return documented_kind(self.media_type or "", self.schema)


_ROUTINE = re.compile(
    r"age|cache-control|connection|content-(encoding|language|length|type)|date|expires|keep-alive|pragma|retry-after"
    r"|server|strict-transport-security|traceparent|transfer-encoding|vary|via|warning"
)
_ROUTINE_WORDS = re.compile(
    r"rate-?limit|throttl|quota|(request|correlation|trace|span)-?id|access-control|runtime|response-time|api-version"
    r"|content-type-options|frame-options|xss-protection|powered-by|cache"
)


def telling_headers(response: Response) -> dict[str, Schema]:
    """The documented headers of a response that say more than how the call went: not its limits, trace or age."""
    names = {name: name.lower() for name in response.headers}
    telling = [name for name, low in names.items() if not _ROUTINE.fullmatch(low) and not _ROUTINE_WORDS.search(low)]
    return {name: response.headers[name] for name in telling}


@dataclass(frozen=True, slots=True)
class SecurityScheme:
    """A security scheme of the document: `kind` is apiKey, basic, bearer or oauth2 (sent as bearer).

    For apiKey, `location` is header, query or cookie and `parameter` the name used there. `namespace` is that of its
    API among several; `name` then is `namespace=name`. `prefix` is what the description of an apiKey in Authorization
    wants before the key: `Token `.
    """

    name: str
    kind: Literal["apiKey", "basic", "bearer", "oauth2"]
    location: Literal["header", "query", "cookie"] = "header"
    parameter: str = "Authorization"
    namespace: str = ""
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Server:
    """A base URL with its variables filled in by their defaults; no slash at the end.

    `scope` says what an operation has for itself: nothing, the path of its server, or a server at another origin than
    those of the document.
    """

    url: str
    description: str = ""
    scope: Literal["api", "path", "origin"] = "api"

    @property
    def missing(self) -> str:
        """The first variable that has no value, as in `{tenant}`; empty if none is missing."""
        variable = re.search(r"\{[^{}]*\}", self.url)
        return variable[0] if variable else ""


class WholeURL(str):
    """A base URL at which all operations are, whatever servers a document has for some: that of a simulated API."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The one endpoint through which a server takes the calls of many APIs.

    The request is a JSON object: the `constants`, and under `arguments_field` the object of the call's arguments.
    `names` are the names of the arguments there; one that is not in it keeps its wire name. `key_field` is a
    constant that a credential of that name fills in, "" where there is none.
    The reply is an object, too. A text under `error_field` says why the call failed; else its value is under
    `value_field`.
    """

    path: str
    constants: Mapping[str, object]
    arguments_field: str
    names: Mapping[str, str] = field(default_factory=dict)
    key_field: str = ""
    error_field: str = "error"
    value_field: str = "response"
    method: str = "POST"


@dataclass(frozen=True, slots=True)
class Tool:
    """One operation of an API, or one function of this process: what a program calls as a function.

    `parameters` are path, query, header and cookie parameters. `arguments` are those of the function, properties of an
    object body included, in signature order: path parameters, other required ones, optional ones. A body property that
    has the name of a parameter is the argument `body_NAME`; where it is required and not passed, it takes the value of
    the parameter. `security` lists alternatives, each a tuple of scheme
    names; empty: none needed. `operation_id` and `tags` are those of the document. With an `envelope` a call is carried
    by the endpoint of a server; method and path are still those of the operation itself. With a `function` nothing is
    sent: the method is READ or CALL and the path the name, which is `object.name` for the method of an object.
    `namespace` is that of its API among several (see protocols.combined), "" for the only one. `reads`: it changes
    nothing, although its method may. `record` is the description as a document in a form of its own has it, where one
    does (see protocols.documents.tool_records).
    """

    name: str
    method: str
    path: str
    summary: str
    description: str
    parameters: tuple[Parameter, ...]
    arguments: tuple[Parameter, ...]
    body: Body | None
    responses: tuple[Response, ...]
    servers: tuple[Server, ...]
    security: tuple[tuple[str, ...], ...] = ()
    deprecated: bool = False
    operation_id: str = ""
    tags: tuple[str, ...] = ()
    envelope: Envelope | None = None
    function: HostFunction | None = None
    namespace: str = ""
    reads: bool = False
    record: Mapping[str, Any] | None = None

    @property
    def local_name(self) -> str:
        """The name within its API: without the namespace."""
        return self.name.removeprefix(f"{self.namespace}__") if self.namespace else self.name

    @property
    def success(self) -> Response | None:
        """The documented 2xx response, the one with content first; None when there is none."""
        good = [response for response in self.responses if response.status.startswith("2")]
        good.sort(key=lambda response: (response.schema is None, response.status))
        return good[0] if good else next((r for r in self.responses if r.status == "default"), None)

    @property
    def response_schema(self) -> Schema | None:
        """The schema of what a program gets for the documented 2xx response; None if it has none.

        XML is a text to it, whatever its elements are.
        """
        if self.success is None or self.success.schema is None:
            return None
        return _TEXT_RESULTS.get(self.success.kind, self.success.schema)

    @property
    def result_headers(self) -> dict[str, Schema]:
        """The documented headers of 2xx responses that say more than how the call went."""
        good = [response for response in self.responses if response.status.startswith("2")]
        return {name: schema for response in good for name, schema in telling_headers(response).items()}

    def response(self, status: int) -> Response | None:
        """The documented response with this status; None where the document has none that covers it."""
        by_status = {response.status: response for response in self.responses}
        names = (str(status), f"{status // 100}XX", "default")
        return next((by_status[name] for name in names if name in by_status), None)

    @property
    def writes(self) -> bool:
        """True if a call may change the service's state: by the HTTP method, unless it is declared to read."""
        return self.method not in READS and not self.reads

    @property
    def gives_nothing(self) -> bool:
        """True for a function without a result."""
        return self.function is not None and not self.responses

    @property
    def positional(self) -> tuple[Parameter, ...]:
        """The arguments that may go without a name, in order; the last one may be a list of all that follow."""
        if self.function is None:
            return tuple(parameter for parameter in self.arguments if parameter.location == "path")
        kinds = self.function.kinds
        return tuple(p for p in self.arguments if kinds[p.argument].name.removeprefix("VAR_").startswith("POSITIONAL"))

    def argument(self, name: str) -> Parameter | None:
        """The argument of that name; None if there is none."""
        return next((parameter for parameter in self.arguments if parameter.argument == name), None)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An operation that is no tool, and why.

    `name` is what its tool would be called. `place` is where it stands in the document; a whole path that cannot be
    read has neither method nor name. `chosen` is True where the user left it out; `tags` are kept then, so that the
    same pattern fits it again.
    """

    method: str
    path: str
    name: str
    reason: str
    operation_id: str = ""
    place: str = ""
    namespace: str = ""
    chosen: bool = False
    tags: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What it is called in a list: `DELETE /films/{id} (DELETE_films_id)`."""
        operation = f"{self.method} {self.path}".strip() or self.place
        return f"{operation} ({self.name})" if self.name else operation

    @property
    def names(self) -> frozenset[str]:
        """What a program may call it."""
        alias = _alias(self.namespace, self.operation_id) if self.operation_id else ""
        return frozenset({self.name, alias} - {""})

    @property
    def sentence(self) -> str:
        """`it was left out by --without DELETE`, `it was left out of the document: the reason`."""
        return f"it was left out {self.reason}" if self.chosen else f"it was left out of the document: {self.reason}"


@dataclass(frozen=True, slots=True)
class Protocol:
    """An API: its tools in document order, servers, security schemes, and warnings about repairs."""

    title: str
    version: str
    description: str
    servers: tuple[Server, ...]
    tools: tuple[Tool, ...]
    security_schemes: tuple[SecurityScheme, ...] = ()
    definitions: Mapping[str, Schema] = field(default_factory=dict)
    components: Mapping[str, Schema] = field(default_factory=dict)
    """Named schemas of the document, the same objects as those in the tools."""
    warnings: tuple[str, ...] = ()
    digest: str = ""
    """sha256 of the document's bytes, in hex."""
    left_out: tuple[LeftOut, ...] = ()
    """The operations that are no tools, in document order."""

    @classmethod
    def from_functions(cls, functions: object, *, name: str = "functions", reads: Collection[str] = ()) -> Protocol:
        """Make tools of Python functions, which run in this process when a program calls them.

        Docstrings (`Args:` sections), type hints and `Annotated[int, "what it is"]` describe them. A program calls a
        function by its name, positionally too, and a method of an object as `object.method(…)`. Classes whose instances
        are arguments or results (dataclasses, and classes whose constructor keeps its arguments as attributes) are
        constructors in a program. Dates, paths and UUIDs are texts there, a Decimal is a number, a timedelta its
        seconds, and a TypedDict a dict.

        Args:
            functions: A function, a class, an object (all its public methods, under its class's name in lower case),
                several of these, or a mapping from the names that programs use to them; methods of an object that is
                named "" are called without its name.
            name: What to call all of it.
            reads: Names of the functions that only read; every other one is taken to write.
        Raises: UsageError: A function has no docstring or type hints, or two have one name; the message says where.
        """
        from protocols.functions.collection import collect

        tools = tuple(map(tool_of, collect(functions, reads)))
        texts = [
            [
                tool.method,
                tool.function and tool.function.typed_usage,
                tool.description,
                [[argument.argument, argument.schema, argument.description] for argument in tool.arguments],
                [response.schema for response in tool.responses],
            ]
            for tool in tools
        ]
        digest = hashlib.sha256(json.dumps([name, *texts]).encode()).hexdigest()
        return cls(name, "", "", (), tools, digest=digest)

    def __contains__(self, name: object) -> bool:
        return any(tool.name == name for tool in self.tools) or name in self.aliases

    def tool(self, name: str) -> Tool:
        """The tool of that name or alias. Raises: KeyError."""
        for tool in self.tools:
            if tool.name == name:
                return tool
        return self.tool(self.aliases[name])

    def why_left_out(self, name: str) -> str | None:
        """`it was left out …`, for the name or alias of an operation that is no tool; None for any other name."""
        operation = self.left_out_as(name)
        return operation.sentence if operation is not None else None

    def left_out_as(self, name: str) -> LeftOut | None:
        """The operation that is no tool, of that name or alias; None for any other name."""
        return None if name in self else next((entry for entry in self.left_out if name in entry.names), None)

    @property
    def left_out_names(self) -> frozenset[str]:
        """The names and aliases of operations that are no tools; without those that something else has."""
        names = {name for operation in self.left_out for name in operation.names if name.isidentifier()}
        return frozenset(names - {tool.name for tool in self.tools} - self.aliases.keys() - RESERVED)

    @property
    def of_functions(self) -> bool:
        """True if all tools are functions of this process."""
        return bool(self.tools) and all(tool.function is not None for tool in self.tools)

    @property
    def aliases(self) -> Mapping[str, str]:
        """Tool names by their alias, the document's `operationId`.

        Left out are ids that two operations share, tool names, builtins and keywords.
        """
        counts = Counter(_alias(tool.namespace, tool.operation_id) for tool in self.tools if tool.operation_id)
        taken = {tool.name for tool in self.tools} | set(dir(builtins)) | set(keyword.softkwlist)
        named = {_alias(tool.namespace, tool.operation_id): tool.name for tool in self.tools if tool.operation_id}
        return {alias: name for alias, name in named.items() if counts[alias] == 1 and alias not in taken}

    @property
    def value_classes(self) -> frozenset[str]:
        """The names of the tools that construct instances of a value class."""
        return frozenset(tool.name for tool in self.tools if tool.function and tool.function.made)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces of the APIs in it, in order; none for the only one."""
        return tuple(dict.fromkeys(tool.namespace for tool in self.tools if tool.namespace))

    @property
    def apis(self) -> Mapping[str, Protocol]:
        """The APIs in it by namespace; the only one under ""."""
        apis = {}
        for namespace in self.namespaces:
            tools = tuple(tool for tool in self.tools if tool.namespace == namespace)
            listed = dict.fromkeys(server for tool in tools for server in tool.servers)
            servers = tuple(sorted(listed, key=lambda server: server.scope != "api"))
            schemes = tuple(scheme for scheme in self.security_schemes if scheme.namespace == namespace)
            left_out = tuple(operation for operation in self.left_out if operation.namespace == namespace)
            apis[namespace] = replace(self, tools=tools, servers=servers, security_schemes=schemes, left_out=left_out)
        return apis or {"": self}

    @property
    def of_server(self) -> bool:
        """True if some tool is one of a server that is called over the Model Context Protocol."""
        return any(tool.function is not None and tool.function.remote for tool in self.tools)

    def close(self) -> None:
        """End the connections to servers behind the tools; the next call opens them again."""
        for tool in self.tools:
            if tool.function is not None:
                tool.function.close()

    def under(self, url: str) -> str | dict[str, str]:
        """The base URL of a server that offers it; of several APIs, the one of each, in a folder of its name."""
        return {namespace: type(url)(f"{url}/{namespace}") for namespace in self.namespaces} or url

    def only(self, names: Iterable[str]) -> Protocol:
        """The same API with just the named tools, in the order of `names`. Raises: KeyError."""
        return replace(self, tools=tuple(self.tool(name) for name in dict.fromkeys(names)))

    def with_values(self, names: Iterable[str]) -> tuple[str, ...]:
        """The names of tools, and behind them those of the value classes that their arguments and results hold."""
        offered = dict.fromkeys(names)
        constructors = self.value_classes
        waiting = list(offered) if constructors else []
        while waiting:
            tool = self.tool(waiting.pop())
            schemas = [*(parameter.schema for parameter in tool.arguments), tool.response_schema or {}]
            for name in (title for schema in schemas for title in _titles(schema) if title in constructors):
                if name not in offered:
                    offered[name] = None
                    waiting.append(name)
        return tuple(offered)

    def standalone(self, schema: Schema) -> Schema:
        """The schema with the definitions that it may refer to, for a validator."""
        return {**schema, "$defs": dict(self.definitions)} if self.definitions else schema


def _titles(schema: object) -> Iterator[str]:
    """The titles of a schema and of those in it."""
    if isinstance(schema, Mapping):
        yield from [str(schema["title"])] if isinstance(schema.get("title"), str) else []
        yield from (title for part in schema.values() for title in _titles(part))
    elif isinstance(schema, list):
        yield from (title for part in schema for title in _titles(part))


def _alias(namespace: str, operation_id: str) -> str:
    """The name that a tool has by its `operationId`."""
    return f"{namespace}__" * bool(namespace) + argument_name(operation_id)


def tool_of(function: HostFunction) -> Tool:
    """The tool that a function becomes; a server's word that one reads can be taken back (see protocols.choice)."""
    from protocols.functions.values import default_json

    parameters = []
    for name, parameter in function.signature.parameters.items():
        schema = dict(function.hints[name].schema)
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        required = parameter.default is parameter.empty and not variadic
        default = default_json(parameter.default)
        if isinstance(default, str | int | float):
            schema["default"] = default
        described = schema.pop("description", "")  # of its hint
        description = function.document.arguments.get(name, "") or str(described)
        parameters.append(Parameter(name, name, "function", required, schema, description))
    result = function.result.schema
    response = Response("200", function.document.returns, "application/json", result) if result != NOTHING else None
    return Tool(
        name=function.name,
        method="READ" if function.reads and not function.remote else "CALL",
        path=function.name,
        summary=function.document.summary,
        description=function.document.description,
        parameters=(),
        arguments=tuple(parameters),
        body=None,
        responses=(response,) if response is not None else (),
        servers=(),
        function=function,
        reads=function.reads and function.remote,
    )


_TEXT_RESULTS: Mapping[str, Schema] = {"xml": {"type": "string"}, "bytes": {"type": "string", "format": "binary"}}

NOTHING: Schema = {"type": "null"}
"""The schema of the result of a function that gives none."""
