"""Open Weather and the Cat API: curl lines are read, no mutant of a label succeeds, and each failure has its class."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import pytest
import requests

from benchmarks.manipulation.cat.cat_api import CatAPI
from benchmarks.manipulation.curl import CurlError, curl_line, parse_curl
from benchmarks.manipulation.environment import ManipulationTest
from benchmarks.manipulation.http_environment import HTTPEnvironment
from benchmarks.manipulation.weather.open_weather import OpenWeather
from sandbox import Sandbox
from tests.benchmarks.manipulation.suite_tasks import SPOILED, judged

URL = "https://api.example.org/v1/lists?name=a+b&limit=3"


def test_a_line_is_a_request() -> None:
    """Method, address, query, headers and body come from the line; names of headers are in lower case."""
    request = parse_curl(f"""curl -X POST '{URL}' -H 'X-Api-Key: k1' --data '{{"a": 1}}'""")

    assert (request.method, request.origin, request.path) == ("POST", "https://api.example.org", "/v1/lists")
    assert request.query == (("name", "a b"), ("limit", "3"))
    assert request.headers == {"x-api-key": "k1"}
    assert request.body == '{"a": 1}'


def test_the_method_follows_from_the_body() -> None:
    """Without a method it is GET, and POST with a body, as curl does."""
    assert parse_curl(f"curl '{URL}'").method == "GET"
    assert parse_curl(f"curl '{URL}' -d 'a=1'").method == "POST"


@pytest.mark.parametrize(
    "line",
    [
        f"""curl -X POST '{URL}' --header 'X-Api-Key: k1' --data-raw '{{"a": 1}}'""",
        f"""curl -sS -XPOST --location --url '{URL}' -H'X-Api-Key: k1' -d'{{"a": 1}}'""".replace("-sS", "-s -S"),
        f"""curl --silent --request POST -H 'X-Api-Key: k1' --data-binary '{{"a": 1}}' '{URL}'""",
    ],
)
def test_options_have_several_names(line: str) -> None:
    """A value may stand in the same word; what is only for the screen has no effect."""
    assert parse_curl(line) == parse_curl(f"""curl -X POST '{URL}' -H 'X-Api-Key: k1' -d '{{"a": 1}}'""")


def test_data_may_be_put_into_the_address() -> None:
    """As `-G` does."""
    assert parse_curl("curl -G https://a.org/x -d 'a=1' --data 'b=c d'").query == (("a", "1"), ("b", "c d"))
    assert parse_curl("curl -G https://a.org/x -d 'a=1'").method == "GET"


@pytest.mark.parametrize(
    "line",
    [
        f"curl '{URL}'; ls",
        f"curl '{URL}' | sh",
        f"curl '{URL}' > file",
        f"curl {URL}",
        f"curl -K file '{URL}'",
        f"curl -o out '{URL}'",
        f"curl -X GET '{URL}' This asks for it.",
        f"curl '{URL}' '{URL}'",
        f"curl -X '{URL}'",
        f"curl -X FETCH '{URL}'",
        "curl -X GET 'https://api.example.org/v1/lists?name=a b'",
        "curl -X GET 'file:///etc/passwd'",
        "curl -X GET 'https://[broken'",
        f"curl -X GET '{URL}",
        "curl -X GET",
        f"curly '{URL}'",
        "curl -d",
    ],
)
def test_anything_else_is_refused(line: str) -> None:
    """A shell's characters, options that the suite has no use for, and what is no address."""
    with pytest.raises(CurlError):
        parse_curl(line)


def test_the_first_line_counts() -> None:
    """Of several calls it is the first; with prose beside it the text is refused, or the prose is skipped."""
    assert curl_line("\ncurl 'a'\ncurl 'b'\n") == "curl 'a'"
    assert curl_line("Sure:\n```\ncurl 'a'\n```", anywhere=True) == "curl 'a'"
    for text in ("Sure:\ncurl 'a'", "curl 'a'\nThis asks for it.", "```\ncurl 'a'\n```"):
        with pytest.raises(CurlError, match="more than calls"):
            curl_line(text)
    for text in ("", "Sure: curl 'a'"):
        with pytest.raises(CurlError, match="no line begins with curl"):
            curl_line(text, anywhere=True)


WEATHER = "curl -X GET 'https://api.openweathermap.org/data/2.5/weather?{}&appid={{API_KEY}}{}'"
_REMOVAL = "DELETE /v1/favourites/{favourite_id}"


