"""Open Weather: all labels succeed, no mutant does, and each failure has its class."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import pytest

from benchmarks.manipulation.environment import ManipulationTest
from benchmarks.manipulation.weather.open_weather import OpenWeather
from sandbox import Sandbox
from tests.benchmarks.manipulation.suite_tasks import SPOILED, judged

WEATHER = "curl -X GET 'https://api.openweathermap.org/data/2.5/weather?{}&appid={{API_KEY}}{}'"


@pytest.fixture(scope="module")
def weather() -> Iterator[OpenWeather]:
    with closing(OpenWeather()) as environment:
        yield environment


def weather_test(label: str) -> ManipulationTest:
    """A test with one label."""
    return ManipulationTest("own", "", (label,), (("GET /data/2.5/weather",),))


MUTANTS: dict[str, Sequence[Callable[[str], str]]] = {
    "non-executable": [lambda label: label.replace("api.openweathermap.org", "api.weather.example"), *SPOILED.values()],
    "wrong API": [
        lambda label: label.replace("?", "/daily?", 1),
        lambda label: label.replace("-X GET", "-X POST"),
    ],
    "wrong arguments": [
        lambda label: label.replace("{API_KEY}", "YOUR_KEY"),
        lambda label: label.replace("appid={API_KEY}", "key={API_KEY}"),
        lambda label: re.sub(r"(q|zip|lat)=[^&']*&", "", label),
        lambda label: re.sub(r"(q|zip|lat)=([^&']*)", r"\1=89\2", label),
        lambda label: re.sub(r"(q|zip|lon)=([^&']*)", r"place=\2", label),
    ],
}
"""What is done to a label, by the class of the failure."""


@pytest.mark.parametrize("failure", MUTANTS)
def test_no_mutant_succeeds(weather: OpenWeather, failure: str) -> None:
    """Wrong calls fail in the class that says what is wrong, and so does all that does not execute."""
    for test in weather.tests[::5]:
        for mutate in MUTANTS[failure]:
            mutant = mutate(test.labels[0])
            score = judged(weather, test, mutant)
            assert (score.value, score.failure) == (0, failure), mutant


def test_calls_that_are_answered_alike_are_equal(weather: OpenWeather) -> None:
    """The order of parameters, defaults written out, another way to write or to name the place: all succeed."""
    label = WEATHER.format("q=salt+lake+city", "&units=metric&lang=fr")
    for text in (
        WEATHER.format("q=salt+lake+city", "&lang=fr&units=metric"),
        WEATHER.format("q=Salt%20Lake%20City", "&units=metric&lang=fr&mode=json"),
        WEATHER.format("q=salt+lake+city,us", "&units=metric&lang=fr"),
        WEATHER.format("zip=84101,us", "&units=metric&lang=fr"),
        WEATHER.format("lat=40.7608&lon=-111.891", "&units=metric&lang=fr"),
        label.replace("-X GET ", ""),
        label.replace("https", "http"),
        f"{label}\n{WEATHER.format('q=bern', '')}",
    ):
        assert judged(weather, weather_test(label), text).value == 1, text
    for place, option in (("q=modesto", "&lang=en"), ("q=langley", "&mode=json"), ("q=porto", "&units=standard")):
        test = weather_test(WEATHER.format(place, option))
        assert judged(weather, test, WEATHER.format(place, "")).value == 1


def test_prose_is_skipped_with_compat() -> None:
    """The released evaluator takes the first curl line out of any text; by default such a text does not execute."""
    with closing(OpenWeather(compat=True)) as weather:
        test = weather.tests[0]
        for kind, spoil in SPOILED.items():
            accepted = kind in ("prose in lines of its own", "code block")
            assert judged(weather, test, spoil(test.labels[0])).value == accepted, kind


def test_a_program_is_judged_by_the_call_of_the_function(weather: OpenWeather) -> None:
    """A program may look up coordinates first; a program without calls, or with the wrong one, fails."""
    test = weather_test(WEATHER.format("q=tampere", ""))
    looked_up = (
        "place = GET_geo_1_0_direct(q='Tampere')[0]\nprint(GET_data_2_5_weather(lat=place['lat'], lon=place['lon']))"
    )
    outcomes = {}
    with Sandbox(weather.protocol(), base_url=weather.url, credentials=weather.credentials, track=False) as sandbox:
        for program in (looked_up, "print(1)", "print(GET_data_2_5_forecast(q='Tampere'))"):
            weather.reset(test)
            sandbox.run(program)
            outcomes[program] = weather.score().failure
    assert list(outcomes.values()) == ["", "non-executable", "wrong API"]
    assert [request.name for request in weather.log] == ["GET /data/2.5/forecast"]


def test_a_seed_is_another_day(weather: OpenWeather) -> None:
    """The weather varies with the seed, and the label's with it; the same seed has the same weather."""
    test = weather.tests[2]
    observed = []
    for seed in (0, 1, 1):
        weather.reset(test, seed)
        observed.append(weather.act(test.labels[0]).observation)
        assert weather.score().value == 1
    assert observed[0] != observed[1] == observed[2]
