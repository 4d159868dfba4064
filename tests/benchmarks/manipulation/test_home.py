"""Home Search: its tests are right, wrong programs fail, and the released evaluator's holes are closed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.manipulation.environment import ManipulationTest
from benchmarks.manipulation.home.environment import HomeSearch
from benchmarks.manipulation.suite import open_environment
from tests.benchmarks.manipulation.criteria_mutants import mutants, outcome

UNSEEN = {"API.set_num_swimming_pools", "API.set_floor_number", "API.set_max_commute_time"}

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


def test_counts_are_the_papers(home: HomeSearch) -> None:
    """15 functions, 100 tests, 10 demonstrations, 100 templates."""
    assert (len(home.functions), len(home.tests), len(home.demonstrations)) == (15, 100, 10)
    assert len({template.goal for template in home.sample_templates}) == 100
    assert len({test.goal for test in home.tests}) == 100


def test_three_functions_are_in_no_demonstration(home: HomeSearch) -> None:
    """All others are in one at least; the tests and the training samples have all 15."""
    functions = {document.name for document in home.functions}

    assert functions - {name for shown in home.demonstrations for name in shown.names} == UNSEEN
    assert {name for test in home.tests for name in test.names[0]} == functions
    assert {name for template in home.sample_templates for name in template.names} == functions


def test_no_test_has_the_combination_of_a_demonstration_or_a_sample(home: HomeSearch) -> None:
    """Neither in-context nor in training has a model seen the combination of functions that a test needs."""
    tested = {tuple(sorted(test.names[0])) for test in home.tests}
    samples = home.samples(1800, seed=0)

    assert len(tested) == 100
    assert len({sample.goal for sample in samples}) == 1800
    assert not tested & {tuple(sorted(shown.names)) for shown in home.demonstrations}
    assert not tested & {tuple(sorted(sample.names)) for sample in samples}


def test_tests_and_samples_follow_from_their_seed(home: HomeSearch) -> None:
    """A second environment has the same ones; another seed makes other samples."""
    again = HomeSearch()

    assert again.tests == home.tests
    assert again.samples(50, seed=3) == home.samples(50, seed=3) != home.samples(50, seed=4)


def test_every_label_scores_in_the_sandbox(home: HomeSearch) -> None:
    """Each label is a program that runs and reaches its goal; its functions are the ones called."""
    for test in home.tests:
        home.reset(test)
        result = home.act(test.labels[0])
        assert (result.error, sorted(result.names)) == ("", sorted(test.names[0]))
        assert home.score().value == 1.0, test.goal


def test_a_program_for_atc_prints_what_its_search_returns(home: HomeSearch) -> None:
    """It does the same as the label, and has an answer: the criteria that were submitted."""
    test = home.tests[0]
    home.reset(test)
    result = home.act(test.programs[0])

    assert home.score().value == 1.0
    assert result.observation == f"{home.state.criteria}\n"


def test_demonstrations_and_samples_run(home: HomeSearch) -> None:
    """What a model is shown or trained on is right code."""
    for shown in (*home.demonstrations, *home.samples(300, seed=1)):
        test = ManipulationTest("shown", shown.goal, (shown.action,), (shown.names,))
        assert outcome(home, test, shown.action).value == 1.0, shown.action


def test_goals_say_the_values_of_their_labels(home: HomeSearch) -> None:
    """Numbers and places stand in the goal, but for floors and minutes that are said in words."""
    for test in home.tests:
        for line in test.labels[0].splitlines():
            argument = line.partition("(")[2].rstrip(")")
            spoken = "commute" in line or "floor" in line
            if argument and argument[0] != "[" and argument not in ('"buy"', '"rent"') and not spoken:
                assert argument.strip('"') in test.goal, (test.goal, line)


def test_no_mutant_of_any_label_scores(home: HomeSearch) -> None:
    """Twelve kinds of wrong programs fail on all 100 tests."""
    scored = [
        (test.id, kind)
        for test in home.tests
        for kind, program in mutants(test.labels[0])
        if outcome(home, test, program).value
    ]

    assert scored == []


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


def test_failures_are_classed_in_the_papers_order(home: HomeSearch) -> None:
    """Prose around the code is not executable; then comes a wrong function, then a wrong argument."""
    test = ManipulationTest("x", TEST.goal, (PROGRAM,), (tuple(line.partition("(")[0] for line in CALLS),))
    programs = [
        f"Here is the program:\n{PROGRAM}",
        PROGRAM.replace("set_num_beds", "set_num_baths"),
        PROGRAM.replace("500000", "50000"),
    ]
    failures = []
    for program in programs:
        home.reset(test)
        home.act(program)
        failures.append(home.score().failure)

    assert failures == ["non-executable", "wrong API", "wrong arguments"]


def test_f1_counts_the_criteria_that_are_equal(home: HomeSearch) -> None:
    """Of six criteria, the two minima that a search fills in included, one is wrong."""
    score = outcome(home, TEST, PROGRAM.replace("500000", "50000"))

    assert score.details == {
        "f1": pytest.approx(5 / 6),
        "precision": pytest.approx(5 / 6),
        "recall": pytest.approx(5 / 6),
    }


def test_a_program_must_end_with_a_search(home: HomeSearch, released: HomeSearch) -> None:
    """The released evaluator only misses what a search fills in; setting that by hand passes there, and not here."""
    without = "\n".join([*CALLS[:4], "API.set_min_price(0)", "API.set_min_square_feet(0)"])
    late = "\n".join([*CALLS[:3], CALLS[4], CALLS[3]])

    assert [outcome(home, TEST, program).failure for program in (without, late)] == ["non-executable"] * 2
    assert [outcome(released, TEST, program).value for program in (without, late)] == [1.0, 1.0]


def test_an_empty_program_fails_either_way(home: HomeSearch, released: HomeSearch) -> None:
    """Nothing was set; as released, that is executable."""
    assert outcome(home, TEST, "").failure == "non-executable"
    assert outcome(released, TEST, "").failure != "non-executable"
    assert outcome(released, TEST, "").value == 0.0
