"""Planned writes: a program runs once with its writes withheld, and what it then sends must be what it planned.

In the planning run a simulated API answers each write. The plan has the writes with the origin of each value. When it
is approved the program runs again, and each write must equal one of the plan. Only a value that came from the answer of
an earlier planned write may differ: it must be what lies at the same place in the real answer of that write.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from protocols.json_path import Step, readable_path
from protocols.model import Tool
from sandbox.body_store import BEGINNING, LargeBody
from sandbox.egress.request_values import body_value, grouped, media_type
from sandbox.egress.stages import Bound, QueryPairs, header, join_url
from sandbox.records import CallRecord, cut

if TYPE_CHECKING:
    from protocols.simulator.demand import Demand

__all__ = ["PlannedRun", "PlannedValue", "PlannedWrite", "UncertainRead", "ValueDifference", "WriteDifference"]
__all__ += ["WriteLedger", "WritePlan", "WriteRequest", "leaves_of", "text_of", "value_at", "write_request"]

State = Literal["new", "approved", "done", "failed", "unknown"]
Phase = Literal["plan", "execute"]

_UNCOMPARED = frozenset({"accept-encoding", "connection", "content-length", "content-type", "cookie"})
"""Headers that say nothing of what a write does, or that are compared by other means."""

_PLACED = re.compile("(query|header|cookie|body) ")
"""What stands before a name that is no argument, where it is not that of a field of the body."""

_STOPPED = "a write after one that is not in the approved plan"


@dataclass(frozen=True, slots=True)
class PlannedValue:
    """One value of a planned write.

    `place` is the name of an argument, then the keys and indices in it. `origin` is question (its words), program (a
    literal), read (`source` is the index of the call in the planning run, `path` the place in its answer), write
    (`source` is the number of a planned write, `path` the place in its answer; the real value may differ), computed
    (made from the answer of the call `source`), or unknown (the program could not be followed). `as_text`: the value is
    the text of what lies there. `uncertain`: it comes from a read after a withheld write, or from a simulated answer.
    """

    place: tuple[Step, ...]
    value: object
    origin: Literal["question", "program", "read", "write", "computed", "unknown"] = "program"
    source: int | None = None
    path: tuple[Step, ...] = ()
    as_text: bool = False
    uncertain: bool = False


@dataclass(frozen=True, slots=True)
class PlannedWrite:
    """A write of the planning run. `number` counts from 1 in the order of the calls; `call` is its index among them.

    `task` is the path of tasks that makes it, in which it keeps its turn. `state` is new (nobody has approved it),
    approved, done, failed (it was sent, and the service did nothing), or unknown (it was sent, and the service may have
    done it).
    """

    number: int
    call: int
    tool: str
    method: str
    url: str
    base: str
    media_type: str
    values: tuple[PlannedValue, ...]
    state: State = "new"
    task: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UncertainRead:
    """A read of the planning run that came after `after` withheld writes, so that its answer may change."""

    call: int
    tool: str | None
    method: str
    url: str
    after: int


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """A value that is not as planned; `planned` or `actual` is None where there is no such value."""

    place: tuple[Step, ...]
    planned: object
    actual: object


@dataclass(frozen=True, slots=True)
class WriteDifference:
    """A write that was stopped, against the planned write that resembles it most; `number` is None without one."""

    tool: str
    method: str
    url: str
    number: int | None
    values: tuple[ValueDifference, ...]

    def text(self) -> str:
        """The difference in one line."""
        if self.number is None:
            return "stopped before it was sent: no such write is left in the approved plan"
        if not self.values:
            return f"stopped before it was sent: it is write {self.number} of the approved plan, out of its turn"
        parts = [
            f"{readable_path(value.place)} is {_quoted(value.actual)}, planned {_quoted(value.planned)}"
            for value in self.values
        ]
        return f"stopped before it was sent: it is not write {self.number} of the approved plan: {'; '.join(parts)}"


@dataclass(frozen=True, slots=True)
class WritePlan:
    """The writes of one program, in the order of its calls, and what became of them.

    `stopped` is the write that was not in the approved plan.
    """

    writes: tuple[PlannedWrite, ...]
    uncertain_reads: tuple[UncertainRead, ...] = ()
    stopped: WriteDifference | None = None

    @property
    def asked(self) -> tuple[PlannedWrite, ...]:
        """The writes that nobody has approved yet."""
        return tuple(write for write in self.writes if write.state == "new")

    def approved(self) -> WritePlan:
        """The same plan after a yes."""
        return replace(self, writes=tuple(replace(w, state="approved") if w.state == "new" else w for w in self.writes))

    def to_json(self) -> dict[str, object]:
        """Plain data for `json.dumps`."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: object) -> WritePlan:
        """Read what `to_json` gave. Raises: ValueError: It is something else."""
        from pydantic import TypeAdapter

        return TypeAdapter(cls).validate_python(data)


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """What a write sends, by the names of its arguments, complete and without a secret."""

    tool: str
    method: str
    url: str
    base: str
    media_type: str
    fields: Mapping[str, object]
    task: tuple[str, ...] = ()


