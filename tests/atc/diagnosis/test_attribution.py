"""The call behind a failure is found from where the run's values come from, and no model is asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from atc.diagnosis.attribution import attribute, by_traceback
from atc.fault import Attribution, Fault
from protocols.dataflow.graph import ProtocolGraph
from sandbox import CallRecord, ProgramError, Resources, Run, Sandbox
from tests.local_api import Answer, LocalAPI

OSLO: dict[str, object] = {"id": "oslo", "name": "Oslo", "mayor": None, "tags": []}


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [OSLO, {"id": "rome", "population": "2800000"}]})
        api.answer("GET", "/cities/oslo", OSLO)
        api.answer("GET", "/cities/oslo/weather", {"temperature": None, "wind": [3, 4]})
        api.answer("GET", "/cities/busy", {"message": "later"}, 503)
        yield api


def blame(api: LocalAPI, program: str) -> Attribution:
    run = Sandbox(api.protocol).run(program)
    assert run.error is not None, run.stdout
    return attribute(Fault("run", run.error.type, run.error.message, run.error.line), run, ProtocolGraph(api.protocol))


FOUND = "found = GET_cities(query='o')['results']\n"


POOL = "from concurrent.futures import ThreadPoolExecutor, as_completed\nwith ThreadPoolExecutor(4) as pool:\n"


@pytest.mark.parametrize(
    ("program", "tool", "path", "fact"),
    [
        (
            FOUND + "for city in found:\n    print(city['name'])",
            "GET_cities",
            '["results"][1]["name"]',
            "GET_cities → results[1] has no 'name'; its keys are id, population",
        ),
        (
            FOUND + "def key(c): return c['name']\nprint(sorted(found, key=key))",
            "GET_cities",
            '["results"][1]["name"]',
            "GET_cities → results[1] has no 'name'; its keys are id, population",
        ),
        (
            FOUND + "city = GET_cities_city_id(found[0]['id'])\nprint(city['mayor']['name'])",
            "GET_cities_city_id",
            '["mayor"]',
            "GET_cities_city_id → mayor is None",
        ),
        (
            FOUND + "city = GET_cities_city_id('oslo')\nfirst = [t for t in city['tags'] if t][0]",
            "GET_cities_city_id",
            '["tags"]',
            "GET_cities_city_id → tags is an empty list",
        ),
        (
            FOUND + "total = 0\nfor c in found:\n    total += c.get('population', 0)",
            "GET_cities",
            '["results"][1]["population"]',
            "GET_cities → results[1].population is the text '2800000'",
        ),
        (
            "w = GET_cities_city_id_weather('oslo')\nt = w['temperature']\nwarm = f'{t:.1f}'",
            "GET_cities_city_id_weather",
            '["temperature"]',
            "GET_cities_city_id_weather → temperature is None",
        ),
        (
            FOUND
            + POOL
            + "    t = list(pool.map(lambda c: GET_cities_city_id_weather('oslo')['temperature'], found))\n"
            "print(t[0] + 1)",
            "GET_cities_city_id_weather",
            '["temperature"]',
            "GET_cities_city_id_weather → temperature is None",
        ),
        (
            FOUND + POOL + "    waiting = [pool.submit(GET_cities_city_id, c['id']) for c in found[:1]]\n"
            "for one in as_completed(waiting):\n    print(one.result()['mayor'] + 'x')",
            "GET_cities_city_id",
            '["mayor"]',
            "GET_cities_city_id → mayor is None",
        ),
    ],
)
def test_a_value_leads_back_to_its_response(api: LocalAPI, program: str, tool: str, path: str, fact: str) -> None:
    """However far the failing line is from the call."""
    attribution = blame(api, program)

    assert (attribution.tool, attribution.path, attribution.how) == (tool, path, "data")
    assert attribution.evidence[0] == fact


def test_a_failing_service_is_to_blame_itself(api: LocalAPI) -> None:
    """An answer of 5xx is that call's, whatever it was given."""
    api.script("GET", "/cities/rome", Answer(500, {"message": "broken"}))

    attribution = blame(api, FOUND + "GET_cities_city_id(found[1]['id'])")

    assert (attribution.tool, attribution.call, attribution.how) == ("GET_cities_city_id", 1, "call")
    assert attribution.candidates == ("GET_cities_city_id",)


def test_a_refused_call_that_was_given_nothing_is_the_fault_of_whoever_gave_it(api: LocalAPI) -> None:
    """The call itself comes second."""
    attribution = blame(api, "c = GET_cities_city_id('oslo')\nGET_cities_city_id(c['mayor'])")

    assert (attribution.tool, attribution.path, attribution.candidates) == (
        "GET_cities_city_id",
        '["mayor"]',
        ("GET_cities_city_id",),
    )
    assert attribution.call == 0


@pytest.mark.parametrize(
    "program",
    [
        FOUND + "print(undefined)",
        FOUND + "own = {'a': 1}\nprint(own['b'])",
        FOUND + "def f(a): return a\nf(found, 1)",
        FOUND + "print(len(found) / 0)",
        FOUND + "print(found[0].name)",
        FOUND + "print(found.length)",
    ],
)
def test_what_the_program_got_wrong_itself_is_nobodys_fault(api: LocalAPI, program: str) -> None:
    """A name that is not there, a key of its own dict, a division by its own zero."""
    assert blame(api, program).tool is None


def test_the_order_in_which_calls_were_answered_is_kept(api: LocalAPI) -> None:
    """Or a program that takes them as they come would go another way when it is tracked."""
    for number in range(6):
        api.script("GET", f"/cities/{number}", Answer(200, {"n": None if number == 2 else 1}, wait=0.02 * (6 - number)))
    program = (
        POOL + "    waiting = [pool.submit(GET_cities_city_id, str(n)) for n in range(6)]\n"
        "    for one in as_completed(waiting):\n        print(one.result()['n'] + 1)"
    )

    for _ in range(2):
        attribution = blame(api, program)
        assert (attribution.how, attribution.path) == ("data", '["n"]')


def test_equal_values_are_no_evidence(api: LocalAPI) -> None:
    """None came from one response and stands in the other too."""
    attribution = blame(
        api,
        "a = GET_cities_city_id('oslo')['mayor']\nb = GET_cities_city_id_weather('oslo')['temperature']\nprint(b + 1)",
    )

    assert attribution.tool == "GET_cities_city_id_weather"


def test_a_traceback_alone_tells_the_nearest_call() -> None:
    """What is left where the values could not be followed."""
    calls = tuple(
        CallRecord(index, tool, "GET", "https://a.example", {}, line, 200, 1.0, 1, "function")
        for index, (tool, line) in enumerate([("GET_a", 1), ("GET_b", 2)])
    )

    def failed(line: int) -> Run:
        return Run("error", "", "", ProgramError("KeyError", "'x'", line, "", (line,)), calls, Resources(0, 0, 0, 0))

    assert by_traceback(failed(1)).tool == "GET_a"
    assert by_traceback(failed(3)).tool == "GET_b"
