"""A rehearsal tells right programs from likely mistakes, over a document that no rule was made for."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.micro.twin import main, read_twin_files, rehearse
from protocols import Protocol, UsageError, load
from protocols.simulator import Simulator
from tests.protocols.simulator.simulated_apis import TEXT, WHOLE, described, list_of, object_of, operation

NOW = datetime(2024, 6, 1, tzinfo=UTC)
MOORING = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "name": {"type": "string"},
        "state": {"type": "string", "enum": ["free", "reserved", "occupied"]},
        "length_m": {"type": "number"},
        "reserved_on": {"type": "string", "format": "date"},
        "warden": {"$ref": "#/components/schemas/Warden"},
    },
    "required": ["id", "name", "state"],
}
WARDEN = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "name": {"type": "string"},
        "email": {"type": "string", "format": "email"},
        "phone": {"type": "string"},
    },
    "required": ["id", "name", "email", "phone"],
}


def _list_of(name: str, *parameters: dict[str, Any]) -> dict[str, Any]:
    shape = {
        "type": "object",
        "properties": {
            "data": {"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}},
            "total": {"type": "integer"},
        },
        "required": ["data", "total"],
    }
    paging = [{"name": name, "in": "query", "schema": {"type": "integer"}} for name in ("page", "limit")]
    return _operation(shape, *parameters, *paging)


def _operation(shape: dict[str, Any], *parameters: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": shape}}
    return {"get": {"parameters": list(parameters), "responses": {"200": {"description": "", "content": content}}}}


STATE = {"name": "state", "in": "query", "schema": {"type": "string", "enum": ["free", "reserved", "occupied"]}}
KEY = {"name": "mooring_id", "in": "path", "required": True, "schema": {"type": "string"}}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Marina", "version": "1"},
    "servers": [{"url": "https://marina.example"}],
    "paths": {
        "/moorings": _list_of("Mooring", STATE),
        "/moorings/{mooring_id}": _operation({"$ref": "#/components/schemas/Mooring"}, KEY),
        "/wardens": _list_of("Warden"),
    },
    "components": {"schemas": {"Mooring": MOORING, "Warden": WARDEN}},
}
ALL_MOORINGS = """
moorings, page = [], 1
while True:
    reply = GET_moorings(page=page, limit=50)
    moorings.extend(reply["data"])
    if len(moorings) >= reply["total"]:
        break
    page += 1
