"""`atc probe`: learn the responses of an API that does not document them."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from atc.apps.cli.documents import chosen, tell_reads
from atc.apps.cli.help_pages import BriefCommand
from atc.apps.cli.options import (
    agent_option,
    argument,
    check_api_options,
    json_option,
    option,
    out_file,
    takes,
)

if TYPE_CHECKING:
    from atc.models import Model
    from probing.prober.findings import ProbeReport, ToolFinding
    from probing.prober.permission import WritePermission, WriteScope
    from probing.prober.prober import Prober
    from protocols import Protocol
    from sandbox import Sandbox

__all__ = ["probe"]

_CHECKS = frozenset({
    *("spec", "checked", "simulate", "base_url", "auth", "seed", "now", "budget_calls", "as_json", "without", "reads"),
    *("call_timeout", "ca_file", "client_cert"),
})  # fmt: skip
"""The options that apply to --check."""


@dataclass(frozen=True, kw_only=True)
class ProbeOptions:
    """The parameters of `atc probe`. `spec`, whose responses are sought, is optional with --check."""

    spec: str | None = argument(required=False)
    simulate: bool = agent_option("simulate")
    auth: tuple[str, ...] = agent_option("auth")
    seed: int = agent_option("seed")
    now: datetime | None = agent_option("now")
    base_url: str | None = agent_option("base_url", metavar="URL", multiple=False, callback=None)
    call_timeout: float | None = agent_option("call_timeout")
    ca_file: str | None = agent_option("ca_file")
    client_cert: str | None = agent_option("client_cert")
    out: Path | None = option(
        "-o", "--out", type=out_file, metavar="FILE", common=True, help="The OpenAPI 3.1 document to write."
    )
    report: Path | None = option(
        "--report", type=out_file, metavar="FILE", help="Write what came of each tool, as JSON."
    )
    blind: bool = option(
        "--blind", is_flag=True, help="Hide what SPEC says of responses, and compare with it at the end."
    )
    model: str | None = option(
        "--model",
        metavar="NAME",
        common=True,
        help="Who writes programs for tools that are not reached without it; none for nobody  [default: as atc solve, "
        "none where that cannot be had]",
    )
    record: Path | None = option(
        "--record", type=out_file, metavar="FILE", help="Append the model's answers to FILE, for replay:FILE."
    )
    writes: WriteScope | None = option(
        "--writes",
        type=click.Choice(["deny", "own", "all"]),
        common=True,
        help="Whether tools that may change something are called; own: to make objects that can be removed, and are, "
        "and on these  [default: deny; all with --simulate]",
    )
    reads: tuple[str, ...] = agent_option("reads")
    only: tuple[str, ...] = agent_option(
        "only",
        help="Find out about these operations alone, named as in `atc solve`; others are called for their values. "
        "Repeatable.",
    )
    without: tuple[str, ...] = agent_option("without")
    iterations: int = option(
        "--iterations", type=click.IntRange(min=0), default=4, show_default=True, help="Rounds after the first."
    )
    samples: int = option(
        "--samples", type=click.IntRange(min=1), default=3, show_default=True, help="Programs a tool and round."
    )
    budget_calls: int | None = option(
        "--budget-calls", type=click.IntRange(min=1), metavar="N", common=True, help="Most requests in all."
    )
    budget_tokens: int | None = option(
        "--budget-tokens", type=click.IntRange(min=1), metavar="N", help="Most tokens of the model in all."
    )
    store: Path | None = option(
        "--store", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Teach atc solve --store."
    )
    resume: bool = option(
        "--resume", is_flag=True, common=True, help="Go on where a probe that wrote to the same --out was cut off."
    )
    checked: str | None = option(
        "--check",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        common=True,
        help="Write nothing: tell what a service answers otherwise than the documented FILE says.",
    )
    as_json: bool = json_option("Print the report as JSON instead of the table.")

    @property
    def out_path(self) -> Path:
        """`out`, which is only optional with `checked`."""
        assert self.out is not None
        return self.out

    @property
    def log(self) -> Path:
        """The log to resume from, beside the document."""
        return self.out_path.with_name(f"{self.out_path.name}.log")


@click.command(cls=BriefCommand)
@takes(ProbeOptions)
def probe(options: ProbeOptions) -> None:
    """Find out what an API returns by calling it, and document it.

    The document is that of SPEC with what was found. Exit code 0 when all that can be called answered, 1 when a call
    failed or nothing can be called, 4 when a budget ended it, 6 when the service refuses the connection, 130 after
    ctrl-C; the files are written each time. What lacks a permission or a value that nobody can know is listed, and is
    no failure. With --check 0 when nothing changed that breaks a program, 1 when something did, 6 when the service
    cannot be had.
    """
    from probing.evaluation import field_agreement, strip_responses
    from protocols import load
    from protocols.choice import choose

    ctx = click.get_current_context()
    _check_usage(ctx, options)
    truth = chosen(load(options.spec or str(options.checked)), (), options.without, options.reads)
    if not options.simulate and options.writes != "all":  # nothing else is called without permission
        tell_reads(truth, options.reads)
    if options.only:
        options = replace(options, only=tuple(tool.name for tool in choose(truth, options.only).tools))
    protocol = strip_responses(truth) if options.blind else truth
    with ExitStack() as stack:
        sandbox, permission = _open_sandbox(options, truth, protocol, stack)
        if options.checked is not None:
            ctx.exit(_check(options.checked, sandbox, options.budget_calls, options.as_json))
        prober = _open_prober(options, truth, sandbox, permission, stack)
        report = prober.probe()
    if options.blind:
        report = replace(report, agreement=field_agreement(truth, prober.findings))
    _write_files(options, prober, report)
    _print_result(options, report)
    ctx.exit(report.exit_code)


def _check_usage(ctx: click.Context, options: ProbeOptions) -> None:
    """Raises: click.UsageError: A file is missing, or --check is given an option that it ignores."""
    check_api_options(options.simulate, options.base_url, options.auth)
    if options.checked is None and (options.spec is None or options.out is None):
        raise click.UsageError("give SPEC and --out FILE, or --check FILE")
    given_names = {name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if options.checked is not None and (ignored := given_names - _CHECKS):
        names = ", ".join(sorted(option.opts[-1] for option in ctx.command.params if option.name in ignored))
        raise click.UsageError(f"--check only reads, asks no model and writes no file: leave out {names}")


def _open_sandbox(
    options: ProbeOptions, truth: Protocol, protocol: Protocol, stack: ExitStack
) -> tuple[Sandbox, WritePermission]:
    """The sandbox of the service, simulated where asked for, and the permission that it obeys."""
    from probing.prober.permission import WritePermission
    from protocols.calls.auth import credential
    from protocols.simulator import Simulator
    from sandbox import Limits, Sandbox
    from sandbox.egress.network import open_network

    scope = options.writes or ("all" if options.simulate and options.checked is None else "deny")
    permission = WritePermission(protocol, scope)
    base_url, credentials = options.base_url, tuple(credential(text, truth) for text in options.auth)
    if options.simulate:
        simulator = stack.enter_context(Simulator(truth, seed=options.seed, now=options.now))
        base_url, credentials = simulator.url, simulator.credentials
    sandbox = Sandbox(
        protocol,
        base_url=base_url,
        credentials=credentials,
        now=options.now,
        seed=options.seed,
        on_call=permission.observe,
        track=False,
        writes=permission,
        limits=Limits().adjusted(options.call_timeout),
        network=open_network(options.ca_file, options.client_cert),
    )
    return sandbox, permission


def _open_prober(
    options: ProbeOptions, truth: Protocol, sandbox: Sandbox, permission: WritePermission, stack: ExitStack
) -> Prober:
    """The prober with its log, model and progress display. Raises: UsageError: The log cannot be used."""
    from atc.apps.cli import say
    from probing.prober.prober import Prober
    from protocols.errors import UsageError

    log = options.log
    if log.is_dir():
        raise UsageError(f"{log} is a folder; it is where the log of the probe goes")
    if options.resume and not log.exists():
        say(f"there is no {log} to go on from: the probe begins anew")
    stack.enter_context(_locked(log))
    if not options.resume:
        _start_log(log)
    trying, finished = stack.enter_context(_progress(len(options.only) or len(permission.protocol.tools)))
    return Prober(
        permission.protocol,
        _model(options.model, options.record, options.seed, stack),
        sandbox,
        permission=permission,
        iterations=options.iterations,
        samples=options.samples,
        budget_calls=options.budget_calls,
        budget_tokens=options.budget_tokens,
        only=options.only,
        seed=options.seed,
        log=log,
        documentation=truth,
        service=_service(truth, options.simulate, options.base_url, options.auth),
        on_finding=finished,
        on_try=trying,
    )


def _write_files(options: ProbeOptions, prober: Prober, report: ProbeReport) -> None:
    """Write the document and what else was asked for, each for its owner; remove the log of a finished probe."""
    from atc.files import write_json, write_text
    from probing.document import openapi_document
    from protocols.contracts.store import SIMULATED
    from sandbox.egress.egress_rules import base_urls

    server = base_urls(options.base_url, prober.protocol).get("") if not options.simulate else None
    document = openapi_document(prober.protocol, prober.findings, server)
    write_text(options.out_path, _serialize(document, options.out_path), private=True)
    if options.report is not None:
        write_json(options.report, report.to_json(), private=True)
    if options.store is not None:
        _store_results(options.store / SIMULATED if options.simulate else options.store, prober)
    if not report.ended and not report.left_behind:
        options.log.unlink(missing_ok=True)


def _print_result(options: ProbeOptions, report: ProbeReport) -> None:
    from atc.apps.cli import print_json, say

    if options.as_json:
        print_json(report.to_json())
    else:
        _print_report(report)
    for error in report.internal_errors:
        say(f"an error of atc, after which the probe went on: {error}; please report it")
    if report.left_behind:
        say(f"not removed from the service: {'; '.join(report.left_behind)}")
    if report.ended:
        say(f"{report.ended}; {options.out_path} holds what is known, and --resume goes on from there")


def _service(truth: Protocol, simulate: bool, base_url: str | None, auth: Sequence[str]) -> str:
    """A description of the service and login, without a secret."""
    from sandbox.egress.egress_rules import display_url

    if simulate:
        return "the simulated service"
    place = display_url(base_url or (truth.servers[0].url if truth.servers else ""))
    return " ".join([place, *(f"with --auth {text}" for text in auth)])


@contextmanager
def _progress(total: int | None) -> Iterator[tuple[Callable[[str, str], None], Callable[[ToolFinding], None]]]:
    """Show on stderr the tool in progress, and a line for each completed one; nothing without a terminal.

    Gives what is to be called before a program of a tool runs, and what with each completed tool.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from atc.apps.tui.text import first_line

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("probing", total=total)

        def trying(tool: str, program: str) -> None:
            progress.update(bar, description=escape(first_line(f"{tool}: {program}", 60)))

        def finished(finding: ToolFinding) -> None:
            progress.advance(bar)
            if console.is_terminal:  # otherwise the final summary has it all
                console.print(f"{finding.outcome} [bold]{escape(finding.tool)}[/] round {finding.iteration}")

        yield trying, finished


