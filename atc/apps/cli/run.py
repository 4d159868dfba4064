"""`atc run`: a program of the user's own in the sandbox, as the agent would run it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.confirm import Confirmation, can_ask
from atc.apps.cli.help_pages import BriefCommand
from atc.apps.cli.options import (
    RealRange,
    agent_options,
    api_option,
    argument,
    check_api_options,
    json_option,
    option,
    read_program,
    takes,
)
from atc.apps.cli.reachable import open_protocol
from atc.apps.tui import HeldBack
from atc.apps.tui.text import for_stream
from atc.options import Options
from protocols.errors import APIError, LimitReached, ProgramRefused
from protocols.quoting import one_line
from sandbox.records import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from atc.apps.saved.saved_program import SavedProgram
    from atc.program_run import ProgramResult
    from protocols.model import Protocol
    from sandbox import Sandbox
    from sandbox.records import Run

__all__ = ["run"]

_DEFAULT = Limits()
_SECONDS = RealRange(min=0, min_open=True)


@dataclass(frozen=True, kw_only=True)
class _Options:
    file: Path = argument(type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
    arguments: tuple[str, ...] = argument(nargs=-1, type=click.UNPROCESSED, metavar="[--PARAMETER VALUE]...")
    api: tuple[str, ...] = api_option(
        "OpenAPI document, *.tools.json, functions:FILE.py, saved:DIR or an MCP server (mcp:stdio:COMMAND, mcp:URL); "
        "without it only --allow is reached."
    )
    agent: Options = agent_options("document", "service", "program", "network", "clock", writes="allow")
    wall: float | None = option(
        "--wall",
        type=_SECONDS,
        metavar="S",
        common=True,
        help=f"Most seconds, also of each call  [default: {_DEFAULT.wall:g}, more with --call-timeout]",
    )
    cpu: float = option(
        "--cpu", type=_SECONDS, default=_DEFAULT.cpu, show_default=True, metavar="S", help="Most CPU seconds."
    )
    memory: int = option(
        "--memory",
        type=click.IntRange(min=1),
        default=_DEFAULT.memory,
        show_default=True,
        metavar="MIB",
        help="Most MiB.",
    )
    as_json: bool = json_option("Print the run as JSON instead of what the program prints.")
    verbose: bool = option(
        "-v", "--verbose", is_flag=True, common=True, help="Show each call, and the warnings, on stderr."
    )

    @property
    def name(self) -> str:
        """What messages call the program."""
        return "stdin" if str(self.file) == "-" else str(self.file)

    def limits(self) -> Limits:
        """What the program may use; a --wall that is given stands whatever one call may take."""
        own = Limits(cpu=self.cpu, memory=self.memory)
        limits = own.adjusted(self.agent.call_timeout, self.agent.max_calls)
        return limits if self.wall is None else replace(limits, wall=self.wall)

    def check(self) -> None:
        """Refuse what contradicts itself. Raises: click.UsageError."""
        agent = self.agent
        check_api_options(agent.simulate, agent.base_url, agent.auth)
        if self.api:
            return
        if agent.writes in ("simulate", "plan"):
            raise click.UsageError(f"--writes {agent.writes} needs --api SPEC: the simulated API is made from it")
        if agent.simulate or agent.base_url:
            raise click.UsageError(f"{'--simulate' if agent.simulate else '--base-url'} needs --api SPEC")
        if agent.only or agent.without or agent.reads:
            raise click.UsageError("--only, --without and --read need --api SPEC: they name its operations")
        if agent.headers:
            raise click.UsageError("--header needs --api SPEC: the headers are for its server alone")
        if agent.auth and not agent.allow:
            raise click.UsageError("--auth needs --api SPEC or --allow ORIGIN: there is nothing to sign in to")


@click.command(
    cls=BriefCommand, context_settings={"ignore_unknown_options": True}
)  # a saved program has parameters of its own
@takes(_Options)
def run(options: _Options) -> None:
    """Run a program in the sandbox, with the API's tools as functions.

    FILE is the program, - for stdin. Without --api it may reach the servers that --allow names, with `requests`;
    without either, none. What it prints comes through as it is printed; messages of ours go to stderr.

    A program of `atc save` names its API itself, and takes its parameters as options; a wrong one lists them.
    """
    from atc.apps.tui.parts import call_text
    from protocols.calls.auth import credential
    from protocols.calls.header_option import header_of, without_headers
    from sandbox import Sandbox
    from sandbox.egress.network import open_network

    typed = options
    options, program, saved = _with_parameters(typed, read_program(typed.file))
    options.check()
    agent, protocol = options.agent, None
    if options.api:
        asks = agent.writes not in (None, "allow")
        protocol = open_protocol(options.api, agent, asks=asks, verbose=options.verbose)
    if saved is not None and protocol is not None:
        protocol = saved.check(protocol)
        _tell_sign_in(options, protocol, () if typed.api else options.api)
    base_url, now = agent.base_url, agent.now
    credentials = [credential(spec, protocol) for spec in agent.auth]
    headers = [header_of(spec, protocol) for spec in agent.headers]
    if protocol is not None:
        protocol = without_headers(protocol, ((sent.namespace, sent.place[1]) for sent in headers))

    on_screen = HeldBack[Callable[[], None]](lambda show: show())
    with ExitStack() as closing:
        if agent.simulate and protocol is not None:
            from atc.agent import SIMULATED_NOW
            from protocols.simulator import Simulator

            now = now or SIMULATED_NOW
            simulator = closing.enter_context(Simulator(protocol, seed=agent.seed, now=now))
            base_url, credentials = simulator.base_urls, list(simulator.credentials)
        open_sandbox = partial(
            Sandbox,
            protocol,
            base_url=base_url,
            allow=agent.allow,
            credentials=[*credentials, *headers],
            limits=options.limits(),
            seed=agent.seed,
            strict=agent.strict_sandbox,
            on_call=(lambda call: on_screen(partial(say, call_text(call)))) if options.verbose else None,
            network=open_network(agent.ca_file, agent.client_cert),
        )
        outcome = _outcome(options, program, protocol, open_sandbox, now, on_screen)
    warned = protocol.warnings if protocol is not None and options.verbose else ()
    click.get_current_context().exit(_report(options, outcome, warned))


def _outcome(
    options: _Options,
    program: str,
    protocol: Protocol | None,
    open_sandbox: Callable[..., Sandbox],
    now: datetime | None,
    on_screen: HeldBack[Callable[[], None]],
) -> ProgramResult:
    """Run the program as the writes policy says; without a terminal a plan is printed, and the answer is no."""
    from atc.apps.tui.plan import difference_lines, plan_lines
    from atc.events import Event
    from atc.program_run import run_under

    def show_plan(event: Event) -> None:
        if not can_ask():
            for line in plan_lines(event.plan):  # type: ignore[union-attr]
                say(line)

    def pass_on(stream: str, text: str) -> None:
        on_screen(partial(_pass_on, stream, text))

    policy, on_output = options.agent.writes or "allow", None if options.as_json else pass_on
    with Confirmation(on_screen.pause) as confirmation:
        confirms = confirmation if can_ask() else None
        writes = confirms.write if policy == "ask" and confirms is not None else policy
        confirm_plan = confirms.plan if confirms is not None else None
        outcome = run_under(writes, program, protocol, open_sandbox, now, None, on_output, confirm_plan, show_plan)
    if outcome.plan is not None and outcome.plan.stopped is not None:
        for line in difference_lines(outcome.plan.stopped):
            say(line)
    return outcome


def _report(options: _Options, outcome: ProgramResult, warned: tuple[str, ...]) -> int:
    """Tell how a run ended; gives the exit code."""
    result = outcome.run
    if options.as_json:
        plan = {"write_plan": outcome.plan.to_json()} if outcome.plan is not None else {}
        print_json({**asdict(result), **plan})
    result_warnings = result.warnings if options.verbose else (*result.missing_layers, *result.reply_warnings)
    for warning in (*warned, *result_warnings):
        say(f"warning: {warning}")
    if message := _message(result, options.name):
        say(message)
    if outcome.declined:
        say(outcome.declined)
    return ProgramRefused.exit_code if outcome.declined else _exit_code(result)


def _with_parameters(options: _Options, program: str) -> tuple[_Options, str, SavedProgram | None]:
    """The program to run and its API, where it was saved with parameters; any other one as it is.

    Raises: UsageError, click.UsageError: A parameter is wrong, or the API must be named.
    """
    saved = None
    if "SAVED" in program:
        from atc.apps.saved.saved_program import parse_arguments, parse_saved

        saved = parse_saved(program, options.name)
    if saved is None:
        unknown = next((word for word in options.arguments if word.startswith("-")), None)
        if unknown is not None:
            raise click.NoSuchOption(unknown.partition("=")[0])
        if options.arguments:
            raise click.UsageError(f"Got unexpected extra argument ({' '.join(options.arguments)})")
        return options, program, None
    program = saved.program(parse_arguments(saved, options.arguments, options.name))
    if options.api:
        return options, program, saved
    return replace(options, api=saved.api_from(options.file.parent)), program, saved


def _tell_sign_in(options: _Options, protocol: Protocol, named: Sequence[str]) -> None:
    """Say where the credentials go, for a program that has `named` its API itself."""
    from sandbox.egress.egress_rules import base_urls

    urls = base_urls(options.agent.base_url, protocol)
    documented = {namespace: [server.url for server in api.servers[:1]] for namespace, api in protocol.apis.items()}
    servers = [urls.get(namespace) or " ".join(first) for namespace, first in documented.items()]
    if options.agent.auth and named:
        say(f"signs in at {', '.join(filter(None, servers))}, the server of {', '.join(named)} in {options.file}")


def _pass_on(stream: str, text: str) -> None:
    """What the program prints, as it is; on a terminal it cannot do more than be read."""
    target = sys.stderr if stream == "stderr" else sys.stdout
    target.write(for_stream(text, target))
    target.flush()


def _message(run: Run, name: str) -> str:
    """Why the program did not end well, with the place in it and what its data was; empty if it did."""
    from atc.diagnosis.operands import evidence

    if run.outcome == "ok":
        return ""
    if run.outcome == "interrupted":
        return "interrupted"
    error = run.error
    if error is None:
        return f"{name} was stopped at the limit of {run.limit}"
    if error.type == "SystemExit":
        return f"{name} left with exit status {run.exit_status}"
    snippet = f"\n{error.snippet.rstrip()}" if error.snippet else ""
    if run.outcome == "refused":
        return f"{name}, {error.message}{snippet}"
    place = f"{name}, line {error.line}" if error.line else name
    kind = "" if run.outcome == "limit" else f"{error.type}: "
    return "\n".join([f"{place}: {kind}{one_line(error.message)}{snippet}", *evidence(run)[:3]])


def _exit_code(run: Run) -> int:
    if run.outcome != "ok" and any(call.refused for call in run.calls):
        return ProgramRefused.exit_code
    if run.outcome == "error":
        failed = next((call for call in run.calls if run.error and call.index == run.error.call), None)
        unreached = failed is not None and failed.attempts > 0 and failed.status in (None, 401)
        return APIError.exit_code if unreached else 1
    codes = {"refused": ProgramRefused.exit_code, "limit": LimitReached.exit_code, "interrupted": 130}
    return codes.get(run.outcome, 0)
