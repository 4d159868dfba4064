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
