"""Trip Booking: its tests are right, wrong programs fail, and the released evaluator's holes are closed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from benchmarks.manipulation.environment import ManipulationTest
from benchmarks.manipulation.run import ACTION_MODE, BENCHMARK, ManipulationSettings, TestRunner
from benchmarks.manipulation.suite import open_environment
from benchmarks.manipulation.trip.environment import TripBooking
from tests.benchmarks.manipulation.criteria_mutants import mutants, outcome
from tests.benchmarks.manipulation.perfect import LabelModel

TICKETS = """\
API.select_booking_type("trip tickets")
API.set_num_adults(3)
API.select_transportation("cruise")
API.set_origin(Loc("Oslo"))
API.set_destination(Loc("Kiel"))
API.set_departure_date(Date(5, 17, 2023))
API.search()"""
HOTEL = """\
API.select_booking_type("hotels")
API.set_hotel_location(Loc("Kiel"))
API.set_checkin_date(Date(5, 17, 2023))
API.set_checkout_date(Date(5, 20, 2023))
API.set_num_rooms(1)
API.search()"""
BOTH = """\
API.select_booking_type("both")
API.select_transportation("cruise")
API.set_origin(Loc("Oslo"))
API.set_destination(Loc("Kiel"))
API.set_hotel_location(Loc("Kiel"))
API.set_checkin_date(Date(5, 17, 2023))
API.set_checkout_date(Date(5, 20, 2023))
API.search()"""


def names(program: str) -> tuple[str, ...]:
    return tuple(line.partition("(")[0] for line in program.splitlines())


def before_search(program: str, calls: str) -> str:
    return program.replace("API.search", f"{calls}\nAPI.search")


def case(program: str) -> ManipulationTest:
    return ManipulationTest("case", "A trip from Oslo to Kiel.", (program,), (names(program),))


@pytest.fixture(scope="module")
def trip() -> Iterator[TripBooking]:
    environment = open_environment("trip")
    assert isinstance(environment, TripBooking)
    yield environment
    environment.close()


@pytest.fixture(scope="module")
def released() -> TripBooking:
    return TripBooking(compat=True)


def test_counts_are_the_papers_for_trips(trip: TripBooking) -> None:
    """20 functions with the two constructors, 40 tests of each scenario, 11 demonstrations, 30 templates."""
    assert (len(trip.functions), len(trip.tests), len(trip.demonstrations)) == (20, 120, 11)
    assert len({template.goal for template in trip.sample_templates}) == 30
    assert Counter(test.labels[0].split('"')[1] for test in trip.tests) == {
        "trip tickets": 40,
        "hotels": 40,
        "both": 40,
    }


def test_every_function_is_demonstrated(trip: TripBooking) -> None:
    """Demonstrations and training samples have all 20 functions."""
    functions = {document.name for document in trip.functions}

    assert {name for shown in trip.demonstrations for name in shown.names} == functions
    assert {name for sample in trip.samples(300, seed=0) for name in sample.names} == functions


def test_tests_share_no_combination_with_demonstrations_or_samples(trip: TripBooking) -> None:
    """The combination of functions that a test needs was not seen before."""
    tested = {tuple(sorted(test.names[0])) for test in trip.tests}
    samples = trip.samples(1800, seed=0)

    assert len({sample.goal for sample in samples}) == 1800
    assert not tested & {tuple(sorted(shown.names)) for shown in trip.demonstrations}
    assert not tested & {tuple(sorted(sample.names)) for sample in samples}


def test_every_booking_label_scores_in_the_sandbox(trip: TripBooking) -> None:
    """Each label is a program that runs and reaches its goal; its functions are the ones called."""
    for test in trip.tests:
        trip.reset(test)
        result = trip.act(test.labels[0])
        assert (result.error, sorted(result.names)) == ("", sorted(test.names[0]))
        assert trip.score().value == 1.0, test.goal


def test_booking_demonstrations_and_samples_run(trip: TripBooking) -> None:
    """What a model is shown or trained on is right code."""
    for shown in (*trip.demonstrations, *trip.samples(300, seed=1)):
        test = ManipulationTest("shown", shown.goal, (shown.action,), (shown.names,))
        assert outcome(trip, test, shown.action).value == 1.0, shown.action


def test_no_mutant_of_any_booking_scores(trip: TripBooking) -> None:
    """Twelve kinds of wrong programs fail on all 120 tests."""
    scored = [
        (test.id, kind)
        for test in trip.tests
        for kind, program in mutants(test.labels[0])
        if outcome(trip, test, program).value
    ]

    assert scored == []


@pytest.mark.parametrize(
    ("label", "program"),
    [
        (
            TICKETS,
            TICKETS.replace("API.set_num_adults(3)\n", "").replace("API.search", "API.set_num_adults(3)\nAPI.search"),
        ),
        (TICKETS, before_search(TICKETS, "API.set_min_ticket_price(0)")),
        (TICKETS, f"day = Date(month=5, day=17, year=2023)\n{TICKETS.replace('Date(5, 17, 2023)', 'day')}"),
        (HOTEL, HOTEL.replace("API.set_num_rooms(1)\n", "")),
        (BOTH, before_search(BOTH, "API.set_departure_date(Date(5, 17, 2023))")),
        (BOTH, before_search(BOTH, "API.set_return_date(Date(5, 20, 2023))\nAPI.set_num_rooms(1)")),
        (BOTH, before_search(BOTH, "API.set_num_rooms(7)\nAPI.set_num_rooms(1)")),
    ],
    ids=[
        "order",
        "a default price",
        "a variable",
        "a default room",
        "default departure",
        "default return",
        "overwritten",
    ],
)
def test_programs_that_book_the_same_are_right(trip: TripBooking, label: str, program: str) -> None:
    """These changes make no difference by the tool's own rules."""
    trip.reset(case(label))

    assert (trip.act(program).error, trip.score().value) == ("", 1.0)