def write_request(bound: Bound, redacted: Callable[[Any], Any]) -> WriteRequest:
    """What a bound call sends; `redacted` takes secrets out of a value.

    Two requests have the same names and values only if they send the same: a name that is no argument, and no plain
    field of the body, has its place before it, as in `query id`.
    """
    target, planned = bound.target, bound.planned
    tool = target.tool
    arguments = tool.arguments if tool is not None else ()
    names: dict[tuple[str, str], str] = {(p.location, p.name): p.argument for p in arguments}
    ambiguous = {*names.values(), "path", "body", "sha256"}
    values: dict[str, object] = {}

    def add(location: str, name: str, value: object) -> None:
        plain = location == "body" and name not in ambiguous and not _PLACED.match(name)
        argument = names.get((location, name), name if plain else f"{location} {name}")
        while argument in values:
            argument = f"{location} {argument}"
        values[argument] = value

    if tool is not None and tool.envelope is not None:
        values.update(bound.arguments)
    else:
        values.update(_path_values(tool, planned.path))
        for name, value in grouped(planned.query).items():
            add("query", name, value)
        written = planned.query.written if isinstance(planned.query, QueryPairs) else None
        is_flag = written is not None and any("=" not in part for part in written.split("&")) and written != ""
        if is_flag or "\ufffd" in repr(planned.query):  # a name without a value, bytes that are no text
            values["query sha256"] = _sha256(join_url("", planned.query).encode())
        skipped = _UNCOMPARED | ({"accept"} if bound.call.style == "function" else set())  # it follows from the tool
        for name, text in planned.headers.items():
            if name.lower() not in skipped:
                add("header", name, text)
        for name, text in planned.cookies.items():
            add("cookie", name, text)
        body = body_value(planned)
        if isinstance(body, dict) and body:
            for name, value in body.items():
                add("body", name, value)
        elif planned.body:
            values["body"] = body
        if planned.body and not _is_complete(planned.body, body):
            values["sha256"] = _sha256(planned.body)
    kind, name = media_type(header(planned.headers, "content-type") or ""), tool.name if tool is not None else ""
    fields = redacted(values)
    return WriteRequest(name, planned.method, bound.url, target.base, kind, fields, bound.call.task)


def _path_values(tool: Tool | None, path: str) -> dict[str, str]:
    """The variables of a path, which say all that it has; else the path."""
    if tool is not None and path.count("/") == tool.path.count("/"):
        from protocols.calls.path_matching import path_arguments

        variables = path_arguments(tool, path)
        if variables is not None and not any("\ufffd" in value for value in variables.values()):
            return variables
    return {"path": path}


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _is_complete(content: bytes, value: object) -> bool:
    """Whether a value says all that a body has."""
    if isinstance(value, str):
        return len(content) <= BEGINNING and value.encode() == content
    return "\ufffd" not in json.dumps(value, ensure_ascii=False, default=str)


def leaves_of(value: object, place: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], object]]:
    """All scalars and empty containers in a value, each with its place."""
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from leaves_of(part, (*place, str(key)))
    elif isinstance(value, (list, tuple)) and value:
        for index, part in enumerate(value):
            yield from leaves_of(part, (*place, index))
    else:
        yield place, value


def value_at(response: object, path: Sequence[Step]) -> object:
    """The value at a place in an answer. Raises: LookupError: There is none."""
    value = response
    if isinstance(value, LargeBody):
        try:
            value = json.loads(value.read())
        except (ValueError, RecursionError, OSError):
            raise LookupError(path) from None
    for step in path:
        try:
            value = value[step]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            raise LookupError(path) from None
    return value


