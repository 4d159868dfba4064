"""What the commands share that ask an agent: its options, the agent itself, and how a solution is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import urlsplit

import click

from atc.apps.cli import say
from atc.apps.cli.config import BESIDE_RESUME, LIMITS
from atc.apps.cli.limits import LimitOptions
from atc.apps.cli.options import (
    ModelOptions,
    ProgramOptions,
    SearchOptions,
    api_option,
    open_protocol,
    option,
    record_option,
    strict_option,
    tool_count,
    writes_option,
)
from atc.apps.cli.reachable import check_server
from atc.apps.tui.text import for_stream, format_answer
from protocols.naming import split_namespace
from sandbox.truncation import one_line

if TYPE_CHECKING:
    from atc.agent import Agent
    from atc.events import Event, EventSink
    from protocols.model import Protocol
    from protocols.simulator import Session
    from sandbox import CallRecord
    from sandbox.egress.write_plan import WritePlan

__all__ = ["AgentOptions", "check_passwords", "load_api", "open_agent", "tell_message", "tell_solution"]

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
    *LIMITS,
    *("call_timeout", "max_calls", "ca_file", "client_cert"),
]
"""The options that the agent takes as they are."""

_NOTED = (
    *("api", "simulate", "model", "writes", "only", "without", "reads"),
    *(name for name in _FOR_AGENT if name != "store"),
    *(entry.name for entry in fields(SearchOptions)),
)
"""What a journal keeps of the command."""


@dataclass(frozen=True, kw_only=True)
class AgentOptions(LimitOptions, SearchOptions, ModelOptions, ProgramOptions):
    """The options of an agent."""

    api: tuple[str, ...] = api_option(
        "OpenAPI document or *.tools.json, as a file or a URL, functions:FILE.py, programs of `atc save` "
        "(saved:DIR), or an MCP server (mcp:stdio:COMMAND, mcp:URL); required unless a journal goes on."
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
    writes: Literal["ask", "allow", "deny", "simulate", "plan"] | None = writes_option("ask, and allow with --simulate")
    strict_sandbox: bool = strict_option()
    verbose: bool = option(
        "-v", "--verbose", is_flag=True, help="Show all tools, programs, output, and defects of the document."
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

        api = tuple(_absolute(spec) for spec in self.api)
        retriever, prices, ca_file = (
            str(Path(place).expanduser().resolve()) if place else None
            for place in (self.retriever, self.prices, self.ca_file)
        )
        files = (self.client_cert or "").split(",", 1)
        client_cert = ",".join(str(Path(file).expanduser().resolve()) for file in files) if self.client_cert else None
        places: dict[str, Any] = {"prices": prices, "ca_file": ca_file, "client_cert": client_cert}
        return replace(self, api=api, retriever=retriever, model=identity(self.model or default_model()), **places)

    def to_note(self) -> Mapping[str, object]:
        """What a journal keeps of the command."""
        return {**{name: getattr(self, name) for name in _NOTED}, "now": self.now.isoformat() if self.now else None}

    def with_noted(self, noted: object) -> Self | None:
        """The same with what a journal kept of a command, but for `writes` and limits where they are given.

        None if that is no note of a command.
        """
        if not isinstance(noted, dict) or not {"api", "model"} <= noted.keys() <= set(_NOTED):
            return None
        now = datetime.fromisoformat(noted["now"]) if noted.get("now") else None
        overrides = {name: value for name in ("writes", *BESIDE_RESUME) if (value := getattr(self, name))}
        return replace(self, **{**noted, "now": now, **overrides})


def check_passwords(specs: Sequence[str]) -> None:
    """Refuse to keep in a journal what signs in. Raises: click.UsageError."""
    sources = [split_namespace(spec)[1] for spec in specs]
    if any(source.startswith(("http://", "https://")) and "@" in urlsplit(source).netloc for source in sources):
        raise click.UsageError("--journal would keep the password in --api; save the document to a file")


def load_api(options: AgentOptions, *, check: bool) -> Protocol:
    """The protocol of the options; with `check` it is tried whether credentials and the service can be had.

    Raises: UsageError, ProtocolError, APIError.
    """
    from protocols.calls.auth import credential, header_of

    protocol = open_protocol(options, asks=options.writes != "allow" and not options.simulate)
    if check:
        for text in options.headers:
            header_of(text, protocol)
        if not options.simulate:
            for text in options.auth:
                credential(text, protocol)
            check_server(protocol, options.base_url, options.allow)
    return protocol


@contextmanager
def open_agent(
    options: AgentOptions,
    protocol: Protocol,
    query: str,
    sink: EventSink,
    confirm: Callable[[CallRecord], bool] | None,
    confirm_plan: Callable[[WritePlan], bool] | None,
) -> Iterator[Agent]:
    """The agent of the options; `query` is what a simulated world takes for granted. Raises: ATCError."""
    from atc.agent import Agent
    from atc.models import open_model

    with (
        closing(
            open_model(options.model, record=options.record, seed=options.seed, keep=True, threads=options.threads)
        ) as model,
        _simulated(protocol, options, query) as service,
        _traced(sink, options.otel) as on_event,
        Agent(
            protocol,
            model,
            simulate=service,
            on_event=on_event,
            writes=options.writes or ("allow" if options.simulate else "ask"),
            confirm=confirm,
            confirm_plan=confirm_plan,
            search=options.search_settings(),
            **{name: getattr(options, name) for name in _FOR_AGENT},
        ) as agent,
    ):
        yield agent


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
def _simulated(protocol: Protocol, options: AgentOptions, query: str) -> Iterator[Session | Literal[False]]:
    """The simulated API in whose world is what the question takes for granted, if one is asked for."""
    if not options.simulate:
        yield False
        return
    from atc.agent import SIMULATED_NOW
    from protocols.simulator import Simulator

    with Simulator(protocol, seed=options.seed, now=options.now or SIMULATED_NOW) as simulator:
        yield simulator.session(query=query)


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
