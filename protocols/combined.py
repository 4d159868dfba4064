"""Several APIs as one protocol: the tools of each have its namespace in front of their names, as in `shop__GET_orders`.

Servers, security schemes and schemas stay those of their own API, so a credential of one never meets another. The data
flow goes across: it follows the names of identifiers, whichever API they are of.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from protocols.errors import UsageError
from protocols.model import Body, LeftOut, Parameter, Protocol, Response, Schema, SecurityScheme, Tool
from protocols.naming import check_namespace, split_namespace
from protocols.sources import Source, load, loaded

__all__ = ["as_one_api", "combine", "load_specs"]

_DEFINITION = "#/$defs/"


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
        loaded(source, [text for owner, text in signed if owner == name], urls.get(name))
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
            from protocols.documents.web import display_name

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
