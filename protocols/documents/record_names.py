"""The published names of APIs in tool records: how a display name becomes a file, a folder and a function.

Files, servers and released weights know these names alone. Not all are Python identifiers: `function_identifier`
gives the name that a program writes.

Source: ToolLLM (arXiv:2307.16789) and its released files.
"""

from __future__ import annotations

import re

from protocols.naming import argument_name

__all__ = [
    "MAX_NAME",
    "category_folder",
    "function_identifier",
    "function_name",
    "parameter_name",
    "standard_name",
]

MAX_NAME = 64
"""Characters of a function name; of a longer one the last are kept."""

_RESERVED = frozenset({"from", "class", "return", "false", "true", "id", "and"})
_OUTSIDE = re.compile(r"[^\u4e00-\u9fa5a-zA-Z0-9_^]")


def standard_name(text: str) -> str:
    """The standardized name of a tool: `Get User^Info` -> `get_user^info`, `123 go` -> `get_123_go`.

    The `^` survives. An empty text stays empty.
    """
    name = re.sub("_+", "_", _OUTSIDE.sub("_", text)).lower().strip("_")
    return f"get_{name}" if name[:1].isdigit() else name


def parameter_name(text: str) -> str:
    """The standardized name of an API or a parameter; a few reserved words get a prefix: `ID` -> `is_id`."""
    name = standard_name(text)
    return f"is_{name}" if name in _RESERVED else name


def category_folder(text: str) -> str:
    """The folder of a category: `News, Media` -> `News_Media`; one pass over double underscores, the case is kept."""
    return re.sub("[ ,/]", "_", text).replace("__", "_")


def function_name(api: str, tool: str) -> str:
    """The published function name of an API of a tool, from their display names."""
    return f"{parameter_name(api)}_for_{standard_name(tool)}"[-MAX_NAME:]


def function_identifier(api: str, tool: str) -> str:
    """The published function name as a Python identifier of at most 64 characters, without an underscore in front."""
    name = argument_name(function_name(api, tool))
    return name if len(name) <= MAX_NAME else name[-MAX_NAME + 1 :].lstrip("_").rjust(MAX_NAME, "n")
