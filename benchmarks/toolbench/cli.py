"""`atc toolbench`: commands on ToolBench's files, each loaded when it is named."""

from __future__ import annotations

import importlib

import click

__all__ = ["toolbench"]

_COMMANDS = {
    "stats": "benchmarks.toolbench.corpus.stats_command:stats",
    "collections": "benchmarks.toolbench.generation.command:collections_",
    "generate": "benchmarks.toolbench.generation.command:generate",
    "annotate": "benchmarks.toolbench.annotation.command:annotate",
    "split": "benchmarks.toolbench.annotation.split_command:split",
    "serve": "benchmarks.toolbench.server.command:serve",
    "filter": "benchmarks.toolbench.server.filter_command:filter_",
    "compress": "benchmarks.toolbench.server.compress_command:compress",
}


class _LazyGroup(click.Group):
    """A group whose commands load when they are named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.group(cls=_LazyGroup)
def toolbench() -> None:
    """Serve, filter, compress and count ToolBench's tools; make instructions and solutions."""
