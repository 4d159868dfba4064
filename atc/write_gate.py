"""Writes that are approved as a list: the plan of a program, the question about it, and the run that is held to it.

A program runs with its writes withheld. What it was going to write is a WritePlan, which somebody approves as a whole.
Then it runs again, and the ledger (sandbox.egress.write_plan) sends only what was approved.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from atc.diagnosis.provenance import question_says, traced_arguments
from atc.events import EventSink, PlanProposed
from atc.program.source import nodes_of, parsed
from atc.query import Query
from protocols.errors import UsageError
from protocols.json_path import Step
from protocols.model import Protocol
from sandbox.egress.write_plan import (
    PlannedRun,
    PlannedValue,
    PlannedWrite,
    UncertainRead,
    WriteLedger,
    WritePlan,
    leaves_of,
    text_of,
    value_at,
)
from sandbox.journal.journal import Journal
from sandbox.records import Run, Source

if TYPE_CHECKING:
    from protocols.simulator.demand import Demand

__all__ = ["ConfirmPlan", "WriteGate", "check_plannable", "planned_writes"]

ConfirmPlan = Callable[[WritePlan], bool]

_FOLLOWED = 2000
"""Values of a write whose origin is looked for; more are nobody's list to read."""

_Approved = tuple[int, PlannedWrite]
"""An approved write, and the number of the plan that its sources are numbered in."""


class WriteGate:
    """The plans of one solve, and what was approved of them.

    Args:
        query: Tells which values are its words; None where there is none.
        confirm: Given a plan; returns whether the writes in `asked` may be sent. Without it the answer is no.
    """

    def __init__(
        self,
        ledger: WriteLedger,
        journal: Journal,
        protocol: Protocol,
        query: Query | None,
        confirm: ConfirmPlan | None,
        emit: EventSink,
    ) -> None:
        self.ledger = ledger
        self.plan: WritePlan | None = None
        """The latest plan, with what became of it."""
        self.declined = ""
        """The reason why the latest plan was not carried out; empty if it was, or there was none."""
        self._journal = journal
        self._protocol = protocol
        self._query = query
        self._confirm = confirm
        self._emit = emit
        self._programs = 0
        self._approved: list[_Approved] = []

    def expect(self, demands: Sequence[Demand]) -> None:
        """Have the simulated replies to the next program's writes hold what it looks for."""
        self.ledger.demands = tuple(demands)

    def resumes(self, program: str) -> bool:
        """Begin with a program; True where its plan was approved before the process ended, and it may be executed."""
        self._programs += 1
        note = self._journal.noted(self._note)
        if not isinstance(note, dict) or note.get("program") != _digest(program):
            return False
        try:
            plan = WritePlan.from_json(note["plan"])
        except (KeyError, ValueError):
            raise UsageError(f"{self._journal.file} is damaged; move it away and start a new one") from None
        self._journal.attempt(program)  # the number of the planning run, which is not repeated
        self._adopt(plan, dict(_matches(plan, self._approved)))
        return True

    def approves(self, program: str, run: Run, attempt: int) -> bool:
        """Ask about the withheld writes of a run that went well; True where the program is to be executed.

        Nobody is asked about a write that an earlier plan had. `declined` says why the answer is no; without withheld
        writes nothing is declined, and the run stands.
        """
        self.declined = ""
        planned_run = self.ledger.latest
        if planned_run is None or not planned_run.requests:
            return False
        plan = planned_writes(program, run, planned_run, self._query, self._protocol)
        matches = dict(_matches(plan, self._approved))
        self.plan = plan = replace(
            plan,
            writes=tuple(
                replace(write, state="done")
                if write.call in planned_run.replayed
                else replace(write, state="approved" if write.number in matches else "new")
                for write in plan.writes
            ),
        )
        if all(write.state == "done" for write in plan.writes):
            return False
        if plan.asked:
            self._emit(PlanProposed(attempt, plan, self._confirm is not None))
            if self._confirm is None:
                self.declined = (
                    "writes are planned, and nobody is there to confirm them; ask where somebody can: a terminal, "
                    'confirm_plan=… in Python, "background": true or "events": true over HTTP'
                )
                return False
            if self._confirm(plan) is not True:  # a reason, or a coroutine, is no yes
                self.declined = "the planned writes were not confirmed"
                return False
        approved = plan.approved()
        self._journal.note(self._note, {"program": _digest(program), "plan": approved.to_json()})
        self._adopt(approved, matches)
        return True

    @contextmanager
    def executing(self) -> Iterator[None]:
        """Within the block a run sends the approved writes, and reads before the first of them as it was planned."""
        self.ledger.phase = "execute"
        self._journal.accept(until_write=True)
        try:
            yield
        finally:
            self.ledger.phase = "plan"
            self._journal.restart()
            executed = self.ledger.latest
            if executed is not None and executed.phase == "execute":
                self.plan = executed.outcome()
                states = {write.number: write for write in self.plan.writes}
                self._approved = [(n, states[w.number] if n == self._programs else w) for n, w in self._approved]

    @property
    def unmade(self) -> tuple[str, ...]:
        """Warnings about approved writes that the program did not make in the end, although none was stopped."""
        writes = self.plan.writes if self.plan is not None and self.plan.stopped is None else ()
        return tuple(
            f"planned and approved, but not made: write {write.number}, {write.tool}"
            for write in writes
            if write.state == "approved"
        )

    @property
    def _note(self) -> str:
        return f"plan {self._programs}"

    def _adopt(self, plan: WritePlan, matches: dict[int, int]) -> None:
        """Hold the runs to come to a plan, each of whose writes is approved."""
        used = set(matches.values())
        earlier = [entry for index, entry in enumerate(self._approved) if index not in used]
        self._approved = [entry for entry in earlier if entry[1].state != "approved"]
        self._approved += [(self._programs, write) for write in plan.writes]
        self.ledger.plan = self.plan = plan


