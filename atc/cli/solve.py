"""`atc solve`: from a question to an answer, with everything that was tried in a file if asked."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from atc.cli import print_json, say
from atc.cli.confirm import PlanConfirmation, WriteConfirmation, can_ask
from atc.cli.model import offer_pull
from atc.cli.options import (
    ModelOptions,
    ProgramOptions,
    SearchOptions,
    api_option,
    argument,
    check_api_options,
    check_server,
    json_option,
    option,
    out_file,
    record_option,
    strict_option,
    takes,
    tool_count,
    writes_option,
)
from atc.tui.plan import difference_lines
from atc.tui.text import for_stream, format_answer
from protocols.errors import ATCError, UsageError
from protocols.naming import split_namespace
from sandbox.truncation import one_line

if TYPE_CHECKING:
    from atc.events import Event, EventSink
    from atc.solution import Solution
    from protocols.model import Protocol
    from protocols.simulator import Session
    from sandbox import Journal

__all__ = ["solve"]

_FOR_AGENT = [
    "base_url",
    "auth",
    "headers",
    "allow",
    "seed",
    "now",
    "mode",
    "max_reflections",
    "profile",
    "effort",
    "tools",
    "retriever",
    "strict_sandbox",
    "store",
]
"""The options that the agent takes as they are."""

_ASKED = (
    *("query", "api", "simulate", "model", "writes"),
    *(name for name in _FOR_AGENT if name != "store"),
    *(entry.name for entry in fields(SearchOptions)),
)
"""What a journal keeps of the command."""

_BESIDE_RESUME = {
    *("resume", "threads", "writes", "refresh", "store", "record"),
    *("out", "strict", "as_json", "verbose", "otel"),
}


@dataclass(frozen=True, kw_only=True)
class _Options(SearchOptions, ModelOptions, ProgramOptions):
    query: str | None = argument(required=False)
    api: tuple[str, ...] = api_option(
        "OpenAPI document or *.tools.json, as a file or a URL, or functions:FILE.py; required without --resume."
    )
    threads: int | None = option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        help="Threads of a local model  [default: $ATC_THREADS, else one a core, and a core less from four cores on]",
    )
    tools: int | Literal["all"] | None = option(
        "--tools",
        type=tool_count,
        metavar="N|all",
        help="How many tools the model is shown  [default: as the profile says]",
    )
    retriever: str | None = option(
        "--retriever",
        type=click.Path(exists=True, file_okay=False),
        metavar="INDEX",
        help="Choose those tools by this index; see `atc retrieve build`.",
    )
    store: Path | None = option(
        "--store",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Keep in DIR what responses really hold and which programs answered, and go by that; see `atc contract`.",
    )
    record: Path | None = record_option()
    out: Path | None = option(
        "--out", type=out_file, metavar="FILE", help="Write the solution as JSON, whatever comes of it."
    )
    writes: Literal["ask", "allow", "deny", "simulate", "plan"] | None = writes_option("ask, and allow with --simulate")
    journal: Path | None = option(
        "--journal",
        type=out_file,
        metavar="FILE",
        help="Keep each call and answer in FILE as it happens, so that --resume can go on after a stop.",
    )
    resume: Path | None = option(
        "--resume",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Go on with the solve of the journal FILE; no write is repeated.",
    )
    refresh: bool = option(
        "--refresh", is_flag=True, help="Send all reads, also those that the journal has the replies of."
    )
    strict_sandbox: bool = strict_option()
    strict: bool = option("--strict", is_flag=True, help="Exit with 1 for a doubtful answer, too.")
    as_json: bool = json_option("Print the solution as JSON and nothing else.")
    verbose: bool = option(
        "-v", "--verbose", is_flag=True, help="Show all tools, programs, output, and defects of the document."
    )
    otel: bool = option(
        "--otel",
        is_flag=True,
        help="Send OpenTelemetry spans, without questions, arguments or replies, to $OTEL_EXPORTER_OTLP_ENDPOINT "
        "[default: http://localhost:4318]",
    )

    def check(self) -> None:
        """Refuse what is missing or contradicts itself. Raises: click.UsageError."""
        if self.resume is not None:
            return _refuse_more(click.get_current_context())
        if self.query is None:
            raise click.UsageError("Missing argument 'QUERY' (or --resume FILE).")
        if not self.api:
            raise click.UsageError("Missing option '--api' (or --resume FILE).")
        check_api_options(self.simulate, self.base_url, self.auth)
        if self.journal is None:
            return None
        sources = [split_namespace(spec)[1] for spec in self.api]
        if any(source.startswith(("http://", "https://")) and "@" in urlsplit(source).netloc for source in sources):
            raise click.UsageError("--journal would keep the password in --api; save the document to a file")
        if self.journal.exists():
            raise click.UsageError(f"{self.journal} exists; go on with --resume {self.journal}, or name a new file")
        return None

    def complete(self) -> _Options:
        """The same with the default model, its adapter's hash, and the document where it lies for later commands."""
        from atc.models import default_model
        from atc.models.names import identity

        api = tuple(_absolute(spec) for spec in self.api)
        retriever = str(Path(self.retriever).resolve()) if self.retriever else None
        return replace(self, api=api, retriever=retriever, model=identity(self.model or default_model()))

    def note(self, journal: Journal) -> None:
        """Keep in a journal what was asked."""
        now = self.now.isoformat() if self.now else None
        journal.note("asked", {**{name: getattr(self, name) for name in _ASKED}, "now": now})

    def resumed(self, journal: Journal) -> _Options:
        """The same with what the journal says was asked. Raises: UsageError: It does not say so."""
        noted = journal.noted("asked")
        if noted is None:
            raise UsageError(f"{self.resume} holds no question; start anew")
        if not isinstance(noted, dict) or not {"query", "api", "model"} <= noted.keys() <= set(_ASKED):
            raise UsageError(f"{self.resume} is damaged; move it away and start a new one")
        now = datetime.fromisoformat(noted["now"]) if noted.get("now") else None
        return replace(self, **{**noted, "now": now, "writes": self.writes or noted.get("writes")})


