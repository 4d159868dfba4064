"""`atc model`: the files of local models, fetched once and kept."""

from __future__ import annotations

import sys

import click

from atc.apps.cli.help_pages import HelpGroup

__all__ = ["model", "offer_pull", "pull_with_progress"]


@click.group(cls=HelpGroup)
def model() -> None:
    """Fetch, list and find the files of local models."""


@model.command()
@click.argument("name")
def pull(name: str) -> None:
    """Fetch the model NAME, such as local:qwen2.5-coder-1.5b, or only smollm2-135m.

    A pull that was cut off goes on where it stopped.
    """
    click.echo(pull_with_progress(name))


@model.command("list")
def list_models() -> None:
    """List the models that can be pulled, and which of them are on disk."""
    from atc.engines.files import CATALOGUE, installed

    here = installed()
    for entry in CATALOGUE:
        state = "on disk" if entry in here else "not pulled"
        click.echo(f"local:{entry.name}\t{entry.size / 1e9:.2f} GB\t{state}\t{entry.title}")


@model.command()
@click.argument("name")
def path(name: str) -> None:
    """Print where the file of the model NAME lies; of a model with an adapter, that of the model."""
    from atc.engines import files
    from atc.engines.names import parse

    click.echo(files.path(parse(name.removeprefix("local:")).base))


def pull_with_progress(name: str) -> str:
    """Fetch a model, with a progress bar on stderr, and return its path. Raises: ModelError, UsageError."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    from atc.engines import files

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        bar = progress.add_task(name, total=files.find(name).size)
        return str(files.pull(name, lambda fetched, total: progress.update(bar, completed=fetched, total=total)))


def offer_pull(name: str) -> None:
    """Where somebody sits at the terminal, offer to fetch a local model that is not on disk. Raises: ModelError."""
    scheme, _, short = name.partition(":")
    if scheme not in {"local", "openvino", "hf"} or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    from atc.engines import files
    from atc.engines.names import parse

    base = parse(short).base
    if not files.is_listed(base):
        return
    entry = files.find(base)
    if entry in files.installed():
        return
    if click.confirm(f"{name} is not on disk ({entry.size / 1e9:.2f} GB). Fetch it now?", default=True, err=True):
        pull_with_progress(base)
