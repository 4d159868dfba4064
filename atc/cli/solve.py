"""`atc solve`: from a question to an answer, with everything that was tried in a file if asked."""

from __future__ import annotations

import platform
import sys
from contextlib import closing
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from atc.cli import say
from atc.cli.model import offer_pull
from atc.cli.options import (
    allow_option,
    api_options,
    check_api_options,
    model_options,
    out_file,
    strict_option,
    tool_count,
)
from atc.tui.text import for_stream
from protocols.errors import ATCError

if TYPE_CHECKING:
    from atc.solution import Solution

__all__ = ["solve"]


@click.command()
@click.argument("query")
@api_options
@allow_option
@model_options
@click.option(
    "--tools",
    type=tool_count,
    metavar="N|all",
    default="20",
    show_default=True,
    help="How many tools the model is shown.",
)
@click.option("--record", type=out_file, metavar="FILE", help="Record the model's answers for --model replay:FILE.")
@click.option("--out", type=out_file, metavar="FILE", help="Write the solution as JSON, whatever comes of it.")
@strict_option
@click.option("--json", "as_json", is_flag=True, help="Print the solution as JSON and nothing else.")
@click.option("-v", "--verbose", is_flag=True, help="Show all tools, programs, output, and defects of the document.")
@click.pass_context
def solve(
    ctx: click.Context,
    query: str,
    api: str,
    simulate: bool,
    base_url: str | None,
    auth: tuple[str, ...],
    allow: tuple[str, ...],
    seed: int,
    now: datetime | None,
    model: str | None,
    mode: Literal["attribute", "naive", "none"],
    max_reflections: int,
    tools: int | Literal["all"],
    record: Path | None,
    out: Path | None,
    strict: bool,
    as_json: bool,
    verbose: bool,
) -> None:
    """Answer QUERY with the API that SPEC documents.

    The answer goes to stdout; on a terminal it comes with a live view of how it was found.
    """
    check_api_options(simulate, base_url, auth)
    from atc.agent import Agent
    from atc.files import to_json, write_json
    from atc.models import default_model, open_model
    from atc.tui import open_view

    name = model or default_model()
    solution: Solution | None = None
    on_screen = False
    exit_code = 0
    of_document: tuple[str, ...] = ()
    try:
        offer_pull(name)
        with (
            open_view(quiet=as_json and not verbose, verbose=verbose, stdout=not as_json) as shown,
            closing(open_model(name, record=record, seed=seed)) as opened,
            Agent.from_openapi(
                api,
                model=opened,
                mode=mode,
                max_reflections=max_reflections,
                base_url=base_url,
                auth=auth,
                allow=allow,
                simulate=simulate,
                seed=seed,
                tools=tools,
                now=now,
                strict_sandbox=strict,
                on_event=shown.sink,
            ) as agent,
        ):
            on_screen = shown.answer
            of_document = agent.protocol.warnings
            solution = agent.solve(query)
            exit_code = solution.exit_code
    except (ATCError, KeyboardInterrupt, click.Abort) as error:
        exit_code = error.exit_code if isinstance(error, ATCError) else 130
        # A second ctrl-C, while things are closed, must not lose what the first one left.
        solution = solution or _unsolved(query, name, exit_code, str(error) or "interrupted")
    if as_json:
        click.echo(to_json(solution.to_json()), nl=False)
    elif solution.answer is not None and not on_screen:
        click.echo(for_stream(solution.answer, sys.stdout))
    if out:
        write_json(out, solution.to_json())
    for warning in () if as_json else solution.warnings:
        if verbose or warning not in of_document:
            say(f"warning: {warning}")
    if solution.message:
        tried = len(solution.attempts)
        say(f"not solved in {tried} attempts: {solution.message}" if tried > 1 else solution.message)
    ctx.exit(exit_code)


def _unsolved(query: str, model: str, exit_code: int, message: str) -> Solution:
    """The solution of a solve that ended before its first attempt."""
    from atc.models import Usage
    from atc.solution import EXIT_CODES, Solution, Status

    status: Status = next((status for status, code in EXIT_CODES.items() if code == exit_code), "failed")
    versions = {"atc": version("atc-toolchain"), "python": platform.python_version(), "model": model}
    seconds = {"total": 0.0, "model": 0.0, "run": 0.0}
    return Solution(query, status, None, (), (), Usage(), seconds, versions, message)
