"""`atc solve`: from a question to an answer, with everything that was tried in a file if asked."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from atc.cli import say
from atc.cli.confirm import WriteConfirmation, can_ask
from atc.cli.model import offer_pull
from atc.cli.options import (
    allow_option,
    check_api_options,
    check_server,
    model_options,
    out_file,
    resumable_api_options,
    strict_option,
    threads_option,
    tool_count,
    writes_option,
)
from atc.tui.answer import format_answer
from atc.tui.text import for_stream
from protocols.errors import ATCError, UsageError
from sandbox.truncation import one_line

if TYPE_CHECKING:
    from atc.solution import Solution
    from protocols.model import Protocol
    from protocols.simulator import Session

__all__ = ["solve"]

_ASKED = {"query", "api", "simulate", "base_url", "auth", "allow", "seed", "now", "model", "mode"}
_ASKED |= {"max_reflections", "profile", "tools", "strict_sandbox", "writes"}
"""What a journal keeps of the command."""

_BESIDE_RESUME = {"resume", "threads", "writes", "refresh", "store", "record", "out", "as_json", "verbose"}


@click.command()
@click.argument("query", required=False)
@resumable_api_options
@allow_option
@model_options
@threads_option
@click.option(
    "--tools",
    type=tool_count,
    metavar="N|all",
    help="How many tools the model is shown  [default: as the profile says]",
)
@click.option(
    "--store",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep in DIR what responses really hold and which programs answered, and go by that; see `atc contract`.",
)
@click.option("--record", type=out_file, metavar="FILE", help="Record the model's answers for --model replay:FILE.")
@click.option("--out", type=out_file, metavar="FILE", help="Write the solution as JSON, whatever comes of it.")
@writes_option("ask, and allow with --simulate")
@click.option(
    "--journal",
    type=out_file,
    metavar="FILE",
    help="Keep each call and answer in FILE as it happens, so that --resume can go on after a stop.",
)
@click.option(
    "--resume",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Go on with the solve of the journal FILE; no write is repeated.",
)
@click.option("--refresh", is_flag=True, help="Send all reads, also those that the journal has the replies of.")
@strict_option
@click.option("--json", "as_json", is_flag=True, help="Print the solution as JSON and nothing else.")
@click.option("-v", "--verbose", is_flag=True, help="Show all tools, programs, output, and defects of the document.")
@click.pass_context
def solve(
    ctx: click.Context,
    query: str | None,
    api: str | None,
    simulate: bool,
    base_url: str | None,
    auth: tuple[str, ...],
    allow: tuple[str, ...],
    seed: int,
    now: datetime | None,
    model: str | None,
    threads: int | None,
    mode: str,
    max_reflections: int | None,
    profile: str | None,
    tools: int | Literal["all"] | None,
    store: Path | None,
    record: Path | None,
    out: Path | None,
    writes: Literal["ask", "allow", "deny", "simulate"] | None,
    journal: Path | None,
    resume: Path | None,
    refresh: bool,
    strict: bool,
    as_json: bool,
    verbose: bool,
) -> None:
    """Answer QUERY with the API that SPEC documents.

    The answer goes to stdout; on a terminal it comes with a live view of how it was found. With --resume nothing else
    is needed: FILE has the question and all options.
    """
    from atc.agent import Agent
    from atc.models import default_model, open_model
    from atc.resume import recorded_solution
    from atc.tui import open_view
    from protocols import load
    from protocols.calls.auth import credential
    from sandbox import Journal

    if resume is not None:
        _refuse_more(ctx)
    else:
        if query is None:
            raise click.UsageError("Missing argument 'QUERY' (or --resume FILE).")
        if api is None:
            raise click.UsageError("Missing option '--api' (or --resume FILE).")
        check_api_options(simulate, base_url, auth)
        if journal is not None and api.startswith(("http://", "https://")) and "@" in urlsplit(api).netloc:
            raise click.UsageError("--journal would keep the password in --api; save the document to a file")
        if journal is not None and journal.exists():
            raise click.UsageError(f"{journal} exists; go on with --resume {journal}, or name a new file")
    with Journal(resume or journal, refresh=refresh) as used_journal:
        if resume is not None:
            arguments = used_journal.noted("asked")
            if arguments is None:
                raise UsageError(f"{resume} holds no question; start anew")
            if not isinstance(arguments, dict) or arguments.keys() != _ASKED:
                raise UsageError(f"{resume} is damaged; move it away and start a new one")
            if (data := recorded_solution(used_journal)) is not None:
                ctx.exit(_tell(data, as_json=as_json, out=out, verbose=verbose))
            writes = writes or arguments.pop("writes")
            if arguments["auth"]:
                say(f"signs in with what {resume} names: {', '.join(map(str, arguments['auth']))}")
        else:
            arguments = {
                "query": query,
                "api": str(Path(str(api)).resolve()) if Path(str(api)).is_file() else api,
                "simulate": simulate,
                "base_url": base_url,
                "auth": auth,
                "allow": allow,
                "seed": seed,
                "now": now.isoformat() if now else None,
                "model": model or default_model(),
                "mode": mode,
                "max_reflections": max_reflections,
                "profile": profile,
                "tools": tools,
                "strict_sandbox": strict,
            }
            used_journal.note("asked", {**arguments, "writes": writes})
        arguments.pop("writes", None)
        query, name = str(arguments.pop("query")), str(arguments.pop("model"))
        arguments["now"] = datetime.fromisoformat(arguments["now"]) if arguments["now"] else None
        policy = writes or ("allow" if arguments["simulate"] else "ask")
        solution: Solution | None = None
        on_screen = False
        exit_code = 0
        of_document: tuple[str, ...] = ()
        try:
            protocol = load(arguments.pop("api"))
            if not arguments["simulate"] and resume is None:
                for credential_text in arguments["auth"]:
                    credential(credential_text, protocol)
                check_server(protocol, arguments["base_url"], arguments["allow"])
            offer_pull(name)
            with (
                open_view(quiet=as_json and not verbose, verbose=verbose, stdout=not as_json) as view,
                closing(open_model(name, record=record, seed=arguments["seed"], keep=True, threads=threads)) as opened,
                WriteConfirmation(view.pause) as confirm,
                _simulated(protocol, query, arguments) as service,
                Agent(
                    protocol,
                    opened,
                    simulate=service,
                    on_event=view.sink,
                    writes=policy,
                    confirm=confirm if can_ask() else None,
                    store=store,
                    **arguments,
                ) as agent,
            ):
                on_screen = view.answer
                of_document = agent.protocol.warnings
                solution = agent.solve(query, journal=used_journal)
                exit_code = solution.exit_code
        except (ATCError, KeyboardInterrupt, click.Abort) as error:
            exit_code = error.exit_code if isinstance(error, ATCError) else 130
            # A second ctrl-C, while things are closed, must not lose what the first one left.
            solution = solution or _unsolved(query, name, exit_code, str(error) or "interrupted")
        data = {**solution.to_json(), "exit_code": exit_code}
        code = _tell(data, as_json=as_json, out=out, verbose=verbose, on_screen=on_screen, hidden=of_document)
        if used_journal.file is not None and recorded_solution(used_journal) is None:
            say(f"atc solve --resume {used_journal.file} goes on from here")
    ctx.exit(code)


@contextmanager
def _simulated(protocol: Protocol, query: str, arguments: dict[str, Any]) -> Iterator[Session | Literal[False]]:
    """The simulated API in whose world is what the question takes for granted, if one is asked for."""
    if not arguments.pop("simulate"):
        yield False
        return
    from atc.agent import SIMULATED_NOW
    from protocols.simulator import Simulator

    with Simulator(protocol, seed=arguments["seed"], now=arguments["now"] or SIMULATED_NOW) as simulator:
        yield simulator.session(query=query)


def _refuse_more(ctx: click.Context) -> None:
    """Beside --resume there is nothing to say about the question. Raises: click.UsageError."""
    named = [
        parameter
        for parameter in ctx.command.params
        if parameter.name not in _BESIDE_RESUME
        and ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    ]
    if named:
        names = ", ".join(p.opts[0] if p.opts[0].startswith("-") else p.opts[0].upper() for p in named)
        raise click.UsageError(f"--resume takes the question and its options from FILE; leave out {names}")


def _tell(
    data: Mapping[str, Any],
    *,
    as_json: bool,
    out: Path | None,
    verbose: bool,
    on_screen: bool = False,
    hidden: tuple[str, ...] = (),
) -> int:
    """Print and write a solution, given as JSON; gives the exit code. `hidden`: warnings for `verbose` alone."""
    from atc.files import to_json, write_json

    solution = {name: value for name, value in data.items() if name != "exit_code"}
    if as_json:
        click.echo(to_json(solution), nl=False)
    elif solution["answer"] is not None and not on_screen:
        click.echo(for_stream(format_answer(solution["answer"]), sys.stdout))
    if out:
        write_json(out, solution, private=True)
    for warning in () if as_json else solution["warnings"]:
        if verbose or warning not in hidden:
            say(f"warning: {one_line(warning)}")
    if message := solution["message"]:
        tried = len(solution["attempts"])
        say(f"not solved in {tried} attempts: {message}" if tried > 1 else message)
    return int(data["exit_code"])


def _unsolved(query: str, model: str, exit_code: int, message: str) -> Solution:
    """The solution of a solve that ended before its first attempt."""
    from atc.models import Usage
    from atc.solution import EXIT_CODES, Solution, Status

    status: Status = next((status for status, code in EXIT_CODES.items() if code == exit_code), "failed")
    versions = {"atc": version("atc-toolchain"), "python": platform.python_version(), "model": model}
    seconds = {"total": 0.0, "model": 0.0, "run": 0.0}
    return Solution(query, status, None, (), (), Usage(), seconds, versions, message)
