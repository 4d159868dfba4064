"""`load` for every kind of API document: read, recognize the dialect, repair, build the Protocol."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocols.documents import openapi
from protocols.documents.source import METHODS, DocumentSet, parse, read
from protocols.errors import ProtocolError
from protocols.model import LeftOut, Protocol

if TYPE_CHECKING:
    from protocols.documents.web import SignIn

__all__ = ["load"]

_NAMED = 5
_TWICE = "its key stands twice in the document, and the last one counts"


def load(source: str | Path | Mapping[str, Any], sign_in: SignIn | None = None) -> Protocol:
    """Read an API document.

    Args:
        source: A file, an http(s) URL or the parsed document; OpenAPI 3.0 to 3.2, Swagger 2.0, a tool file
            (`endpoints`) or tool records (`api_list`), in JSON or YAML. A dict is not changed.
        sign_in: For a document at an address, where its server asks for a credential.
    Returns: The Protocol; its `warnings` count repaired defects and name operations left out, as `left_out` does.
    Raises: ProtocolError: The document cannot be read, is of another kind, or has no usable operation.
    """
    repeated: list[str] = []
    if isinstance(source, Mapping):
        data, uri, name = json.dumps(source, default=str).encode(), "", "document"
        content: Any = source
    else:
        data, uri, name = read(source, sign_in)
        content = parse(data, name, repeated)
    digest = hashlib.sha256(data).hexdigest()
    try:
        protocol = _with_repeated_keys(_build(content, uri, name, digest, sign_in), repeated)
    except RecursionError:
        raise ProtocolError(f"{name}: nested too deeply") from None
    if not protocol.tools:
        reasons = "; ".join(warning for warning in protocol.warnings if warning.startswith("left out"))
        raise ProtocolError(f"{name}: no operation in it can be used{': ' + reasons if reasons else ''}")
    return protocol


def _build(content: Any, uri: str, name: str, digest: str, sign_in: SignIn | None) -> Protocol:
    if not isinstance(content, Mapping):
        raise ProtocolError(f"{name}: not an API document: it holds {_kind(content)} where an object is expected")
    document, original_pointers = _as_openapi(content, name)
    if not isinstance(document.get("paths"), Mapping) or not document["paths"]:
        missing = "there are no `paths`, `endpoints` or `api_list` in it"
        raise ProtocolError(f"{name}: {missing}, so there is nothing to call")
    protocol = openapi.protocol(document, DocumentSet(document, uri, name, sign_in), digest)
    left_out = [
        replace(operation, place=_with_original_pointers(operation.place, original_pointers))
        for operation in protocol.left_out
    ]
    newer = ["OpenAPI 3.2 is read as far as 3.1 goes"] if str(document.get("openapi")).startswith("3.2") else []
    notes = (_with_original_pointers(text, original_pointers) for text in protocol.warnings)
    listed = (f"left out {operation.place}: {operation.reason}" for operation in left_out)
    return replace(protocol, warnings=(*newer, *notes, *listed), left_out=tuple(left_out))


def _with_repeated_keys(protocol: Protocol, repeated: list[str]) -> Protocol:
    """The protocol, with a word about what keys hide that stand twice in an object of its document."""
    keys = list(dict.fromkeys(repeated))
    hidden = [key for key in keys if key.startswith("/") or key.lower() in METHODS]
    left_out = tuple(LeftOut("", key, "", _TWICE, place=f"the first {key}") for key in hidden)
    others = [key[:60] for key in keys if key not in hidden]
    ellipsis = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    notes = (f"keys stand twice, and the last one counts: {', '.join(others[:_NAMED])}{ellipsis}",) if others else ()
    listed = (f"left out {operation.place}: {operation.reason}" for operation in left_out)
    return replace(
        protocol,
        warnings=(*notes, *protocol.warnings, *listed),
        left_out=(*protocol.left_out, *left_out),
    )


def _with_original_pointers(warning: str, original_pointers: Mapping[str, str]) -> str:
    """The warning with JSON pointers into the original document."""
    for new, old in original_pointers.items():
        warning = re.sub(re.escape(new) + r"(?![\w{}~#-])", lambda _, old=old: old, warning)  # type: ignore[misc]
    return warning


def _as_openapi(content: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """The document as OpenAPI 3, and the original JSON pointers by prefix."""
    if isinstance(content.get("endpoints"), list):
        from protocols.documents import tool_files

        return tool_files.upgrade(content, Path(name).name.split(".")[0])
    if isinstance(content.get("api_list"), list):
        from protocols.documents import tool_records

        return tool_records.upgrade(content, name)
    version = str(content.get("openapi") or content.get("swagger") or "")
    if "openapi" in content and version.startswith(("3.0", "3.1", "3.2")):
        return content, {}
    if "swagger" in content and version in ("2.0", "2"):
        from protocols.documents import swagger

        return swagger.upgrade(content)
    if version:
        supported = "OpenAPI 3.0 to 3.2 and Swagger 2.0 are"
        raise ProtocolError(f"{name}: version {version[:20]!r} is not supported; {supported}")
    raise ProtocolError(
        f"{name}: not an API document: it has neither `openapi` (3.0 to 3.2) nor `swagger` (2.0) nor `endpoints` "
        "nor `api_list`"
    )


def _kind(content: object) -> str:
    names = {"list": "a list", "str": "text", "NoneType": "nothing", "int": "a number", "float": "a number"}
    return names.get(type(content).__name__, type(content).__name__)
