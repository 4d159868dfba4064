"""Several APIs as one protocol: the tools of each have its namespace in front of their names, as in `shop__GET_orders`.

Servers, security schemes and schemas stay those of their own API, so a credential of one never meets another. The data
flow goes across: it follows the names of identifiers, whichever API they are of.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from protocols.documents.web import display_name
from protocols.errors import UsageError
from protocols.model import Body, LeftOut, Parameter, Protocol, Response, Schema, SecurityScheme, Tool
from protocols.naming import check_namespace, split_namespace
from protocols.sources import load

__all__ = ["as_one_api", "combine", "gather", "load_specs"]

Source: TypeAlias = str | Path | Mapping[str, Any] | Protocol
"""What `load` takes, or what it gives."""

_DOCUMENT_KEYS = frozenset({"openapi", "swagger", "endpoints", "api_list", "paths", "info"})
"""Keys of a parsed document, one of which is in each."""

_DEFINITION = "#/$defs/"

_UNSPECIFIC = frozenset({"a", "an", "the", "my", "our", "api", "apis", "openapi", "swagger", "rest", "http", "v"})
"""Words of a title that tell no API from another."""


def gather(tools: object, auth: Sequence[str] = (), base_url: str | Mapping[str, str] | None = None) -> Protocol:
    """One protocol of all that has tools.

    Python functions keep their names, and so do the tools of the only API beside them. Several APIs have namespaces:
    the keys of a mapping, or in a list the first telling word of each title.

    Args:
        tools: What `load` takes, a Protocol, a Python function, an object with public methods; or several of these, as
            a list or a mapping by name (see `Protocol.from_functions` for the names of functions).
        auth, base_url: As atc.options.Options has them. In a list of several APIs they are not used to read a source.
    Raises:
        UsageError: Something is no source of tools, two tools have one name, or two APIs would have one namespace.
        ProtocolError: A document cannot be read.
    """
    if _is_source(tools):
        return _loaded(tools, auth, base_url)
    if isinstance(tools, Mapping):
        named = {str(name): part for name, part in tools.items() if _is_source(part)}
        functions: object = {name: part for name, part in tools.items() if not _is_source(part)}
        apis = [combine(named, auth, base_url)] if named else []
    elif isinstance(tools, list | tuple):
        sources = [part for part in tools if _is_source(part)]
        functions = [part for part in tools if not _is_source(part)]
        if any(isinstance(part, Mapping) for part in functions):
            raise UsageError("a mapping by name cannot stand in a list: put all sources into it")
        apis = _apis_of_list(sources, auth, base_url)
    else:
        functions, apis = tools, []
    if not (functions or apis):
        raise UsageError("there are no tools: give an API document, a function, an object, or several of these")
    parts = [*apis, *([Protocol.from_functions(functions)] if functions else [])]
    return reduce(_beside, parts)


def _is_source(part: object) -> TypeGuard[Source]:
    """True of what `load` takes or gives; False of functions, objects, and several sources."""
    is_document = isinstance(part, Mapping) and not _DOCUMENT_KEYS.isdisjoint(part)
    return is_document or isinstance(part, str | Path | Protocol)


def _loaded(source: Source, auth: Sequence[str], base_url: str | Mapping[str, str] | None) -> Protocol:
    return source if isinstance(source, Protocol) else load(source, auth, base_url)


def _apis_of_list(
    sources: Sequence[Source], auth: Sequence[str], base_url: str | Mapping[str, str] | None
) -> list[Protocol]:
    """The APIs without a name, one beside another; those of Python functions come last. Raises: UsageError."""
    own = auth if len(sources) == 1 else ()
    protocols = [_loaded(source, own, base_url) for source in sources]
    local = [protocol for protocol in protocols if protocol.of_functions and not protocol.of_server]
    remote = [protocol for protocol in protocols if protocol not in local]
    if len(remote) < 2:
        return [*remote, *local]
    named: dict[str, Protocol] = {}
    for protocol in remote:
        words = re.findall(r"[a-z][a-z0-9]*", protocol.title.lower())
        name = next((word for word in words if re.fullmatch(r"[a-z]+", word) and word not in _UNSPECIFIC), "")
        if not name or name in named:
            problem = "another one begins with the same word" if name else "no word of it is a name"
            raise UsageError(
                f"the tools of several APIs have names before theirs, and none can be made of the title "
                f"{protocol.title!r}: {problem}; name them, as in {{'first': SOURCE, 'second': SOURCE}}"
            )
        named[name] = protocol
    return [combine(named, auth), *local]


def _beside(api: Protocol, functions: Protocol) -> Protocol:
    """A protocol with Python functions among its tools. Raises: UsageError: Two tools have one name."""
    double = next((tool.name for tool in functions.tools if tool.name in api), None)
    if double is not None:
        raise UsageError(
            f"two tools are called {double}: a function and one of {api.title}; pass the function under another name, "
            f"as in {{'my_{double}': …}}"
        )
    digest = hashlib.sha256(f"{api.digest}\n{functions.digest}".encode()).hexdigest()
    return replace(api, tools=api.tools + functions.tools, digest=digest)


def combine(
    sources: Mapping[str, Source], auth: Sequence[str] = (), base_url: str | Mapping[str, str] | None = None
) -> Protocol:
    """Make one protocol of several, to be used together.

    Tools, aliases and security schemes are named `shop__GET_orders`, `shop__listOrders` and `shop=token` by the
    namespace `shop`. Value classes of Python functions keep their names. Base URLs, credentials and headers name the
    API that they are for.

    Args:
        sources: What `load` takes, or a Protocol, by namespace.
        auth, base_url: As atc.options.Options has them; `load` gets those of its own API.
    Raises:
        UsageError: A namespace is no identifier, two value classes have one name, or a source is combined already.
        ProtocolError: A document cannot be read.
    """
    if not sources:
        raise UsageError("there is no API to combine")
    names = [check_namespace(name) for name in sources]
    signed = [(namespace, text) for namespace, text in map(split_namespace, auth)]
    urls = base_url if isinstance(base_url, Mapping) else {}
    protocols = [
        _loaded(source, [text for owner, text in signed if owner == name], urls.get(name))
        for name, source in sources.items()
    ]
    parts = [_within(name, protocol) for name, protocol in zip(names, protocols, strict=True)]
    tools = tuple(tool for part in parts for tool in part.tools)
    double = next((name for name, count in Counter(tool.name for tool in tools).items() if count > 1), None)
    if double is not None:
        raise UsageError(f"two of the APIs have a value class {double}; rename one of them")
    digests = "\n".join(f"{name} {protocol.digest}" for name, protocol in zip(names, protocols, strict=True))
    named = dict(zip(names, parts, strict=True))
    return Protocol(
        title=", ".join(f"{name}: {part.title}" for name, part in named.items()),
        version="",
        description="\n\n".join(f"{name}: {part.description}" for name, part in named.items() if part.description),
        servers=(),
        tools=tools,
        security_schemes=tuple(scheme for part in parts for scheme in part.security_schemes),
        definitions={name: schema for part in parts for name, schema in part.definitions.items()},
        components={name: schema for part in parts for name, schema in part.components.items()},
        warnings=tuple(f"{name}: {warning}" for name, part in named.items() for warning in part.warnings),
        digest=hashlib.sha256(digests.encode()).hexdigest(),
        left_out=tuple(operation for part in parts for operation in part.left_out),
    )


def load_specs(
    specs: str | Sequence[str], auth: Sequence[str] = (), base_url: str | Mapping[str, str] | None = None
) -> Protocol:
    """The protocol that `--api` names: SPEC alone, or NAME=SPEC once for each of several APIs.

    Args:
        auth, base_url: As `combine` takes them.
    Raises:
        UsageError: One of several has no name, or the name of another.
        ProtocolError: A document cannot be read.
    """
    texts = [specs] if isinstance(specs, str) else list(specs)
    if len(texts) == 1 and not split_namespace(texts[0])[0]:
        return load(texts[0], auth, base_url)
    sources: dict[str, Source] = {}
    for namespace, source in map(split_namespace, texts):
        if not namespace:
            raise UsageError(f"--api {display_name(source)}: several APIs have names, as in --api shop=SPEC")
        if namespace in sources:
            raise UsageError(f"--api {namespace}=…: two APIs have this name; give each one of its own")
        sources[namespace] = source
    return combine(sources, auth, base_url)


def as_one_api(protocol: Protocol) -> Protocol:
    """A combined protocol as one server offers it, each API in a folder: `/shop/orders`."""
    tools = (replace(tool, path=f"/{tool.namespace}{tool.path}", servers=()) for tool in protocol.tools)
    return replace(protocol, tools=tuple(tools))


def _within(namespace: str, protocol: Protocol) -> Protocol:
    """A protocol whose names are those of a namespace."""
    if protocol.namespaces:
        raise UsageError(f"{namespace}: this protocol is combined already; combine all sources at once")
    schemas = _SchemaRenamer(namespace) if protocol.definitions else None
    return replace(
        protocol,
        tools=tuple(_tool_within(namespace, tool, protocol, schemas) for tool in protocol.tools),
        security_schemes=tuple(_scheme_within(namespace, scheme) for scheme in protocol.security_schemes),
        left_out=tuple(_left_out_within(namespace, operation) for operation in protocol.left_out),
        definitions={f"{namespace}__{name}": _renamed(schemas, part) for name, part in protocol.definitions.items()},
        components={f"{namespace}__{name}": _renamed(schemas, part) for name, part in protocol.components.items()},
    )


def _tool_within(namespace: str, tool: Tool, protocol: Protocol, schemas: _SchemaRenamer | None) -> Tool:
    function = tool.function
    name = f"{namespace}__{tool.name}"
    if function is not None and function.made is not None:
        name = tool.name  # hints and values name the class
    elif function is not None:
        function = replace(function, name=name)
    if schemas is not None:
        tool = schemas.tool(tool)
    return replace(
        tool,
        name=name,
        namespace=namespace,
        function=function,
        servers=tool.servers or protocol.servers,
        security=tuple(tuple(f"{namespace}={scheme}" for scheme in schemes) for schemes in tool.security),
    )


def _left_out_within(namespace: str, operation: LeftOut) -> LeftOut:
    return replace(operation, name=f"{namespace}__{operation.name}" * bool(operation.name), namespace=namespace)


def _scheme_within(namespace: str, scheme: SecurityScheme) -> SecurityScheme:
    return replace(scheme, name=f"{namespace}={scheme.name}", namespace=namespace)


def _renamed(schemas: _SchemaRenamer | None, schema: Schema) -> Schema:
    return schema if schemas is None else schemas.schema(schema)


class _SchemaRenamer:
    """Schemas with references to the definitions of a namespace; a part that tools share is shared afterwards, too."""

    def __init__(self, namespace: str) -> None:
        self._prefix = f"{_DEFINITION}{namespace}__"
        self._made: dict[int, tuple[object, object]] = {}

    def schema(self, schema: Schema) -> Schema:
        renamed: Schema = self._value(schema)
        return renamed

    def tool(self, tool: Tool) -> Tool:
        return replace(
            tool,
            parameters=tuple(map(self._parameter, tool.parameters)),
            arguments=tuple(map(self._parameter, tool.arguments)),
            body=tool.body and self._body(tool.body),
            responses=tuple(map(self._response, tool.responses)),
        )

    def _parameter(self, parameter: Parameter) -> Parameter:
        return replace(parameter, schema=self.schema(parameter.schema))

    def _body(self, body: Body) -> Body:
        return replace(body, schema=self.schema(body.schema))

    def _response(self, response: Response) -> Response:
        headers = {name: self.schema(schema) for name, schema in response.headers.items()}
        return replace(response, schema=response.schema and self.schema(response.schema), headers=headers)

    def _value(self, value: Any) -> Any:
        if not isinstance(value, Mapping | list):
            return value
        if id(value) not in self._made:
            new: object = [self._value(part) for part in value] if isinstance(value, list) else self._object(value)
            self._made[id(value)] = value, new  # the old one stays, and so does its id
        return self._made[id(value)][1]

    def _object(self, value: Mapping[str, Any]) -> dict[str, object]:
        return {
            key: self._prefix + part.removeprefix(_DEFINITION)
            if key == "$ref" and isinstance(part, str) and part.startswith(_DEFINITION)
            else self._value(part)
            for key, part in value.items()
        }
