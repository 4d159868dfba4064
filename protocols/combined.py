"""Several APIs as one protocol: the tools of each have its namespace in front of their names, as in `shop__GET_orders`.

Servers, security schemes and schemas stay those of their own API, so a credential of one never meets another. The data
flow goes across: it follows the names of identifiers, whichever API they are of.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from protocols.errors import UsageError
from protocols.model import Protocol, Tool
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
    renamed = _Renamer(f"{_DEFINITION}{namespace}__") if protocol.definitions else _same
    return replace(
        protocol,
        tools=tuple(_tool_within(namespace, tool, protocol, renamed) for tool in protocol.tools),
        security_schemes=tuple(
            replace(scheme, name=f"{namespace}={scheme.name}", namespace=namespace)
            for scheme in protocol.security_schemes
        ),
        left_out=tuple(
            replace(entry, name=f"{namespace}__{entry.name}" * bool(entry.name), namespace=namespace)
            for entry in protocol.left_out
        ),
        definitions={f"{namespace}__{name}": renamed(part) for name, part in protocol.definitions.items()},
        components={f"{namespace}__{name}": renamed(part) for name, part in protocol.components.items()},
    )


def _tool_within(namespace: str, tool: Tool, protocol: Protocol, renamed: Callable[[Any], Any]) -> Tool:
    function = tool.function
    name = f"{namespace}__{tool.name}"
    if function is not None and function.made is not None:
        name = tool.name  # hints and values name the class
    elif function is not None:
        function = replace(function, name=name)
    return replace(
        tool,
        name=name,
        parameters=renamed(tool.parameters),
        arguments=renamed(tool.arguments),
        body=renamed(tool.body),
        responses=renamed(tool.responses),
        namespace=namespace,
        function=function,
        servers=tool.servers or protocol.servers,
        security=tuple(tuple(f"{namespace}={scheme}" for scheme in schemes) for schemes in tool.security),
    )


def _same(value: Any) -> Any:
    return value


class _Renamer:
    """Values whose schemas refer to the definitions of a namespace; what tools share is shared afterwards, too."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._made: dict[int, tuple[object, object]] = {}

    def __call__(self, value: Any) -> Any:
        if not isinstance(value, Mapping | list | tuple) and not is_dataclass(value):
            return value
        if id(value) not in self._made:
            self._made[id(value)] = value, self._renamed(value)  # the old one stays, and so does its id
        return self._made[id(value)][1]

    def _renamed(self, value: Any) -> Any:
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{field.name: self(getattr(value, field.name)) for field in fields(value)})
        if not isinstance(value, Mapping):
            return type(value)(map(self, value))
        new = {key: self(part) for key, part in value.items()}
        if isinstance(new.get("$ref"), str) and new["$ref"].startswith(_DEFINITION):
            new["$ref"] = self._prefix + new["$ref"].removeprefix(_DEFINITION)
        return new
