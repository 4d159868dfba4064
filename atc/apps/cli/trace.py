"""`atc trace`: a solution as one HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from atc.apps.cli import say
from atc.apps.cli.options import argument, option, out_file, takes
from protocols.errors import UsageError

__all__ = ["trace"]

_SHOWN = 10
"""Most task ids in an error message."""


@dataclass(frozen=True, kw_only=True)
class _Options:
    file: Path = argument(type=click.Path(exists=True, path_type=Path))
    task: str | None = option("--task", metavar="ID", help="The task of a run folder.")
    output: Path | None = option(
        "-o", "--out", type=out_file, metavar="PAGE", help="The page to write  [default: FILE.html in this folder]"
    )


@click.command()
@takes(_Options)
def trace(options: _Options) -> None:
    """Write the solution in FILE as one HTML page.

    It has the programs with their calls, replies, faults, data flow and evidence. FILE is what `atc solve --out` wrote,
    a task of `atc bench`, or with --task the folder of its run. The page loads nothing and runs no script. It shows
    whole replies, so share it as you would share these.
    """
    from atc.apps.page.environment import trace_page
    from atc.files import write_text
    from atc.solution_file import read_solution

    file = _solution_file(options.file, options.task)
    page = trace_page(read_solution(file))
    output = options.output or Path(f"{file.stem}.html")
    write_text(output, page, private=True)
    say(f"wrote {output}")


def _solution_file(file: Path, task: str | None) -> Path:
    """The file with the solution. Raises: UsageError: It is a folder, and holds no such task."""
    from atc.solution_file import read_json

    if not file.is_dir():
        if task is not None:
            raise UsageError(f"{file} is a file; --task names a task in the folder of a run")
        return file
    by_id: dict[str, Path] = {}
    for path in sorted((file / "tasks").glob("*.json")):
        task_data = read_json(path)
        if isinstance(task_data, dict):
            by_id[str(task_data.get("id"))] = path
    if not by_id:
        raise UsageError(f"{file} holds no run with finished tasks; name a file that `atc solve --out` wrote")
    if task in by_id:
        return by_id[task]
    listed = ", ".join(list(by_id)[:_SHOWN]) + (f" and {len(by_id) - _SHOWN} more" if len(by_id) > _SHOWN else "")
    raise UsageError(f"{file} is the folder of a run: name one of its tasks with --task ({listed})")
