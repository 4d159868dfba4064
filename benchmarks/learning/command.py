"""`atc train`: one command for each thing that is made or trained."""

from __future__ import annotations

import click

from benchmarks.learning.adapter_command import adapter
from benchmarks.learning.pairs_command import data
from benchmarks.learning.sft_command import sft

__all__ = ["train"]


@click.group()
def train() -> None:
    """Make training data, and train models with it."""


train.add_command(adapter)
train.add_command(data)
train.add_command(sft)
