"""The address of an API in the published protocol, and the request that names it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from protocols.documents.tool_records import category_folder, parameter_name, standard_name
from protocols.errors import ToolError

__all__ = ["APIAddress", "VirtualCall", "read_arguments", "read_call"]

_SUFFIX = "_for_"
_FOLDER = re.compile(r"[^./\\\0][^/\\\0]*")
"""A name of a folder that leads to no other one."""

PARSE_ERROR = "Tool input parse error...\n"
"""The published text for arguments that are no object."""


@dataclass(frozen=True, slots=True)
class APIAddress:
    """An API by its published names: folder of the category, standard name of the tool, name of the API."""

    category: str
    tool: str
    api: str

    @property
    def file(self) -> str:
        """Its file in a cache, relative to the cache's folder."""
        return f"{self.category}/{self.tool}{_SUFFIX}{self.category}/{self.api}.json"


@dataclass(frozen=True, slots=True)
class VirtualCall:
    """A request of the published protocol: the API, its arguments by published name, and how to shorten the reply."""

    address: APIAddress
    arguments: Mapping[str, Any]
    strip: str = ""


def read_call(body: Mapping[str, Any], compat: bool = False) -> VirtualCall:
    """Read a request whose fields are there.

    Names may be display names; a tool may end with `_for_CATEGORY`, an API with `_for_TOOL`.

    Raises: ToolError: A name is empty or leads out of the cache, or the arguments are no object.
    """
    names = str(body["category"]), str(body["tool_name"]), str(body["api_name"])
    address = _address(*names)
    if address is None:
        shown = ", ".join(repr(name[:100]) for name in names)
        raise ToolError(f"Unknown API error... category, tool and API must be names, not {shown}")
    return VirtualCall(address, read_arguments(body.get("tool_input"), compat), str(body.get("strip") or ""))


@lru_cache(maxsize=4096)
def _address(category: str, tool: str, api: str) -> APIAddress | None:
    """The address of three names; None if one is empty or no name of a folder."""
    folder = category_folder(unquote(category).strip())
    standard = standard_name(tool.removesuffix(f"{_SUFFIX}{category}"))
    standard = standard.removesuffix(f"_{standard_name(_SUFFIX + folder)}") or standard
    published = parameter_name(api)
    published = parameter_name(published.removesuffix(f"{_SUFFIX}{standard}")) or published
    if _FOLDER.fullmatch(folder) is None or not standard or not published:
        return None
    return APIAddress(folder, standard, published)


def read_arguments(raw: object, compat: bool = False) -> Mapping[str, Any]:
    """The arguments from an object or its text; an empty text is none.

    A Python literal is read too, but for `compat`. Raises: ToolError.
    """
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return {}
    value: object = raw
    if isinstance(raw, str):
        try:
            value = json.loads(raw, strict=False)
        except (ValueError, RecursionError):
            value = None if compat else _literal(raw)
    if not isinstance(value, Mapping):
        raise ToolError(PARSE_ERROR)
    return value


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text.strip()) if len(text) < 64 * 1024 else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
