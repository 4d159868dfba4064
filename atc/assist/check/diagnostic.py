"""A mistake in a program: its position, its rule, and an edit that fixes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from atc.program.source import Edit
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
    "refused",
]


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
    doubtful: bool = False
    """True if only the document speaks against it, so that the same call, made again, is sent."""

    def to_json(self) -> dict[str, object]:
        """Plain data; the keys are part of the interface."""
        names = ("line", "column", "rule", "message", "tool", "suggestion")
        return {name: getattr(self, name) for name in names}
