"""`atc eval pass-rate`: labels, majorities, editions, and the published defects under `--compat`."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.toolbench.evaluation.evaluate import judge_run
from benchmarks.toolbench.evaluation.pass_rate import COMBINED, JudgedQuery, Repetition, majority
from benchmarks.toolbench.evaluation.results import judged_summary
from protocols.errors import UsageError
from tests.benchmarks.toolbench.judging import (
    always,
    answer,
    judge,
    run,
)


@pytest.mark.parametrize(("status", "task"), COMBINED)
def test_the_published_table_of_statuses(tmp_path: Path, status: str, task: str) -> None:
    """Every pair of answer status and task status has the published label."""
    (query,) = judge_run(run(answer("1")), ["1"], judge(tmp_path, always(status, task)), "2", 1)
    passed = status == "Solved" or task == "Unsolvable"
    failed = status == "Unsolved" and task == "Solvable"

    assert query.label == ("Passed" if passed else "Failed" if failed else "Unsure")
    assert query.repetitions[0].solved == status
    # Who solved it is not asked whether it can be solved.
    assert query.repetitions[0].solvable == ("Solvable" if status == "Solved" else task)


def test_without_finish_nobody_is_asked(tmp_path: Path) -> None:
    """An answer whose last call is not Finish has failed; one that gives up is asked only for its task."""
    strict = judge(tmp_path, lambda prompt: "Verdict: Unsolvable")
    (cut, gave_up) = judge_run(run(answer("1", ending=False), answer("2", text="")), ["1", "2"], strict, "2", 1)

    assert (cut.label, cut.repetitions[0].solvable) == ("Failed", "Solvable")
    assert (gave_up.repetitions[0].solved, gave_up.label) == ("Unsolved", "Passed")
    assert strict.asked == 1


def test_an_unsure_answer_is_judged_by_its_calls(tmp_path: Path) -> None:
    """The second question shows the calls, the first only the answer."""
    prompts: list[str] = []

    def decide(prompt: str) -> str:
        prompts.append(prompt)
        return "Verdict: Solved" if "<calls>" in prompt else "Verdict: Unsure"

    (query,) = judge_run(run(answer("1")), ["1"], judge(tmp_path, decide), "2", 1)

    assert query.label == "Passed"
    assert ["search_for_films" in prompt for prompt in prompts] == [False, True]


def labelled(*labels: str, query_id: str = "1") -> JudgedQuery:
    """A query with these labels."""
    return JudgedQuery(query_id, answer(query_id), tuple(Repetition("Solved", "Solvable", label) for label in labels))


def test_the_majority_decides_and_a_tie_is_a_tie() -> None:
    """A tie and an unsure answer count a half, and are counted."""
    queries = [
        labelled("Passed", "Passed", "Failed", "Unsure"),
        labelled("Passed", "Failed", "Passed", "Failed"),
        labelled("Unsure", "Unsure", "Unsure", "Failed"),
        JudgedQuery("4", None),
    ]
    figures = judged_summary(queries, compat=False)

    assert [query.label for query in queries] == ["Passed", "Tie", "Unsure", "Missing"]
    assert (figures["rate"], figures["n"]) == ((1 + 0.5 + 0.5) / 4, 4)
    assert (figures["ties"], figures["unsure"], figures["missing"]) == (1, 1, 1)
    assert figures["unfinished"] == 0
    assert figures["low"] <= figures["rate"] <= figures["high"]
    assert majority([]) == "Missing"
    # As published, a tie passes in the printed rate, and a missing answer is not penalised.
    published = [labelled("Passed", "Failed"), JudgedQuery("2", None)]
    assert [judged_summary(published, compat=compat)["rate"] for compat in (True, False)] == [1, 0.25]


def test_sopr_is_the_mean_of_the_repetitions(tmp_path: Path) -> None:
    """Unsure counts a half, no majority; the deviation is that of the repetitions."""
    replies = iter(["Unsure", "Unsure", "Solved", "Unsolved"])
    decide = judge(tmp_path, lambda prompt: f"Verdict: {next(replies)}")
    queries = list(judge_run(run(answer("1")), ["1", "2"], decide, "sopr", 3))
    figures = judged_summary(queries, compat=False)

    assert queries[0].scores == [0.5, 1.0, 0.0]
    assert figures["rate"] == 0.25
    assert figures["spread"]["rates"] == [0.25, 0.5, 0.0]
    assert figures["spread"]["std"] == pytest.approx(0.2041, abs=1e-4)
    assert judged_summary(queries, compat=True)["rate"] == 0.5


def test_compat_sopr_counts_an_unread_judgement_as_nothing(tmp_path: Path) -> None:
    """As a judgement that failed in the published code; else it is unsure."""
    nonsense = judge(tmp_path, lambda prompt: "I like films.")
    (strict,) = judge_run(run(answer("1")), ["1"], nonsense, "sopr", 1)
    (published,) = judge_run(run(answer("1")), ["1"], nonsense, "sopr", 1, compat=True)

    assert (strict.score, published.score) == (0.5, 0.0)


def test_fac_shows_query_and_answer_alone(tmp_path: Path) -> None:
    """Neither calls nor functions; the answer is taken out of the arguments of Finish."""
    prompts: list[str] = []

    def decide(prompt: str) -> str:
        prompts.append(prompt)
        return "Fine.\nVerdict: Solved"

    queries = list(
        judge_run(run(answer("1", "Tom"), answer("2", "")), ["1", "2", "3"], judge(tmp_path, decide), "fac", 1)
    )

    assert [query.score for query in queries] == [1.0, 0.0, 0.0]
    assert len(prompts) == 1
    assert "<final_answer>\nTom\n</final_answer>" in prompts[0]
    assert "search_for_films" not in prompts[0]


def test_compat_fac_reads_any_reply_and_shows_raw_arguments(tmp_path: Path) -> None:
    """As published: the word alone decides, `unsolved` first, and a missing answer ends it."""
    prompts: list[str] = []

    def decide(prompt: str) -> str:
        prompts.append(prompt)
        return "This is not unsolved." if "Tide 1?" in prompt else "SOLVED, I think"

    published = judge(tmp_path, decide, compat=True)
    queries = list(judge_run(run(answer("1"), answer("2")), ["1", "2"], published, "fac", 1, compat=True))

    assert [query.score for query in queries] == [0.0, 1.0]
    assert '"return_type": "give_answer"' in prompts[0]
    with pytest.raises(UsageError, match="no answer to query 3"):
        list(judge_run(run(answer("1")), ["1", "3"], published, "fac", 1, compat=True))
