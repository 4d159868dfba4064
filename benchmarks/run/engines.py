"""Engines that solve tasks side by side: threads in this process, or a Ray cluster."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterator, Sequence
from queue import Queue
from threading import Thread

from benchmarks.run.runner import Engine, SolvedTask
from benchmarks.run.task_run import TaskRunner
from benchmarks.tasks.task_files import Task
from protocols.errors import ATCError, UsageError

__all__ = ["ray_engine", "thread_engine"]

RETRIES = 5
"""Retries of a task whose worker was lost."""


def thread_engine(runner: TaskRunner, workers: int) -> Engine:
    """Solve so many tasks at once in this process.

    Where one cannot be solved (the model or the API is gone), those that are under way come to their end; ctrl-C ends
    them at their next question to the model.
    """

    def solve(tasks: Sequence[tuple[Task, tuple[str, ...]]]) -> Iterator[SolvedTask]:
        gc.freeze()  # the documents stay: they need not be looked through again and again
        if workers == 1:
            for task, candidates in tasks:
                yield runner.solve(task, candidates)
            return
        pending = deque(tasks)
        outcomes: Queue[SolvedTask | BaseException | None] = Queue()

        def solve_some() -> None:
            while pending:
                try:
                    entry = pending.popleft()
                except IndexError:  # another thread was faster
                    break
                try:
                    outcomes.put(runner.solve(*entry))
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
                    case done:
                        yield done
        except (KeyboardInterrupt, GeneratorExit):
            pending.clear()
            runner.stop()
            raise
        if failure is not None:
            raise failure

    return solve


def ray_engine(runner: TaskRunner, workers: int, address: str | None = None) -> Engine:
    """Solve tasks on a Ray cluster, so many at once; without an address on one of this machine.

    A task whose worker is lost is begun again elsewhere. The model is opened once in each worker.

    Raises: UsageError: Ray is not installed, or the cluster cannot be reached, or it lost one task again and again;
        what `TaskRunner.solve` raises.
    """
    try:
        import ray
    except ImportError:
        raise UsageError("--engine ray needs the extra ray: pip install 'atc-toolchain[ray]'") from None

    def solve(tasks: Sequence[tuple[Task, tuple[str, ...]]]) -> Iterator[SolvedTask]:
        local = {} if address else {"num_cpus": workers, "include_dashboard": False}
        try:
            ray.init(address=address, log_to_driver=False, logging_level="error", **local)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise UsageError(f"the Ray cluster cannot be reached: {error}") from None
        try:
            shared = ray.put(runner)
            remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_solve_remotely)
            pending = deque(tasks)
            waiting: list[object] = []
            while pending or waiting:
                while pending and len(waiting) < workers:
                    waiting.append(remote.remote(shared, *pending.popleft()))
                (first,), waiting = ray.wait(waiting, num_returns=1)
                yield ray.get(first)
        except ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, ATCError) else error) from None
        except ray.exceptions.RayError as error:
            raise UsageError(f"the Ray cluster could not solve a task: {error}; repeat the command to go on") from None
        finally:
            ray.shutdown()

    return solve


_runners: dict[str, TaskRunner] = {}
"""Task runners in a worker of a cluster, kept so that the model is opened once."""


def _solve_remotely(runner: TaskRunner, task: Task, candidates: tuple[str, ...]) -> SolvedTask:
    return _runners.setdefault(repr(runner.settings), runner).solve(task, candidates)
