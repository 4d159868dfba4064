"""What a program passes is sent: parameters in paths, queries, headers and cookies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from atc.assist.check import check
from protocols import load
from protocols.calls.call_errors import signature
from protocols.contracts.contract import Contract
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Service

OK = {"200": {"description": "ok"}}
TEXT: dict[str, object] = {"type": "string"}
TEXTS: dict[str, object] = {"type": "array", "items": TEXT}


def reads(*parameters: dict[str, object], path: str = "/rows") -> dict[str, object]:
    """The paths of a document with one GET."""
    return {path: {"get": {"parameters": list(parameters), "responses": OK}}}


def in_query(name: str, schema: dict[str, object], **more: object) -> dict[str, object]:
    return {"name": name, "in": "query", "schema": schema, **more}


DEEP = in_query("q", {"type": "object"}, style="deepObject")


@pytest.mark.parametrize(
    ("parameter", "passed", "message"),
    [
        (in_query("q", TEXTS), "[]", "argument 'q' is an empty list, which cannot be sent"),
        (DEEP, "{'a': {'b': []}}", "argument 'q' holds an empty list at 'q[a][b]', which cannot be sent"),
        (
            in_query("q", TEXTS, style="spaceDelimited", explode=False),
            "['a b']",
            "argument 'q' holds ' ', which separates",
        ),
        (
            {"name": "q", "in": "header", "schema": TEXTS},
            "['a,b']",
            "argument 'q' holds ',', which separates the items",
        ),
        ({"name": "q", "in": "header", "schema": TEXT}, "'Zoë'", "argument 'q' holds 'ë', and a header has ASCII"),
        ({"name": "q", "in": "cookie", "schema": TEXTS}, "[]", "argument 'q' is empty, which cannot be sent"),
    ],
)
def test_what_a_style_cannot_say_is_refused_by_name(
    run: Run, service: Service, parameter: dict[str, object], passed: str, message: str
) -> None:
    """An empty list would be read as no filter at all, so it is not left out without a word."""
    result = run(reads(parameter), f"GET_rows(q={passed})")

    assert result.exit_code == 1
    assert message in result.stderr
    assert service.arrived == []


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        *((f"/files/{variable}", None) for variable in ("{+path}", "{path*}", "{path+}", "{path:.*}")),
        *(("/files/{path}", pattern) for pattern in ("^.+$", "[a-z ./]+")),
    ],
)
def test_a_path_variable_may_span_segments(run: Run, service: Service, path: str, pattern: str | None) -> None:
    """Slashes stay, the rest is encoded; a URL in `requests` addresses the same operation, and no step goes up."""
    schema = TEXT if pattern is None else {**TEXT, "pattern": pattern}
    document = reads({"name": "path", "in": "path", "required": True, "schema": schema}, path=path)

    program = "import requests\nGET_files_path('a/b c.txt')\nrequests.get('{url}/files/x/y')"
    result = run(document, program.format(url=service.url))
    up = run(document, "GET_files_path('a/../b')")

    assert result.exit_code == 0, result.output
    assert service.lines == ["GET /files/a/b%20c.txt", "GET /files/x/y"]
    assert up.exit_code == 1


def test_a_query_in_the_key_of_a_path_is_sent_once(run: Run, service: Service) -> None:
    """A constant of it goes along with every call, and a variable is an argument."""
    described = {"name": "q", "in": "path", "required": True, "schema": TEXT}
    document = reads(described, in_query("page", {"type": "integer"}), path="/find?kind=all&text={q}")

    result = run(document, "GET_find_kind_all_text_q(q='a b', page=2)")

    assert result.exit_code == 0, result.output
    assert service.arrived[0].path == "/find"
    assert sorted(service.arrived[0].query.split("&")) == ["kind=all", "page=2", "text=a%20b"]


def test_a_fragment_in_the_key_of_a_path_is_not_sent(run: Run, service: Service) -> None:
    """It tells operations apart, as the names of their functions do."""
    action = in_query("action", {**TEXT, "enum": ["list"]}, required=True)
    document = reads(action, path="/#action=list") | reads(path="/#action=count")

    result = run(document, "GET_action_list(action='list')\nGET_action_count()")

    assert result.exit_code == 0, result.output
    assert service.lines == ["GET /?action=list", "GET /"]


def names(parameters: Sequence[str]) -> str:
    document = {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}}
    tool = load({**document, "paths": reads(*(in_query(name, TEXT) for name in parameters))}).tools[0]
    return signature(tool).replace("=None", "")


def test_names_of_arguments_tell() -> None:
    """A comparison or a sign is spelled out, so that hardly any name needs a number."""
    assert names(["StartTime", "StartTime<", "StartTime>"]) == "GET_rows(StartTime, StartTime_lt, StartTime_gt)"
    assert names(["size<=", "size>=", "size!="]) == "GET_rows(size_lte, size_gte, size_ne)"
    assert names(["+1", "-1"]) == "GET_rows(plus_1, minus_1)"
    assert names(["$filter", "filter"]) == "GET_rows(filter_2, filter)", "the name on the wire is that of the argument"


def test_a_prompt_has_the_wire_name_beside_a_numbered_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two names that become one argument are told apart by what is sent."""
    monkeypatch.chdir(tmp_path)
    document = {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "servers": [{"url": "https://a.test"}]}
    paths = reads(in_query("min.size", TEXT), in_query("min-size", TEXT))
    Path("spec.json").write_text(json.dumps({**document, "paths": paths}))

    shown = CliRunner().invoke(main, ["explain", "Which rows are there?", "--api", "spec.json", "--tools", "all"])

    assert 'min_size=str, min_size_2=str ("min-size" in the query)' in shown.output


def test_the_check_takes_what_a_call_takes() -> None:
    """Dates, bytes, and None for an argument that may be null are no mistakes."""
    text = {"type": "string"}
    schema = {"type": "object", "required": ["note"], "properties": {"note": {**text, "nullable": True}, "file": text}}
    body = {"required": True, "content": {"multipart/form-data": {"schema": schema}}}
    operation = {"parameters": [in_query("since", {**text, "format": "date"})], "requestBody": body, "responses": OK}
    document = {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {"/rows": {"post": operation}}}
    program = "from datetime import datetime\nPOST_rows(since=datetime(2024, 5, 1), note=None, file=b'\\xff')\n"

    assert check(program, Contract(load(document))) == []
