"""Options that several commands share, each written once."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

__all__ = [
    "Moment",
    "OutFile",
    "ToolCount",
    "api_options",
    "check_api_options",
    "clock_options",
    "model_options",
]

Function = TypeVar("Function", bound=Callable[..., Any])
MODES = ("attribute", "naive", "none")


class Moment(click.ParamType):
    """A point in time in ISO 8601; UTC where it names no offset."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read the text. Raises: click.BadParameter."""
        if isinstance(value, datetime):
            return value
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no time; write it like 2024-06-01T12:00:00Z", param, ctx)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class OutFile(click.ParamType):
    """A file to write at the end; a folder that is not there is told at the start, before any work is done."""

    name = "file"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Read the text. Raises: click.BadParameter."""
        path = Path(str(value))
        if not path.parent.is_dir():
            self.fail(f"the folder {str(path.parent)!r} does not exist; make it first", param, ctx)
        if path.is_dir():
            self.fail(f"{str(path)!r} is a folder; name a file", param, ctx)
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            self.fail(f"{str(path)!r} cannot be written", param, ctx)
        return path


class ToolCount(click.ParamType):
    """How many tools: a number from 1, or "all"."""

    name = "count"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """How --help shows it."""
        return "N|all"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | Literal["all"]:
        """Read the text. Raises: click.BadParameter."""
        if value == "all":
            return "all"
        try:
            count = int(str(value))
        except ValueError:
            count = 0
        if count < 1:
            self.fail(f"{value!r} is neither a number from 1 nor `all`", param, ctx)
        return count


def _all(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Several option decorators as one, in the order in which --help lists them."""

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


clock_options = _all(
    click.option("--seed", type=int, default=0, show_default=True, help="Of the model, the simulated API and random."),
    click.option(
        "--now",
        type=Moment(),
        metavar="TIME",
        help="The time for prompt, program and simulated API [default: 2024-06-01T12:00:00Z when simulating, else now]",
    ),
)

_target_options = _all(
    click.option("--simulate", is_flag=True, help="Ask a simulated API on this machine instead of the real one."),
    click.option("--base-url", metavar="URL", help="Where the API is, if not where its document says."),
    click.option(
        "--auth",
        metavar="KIND:SOURCE",
        multiple=True,
        help="A credential: bearer, basic, header:NAME, query:NAME, cookie:NAME or a security scheme of the document, "
        "then env:VAR or file:PATH. Repeatable.",
    ),
)

api_options = _all(
    click.option(
        "--api", required=True, metavar="SPEC", help="OpenAPI document or *.tools.json: file or URL, JSON or YAML."
    ),
    _target_options,
    clock_options,
)

model_options = _all(
    click.option(
        "--model",
        metavar="NAME",
        help="local:NAME, openai:NAME, hf:NAME or replay:FILE  [default: $ATC_MODEL, else local:qwen2.5-coder-1.5b]",
    ),
    click.option(
        "--mode",
        type=click.Choice(MODES),
        default="attribute",
        show_default=True,
        help="What the model is told after a failure: the tool to blame, the error text only, or nothing.",
    ),
    click.option(
        "--max-reflections",
        type=click.IntRange(min=0),
        default=3,
        show_default=True,
        metavar="N",
        help="How often a failed program may be revised.",
    ),
)


def check_api_options(simulate: bool, base_url: str | None, auth: tuple[str, ...]) -> None:
    """Refuse what contradicts itself. Raises: click.UsageError."""
    if simulate and base_url:
        raise click.UsageError("--simulate and --base-url exclude each other: the simulated API has a URL of its own")
    if simulate and auth:
        raise click.UsageError("--simulate needs no --auth: the simulated API comes with a made-up credential")
