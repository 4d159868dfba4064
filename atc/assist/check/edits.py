"""Fixes of a program that need no model.

Which kinds stayed was decided by stored attempts at the development splits, which had been read.
"""

from __future__ import annotations

from collections.abc import Sequence

from atc.assist.check.diagnostic import Diagnostic
from atc.program.source import edited, parsed

__all__ = ["apply_edits", "fix_syntax"]


def apply_edits(program: str, diagnostics: Sequence[Diagnostic]) -> str | None:
    """The program with the edits of all diagnostics, quotes as it needs them; None where one has no edit.

    Of two overlapping edits the later one is applied.
    """
    edits = [diagnostic.edit for diagnostic in diagnostics if diagnostic.edit is not None]
    if len(edits) < len(diagnostics):
        return None
    better = edited(program, edits)
    return fix_syntax(better) or better


def fix_syntax(program: str) -> str | None:
    """The program with the f-string quotes of older Pythons; None where its syntax is valid, or stays invalid.

    From 3.12 on, Python takes quotes of an f-string inside its braces: `f"{film["title"]}"` is `f"{film['title']}"`.
    """
    if parsed(program) is not None:
        return None
    program = "\n".join(map(_requoted, program.split("\n")))
    return program if parsed(program) is not None else None


def _requoted(line: str) -> str:
    """A line with single quotes inside the braces of its double-quoted f-strings."""
    signs, depth, inside = [], 0, False
    for place, sign in enumerate(line):
        if not inside:
            inside = sign == '"' and line[max(place - 1, 0) : place] == "f" and not line[:place].endswith('f"')
            signs.append(sign)
            continue
        depth += (sign == "{") - (sign == "}")
        if sign == '"' and depth <= 0:
            inside, depth = False, 0
        signs.append("'" if sign == '"' and depth > 0 else sign)
    return "".join(signs)
