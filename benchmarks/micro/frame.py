"""What the measurements share: the command, the halves of a corpus, the table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.table import Table

from protocols.errors import ATCError

__all__ = ["Measurement", "half_option", "json_option", "print_table"]

Function = TypeVar("Function", bound=Callable[..., Any])


class Measurement(click.Command):
    """A command that ends with the message of an error of ours."""

    def invoke(self, context: click.Context) -> Any:
        """Run it. Raises: click.ClickException."""
        try:
            return super().invoke(context)
        except ATCError as error:
            raise click.ClickException(str(error)) from None


def json_option(help: str = "Print the figures as JSON.") -> Callable[[Function], Function]:
    """`--json` as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=help)


half_option = click.option("--half", type=click.Choice(["seen", "held"]), help="Only this half of the corpus.")


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str | None = None,
    figures_from: int | None = None,
    line_below: Collection[str] = (),
) -> None:
    """Print a table.

    Args:
        figures_from: The first column of figures, which are on the right.
        line_below: The first cells of rows with a line below.
    """
    table = Table(title=title)
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if figures_from is None or place < figures_from else "right")
    for row in rows:
        table.add_row(*map(str, row), end_section=row[0] in line_below)
    Console().print(table)
