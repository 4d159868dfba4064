"""`atc check`: what is wrong with a program, found without running it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import DocumentOptions, argument, json_option, option, read_program, takes
from atc.apps.cli.reachable import open_protocol
from protocols.quoting import one_line

__all__ = ["check"]


@dataclass(frozen=True, kw_only=True)
class _Options(DocumentOptions):
    file: Path = argument(type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
    store: Path | None = option(
        "--store",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="Go by what `atc solve --store DIR` saw of responses, too.",
    )
    query: str | None = option(
        "--query", metavar="QUESTION", help="What the program is to answer: identifiers that it does not name are told."
    )
    as_json: bool = json_option("Print a list of diagnostics as JSON.")


@click.command()
@takes(_Options)
def check(options: _Options) -> None:
    """Tell what is wrong with a program without running it.

    FILE is the program, - for stdin. Each line of output is FILE:LINE:COLUMN, the rule and what is there in place of
    what was written. Checked are names of tools and their arguments, keys and types of what the API's document says it
    returns, variables that may have no value, and what the sandbox refuses. Operations of the document that are no
    tools are listed on stderr. Exit code 0: nothing was found; 1: something was; 2: it could not be checked.
    """
    from atc.programs import check_program

    protocol = open_protocol(options.api, options.agent)
    for operation in protocol.left_out:
        say(f"left out {operation.place or operation.title}: {operation.reason}")
    program = read_program(options.file)
    diagnostics = check_program(protocol, program, store=options.store, question=options.query)
    if options.as_json:
        print_json([diagnostic.to_json() for diagnostic in diagnostics])
    else:
        for diagnostic in diagnostics:
            line = f"{options.file}:{diagnostic.line}:{diagnostic.column + 1}: {diagnostic.rule}: {diagnostic.message}"
            click.echo(one_line(line))
    click.get_current_context().exit(1 if diagnostics else 0)
