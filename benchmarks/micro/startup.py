"""How long commands take that do nothing: `python -m benchmarks.micro.startup`."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

__all__ = ["main", "milliseconds"]

_ATC = str(Path(sys.executable).with_name("atc"))
_COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    'python -c "import atc"': [sys.executable, "-c", "import atc"],
    "atc --version": [_ATC, "--version"],
    "atc --help": [_ATC, "--help"],
    "atc solve --help": [_ATC, "solve", "--help"],
}


def milliseconds(command: Sequence[str], times: int) -> list[float]:
    """Wall-clock times of a process, in ms, shortest first; a first run, which may compile modules, is not counted."""
    durations = []
    for _ in range(times + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        durations.append((time.perf_counter() - start) * 1000)
    return sorted(durations[1:])


@click.command()
@click.option("--times", type=click.IntRange(min=1), default=10, show_default=True, help="Runs of each command.")
def main(times: int) -> None:
    """Print the shortest and the median time of commands that only start."""
    for name, command in _COMMANDS.items():
        durations = milliseconds(command, times)
        click.echo(f"{name:<24} {durations[0]:>6.0f} ms shortest {statistics.median(durations):>6.0f} ms median")


if __name__ == "__main__":
    main()