def check_plannable(protocol: Protocol) -> None:
    """Refuse a protocol whose writes cannot be planned. Raises: UsageError."""
    writing = [tool for tool in protocol.tools if tool.writes]
    if writing and all(tool.function is not None for tool in writing):
        raise UsageError(
            f"the writes of {protocol.title} are functions, which cannot be simulated and so not planned; "
            "take --writes ask, which asks about each one"
        )


def planned_writes(
    program: str, run: Run, planned_run: PlannedRun, query: Query | None, protocol: Protocol
) -> WritePlan:
    """The plan of a run whose writes were withheld: each write with the origin of its values."""
    calls = run.calls
    numbers = {index: number for number, index in enumerate(sorted(planned_run.requests), 1)}
    literals = {_canonical(node.value) for node in nodes_of(parsed(program) or ast.Module([], []), ast.Constant)}
    tools = {tool.name: tool for tool in protocol.tools}
    writes = []
    for index, number in numbers.items():
        request = planned_run.requests[index]
        traced = traced_arguments(calls[index], run, tools.get(request.tool))
        by_argument = {name: sources for name, _, sources in traced}
        traced_values = run.provenance.arguments.get(index, {}).values() if run.provenance is not None else ()
        anywhere = [source for sources in traced_values for source in sources]
        values: list[PlannedValue] = []
        for place, value in leaves_of(request.fields) if request.fields else ():
            if len(values) >= _FOLLOWED:
                values.append(PlannedValue(place, value, "unknown"))
                continue
            sources = by_argument.get(str(place[0]), anywhere)
            found_value = _from_reply(place, value, sources, run, numbers)
            if found_value is None:
                inside = len(place) > 1 or str(place[0]) not in by_argument
                is_literal = inside and _canonical(value) in literals
                found_value = _otherwise(place, value, () if is_literal else sources, run, query)
            values.append(found_value)
        writes.append(
            PlannedWrite(
                number,
                index,
                request.tool,
                request.method,
                request.url,
                request.base,
                request.media_type,
                tuple(values),
                task=request.task,
            )
        )
    uncertain = tuple(
        UncertainRead(call.index, call.tool, call.method, call.url, sum(i < call.index for i in numbers))
        for call in calls
        if call.uncertain
    )
    return WritePlan(tuple(writes), uncertain)


def _from_reply(
    place: tuple[Step, ...], value: object, sources: Sequence[Source], run: Run, numbers: dict[int, int]
) -> PlannedValue | None:
    """A value that lies in a reply; None for any other one."""
    for source in sources:
        call = run.calls[source.call]
        for path in dict.fromkeys(((*source.path, *place[1:]), source.path)):
            try:
                held = value_at(call.response, path)
            except LookupError:
                continue
            if isinstance(held, (dict, list)) and held:
                continue
            as_text = _canonical(held) != _canonical(value)
            if as_text and text_of(held) != value:
                continue
            if source.call in numbers:
                return PlannedValue(place, value, "write", numbers[source.call], path, as_text)
            return PlannedValue(place, value, "read", source.call, path, as_text, call.uncertain)
    return None


def _otherwise(
    place: tuple[Step, ...], value: object, sources: Sequence[Source], run: Run, query: Query | None
) -> PlannedValue:
    """A value that lies in no reply."""
    computed = [source for source in sources if source.how != "decided"]
    if computed:
        source = next((s for s in computed if run.calls[s.call].simulated), computed[0])
        call = run.calls[source.call]
        return PlannedValue(
            place, value, "computed", source.call, source.path, uncertain=call.simulated or call.uncertain
        )
    if run.provenance is None:
        return PlannedValue(place, value, "unknown")
    text = str(value).strip()
    in_question = query is not None and bool(text) and question_says(query, text)
    return PlannedValue(place, value, "question" if in_question else "program")


def _matches(plan: WritePlan, approved: Sequence[_Approved]) -> Iterator[tuple[int, int]]:
    """The writes of a plan that are approved already, by number, each with the place of its like in `approved`.

    What was approved to come after another write needs a new yes where that one is left out, or comes later.
    """
    matched: dict[int, int] = {}
    for write in plan.writes:
        for index, (plan_number, earlier) in enumerate(approved):
            if index in matched.values():
                continue
            if _is_same(write, plan_number, earlier, matched, approved):
                matched[write.number] = index
                yield write.number, index
            elif earlier.state != "approved":
                continue
            break


def _is_same(
    write: PlannedWrite, plan_number: int, earlier: PlannedWrite, matched: dict[int, int], approved: Sequence[_Approved]
) -> bool:
    """Whether a write is one of an earlier plan: with the same values, or from the same place in the same answers."""
    if _request(write) != _request(earlier):
        return False
    earlier_values = {value.place: value for value in earlier.values}
    if {value.place for value in write.values} != earlier_values.keys():
        return False
    for value in write.values:
        counterpart = earlier_values[value.place]
        if "write" in (value.origin, counterpart.origin):
            if (value.origin, value.path, value.as_text) != (
                counterpart.origin,
                counterpart.path,
                counterpart.as_text,
            ):
                return False
            source = matched.get(value.source or 0)
            if source is None or (approved[source][0], approved[source][1].number) != (plan_number, counterpart.source):
                return False
        elif _canonical(value.value) != _canonical(counterpart.value):
            return False
    return True


def _request(write: PlannedWrite) -> tuple[object, ...]:
    return write.tool, write.method, write.base, write.media_type


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _digest(program: str) -> str:
    return hashlib.sha256(program.encode("utf-8", "surrogatepass")).hexdigest()
