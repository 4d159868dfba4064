"""`atc train`: one command for each thing that is made or trained."""

from __future__ import annotations

import click

from benchmarks.harness.placed_group import PlacedGroup

__all__ = ["train"]


@click.group(
    cls=PlacedGroup,
    places={
        "data": "benchmarks.learning.data_command:data",
        "sft": "benchmarks.learning.sft_command:sft",
    },
)
def train() -> None:
    """Make training data, and train models with it."""
