"""`load` for every kind of source: an API document, functions of a Python file, an MCP server, saved programs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from protocols.documents import loader
from protocols.model import Protocol
from protocols.schemes import LOADERS

__all__ = ["Source", "load", "loaded"]

Source: TypeAlias = str | Path | Mapping[str, Any] | Protocol
"""What `load` takes, or what it gives."""


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
            `atc save` (once `atc` is imported; see protocols.schemes). `mcp:stdio:COMMAND` starts an MCP server,
            `mcp:https://…` reaches one; its tools are called there.
        auth: Credentials for an MCP server or for saved programs, as atc.options.Options has them. A document at an
            address is read with them where its server refuses it without; no other server gets them.
        base_url: Where the API is, if the user says so: credentials for it are not for a document elsewhere.
    Returns: The Protocol; its `warnings` count repaired defects and name operations left out.
    Raises:
        ProtocolError: The document cannot be read, is of another kind, or has no usable operation.
        UsageError: A Python file cannot be run, or has no functions that can be tools; or the text behind `mcp:` names
            no server.
        APIError: An MCP server cannot be reached, or is none.
    """
    if isinstance(source, str) and source.startswith("mcp:"):
        from protocols.mcp.tools import load_server

        return load_server(source, auth)
    scheme, colon, rest = source.partition(":") if isinstance(source, str) else ("", "", "")
    if colon and scheme in LOADERS:
        module, _, function = LOADERS[scheme].partition(":")
        protocol: Protocol = getattr(importlib.import_module(module), function)(rest, auth)
        return protocol
    if isinstance(source, str) and source.startswith(("http://", "https://")):
        from protocols.calls.auth import document_sign_in

        return loader.load(source, document_sign_in(source, auth, base_url if isinstance(base_url, str) else ""))
    return loader.load(source)


def loaded(source: Source, auth: Sequence[str], base_url: str | Mapping[str, str] | None) -> Protocol:
    """A protocol as it is, anything else as `load` takes it."""
    return source if isinstance(source, Protocol) else load(source, auth, base_url)
