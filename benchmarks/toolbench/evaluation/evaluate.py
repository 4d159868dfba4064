"""Judge all answers of a run, or all pairs of two: in parallel, each query as a whole, in the order of their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from benchmarks.toolbench.evaluation.judge import Judge
from benchmarks.toolbench.evaluation.pass_rate import JudgedQuery, PassEdition, flip_coins, judge_answer
from benchmarks.toolbench.evaluation.sources import JudgedRun
from benchmarks.toolbench.evaluation.win_rate import ComparedQuery, WinEdition, compare_answers, pass_edition
from protocols.errors import UsageError

__all__ = ["compare_runs", "judge_run"]

Result = TypeVar("Result")


def judge_run(
    run: JudgedRun,
    ids: Sequence[str],
    judge: Judge,
    edition: PassEdition,
    times: int,
    compat: bool = False,
    workers: int = 1,
) -> Iterator[JudgedQuery]:
    """Judge the answers to the queries of `ids`; an id without an answer has no judgement.

    Raises: ModelError: The judge cannot be had; what it judged before is stored. UsageError: FAC under `compat`, and a
        query has no answer: there the published code fails.
    """
    missing = [query_id for query_id in ids if query_id not in run.answers]
    if missing and edition == "fac" and compat:
        raise UsageError(
            f"{run.method} has no answer to query {missing[0]}: the published FAC fails here; leave out --compat"
        )

    def judged(query_id: str) -> JudgedQuery:
        return _judged(run, query_id, judge, edition, times, compat)

    yield from _in_order(judged, ids, workers, judge)


def compare_runs(
    reference: JudgedRun,
    candidate: JudgedRun,
    ids: Sequence[str],
    judge: Judge,
    edition: WinEdition,
    times: int,
    compat: bool = False,
    workers: int = 1,
) -> Iterator[ComparedQuery]:
    """Judge both answers to each query of `ids`, then compare them. Raises: ModelError: The judge cannot be had.

    Under `compat` the labels that a coin decided count, as they do in the published files.
    """
    single = pass_edition(edition)

    def judged(run: JudgedRun, query_id: str) -> JudgedQuery:
        query = _judged(run, query_id, judge, single, times, compat)
        if not compat or single != "2" or query.answer is None:
            return query
        # A seed of its own for each answer, so that threads cannot change what a coin decides.
        return flip_coins([query], seed=int(query.answer.content_hash, 16))[0]

    def compared(query_id: str) -> ComparedQuery:
        return compare_answers(judged(reference, query_id), judged(candidate, query_id), judge, edition, times, compat)

    yield from _in_order(compared, ids, workers, judge)


def _judged(run: JudgedRun, query_id: str, judge: Judge, edition: PassEdition, times: int, compat: bool) -> JudgedQuery:
    answer = run.answers.get(query_id)
    return JudgedQuery(query_id, answer, judge_answer(answer, judge, edition, times, compat) if answer else (), edition)


def _in_order(work: Callable[[str], Result], ids: Sequence[str], workers: int, judge: Judge) -> Iterator[Result]:
    """The results in the order of the ids; after an error or ctrl-C no thread asks anything more."""
    if workers == 1:
        yield from map(work, ids)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        yield from pool.map(work, ids)
    except BaseException:
        judge.stop()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
