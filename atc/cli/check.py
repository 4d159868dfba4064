"""`atc check`: what is wrong with a program, found without running it."""

from __future__ import annotations

from pathlib import Path

import click

from atc.cli.options import read_program
from atc.tui.text import visible

__all__ = ["check"]


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option(
    "--api", required=True, metavar="SPEC", help="OpenAPI document or *.tools.json: file or URL, JSON or YAML."
)
@click.option(
    "--store",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Go by what `atc solve --store DIR` saw of responses, too.",
)
@click.option(
    "--query", metavar="QUESTION", help="What the program is to answer: identifiers that it does not name are told."
)
@click.option("--json", "as_json", is_flag=True, help="Print a list of diagnostics as JSON.")
@click.pass_context
def check(ctx: click.Context, file: Path, api: str, store: Path | None, query: str | None, as_json: bool) -> None:
    """Tell what is wrong with the program in FILE (- for stdin) without running it.

    Each line of output is FILE:LINE:COLUMN, the rule and what is there in place of what was written. Checked are names
    of tools and their arguments, keys and types of what the API's document says it returns, and variables that may
    have no value. Exit code 0: nothing was found; 1: something was; 2: it could not be checked.
    """
    from atc.check import check as diagnose
    from atc.files import to_json
    from atc.language.question import Question
    from atc.program.source import renamed
    from protocols import load
    from protocols.contracts.contract import Contract
    from protocols.contracts.store import ContractStore
    from protocols.dataflow.graph import ProtocolGraph

    protocol = load(api)
    program = renamed(read_program(file), protocol.aliases)
    contract = ContractStore(store).contract(protocol) if store is not None else Contract(protocol)
    question = Question(query) if query is not None else None
    diagnostics = diagnose(program, contract, question=question, graph=ProtocolGraph(protocol), strict=True)
    if as_json:
        click.echo(to_json([diagnostic.to_json() for diagnostic in diagnostics]), nl=False)
    else:
        for diagnostic in diagnostics:
            line = f"{file}:{diagnostic.line}:{diagnostic.column + 1}: {diagnostic.rule}: {diagnostic.message}"
            click.echo(visible(line).replace("\n", "␊"))
    ctx.exit(1 if diagnostics else 0)