@contextmanager
def _locked(log: Path) -> Iterator[None]:
    """Lock the log. Raises: UsageError: Another probe holds it."""
    from protocols.errors import UsageError

    lock = log.with_name(f"{log.name}.lock")
    try:
        held = lock.open("a")
    except OSError as error:
        raise UsageError(f"{lock} cannot be written: {error.strerror or error}") from None
    with held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"another probe writes {log}; wait for it, or take another --out") from None
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _start_log(log: Path) -> None:
    """Remove the log of an earlier probe. Raises: UsageError: It is none, or lists objects still to be removed."""
    from atc.files import read_lines
    from protocols.errors import UsageError

    if not log.exists():
        return
    with log.open("rb") as file:
        begun = file.read(64)
    if begun.strip() and not begun.startswith(b'{"protocol"'):
        raise UsageError(f"{log} is no log of a probe, and one would be written there: take another --out")
    lines = [data for _, data in read_lines(log)]
    last_state = next((line for line in reversed(lines) if isinstance(line, dict) and "made" in line), None)
    if last_state and (last_state["made"] or last_state["lost"]):
        problem = "holds what an earlier probe made and did not remove"
        raise UsageError(f"{log} {problem}: go on with --resume, which removes it, or delete the file")
    log.unlink(missing_ok=True)


