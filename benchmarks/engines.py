"""How the tasks of a benchmark are solved side by side: in threads here, or on the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from benchmarks.restbench import Task
from benchmarks.runner import Done, Engine
from benchmarks.work import Work
from protocols.errors import UsageError

__all__ = ["on_ray", "threads"]

RETRIES = 5
"""How often a task is begun again whose worker was lost."""


def threads(work: Work, workers: int) -> Engine:
    """Solve so many tasks at once in this process."""

    def solve(tasks: Sequence[tuple[Task, tuple[str, ...]]]) -> Iterator[Done]:
        if workers == 1:
            for task, candidates in tasks:
                yield work.solve(task, candidates)
            return
        with ThreadPoolExecutor(workers, "task") as pool:
            waiting: list[Future[Done]] = [pool.submit(work.solve, *entry) for entry in tasks]
            try:
                for done in as_completed(waiting):
                    yield done.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    return solve


def on_ray(work: Work, workers: int, address: str | None = None) -> Engine:
    """Solve tasks on a Ray cluster; without an address on one of this machine, with so many workers.

    A task whose worker is lost is begun again elsewhere. The model is opened once in each worker.

    Raises: UsageError: Ray is not installed, or the cluster cannot be reached.
    """
    try:
        import ray
    except ImportError:
        raise UsageError("--engine ray needs the extra ray: pip install 'atc-toolchain[ray]'") from None

    def solve(tasks: Sequence[tuple[Task, tuple[str, ...]]]) -> Iterator[Done]:
        local = {} if address else {"num_cpus": workers, "include_dashboard": False}
        try:
            ray.init(address=address, log_to_driver=False, logging_level="error", **local)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise UsageError(f"the Ray cluster cannot be reached: {error}") from None
        try:
            shared = ray.put(work)
            remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_solve_remotely)
            waiting = [remote.remote(shared, task, candidates) for task, candidates in tasks]
            while waiting:
                (first,), waiting = ray.wait(waiting, num_returns=1)
                yield ray.get(first)
        finally:
            ray.shutdown()

    return solve


_works: dict[str, Work] = {}
"""In a worker of a cluster: what solves tasks, kept so that the model is opened once."""


def _solve_remotely(work: Work, task: Task, candidates: tuple[str, ...]) -> Done:
    return _works.setdefault(repr(work.settings), work).solve(task, candidates)
