"""`atc toolbench serve --record` in front of a server of the published protocol: what is kept, and when it pauses."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from benchmarks.toolbench.server.address import APIAddress
from benchmarks.toolbench.server.cache import ResponseCache
from benchmarks.toolbench.server.catalogue import Catalogue
from benchmarks.toolbench.server.reply_sources import SchemaSource, Upstream
from benchmarks.toolbench.server.virtual_server import VirtualServer
from tests.local_api import LocalAPI

API = {"category_name": "Sea", "tool_name": "Tides", "api_description": "", "method": "GET", "optional_parameters": []}
PORT = [{"name": "port", "type": "STRING", "description": "", "default": "ESB"}]
RECORDS = [
    {**API, "api_name": "High Water", "required_parameters": PORT, "template_response": {"at": "str"}},
    {**API, "api_name": "Depth", "required_parameters": PORT, "template_response": {"metres": "float"}},
]
RIGHT = {"error": "", "response": "noon"}
ADDRESS = APIAddress("Sea", "tides", "depth")


@pytest.fixture
def real() -> Iterator[LocalAPI]:
    with LocalAPI() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def recording(folder: Path, url: str) -> VirtualServer:
    """A server that records another one, and simulates where that has no reply."""
    queries = folder.parent / "queries.json"
    queries.write_text(json.dumps([{"query": "q", "query_id": 1, "api_list": RECORDS}]))
    catalogue = Catalogue([queries])
    return VirtualServer(catalogue, ResponseCache(folder), source=SchemaSource(catalogue), upstream=Upstream(url))


def ask(url: str, api: str, port: str) -> Any:
    """The reply to a call."""
    call = {"category": "Sea", "tool_name": "tides", "api_name": api, "tool_input": {"port": port}}
    return requests.post(f"{url}/virtual", json=call, timeout=10).json()


def cached_files(folder: Path) -> list[Path]:
    """The files of the cache."""
    return sorted(folder.rglob("*.json"))


def test_errors_of_an_api_pause_nothing_and_nothing_simulated_is_kept(real: LocalAPI, folder: Path) -> None:
    """After three replies of status 500 the server is asked on; its reply to another call is the recorded one."""
    with recording(folder, real.url) as server:
        url = server.start()
        real.answer("POST", "/virtual", {"detail": "broken"}, status=500)
        broken = [ask(url, "depth", port) for port in ("ESB", "RAV", "TYB")]
        real.answer("POST", "/virtual", RIGHT)
        right = ask(url, "high_water", "ESB")
        again = ask(url, "depth", "ESB")

    assert [reply["simulated"] for reply in broken] == [True] * 3
    assert (right, again) == (RIGHT, RIGHT)
    assert {text for file in cached_files(folder) for text in json.loads(file.read_text())} == {"{'port': 'ESB'}"}
    assert len(real.requests) == 5


def test_a_server_that_is_away_leaves_no_inventions(folder: Path) -> None:
    """The connection fails; after three times the text says for how long it is not asked."""
    with recording(folder, "http://127.0.0.1:9") as server:
        url = server.start()
        replies = [ask(url, "depth", port) for port in ("ESB", "RAV", "TYB", "ESB")]

    assert all(reply["simulated"] for reply in replies)
    assert cached_files(folder) == []
    assert "no reply from http://127.0.0.1:9/virtual 3 times in a row; it is not asked for 30 s" in server.warnings[-1]


def test_a_cache_file_that_is_half_written_is_left_alone(real: LocalAPI, folder: Path) -> None:
    """It is named, the call is answered by the recorded server, and the file is not written over."""
    ResponseCache(folder).put(ADDRESS, {"port": "ESB"}, RIGHT, remake=False)
    [file] = cached_files(folder)
    half = file.read_text()[:-9]
    file.write_text(half)
    real.answer("POST", "/virtual", {"error": "", "response": "deep"})

    with recording(folder, real.url) as server:
        reply = ask(server.start(), "depth", "ESB")
    cache = ResponseCache(folder)
    unread = cache.get(ADDRESS, {"port": "ESB"})

    assert (reply["response"], file.read_text(), unread) == ("deep", half, None)
    assert f"{file} is left alone, and not used" in cache.warnings[0]


def _fill(folder: str, first: int) -> None:
    cache = ResponseCache(Path(folder))
    for number in range(first, first + 40):
        cache.put(ADDRESS, {"port": str(number)}, {**RIGHT, "response": number}, remake=False)


def test_two_writers_of_one_cache_lose_nothing(folder: Path) -> None:
    """Two processes add replies to one file at the same time; all of them are in it."""
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_fill, args=(str(folder), first)) for first in (0, 1000)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)

    [file] = cached_files(folder)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert len(json.loads(file.read_text())) == 80
