"""`load` for every kind of source: an API document, functions of a Python file, an MCP server, saved programs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from protocols.errors import UsageError
from protocols.model import Protocol

__all__ = ["LOADERS", "Source", "load", "loaded"]

Source: TypeAlias = str | Path | Mapping[str, Any] | Protocol
"""What `load` takes, or what it gives."""

LOADERS: dict[str, str] = {}
"""The function that loads a source, as `module:function`, by what stands before the colon of the source: kinds that
packages to the right of this one add. It takes the text behind the colon and the credentials, as `load` takes them, and
gives a Protocol. It is imported at its first use."""

_FUNCTIONS = "functions:"


def load(
    source: str | Path | Mapping[str, Any],
    auth: Sequence[str] = (),
    base_url: str | Mapping[str, str] | None = None,
) -> Protocol:
    """Read an API document, or list the functions of a file or a server.

    Args:
        source: A file, an http(s) URL or the parsed document; OpenAPI 3.0 to 3.2, Swagger 2.0, a tool file
            (`endpoints`) or tool records (`api_list`), in JSON or YAML. A dict is not changed. `functions:FILE.py`
            names a Python file whose functions are the tools; it is run. `saved:DIR` names a folder with programs of
            `atc save` (once `atc` is imported; see LOADERS). `mcp:stdio:COMMAND` starts an MCP server,
            `mcp:https://…` reaches one; its tools are called there.
        auth: Credentials for an MCP server or for saved programs, as atc.options.Options has them. A document at an
            address is read with them where its server refuses it without; no other server gets them.
        base_url: Where the API is, if the user says so: credentials for it are not for a document elsewhere.
    Returns: The Protocol; its `warnings` count repaired defects and name operations left out, as `left_out` does.
    Raises:
        ProtocolError: The document cannot be read, is of another kind, or has no usable operation.
        UsageError: A Python file cannot be run, or has no functions that can be tools; or the text behind `mcp:` names
            no server.
        APIError: An MCP server cannot be reached, or is none.
    """
    text = source if isinstance(source, str) else ""
    scheme, colon, rest = text.partition(":")
    if text.startswith("mcp:"):
        from protocols.mcp.tools import load_server

        return load_server(text, auth)
    if colon and scheme in LOADERS:
        module, _, function = LOADERS[scheme].partition(":")
        protocol: Protocol = getattr(importlib.import_module(module), function)(rest, auth)
        return protocol
    if text.startswith(_FUNCTIONS):
        return _of_file(text)
    if isinstance(source, str | Path) and str(source).endswith(".py"):
        raise UsageError(f"{source} is no API document; its functions become tools with {_FUNCTIONS}{source}")
    from protocols.documents import loader

    if text.startswith(("http://", "https://")):
        from protocols.calls.document_sign_in import document_sign_in

        return loader.load(text, document_sign_in(text, auth, base_url if isinstance(base_url, str) else ""))
    return loader.load(source)


def loaded(source: Source, auth: Sequence[str], base_url: str | Mapping[str, str] | None) -> Protocol:
    """A protocol as it is, anything else as `load` takes it."""
    return source if isinstance(source, Protocol) else load(source, auth, base_url)


def _of_file(source: str) -> Protocol:
    """The functions of a Python file, which is run; what they print is no output of a command."""
    from protocols.functions.source_file import read_functions

    name, functions, reads = read_functions(source)
    protocol = Protocol.from_functions(functions, name=name, reads=reads)
    tools = (replace(t, function=replace(t.function, to_stderr=True)) for t in protocol.tools if t.function)
    return replace(protocol, tools=tuple(tools))
