"""`atc save`: a solved question becomes a tool of one's own."""

from __future__ import annotations

import os.path
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import say
from atc.apps.cli.options import DocumentOptions, argument, option, out_file, takes
from atc.apps.cli.reachable import open_protocol
from protocols.errors import UsageError
from protocols.quoting import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["save"]


@dataclass(frozen=True, kw_only=True)
class _Options(DocumentOptions):
    file: Path = argument(type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="SOLUTION")
    output: Path = option("-o", "--out", required=True, type=out_file, metavar="FILE.py", help="The program to write.")


@click.command()
@takes(_Options)
def save(options: _Options) -> None:
    """Make a program with parameters of a solution.

    SOLUTION is a file that `atc solve --out` wrote. What the question named becomes a parameter, with its value as the
    default. `atc run FILE.py --PARAMETER VALUE` runs it in the sandbox, without a model, and first checks that the API
    still has all that the program relies on.
    """
    from atc.apps.cli.run import run
    from atc.apps.saved.saved_program import save_program
    from atc.files import write_text
    from atc.solution_file import read_solution

    reserved = [name.removeprefix("--").replace("-", "_") for parameter in run.params for name in parameter.opts]
    protocol = open_protocol(options.api, options.agent)
    saved = save_program(
        read_solution(options.file),
        protocol,
        _recorded(options.api, options.output),
        options.output.stem,
        datetime.now(UTC).date().isoformat(),
        [*reserved, "help"],
    )
    write_text(options.output, saved.text(options.output.name))
    say(f"wrote {options.output}")
    print(saved.usage() or "  no parameters: the program has no value that the question names", file=sys.stderr)


def _recorded(specs: Sequence[str], output: Path) -> list[str]:
    """The document as the file names it: a path as seen from the file. Raises: UsageError: It holds a password."""
    from protocols.naming import split_namespace

    recorded = []
    for spec in specs:
        namespace, source = split_namespace(spec)
        if source.startswith("saved:"):
            raise UsageError("a program that calls saved programs cannot be saved itself")
        if "@" in source.partition("://")[2].partition("/")[0]:
            raise UsageError("--api holds a user name or password, which the program would keep; save it to a file")
        if "://" in source and "?" in source:
            say(f"the file keeps the query of --api {visible(spec)}: save the document to a file if that is a secret")
        head, colon, path = source.rpartition("functions:")
        if Path(path).is_file() and not head:
            source = f"{colon}{os.path.relpath(Path(path).resolve(), output.parent.resolve())}"
        recorded.append(f"{namespace}={source}" if namespace else source)
    return recorded
