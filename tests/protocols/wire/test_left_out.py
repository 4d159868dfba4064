"""Operations of a document that are no tools: each command says how many, and who calls one is told the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from protocols import load
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Service

OK = {"200": {"description": "Good.", "content": {"application/json": {"schema": {"type": "object"}}}}}
GET = {"responses": OK}


def write(files: dict[str, object]) -> None:
    """Files of a document, in the working folder."""
    for name, content in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(json.dumps(content), encoding="utf-8")


def test_paths_and_methods_in_other_spellings_are_called(run: Run, service: Service) -> None:
    """A path without its slash, a method in capitals: both are tools, and the document's defects are counted."""
    paths = {
        "boats": {"GET": GET, "parameters": []},
        "boats/{boat_id}": {"Get": GET},
        "/boats": {"post": GET},
        "x-note": {"get": GET},
    }
    result = run(paths, 'GET_boats()\nGET_boats_boat_id(boat_id="7")\nPOST_boats()', "-v")

    assert result.exit_code == 0, result.stderr
    assert service.lines == ["GET /boats", "GET /boats/7", "POST /boats"]
    assert "repaired a path without a slash at its beginning (2 times)" in result.stderr
    assert "repaired a method that is not in lower case (2 times)" in result.stderr
    assert "left out" not in result.stderr


def test_what_is_no_method_is_told(run: Run) -> None:
    """One line with the count and the reasons; nothing else of a document may vanish."""
    paths = {
        "/boats": {"get": GET, "query": GET, "gett": GET, "summary": "Boats.", "x-get": GET},
        "boats": {"get": GET},
        "https://boats.example/docks": {"get": GET},
    }
    result = run(paths, "print(QUERY_boats())")

    (line,) = [text for text in result.stderr.splitlines() if "left out:" in text and text.startswith("atc: 4")]
    assert line.startswith("atc: 4 of 5 operations are left out: ")
    assert "calls with the method QUERY are not supported (1)" in line
    assert result.exit_code == 1
    assert "QUERY_boats() can't be called: it was left out of the document: calls with" in result.stderr


def test_who_calls_a_broken_operation_is_told_why(run: Run, service: Service) -> None:
    """By its name, by its operation id and by its URL: the reason, and nothing is sent."""
    broken = {"operationId": "addBoat", "parameters": [{"name": "x", "in": "nowhere"}], "responses": OK}
    paths = {"/boats": {"get": GET, "post": broken}}
    reason = "it was left out of the document: parameter 'x': `in` must be"

    assert f"POST_boats() can't be called: {reason}" in run(paths, "POST_boats(x=1)").stderr
    assert f"addBoat() can't be called: {reason}" in run(paths, "addBoat(x=1)").stderr
    program = f'import requests\nrequests.post("{service.url}/boats")'
    assert f"POST /boats can't be called: {reason}" in run(paths, program).stderr
    assert service.lines == []


def test_the_check_lists_them_and_names_the_reason(run: Run) -> None:
    """`atc check` has a line for each on stderr, and its diagnostic says why there is no such function."""
    paths = {"/boats": {"get": GET, "post": {"parameters": [{"in": "query"}], "responses": OK}}}
    run(paths, "print(POST_boats())")
    result = CliRunner().invoke(main, ["check", "program.py", "--api", "spec.json"])

    assert "left out spec.json#/paths/~1boats/post: a parameter has no name" in result.stderr
    assert result.stdout.startswith("program.py:1:7: unknown-tool: ")
    assert '"POST_boats" is not defined: it was left out of the document: a parameter has no name' in result.stdout


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"post": {"responses": {"501": {"description": "No."}}}}, "501 (not implemented) is the only"),
        ({"$ref": "docks.json"}, "docks.json points to nothing"),
    ],
)
def test_an_operation_that_cannot_be_had_costs_no_other(run: Run, item: object, reason: str) -> None:
    """The document says so by its replies; or a path lies in a file that is missing."""
    result = run({"/boats": {"get": GET}, "/docks": item}, "GET_boats()")

    assert result.exit_code == 0
    assert f"1 of 2 operations is left out: {reason}" in result.stderr


