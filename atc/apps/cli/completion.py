"""`atc completion`: the script that lets a shell complete commands and options."""

from __future__ import annotations

import click

__all__ = ["completion"]


_EPILOG = """\b
For example:
  eval "$(atc completion bash)"     in ~/.bashrc
  atc completion fish > ~/.config/fish/completions/atc.fish"""


@click.command(epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes commands and options in a shell."""
    from click.shell_completion import get_completion_class

    from atc.apps.cli import main

    complete = get_completion_class(shell)
    assert complete is not None
    click.echo(complete(main, {}, "atc", "_ATC_COMPLETE").source())