@pytest.mark.parametrize(
    ("label", "program"),
    [
        (TICKETS, "\n".join([TICKETS.splitlines()[1], TICKETS.splitlines()[0], *TICKETS.splitlines()[2:]])),
        (TICKETS, TICKETS.replace("trip tickets", "tickets")),
        (TICKETS, TICKETS.replace("cruise", "ship")),
        (TICKETS, TICKETS.replace('Loc("Oslo")', '"Oslo"')),
        (TICKETS, TICKETS.replace("Date(5, 17, 2023)", '"2023/05/17"')),
        (TICKETS, TICKETS.replace("Date(5, 17, 2023)", 'Loc("Oslo")')),
        *((TICKETS, TICKETS.replace(f"{line}\n", "")) for line in TICKETS.splitlines()[2:6]),
        *((HOTEL, HOTEL.replace(f"{line}\n", "")) for line in HOTEL.splitlines()[1:4]),
        *((BOTH, BOTH.replace(f"{line}\n", "")) for line in BOTH.splitlines()[:7]),
    ],
)
def test_what_a_booking_refuses_is_not_executable(trip: TripBooking, label: str, program: str) -> None:
    """The type comes first, places and days are of their classes, and a search needs what its type needs."""
    trip.reset(case(label))

    assert trip.act(program).error
    assert trip.score().failure == "non-executable"


def test_an_optional_call_left_out_is_unsuccessful(trip: TripBooking) -> None:
    """Such a program runs, and books something else; it lacks a function."""
    score = outcome(trip, case(TICKETS), TICKETS.replace("API.set_num_adults(3)\n", ""))

    assert (score.value, score.failure) == (0.0, "wrong API")


def test_failures_of_bookings_are_classed_in_the_papers_order(trip: TripBooking) -> None:
    """Prose around the code is not executable; then comes a wrong function, then a wrong argument."""
    programs = [
        f"Here is the program:\n{TICKETS}",
        TICKETS.replace("set_num_adults", "set_num_children"),
        TICKETS.replace("Date(5, 17, 2023)", "Date(5, 18, 2023)"),
    ]
    failures = []
    for program in programs:
        trip.reset(case(TICKETS))
        trip.act(program)
        failures.append(trip.score().failure)

    assert failures == ["non-executable", "wrong API", "wrong arguments"]


def test_days_are_stored_as_released(trip: TripBooking) -> None:
    """Month, day and year without leading zeros."""
    outcome(trip, case(TICKETS), TICKETS)

    assert trip.state.criteria == {
        "booking_type": "trip tickets",
        "num_adults": 3,
        "means_of_transportation": "cruise",
        "location_from": "Oslo",
        "location_to": "Kiel",
        "departure_date": "5-17-2023",
        "min_price_room": 0,
        "min_price_ticket": 0,
    }


def test_a_booking_must_be_submitted(trip: TripBooking, released: TripBooking) -> None:
    """As released, a program without a search may set the defaults by hand, and a criterion may come after it."""
    by_hand = TICKETS.replace("API.search()", "API.set_min_room_price(0)\nAPI.set_min_ticket_price(0)")
    late = "\n".join([TICKETS.replace("API.set_num_adults(3)\n", ""), "API.set_num_adults(3)"])

    assert [outcome(trip, case(TICKETS), program).failure for program in (by_hand, late)] == ["non-executable"] * 2
    assert [outcome(released, case(TICKETS), program).value for program in (by_hand, late)] == [1.0, 1.0]


@pytest.mark.parametrize("mode", [ACTION_MODE, "attribute"])
def test_values_are_no_calls_of_a_path(trip: TripBooking, mode: str) -> None:
    """A right program is accepted as it is, and its path is whole: constructors count on neither side."""
    model = LabelModel(trip, programs=mode != ACTION_MODE)
    settings = ManipulationSettings(BENCHMARK, model.name, mode, 3, 0, "all", "bm25", False)
    test = next(test for test in trip.tests if "Date" in test.names[0])
    model.expect(test)

    record = TestRunner(trip, settings, model).run(test)

    metrics = record["metrics"]
    methods = [name for name in test.names[0] if name.startswith("API.")]
    assert (metrics["success"], metrics["path"], metrics["precision"], metrics["findings"]) == (1, 1, 1, 0)
    assert metrics["gold_calls"] == metrics["tool_calls"] == len(methods) < len(test.names[0])
    assert metrics["model_calls"] == 1
