"""What the endpoints of a server do: accept a request, run it to its one end, and tell who waits for it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeVar

from atc.apps.server.keys import Client
from atc.apps.server.messages import Cancelled, Ended, Job, JobEvent, Message, Postponed
from atc.apps.server.metrics import ServerMetrics
from atc.apps.server.pool import SolverPool
from atc.apps.server.requests import BadRequestError, SolveRequest
from atc.apps.server.settings import GRACE, ServerSettings
from atc.apps.server.solver import ended_with
from atc.apps.server.store import RequestStore, StoredSolve
from atc.apps.unsolved import unsolved
from atc.engines.names import identity
from atc.models import default_model
from atc.models.prices import read_prices
from atc.question_limits import QuestionLimits

__all__ = ["LiveSolve", "SolveService"]

MAX_STARTS = 3
"""Processes that one solve may lose before it ends without an answer."""

RETRY_SECONDS = 2.0
"""Seconds before what could not be written is tried again."""

Result = TypeVar("Result")
EventQueue: TypeAlias = "asyncio.Queue[tuple[str, str] | None]"
"""Names and JSON of events."""


@dataclass(eq=False)
class LiveSolve:
    """A solve that is not over. `ended` has its solution as JSON; None if it was cancelled."""

    row: StoredSolve
    ended: asyncio.Future[str | None]
    starts: int
    readers: list[EventQueue] = field(default_factory=list)

    def read(self) -> EventQueue:
        """A queue of the events from now on; None ends them."""
        self.readers.append(asyncio.Queue())
        return self.readers[-1]


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
            self._begin(row, events=False)

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
            events: They are sent for `LiveSolve.read`; not those of a repeated request whose first one had no reader.
        Returns: Its id, and the solve; None for one that is over. Raises: BadRequestError: It is not accepted.
        """
        if request.max_cost is not None and not self._has_price:
            raise BadRequestError(422, f"max_cost: nobody knows the price of {self._model} here", "max_cost")
        request.limited(self._limits)
        id = uuid.uuid4().hex
        row, new = await self._stored(lambda: self._store.accept(id, client, request, idempotency))
        if new:
            return row.id, self._begin(row, events=events)
        return row.id, self._live.get(row.id)

    def _begin(self, row: StoredSolve, *, events: bool) -> LiveSolve:
        live = self._live[row.id] = LiveSolve(row, asyncio.get_running_loop().create_future(), row.starts)
        self._submit(live, events)
        return live

    def _submit(self, live: LiveSolve, events: bool) -> None:
        if live.ended.done():  # cancelled while it could not be written down
            return
        row, request = live.row, live.row.request
        journal = self._store.journal(row.id) if row.durable else None
        job = Job(row.id, request.query, request.mode, request.max_reflections, journal, events, request.limits)
        self.pool.submit(job)

    async def find(self, client: Client, id: str) -> tuple[str, str | None] | None:
        """The state of a client's solve, and its solution as JSON once it is done; None if there is no such solve."""
        row = await self._stored(lambda: self._store.find(client, id))
        return (row[0].state, row[1]) if row is not None else None

    async def solution(self, client: Client, id: str, live: LiveSolve | None) -> str:
        """The solution of a solve as JSON, when it has one. Raises: BadRequestError: It was cancelled (409)."""
        text = await asyncio.shield(live.ended) if live is not None else None
        if live is None:
            row = await self.find(client, id)
            text = row[1] if row is not None else None
        if text is None:
            raise BadRequestError(409, f"the solve {id} was cancelled")
        return text

    async def events(
        self, client: Client, id: str, live: LiveSolve | None, reader: EventQueue | None
    ) -> AsyncIterator[tuple[str, str]]:
        """The events that come to a reader, as name and JSON; the last one is `Solution`."""
        while reader is not None and (event := await reader.get()) is not None:
            yield event
        yield "Solution", await self.solution(client, id, live)

    def hung_up(self, live: LiveSolve | None) -> None:
        """Nobody waits on this connection any longer: a solve that ends with its connection is cancelled."""
        if live is None or live.row.durable or live.ended.done():
            return
        if self.pool.cancel(live.row.id):
            self._on_message(Cancelled(live.row.id))

    # What the processes tell

    def _on_start(self, job: Job) -> None:
        if (live := self._live.get(job.id)) is not None:
            live.starts += 1
        self._task(self._record(lambda: self._store.started(job.id)))

    async def _record(self, work: Callable[[], None]) -> None:
        """Record what can also be told from the journal, where the disk lets us."""
        with suppress(BadRequestError):
            await self._stored(work)

    def _on_message(self, message: Message) -> None:
        match message:
            case JobEvent(id=id, name=name, data=data):
                live = self._live.get(id)
                for reader in live.readers if live is not None else ():
                    reader.put_nowait((name, data))
            case Ended(id=id):
                self.metrics.ended(message)
                self._task(self._finish(id, message.solution))
            case Cancelled(id=id):
                self.metrics.cancelled()
                self._task(self._record(lambda: self._store.cancel(id)))
                self._resolve(id, None)
            case Postponed(id=id):
                live = self._live.get(id)
                if live is not None:
                    asyncio.get_running_loop().call_later(RETRY_SECONDS, self._submit, live, bool(live.readers))
            case _:
                pass

    async def _finish(self, id: str, solution: str) -> None:
        """Record a solution, as soon as the disk lets us, and hand it to who waits."""
        while True:
            try:
                await self._stored(lambda: self._store.finish(id, solution))
                break
            except BadRequestError:  # its journal has it, too: nothing is lost
                self._resolve(id, solution, forget=False)
                await asyncio.sleep(RETRY_SECONDS)
        self._resolve(id, solution)

    def _resolve(self, id: str, solution: str | None, *, forget: bool = True) -> None:
        live = self._live.pop(id, None) if forget else self._live.get(id)
        if live is not None and not live.ended.done():
            live.ended.set_result(solution)
            for reader in live.readers:
                reader.put_nowait(None)

    def _on_lost(self, job: Job) -> None:
        """A process died: what has a journal goes on, unless it has cost several processes already."""
        live = self._live.get(job.id)
        if live is None:
            return
        if live.row.durable and live.starts < MAX_STARTS:
            self._submit(live, job.events)
            return
        reason = "the process of this solve ended; what it has written until then is not undone"
        solution = unsolved(job.query, self._model, 1, reason)
        self._on_message(ended_with(job.id, solution.to_json()))
