"""Show a program with line numbers, colours, and a mark at one line; of a revision, the lines that changed."""

from __future__ import annotations

from difflib import SequenceMatcher, unified_diff

from rich.console import RenderableType
from rich.syntax import Syntax

from protocols.quoting import visible

__all__ = ["program_code", "revision_code", "revision_lines"]

CONTEXT = 3
"""Unchanged lines shown on either side of a change in a long program."""

WHOLE = 30
"""Lines of a program up to which all unchanged ones are shown."""

LEAST_SHARED = 0.3
"""Of two programs that share less the second is shown alone."""

_MOST_PAIRS = 4_000_000
"""Pairs of lines that are compared: two programs of 2,000 lines take a second at worst."""


def program_code(program: str, marked: int | None = None, lines: tuple[int, int] | None = None) -> RenderableType:
    """The program with line numbers and colours; the marked line has a sign that is visible without colours too.

    `lines` are the first and last line to show, from 1; each then takes one line of the terminal, cut at its edge.
    """
    return Syntax(
        visible(program).rstrip("\n"),
        "python",
        theme="ansi_dark",
        background_color="default",
        line_numbers=True,
        highlight_lines={marked} if marked is not None else set(),
        line_range=lines,
        word_wrap=lines is None,
    )


def revision_lines(before: str, after: str) -> list[str]:
    """The diff of two programs; of a long one with `@@` and line numbers in the place of what stayed.

    A program that has little in common with the one before it, or is the same, comes without signs.
    """
    old, new = (visible(program).rstrip("\n").split("\n") for program in (before, after))
    if old == new or len(old) * len(new) > _MOST_PAIRS:
        return new
    if SequenceMatcher(None, old, new, autojunk=False).ratio() < LEAST_SHARED:
        return new
    is_long = len(new) > WHOLE
    diff = list(unified_diff(old, new, n=CONTEXT if is_long else len(old) + len(new), lineterm=""))
    return [line if line.startswith("@@") else f"{line[0]} {line[1:]}".rstrip() for line in diff[2 if is_long else 3 :]]


def revision_code(before: str, after: str, failed: int | None = None) -> RenderableType:
    """The same with colours; a program that stands alone as in `program_code`, with a mark at the failing line."""
    lines = revision_lines(before, after)
    if lines == visible(after).rstrip("\n").split("\n"):
        return program_code(after, failed)
    return Syntax("\n".join(lines), "diff", theme="ansi_dark", background_color="default", word_wrap=True)
