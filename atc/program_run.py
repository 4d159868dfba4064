"""Runs a program that somebody else wrote, as a solve runs those of its model: in the sandbox, under a writes policy.

With the policy `plan` it runs with its writes withheld, one question is asked about all of them, and it runs once more.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from atc.events import EventSink
from atc.options import worded
from atc.write_gate import ConfirmPlan, WriteGate, check_plannable
from sandbox import Journal
from sandbox.egress import Writes
from sandbox.egress.write_plan import WriteLedger

if TYPE_CHECKING:
    from protocols.model import Protocol
    from sandbox import Run, Sandbox
    from sandbox.egress.write_plan import WritePlan

__all__ = ["ProgramResult", "run_under"]

OnOutput = Callable[[str, str], None]
"""Given the name of a stream (stdout, stderr) and what the program printed there."""


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The last run of a program: `run.outcome` is how it ended, `run.stdout` what it printed, `run.calls` its calls.

    `plan` has its planned writes, and what became of each; None without the policy `plan`. `declined` is the reason why
    a plan was not carried out; else it is empty.
    """

    run: Run
    plan: WritePlan | None = None
    declined: str = ""


def run_under(
    writes: Writes | Literal["plan"],
    program: str,
    protocol: Protocol | None,
    open_sandbox: Callable[..., Sandbox],
    now: datetime | None = None,
    journal: Journal | None = None,
    on_output: OnOutput | None = None,
    confirm_plan: ConfirmPlan | None = None,
    on_event: EventSink = lambda event: None,
) -> ProgramResult:
    """Run a program as a writes policy says.

    Args:
        open_sandbox: Opens a Sandbox with `now`, `journal`, `writes` and `on_output`.
        now: The time for the program; the real time by default.
        journal: What it has answered is replayed, and no write in it is sent again.
        on_output: Given what the program prints, as it does; of a planned program what the last run prints.
        confirm_plan: Whether the planned writes may be sent; without it the answer is no.
        on_event: Given PlanProposed before that.
    Raises: UsageError: The writes of the protocol cannot be planned.
    """
    if writes == "plan" and protocol is not None:
        check_plannable(protocol)
        with nullcontext(journal) if journal is not None else Journal() as used:
            gate = WriteGate(WriteLedger(), used, protocol, None, confirm_plan, on_event)
            return _run_planned(program, gate, used, open_sandbox, now, on_output)
    with open_sandbox(now=now, journal=journal, writes=writes, on_output=on_output) as sandbox:
        return _result(sandbox.run(program))


def _run_planned(
    program: str,
    gate: WriteGate,
    journal: Journal,
    open_sandbox: Callable[..., Sandbox],
    now: datetime | None,
    on_output: OnOutput | None,
) -> ProgramResult:
    printed: list[tuple[str, str]] = []
    executing = False

    def pass_on(stream: str, text: str) -> None:
        if not executing:
            printed.append((stream, text))
        elif on_output is not None:
            on_output(stream, text)

    with open_sandbox(now=now or datetime.now(UTC), journal=journal, writes=gate.ledger, on_output=pass_on) as sandbox:
        run = sandbox.run(program)
        if run.outcome == "ok" and gate.approves(program, run, 1):
            executing = True
            with gate.executing():
                run = sandbox.run(program)
    if not executing and not gate.declined and on_output is not None:
        for stream, text in printed:
            on_output(stream, text)
    return _result(run, gate.plan, gate.declined)


def _result(run: Run, plan: WritePlan | None = None, declined: str = "") -> ProgramResult:
    if run.error is not None:
        run = replace(run, error=replace(run.error, message=worded(run.error.message)))
    run = replace(run, calls=tuple(replace(call, error=call.error and worded(call.error)) for call in run.calls))
    return ProgramResult(run, plan, worded(declined))
