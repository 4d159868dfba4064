"""What a program may rely on when it filters, sorts, counts and acts on a simulated API."""

from __future__ import annotations

from pathlib import Path

from protocols import load
from protocols.simulator.analysis.api_analysis import analyze_api
from tests.protocols.simulator.simulated_apis import (
    NUMBER,
    TEXT,
    WHOLE,
    client_of,
    described,
    list_of,
    object_of,
    operation,
)

TEXTS = list_of(TEXT)
FLAG = {"type": "boolean"}
JOB = object_of(
    job_id=TEXT,
    job_name=TEXT,
    is_paused=FLAG,
    status={"type": "string", "enum": ["queued", "running", "cancelled", "failed"]},
    owners=TEXTS,
    max_runs=WHOLE,
)
RUN = object_of(
    run_id=TEXT,
    job_id=TEXT,
    **{"started_at ": {"type": "string", "format": "date-time"}},
    duration={"type": ["number", "null"]},
    state={"type": "string", "enum": ["failed", "success"]},
)
STEP = object_of(step_id=TEXT, job_id=TEXT, try_number=WHOLE, downstream_step_ids=TEXTS)
NOTE = object_of(body=TEXT, answered=FLAG)


def page(name: str, item: object) -> dict[str, object]:
    return object_of(name, "total_entries", **{name: list_of(item)}, total_entries=WHOLE)


def jobs_document() -> dict[str, object]:
    """A scheduler: jobs with runs and steps."""
    texts = dict.fromkeys(("owners", "job_ids", "order_by"), TEXTS)
    job_query = {**texts, "paused": FLAG, "job_name_pattern": TEXT, "max_runs_gt": WHOLE, "limit": WHOLE}
    run_query = {"order_by": TEXT, "state": TEXTS, "job_ids": TEXTS, "started_at_gte": TEXT, "limit": WHOLE}
    run_list = operation(page("runs", RUN), run_query, description="Use `~` for the runs of all jobs.")
    return described(
        {
            "/jobs": {"get": operation(page("jobs", JOB), {**job_query, "offset": WHOLE})},
            "/jobs/{job_id}": {"get": operation(JOB), "patch": operation(JOB, body=object_of(new_status=TEXT))},
            "/jobs/{job_id}/pause": {"put": operation(JOB)},
            "/jobs/{job_id}/cancel": {"put": operation(JOB, body=object_of(dry_run=FLAG))},
            "/jobs/{job_id}/note": {"get": operation(NOTE), "patch": operation(NOTE, body=NOTE)},
            "/jobs/{job_id}/log": {"get": operation(page("lines", object_of(text=TEXT, level=TEXT)))},
            "/jobs/{job_id}/runs": {"get": run_list},
            "/jobs/{job_id}/runs/{run_id}": {"get": operation(RUN)},
            "/jobs/{job_id}/steps": {"get": operation(page("steps", STEP))},
            "/jobs/{job_id}/steps/{step_id}": {"get": operation(STEP)},
            "/jobs/{job_id}/steps/{step_id}/tries/{try_number}": {
                "get": operation(object_of(try_number=NUMBER, log=TEXT))
            },
        }
    )


JOBS = jobs_document()


def test_totals_count_the_list() -> None:
    """`total_entries` is the number of entities, and the number of items in a list of plain objects."""
    client = client_of(JOBS)
    total = client.get("/jobs")["total_entries"]
    entries: list[object] = []
    while len(entries) < total:
        entries += client.get("/jobs", limit=10, offset=len(entries))["jobs"]
    assert len(entries) == total
    job_id = client.get("/jobs")["jobs"][0]["job_id"]
    log = client.get(f"/jobs/{job_id}/log")
    assert log["total_entries"] == len(log["lines"]) > 0


def test_lists_are_sorted_by_several_fields() -> None:
    """`-name` sorts descending, in a text and in a list; the first field counts most, and null stands last."""
    client = client_of(JOBS)
    paused_first = client.get("/jobs", order_by=["-is_paused", "-max_runs"], limit=100)["jobs"]
    keys = [(job["is_paused"], job["max_runs"]) for job in paused_first]
    assert keys == sorted(keys, reverse=True)
    runs = client.get("/jobs/~/runs", order_by="-duration", limit=100)["runs"]
    durations = [run["duration"] for run in runs if run["duration"] is not None]
    assert durations == sorted(durations, reverse=True)
    assert [run["duration"] for run in runs][: len(durations)] == durations


