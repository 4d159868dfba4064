"""The headers of a reply are reachable from the result of a function: its address, its version, how many there are."""

from __future__ import annotations

from typing import Any

import pytest

from protocols.dataflow.graph import ProtocolGraph
from protocols.documents.loader import load
from protocols.render import render
from sandbox import Sandbox
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Service

ITEM = {"type": "object", "properties": {"id": {"type": "integer"}}}


def headers(**names: str) -> dict[str, Any]:
    return {name.replace("_", "-"): {"description": text, "schema": {"type": "string"}} for name, text in names.items()}


def content(schema: object, media_type: str = "application/json") -> dict[str, Any]:
    return {"content": {media_type: {"schema": schema}}}


JOBS = {
    "/jobs": {
        "post": {
            "responses": {"201": {"description": "Made.", "headers": headers(Location="The address of the job.")}}
        },
        "get": {
            "responses": {
                "200": {
                    "description": "OK",
                    "headers": headers(X_Total_Count="All jobs.", Link="Next page.", X_RateLimit_Remaining="Calls."),
                    **content({"type": "array", "items": ITEM}),
                }
            }
        },
    },
    "/jobs/{id}": {
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
        "get": {"responses": {"200": {"description": "OK", "headers": headers(ETag="Version."), **content(ITEM)}}},
        "put": {"responses": {"204": {"description": "OK", "headers": headers(X_RateLimit_Limit="Calls.")}}},
        "delete": {"responses": {"202": {"description": "Begun."}}},
    },
    "/log": {
        "get": {"responses": {"200": {"description": "OK", "headers": headers(ETag=""), **content({}, "text/plain")}}}
    },
    "/plain": {"get": {"responses": {"200": {"description": "OK", **content(ITEM)}}}},
}


def handle(request: Any) -> Any:
    if request.path == "/log":
        return 200, {"Content-Type": "text/plain", "ETag": '"t"'}, "a line"
    if request.method == "POST":
        return 201, {"Location": "/jobs/7"}, b""
    if request.method == "PUT":
        return 204, {"X-RateLimit-Limit": "9"}, b""
    if request.method == "DELETE":
        return 202, {"Location": "/jobs/7/deletion"}, b""
    if request.path == "/jobs":
        return 200, {"X-Total-Count": "41", "Set-Cookie": "session=1"}, [{"id": 7}]
    return 200, {"ETag": '"v1"'}, {"id": 7}


def test_a_program_reads_the_headers_of_results(run: Run) -> None:
    """Of an empty body, a dict, a list and a text; names in any case; a Location also if it is not documented."""
    program = """
        place = POST_jobs().headers["Location"]
        item = GET_jobs_id(place.rpartition("/")[2])
        jobs = GET_jobs()
        log = GET_log()
        print(place, item.headers["etag"], jobs.headers.get("x-total-count"), log.headers["ETAG"])
        print(DELETE_jobs_id("7").headers["Location"], jobs.headers.get("Link"), "set-cookie" in jobs.headers)
    """

    result = run(JOBS, program, handle=handle)

    assert (result.exit_code, result.output) == (
        0,
        '/jobs/7 "v1" 41 "t"\n/jobs/7/deletion None False\n',
    )


def test_a_result_with_headers_is_what_it_was(run: Run) -> None:
    """Its type, equality, JSON, copies and printing are those of an ordinary dict, list or text."""
    program = """
        import copy, json, pprint
        item, jobs, log, made = GET_jobs_id("7"), GET_jobs(), GET_log(), POST_jobs()
        print(type(item) is dict, isinstance(item, dict), item == {"id": 7}, json.dumps(item), item, {**item})
        print(type(jobs) is list, jobs == [{"id": 7}], json.dumps(jobs), jobs + [1], sorted(map(str, jobs)))
        print(type(log) is str, log == "a line", log.split(), f"{log:>8}", "{}".format(log), {log: 1}["a line"])
        print(made == {}, not made, type(copy.deepcopy(item)) is dict, copy.copy(jobs).headers["X-Total-Count"])
        pprint.pprint(item)
        match item:
            case {"id": number}:
                print(number, item.__class__ is dict)
        item["new"] = 1
        jobs.append(2)
        print(item, jobs, PUT_jobs_id("7"), hasattr(GET_plain(), "headers"))
    """

    result = run(JOBS, program, handle=handle)

    assert result.exit_code == 0, result.stderr
    assert result.output.splitlines() == [
        "True True True {\"id\": 7} {'id': 7} {'id': 7}",
        "True True [{\"id\": 7}] [{'id': 7}, 1] [\"{'id': 7}\"]",
        "True True ['a', 'line']   a line a line 1",
        "True True True 41",
        "{'id': 7}",
        "7 True",
        "{'id': 7, 'new': 1} [{'id': 7}, 2] None False",
    ]


@pytest.mark.parametrize(
    "statement",
    ["item.headers = {}", "item._headers = {}", "type(item).headers = 1", "print(vars(item))", "del item.headers"],
)
def test_headers_cannot_be_changed(run: Run, statement: str) -> None:
    """What a program does to its copy of them stays with the copy."""
    good = run(JOBS, "item = GET_jobs_id('7'); item.headers['ETag'] = 'x'; print(item.headers['ETag'])", handle=handle)
    bad = run(JOBS, f"item = GET_jobs_id('7')\n{statement}", handle=handle)

    assert (good.exit_code, good.output) == (0, '"v1"\n')
    assert bad.exit_code == 1


def test_an_error_has_its_documented_headers(run: Run) -> None:
    """`error.headers` of a ToolError; empty where the document has none."""
    conflict = {"409": {"description": "There is one.", "headers": headers(X_Existing="Its number.")}}
    doc = {"/jobs": {"post": {"responses": {"201": {"description": "OK"}, **conflict}}}}
    program = """
        try:
            POST_jobs()
        except ToolError as error:
            print(error.status, error.headers["x-existing"], error.headers.get("other"))
    """

    result = run(doc, program, handle=lambda request: (409, {"X-Existing": "5"}, {"message": "no"}))

    assert (result.exit_code, result.output) == (0, "409 5 None\n")


PROTOCOL = load({"openapi": "3.0.3", "info": {"title": "J", "version": "1"}, "paths": JOBS})


def test_a_value_of_a_result_with_headers_keeps_its_source(service: Service) -> None:
    """The data flow of a run goes through such a result as through any other."""
    service.handle = handle
    program = """
jobs = GET_jobs()
item = GET_jobs_id(str(jobs[0]["id"]))
GET_jobs_id(POST_jobs().headers["Location"][-1])
print(item["id"])
"""

    run = Sandbox(PROTOCOL, base_url=service.url).run(program)

    assert run.error is None
    assert run.provenance is not None
    assert [(s.call, s.path) for s in run.provenance.arguments[1]["0"]] == [(0, (0, "id"))]
    assert [s.call for s in run.provenance.arguments[3]["0"]] == [2]
    assert [(s.call, s.path) for s in run.provenance.printed] == [(1, ("id",))]


def test_the_prompt_shows_the_headers_that_say_something() -> None:
    """Each documented header in a line; not those about limits, and nothing where there is none."""
    text = render(PROTOCOL.tools, ProtocolGraph(PROTOCOL))

    assert "  .headers: Location (The address of the job.)\n" in text
    assert "  .headers: X-Total-Count (All jobs.), Link (Next page.)\n" in text
    assert "RateLimit" not in text
    assert text.count(".headers:") == 4
