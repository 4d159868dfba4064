"""The solver processes of a server: jobs go to the one with the fewest, and one that dies is replaced."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from atc.apps.server.messages import (
    Cancel,
    Cancelled,
    Ended,
    Job,
    JobMessage,
    Message,
    PlanAnswer,
    PlanAsked,
    Postponed,
    Ready,
    Refused,
    ServerSettings,
)
from atc.apps.server.solver import main
from protocols.errors import UsageError

__all__ = ["SolverPool"]

SLOTS = 64
"""Solves at a time in one process; most of them wait for the model or the API."""

RESTART_SECONDS = 1.0
"""Seconds before a process that died is replaced."""


@dataclass(eq=False)
class _Solver:
    """One solver process, as the serving process sees it."""

    process: BaseProcess
    connection: Connection
    ready: asyncio.Future[None]
    jobs: dict[str, Job] = field(default_factory=dict)
    asking: set[str] = field(default_factory=set)
    """The jobs that wait for an answer about their planned writes."""

    @property
    def free(self) -> bool:
        return self.ready.done() and self.ready.exception() is None and self.busy < SLOTS

    @property
    def busy(self) -> int:
        """Jobs that wait for nobody's answer."""
        return len(self.jobs) - len(self.asking)

    def send(self, message: Job | Cancel | PlanAnswer) -> None:
        with suppress(OSError):  # it has died, which its reader tells
            self.connection.send(message)


class SolverPool:
    """The processes, and the jobs that wait for one. All methods are for the thread of the event loop.

    Args:
        on_message: Told what a solver says of a job.
        on_start: Told that a job is handed to a process.
        on_lost: Told of a job whose process has died.
    """

    def __init__(
        self,
        settings: ServerSettings,
        on_message: Callable[[JobMessage], None],
        on_start: Callable[[Job], None],
        on_lost: Callable[[Job], None],
    ) -> None:
        self._settings = settings
        self._on_message = on_message
        self._on_start = on_start
        self._on_lost = on_lost
        self._solvers: list[_Solver] = []
        self._waiting: deque[Job] = deque()
        self._stopping = False

    @property
    def running(self) -> int:
        """Jobs that a process has."""
        return sum(len(solver.jobs) for solver in self._solvers)

    @property
    def waiting(self) -> int:
        """Jobs that no process has yet."""
        return len(self._waiting)

    @property
    def ready(self) -> int:
        """Processes that take jobs."""
        return sum(solver.ready.done() for solver in self._solvers)

    async def start(self) -> None:
        """Start the processes, and wait until all are ready. Raises: UsageError: One cannot be set up."""
        self._loop = asyncio.get_running_loop()
        for _ in range(self._settings.workers):
            self._spawn()
        await asyncio.gather(*(solver.ready for solver in self._solvers))

    def _spawn(self) -> None:
        context = get_context("spawn")
        os.environ["PYTHONSAFEPATH"] = "1"  # it starts with `python -c`, which looks in the working folder first
        ours, theirs = context.Pipe()
        process = context.Process(target=main, args=(self._settings, theirs), name="atc solver", daemon=True)
        process.start()
        theirs.close()
        solver = _Solver(process, ours, self._loop.create_future())
        self._solvers.append(solver)
        threading.Thread(target=self._read, args=(solver,), daemon=True).start()

    def _read(self, solver: _Solver) -> None:
        """Hand on what a process says until it is gone; runs in a thread."""
        with suppress(RuntimeError):  # the loop is closed
            with suppress(EOFError, OSError):
                while True:
                    self._loop.call_soon_threadsafe(self._on_solver, solver, solver.connection.recv())
            solver.process.join()
            self._loop.call_soon_threadsafe(self._on_death, solver)

    def _on_solver(self, solver: _Solver, message: Message) -> None:
        match message:
            case Ready():
                if not solver.ready.done():
                    solver.ready.set_result(None)
            case Refused(message=reason):
                if not solver.ready.done():
                    solver.ready.set_exception(UsageError(reason))
            case Ended(id=id) | Cancelled(id=id) | Postponed(id=id):
                solver.jobs.pop(id, None)
                solver.asking.discard(id)
                self._on_message(message)
            case PlanAsked(id=id):
                solver.asking.add(id)
                self._on_message(message)
            case _:
                self._on_message(message)
        self._dispatch()

    def _on_death(self, solver: _Solver) -> None:
        self._solvers.remove(solver)
        solver.connection.close()
        if not solver.ready.done():
            solver.ready.set_exception(UsageError("a solver process ended while it was set up; see its error above"))
            solver.ready.exception()  # nobody waits for a replacement
        if self._stopping:
            return
        for job in solver.jobs.values():
            self._on_lost(job)
        self._loop.call_later(RESTART_SECONDS, self._replace)

    def _replace(self) -> None:
        if not self._stopping and len(self._solvers) < self._settings.workers:
            self._spawn()

    def submit(self, job: Job) -> None:
        """Have a job done as soon as a process is free."""
        self._waiting.append(job)
        self._dispatch()

    def _dispatch(self) -> None:
        while self._waiting and not self._stopping:
            free = [solver for solver in self._solvers if solver.free]
            if not free:
                return
            solver = min(free, key=lambda candidate: candidate.busy)
            job = self._waiting.popleft()
            solver.jobs[job.id] = job
            self._on_start(job)
            solver.send(job)

    def cancel(self, id: str) -> bool:
        """Stop a job; gives whether it is over now: no process has it. A running one is reported when it stops."""
        self._waiting = deque(job for job in self._waiting if job.id != id)
        solvers = [solver for solver in self._solvers if id in solver.jobs]
        for solver in solvers:
            solver.send(Cancel(id))
        return not solvers

    def answer(self, message: PlanAnswer) -> None:
        """Hand on the answer about a plan."""
        for solver in self._solvers:
            if message.id in solver.asking:
                solver.asking.discard(message.id)
                solver.send(message)

    async def stop(self, seconds: float, hurries: Callable[[], bool]) -> None:
        """Begin nothing more, give running jobs so many seconds to end, and end the processes.

        Nobody waits for a job that waits for an answer itself.

        Args:
            hurries: Whether to wait no longer.
        """
        self._stopping = True
        deadline = time.monotonic() + seconds
        while any(solver.busy for solver in self._solvers) and time.monotonic() < deadline and not hurries():
            await asyncio.sleep(0.05)
        processes = [solver.process for solver in self._solvers]
        for process in processes:
            process.kill()
        for process in processes:
            await asyncio.to_thread(process.join)
