"""`atc eval win-rate`: both orders, rules before the judge, editions, and the published defects under `--compat`."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.toolbench.evaluation.evaluate import compare_runs
from benchmarks.toolbench.evaluation.results import compared_summary
from benchmarks.toolbench.evaluation.sources import JudgedRun
from benchmarks.toolbench.evaluation.win_rate import WinEdition
from tests.benchmarks.toolbench.judging import always, answer, judge, run


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