def test_lists_are_filtered_by_state_owners_and_identifiers() -> None:
    """A filter tells a state without `is_`, a member of a list, or identifiers of the type."""
    client = client_of(JOBS)
    everything = client.get("/jobs", limit=100)["jobs"]
    by_id = {job["job_id"]: job for job in everything}

    def matching(**query: object) -> set[str]:
        return {job["job_id"] for job in client.get("/jobs", limit=100, **query)["jobs"]}

    assert matching(paused="true") == {id for id, job in by_id.items() if job["is_paused"]}
    owner = everything[0]["owners"][0]
    assert matching(owners=owner) == {id for id, job in by_id.items() if owner in job["owners"]}
    two = [job["job_id"] for job in everything[:2]]
    assert matching(job_ids=two) == set(two)
    limit = everything[0]["max_runs"]
    assert matching(max_runs_gt=limit) == {id for id, job in by_id.items() if job["max_runs"] > limit}


def test_patterns_filter_with_wildcards() -> None:
    """`%x%` and `x` are parts of the text, and `|` stands between alternatives."""
    client = client_of(JOBS)
    names = [job["job_name"] for job in client.get("/jobs", limit=100)["jobs"]]
    word = names[0].split()[-1]
    for pattern in (word, f"%{word.lower()}%", f"no such|{word}"):
        matching = client.get("/jobs", job_name_pattern=pattern, limit=100)["jobs"]
        assert {job["job_name"] for job in matching} == {name for name in names if word.lower() in name.lower()}
    assert client.get("/jobs", job_name_pattern="no such")["jobs"] == []


def test_a_name_with_underscores_is_an_identifier() -> None:
    """The job that a question names has runs, and `started_at ` loses its space."""
    client = client_of(JOBS, "How long did the runs of nightly_sync and daily_load take?")
    runs = client.get("/jobs/nightly_sync/runs")["runs"]
    assert runs
    assert {run["job_id"] for run in runs} == {"nightly_sync"}
    assert all("started_at" in run for run in runs)
    first = sorted(run["started_at"] for run in runs)[1]
    later = client.get("/jobs/nightly_sync/runs", started_at_gte=first)["runs"]
    assert len(later) == len(runs) - 1


def test_actions_change_the_state() -> None:
    """A verb in the path changes the flag or the status of its name; a dry run changes nothing."""
    client = client_of(JOBS)
    path = "/jobs/" + next(
        job["job_id"]
        for job in client.get("/jobs", limit=100)["jobs"]
        if not job["is_paused"] and job["status"] != "cancelled"
    )
    assert client.send("PUT", f"{path}/pause").json()["is_paused"] is True
    assert client.get(path)["is_paused"] is True
    client.send("PUT", f"{path}/cancel", {"dry_run": True})
    assert client.get(path)["status"] != "cancelled"
    assert client.send("PUT", f"{path}/cancel", {}).json()["status"] == "cancelled"
    client.send("PATCH", path, {"new_status": "failed", "is_paused": False})
    job = client.get(path)
    assert (job["status"], job["is_paused"]) == ("failed", False)


def test_a_part_of_an_entity_keeps_what_was_written() -> None:
    """A note below the path of a job belongs to that job alone."""
    client = client_of(JOBS)
    first, second = (job["job_id"] for job in client.get("/jobs")["jobs"][:2])
    before = client.get(f"/jobs/{second}/note")
    client.send("PATCH", f"/jobs/{first}/note", {"body": "Within budget", "answered": True})
    assert client.get(f"/jobs/{first}/note") == {"body": "Within budget", "answered": True}
    assert client.get(f"/jobs/{second}/note") == before


def test_a_field_of_a_foreign_type_is_no_internal_error() -> None:
    """An event tells who caused it; that does not empty the type of the signed-in user, who owns the playlists."""
    user = object_of(id=TEXT, name=TEXT)
    playlist = object_of(id=TEXT, name=TEXT, user=user)
    paths = {
        "/me": {"get": operation(user)},
        "/me/playlists": {"get": operation(list_of(playlist))},
        "/playlists/{playlist_id}": {"get": operation(playlist)},
        "/events/{event_id}": {"get": operation(object_of(id=TEXT, label=TEXT))},
        "/playlists/{playlist_id}/events": {"get": operation(list_of(object_of(id=TEXT, label=TEXT, user_id=TEXT)))},
        "/users/{user_id}": {"get": operation(user)},
    }
    client = client_of(described(paths), "Who owns my playlist 'Rainy Sunday', and what happened to it?")
    rainy = next(each for each in client.get("/me/playlists") if each["name"] == "Rainy Sunday")
    assert client.get(f"/playlists/{rainy['id']}")["user"]["id"]
    assert client.get(f"/playlists/{rainy['id']}/events")


