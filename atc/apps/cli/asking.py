"""What the commands share that ask an agent: its options, the agent itself, and how a solution is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import urlsplit

import click

from atc.apps.cli import say
from atc.apps.cli.confirm import Confirmation, can_ask
from atc.apps.cli.flags import FLAGS, flag_values, flags_with, for_chosen, with_values
from atc.apps.cli.options import agent_options, api_option, option, record_option
from atc.apps.cli.reachable import open_service
from atc.apps.tui.text import for_stream, format_answer
from atc.options import Options
from protocols.naming import split_namespace
from protocols.quoting import one_line

if TYPE_CHECKING:
    from atc.agent import Agent
    from atc.events import Event, EventSink
    from protocols.model import Protocol
    from protocols.simulator import Session

__all__ = ["AgentOptions", "check_passwords", "load_api", "open_agent", "tell_message", "tell_solution"]


@dataclass(frozen=True, kw_only=True)
class AgentOptions:
    """The options of an agent, and what else the commands take that ask one."""

    api: tuple[str, ...] = api_option(
        "OpenAPI document or *.tools.json, as a file or a URL, functions:FILE.py, programs of `atc save` "
        "(saved:DIR), or an MCP server (mcp:stdio:COMMAND, mcp:URL); required unless a journal goes on."
    )
    agent: Options = agent_options()
    threads: int | None = option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        help="Threads of a local model  [default: $ATC_THREADS, else one a core, and a core less from four cores on]",
    )
    record: Path | None = record_option()
    verbose: bool = option(
        "-v",
        "--verbose",
        is_flag=True,
        common=True,
        help="Show all tools, programs, output and defects of the document.",
    )
    otel: bool = option(
        "--otel",
        is_flag=True,
        help="Send OpenTelemetry spans, without questions, arguments or replies, to $OTEL_EXPORTER_OTLP_ENDPOINT "
        "[default: http://localhost:4318]",
    )

    def complete(self) -> Self:
        """The same with the default model, its adapter's hash, and the document where it lies for later commands."""
        from atc.engines.names import identity
        from atc.models import default_model

        values = {
            name: ",".join(str(Path(part).expanduser().resolve()) for part in str(value).split(","))
            for name, value in flag_values(self.agent).items()
            if value is not None and FLAGS[name].kind in ("place", "certificate", "file", "index")
        }
        name = self.agent.model if isinstance(self.agent.model, str) else default_model()
        agent = with_values(self.agent, values | {"model": identity(name)})
        return replace(self, api=tuple(_absolute(spec) for spec in self.api), agent=agent)

    def to_note(self) -> Mapping[str, object]:
        """What a journal keeps of the command."""
        values = {name: value for name, value in flag_values(self.agent).items() if name in _NOTED}
        now = self.agent.now
        return {"api": self.api, **values, "now": now.isoformat() if now else None}

    def with_noted(self, noted: object) -> Self | None:
        """The same with what a journal kept of a command, but for what a solve that goes on may be given anew.

        None if that is no note of a command.
        """
        if isinstance(noted, dict):
            noted = {_RENAMED.get(name, name): value for name, value in noted.items() if name not in _GONE}
        if not isinstance(noted, dict) or not {"api", "model"} <= noted.keys() <= {"api", *_NOTED}:
            return None
        now = datetime.fromisoformat(noted["now"]) if noted.get("now") else None
        typed = flag_values(self.agent)
        values = {**noted, "now": now, **{name: typed[name] for name in flags_with("resumable") if typed[name]}}
        return replace(self, api=tuple(noted["api"]), agent=with_values(self.agent, values))


_NOTED = frozenset(FLAGS).difference(flags_with("unnoted"))
_GONE = frozenset({"effort"})
"""Options that journals of earlier versions note, and that nothing depends on any more."""
_RENAMED = {"tools": "max_tools"}
"""Options that journals of earlier versions note under another name."""


