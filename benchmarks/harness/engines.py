"""Engines that run episodes side by side: threads in this process, or a Ray cluster."""

from __future__ import annotations

import gc
import time
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from queue import Queue
from threading import Thread
from typing import Any, TypeVar

from benchmarks.harness import Identified, Outcome, TaskEnvironment
from benchmarks.harness.runner import Engine
from protocols.errors import ATCError, UsageError
from protocols.extras import needs_extra

__all__ = ["ray_engine", "thread_engine"]

TaskT = TypeVar("TaskT", bound=Identified)

RETRIES = 5
"""Retries of a task whose worker was lost."""


def thread_engine(environment: TaskEnvironment[TaskT], workers: int = 1) -> Engine[TaskT]:
    """Run so many tasks at once in this process.

    Where one cannot be solved (the model or the API is gone), those that are under way come to their end; ctrl-C ends
    them at their next question to the model.
    """

    def solve(tasks: Sequence[TaskT]) -> Iterator[tuple[TaskT, Outcome]]:
        gc.freeze()  # the documents stay: they need not be looked through again and again
        if workers == 1:
            for task in tasks:
                yield task, _timed(environment, task)
            return
        pending = deque(tasks)
        outcomes: Queue[tuple[TaskT, Outcome] | BaseException | None] = Queue()

        def solve_some() -> None:
            while pending:
                try:
                    task = pending.popleft()
                except IndexError:  # another thread was faster
                    break
                try:
                    outcomes.put((task, _timed(environment, task)))
                except BaseException as error:  # raised again by who waits for the results
                    pending.clear()
                    outcomes.put(error)
            outcomes.put(None)

        # Daemons: ctrl-C waits for no model that does not answer.
        for number in range(workers):
            Thread(target=solve_some, name=f"task-{number}", daemon=True).start()
        failure: BaseException | None = None
        running = workers
        try:
            while running:
                match outcomes.get():
                    case None:
                        running -= 1
                    case BaseException() as error:
                        failure = failure or error
                    case outcome:
                        yield outcome
        except (KeyboardInterrupt, GeneratorExit):
            pending.clear()
            environment.stop()
            raise
        if failure is not None:
            raise failure

    return solve


def ray_engine(environment: TaskEnvironment[TaskT], workers: int, address: str | None = None) -> Engine[TaskT]:
    """Run tasks on a Ray cluster, so many at once; without an address on one of this machine.

    A task whose worker is lost is begun again elsewhere. Each worker has one copy of the environment, which it keeps.

    Raises: UsageError: Ray is not installed, or the cluster cannot be reached, or it lost one task again and again;
        what `TaskEnvironment.run` raises.
    """
    try:
        import ray
    except ImportError:
        raise UsageError(needs_extra("--engine ray", "ray")) from None

    def solve(tasks: Sequence[TaskT]) -> Iterator[tuple[TaskT, Outcome]]:
        local = {} if address else {"num_cpus": workers, "include_dashboard": False}
        try:
            ray.init(address=address, log_to_driver=False, logging_level="error", **local)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise UsageError(f"the Ray cluster cannot be reached: {error}") from None
        try:
            shared, run = ray.put(environment), uuid.uuid4().hex
            remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_solve_remotely)
            pending = deque(tasks)
            waiting: list[object] = []
            while pending or waiting:
                while pending and len(waiting) < workers:
                    waiting.append(remote.remote(shared, run, pending.popleft()))
                (first,), waiting = ray.wait(waiting, num_returns=1)
                yield ray.get(first)
        except ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, ATCError) else error) from None
        except ray.exceptions.RayError as error:
            raise UsageError(f"the Ray cluster could not solve a task: {error}; repeat the command to go on") from None
        finally:
            ray.shutdown()

    return solve


_environments: dict[str, TaskEnvironment[Any]] = {}
"""The environment of each run in a worker of a cluster, kept so that its model is opened once."""


def _solve_remotely(environment: TaskEnvironment[TaskT], run: str, task: TaskT) -> tuple[TaskT, Outcome]:
    return task, _timed(_environments.setdefault(run, environment), task)


def _timed(environment: TaskEnvironment[TaskT], task: TaskT) -> Outcome:
    started = time.perf_counter()
    outcome = environment.run(task)
    return replace(outcome, seconds={"seconds": round(time.perf_counter() - started, 3), **outcome.seconds})
