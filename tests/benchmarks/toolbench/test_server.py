"""The virtual API server: its cache, its protocol, what answers where nothing is cached, and long replies shortened."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from benchmarks.learning.generation.checks import why_dropped
from benchmarks.toolbench.server.address import APIAddress, read_arguments, read_call
from benchmarks.toolbench.server.cache import ResponseCache
from benchmarks.toolbench.server.catalogue import Catalogue
from benchmarks.toolbench.server.compression import keep_keys, response_schemas, shortened
from benchmarks.toolbench.server.reply_sources import ModelSource, SchemaSource, Upstream
from benchmarks.toolbench.server.virtual_server import VirtualServer
from protocols.errors import ToolError, UsageError
from protocols.quoting import estimate
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

FORECAST = APIAddress("Weather", "sky_watch", "forecast")
REPLY = {"error": "", "response": "{'rain': True}"}
FILE = "Weather/sky_watch_for_Weather/forecast.json"


def names(category: str, tool: str, api: str) -> APIAddress:
    return read_call({"category": category, "tool_name": tool, "api_name": api, "tool_input": ""}).address


def test_names_come_as_published_or_as_shown() -> None:
    """Display names, standard names and both suffixes lead to the same API."""
    assert names("Weather", "sky_watch", "forecast") == FORECAST
    assert names("Weather", "Sky Watch", "Forecast") == FORECAST
    assert names("Weather", "sky_watch_for_Weather", "forecast_for_sky_watch") == FORECAST
    assert names("News, Media", "A", "ID") == APIAddress("News_Media", "a", "is_id")
    assert FORECAST.file == FILE


@pytest.mark.parametrize("category", ["..", "../..", "", "/", ".lock"])
def test_no_name_leads_out_of_the_cache(category: str) -> None:
    """A category becomes a folder, so one that is no name is refused; a slash is a part of no folder."""
    try:
        address = names(category, "a", "b")
    except ToolError as error:
        assert "must be names" in str(error)
    else:
        assert ".." not in address.file.split("/") and not address.file.startswith(("/", "."))


def test_arguments_come_as_text_or_object() -> None:
    """An empty text is no arguments; what is no object is a published error."""
    assert read_arguments("") == read_arguments({}) == read_arguments(None) == {}
    assert read_arguments('{"q": "a\nb"}') == {"q": "a\nb"}
    assert read_arguments("{'q': 1, 'all': True}") == {"q": 1, "all": True}
    for wrong in ("[1]", "q=1", "{'q'", 5):
        with pytest.raises(ToolError, match="Tool input parse error"):
            read_arguments(wrong)
    with pytest.raises(ToolError, match="Tool input parse error"):
        read_arguments("{'q': 1}", compat=True)


def write_cache(root: Path, entries: object) -> Path:
    path = root / FILE
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(entries))
    return path


def test_a_published_cache_is_read(tmp_path: Path) -> None:
    """Keys are texts of Python dicts; equal arguments find them in any order, and as numbers or texts."""
    write_cache(tmp_path, {"{'q': 'x', 'n': 1}": REPLY, "{}": {"error": "", "response": "all"}})
    cache = ResponseCache(tmp_path)

    assert cache.get(FORECAST, {"q": "x", "n": 1}) == REPLY
    assert cache.get(FORECAST, {"n": "1", "q": "x"}) == REPLY
    assert cache.get(FORECAST, {}) == {"error": "", "response": "all"}
    assert cache.get(FORECAST, {"q": "y", "n": 1}) is None
    assert cache.get(APIAddress("Weather", "sky_watch", "alarm"), {}) is None


def test_exact_keys_are_those_of_the_published_server(tmp_path: Path) -> None:
    """Under --compat order and type of the arguments count."""
    write_cache(tmp_path, {"{'q': 'x', 'n': 1}": REPLY})
    cache = ResponseCache(tmp_path, exact=True)

    assert cache.get(FORECAST, {"q": "x", "n": 1}) == REPLY
    assert cache.get(FORECAST, {"n": 1, "q": "x"}) is None
    assert cache.get(FORECAST, {"q": "x", "n": "1"}) is None


def test_what_is_put_is_there_for_the_next_server(tmp_path: Path) -> None:
    """A reply that cannot be made again is on disk at once, others at the latest when the server stops."""
    cache = ResponseCache(tmp_path)
    cache.put(FORECAST, {"q": "real"}, REPLY, remake=False)
    cache.put(FORECAST, {"q": "made"}, REPLY, remake=True)

    assert cache.get(FORECAST, {"q": "made"}) == REPLY
    assert "{'q': 'real'}" in json.loads((tmp_path / FILE).read_text())
    cache.close()
    assert json.loads((tmp_path / FILE).read_text()) == {"{'q': 'real'}": REPLY, "{'q': 'made'}": REPLY}


# The server

RECORDS: list[dict[str, object]] = [
    {
        "category_name": "Weather",
        "tool_name": "Sky Watch",
        "api_name": "Forecast",
        "api_description": "The weather of a city.",
        "required_parameters": [{"name": "city", "type": "STRING", "description": "", "default": "Oslo"}],
        "optional_parameters": [{"name": "days", "type": "NUMBER", "description": "", "default": "3"}],
        "method": "GET",
        "template_response": {"rain": "bool", "city": "str", "days": [{"date": "str", "_list_length": 2}]},
    },
    {
        "category_name": "Weather",
        "tool_name": "Sky Watch",
        "api_name": "Stations",
        "api_description": "All stations.",
        "required_parameters": [],
        "optional_parameters": [
            {"name": "page", "type": "NUMBER", "description": "", "default": ""},
            {"name": "open", "type": "BOOLEAN", "description": "", "default": "1"},
        ],
        "method": "GET",
    },
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A query file, whose api_list documents two APIs."""
    file = tmp_path / "queries.json"
    file.write_text(json.dumps([{"query": "Does it rain in Oslo?", "query_id": 1, "api_list": RECORDS}]))
    return file


