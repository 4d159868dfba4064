"""Figures of Xu et al.'s released evaluators for wrong actions of Home Search and Trip Booking."""

from __future__ import annotations

from contextlib import closing

import pytest

from benchmarks.manipulation.environment import ManipulationTest
from benchmarks.manipulation.suite import open_environment
from tests.benchmarks.manipulation.suite_tasks import judged

ACTIONS = {
    "home": """API.set_location("Oslo")
API.set_buy_or_rent("rent")
API.set_num_beds(2)
API.set_max_price(1500)
API.search()""",
    "trip": """API.select_booking_type("hotels")
API.set_hotel_location(Loc("Oslo"))
API.set_checkin_date(Date(5, 2, 2025))
API.set_checkout_date(Date(5, 4, 2025))
API.set_num_rooms(2)
API.search()""",
}


def without_last_criterion(lines: list[str]) -> list[str]:
    return [*lines[:-2], lines[-1]]


def after_the_search(lines: list[str]) -> list[str]:
    return [*lines[:-2], lines[-1], lines[-2]]


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize(("name", "precision", "recall"), [("home", 1, 5 / 6), ("trip", 6 / 7, 6 / 7)])
def test_a_missing_criterion_lowers_f1(name: str, precision: float, recall: float, compat: bool) -> None:
    """Home then has 5 of 6 criteria; Trip has all 7, one with its default. The first action of a run counts as any."""
    label = ACTIONS[name]
    test = ManipulationTest("1", "", (label,), ((),))
    with closing(open_environment(name, compat=compat)) as environment:
        score = judged(environment, test, "\n".join(without_last_criterion(label.splitlines())))
        again = judged(environment, test, label)

    f1 = 2 * precision * recall / (precision + recall)
    assert score.value == 0
    assert score.details == pytest.approx({"f1": f1, "precision": precision, "recall": recall})
    assert again.value == 1


@pytest.mark.parametrize("name", ACTIONS)
def test_a_criterion_after_the_search_counts_with_compat_alone(name: str) -> None:
    """The released evaluators compare what is set in the end; ours ends the program at such a call."""
    test = ManipulationTest("1", "", (ACTIONS[name],), ((),))
    values = []
    for compat in (False, True):
        with closing(open_environment(name, compat=compat)) as environment:
            values.append(judged(environment, test, "\n".join(after_the_search(ACTIONS[name].splitlines()))).value)

    assert values == [0, 1]