@click.command()
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
            if options.auth:
                say(f"signs in with what {options.resume} names: {', '.join(map(str, options.auth))}")
        else:
            options = options.complete()
            options.note(journal)
        code = _solved(options, journal)
        if journal.file is not None and recorded_solution(journal) is None:
            say(f"atc solve --resume {journal.file} goes on from here")
    context.exit(code)


def _solved(options: _Options, journal: Journal) -> int:
    """Solve the question and show the solution; the exit code."""
    from atc.agent import Agent
    from atc.models import open_model
    from atc.tui import open_view
    from protocols.calls.auth import credential, header_of
    from protocols.combined import load_specs

    query, model = str(options.query), str(options.model)
    solution: Solution | None = None
    on_screen = False
    exit_code = 0
    of_document: tuple[str, ...] = ()
    try:
        protocol = load_specs(options.api, options.auth)
        for text in options.headers if options.resume is None else ():
            header_of(text, protocol)
        if not options.simulate and options.resume is None:
            for text in options.auth:
                credential(text, protocol)
            check_server(protocol, options.base_url, options.allow)
        offer_pull(model)
        with (
            open_view(
                quiet=options.as_json and not options.verbose, verbose=options.verbose, stdout=not options.as_json
            ) as view,
            closing(
                open_model(model, record=options.record, seed=options.seed, keep=True, threads=options.threads)
            ) as opened,
            WriteConfirmation(view.pause) as confirm,
            PlanConfirmation(view.pause) as confirm_plan,
            _simulated(protocol, options) as service,
            _traced(view.sink, options.otel) as on_event,
            Agent(
                protocol,
                opened,
                simulate=service,
                on_event=on_event,
                writes=options.writes or ("allow" if options.simulate else "ask"),
                confirm=confirm if can_ask() else None,
                confirm_plan=confirm_plan if can_ask() else None,
                search=options.search_settings(),
                **{name: getattr(options, name) for name in _FOR_AGENT},
            ) as agent,
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
        solution = solution or _unsolved(query, model, exit_code, str(error) or "interrupted")
    return _tell({**solution.to_json(), "exit_code": exit_code}, options, on_screen=on_screen, hidden=of_document)


def _absolute(spec: str) -> str:
    """`[NAME=]SPEC` with the whole path of a file."""
    namespace, source = split_namespace(spec)
    path = f"{Path(source).resolve()}" if Path(source).is_file() else source
    return f"{namespace}={path}" if namespace else path


@contextmanager
def _simulated(protocol: Protocol, options: _Options) -> Iterator[Session | Literal[False]]:
    """The simulated API in whose world is what the question takes for granted, if one is asked for."""
    if not options.simulate:
        yield False
        return
    from atc.agent import SIMULATED_NOW
    from protocols.simulator import Simulator

    with Simulator(protocol, seed=options.seed, now=options.now or SIMULATED_NOW) as simulator:
        yield simulator.session(query=str(options.query))


@contextmanager
def _traced(sink: EventSink, traced: bool) -> Iterator[EventSink]:
    """The view of a solve, and beside it the spans for --otel."""
    if not traced:
        yield sink
        return
    from atc.tracing import export_spans

    with export_spans(lambda problem: say(f"warning: {problem}")) as spans:

        def both(event: Event) -> None:
            sink(event)
            spans(event)

        yield both


def _refuse_more(ctx: click.Context) -> None:
    """Beside --resume there is nothing to say about the question. Raises: click.UsageError."""
    named = [
        parameter
        for parameter in ctx.command.params
        if parameter.name not in _BESIDE_RESUME
        and ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
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
    elif solution["answer"] is not None and not on_screen:
        click.echo(for_stream(format_answer(solution["answer"]), sys.stdout))
    if options.out:
        write_json(options.out, solution, private=True)
    for warning in () if options.as_json else solution["warnings"]:
        if options.verbose or warning not in hidden:
            say(f"warning: {one_line(warning)}")
    if message := solution["message"]:
        tried = len(solution["attempts"])
        say(f"not solved in {tried} attempts: {message}" if tried > 1 else message)
    return 1 if options.strict and solution.get("standing") == "doubtful" else int(data["exit_code"])


def _unsolved(query: str, model: str, exit_code: int, message: str) -> Solution:
    """The solution of a solve that ended before its first attempt."""
    from atc.models import Usage
    from atc.solution import EXIT_CODES, Solution, Status

    status: Status = next((status for status, code in EXIT_CODES.items() if code == exit_code), "failed")
    versions = {"atc": version("atc-toolchain"), "python": platform.python_version(), "model": model}
    seconds = {"total": 0.0, "model": 0.0, "run": 0.0}
    return Solution(query, status, None, (), (), Usage(), seconds, versions, message)
