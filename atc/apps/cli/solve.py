"""`atc solve`: from a question to an answer, with everything that was tried in a file if asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from atc.apps.cli import print_json, say
from atc.apps.cli.asking import AgentOptions, check_passwords, load_api, open_agent, tell_message, tell_solution
from atc.apps.cli.confirm import Confirmation
from atc.apps.cli.flags import FLAGS, flags_with
from atc.apps.cli.help_pages import BriefCommand
from atc.apps.cli.model import offer_pull
from atc.apps.cli.options import argument, check_api_options, json_option, option, out_file, takes
from atc.apps.tui.plan import difference_lines
from protocols.errors import ATCError, UsageError

if TYPE_CHECKING:
    from atc.solution import Solution
    from sandbox import Journal

__all__ = ["solve"]

_LARGER = {name: f", with a larger --{name.replace('_', '-')}" for name in ("max_tokens", "max_cost")}
_LARGER["limit"] = ", with the larger limit that it names"
"""What a solve needs to go on; what it used before counts."""


@dataclass(frozen=True, kw_only=True)
class _Options(AgentOptions):
    query: str | None = argument(required=False)
    out: Path | None = option(
        "--out", type=out_file, metavar="FILE", common=True, help="Write the solution as JSON, whatever comes of it."
    )
    journal: Path | None = option(
        "--journal",
        type=out_file,
        metavar="FILE",
        common=True,
        help="Keep each call and answer in FILE as it happens, so that --resume can go on after a stop.",
    )
    resume: Path | None = option(
        "--resume",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        common=True,
        help="Go on with the solve of the journal FILE; no write is repeated.",
    )
    refresh: bool = option(
        "--refresh", is_flag=True, help="Send all reads, also those that the journal has the replies of."
    )
    strict: bool = option("--strict", is_flag=True, help="Exit with 1 for a doubtful answer, too.")
    as_json: bool = json_option("Print the solution as JSON and nothing else.")

    def check(self) -> None:
        """Refuse what is missing or contradicts itself. Raises: click.UsageError."""
        if self.resume is not None:
            return _refuse_more(click.get_current_context())
        if self.query is None:
            raise click.UsageError("Missing argument 'QUERY' (or --resume FILE).")
        if not self.api:
            raise click.UsageError("Missing option '--api' (or --resume FILE).")
        check_api_options(self.agent.simulate, self.agent.base_url, self.agent.auth)
        if self.journal is None:
            return None
        check_passwords(self.api)
        if self.journal.exists():
            raise click.UsageError(f"{self.journal} exists; go on with --resume {self.journal}, or name a new file")
        return None

    def resumed(self, journal: Journal) -> _Options:
        """The same with what the journal says was asked. Raises: UsageError: It does not say so."""
        noted = journal.noted("asked")
        if noted is None:
            raise UsageError(f"{self.resume} holds no question; start anew")
        query = noted.pop("query", None) if isinstance(noted, dict) else None
        options = self.with_noted(noted)
        if options is None or not isinstance(query, str):
            raise UsageError(f"{self.resume} is damaged; move it away and start a new one")
        return replace(options, query=query)


@click.command(cls=BriefCommand)
@takes(_Options)
def solve(options: _Options) -> None:
    """Answer QUERY with the API that SPEC documents.

    The answer goes to stdout; on a terminal it comes with a live view of how it was found. With --resume nothing else
    is needed: FILE has the question and all options.
    """
    from atc.resume import recorded_solution
    from sandbox import Journal

    options.check()
    context = click.get_current_context()
    with Journal(options.resume or options.journal, refresh=options.refresh) as journal:
        if options.resume is not None:
            options = options.resumed(journal)
            if (data := recorded_solution(journal)) is not None:
                context.exit(_tell(data, options))
            if options.agent.auth:
                say(f"signs in with what {options.resume} names: {', '.join(options.agent.auth)}")
        else:
            options = options.complete()
            journal.note("asked", {**options.to_note(), "query": options.query})
        code, limit = _solved(options, journal)
        if journal.file is not None and recorded_solution(journal) is None:
            say(f"atc solve --resume {journal.file} goes on from here{_LARGER.get(limit, '')}")
    context.exit(code)


def _solved(options: _Options, journal: Journal) -> tuple[int, str]:
    """Solve the question and show the solution; the exit code, and the limit that it reached or its status."""
    from atc.apps.tui import open_view
    from atc.apps.unsolved import unsolved

    query, model = str(options.query), str(options.agent.model)
    solution: Solution | None = None
    on_screen = False
    exit_code = 0
    of_document: tuple[str, ...] = ()
    try:
        protocol = load_api(options, check=options.resume is None)
        offer_pull(model)
        with (
            open_view(
                quiet=options.as_json and not options.verbose, verbose=options.verbose, stdout=not options.as_json
            ) as view,
            Confirmation(view.pause, query) as confirmation,
            open_agent(options, protocol, query, view.sink, lambda: confirmation) as agent,
        ):
            on_screen = view.answer
            of_document = agent.protocol.warnings
            solution = agent.solve(query, journal=journal)
            exit_code = solution.exit_code
        if not options.as_json and solution.write_plan is not None and solution.write_plan.stopped is not None:
            for line in difference_lines(solution.write_plan.stopped):
                say(line)
    except (ATCError, KeyboardInterrupt, click.Abort) as error:
        exit_code = error.exit_code if isinstance(error, ATCError) else 130
        # A second ctrl-C, while things are closed, must not lose what the first one left.
        solution = solution or unsolved(query, model, exit_code, str(error) or "interrupted")
    code = _tell({**solution.to_json(), "exit_code": exit_code}, options, on_screen=on_screen, hidden=of_document)
    return code, solution.limit or solution.status


def _refuse_more(ctx: click.Context) -> None:
    """Beside --resume there is nothing to say about the question. Raises: click.UsageError."""
    fixed = {"query", "api", "journal", *FLAGS}.difference(flags_with("resumable"), flags_with("unnoted"))
    named = [
        parameter
        for parameter in ctx.command.params
        if parameter.name in fixed and ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    ]
    if named:
        named.sort(key=lambda parameter: isinstance(parameter, click.Option))
        names = ", ".join(p.opts[0] if p.opts[0].startswith("-") else p.opts[0].upper() for p in named)
        raise click.UsageError(f"--resume takes the question and its options from FILE; leave out {names}")


def _tell(data: Mapping[str, Any], options: _Options, *, on_screen: bool = False, hidden: tuple[str, ...] = ()) -> int:
    """Print and write a solution, given as JSON; gives the exit code. `hidden`: warnings for --verbose alone."""
    from atc.files import write_json

    solution = {name: value for name, value in data.items() if name != "exit_code"}
    if options.as_json:
        print_json(solution)
        tell_message(solution)
    else:
        tell_solution(solution, verbose=options.verbose, on_screen=on_screen, hidden=hidden)
    if options.out:
        write_json(options.out, solution, private=True)
    return 1 if options.strict and solution.get("standing") == "doubtful" else int(data["exit_code"])
