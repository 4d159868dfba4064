"""What the measurements share: the command, and the halves of a corpus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from protocols.errors import ATCError

__all__ = ["Measurement", "half_option", "json_option"]

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
