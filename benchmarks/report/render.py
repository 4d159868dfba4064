"""Write the tables of a report down: for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from protocols.quoting import one_line, visible

__all__ = ["TextTable", "markdown", "print_table", "show"]


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table ready to be shown: `text_columns` columns of text, then figures; `remarks` stand below it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...] = ()
    text_columns: int = 1


def print_table(title: str, columns: Sequence[str], rows: Iterable[Iterable[object]], text_columns: int = 1) -> None:
    """Print one table, whose cells need not be texts."""
    cells = tuple(tuple(map(str, row)) for row in rows)
    show([TextTable(title, tuple(columns), cells, text_columns=text_columns)])


def show(tables: Iterable[TextTable], notes: Sequence[str] = ()) -> None:
    """Print the notes and the tables; nothing in them can act on the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    for note in notes:
        console.print(Text(one_line(note)))
    for table in tables:
        rich_table = Table(title=Text(one_line(table.title), "bold"), title_justify="left")
        for position, column in enumerate(table.columns):
            right = position >= table.text_columns
            rich_table.add_column(Text(one_line(column)), justify="right" if right else "left", overflow="fold")
        for row in table.rows:
            rich_table.add_row(*(Text(one_line(cell)) for cell in row))
        console.print(rich_table if table.rows else Text(one_line(table.title), "bold"))
        for remark in table.remarks:
            console.print(Text(one_line(remark), "dim"))
        console.print()


def markdown(tables: Iterable[TextTable], notes: Sequence[str]) -> str:
    """The same as GitHub's Markdown."""
    parts = ["# Benchmark report\n"]
    if notes:
        parts.append("".join(f"- {_cell(note)}\n" for note in notes))
    for table in tables:
        lines = [f"## {_cell(table.title)}", ""]
        if table.rows:
            lines.append(_row(table.columns))
            lines.append(
                _row("---" if position < table.text_columns else "---:" for position in range(len(table.columns)))
            )
        lines += [_row(row) for row in table.rows]
        lines += [f"\n{_cell(remark)}" for remark in table.remarks]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(text: str) -> str:
    """Text on one line that Markdown takes as text."""
    text = " ".join(visible(text).split())
    for sign in "\\`*_<>|#":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("](", "]\\(")
