"""A table of text: what the terminal, the Markdown file and the HTML page show alike."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TextTable"]


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table ready to be shown: `text_columns` columns of text, then figures; `remarks` stand below it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...] = ()
    text_columns: int = 1
