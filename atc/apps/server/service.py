"""What the endpoints of a server do: accept a request, run it to its one end, and tell who waits for it.

An event that is kept has an id, which a reader that comes again names as the last one it has. The ids are those of one
process: after a restart the solve is told from its beginning, and its `SolveStarted` says so.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from atc.apps.server.keys import Client
from atc.apps.server.messages import (
    Cancelled,
    Ended,
    Job,
    JobEvent,
    JobMessage,
    PlanAnswer,
    PlanAsked,
    Postponed,
    ServerSettings,
)
from atc.apps.server.metrics import ServerMetrics
from atc.apps.server.pool import SolverPool
from atc.apps.server.requests import BadRequestError, SolveRequest
from atc.apps.server.solver import ended_with
from atc.apps.server.store import RequestStore, StoredSolve
from atc.apps.unsolved import unsolved
from atc.costs import QuestionLimits, read_prices
from atc.engines.names import identity
from atc.models import default_model

__all__ = ["GRACE", "EventHistory", "EventQueue", "LiveSolve", "SolveService", "ToldEvent"]

GRACE = 30.0
"""Seconds that solves have to come to their end when the server is stopped; the others go on at its next start."""

MAX_STARTS = 3
"""Processes that one solve may lose before it ends without an answer."""

RETRY_SECONDS = 2.0
"""Seconds before what could not be written is tried again."""

RECENT = 100
"""Solves in the list of a client."""

MOST_KEPT = 16 * 1024 * 1024
"""Characters of events that are kept of one solve. Later ones are told, and not kept; the Solution has all calls."""

Result = TypeVar("Result")


class ToldEvent(NamedTuple):
    """An event by its name, with its data as JSON; without an id it is not kept."""

    name: str
    data: str
    id: str | None = None


EventQueue: TypeAlias = "asyncio.Queue[ToldEvent | None]"
"""The events for one reader; None ends them."""


class EventHistory:
    """What was told of a solve, for readers that come late or again; for the thread of one event loop."""

    def __init__(self) -> None:
        self.restart()
        self._readers: list[EventQueue] = []

    def restart(self) -> None:
        """Begin anew: another process has the solve."""
        self._run = uuid.uuid4().hex[:12]
        self._events: list[ToldEvent] = []
        self._size = 0

    def add(self, name: str, data: str) -> None:
        """Tell an event. The model's progress is not kept: each report holds what the one before it said."""
        event = ToldEvent(name, data)
        if name != "ModelProgress" and self._size + len(data) <= MOST_KEPT:
            event = event._replace(id=f"{self._run}-{len(self._events)}")
            self._events.append(event)
            self._size += len(data)
        for reader in self._readers:
            reader.put_nowait(event)

    def read(self, last: str | None = None) -> EventQueue:
        """The events after the one with the id `last`, and those to come; all of them for an id of another run."""
        reader: EventQueue = asyncio.Queue()
        ids = [event.id for event in self._events]
        for event in self._events[ids.index(last) + 1 if last in ids else 0 :]:
            reader.put_nowait(event)
        self._readers.append(reader)
        return reader

    def forget(self, reader: EventQueue | None) -> None:
        """Nobody reads this queue any longer."""
        self._readers = [other for other in self._readers if other is not reader]

    def end(self) -> None:
        """Nothing more is to come."""
        for reader in self._readers:
            reader.put_nowait(None)


@dataclass(eq=False)
class LiveSolve:
    """A solve that is not over. `ended` has its solution as JSON; None if it was cancelled.

    `plan` are the planned writes that it asks about now, `answers` what was answered, by the ids of the plans.
    """

    row: StoredSolve
    ended: asyncio.Future[str | None]
    starts: int
    events: bool
    history: EventHistory = field(default_factory=EventHistory)
    plan: PlanAsked | None = None
    answers: dict[str, bool] = field(default_factory=dict)


