"""`atc toolbench`: commands on ToolBench's files, each loaded when it is named."""

from __future__ import annotations

import click

from benchmarks.harness.placed_group import PlacedGroup

__all__ = ["toolbench"]


@click.group(
    cls=PlacedGroup,
    places={
        "generate": "benchmarks.learning.generation.command:generate",
        "annotate": "benchmarks.learning.annotation.command:annotate",
        "split": "benchmarks.learning.annotation.split_command:split",
        "serve": "benchmarks.toolbench.server.command:serve",
    },
)
def toolbench() -> None:
    """Serve ToolBench's tools; make instructions and solutions."""
