"""Operations that change nothing although their method may: declared by the user, or told by their structure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from protocols import load
from protocols.choice import choose
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Arrived, Service

LIST = {"type": "object", "properties": {"hits": {"type": "array", "items": {"type": "object"}}}}


def operation(schema: object = LIST, status: str = "200", **parts: Any) -> dict[str, Any]:
    """A POST with a search text in its body, which states that it changes nothing."""
    body = {"type": "object", "properties": {"text": {"type": "string"}, "limit": {"type": "integer"}}}
    return {
        "description": "Finds what fits. Changes nothing.",
        "requestBody": {"content": {"application/json": {"schema": body}}},
        "responses": {status: {"description": "", "content": {"application/json": {"schema": schema}}}},
        **parts,
    }


def body(**properties: object) -> dict[str, Any]:
    """The request body of an operation."""
    return {"requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": properties}}}}}


def reads(path: str, **parts: Any) -> bool:
    """Whether a POST is taken to read, by the document alone."""
    paths = {path: {"post": operation(**parts)}}
    return load({"openapi": "3.0.3", "info": {}, "paths": paths}).tools[0].reads


def search(request: Arrived) -> tuple[int, dict[str, str], object]:
    """Answers with a hit."""
    return 200, {}, {"hits": [{"id": 1}]}


def test_a_search_is_sent_where_writes_are_denied(run: Run, service: Service) -> None:
    """A sentence states it, path, id and reply agree; that is told, and can be taken back."""
    paths = {"/boats/search": {"post": operation(operationId="searchBoats")}}
    program = 'print(len(POST_boats_search(text="x")["hits"]))'

    result = run(paths, program, "--writes", "deny", handle=search)
    assert (result.exit_code, result.stdout) == (0, "1\n"), result.stderr
    assert "taken to change nothing, by what the document says: POST_boats_search; --read none" in result.stderr
    result = run(paths, program, "--writes", "deny", "--read", "none")
    assert result.exit_code == 3
    assert "which --writes deny refuses" in result.stderr
    assert service.lines == ["POST /boats/search"]


def test_a_declared_read_is_sent(run: Run, service: Service) -> None:
    """`--read` names it, as --only does; a function and a URL alike. It says nothing of other writes."""
    paths = {"/report": {"post": operation()}, "/boats": {"post": operation()}}
    program = f'import requests\nPOST_report(text="x")\nrequests.post("{service.url}/report", json={{"text": "y"}})'

    assert run(paths, program, "--writes", "deny").exit_code == 3
    result = run(paths, program, "--writes", "deny", "--read", "POST /report", "--json", handle=search)
    assert result.exit_code == 0, result.stderr
    assert service.lines == ["POST /report"] * 2
    assert [call["reads"] for call in json.loads(result.stdout)["calls"]] == [True, True]
    assert run(paths, "POST_boats(text='x')", "--writes", "deny", "--read", "POST /report").exit_code == 3
    result = run(paths, program, "--read", "POST /reprot")
    assert (result.exit_code, "did you mean 'POST /report'" in result.stderr) == (2, True)


@pytest.mark.parametrize("writes", ["simulate", "plan"])
def test_a_read_goes_to_the_service_where_writes_do_not(run: Run, service: Service, writes: str) -> None:
    """A rehearsal asks the real service with it."""
    paths = {"/boats/search": {"post": operation(operationId="searchBoats")}}
    result = run(paths, 'print(POST_boats_search(text="x"))', "--writes", writes, handle=search)

    assert result.exit_code == 0, result.stderr
    assert set(service.lines) == {"POST /boats/search"}


def test_no_header_makes_another_method_of_it(run: Run, service: Service) -> None:
    """What overrides the method is taken away or refused, in a declared read as in a GET."""
    header = {"name": "X-HTTP-Method-Override", "in": "header", "schema": {"type": "string"}}
    paths = {"/report": {"post": operation(parameters=[header])}}
    run(paths, 'POST_report(text="x", X_HTTP_Method_Override="DELETE")', "--writes", "deny", "--read", "/report")

    assert [request.headers.get("x-http-method-override") for request in service.arrived] == [None]
    program = f'import requests\nrequests.post("{service.url}/report", json={{"_method": "DELETE"}})'
    result = run(paths, program, "--writes", "deny", "--read", "/report")
    assert result.exit_code == 1
    assert len(service.lines) == 1


@pytest.mark.parametrize(
    ("path", "program"),
    [
        ("/report/{any}", "POST_report_any('Drop')"),
        ("/report/{any}", "POST_report_any('7/close')"),
        ("/{+any}", "POST_any('boats')"),
        ("/report/{any}", "requests.post(base + '/report/DROP', json={}).raise_for_status()"),
        ("/report/{any}", "requests.post(base + '/report//drop', json={}).raise_for_status()"),
    ],
)
def test_a_path_that_may_be_that_of_a_write_is_a_write(run: Run, service: Service, path: str, program: str) -> None:
    """A declared read says nothing of the writes that its path may come to."""
    any_text = {"name": "any", "in": "path", "required": True, "schema": {"type": "string"}}
    id_text = {**any_text, "name": "id"}
    paths = {
        path: {"post": {**operation(parameters=[any_text]), "x-reads": True}},
        "/boats": {"post": operation(description="")},
        "/report/drop": {"post": operation(description="")},
        "/report/{id}/close": {"post": operation(parameters=[id_text], description="")},
    }
    result = run(paths, f"import requests\nbase = {service.url!r}\n{program}", "--writes", "deny")

    assert service.lines == []
    assert result.exit_code in (1, 3)
    other = "POST_any('report/7')" if "+" in path else "POST_report_any('drops')"
    assert run(paths, other, "--writes", "deny").exit_code == 0


def test_a_file_that_declares_reads_must_be_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lets writes through, so a stranger's atc.toml may not do it unasked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ATC_CONFIG", raising=False)
    monkeypatch.setenv("ATC_HOME", str(tmp_path / "home"))
    document = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {"/report": {"post": operation()}}}
    Path("spec.json").write_text(json.dumps(document))
    Path("program.py").write_text("print(1)")
    Path("atc.toml").write_text('api = "spec.json"\nbase-url = "http://127.0.0.1:9"\nreads = ["POST /report"]\n')

    result = CliRunner().invoke(main, ["run", "program.py"])
    assert result.exit_code == 2
    assert "takes POST /report to change nothing" in result.stderr
    result = CliRunner().invoke(main, ["run", "program.py"], env={"ATC_CONFIG": "atc.toml"})
    assert (result.exit_code, result.stdout) == (0, "1\n")


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("/search", {"operationId": "searchPages"}),
        ("/boats/search", {"operationId": "boats_search", "summary": "Search boats"}),
        ("/boats/_count", {"operationId": "countBoats", "schema": {"properties": {"count": {"type": "integer"}}}}),
        ("/boats/find", {"operationId": "findBoats", "schema": {"type": "array", "items": {}}}),
        ("/boats/search", {"operationId": "searchBoats", "description": "By name.\n\nThis operation is read-only."}),
        ("/orders/search", {"operationId": "searchOrders", "summary": "Search orders"}),
        ("/report", {"x-reads": True, "description": ""}),
    ],
)
def test_operations_that_read(path: str, parts: dict[str, Any]) -> None:
    """A sentence, two names and the reply agree, or the document declares it."""
    assert reads(path, **parts)


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("/boats", {"operationId": "searchBoats"}),  # only the id says so
        ("/boats/search", {}),  # only the path
        ("/boats/search", {"operationId": "createSearch"}),
        ("/boats/search", {"operationId": "searchBoats", "summary": "Search and delete boats"}),
        ("/searches", {"operationId": "searchBoats"}),
        ("/boats/search", {"operationId": "searchBoats", "status": "201"}),
        ("/boats/search", {"operationId": "searchBoats", "status": "202"}),
        ("/boats/search", {"operationId": "searchBoats", "schema": {"type": "object"}}),
        ("/boats/search", {"operationId": "searchBoats", "x-reads": False}),
        ("/boats/search", {"operationId": "searchBoats", **body(text={}, save={"type": "boolean"})}),
        ("/boats/search", {"operationId": "searchBoats", **body(text={}, callbackUrl={"type": "string"})}),
        ("/boats/find", {"operationId": "findOrCreateBoat"}),
        ("/query", {"operationId": "query"}),  # a statement may do anything
        ("/graphql", {"operationId": "query"}),
        ("/boats/validate", {"operationId": "validateBoat"}),
        ("/search/jobs", {"operationId": "searchJobs"}),
        ("/boats/search", {"operationId": "searchBoats", "status": "204"}),
        ("/boats/search", {"operationId": "searchBoats", "description": ""}),  # nobody states it
        ("/boats/search", {"operationId": "searchBoats", "description": "Changes nothing but the index."}),
        ("/boats/search", {"operationId": "searchBoats", "description": "Never modifies data without a token."}),
        ("/boats/find", {"operationId": "findBoats", "summary": "Finds and deletes boats"}),
        ("/boats/find", {"operationId": "findBoats", "summary": "Finds boats, archiving them"}),
        ("/boats/find", {"operationId": "findBoats", "summary": "Found boats are removed"}),
        ("/boats/find", {"operationId": "findBoats", "summary": "Searches, copies and publishes"}),
    ],
)
def test_operations_that_may_write(path: str, parts: dict[str, Any]) -> None:
    """One doubt is enough, whatever a description states."""
    assert not reads(path, **parts)


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_no_other_method_is_taken_to_read(method: str) -> None:
    """Not even if a document says so; the user may."""
    paths = {"/boats/search": {method: {**operation(operationId="searchBoats"), "x-reads": True}}}
    protocol = load({"openapi": "3.0.3", "info": {}, "paths": paths})

    assert protocol.tools[0].writes
    assert not choose(protocol, reads=["/boats/search"]).tools[0].writes