@pytest.fixture
def serve(data: Path, tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts servers and gives their base URLs."""
    servers: list[VirtualServer] = []

    def start(source: str | ModelSource = "schema", cache: bool = True, compat: bool = False, record: str = "") -> str:
        catalogue = Catalogue([data])
        server = VirtualServer(
            catalogue,
            ResponseCache(tmp_path / "cache" if cache else None, exact=compat),
            source=SchemaSource(catalogue) if source == "schema" else None if isinstance(source, str) else source,
            upstream=Upstream(record) if record else None,
            compat=compat,
        )
        servers.append(server)
        return server.start()

    yield start
    for server in servers:
        server.stop()


def ask(url: str, api: str = "forecast", tool_input: object = "{}", tool: str = "sky_watch", **fields: object) -> Any:
    """The reply to a call of the published protocol."""
    body = {"category": "Weather", "tool_name": tool, "api_name": api, "tool_input": tool_input}
    response = requests.post(f"{url}/virtual", json={**body, "strip": "", "toolbench_key": "", **fields}, timeout=10)
    assert response.status_code == 200
    return response.json()


def test_a_documented_text_is_taken_for_a_number_and_a_truth_value(serve: Callable[..., str]) -> None:
    """As the published server takes it; an empty text for another number is refused."""
    url = serve()

    assert ask(url, "stations", {"page": ""})["error"] == ""
    assert ask(url, "stations", {"open": "1"})["error"] == ask(url, "stations", {"open": "0"})["error"] == ""
    assert "must be True or False" in ask(url, "stations", {"open": "2"})["error"]
    assert "must be a number" in ask(url, tool_input={"city": "Oslo", "days": ""})["error"]


def test_a_cached_reply_is_found_by_the_published_key(serve: Callable[..., str], tmp_path: Path) -> None:
    """The file and the key are those of the published server; a cached reply carries no mark."""
    write_cache(tmp_path / "cache", {"{'city': 'Oslo', 'days': 1}": REPLY})
    url = serve("none")

    assert ask(url, tool_input='{"city": "Oslo", "days": 1}') == REPLY
    assert ask(url, "forecast_for_sky_watch", {"days": "1", "city": "Oslo"}, "sky_watch_for_Weather") == REPLY
    assert requests.post(f"{url}/rapidapi", json={"category": "Weather"}, timeout=10).status_code == 422


def test_a_miss_without_a_network_is_simulated(serve: Callable[..., str]) -> None:
    """It is never a 500: the simulator answers, marks its reply, and answers the same call alike."""
    url = serve(record="http://127.0.0.1:9")
    reply = ask(url, tool_input={"city": "Oslo"})

    assert (reply["error"], reply["simulated"], "undocumented" in reply) == ("", True, False)
    assert set(reply["response"]) == {"rain", "city", "days"} and len(reply["response"]["days"]) == 2
    assert ask(url, tool_input='{"city": "Oslo"}') == reply
    assert ask(serve(cache=False), tool_input={"city": "Oslo"}) == reply


def test_an_api_without_a_template_is_marked(serve: Callable[..., str]) -> None:
    """Nobody can know what it returns, so the reply says that it is undocumented."""
    reply = ask(serve(), "stations")

    assert (reply["error"], reply["simulated"], reply["undocumented"]) == ("", True, True)


def test_errors_of_a_call_are_replies(serve: Callable[..., str]) -> None:
    """Unknown names name the nearest one; wrong arguments say what is wrong. All have status 200."""
    url = serve()

    assert "the nearest is `forecast`" in ask(url, "forecasts")["error"]
    assert "the nearest is `sky_watch`" in ask(url, tool="sky_wach")["error"]
    assert "not in the category `Sports` but in `Weather`" in ask(url, category="Sports")["error"]
    assert "missing 1 required argument: 'city'" in ask(url)["error"]
    assert ask(url, tool_input="{city")["error"] == "Tool input parse error...\n"
    assert ask(serve("none"), tool_input={"city": "Oslo"})["error"].startswith("No answer error...")


def test_requests_that_are_no_calls_have_another_status(serve: Callable[..., str]) -> None:
    """Missing fields, no JSON, wrong paths and methods are the client's mistakes; --compat wants all six fields."""
    url = serve()
    call = {"category": "Weather", "tool_name": "sky_watch", "api_name": "stations"}

    assert requests.post(f"{url}/virtual", json=call, timeout=10).status_code == 200
    assert requests.post(f"{serve(compat=True)}/virtual", json=call, timeout=10).status_code == 422
    assert requests.post(f"{url}/virtual", data="{", timeout=10).status_code == 422
    assert requests.post(f"{url}/other", json=call, timeout=10).status_code == 404
    assert requests.get(f"{url}/virtual", timeout=10).status_code == 405


def test_replies_of_another_server_are_kept(serve: Callable[..., str], tmp_path: Path) -> None:
    """They are asked for once and are then in the cache; a payload with the number 500 in it is one of them."""
    reply = {"error": "", "response": "{'code': 500, 'parameter': 'not defined', 'status': 404}"}
    with LocalAPI() as real:
        real.answer("POST", "/virtual", reply)
        url = serve("none", record=real.url)
        assert [ask(url, tool_input={"city": "Oslo"}) for _ in range(2)] == [reply, reply]
        assert len(real.requests) == 1
        assert real.requests[0].json()["tool_input"] == {"city": "Oslo"}  # type: ignore[index]

    assert json.loads((tmp_path / "cache" / FILE).read_text()) == {"{'city': 'Oslo'}": reply}


def test_errors_of_another_server_are_not_kept(serve: Callable[..., str], tmp_path: Path) -> None:
    """The simulator answers instead; without one, the error is passed on."""
    with LocalAPI() as real:
        real.answer("POST", "/virtual", {"error": "Unsubscribed error...", "response": ""})
        assert ask(serve(cache=False, record=real.url), tool_input={"city": "Oslo"})["simulated"]
        assert ask(serve("none", record=real.url), tool_input={"city": "Oslo"})["error"] == "Unsubscribed error..."
        real.answer("POST", "/virtual", {"detail": "broken"}, status=500)
        assert ask(serve("none", record=real.url), tool_input={"city": "Oslo"})["error"].startswith("No answer error")

    assert not (tmp_path / "cache" / FILE).exists()


def test_a_model_may_answer(serve: Callable[..., str], tmp_path: Path) -> None:
    """Its answer is parsed and checked, asked for three times at most, marked, and kept."""
    model = ScriptedModel(
        "I cannot", '{"answer": 1}', 'Here: {"error": "", "response": {"rain": true}} Done.', "x", "y", "z"
    )
    url = serve(ModelSource(model))

    expected = {"error": "", "response": {"rain": True}, "simulated": True}
    assert [ask(url, tool_input={"city": "Oslo"}) for _ in range(2)] == [expected, expected]
    assert "The weather of a city." in model.asked[0][0].content
    assert ask(url, tool_input={"city": "Bergen"})["error"] == "Failed to generate fake response"
    assert "{'city': 'Oslo'} -> " in model.asked[-1][0].content
    assert list(json.loads((tmp_path / "cache" / FILE).read_text())) == ["{'city': 'Oslo'}"]


def test_every_call_is_stateless(serve: Callable[..., str], data: Path) -> None:
    """A write changes nothing for a later call."""
    writes = [{**RECORDS[0], "api_name": "Report", "method": "POST"}]
    data.write_text(json.dumps([{"query": "", "query_id": 1, "api_list": [*RECORDS, *writes]}]))
    url = serve(cache=False)
    before = ask(url, tool_input={"city": "Oslo"})

    assert ask(url, "report", {"city": "Oslo"})["error"] == ""
    assert ask(url, tool_input={"city": "Oslo"}) == before


def test_tool_files_of_a_release_are_served(tmp_path: Path) -> None:
    """A folder toolenv/tools/CATEGORY/TOOL.json, whose files are read when they are asked for."""
    api = {"name": "Forecast", "method": "GET", "url": "https://sky.example/f", "required_parameters": []}
    folder = tmp_path / "data" / "toolenv" / "tools" / "Weather"
    folder.mkdir(parents=True)
    (folder / "sky_watch.json").write_text(json.dumps({"tool_name": "Sky Watch", "api_list": [api]}))
    (folder / "broken.json").write_text("{")
    catalogue = Catalogue([tmp_path / "data"])
    with VirtualServer(catalogue, ResponseCache(None), source=SchemaSource(catalogue)) as server:
        url = server.start()
        assert ask(url)["error"] == ""
        assert "no tool `broken`" in ask(url, tool="broken")["error"]

    assert len(catalogue) == 2
    assert "broken.json is passed over" in catalogue.warnings[0]
    with pytest.raises(UsageError, match="neither tool files"):
        Catalogue([tmp_path / "data" / "toolenv" / "tools" / "Weather" / "broken.json"])


def test_the_command_leaves_a_usable_cache(data: Path, tmp_path: Path) -> None:
    """ctrl-C ends the server; what it has answered is in the cache, and the next server finds it."""
    atc = str(Path(sys.executable).with_name("atc"))
    command = [atc, "toolbench", "serve", "--data", str(data), "--cache", str(tmp_path / "c")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        reply = ask(url, tool_input={"city": "Oslo"})
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()

    assert process.returncode == 130
    assert "replies: 1 simulator" in errors
    assert json.loads((tmp_path / "c" / FILE).read_text()) == {"{'city': 'Oslo'}": reply}
    with VirtualServer(None, ResponseCache(tmp_path / "c")) as server:
        assert ask(server.start(), tool_input={"city": "Oslo"}) == reply


LONG_REPLY: dict[str, Any] = {
    "city": "Oslo",
    "hours": [{"at": f"{hour}:00", "icon": "https://x.invalid/i.png"} for hour in range(200)],
}


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (LONG_REPLY, ""),
        ("[{'name': 'Blindern'}]", ""),
        ({"message": "Endpoint '/gone' does not exist"}, "error message"),
        ("<!DOCTYPE html><html>", "HTML"),
        ([], "empty"),
    ],
)
def test_a_reply_without_data_says_why(response: object, reason: str) -> None:
    """Literals of Python count as data, too."""
    assert why_dropped({"error": "", "response": response}) == reason


def test_a_long_reply_is_shortened_and_says_its_length() -> None:
    """Keys of the schema stay; a list that is still too long ends with how many items are left out."""
    schema = {"city": "str", "hours": [{"at": "str"}]}
    kept = shortened(LONG_REPLY, schema)
    cut = shortened(LONG_REPLY, schema, 100)

    assert isinstance(kept, dict)
    assert keep_keys(LONG_REPLY, schema)["hours"][0] == {"at": "0:00"}  # type: ignore[index]
    assert shortened({"city": "Oslo"}, schema) == {"city": "Oslo"}
    assert isinstance(cut, dict)
    assert estimate(json.dumps(cut)) <= 110
    assert str(cut["hours"][-1]).endswith("more items")


def test_a_response_schema_may_be_missing(tmp_path: Path) -> None:
    """Released files are empty, or list nothing."""
    (tmp_path / "empty.json").write_text("", "utf-8")
    (tmp_path / "one.json").write_text('{"api_list": [{"name": "A", "schema": {"id": "str"}}, {"name": "B"}]}', "utf-8")

    assert response_schemas(tmp_path / "empty.json") == response_schemas(tmp_path / "none.json") == {}
    assert response_schemas(tmp_path / "one.json") == {"a": {"id": "str"}}
