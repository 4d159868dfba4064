"""Home Search: its tests are right, wrong programs fail, and the released evaluator's holes are closed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.manipulation.environment import ManipulationTest
from benchmarks.manipulation.home.home_search import HomeSearch
from benchmarks.manipulation.suite import open_environment
from tests.benchmarks.manipulation.suite_tasks import judged

PROGRAM = """\
API.set_location("Bend")
API.set_buy_or_rent("buy")
API.set_num_beds(3)
API.set_max_price(500000)
API.search()"""
CALLS = PROGRAM.splitlines()
TEST = ManipulationTest("bend", "Three bedrooms in Bend for up to $500000, to buy.", (PROGRAM,), ((),))


@pytest.fixture(scope="module")
def home() -> Iterator[HomeSearch]:
    environment = open_environment("home")
    assert isinstance(environment, HomeSearch)
    yield environment
    environment.close()


@pytest.fixture(scope="module")
def released() -> HomeSearch:
    return HomeSearch(compat=True)


@pytest.mark.parametrize(
    "program",
    [
        "\n".join([*CALLS[:2], CALLS[3], CALLS[2], CALLS[4]]),
        "\n".join([*CALLS[:2], "API.set_num_beds(5)", *CALLS[2:]]),
        "\n".join([*CALLS[:4], "API.set_min_price(0)", CALLS[4]]),
        "\n".join([*CALLS, CALLS[4]]),
        "\n".join([*CALLS[:2], "beds = 3", "API.set_num_beds(num_beds=beds)", *CALLS[3:]]),
        "\n".join([*CALLS[:2], "API.set_num_beds(3.0)", *CALLS[3:]]),
    ],
    ids=["order of criteria", "overwritten", "a default set", "search again", "variables", "a whole float"],
)
def test_programs_that_set_the_same_criteria_are_right(home: HomeSearch, program: str) -> None:
    """These changes make no difference by the tool's own rules."""
    home.reset(TEST)

    assert (home.act(program).error, home.score().value) == ("", 1.0)


@pytest.mark.parametrize(
    "program",
    [
        "\n".join([CALLS[1], CALLS[0], *CALLS[2:]]),
        "\n".join([CALLS[0], CALLS[2], CALLS[1], *CALLS[3:]]),
        "\n".join([CALLS[0], 'API.select_home_type(["House"])', *CALLS[1:]]),
        "\n".join([CALLS[0], *CALLS]),
        PROGRAM.replace('"buy"', '"lease"'),
        "\n".join([*CALLS[:2], 'API.select_home_type(["Apartment"])', *CALLS[2:]]),
        PROGRAM.replace("(3)", '("3")'),
    ],
    ids=["mode first", "number before mode", "type before mode", "location twice", "mode", "type", "number as text"],
)
def test_what_the_rules_refuse_is_not_executable(home: HomeSearch, program: str) -> None:
    """Order and values are checked at each call; the program ends there."""
    home.reset(TEST)

    assert home.act(program).error
    assert home.score().failure == "non-executable"


def test_f1_counts_the_criteria_that_are_equal(home: HomeSearch) -> None:
    """Of six criteria, the two minima that a search fills in included, one is wrong."""
    score = judged(home, TEST, PROGRAM.replace("500000", "50000"))

    assert score.details == {
        "f1": pytest.approx(5 / 6),
        "precision": pytest.approx(5 / 6),
        "recall": pytest.approx(5 / 6),
    }


def test_a_program_must_end_with_a_search(home: HomeSearch, released: HomeSearch) -> None:
    """The released evaluator only misses what a search fills in; setting that by hand passes there, and not here."""
    without = "\n".join([*CALLS[:4], "API.set_min_price(0)", "API.set_min_square_feet(0)"])
    late = "\n".join([*CALLS[:3], CALLS[4], CALLS[3]])

    assert [judged(home, TEST, program).failure for program in (without, late)] == ["non-executable"] * 2
    assert [judged(released, TEST, program).value for program in (without, late)] == [1.0, 1.0]
