"""`atc toolbench`: commands on ToolBench's files, each loaded when it is named."""

from __future__ import annotations

import click

from benchmarks.harness.placed_group import PlacedGroup

__all__ = ["toolbench"]


@click.group(
    cls=PlacedGroup,
    places={
        "stats": "benchmarks.toolbench.corpus.stats_command:stats",
        "collections": "benchmarks.learning.generation.command:collections_",
        "generate": "benchmarks.learning.generation.command:generate",
        "annotate": "benchmarks.learning.annotation.command:annotate",
        "split": "benchmarks.learning.annotation.split_command:split",
        "serve": "benchmarks.toolbench.server.command:serve",
        "filter": "benchmarks.toolbench.server.filter_command:filter_",
        "compress": "benchmarks.toolbench.server.compress_command:compress",
    },
)
def toolbench() -> None:
    """Serve, filter, compress and count ToolBench's tools; make instructions and solutions."""
