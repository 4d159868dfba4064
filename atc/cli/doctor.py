"""`atc doctor`: which walls stand around a program on this machine."""

from __future__ import annotations

from dataclasses import asdict

import click

from atc.cli import print_json
from protocols.errors import UsageError

__all__ = ["doctor"]

WHAT = {
    "policy": "the language: no way from an object into the interpreter",
    "process": "a process of its own, without environment and open files",
    "folder": "an empty working folder that is on no disk",
    "no_new_privs": "no privileges by starting another program",
    "user namespace": "no user of this machine",
    "network namespace": "no network, not even this machine",
    "capabilities": "no capabilities",
    "landlock": "no files but Python's library",
    "seccomp": "no system calls but the ones that computing needs",
    "rlimits": "limits on memory, CPU time, files and their size",
}


@click.command()
@click.option("--strict-sandbox", "strict", is_flag=True, help="Exit with 2 if a layer is missing.")
@click.option("--json", "as_json", is_flag=True, help="Print the layers as JSON.")
def doctor(strict: bool, as_json: bool) -> None:
    """Show which layers of the sandbox are active on this machine, and why others are not."""
    from rich.console import Console
    from rich.table import Table

    from sandbox import Sandbox

    layers = Sandbox(None).layers()
    if as_json:
        print_json([asdict(layer) for layer in layers])
    else:
        table = Table("layer", "what it gives", "active", "reason")
        for layer in layers:
            table.add_row(layer.name, WHAT.get(layer.name, ""), "yes" if layer.active else "no", layer.reason)
        Console().print(table)
    if strict and any(not layer.active for layer in layers):
        raise UsageError("a layer of the sandbox is missing")