def test_a_pinned_number_names_one_entity(tmp_path: Path) -> None:
    """A number that the world file pins brings no second entity, nor one of another type."""
    paths: dict[str, object] = {}
    for kind in ("invoice", "quote"):
        schema = object_of(id=TEXT, **{f"{kind}_number": TEXT}, note=TEXT)
        paths |= {
            f"/{kind}s": {"get": operation(list_of(schema))},
            f"/{kind}s/{{{kind}_id}}": {"get": operation(schema)},
        }
    file = tmp_path / "world.yaml"
    file.write_text("entities:\n  quote: {pinned: [{quote_number: OAK-3302, note: pinned}]}\n", "utf-8")
    client = client_of(described(paths), "What does the note on OAK-3302 say?", file)
    quotes = [quote for quote in client.get("/quotes") if quote["quote_number"] == "OAK-3302"]
    assert [quote["note"] for quote in quotes] == ["pinned"]
    assert not [invoice for invoice in client.get("/invoices") if invoice["invoice_number"] == "OAK-3302"]


def test_schemas_that_hold_one_another_stay_small() -> None:
    """Twelve schemas that each show the eleven others would make billions of places."""
    references = {f"Part{letter}": {"$ref": f"#/components/schemas/Part{letter}"} for letter in "ABCDEFGHIJKL"}
    schemas = {
        name: object_of("id", "label", "parts", id=TEXT, label=TEXT, parts=list_of(reference), **references)
        for name, reference in references.items()
    }
    paths = {f"/{name.lower()}s/{{id}}": {"get": operation(references[name])} for name in references}

    plans = analyze_api(load(described(paths, schemas=schemas))).plans
    shapes = [plan.shape for plan in plans if plan.shape]

    assert max(sum(1 for _ in shape.walk()) for shape in shapes) <= 400
    assert all({"id", "label", "parts"} <= set(shape.properties) for shape in shapes)


def test_a_list_that_is_too_deep_is_empty_not_an_object() -> None:
    """A required list below the last level that is followed keeps its type."""
    node, nodes = ({"$ref": f"#/components/schemas/{name}"} for name in ("Node", "Nodes"))
    wide = {f"p{number}": node for number in range(30)}
    schemas = {"Node": object_of("nodes", name=TEXT, nodes=nodes, **wide), "Nodes": list_of(node)}
    tree = client_of(described({"/tree": {"get": operation(node)}}, schemas=schemas)).get("/tree")

    assert all(isinstance(place["nodes"], list) for place in (tree, *tree.values()) if isinstance(place, dict))


def test_an_envelope_of_one_holds_the_entity_of_its_path() -> None:
    """`GET /Contacts/{ContactID}` answers `{Contacts: […]}` with that contact alone, and the list shows its name."""
    many = operation(object_of(Contacts=list_of(object_of(ContactID=TEXT, Name=TEXT, Phone=TEXT))))
    document = described({"/Contacts": {"get": many}, "/Contacts/{ContactID}": {"get": many}})
    client = client_of(document, 'Do we know "Bluebell Florists"?')

    chosen = next(entry for entry in client.get("/Contacts")["Contacts"] if entry["Name"] == "Bluebell Florists")

    assert client.get(f"/Contacts/{chosen['ContactID']}")["Contacts"] == [chosen]


def test_the_number_of_an_invoice_is_found_within_its_details() -> None:
    """A number of the question stands where the document nests it."""
    invoice = object_of(id=TEXT, detail=object_of(invoice_number=TEXT, note=TEXT), status=TEXT)
    many = operation(object_of(items=list_of(invoice)))
    document = described({"/invoices": {"get": many}, "/invoices/{invoice_id}": {"get": operation(invoice)}})
    client = client_of(document, "Has invoice NBW-0145 been paid?")

    listed = client.get("/invoices")["items"]
    numbers = [entry["detail"]["invoice_number"] for entry in listed]

    assert numbers.count("NBW-0145") == 1
    assert len(set(numbers)) == len(numbers)
    chosen = listed[numbers.index("NBW-0145")]
    assert client.get(f"/invoices/{chosen['id']}")["detail"] == chosen["detail"]