def text_of(value: object) -> str:
    """A value as a path, a query or a form has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _quoted(value: object) -> str:
    return cut(json.dumps(value, ensure_ascii=False, default=str), 80)


class WriteLedger:
    """The writes policy of programs whose writes are planned, approved and then sent; safe to use from threads.

    In the phase "plan" writes are withheld; in "execute" those of `plan` are sent.
    """

    def __init__(self) -> None:
        self.phase: Phase = "plan"
        self.plan = WritePlan(())
        self.latest: PlannedRun | None = None
        """The writes of the latest run."""
        self.demands: tuple[Demand, ...] = ()
        """What the next program looks for, so that the simulated replies to its writes have it."""

    def open_run(self) -> PlannedRun:
        """The writes of the next run."""
        self.latest = PlannedRun(self.phase, self.plan)
        return self.latest


@dataclass(slots=True, eq=False)
class PlannedRun:
    """The writes of one run: what each sends, by the index of its call, and which planned write it is."""

    phase: Phase
    plan: WritePlan
    requests: dict[int, WriteRequest] = field(default_factory=dict)
    replayed: set[int] = field(default_factory=set)
    stopped: WriteDifference | None = None
    _taken: dict[int, PlannedWrite] = field(default_factory=dict)
    _replies: dict[int, object] = field(default_factory=dict)
    _sent: dict[int, State] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, index: int, request: WriteRequest) -> None:
        """Note what a write sends."""
        with self._lock:
            self.requests[index] = request

    def refusal(self, index: int) -> str | None:
        """The reason against sending a write; None if it is sent now, and then its planned write is used up."""
        with self._lock:
            if self.stopped is not None:
                return _STOPPED
            if self._take(index):
                self._sent[self._taken[index].number] = "unknown"
                return None
            self.stopped = self._nearest(self.requests[index])
            return self.stopped.text()

    def answered(self, index: int, record: CallRecord) -> None:
        """Note how a write was answered."""
        with self._lock:
            if record.replayed:
                self.replayed.add(index)
            if record.refused or self.phase != "execute" or not (index in self._taken or self._take(index)):
                return
            number = self._taken[index].number
            status = record.status
            if status is not None and 200 <= status < 300:
                self._sent[number] = "done"
                self._replies[number] = record.response
            else:
                self._sent[number] = "failed" if status is not None and status < 500 else "unknown"

    def outcome(self) -> WritePlan:
        """The plan with what became of its writes."""
        with self._lock:
            writes = (replace(write, state=self._sent.get(write.number, write.state)) for write in self.plan.writes)
            return replace(self.plan, writes=tuple(writes), stopped=self.stopped)

    def _take(self, index: int) -> bool:
        """Find the planned write that a write is, and use it up; False if there is none, or its turn has not come."""
        used, request = {write.number for write in self._taken.values()}, self.requests[index]
        own = (write for write in self.plan.writes if write.task == request.task and write.number not in used)
        following = next(own, None)  # threads take turns as they like, each of them keeps the order of the list
        if following is None or self._differences(following, request):
            return False
        self._taken[index] = following
        return True

    def _nearest(self, request: WriteRequest) -> WriteDifference:
        """The planned write of the same tool, not yet used, from which a write differs least."""
        used = {write.number for write in self._taken.values()}
        candidates = [
            (len(differences), write.number, differences)
            for write in self.plan.writes
            if write.number not in used and (write.tool, write.method) == (request.tool, request.method)
            for differences in [self._differences(write, request)]
        ]
        _, number, values = min(candidates, key=lambda candidate: candidate[:2], default=(0, None, ()))
        return WriteDifference(request.tool, request.method, request.url, number, tuple(values))

    def _differences(self, write: PlannedWrite, request: WriteRequest) -> list[ValueDifference]:
        """The values of a write that are not as planned."""
        differences = [
            ValueDifference((name,), planned, actual)
            for name, planned, actual in (
                ("tool", write.tool, request.tool),
                ("method", write.method, request.method),
                ("server", write.base, request.base),
                ("media type", write.media_type, request.media_type),
            )
            if planned != actual
        ]
        actual_values = dict(leaves_of(request.fields)) if request.fields else {}
        planned_places = set()
        for value in write.values:
            planned_places.add(value.place)
            if value.place not in actual_values:
                differences.append(ValueDifference(value.place, value.value, None))
                continue
            actual = actual_values[value.place]
            expected, exists = self._expected(value)
            if not exists or _canonical(expected) != _canonical(actual):
                differences.append(ValueDifference(value.place, expected, actual))
        added = (place for place in actual_values if place not in planned_places)
        return differences + [ValueDifference(place, None, actual_values[place]) for place in added]

    def _expected(self, value: PlannedValue) -> tuple[object, bool]:
        """The value that a write of this run must have at a place, and whether it can be told."""
        if value.origin != "write":
            return value.value, True
        source = value.source if value.source is not None else 0
        if source not in self._replies:
            return value.value, False
        try:
            real = value_at(self._replies[source], value.path)
        except LookupError:
            return value.value, False
        return (text_of(real) if value.as_text else real), True
