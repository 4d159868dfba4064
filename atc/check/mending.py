"""Put right what a diagnostic knows how to put right, without asking anybody."""

from __future__ import annotations

from collections.abc import Sequence

from atc.check.telling import Diagnostic

__all__ = ["begun", "mended"]


def mended(program: str, found: Sequence[Diagnostic]) -> str | None:
    """The program with the edits of all diagnostics; None where one of them has none."""
    edits = [one.edit for one in found if one.edit is not None]
    if len(edits) < len(found):
        return None
    lines = program.split("\n")
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.line, edit.start), reverse=True):
        row = lines[edit.line - 1]
        lines[edit.line - 1] = row[: edit.start] + edit.text + row[edit.end :]
    return "\n".join(lines)


def begun(program: str, found: Sequence[Diagnostic]) -> str:
    """The program up to the end of the last line before which every mistake can be put right; empty for none."""
    known = []
    for one in found:
        if one.edit is None:
            break
        known.append(one)
    if not known:
        return ""
    last = max(one.line for one in known)
    whole = mended(program, [one for one in known if one.line <= last]) or ""
    return "\n".join(whole.split("\n")[:last]) + "\n"
