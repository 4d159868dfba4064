"""Open Weather: all labels succeed, no mutant does, and each failure has its class."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

import pytest
import requests

from benchmarks.manipulation.environment import ManipulationTest
from benchmarks.manipulation.weather.open_weather import OpenWeather
from sandbox import Sandbox
from tests.benchmarks.manipulation.http_mutants import spoiled
from tests.benchmarks.manipulation.suite_tasks import judged

WEATHER = "curl -X GET 'https://api.openweathermap.org/data/2.5/weather?{}&appid={{API_KEY}}{}'"
FIRST = {"units": "standard", "mode": "json", "lang": "en", "limit": "1"}
"""What the service takes where a parameter is left out."""


@pytest.fixture(scope="module")
def weather() -> Iterator[OpenWeather]:
    with closing(OpenWeather()) as environment:
        yield environment


def weather_test(label: str) -> ManipulationTest:
    """A test with one label."""
    return ManipulationTest("own", "", (label,), (("GET /data/2.5/weather",),))


def mutants(label: str) -> Iterator[tuple[str, str]]:
    """Kinds of wrong calls; those that the service answers alike are left out."""
    path = re.search(r"org(/[^?]*)", label)[1]  # type: ignore[index]
    twins = {
        "/data/2.5/weather": "/data/2.5/forecast",
        "/data/2.5/forecast": "/data/2.5/weather",
        "/data/2.5/air_pollution": "/data/2.5/air_pollution/forecast",
        "/data/2.5/air_pollution/forecast": "/data/2.5/air_pollution",
        "/geo/1.0/direct": "/data/2.5/weather",
    }
    yield "wrong API", label.replace(f"{path}?", f"{twins[path]}?")
    yield "wrong API", label.replace(f"{path}?", f"{path}/daily?")
    yield "non-executable", label.replace("api.openweathermap.org", "api.weather.example")
    yield "wrong API", label.replace("-X GET", "-X POST")
    yield "wrong arguments", label.replace("{API_KEY}", "YOUR_KEY")
    yield "wrong arguments", label.replace("appid={API_KEY}", "key={API_KEY}")
    yield "wrong arguments", re.sub(r"(q|zip|lat)=[^&']*&", "", label)
    yield "wrong arguments", re.sub(r"(q|zip|lat)=([^&']*)", r"\1=89\2", label)
    yield "wrong arguments", re.sub(r"(q|zip|lon)=([^&']*)", r"place=\2", label)
    if "lat=" in label:
        yield "wrong arguments", label.replace("lat=", "x=").replace("lon=", "lat=").replace("x=", "lon=")
    for name, value in re.findall(r"&(units|mode|lang|limit)=([^&']*)", label):
        if value != FIRST[name]:
            yield "wrong arguments", label.replace(f"&{name}={value}", "")
            yield "wrong arguments", label.replace(f"&{name}={value}", f"&the_{name}={value}")
        choices = {
            "units": ("metric", "imperial"),
            "mode": ("xml", "json"),
            "lang": ("zh_cn", "ja"),
            "limit": ("1", "5"),
        }
        for choice in choices[name]:
            if choice != value:
                yield "wrong arguments", label.replace(f"&{name}={value}", f"&{name}={choice}")
    if "direct" not in label and "pollution" not in label and "units" not in label:
        yield "wrong arguments", f"{label[:-1]}&units=metric'"


def test_no_mutant_succeeds(weather: OpenWeather) -> None:
    """Wrong calls fail on all tests, in the class that says what is wrong, and so does all that does not execute."""
    for test in weather.tests:
        label = test.labels[0]
        for failure, mutant in [*mutants(label), *(("non-executable", text) for _, text in spoiled(label))]:
            assert mutant != label
            score = judged(weather, test, mutant)
            assert (score.value, score.failure) == (0, failure), (label, mutant)


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
        for kind, text in spoiled(test.labels[0]):
            accepted = kind in ("prose in lines of its own", "code block")
            assert judged(weather, test, text).value == accepted, kind


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
    assert [request.name for request in weather.served.log] == ["GET /data/2.5/forecast"]


@pytest.mark.parametrize(
    ("path", "query", "status", "message"),
    [
        ("/data/2.5/weather", {"q": "Porto"}, 401, "Invalid API key"),
        ("/data/2.5/weather", {"appid": "KEY"}, 400, "Nothing to geocode"),
        ("/data/2.5/air_pollution", {"appid": "KEY", "lat": "3"}, 400, "lon is missing"),
        ("/data/2.5/air_pollution", {"appid": "KEY", "lat": "93", "lon": "0"}, 400, "wrong latitude"),
        ("/data/3.0/onecall", {"appid": "KEY"}, 404, "nothing at this path"),
        ("/geo/1.0/direct", {"appid": "KEY", "q": "Porto", "limit": "9"}, 400, "limit"),
    ],
)
def test_the_service_refuses(weather: OpenWeather, path: str, query: dict[str, str], status: int, message: str) -> None:
    """Over HTTP, as the public service does: with the status in `cod`, too, and a message."""
    signed = {name: weather.secret if value == "KEY" else value for name, value in query.items()}
    reply = requests.get(weather.url + path, params=signed, timeout=5)

    assert reply.status_code == status == int(reply.json()["cod"])
    assert message in reply.json()["message"]


def test_a_seed_is_another_day(weather: OpenWeather) -> None:
    """The weather varies with the seed, and the label's with it; the same seed has the same weather."""
    test = weather.tests[2]
    observed = []
    for seed in (0, 1, 1):
        weather.reset(test, seed)
        observed.append(weather.act(test.labels[0]).observation)
        assert weather.score().value == 1
    assert observed[0] != observed[1] == observed[2]
