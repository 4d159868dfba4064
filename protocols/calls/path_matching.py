"""The tool that a request addresses by its path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import unquote

from protocols.model import LeftOut, Protocol, Tool

__all__ = ["closest_left_out", "closest_write", "leniently", "match", "path_arguments"]

_TEMPLATE = re.compile(r"\{([^{}]*)\}")
_DECODINGS = 5
"""Times that a path may be encoded; one that is so more often is refused elsewhere."""


def match(protocol: Protocol, method: str, path: str) -> tuple[Tool, dict[str, str]] | None:
    """The tool that a request addresses, and its path arguments by argument name, decoded.

    Args:
        path: Percent-encoded, without the server's URL, without a query. A slash at the end makes no difference.
    """
    path = path.split("?")[0]
    best: tuple[tuple[int, ...], Tool, dict[str, str]] | None = None
    for tool in protocol.tools:
        if tool.method != method.upper():
            continue
        _, _, rank = _parsed_template(tool.path)
        if best is not None and rank >= best[0]:
            continue
        arguments = path_arguments(tool, path)
        if arguments is not None:
            best = rank, tool, arguments
    return best[1:] if best is not None else None


def closest_left_out(protocol: Protocol, method: str, path: str, tool: Tool | None = None) -> LeftOut | None:
    """The operation that is no tool and that a request addresses; None if there is none.

    Args:
        path: As `match` takes it. It is compared as a lenient service reads it: decoded, with several slashes as one,
            without what stands behind a `;`, in any case of letters.
        tool: What the request addresses else. Then only what the user left out counts, and only where its path says
            more: `/users/me` before `/users/{id}`.
    """
    if not protocol.left_out:
        return None
    read = leniently(path)
    matches = [
        operation
        for operation in protocol.left_out
        if operation.method == method.upper()
        and (tool is None or operation.chosen)
        and _fits(operation.path, read, tool)
    ]
    return max(matches, key=lambda operation: _literal(operation.path), default=None)


def closest_write(protocol: Protocol, tool: Tool, path: str) -> Tool | None:
    """The write that a lenient service may read in a request of a tool that is said to read; None if there is none."""
    read = leniently(path)
    return next(
        (
            other
            for other in protocol.tools
            if other.method == tool.method and other.writes and _fits(other.path, read, tool)
        ),
        None,
    )


def _fits(path: str, read: str, tool: Tool | None) -> bool:
    """True if a template fits a path, and better than that of a tool does."""
    if _lenient_template(path).fullmatch(read) is None:
        return False
    if tool is None or _literal(path) > _literal(tool.path):
        return True
    # The path of the tool, with a `+` before the variables that may have slashes.
    spanning = {p.name for p in tool.parameters if p.location == "path" and p.reserved}
    own = _TEMPLATE.sub(lambda variable: f"{{{'+' * (variable[1] in spanning)}{variable[1]}}}", tool.path)
    return _lenient_template(own).fullmatch(read) is None


def leniently(path: str) -> str:
    """A path as a lenient service reads it: decoded, with several slashes as one, without what stands behind a `;`."""
    path = path.split("?")[0]
    for _ in range(_DECODINGS):
        decoded = unquote(path)
        if decoded == path:
            break
        path = decoded
    return "/" + "/".join(re.sub(r";.*", "", part) for part in path.replace("\\", "/").split("/") if part).casefold()


def _literal(path: str) -> int:
    """How much of a template is fixed, in characters."""
    return len(_TEMPLATE.sub("", path).rstrip("/"))


@lru_cache(maxsize=4096)
def _lenient_template(path: str) -> re.Pattern[str]:
    parts = _TEMPLATE.split(path.split("?")[0].split("#")[0].casefold().rstrip("/") or "/")
    texts = [re.escape(text) for text in parts[::2]]
    holes = [".+" if re.match(r"[+*]|.*([*+]|\.\.\.)$", name) else "[^/]+" for name in parts[1::2]]
    return re.compile("".join(text + hole for text, hole in zip(texts, [*holes, ""], strict=True)), re.DOTALL)


def path_arguments(tool: Tool, path: str) -> dict[str, str] | None:
    """The path arguments of a request by argument name, decoded, as `match` gives them; None if it is for another tool.

    Args:
        path: Percent-encoded, without the server's URL, without a query.
    """
    requested = (path.rstrip("/") or "/").split("/")
    segments, names, _ = _parsed_template(tool.path)
    if len(segments) < len(requested):
        requested = _spanned(tool, segments, requested)
    if len(segments) != len(requested):
        return None
    segment_values = [_segment_values(literals, text) for literals, text in zip(segments, requested, strict=True)]
    if any(values is None for values in segment_values):
        return None
    arguments = {p.name: p.argument for p in tool.parameters if p.location == "path"}
    values = [unquote(value) for segment in segment_values for value in segment or ()]
    return {arguments.get(name, name): value for name, value in zip(names, values, strict=True)}


def _spanned(tool: Tool, segments: Sequence[tuple[str, ...]], requested: list[str]) -> list[str]:
    """The requested segments, with those together that one variable spans; as they are where none does."""
    spanning = {f"{{{p.name}}}" for p in tool.parameters if p.location == "path" and p.reserved}
    written = (tool.path.rstrip("/") or "/").split("/")
    spanning_index = next((index for index, text in enumerate(written) if text in spanning), None)
    if spanning_index is None or len(written) != len(segments):
        return requested
    end = len(requested) - (len(segments) - spanning_index - 1)
    return [*requested[:spanning_index], "/".join(requested[spanning_index:end]), *requested[end:]]


@lru_cache(maxsize=4096)
def _parsed_template(path: str) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...], tuple[int, ...]]:
    """The segments of a template, its variables, and a rank that puts literal segments before templated ones.

    A segment is the texts around its variables: `("v",)` for `v`, `("", "...", "")` for `{base}...{head}`.
    """
    parts = _TEMPLATE.split(path.rstrip("/") or "/")
    segments: list[list[str]] = [[]]
    for literal in parts[::2]:
        first, *following = literal.split("/")
        segments[-1].append(first)
        segments += [[text] for text in following]
    rank = tuple(0 if len(texts) == 1 else 2 if texts == ["", ""] else 1 for texts in segments)
    return tuple(map(tuple, segments)), tuple(parts[1::2]), rank


def _segment_values(literals: tuple[str, ...], text: str) -> list[str] | None:
    """The values of the variables in a segment, matched greedily; None if it does not match.

    One pass from the end: a regular expression with several variables would backtrack.
    """
    first, *between, last = literals if len(literals) > 1 else (literals[0], "")
    if len(literals) == 1:
        return [] if text == first else None
    if not text.startswith(first) or not text.endswith(last):
        return None
    end = len(text) - len(last)
    values: list[str] = []
    for literal in reversed(between):
        start = text.rfind(literal, len(first) + 1, end - 1)
        if start < 0:
            return None
        values.append(text[start + len(literal) : end])
        end = start
    if end <= len(first):
        return None
    return [text[len(first) : end], *reversed(values)]
