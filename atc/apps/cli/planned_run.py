"""`atc run --writes plan`: the program runs with its writes withheld, one question is asked, and it runs once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from atc.apps.cli import say
from atc.apps.cli.confirm import Confirmation, can_ask

if TYPE_CHECKING:
    from atc.events import Event
    from protocols.model import Protocol
    from sandbox import Run, Sandbox
    from sandbox.egress.write_plan import WritePlan

__all__ = ["PlannedResult", "run_planned"]


@dataclass(frozen=True, slots=True)
class PlannedResult:
    """The last run of a program, and its plan; `declined` is the reason why it was not carried out, else empty."""

    run: Run
    plan: WritePlan | None
    declined: str


def run_planned(
    program: str,
    protocol: Protocol,
    open_sandbox: Callable[..., Sandbox],
    now: datetime | None,
    on_output: Callable[[str, str], None] | None,
) -> PlannedResult:
    """Run a program whose writes are approved as a list. Without a terminal the list is printed, and the answer is no.

    Args:
        open_sandbox: Opens a Sandbox with `now`, `journal`, `writes` and `on_output`.
        on_output: Given what the last run prints.
    Raises: UsageError: The writes of the protocol cannot be planned.
    """
    from atc.apps.tui.plan import difference_lines, plan_lines
    from atc.write_gate import WriteGate, check_plannable
    from sandbox import Journal
    from sandbox.egress.write_plan import WriteLedger

    check_plannable(protocol)
    printed: list[tuple[str, str]] = []
    executing = False

    def show_plan(event: Event) -> None:
        if not can_ask():
            for line in plan_lines(event.plan):  # type: ignore[union-attr]
                say(line)

    def pass_on(stream: str, text: str) -> None:
        if not executing:
            printed.append((stream, text))
        elif on_output is not None:
            on_output(stream, text)

    with Journal() as journal, Confirmation() as confirmation:
        gate = WriteGate(WriteLedger(), journal, protocol, None, confirmation.plan if can_ask() else None, show_plan)
        with open_sandbox(
            now=now or datetime.now(UTC), journal=journal, writes=gate.ledger, on_output=pass_on
        ) as sandbox:
            run = sandbox.run(program)
            if run.outcome == "ok" and gate.approves(program, run, 1):
                executing = True
                with gate.executing():
                    run = sandbox.run(program)
        if not executing and not gate.declined and on_output is not None:
            for stream, text in printed:
                on_output(stream, text)
        if gate.plan is not None and gate.plan.stopped is not None:
            for line in difference_lines(gate.plan.stopped):
                say(line)
        return PlannedResult(run, gate.plan, gate.declined)
