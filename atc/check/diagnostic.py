"""What a mistake in a program is: where, against which rule, and what would put it right."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from protocols.schema_fields import Step

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
    """What to write in a program for what stands on a line (from 1) between two columns (from 0)."""

    line: int
    start: int
    end: int
    text: str

    @classmethod
    def of(cls, lines: Sequence[str], node: ast.expr | ast.stmt, text: str) -> Edit | None:
        """Write something for a part of a program, given its lines; None where that goes over several."""
        if node.lineno != node.end_lineno:
            return None
        row = lines[node.lineno - 1].encode()  # syntax trees count bytes
        start, end = (len(row[:at].decode(errors="ignore")) for at in (node.col_offset, node.end_col_offset or 0))
        return cls(node.lineno, start, end, text)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake. `line` counts from 1 and `column` from 0; `tool` is the one whose call or response it is about.

    `suggestion` is the name, key or value that was probably meant, as it would be written; None where none is near.
    `edit` puts it into the program, where that is likely to be what was meant. `path` is where in the tool's response
    the object is that has no such key, `key` that key.
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
    """The name that is not defined, or the key that is not there."""

    def to_json(self) -> dict[str, object]:
        """Plain data; the keys are part of the interface."""
        names = ("line", "column", "rule", "message", "tool", "suggestion")
        return {name: getattr(self, name) for name in names}