def _model(name: str | None, record: Path | None, seed: int, stack: ExitStack) -> Model | None:
    """The model to ask. Raises: ModelError: It was named, and cannot be loaded."""
    from atc.apps.cli import say
    from atc.models import open_model
    from protocols.errors import ModelError

    if name == "none":
        return None
    try:
        model = open_model(name, record=record, seed=seed)
    except ModelError as error:
        if name is not None:
            raise
        say(f"no model is asked: {error}")
        return None
    stack.callback(model.close)
    return model


def _check(file: str, sandbox: Sandbox, budget: int | None, as_json: bool) -> int:
    """Print the changes of a service; return the exit code."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from atc.apps.cli import print_json
    from probing.document import usage_examples
    from probing.drift import detect_drift, is_breaking
    from protocols import load
    from protocols.quoting import visible

    usage = {name: program for name, (_, program) in usage_examples(file).items()}
    document = load(file)
    with _progress(None) as (trying, _):
        changes = detect_drift(document, usage, sandbox, trying, budget)
    broken = sum(map(is_breaking, changes))
    if as_json:
        names = ("tool", "kind", "where", "text", "breaking")
        rows = [(change.tool, change.kind, change.path, change.text, is_breaking(change)) for change in changes]
        print_json([dict(zip(names, row, strict=True)) for row in rows])
        return 1 if broken else 0
    table = Table()
    for column in ("tool", "change", "where", "what"):
        table.add_column(column, overflow="fold")
    for change in changes:
        colour = "red" if is_breaking(change) else "yellow"
        where, text = escape(visible(change.path)), escape(visible(change.text))
        table.add_row(change.tool, f"[{colour}]{change.kind}[/]", where, text)
    if changes:
        Console().print(table)
    click.echo(f"{len(changes)} changes, {broken} of them may break programs")
    return 1 if broken else 0


def _store_results(store: Path, prober: Prober) -> None:
    """Store contracts and programs for `atc solve --store`."""
    from atc.program.source import called
    from atc.retrieval.demonstrations import Demonstration, Demonstrations
    from protocols.contracts.store import ContractStore

    findings = [item for item in prober.findings.values() if item.is_complete and item.outcome != "web_page"]
    status = {finding.tool: int(finding.status or 200) for finding in findings}
    replies = [
        (name, status.get(name, 200), body) for name, bodies in prober.observations.bodies.items() for body in bodies
    ]
    ContractStore(store).record(prober.protocol, replies)
    demonstrations = Demonstrations(store, prober.protocol)
    for finding in findings:
        tools = called(finding.program, [tool.name for tool in prober.protocol.tools])
        demonstrations.add(Demonstration(finding.question, finding.program, tools))


def _serialize(document: dict[str, object], out: Path) -> str:
    from atc.files import to_json

    if out.suffix == ".json":
        return to_json(document)
    import yaml

    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)


def _print_report(report: ProbeReport) -> None:
    """Print the tools by outcome, grouped by reason, and one line of totals."""
    from protocols.quoting import one_line

    totals = report.to_json()["totals"]
    for outcome in totals["outcomes"]:
        findings = [finding for finding in report.tools if finding.outcome == outcome]
        click.echo(f"{outcome.replace('_', ' ')}: {len(findings)}")
        reasons: dict[str, list[str]] = {}
        for finding in findings:
            reasons.setdefault("" if finding.is_complete else one_line(finding.reason), []).append(finding.tool)
        for reason, names in reasons.items():
            if reason:
                click.echo(f"  {reason}")
            for name in names:
                click.echo(f"{'    ' if reason else '  '}{name}")
    tokens = totals["prompt_tokens"] + totals["completion_tokens"]
    click.echo(
        f"{totals['done']} of {totals['tools']} tools, {report.requests} requests, {report.iterations} rounds, "
        f"{totals['samples']} programs of the model, {tokens} tokens"
    )
    for name, value in report.agreement.items():
        click.echo(f"{name}: {value}")
