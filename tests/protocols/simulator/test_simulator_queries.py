"""What a program may rely on when it filters, sorts, counts and acts on a simulated API."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from protocols import load
from protocols.model import Protocol
from protocols.simulator.analysis.api_analysis import analyze_api
from protocols.simulator.analysis.world_file import NO_WORLD, read_world
from protocols.simulator.http.messages import SimulatedRequest
from protocols.simulator.http.routing import Responder
from protocols.simulator.world.question_ids import read_identifiers
from protocols.simulator.world.world import World
from protocols.text.entities import read_entities

TEXT = {"type": "string"}
LISTED_TEXT = {"type": "array", "items": TEXT}
TAG = {"type": "object", "properties": {"name": TEXT, "job_id": TEXT}}
JOB = {
    "type": "object",
    "properties": {
        "job_id": TEXT,
        "job_name": TEXT,
        "is_paused": {"type": "boolean"},
        "status": {"type": "string", "enum": ["queued", "running", "cancelled", "failed"]},
        "owners": LISTED_TEXT,
        "tags": {"type": "array", "items": TAG},
        "max_runs": {"type": "integer"},
    },
}
RUN = {
    "type": "object",
    "properties": {
        "run_id": TEXT,
        "job_id": TEXT,
        "started_at ": {"type": "string", "format": "date-time"},
        "duration": {"type": ["number", "null"]},
        "state": {"type": "string", "enum": ["failed", "success"]},
    },
}
STEP = {
    "type": "object",
    "properties": {
        "step_id": TEXT,
        "job_id": TEXT,
        "try_number": {"type": "integer"},
        "downstream_step_ids": LISTED_TEXT,
    },
}
NOTE = {"type": "object", "properties": {"body": TEXT, "answered": {"type": "boolean"}}}
LINE = {"type": "object", "properties": {"text": TEXT, "level": TEXT}}


def page(name: str, item: object) -> dict[str, object]:
    return {
        "type": "object",
        "required": [name, "total_entries"],
        "properties": {name: {"type": "array", "items": item}, "total_entries": {"type": "integer"}},
    }


def operation(
    schema: object, query: Mapping[str, object] | None = None, body: object = None, description: str = ""
) -> dict[str, object]:
    described: dict[str, object] = {
        "description": description,
        "parameters": [{"name": name, "in": "query", "schema": form} for name, form in (query or {}).items()],
        "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": schema}}}},
    }
    if body is not None:
        described["requestBody"] = {"content": {"application/json": {"schema": body}}}
    return described


def ref(name: str) -> dict[str, object]:
    return {"$ref": f"#/components/schemas/{name}"}


def described(paths: Mapping[str, object], **schemas: object) -> Protocol:
    """A protocol of these paths."""
    info = {"title": "Test", "version": "1"}
    return load({"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": schemas}})


@pytest.fixture(scope="module")
def jobs() -> Protocol:
    """A scheduler: jobs with tags, runs and steps."""
    number = {"type": "integer"}
    job_query = {
        "paused": {"type": "boolean"},
        "owners": LISTED_TEXT,
        "tags": LISTED_TEXT,
        "job_ids": LISTED_TEXT,
        "job_name_pattern": TEXT,
        "max_runs_gt": number,
        "order_by": LISTED_TEXT,
        "limit": number,
        "offset": number,
    }
    run_query = {
        "order_by": TEXT,
        "state": LISTED_TEXT,
        "job_ids": LISTED_TEXT,
        "started_at_gte": TEXT,
        "limit": number,
    }
    state = {"type": "object", "properties": {"is_paused": {"type": "boolean"}, "new_status": TEXT}}
    return described(
        {
            "/jobs": {"get": operation(page("jobs", JOB), job_query)},
            "/jobs/{job_id}": {"get": operation(JOB), "patch": operation(JOB, body=state)},
            "/jobs/{job_id}/pause": {"put": operation(JOB)},
            "/jobs/{job_id}/cancel": {"put": operation(JOB, body={"properties": {"dry_run": {"type": "boolean"}}})},
            "/jobs/{job_id}/note": {"get": operation(NOTE), "patch": operation(NOTE, body=NOTE)},
            "/jobs/{job_id}/log": {"get": operation(page("lines", LINE))},
            "/jobs/{job_id}/runs": {
                "get": operation(page("runs", RUN), run_query, description="Use `~` for the runs of all jobs.")
            },
            "/jobs/{job_id}/runs/{run_id}": {"get": operation(RUN)},
            "/jobs/{job_id}/steps": {"get": operation(page("steps", STEP))},
            "/jobs/{job_id}/steps/{step_id}": {"get": operation(STEP)},
            "/jobs/{job_id}/steps/{step_id}/tries/{try_number}": {
                "get": operation({"type": "object", "properties": {"try_number": number, "log": TEXT}})
            },
        }
    )


class Client:
    """Sends requests to a world of a protocol."""

    def __init__(self, protocol: Protocol, question: str = "", world_file: Path | None = None) -> None:
        schema = analyze_api(protocol, read_world(world_file, protocol) if world_file else NO_WORLD)
        named, identifiers = read_entities(question), read_identifiers(question)
        now = datetime(2024, 6, 1, 12, tzinfo=UTC)
        self._responder = Responder(World(schema, "0", now, named_entities=named, identifiers=identifiers))

    def get(self, path: str, *query: tuple[str, str]) -> Any:
        return self.send("GET", path, query)

    def send(self, method: str, path: str, query: Sequence[tuple[str, str]] = (), body: object = None) -> Any:
        sent = b"" if body is None else json.dumps(body).encode()
        reply = self._responder.answer(SimulatedRequest(method, path, tuple(query), {}, sent))
        assert reply.status < 400, reply.body
        return reply.body


def test_totals_count_the_list(jobs: Protocol) -> None:
    """`total_entries` is the number of entities, and the number of items in a list of plain objects."""
    client = Client(jobs)
    total = client.get("/jobs")["total_entries"]
    entries: list[object] = []
    while len(entries) < total:
        entries += client.get("/jobs", ("limit", "10"), ("offset", str(len(entries))))["jobs"]
    assert len(entries) == total
    job_id = client.get("/jobs")["jobs"][0]["job_id"]
    log = client.get(f"/jobs/{job_id}/log")
    assert log["total_entries"] == len(log["lines"]) > 0


def test_lists_are_sorted_by_several_fields(jobs: Protocol) -> None:
    """`-name` sorts descending, in a text and in a list; the first field counts most, and null stands last."""
    client = Client(jobs)
    paused_first = client.get("/jobs", ("order_by", "-is_paused"), ("order_by", "-max_runs"), ("limit", "100"))["jobs"]
    keys = [(job["is_paused"], job["max_runs"]) for job in paused_first]
    assert keys == sorted(keys, reverse=True)
    runs = client.get("/jobs/~/runs", ("order_by", "-duration"), ("limit", "100"))["runs"]
    durations = [run["duration"] for run in runs if run["duration"] is not None]
    assert durations == sorted(durations, reverse=True)
    assert [run["duration"] for run in runs][: len(durations)] == durations


def test_lists_are_filtered_by_state_tags_owners_and_identifiers(jobs: Protocol) -> None:
    """A filter tells a state without `is_`, a member of a list, the name of a tag, or identifiers of the type."""
    client = Client(jobs)
    everything = client.get("/jobs", ("limit", "100"))["jobs"]
    by_id = {job["job_id"]: job for job in everything}

    def found(*query: tuple[str, str]) -> set[str]:
        return {job["job_id"] for job in client.get("/jobs", *query, ("limit", "100"))["jobs"]}

    assert found(("paused", "true")) == {id for id, job in by_id.items() if job["is_paused"]}
    owner = everything[0]["owners"][0]
    assert found(("owners", owner)) == {id for id, job in by_id.items() if owner in job["owners"]}
    tag = everything[0]["tags"][0]
    assert tag["job_id"] == everything[0]["job_id"]
    wanted = {id for id, job in by_id.items() if tag["name"] in [other["name"] for other in job["tags"]]}
    assert found(("tags", tag["name"])) == wanted
    two = [job["job_id"] for job in everything[:2]]
    assert found(*(("job_ids", id) for id in two)) == set(two)
    limit = everything[0]["max_runs"]
    assert found(("max_runs_gt", str(limit))) == {id for id, job in by_id.items() if job["max_runs"] > limit}


def test_patterns_filter_with_wildcards(jobs: Protocol) -> None:
    """`%x%` and `x` are parts of the text, and `|` stands between alternatives."""
    client = Client(jobs)
    names = [job["job_name"] for job in client.get("/jobs", ("limit", "100"))["jobs"]]
    word = names[0].split()[-1]
    for pattern in (word, f"%{word.lower()}%", f"no such|{word}"):
        matching = client.get("/jobs", ("job_name_pattern", pattern), ("limit", "100"))["jobs"]
        assert {job["job_name"] for job in matching} == {name for name in names if word.lower() in name.lower()}
    assert client.get("/jobs", ("job_name_pattern", "no such"))["jobs"] == []


def test_a_name_with_underscores_is_an_identifier(jobs: Protocol) -> None:
    """The job that a question names has runs, also in the list over all jobs, and `started_at ` loses its space."""
    client = Client(jobs, "How long did the runs of nightly_sync and daily_load take?")
    runs = client.get("/jobs/nightly_sync/runs")["runs"]
    assert runs
    assert {run["job_id"] for run in runs} == {"nightly_sync"}
    assert all("started_at" in run for run in runs)
    listed = client.get("/jobs/~/runs", ("job_ids", "nightly_sync"), ("job_ids", "daily_load"), ("limit", "100"))[
        "runs"
    ]
    assert {run["job_id"] for run in listed} == {"nightly_sync", "daily_load"}
    first = sorted(run["started_at"] for run in runs)[1]
    later = client.get("/jobs/nightly_sync/runs", ("started_at_gte", first))["runs"]
    assert len(later) == len(runs) - 1


def test_actions_change_the_state(jobs: Protocol) -> None:
    """A verb in the path changes the flag or the status of its name; a dry run changes nothing."""
    client = Client(jobs)
    path = "/jobs/" + next(
        job["job_id"]
        for job in client.get("/jobs", ("limit", "100"))["jobs"]
        if not job["is_paused"] and job["status"] != "cancelled"
    )
    assert client.send("PUT", f"{path}/pause")["is_paused"] is True
    assert client.get(path)["is_paused"] is True
    client.send("PUT", f"{path}/cancel", body={"dry_run": True})
    assert client.get(path)["status"] != "cancelled"
    assert client.send("PUT", f"{path}/cancel", body={})["status"] == "cancelled"
    client.send("PATCH", path, body={"new_status": "failed", "is_paused": False})
    job = client.get(path)
    assert (job["status"], job["is_paused"]) == ("failed", False)


def test_a_part_of_an_entity_keeps_what_was_written(jobs: Protocol) -> None:
    """A note below the path of a job belongs to that job alone."""
    client = Client(jobs)
    first, second = (job["job_id"] for job in client.get("/jobs")["jobs"][:2])
    before = client.get(f"/jobs/{second}/note")
    client.send("PATCH", f"/jobs/{first}/note", body={"body": "Within budget", "answered": True})
    assert client.get(f"/jobs/{first}/note") == {"body": "Within budget", "answered": True}
    assert client.get(f"/jobs/{second}/note") == before


def test_a_field_of_a_foreign_type_is_no_internal_error() -> None:
    """An event tells who caused it; that does not empty the type of the signed-in user, who owns the playlists."""
    user = {"type": "object", "properties": {"id": TEXT, "name": TEXT}}
    playlist = {"type": "object", "properties": {"id": TEXT, "name": TEXT, "user": user}}
    event = {"type": "object", "properties": {"id": TEXT, "label": TEXT}}
    caused = {"type": "object", "properties": {"id": TEXT, "label": TEXT, "user_id": TEXT}}
    protocol = described(
        {
            "/me": {"get": operation(user)},
            "/me/playlists": {"get": operation({"type": "array", "items": playlist})},
            "/playlists/{playlist_id}": {"get": operation(playlist)},
            "/events/{event_id}": {"get": operation(event)},
            "/playlists/{playlist_id}/events": {"get": operation({"type": "array", "items": caused})},
            "/users/{user_id}": {"get": operation(user)},
        }
    )
    client = Client(protocol, "Who owns my playlist 'Rainy Sunday', and what happened to it?")
    rainy = next(each for each in client.get("/me/playlists") if each["name"] == "Rainy Sunday")
    assert client.get(f"/playlists/{rainy['id']}")["user"]["id"]
    assert client.get(f"/playlists/{rainy['id']}/events")


def test_a_pinned_number_names_one_entity(tmp_path: Path) -> None:
    """A number that the world file pins brings no second entity, nor one of another type."""
    kinds = ("invoice", "quote")
    protocol = described(
        {
            path: {"get": operation({"type": "array", "items": schema} if path.endswith("s") else schema)}
            for kind in kinds
            for schema in [{"type": "object", "properties": {"id": TEXT, f"{kind}_number": TEXT, "note": TEXT}}]
            for path in (f"/{kind}s", f"/{kind}s/{{{kind}_id}}")
        }
    )
    file = tmp_path / "world.yaml"
    file.write_text("entities:\n  quote: {pinned: [{quote_number: OAK-3302, note: pinned}]}\n", "utf-8")
    client = Client(protocol, "What does the note on OAK-3302 say?", file)
    quotes = [quote for quote in client.get("/quotes") if quote["quote_number"] == "OAK-3302"]
    assert [quote["note"] for quote in quotes] == ["pinned"]
    assert not [invoice for invoice in client.get("/invoices") if invoice["invoice_number"] == "OAK-3302"]


def test_schemas_that_hold_one_another_stay_small() -> None:
    """Twelve schemas that each show the eleven others would make billions of places."""
    names = [f"Part{letter}" for letter in "ABCDEFGHIJKL"]
    schemas = {
        name: {
            "type": "object",
            "required": ["id", "label", "parts"],
            "properties": {
                "id": TEXT,
                "label": TEXT,
                "parts": {"type": "array", "items": ref(name)},
                **{other.lower(): ref(other) for other in names if other != name},
            },
        }
        for name in names
    }
    paths = {f"/{name.lower()}s/{{id}}": {"get": operation(ref(name))} for name in names}

    shapes = [plan.shape for plan in analyze_api(described(paths, **schemas)).plans if plan.shape]

    assert max(sum(1 for _ in shape.walk()) for shape in shapes) <= 400
    assert all({"id", "label", "parts"} <= set(shape.properties) for shape in shapes)


def test_a_list_that_is_too_deep_is_empty_not_an_object() -> None:
    """A required list below the last level that is followed keeps its type."""
    wide = {f"p{number}": ref("Node") for number in range(30)}
    node = {"type": "object", "required": ["nodes"], "properties": {"name": TEXT, "nodes": ref("Nodes"), **wide}}
    nodes = {"type": "array", "items": ref("Node")}
    tree = Client(described({"/tree": {"get": operation(ref("Node"))}}, Node=node, Nodes=nodes)).get("/tree")

    assert all(isinstance(place["nodes"], list) for place in (tree, *tree.values()) if isinstance(place, dict))


def test_an_envelope_of_one_holds_the_entity_of_its_path() -> None:
    """`GET /Contacts/{ContactID}` answers `{Contacts: […]}` with that contact alone, and the list shows its name."""
    contact = {"type": "object", "properties": {"ContactID": TEXT, "Name": TEXT, "Phone": TEXT}}
    many = operation({"type": "object", "properties": {"Contacts": {"type": "array", "items": contact}}})
    protocol = described({"/Contacts": {"get": many}, "/Contacts/{ContactID}": {"get": many}})
    client = Client(protocol, 'Do we know "Bluebell Florists"?')

    chosen = next(entry for entry in client.get("/Contacts")["Contacts"] if entry["Name"] == "Bluebell Florists")

    assert client.get(f"/Contacts/{chosen['ContactID']}")["Contacts"] == [chosen]


def test_the_number_of_an_invoice_is_found_within_its_details() -> None:
    """A number of the question stands where the document nests it."""
    details = {"type": "object", "properties": {"invoice_number": TEXT, "note": TEXT}}
    invoice = {"type": "object", "properties": {"id": TEXT, "detail": details, "status": TEXT}}
    items = {"type": "object", "properties": {"items": {"type": "array", "items": invoice}}}
    paths = {"/invoices": {"get": operation(items)}, "/invoices/{invoice_id}": {"get": operation(invoice)}}
    client = Client(described(paths), "Has invoice NBW-0145 been paid?")

    listed = client.get("/invoices")["items"]
    numbers = [entry["detail"]["invoice_number"] for entry in listed]

    assert numbers.count("NBW-0145") == 1
    assert len(set(numbers)) == len(numbers)
    chosen = listed[numbers.index("NBW-0145")]
    assert client.get(f"/invoices/{chosen['id']}")["detail"] == chosen["detail"]
