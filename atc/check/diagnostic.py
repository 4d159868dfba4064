"""A mistake in a program: its position, its rule, and an edit that fixes it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from protocols.json_path import Step

__all__ = ["Diagnostic", "Edit", "Rule"]

Rule = Literal[
    "syntax",
    "unknown-tool",
    "unknown-argument",
    "missing-argument",
    "wrong-type",
    "wrong-value",
    "unknown-key",
    "unknown-name",
    "possibly-unbound",
    "made-up-identifier",
    "unknown-url",
    "unsaid-name",
]


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


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake. `line` counts from 1 and `column` from 0; `tool` is the one whose call or response it is about.

    `suggestion` is the name, key or value that was probably meant, as it would be written, and `edit` puts it into the
    program where that is likely. `path` is the object in the tool's response that lacks the key `key`.
    """

    line: int
    column: int
    rule: Rule
    message: str
    tool: str | None = None
    suggestion: str | None = None
    edit: Edit | None = None
    path: tuple[Step, ...] = ()
    key: str | None = None
    """The undefined name, or the missing key."""

    def to_json(self) -> dict[str, object]:
        """Plain data; the keys are part of the interface."""
        names = ("line", "column", "rule", "message", "tool", "suggestion")
        return {name: getattr(self, name) for name in names}
