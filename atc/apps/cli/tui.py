"""`atc tui`: look through stored solutions and benchmark runs in the terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from protocols.errors import UsageError
from protocols.extras import needs_extra

__all__ = ["tui"]


@click.command()
@click.argument("place", type=click.Path(exists=True, path_type=Path), default=".", metavar="[DIR]")
def tui(place: Path) -> None:
    """Look through stored solutions and benchmark runs.

    They are those below DIR, by default the working folder; DIR may also be one file. `atc solve --out FILE` writes
    a solution, and `atc bench --out DIR` one for each task. The line at the bottom names the keys; q quits.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
        raise UsageError(
            "atc tui needs a terminal that can move its cursor; elsewhere `atc trace FILE` makes a page of a solution"
        )
    try:
        from atc.apps.tui.browser import SolutionBrowser
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "textual":
            raise
        raise UsageError(needs_extra("atc tui", "tui")) from None
    SolutionBrowser(place).run()
