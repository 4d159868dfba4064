"""Replacements in the text of a program, which keep the layout of all the rest."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Edit", "edited", "line_diff"]


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of the text on a line (from 1) between two columns (from 0)."""

    line: int
    start: int
    end: int
    text: str

    @classmethod
    def of(cls, lines: Sequence[str], node: ast.expr | ast.stmt, text: str) -> Edit | None:
        """Replace an expression or statement, given the lines of the program; None where it spans several lines."""
        if node.lineno != node.end_lineno:
            return None
        row = lines[node.lineno - 1].encode()  # syntax trees count bytes
        start, end = (len(row[:at].decode(errors="ignore")) for at in (node.col_offset, node.end_col_offset or 0))
        return cls(node.lineno, start, end, text)


def edited(program: str, edits: Iterable[Edit]) -> str:
    """The program with all edits, each once; of two overlapping edits the later one is applied."""
    lines = program.split("\n")
    before: dict[int, int] = {}
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.line, edit.start), reverse=True):
        row = lines[edit.line - 1]
        if edit.end <= before.get(edit.line, len(row)):
            before[edit.line] = edit.start
            lines[edit.line - 1] = row[: edit.start] + edit.text + row[edit.end :]
    return "\n".join(lines)


def line_diff(before: str, after: str) -> tuple[str, ...]:
    """The lines that differ between two programs, with `-` before those removed and `+` before those added."""
    changes = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return tuple(line for number, line in enumerate(changes) if number > 1 and not line.startswith("@@"))
