"""`atc eval pass-rate` and `win-rate`: labels, majorities, both orders, editions, and the published defects."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.toolbench.evaluation.evaluate import compare_runs, judge_run
from benchmarks.toolbench.evaluation.pass_rate import COMBINED, JudgedQuery, Repetition, majority
from benchmarks.toolbench.evaluation.results import compared_summary, judged_summary
from benchmarks.toolbench.evaluation.sources import JudgedRun
from benchmarks.toolbench.evaluation.win_rate import WinEdition
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


def by_hash(biased: float) -> Callable[[str], str]:
    """A judge without sense: its verdict depends on the whole prompt, in a share of the cases on the order alone."""

    def decide(prompt: str) -> str:
        draw = random.Random(prompt)
        if "<second>" in prompt:
            word = "First" if draw.random() < biased else draw.choice(["First", "Second", "Tie", "nonsense"])
        elif "<functions>" in prompt:
            word = draw.choice(["Solvable", "Unsure", "Unsolvable"])
        else:
            word = draw.choice(["Solved", "Unsure", "Unsolved"])
        return f"Verdict: {word}"

    return decide


@pytest.mark.parametrize("edition", ["2", "sowr"])
@pytest.mark.parametrize("seed", range(6))
def test_swapping_the_methods_swaps_the_result(tmp_path: Path, edition: WinEdition, seed: int) -> None:
    """For any judge, in every edition: no verdict changes, none is asked anew, and the rates add up to one."""
    draw = random.Random(seed)

    def some(method: str) -> JudgedRun:
        texts = ["", "Tom", "Ann", "Sorry, I cannot tell."]
        made = [
            answer(str(number), draw.choice(texts), draw.randrange(4), draw.random() < 0.9)
            for number in range(12)
            if draw.random() < 0.9
        ]
        return run(*made, method=method)

    first, second = some("first"), some("second")
    ids = [str(number) for number in range(12)]
    forth = list(compare_runs(first, second, ids, judge(tmp_path, by_hash(seed / 6)), edition, 3))
    swapped = judge(tmp_path, by_hash(seed / 6))
    back = list(compare_runs(second, first, ids, swapped, edition, 3))

    mirrored = {"reference": "candidate", "candidate": "reference", "tie": "tie"}
    assert [mirrored[query.winner] for query in forth] == [query.winner for query in back]
    assert swapped.asked == 0
    assert compared_summary(forth, False)["rate"] + compared_summary(back, False)["rate"] == pytest.approx(1)


def compared(
    folder: Path, decide: Callable[[str], str], edition: WinEdition = "2", compat: bool = False, **answers: Any
) -> Any:
    """One pair, compared once."""
    pair = [run(*(entry,) if entry else (), method=name) for name, entry in answers.items()]
    return next(compare_runs(pair[0], pair[1], ["1"], judge(folder, decide, compat=compat), edition, 1, compat))


def test_a_judge_that_prefers_a_place_decides_nothing(tmp_path: Path) -> None:
    """Both orders are asked, and a disagreement is a tie that is counted."""
    query = compared(tmp_path, always("Solved", better="First"), a=answer("1", "Tom"), b=answer("1", "Ann"))

    assert (query.winner, query.rounds[0].rule) == ("tie", "the orders disagree")
    assert compared_summary([query], False)["disagreed"] == 1


def test_what_decides_before_the_judge_is_asked_to_compare(tmp_path: Path) -> None:
    """A missing answer loses, a passed one beats a failed one, a solved one an unsure one; the same answers tie."""

    def decide(prompt: str) -> str:
        assert "<second>" not in prompt
        status = "Solved" if "Tom" in prompt else "Unsure" if "Perhaps" in prompt else "Unsolved"
        return always(status, "Unsure")(prompt)

    tom, ann, perhaps = (answer("1", text) for text in ("Tom", "Ann", "Perhaps"))
    cases = [(None, ann, "candidate"), (ann, None, "reference"), (None, None, "tie"), (ann, tom, "candidate")]
    cases += [(tom, perhaps, "reference"), (perhaps, ann, "reference"), (tom, tom, "tie")]
    for number, (first, second, winner) in enumerate(cases):
        assert compared(tmp_path / str(number), decide, a=first, b=second).winner == winner, number


def test_sowr_takes_a_solved_answer_over_an_unsolved_one(tmp_path: Path) -> None:
    """Nobody is asked to compare; as published the pair is judged from scratch, with the same end."""
    tom, ann = answer("1", "Tom"), answer("1", "Ann")
    decide = always("Solved")

    def by_text(prompt: str) -> str:
        return decide(prompt) if "Tom" in prompt else "Verdict: Unsolved"

    for compat in (False, True):
        query = compared(tmp_path / str(compat), by_text, "sowr", compat, a=ann, b=tom)
        assert (query.winner, query.rounds[0].rule) == ("candidate", "only one Solved")


def test_compat_statuses_are_not_shuffled_with_the_answers(tmp_path: Path) -> None:
    """The published defect: of a solved and an unsolved answer with the same label either may win."""

    def decide(prompt: str) -> str:
        return always("Solved" if "Tom" in prompt else "Unsolved", "Unsolvable")(prompt)

    ids = [str(number) for number in range(100)]
    solved = run(*(answer(key, "Tom") for key in ids), method="a")
    unsolved = run(*(answer(key, "Ann") for key in ids), method="b")
    published = list(compare_runs(solved, unsolved, ids, judge(tmp_path, decide, compat=True), "2", 1, compat=True))
    strict = list(compare_runs(solved, unsolved, ids, judge(tmp_path, decide), "2", 1))

    assert 30 < sum(query.winner == "reference" for query in published) < 70
    assert all(query.winner == "reference" for query in strict)


def test_compat_one_order_is_asked_and_lots_decide_the_rest(tmp_path: Path) -> None:
    """As published: no ties; a judge that prefers a place wins for whoever was drawn there."""
    ids = [str(number) for number in range(60)]
    first, second = (run(*(answer(key, text) for key in ids), method=text) for text in ("Tom", "Ann"))
    for better in ("First", "Tie"):
        strict = judge(tmp_path / better, always("Solved", better=better), compat=True)
        winners = [query.winner for query in compare_runs(first, second, ids, strict, "2", 1, compat=True)]
        assert set(winners) == {"reference", "candidate"}
        assert 15 < winners.count("reference") < 45
        assert strict.asked == 3 * len(ids)  # two statuses and one comparison each
