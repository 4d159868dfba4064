"""`atc doctor`: which walls stand around a program on this machine, and what the installation has."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json
from protocols.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atc.apps.cli.installation import Check
    from sandbox import Layer

__all__ = ["doctor"]

WHAT = {
    "policy": "the language: no way from an object into the interpreter",
    "process": "a process of its own, without environment and open files",
    "folder": "an empty working folder that is on no disk",
    "no_new_privs": "no privileges by starting another program",
    "user namespace": "no user of this machine",
    "network namespace": "no network, not even this machine",
    "capabilities": "no capabilities",
    "parent": "the worker ends with the process that started it",
    "landlock": "no files but Python's library",
    "seccomp": "no system calls but the ones that computing needs",
    "rlimits": "limits on memory, CPU time, files and their size",
}


@click.command()
@click.option("--strict-sandbox", "strict", is_flag=True, help="Exit with 2 if a layer is missing.")
@click.option("--json", "as_json", is_flag=True, help="Print layers and checks as JSON.")
def doctor(strict: bool, as_json: bool) -> None:
    """Show what this installation has and lacks, the sandbox first.

    Listed are the layers of the sandbox that are active here. Checked are atc.toml, the model and its engine, extras
    and the folder for models; each lack comes with its remedy. No server is asked, and no secret is read out. Exit code
    0: nothing is broken, though something may be missing; 1: something is broken.
    """
    from atc.apps.cli import main
    from atc.apps.cli.installation import installation
    from sandbox import Sandbox

    context = click.get_current_context()
    layers = Sandbox(None).layers()
    checks = installation(main, context.find_root())
    if as_json:
        print_json({"layers": [asdict(layer) for layer in layers], "checks": [asdict(check) for check in checks]})
    else:
        _print(layers, checks)
    if strict and any(not layer.active for layer in layers):
        raise UsageError("a layer of the sandbox is missing")
    context.exit(1 if any(check.state == "broken" for check in checks) else 0)


def _print(layers: Sequence[Layer], checks: Sequence[Check]) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    from protocols.quoting import visible

    console = Console(highlight=False)

    def tell(state: str, name: str, detail: str, remedy: str = "") -> None:
        head = Text.assemble((f"{state} ", {"ok": "green", "broken": "red"}.get(state, "yellow")), (name, "bold"))
        console.print(Padding(head + Text(f": {visible(detail)}" if detail else ""), (0, 0, 0, 2)))
        if remedy:  # in one line, so that it can be copied
            console.print(Text(f"    → {visible(remedy)}"), soft_wrap=True)

    console.print("Layers of the sandbox", style="bold")
    for layer in layers:
        tell("ok" if layer.active else "missing", layer.name, layer.reason or WHAT.get(layer.name, ""))
    for part in dict.fromkeys(check.part for check in checks):
        console.print(f"\n{part.capitalize()}", style="bold")
        for check in checks:
            if check.part == part:
                tell(check.state, check.name, check.detail, check.remedy)
    default = next(check for check in checks if check.part == "model")  # the first one is the model of a solve
    verdict = f"ready: atc solve asks {default.name}" if default.state == "ok" else f"not yet ready: {default.remedy}"
    # A Text, since `[local]` in a command is no markup.
    console.print(Text(f"\n{verdict}. What else is missing is needed only for what its line names.", style="bold"))