def check_passwords(specs: Sequence[str]) -> None:
    """Refuse to keep in a journal what signs in. Raises: click.UsageError."""
    sources = [split_namespace(spec)[1] for spec in specs]
    if any(source.startswith(("http://", "https://")) and "@" in urlsplit(source).netloc for source in sources):
        raise click.UsageError("--journal would keep the password in --api; save the document to a file")


def load_api(options: AgentOptions, *, check: bool) -> Protocol:
    """The protocol of the options; with `check` it is tried whether credentials and the service can be had.

    Raises: UsageError, ProtocolError, APIError.
    """
    agent = options.agent
    asks = agent.writes != "allow" and not agent.simulate
    return open_service(options.api, agent, asks=asks, check=check, verbose=options.verbose)


@contextmanager
def open_agent(
    options: AgentOptions, protocol: Protocol, query: str, sink: EventSink, asker: Callable[[], Confirmation]
) -> Iterator[Agent]:
    """The agent of the options; `query` is what a simulated world takes for granted, `asker` gives who is asked about
    a write now. Raises: ATCError."""
    from atc.agent import Agent
    from atc.models import open_model

    agent = options.agent
    with (
        closing(
            open_model(
                str(agent.model),
                record=options.record,
                seed=agent.seed,
                keep=True,
                threads=options.threads,
                silence=agent.silence,
            )
        ) as model,
        _simulated(protocol, agent, query) as service,
        _traced(sink, options.otel) as on_event,
    ):
        all_options = replace(
            for_chosen(agent),
            model=model,
            simulate=service,
            on_event=on_event,
            writes=agent.writes or ("allow" if agent.simulate else "ask"),
            confirm=(lambda call: asker().write(call)) if can_ask() else None,
            confirm_plan=(lambda plan: asker().plan(plan)) if can_ask() else None,
        )
        with Agent(protocol, **vars(all_options)) as opened:
            yield opened


def tell_solution(
    solution: Mapping[str, Any], *, verbose: bool, on_screen: bool = False, hidden: tuple[str, ...] = ()
) -> None:
    """Print a solution, given as JSON. `on_screen`: the answer is there already; `hidden`: warnings for --verbose."""
    if solution["answer"] is not None and not on_screen:
        click.echo(for_stream(format_answer(solution["answer"]), sys.stdout))
    for warning in solution["warnings"]:
        if verbose or warning not in hidden:
            say(f"warning: {one_line(warning)}")
    tell_message(solution)


def tell_message(solution: Mapping[str, Any]) -> None:
    """Say why there is no answer."""
    if message := solution["message"]:
        tried = len(solution["attempts"])
        say(f"not solved in {tried} attempts: {message}" if tried > 1 else message)


def _absolute(spec: str) -> str:
    """`[NAME=]SPEC` with the whole path of a file."""
    namespace, source = split_namespace(spec)
    path = f"{Path(source).resolve()}" if Path(source).is_file() else source
    return f"{namespace}={path}" if namespace else path


@contextmanager
def _simulated(protocol: Protocol, options: Options, query: str) -> Iterator[Session | Literal[False]]:
    """The simulated API in whose world is what the question takes for granted, if one is asked for."""
    if not options.simulate:
        yield False
        return
    from atc.agent import SIMULATED_NOW
    from protocols.simulator import Simulator

    with Simulator(protocol, seed=options.seed, now=options.now or SIMULATED_NOW) as simulator:
        yield simulator.session(query=query, rehearses=True)


@contextmanager
def _traced(sink: EventSink, traced: bool) -> Iterator[EventSink]:
    """The view of a solve, and beside it the spans for --otel."""
    if not traced:
        yield sink
        return
    from atc.apps.tracing import export_spans

    with export_spans(lambda problem: say(f"warning: {problem}")) as spans:

        def both(event: Event) -> None:
            sink(event)
            spans(event)

        yield both
