"""Whatever has tools as one protocol: an API document, Python functions, objects, or several of these."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TypeGuard

from protocols.errors import UsageError
from protocols.model import Protocol
from protocols.sources import Source, loaded

__all__ = ["gather"]

_DOCUMENT_KEYS = frozenset({"openapi", "swagger", "endpoints", "api_list", "paths", "info"})
"""Keys of a parsed document, one of which is in each."""

_UNSPECIFIC = frozenset({"a", "an", "the", "my", "our", "api", "apis", "openapi", "swagger", "rest", "http", "v"})
"""Words of a title that tell no API from another; tried on two titles."""


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
        return loaded(tools, auth, base_url)
    if isinstance(tools, Mapping):
        named = {str(name): part for name, part in tools.items() if _is_source(part)}
        functions: object = {name: part for name, part in tools.items() if not _is_source(part)}
        from protocols.combined import combine

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


def _apis_of_list(
    sources: Sequence[Source], auth: Sequence[str], base_url: str | Mapping[str, str] | None
) -> list[Protocol]:
    """The APIs without a name, one beside another; those of Python functions come last. Raises: UsageError."""
    own = auth if len(sources) == 1 else ()
    protocols = [loaded(source, own, base_url) for source in sources]
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
    from protocols.combined import combine

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
