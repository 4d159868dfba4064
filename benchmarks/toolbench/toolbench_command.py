"""`atc toolbench`: commands on ToolBench's files, each loaded when it is named."""

from __future__ import annotations

import click

from benchmarks.harness.placed_group import PlacedGroup

__all__ = ["toolbench"]


@click.group(
    cls=PlacedGroup,
    places={
        "generate": "benchmarks.learning.generation.generate_command:generate",
        "annotate": "benchmarks.learning.annotation.annotate_command:annotate",
        "split": "benchmarks.learning.annotation.split_command:split",
        "serve": "benchmarks.toolbench.server.serve_command:serve",
    },
)
def toolbench() -> None:
    """Serve ToolBench's tools; make instructions and solutions."""
