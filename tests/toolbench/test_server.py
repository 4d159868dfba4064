"""The virtual API server: its cache, its protocol, and what answers where nothing is cached."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.toolbench.server.address import APIAddress, read_arguments, read_call
from benchmarks.toolbench.server.cache import ResponseCache
from protocols.errors import ToolError

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


def test_a_broken_file_is_named_and_left_alone(tmp_path: Path) -> None:
    """Nobody's data is replaced because it could not be read."""
    path = write_cache(tmp_path, {})
    path.write_text('{"{}": {"error": "", "resp')
    cache = ResponseCache(tmp_path)

    assert cache.get(FORECAST, {}) is None
    cache.put(FORECAST, {}, REPLY, remake=False)
    cache.close()
    assert path.read_text() == '{"{}": {"error": "", "resp'
    assert [FILE in warning and "left alone" in warning for warning in cache.warnings] == [True]


def test_a_change_by_another_server_is_seen(tmp_path: Path) -> None:
    """A file is read again when it has changed."""
    cache = ResponseCache(tmp_path)
    assert cache.get(FORECAST, {}) is None
    second = ResponseCache(tmp_path)
    second.put(FORECAST, {}, REPLY, remake=False)

    assert cache.get(FORECAST, {}) == REPLY
    (tmp_path / FILE).unlink()
    assert cache.get(FORECAST, {}) is None


WRITER = """
import sys
from pathlib import Path
from benchmarks.toolbench.server.address import APIAddress
from benchmarks.toolbench.server.cache import ResponseCache
cache = ResponseCache(Path(sys.argv[1]))
for number in range(150):
    reply = {"error": "", "response": number}
    cache.put(APIAddress("Weather", "sky_watch", "forecast"), {sys.argv[2]: number}, reply, remake=number % 2 == 0)
cache.close()
"""


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    """Two servers that add to the same file at the same time keep each other's entries."""
    processes = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name]) for name in ("a", "b")]
    assert [process.wait(60) for process in processes] == [0, 0]

    entries = json.loads((tmp_path / FILE).read_text())
    assert {f"{{'{name}': {number}}}" for name in ("a", "b") for number in range(150)} == entries.keys()
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [".lock", "forecast.json"]
