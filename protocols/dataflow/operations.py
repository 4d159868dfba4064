"""Properties of an operation by its path and verbs: it reads, it is about the caller, it is about the present."""

from __future__ import annotations

from protocols.model import Tool
from protocols.text.words import words

__all__ = ["CURRENT", "is_called", "is_current", "is_own", "looks_like_read"]

CURRENT = frozenset({"active", "current", "currently", "now"})
"""Path words of an operation that reads the present state."""
_SELF_WORDS = frozenset({"me", "my", "self"})
_READ_VERBS = frozenset(
    {"calculate", "check", "count", "estimate", "filter", "find", "get", "list", "lookup", "preview", "query", "read"}
    | {"search", "validate"}
)
"""Verbs of reading operations, whatever their method."""


def looks_like_read(tool: Tool) -> bool:
    """True if a POST only queries, by the verb of its name, its path or its description."""
    if tool.method != "POST":
        return False
    path_words = words(tool.path.rstrip("/").rpartition("/")[2])
    summary_words = words(tool.summary or tool.description)[:1]
    return not _READ_VERBS.isdisjoint({*path_words[:1], *path_words[-1:], *summary_words})


def is_called(tool: Tool, verb: str) -> bool:
    """True if an operation's path ends with a verb: `play` for `/player/play`."""
    return words(tool.path.rstrip("/").rpartition("/")[2]) == (verb,)


def is_own(tool: Tool) -> bool:
    """True if an operation is about the caller's own data, by its path: `/me/playlists`."""
    return not _SELF_WORDS.isdisjoint(words(tool.path))


def is_current(tool: Tool) -> bool:
    """True if an operation reads the present state, by its path: `/me/player/currently-playing`."""
    return not tool.writes and not CURRENT.isdisjoint(words(tool.path))
