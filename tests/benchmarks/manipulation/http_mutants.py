"""Texts around a right action of a service that spoil it."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["spoiled"]


def spoiled(label: str) -> Iterator[tuple[str, str]]:
    """Kinds of texts that do not execute, each with the label in it."""
    yield "nothing", ""
    yield "prose before", f"You can use this: {label}"
    yield "prose behind", f"{label} This gives the answer."
    yield "prose in lines of its own", f"Here is the call:\n{label}\nIt gives the answer."
    yield "code block", f"```bash\n{label}\n```"
    yield "pipe", f"{label} | python -m json.tool"
    yield "unknown option", label.replace("curl ", "curl -o file ", 1)
    yield "open quote", label[:-1]
    yield "header without a name", f"{label} -H ''"
    yield "header beyond Latin-1", f"{label} -H 'x-note: 你好'"
