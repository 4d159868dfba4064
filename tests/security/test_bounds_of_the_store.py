"""A store of observations has a bounded size, whatever the replies are, and says what it does not hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from protocols import UsageError, load
from protocols.contracts.store import ContractStore, ObservedEdge
from tests.atc_command import atc

OK = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}
DOCUMENT = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {"/notes": {"get": {"responses": OK}}}}


def test_keys_that_are_data_are_not_kept(tmp_path: Path) -> None:
    """An entry for each id made 9.5 MB of 15 replies; the other keys stay, and the command says what is left out."""
    protocol, store = load(DOCUMENT), ContractStore(tmp_path)
    for number in range(4):
        entries = {f"{number}-{entry}": {"name": "x", "tags": {"a": 1}} for entry in range(3000)}
        store.record(protocol, [("GET_notes", 200, {"entries": entries, "next": "x"})])
    store.record(protocol, [("GET_notes", 200, {"entries": {"few": {"name": "x"}}, "next": "y"})])

    observed = store.observed(protocol)["GET_notes"]
    body = store.contract(protocol).body("GET_notes")
    (tmp_path / "t.json").write_text(json.dumps(DOCUMENT))
    process = atc("contract", "show", "--api", tmp_path / "t.json", "--store", tmp_path)

    assert (observed.bodies, observed.left_out) == (5, (("entries",),))
    assert body is not None and (set(body.keys), body.keys["entries"].type.open) == ({"entries", "next"}, True)
    assert store.file(protocol).stat().st_size < 2000
    assert 'GET_notes: what is in ["entries"] is not kept' in process.output


@pytest.mark.parametrize("shape", ["wide", "deep", "long names", "lists", "alternatives"])
def test_a_reply_beyond_measure_is_kept_in_its_outer_parts(shape: str, tmp_path: Path) -> None:
    """Keys of keys of keys, a hundred objects in one another, a name of a megabyte."""
    body: object = 1
    if shape == "wide":
        body = {f"a{i}": {f"b{j}": {f"c{k}": 1 for k in range(15)} for j in range(15)} for i in range(15)}
    for _ in range(95 if shape == "deep" else 0):
        body = {"a": body}
    for _ in range(45 if shape == "lists" else 0):
        body = [body, {"a": [body]}]
        body = body if len(str(body)) < 100_000 else [1]
    if shape == "long names":
        body = {"x" * 1_000_000: 1}
    if shape == "alternatives":
        body = [[{f"a{i}": 1 for i in range(300)}], {f"b{i}": 1 for i in range(300)}, 1, "x"]
    protocol, store = load(DOCUMENT), ContractStore(tmp_path)
    for _ in range(2):
        store.record(protocol, [("GET_notes", 200, {"first": 1, "part": body})])

    assert store.observed(protocol)["GET_notes"].left_out or shape == "lists"
    assert "first" in store.observed(protocol)["GET_notes"].schema["properties"]  # type: ignore[operator]
    assert store.file(protocol).stat().st_size < 300_000


def test_sources_of_arguments_are_bounded(tmp_path: Path) -> None:
    """The most frequent ones are kept, and none with a key that is a text."""
    protocol, store = load(DOCUMENT), ContractStore(tmp_path)
    edges = [ObservedEdge("GET_notes", "x", "GET_notes", (f"k{number}",)) for number in range(5000)]
    long = ObservedEdge("GET_notes", "x", "GET_notes", ("k" * 5000,))
    store.record(protocol, [], [*edges, edges[-1], long])

    edges = store.edges(protocol)
    assert (len(edges), edges[0].path, edges[0].times) == (2000, ("k4999",), 2)


def test_a_name_that_is_no_text_is_kept(tmp_path: Path) -> None:
    """Half a surrogate pair in a key ended the solve with a traceback."""
    protocol, store = load(DOCUMENT), ContractStore(tmp_path)
    store.record(protocol, [("GET_notes", 200, {"\ud800": 1})])

    assert "\ud800" in store.observed(protocol)["GET_notes"].schema["properties"]  # type: ignore[operator]


TOOL = '{"format": 1, "tools": {"GET_notes": %s}}'


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000,
        '{"format": 1, "tools": {}, "edges": [7]}',
        '{"format": 1, "tools": {}, "edges": [{"tool": 1, "argument": [], "source": null, "path": 5}]}',
        TOOL % '{"bodies": "x"}',
        TOOL % '{"bodies": 1e400}',
        TOOL % '{"bodies": 1, "schema": {"properties": 7}}',
        TOOL % '{"bodies": 1, "schema": {"type": {"a": 1}}}',
        TOOL % '{"bodies": 1, "schema": {"anyOf": 7}}',
        TOOL % '{"bodies": 1, "schema": {"anyOf": [7]}}',
        TOOL % '{"bodies": 1, "schema": {"items": [{"type": "object"}]}}',
        TOOL % '{"bodies": 1, "schema": {"type": "object", "properties": {"a": {"type": "nothing"}}}}',
        TOOL % '{"bodies": 1, "schema": {"required": [[1]]}}',
        TOOL % '{"statuses": {"200": "many"}}',
        TOOL % ('{"bodies": 1, "schema": ' + '{"items": ' * 400 + "{}" + "}" * 401),
    ],
)
def test_a_damaged_store_is_a_message(content: str, tmp_path: Path) -> None:
    """It names the file, and the file stays as it is; or it can be read and written."""
    protocol, store = load(DOCUMENT), ContractStore(tmp_path)
    file = store.file(protocol)
    file.write_text(content)
    try:
        store.contract(protocol).body("GET_notes")
        store.record(protocol, [("GET_notes", 200, {"a": 1})])
    except UsageError as error:
        assert str(error).startswith(f"{file} ") and "move it away to begin anew" in str(error)
        assert file.read_text() == content
