"""Trip Booking: its tests are right, wrong programs fail, and the released evaluator's holes are closed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.manipulation.environment import ManipulationTest
from benchmarks.manipulation.suite import open_environment
from benchmarks.manipulation.suite_run import ACTION_MODE, BENCHMARK, ManipulationSettings, TestRunner
from benchmarks.manipulation.trip.trip_booking import TripBooking
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