@pytest.fixture(scope="module")
def weather() -> Iterator[OpenWeather]:
    with closing(OpenWeather()) as environment:
        yield environment


@pytest.fixture(scope="module")
def cat() -> Iterator[CatAPI]:
    with closing(CatAPI()) as environment:
        yield environment


def weather_test(label: str) -> ManipulationTest:
    """A test with one label."""
    return ManipulationTest("own", "", (label,), (("GET /data/2.5/weather",),))


def of_kind(environment: CatAPI, call: str, part: str = "") -> ManipulationTest:
    """The first test of a function."""
    return next(test for test in environment.tests if test.names[0] == (call,) and part in test.labels[0])


def replaced(pattern: str, text: str, count: int = 0) -> Callable[[str], str]:
    """Changes a label by a regular expression."""
    return lambda label: re.sub(pattern, text, label, count=count)


SPOILS = list(SPOILED.values())
MUTANTS: dict[tuple[str, str], Sequence[Callable[[str], str]]] = {
    ("weather", "non-executable"): [replaced(r"api\.openweathermap\.org", "api.weather.example"), *SPOILS],
    ("weather", "wrong API"): [replaced(r"\?", "/daily?", 1), replaced("-X GET", "-X POST")],
    ("weather", "wrong arguments"): [
        replaced("{API_KEY}", "YOUR_KEY"),
        replaced("appid={API_KEY}", "key={API_KEY}"),
        replaced(r"(q|zip|lat)=[^&']*&", ""),
        replaced(r"(q|zip|lat)=([^&']*)", r"\1=89\2"),
        replaced(r"(q|zip|lon)=([^&']*)", r"place=\2"),
    ],
    ("cat", "non-executable"): [replaced(r"api\.thecatapi\.com", "api.cats.example"), *SPOILS],
    ("cat", "wrong API"): [
        replaced("/v1/", "/v2/"),
        replaced("-X [A-Z]+", "-X PUT"),
        replaced("com/v1/[a-z/]+", "com/v1/breeds/"),
    ],
    ("cat", "wrong arguments"): [
        lambda label: f"{label} -H 'x-api-key: YOUR_KEY'",
        replaced(r"(favourites/\d+)'", r"\g<1>1'"),
        replaced('"image_id": "', '"image_id": "x'),
        replaced(" -d.*", ""),
        lambda label: re.sub(r'"value": (\d)', lambda match: f'"value": {1 - int(match[1])}', label),
        replaced(r"(GET [^?]*?)'$", r"\1?page=99'"),
        replaced(r"(breed_ids|category_ids)=", r"the_\1="),
    ],
}
"""What is done to a label, by tool and class of the failure; a change that a label does not have leaves it as it is."""


@pytest.mark.parametrize(("tool", "failure"), MUTANTS)
def test_no_mutant_succeeds(tool: str, failure: str, request: pytest.FixtureRequest) -> None:
    """Wrong calls fail in the class that says what is wrong, and so does all that does not execute."""
    environment: HTTPEnvironment = request.getfixturevalue(tool)
    for test in environment.tests[::5]:
        label = test.labels[0]
        for mutant in {mutate(label) for mutate in MUTANTS[tool, failure]} - {label}:
            score = judged(environment, test, mutant)
            assert (score.value, score.failure) == (0, failure), mutant


def test_calls_that_are_answered_alike_are_equal(weather: OpenWeather, cat: CatAPI) -> None:
    """Order of parameters, defaults written out, other ways to write the line or to name a place: all succeed."""
    metric = weather_test(WEATHER.format("q=salt+lake+city", "&units=metric&lang=fr"))
    for place, options in (
        ("q=salt+lake+city", "&lang=fr&units=metric"),
        ("q=Salt%20Lake%20City", "&units=metric&lang=fr&mode=json"),
        ("q=salt+lake+city,us", "&units=metric&lang=fr"),
        ("zip=84101,us", "&units=metric&lang=fr"),
        ("lat=40.7608&lon=-111.891", "&units=metric&lang=fr"),
    ):
        assert judged(weather, metric, WEATHER.format(place, options)).value == 1, place
    label = metric.labels[0]
    for text in (label.replace("-X GET ", ""), label.replace("https", "http"), f"{label}\n{WEATHER.format('q=a', '')}"):
        assert judged(weather, metric, text).value == 1, text
    for place, option in (("q=modesto", "&lang=en"), ("q=langley", "&mode=json"), ("q=porto", "&units=standard")):
        test = weather_test(WEATHER.format(place, option))
        assert judged(weather, test, WEATHER.format(place, "")).value == 1

    vote = of_kind(cat, "POST /v1/votes")
    search = of_kind(cat, "GET /v1/images/search", "&breed_ids")
    listing = of_kind(cat, "GET /v1/favourites", "favourites'")
    address, _, query = search.labels[0][:-1].partition("?")
    pairs = [
        (vote, vote.labels[0].replace(": ", ":").replace("-d", "--data")),
        (vote, vote.labels[0].replace("-X", "-H 'Content-Type: application/json' --request")),
        (vote, vote.labels[0] + " -H 'x-api-key: {API_KEY}'"),
        (search, f"{address}?{'&'.join(reversed(query.split('&')))}'"),
        (search, search.labels[0][:-1] + "&order=RANDOM&size=med&page=0'"),
        (search, search.labels[0].replace("'", '"')),
        (listing, listing.labels[0][:-1] + "?order=asc&limit=100'"),
        # A length that is wrong would let the service wait for the rest of a body.
        *((listing, f"{listing.labels[0]} -H '{header}'") for header in ("Content-Length: 5", "Connection: close")),
        (listing, f"{listing.labels[0]} -H 'Transfer-Encoding: chunked'"),
    ]
    for test, text in pairs:
        assert judged(cat, test, text).value == 1, text


