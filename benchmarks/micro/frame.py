"""What the measurements share: the command, documents, a model that repeats itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from atc.models import Message
from benchmarks.tasks.download import folders
from protocols.errors import ATCError, UsageError

__all__ = ["Measurement", "find_document", "json_option", "repeating"]

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


def find_document(name: str, folder: Path | None) -> Path:
    """A document in a folder, by default that of the benchmark data. Raises: UsageError: It is not there."""
    places = [folder] if folder is not None else [data / "openapi" for data in folders()]
    if file := next((place / name for place in places if (place / name).is_file()), None):
        return file
    raise UsageError(
        f"{name} is not in {' or '.join(map(str, places))}: name a folder with --documents, or fetch it with "
        "atc data pull openapi"
    )


def repeating(program: str) -> Callable[[Sequence[Message]], str]:
    """A model that always answers with one program."""
    return lambda messages: f"This program answers it.\n\n```python\n{program.rstrip()}\n```\n"