class SolveService:
    """The solves of a server; for the thread of one event loop."""

    def __init__(self, settings: ServerSettings, store: RequestStore) -> None:
        self._store = store
        self._model = identity(str(settings.options.model or default_model()))
        options = settings.options
        self._limits = QuestionLimits(options.max_tokens, options.max_seconds, options.max_cost)
        prices = read_prices(Path(options.prices) if options.prices is not None else None)
        self._has_price = prices.of(self._model) is not None
        self._writer = ThreadPoolExecutor(1, "store")
        self._live: dict[str, LiveSolve] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.pool = SolverPool(settings, self._on_message, self._on_start, self._on_lost)
        self.metrics = ServerMetrics(self.pool)

    async def start(self) -> None:
        """Start the processes, then go on with what a stopped server has left. Raises: UsageError."""
        await self.pool.start()
        for row in await self._stored(self._store.recover):
            self._begin(row, events=row.request.events)

    async def stop(self, hurries: Callable[[], bool]) -> None:
        """Let running solves end; what does not within GRACE seconds, or until somebody hurries, goes on at the next
        start."""
        await self.pool.stop(GRACE, hurries)
        if self._tasks:  # on a full disk one may never end; the journal has what it would record
            await asyncio.wait(self._tasks, timeout=2 * RETRY_SECONDS)
        self._writer.shutdown()

    async def _stored(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._writer, work)

    def _task(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # What the endpoints ask for

    async def accept(
        self, client: Client, request: SolveRequest, idempotency: str | None, *, events: bool = False
    ) -> tuple[str, LiveSolve | None]:
        """Record a request, and run it unless that was done before.

        Args:
            events: They are told in its history; not those of a repeated request whose first one had no reader.
        Returns: Its id, and the solve; None for one that is over. Raises: BadRequestError: It is not accepted.
        """
        if request.max_cost is not None and not self._has_price:
            raise BadRequestError(422, f"max_cost: nobody knows the price of {self._model} here", "max_cost")
        request.limited(self._limits)
        id = uuid.uuid4().hex
        row, new = await self._stored(lambda: self._store.accept(id, client, request, idempotency))
        if new:
            return row.id, self._begin(row, events=events or request.events)
        return row.id, self._live.get(row.id)

    def _begin(self, row: StoredSolve, *, events: bool) -> LiveSolve:
        live = self._live[row.id] = LiveSolve(row, asyncio.get_running_loop().create_future(), row.starts, events)
        self._submit(live)
        return live

    def _submit(self, live: LiveSolve) -> None:
        if live.ended.done():  # cancelled while it could not be written down
            return
        row = live.row
        journal = self._store.journal(row.id) if row.durable else None
        asks = live.events or row.request.background  # else nobody learns the id before the end
        self.pool.submit(Job(row.id, row.request, journal, live.events, asks))

    def live(self, client: Client, id: str) -> LiveSolve | None:
        """A solve of a client that is not over; None if there is none."""
        live = self._live.get(id)
        return live if live is not None and live.row.client == client.name else None

    async def find(self, client: Client, id: str) -> tuple[str, str | None] | None:
        """As `RequestStore.find`."""
        return await self._stored(lambda: self._store.find(client, id))

    async def recent(self, client: Client) -> list[dict[str, object]]:
        """The latest solves of a client, newest first; `asks`: one waits for an answer about its planned writes."""
        rows = await self._stored(lambda: self._store.recent(client, RECENT))
        asking = {id for id, live in self._live.items() if live.plan is not None}
        return [row | {"asks": row["id"] in asking} for row in rows]

    def answer(self, live: LiveSolve, plan: str, approved: bool) -> None:
        """Approve the planned writes of a solve, or decline them: the first answer holds, and may be repeated.

        Raises: BadRequestError: 409 if another answer was given, or this plan is not asked about.
        """
        if (earlier := live.answers.get(plan)) is not None:
            if earlier is not approved:
                raise BadRequestError(409, f"this plan was {'approved' if earlier else 'declined'} before", "approve")
            return
        if live.plan is None or live.plan.plan != plan:
            raise BadRequestError(409, "this plan is not asked about; GET the solve to see the one that is", "plan")
        live.plan = None
        live.answers[plan] = approved
        self.pool.answer(PlanAnswer(live.row.id, plan, approved))
        live.history.add("PlanAnswered", json.dumps({"plan": plan, "approved": approved}))

    async def solution(self, client: Client, id: str, live: LiveSolve | None) -> str:
        """The solution of a solve as JSON, when it has one. Raises: BadRequestError: It was cancelled (409)."""
        if live is not None:
            text = await asyncio.shield(live.ended)
        else:
            _, text = await self.find(client, id) or ("", None)
        if text is None:
            raise BadRequestError(409, f"the solve {id} was cancelled")
        return text

    async def events(
        self, client: Client, id: str, live: LiveSolve | None, reader: EventQueue | None
    ) -> AsyncIterator[ToldEvent]:
        """The events that come to a reader; the last one is `Solution`, or `Cancelled` with the error."""
        while reader is not None and (event := await reader.get()) is not None:
            yield event
        try:
            yield ToldEvent("Solution", await self.solution(client, id, live))
        except BadRequestError as error:
            yield ToldEvent("Cancelled", json.dumps({"error": {"message": str(error), "field": None}}))

    def hung_up(self, live: LiveSolve | None, reader: EventQueue | None = None) -> None:
        """Nobody waits on this connection any longer: a solve that ends with its connection is cancelled."""
        if live is None:
            return
        live.history.forget(reader)
        if not live.row.durable:
            self.cancel(live)

    def cancel(self, live: LiveSolve) -> None:
        """Stop a solve. One with a journal that runs has a Solution in the end, which tells what it has written."""
        if live.ended.done():
            return
        if self.pool.cancel(live.row.id):
            self._on_message(Cancelled(live.row.id))

    # What the processes tell

    def _on_start(self, job: Job) -> None:
        if (live := self._live.get(job.id)) is not None:
            live.starts += 1
            live.plan = None
            live.answers.clear()
            live.history.restart()
        self._task(self._record(lambda: self._store.started(job.id)))

    async def _record(self, work: Callable[[], None]) -> None:
        """Record what can also be told from the journal, where the disk lets us."""
        with suppress(BadRequestError):
            await self._stored(work)

    def _on_message(self, message: JobMessage) -> None:
        if isinstance(message, Ended):
            self.metrics.ended(message)
            self._task(self._finish(message))
        elif isinstance(message, Cancelled):
            self.metrics.solves.labels("cancelled").inc()
            self._task(self._record(lambda: self._store.cancel(message.id)))
            self._resolve(message.id, None)
            self._live.pop(message.id, None)
        elif (live := self._live.get(message.id)) is not None:
            match message:
                case JobEvent(name=name, data=data):
                    live.history.add(name, data)
                case PlanAsked(data=data):
                    live.plan = message
                    live.history.add("PlanAsked", data)
                case Postponed():
                    asyncio.get_running_loop().call_later(RETRY_SECONDS, self._submit, live)

    async def _finish(self, message: Ended) -> None:
        """Record a solution, as soon as the disk lets us, and hand it to who waits."""
        id, solution, status, *_ = message
        while True:
            try:
                await self._stored(lambda: self._store.finish(id, solution, status))
                break
            except BadRequestError:  # its journal has it, too: nothing is lost
                self._resolve(id, solution)
                await asyncio.sleep(RETRY_SECONDS)
        self._resolve(id, solution)
        self._live.pop(id, None)

    def _resolve(self, id: str, solution: str | None) -> None:
        live = self._live.get(id)
        if live is not None and not live.ended.done():
            live.ended.set_result(solution)
            live.plan = None
            live.history.end()

    def _on_lost(self, job: Job) -> None:
        """A process died: what has a journal goes on, unless it has cost several processes already."""
        live = self._live.get(job.id)
        if live is None:
            return
        if live.row.durable and live.starts < MAX_STARTS:
            self._submit(live)
            return
        reason = "the process of this solve ended; what it has written until then is not undone"
        solution = unsolved(job.request.query, self._model, 1, reason)
        self._on_message(ended_with(job.id, solution.to_json()))