"""


@pytest.fixture(scope="module")
def marina() -> Protocol:
    return load(DOCUMENT)


@pytest.fixture(scope="module")
def simulator(marina: Protocol) -> Iterator[Simulator]:
    with Simulator(marina, now=NOW) as started:
        yield started


RIGHT = {
    "a filter with a date": (
        "How many moorings were reserved in March 2024?",
        ALL_MOORINGS
        + 'march = [m for m in moorings if m["state"] == "reserved" and m["reserved_on"].startswith("2024-03")]\n'
        "assert march and len(march) < len(moorings)\n"
        "print(len(march))",
    ),
    "an amount": (
        "Which free moorings are longer than 40 metres?",
        ALL_MOORINGS.replace("limit=50", "limit=50, state='free'")
        + "long = [m['name'] for m in moorings if m['length_m'] > 40]\n"
        "assert 0 < len(long) < len(moorings)\n"
        "print(', '.join(long))",
    ),
    "an identifier": (
        "What state is mooring MR-204 in?",
        "print(GET_moorings_mooring_id(mooring_id='MR-204')['state'])",
    ),
    "a warden of many": (
        "Which moorings does ines.prat@marina.example look after?",
        ALL_MOORINGS + 'print([m["name"] for m in moorings if m["warden"]["email"] == "ines.prat@marina.example"])',
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_finds_what_it_looks_for(simulator: Simulator, marina: Protocol, name: str) -> None:
    """Whatever the program looks for exists where it looks, and not everywhere."""
    assert rehearse(simulator, marina, *RIGHT[name], "large") == "supported"


WRONG = {
    "Unmet": (
        "How many moorings are reserved?",
        ALL_MOORINGS + 'print(sum(1 for m in moorings if m["state"] == "RESERVED"))',
    ),
    "FirstPage": (
        "How long is the longest mooring?",
        'print(max(m["length_m"] for m in GET_moorings(limit=30)["data"]))',
    ),
}


@pytest.mark.parametrize("finding", WRONG)
def test_a_likely_mistake_is_doubted(simulator: Simulator, marina: Protocol, finding: str) -> None:
    """A value in a spelling that the document does not have, and the first page alone."""
    assert finding in rehearse(simulator, marina, *WRONG[finding], "large")


def _ferries() -> dict[str, Any]:
    """A ferry line: keys in paths, filters by what another reply gave, amounts as texts, dates around a moment."""
    port = object_of("uuid", "name", id=WHOLE, uuid=TEXT, name=TEXT)
    status = object_of(value={"type": "string", "enum": ["open", "full"]}, label=TEXT)
    sailing = object_of("id", id=WHOLE, number=TEXT, fare=TEXT, status=status, sails_at=TEXT)
    reader = object_of("id", id=WHOLE, name=TEXT, email=TEXT, topics=list_of(object_of("id", id=WHOLE, name=TEXT)))
    topic = object_of("id", id=WHOLE, name=TEXT)
    remark = object_of("id", id=WHOLE, object_type=TEXT, object_id=WHOLE, text=TEXT)
    person = object_of("id", "username", id=WHOLE, username=TEXT, name=TEXT)
    logbook = object_of("id", id=WHOLE, note=TEXT, written_at={"type": "string", "format": "date-time"})
    paths = {
        "/me": operation(person),
        "/{username}/logs": operation(list_of(logbook), {"after": TEXT, "before": TEXT}),
        "/ports": operation(list_of(port)),
        "/ports/{uuid}/sailings": operation(list_of(sailing), {"status": list_of(TEXT), "skip": WHOLE, "take": WHOLE}),
        "/sailings/by_number/{number}": operation(sailing),
        "/readers": operation(list_of(reader), {"topic_id": list_of(WHOLE), "per_page": TEXT}),
        "/topics": operation(list_of(topic), {"query": TEXT}),
        "/remarks": operation(list_of(remark), {"object_id": WHOLE}),
    }
    return described({path: {"get": called} for path, called in paths.items()})


PORT = 'port = next(p for p in GET_ports() if p["name"] == "Lindhaven")\n'
HABITS = {
    "Which sailings from Lindhaven are open, and what do they cost together?": PORT + "open = []\n"
    "while True:\n"
    '    page = GET_ports_uuid_sailings(uuid=port["uuid"], status=["open"], skip=len(open), take=50)\n'
    "    open.extend(page)\n"
    "    if len(page) < 50:\n"
    "        break\n"
    'assert open and {sailing["status"]["value"] for sailing in open} == {"open"}\n'
    'print(len(open), sum(float(sailing["fare"]) for sailing in open))',
    "What does sailing FL-2041 cost?": 'print(GET_sailings_by_number_number(number="FL-2041")["fare"])',
    "What did I note in March 2024?": 'me = GET_me()["username"]\n'
    'notes = GET_username_logs(username=me, after="2024-03-01T00:00:00Z", before="2024-04-01T00:00:00Z")\n'
    'assert notes and all(note["written_at"].startswith("2024-03") for note in notes)\n'
    'print([note["note"] for note in notes])',
    "Who reads about the topic Harbour Notes?": 'topic = GET_topics(query="Harbour Notes")[0]\n'
    'readers = GET_readers(topic_id=[topic["id"]], per_page="all")\n'
    'assert readers and all(topic["id"] in [kept["id"] for kept in reader["topics"]] for reader in readers)\n'
    'print([reader["name"] for reader in readers])',
    "What is remarked about the port Lindhaven?": PORT
    + 'print([remark["text"] for remark in GET_remarks(object_id=port["id"]) if remark["object_type"] == "port"])',
}


@pytest.fixture(scope="module")
def ferries() -> Iterator[tuple[Simulator, Protocol]]:
    protocol = load(_ferries())
    with Simulator(protocol, now=NOW, auth=False) as started:
        yield started, protocol


@pytest.mark.parametrize("question", HABITS)
def test_what_one_reply_gives_is_found_in_the_next(ferries: tuple[Simulator, Protocol], question: str) -> None:
    """By a key in a path, a list of identifiers, and an identifier of no known type."""
    assert rehearse(*ferries, question, HABITS[question], "large") == "supported"


def test_the_figures_of_a_file(tmp_path: Path) -> None:
    """A file of tasks is counted by document and half; another document than the one named is refused."""
    document = tmp_path / "marina.json"
    document.write_text(json.dumps(DOCUMENT))
    tasks = [{"question": RIGHT["an identifier"][0], "right": RIGHT["an identifier"][1], "kind": "page"}]
    tasks[0]["wrong"] = WRONG["FirstPage"][1]
    entry = {"sha256": sha256(document.read_bytes()).hexdigest(), "half": "read", "tasks": tasks}
    file = tmp_path / "tasks.json.gz"
    file.write_bytes(gzip.compress(json.dumps({"marina.json": entry}).encode()))

    result = CliRunner().invoke(main, [str(file), "--documents", str(tmp_path), "--json"])
    (row,) = json.loads(result.output)["marina"]
    document.write_text("[]")
    refused = CliRunner().invoke(main, [str(file), "--documents", str(tmp_path)])
    unknown = CliRunner().invoke(main, [str(file), "--documents", str(tmp_path), "--only", "harbour"])
    file.write_bytes(file.read_bytes()[:100])

    assert row["right"] == "supported"
    assert row["wrong"] != "supported"
    assert "another document" in refused.output
    assert "no document that is chosen" in unknown.output
    for damaged in (document, file):
        with pytest.raises(UsageError, match="cannot be read"):
            read_twin_files(damaged)