def test_a_document_in_several_files(run: Run, service: Service) -> None:
    """Whole sections, path items and operations lie in other files, whose references start there."""
    boat = {"type": "object", "properties": {"name": {"type": "string"}, "dock": {"$ref": "dock.json"}}}
    answer = {"200": {"description": "", "content": {"application/json": {"schema": {"$ref": "../schemas/boat.json"}}}}}
    write(
        {
            "paths/index.json": {"/boats": {"$ref": "boats.json#/all"}, "/boats/{id}": {"$ref": "boats.json#/single"}},
            "paths/boats.json": {
                "all": {"GET": {"$ref": "../operations/list.json"}},
                "single": {
                    "get": {"$ref": "../operations/deep/get.json"},
                    "parameters": [{"$ref": "../shared.json#/id"}],
                },
            },
            "operations/list.json": {"operationId": "listBoats", "parameters": [{"$ref": "#/own"}], "responses": answer}
            | {"own": {"name": "dock", "in": "query", "schema": {"type": "string"}}},
            "operations/deep/get.json": {"responses": {"200": {"$ref": "../answer.json"}}},
            "operations/answer.json": answer["200"],
            "schemas/boat.json": boat,
            "schemas/dock.json": {"type": "string"},
            "shared.json": {"id": {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}},
        }
    )
    result = run({"openapi": "3.1.0", "paths": {"$ref": "paths/index.json"}}, 'listBoats(dock="A")\nGET_boats_id(id=3)')

    assert (result.exit_code, result.stderr) == (0, "")
    assert service.lines == ["GET /boats?dock=A", "GET /boats/3"]
    tool = load("spec.json").tool("GET_boats_id")
    assert tool.response_schema is not None
    assert tool.response_schema["properties"]["dock"]["type"] == "string"  # type: ignore[index]
    assert tool.arguments[0].schema["type"] == "integer"


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "program.py", "--api", "spec.json", "--simulate"),
        ("check", "program.py", "--api", "spec.json"),
        ("solve", "Which boats are there?", "--api", "spec.json", "--simulate", "--mode", "plan"),
        ("probe", "spec.json", "-o", "out.yaml", "--simulate", "--model", "none"),
        ("serve", "--api", "spec.json", "--base-url", "http://127.0.0.1:1"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_command_tells_it_once(run: Run, arguments: tuple[str, ...]) -> None:
    """One line on stderr, whatever the command does with the document."""
    paths = {"/boats": {"get": GET, "post": {"parameters": [{"in": "query"}], "responses": OK}}}
    run(paths, "print(1)")
    result = CliRunner().invoke(main, arguments)

    assert result.stderr.count("1 of 2 operations is left out: a parameter has no name") == 1
    assert "1 of 2" not in result.stdout


@pytest.mark.parametrize("name", ["spec.json", "spec.yaml"])
def test_a_path_that_stands_twice_is_told(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON and YAML readers take the last one; that the first is gone is no secret."""
    monkeypatch.chdir(tmp_path)
    item = '{"get": {"responses": {"200": {"description": "ok"}}}}'
    head = '"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "servers": [{"url": "http://127.0.0.1:9"}]'
    Path(name).write_text(f'{{{head}, "paths": {{"/a": {item}, "/a": {item.replace("get", "put")}}}}}')
    Path("program.py").write_text("print(1)")

    result = CliRunner().invoke(main, ["run", "program.py", "--api", name])

    assert result.stdout == "1\n"
    assert (
        "1 of 2 operations is left out: its key stands twice in the document, and the last one counts" in result.stderr
    )


def test_a_document_that_says_two_things_is_told(run: Run, service: Service) -> None:
    """A parameter that is described twice, a style that nobody knows: the reading that counts is a warning."""
    twice = [{"name": "q", "in": "query", "schema": {"type": kind}} for kind in ("integer", "string")]
    odd = {"name": "z", "in": "query", "style": "fancy", "schema": {"type": "string"}}

    result = run({"/a": {"get": {"parameters": [*twice, odd], "responses": OK}}}, "GET_a(q='x', z='y')", "-v")

    assert result.exit_code == 0, result.output
    assert service.lines == ["GET /a?q=x&z=y"]
    assert "a parameter is described twice (query q), and the last one counts" in result.stderr
    assert "the style 'fancy' is unknown, and was read as form" in result.stderr
