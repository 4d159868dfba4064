"""Show a revision: the program with its changed lines, so that a reader sees what the model did about a fault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rich.console import RenderableType
from rich.text import Text

from atc.apps.tui.code import NumberedLine, NumberedLines, highlighted_lines, program_code
from atc.apps.tui.text import visible

__all__ = ["revision_code", "revision_lines"]

CONTEXT = 3
"""Unchanged lines shown on either side of a change in a long program."""

WHOLE = 30
"""Lines of a program up to which all unchanged ones are shown."""

LEAST_SHARED = 0.3
"""Of two programs that share less the second is shown alone."""


@dataclass(frozen=True, slots=True)
class _DiffLine:
    """A line of a diff: its sign, its number in the new program (None for a removed one or a gap), and its text."""

    sign: str
    number: int | None
    text: str


def revision_lines(before: str, after: str) -> list[str]:
    """The diff of two programs as plain lines with `+`, `-` or a blank in front; long unchanged parts are a `⋮`.

    A program that has little in common with the one before it comes without signs.
    """
    diff = _diff(before, after)
    if diff is None:
        return visible(after).rstrip("\n").split("\n")
    return [f"{line.sign} {line.text}".rstrip() for line in diff]


def revision_code(before: str, after: str, failed: int | None = None) -> RenderableType:
    """The same with line numbers and colours; a mark at the failing line, as in `program_code`."""
    diff = _diff(before, after)
    if diff is None:
        return program_code(after, failed)
    colours = highlighted_lines(after)
    lines = [
        NumberedLine(
            colours[line.number - 1] if line.sign == " " and line.number else Text(line.text, style=_STYLES[line.sign]),
            line.number,
            line.sign,
            _STYLES[line.sign],
        )
        for line in diff
    ]
    return NumberedLines(lines, failed)


_STYLES = {"+": "green", "-": "red", " ": "", "⋮": "dim"}


def _diff(before: str, after: str) -> list[_DiffLine] | None:
    """The lines of a diff; None where the programs have too little in common."""
    old, new = (visible(program).rstrip("\n").split("\n") for program in (before, after))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < LEAST_SHARED:
        return None
    if len(new) <= WHOLE:
        return list(_changed(old, new, matcher.get_opcodes()))
    lines: list[_DiffLine] = []
    end = 0
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if group[0][3] > end:
            lines.append(_DiffLine("⋮", None, ""))
        lines += _changed(old, new, group)
        end = group[-1][4]
    return [*lines, _DiffLine("⋮", None, "")] if end < len(new) else lines


def _changed(
    old: Sequence[str], new: Sequence[str], opcodes: Sequence[tuple[str, int, int, int, int]]
) -> Iterator[_DiffLine]:
    for kind, old_start, old_end, start, end in opcodes:
        if kind == "equal":
            yield from (_DiffLine(" ", place + 1, new[place]) for place in range(start, end))
        else:
            yield from (_DiffLine("-", None, line) for line in old[old_start:old_end])
            yield from (_DiffLine("+", place + 1, new[place]) for place in range(start, end))