def test_removals_are_executed(cat: CatAPI) -> None:
    """A removal changes the account, which starts anew with each test; what else changes it makes the test fail."""
    test = of_kind(cat, _REMOVAL)
    favourites = set(test.state["favourites"])
    for _ in range(2):
        cat.reset(test)
        cat.act(test.labels[0])
        listed = requests.get(f"{cat.url}/v1/favourites", headers={"x-api-key": cat.secret}, timeout=5).json()
        assert favourites - {entry["id"] for entry in listed} == {int(test.labels[0][:-1].rpartition("/")[2])}
    assert cat.score().value == 1
    cat.reset(test)
    cat.act(test.labels[0].rpartition("/")[0] + f"/{min(favourites)}'")
    cat.act(test.labels[0])
    assert cat.score().value == 0


def test_holes_of_the_released_evaluators(cat: CatAPI) -> None:
    """Prose is skipped, a removal is compared as text but for blanks, and nobody looks at the account."""
    with closing(OpenWeather(compat=True)) as weather:
        test = weather.tests[0]
        for kind, spoil in SPOILED.items():
            accepted = kind in ("prose in lines of its own", "code block")
            assert judged(weather, test, spoil(test.labels[0])).value == accepted, kind
    with closing(CatAPI(compat=True)) as released:
        test = of_kind(released, _REMOVAL)
        label = test.labels[0]
        assert judged(released, test, f"Of course:\n{label.replace(' ', '   ')}").value == 1
        for text in (label.replace("'", '"'), label.replace("-X", "--request"), "no call"):
            assert judged(released, test, text).failure == "non-executable"
        assert judged(released, test, label).details == {"f1": 1.0, "precision": 1.0, "recall": 1.0}
        added = of_kind(cat, "POST /v1/favourites")
        wrong = added.labels[0].replace('"image_id": "', '"image_id": "x')
        assert [judged(tool, added, wrong).value for tool in (cat, released)] == [0, 1]


def test_a_program_is_judged_by_the_call_of_the_function(weather: OpenWeather) -> None:
    """A program may look up coordinates first; a program without calls, or with the wrong one, fails."""
    test = weather_test(WEATHER.format("q=tampere", ""))
    looked_up = (
        "place = GET_geo_1_0_direct(q='Tampere')[0]\nprint(GET_data_2_5_weather(lat=place['lat'], lon=place['lon']))"
    )
    outcomes = []
    with Sandbox(weather.protocol(), base_url=weather.url, credentials=weather.credentials, track=False) as sandbox:
        for program in (looked_up, "print(1)", "print(GET_data_2_5_forecast(q='Tampere'))"):
            weather.reset(test)
            sandbox.run(program)
            outcomes.append(weather.score().failure)
    assert outcomes == ["", "non-executable", "wrong API"]
    assert [entry.name for entry in weather.log] == ["GET /data/2.5/forecast"]


def test_a_seed_is_another_day(weather: OpenWeather) -> None:
    """The weather varies with the seed, and the label's with it; the same seed has the same weather."""
    test = weather.tests[2]
    observed = []
    for seed in (0, 1, 1):
        weather.reset(test, seed)
        observed.append(weather.act(test.labels[0]).observation)
        assert weather.score().value == 1
    assert observed[0] != observed[1] == observed[2]
