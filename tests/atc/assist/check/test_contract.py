"""What responses hold is the union of document, examples and observations; where they differ is told."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from atc import Agent
from atc.assist.check import check
from protocols import load
from protocols.contracts.contract import Contract, infer_schema
from protocols.contracts.store import ContractStore, ObservedEdge, contract_drift
from protocols.errors import UsageError
from protocols.samples import sample
from tests.atc_command import atc
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

SPEC = {
    "openapi": "3.1.0",
    "info": {"title": "Shelves", "version": "1"},
    "servers": [{"url": "https://shelves.example"}],
    "paths": {
        "/books": {
            "get": {
                "responses": {
                    "200": {
                        "description": "Books",
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "properties": {
                                            "id": {"type": "integer"},
                                            "title": {"type": "string"},
                                            "year": {"type": "string"},
                                            "note": {"type": "string"},
                                        },
                                    },
                                },
                                "example": [{"id": 1, "title": "Emma", "pages": 400}],
                            }
                        },
                    }
                }
            }
        }
    },
}
BOOK = {"id": 7, "title": "Persuasion", "year": 1817, "price": 9.5}


@pytest.mark.parametrize("additional", [{"type": "number"}, True])
def test_what_a_document_calls_open_stays_open(additional: object) -> None:
    """A map by currency has the next currency tomorrow, whatever an example or an observation showed."""
    rates = {"type": "object", "additionalProperties": additional}
    schema = {"type": "object", "properties": {"base": {"type": "string"}, "rates": rates}}
    observed = {"base": "NOK", "rates": {"EUR": 0.08}}
    response = {"description": "Rates", "content": {"application/json": {"schema": schema, "example": observed}}}
    paths = {"/rates": {"get": {"responses": {"200": response}}}}
    protocol = load({**SPEC, "paths": paths})
    contract = Contract(protocol, {"GET_rates": infer_schema([observed])})

    assert check('print(GET_rates()["rates"]["USD"])', contract) == []
    (diagnostic,) = check('print(GET_rates()["rules"])', contract)
    assert diagnostic.suggestion == '["rates"]'


def test_a_contract_is_the_union_of_all_that_is_known() -> None:
    """Keys of the schema and of the example, and those that were seen; what was not always there is not certain."""
    protocol = load(SPEC)
    plain = Contract(protocol).body("GET_books")
    assert plain is not None
    assert list(plain.at([0]).keys) == ["id", "title", "year", "note", "pages"]

    observed = {"GET_books": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}}}
    held = Contract(protocol, observed).body("GET_books")
    assert held is not None
    assert not held.at([0]).keys["title"].certain


def test_what_was_seen_is_kept_and_compared(tmp_path: Path) -> None:
    """New, missing and changed keys, and a status that nobody documented."""
    protocol, store = load(SPEC), ContractStore(tmp_path / "store")
    store.record(protocol, [("GET_books", 200, [BOOK]), ("GET_books", 200, [{**BOOK, "price": None}])])
    store.record(protocol, [("GET_books", 429, None), ("GET_elsewhere", 200, {})])
    observed = store.observed(protocol)

    assert (observed["GET_books"].bodies, dict(observed["GET_books"].statuses)) == (2, {"200": 2, "429": 1})
    assert {(drift.kind, drift.path, drift.text) for drift in contract_drift(protocol, observed)} == {
        ("new", '[0]["price"]', "float, not documented"),
        ("changed", '[0]["year"]', "documented as str, is int"),
        ("missing", '[0]["note"]', "documented, never there"),
        ("missing", '[0]["pages"]', "documented, never there"),
        ("new", "", "status 429 is not documented"),
    }
    body = store.contract(protocol).body("GET_books")
    assert body is not None
    assert body.at([0]).keys["price"].type.kind == "float"


def test_several_may_learn_at_once(tmp_path: Path) -> None:
    """No observation is lost."""
    protocol = load(SPEC)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ContractStore(tmp_path).record(protocol, [("GET_books", 200, [BOOK])]), range(24)))

    assert ContractStore(tmp_path).observed(protocol)["GET_books"].bodies == 24


@pytest.mark.parametrize("text", ["", "[]", '{"format": 9, "tools": {}}', '{"format": 1, "tools": {"x": {"y": 1}}}'])
def test_a_file_of_another_kind_is_named(tmp_path: Path, text: str) -> None:
    protocol, store = load(SPEC), ContractStore(tmp_path)
    store.file(protocol).write_text(text)

    with pytest.raises(UsageError, match=store.file(protocol).name):
        store.observed(protocol)


def test_an_agent_learns_what_the_document_forgot(tmp_path: Path) -> None:
    """The first time the key is told as unknown, and the program is run all the same; the second time it is known."""
    undocumented = 'print(GET_cities(query="Oslo")["results"][0]["mayor"])'
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [{"id": "osl", "name": "Oslo", "population": 1, "mayor": "Anne"}]})
        stages = []
        for programs in ([undocumented] * 4, [undocumented]):
            with Agent(api.protocol, ScriptedModel(*programs), store=tmp_path / "store") as agent:
                solution = agent.solve("Who is the mayor of Oslo?")
                stages.append([attempt.stage for attempt in solution.attempts])
                assert solution.answer == "Anne"

    assert stages == [["check", "done"], ["done"]]


def test_where_arguments_came_from_is_kept(tmp_path: Path) -> None:
    """What called well once is the first source of its argument for the next agent with the same store."""
    protocol = load(sample("cinema"))
    program = 'film = GET_films_top_rated()["films"][0]\nprint(GET_films_filmId_credits(filmId=film["filmId"])["cast"])'
    with Agent(protocol, ScriptedModel(program, program), simulate=True, store=tmp_path) as agent:
        for _ in range(2):
            agent.solve("Who plays in the top rated film?")
    stored = ContractStore(tmp_path / "simulated").edges(protocol)

    assert stored == [
        ObservedEdge("GET_films_filmId_credits", "filmId", "GET_films_top_rated", ("films", 0, "filmId"), 2)
    ]
    with Agent(protocol, ScriptedModel(), simulate=True, store=tmp_path) as agent:
        assert agent.graph.providers("GET_films_filmId_credits", "filmId")[0].tool == "GET_films_top_rated"
    with Agent(protocol, ScriptedModel(), simulate=True) as agent:
        assert agent.graph.providers("GET_films_filmId_credits", "filmId")[0].tool == "GET_films"


def test_a_program_is_checked_by_what_was_seen(tmp_path: Path) -> None:
    """`atc check --store`: a key that the service sent is there."""
    spec, program, store = tmp_path / "spec.json", tmp_path / "program.py", tmp_path / "store"
    spec.write_text(json.dumps(SPEC))
    program.write_text('print(GET_books()[0]["price"])\n')
    ContractStore(store).record(load(spec), [("GET_books", 200, [BOOK])])

    assert atc("check", program, "--api", spec).exit_code == 1
    assert atc("check", program, "--api", spec, "--store", store).exit_code == 0
    program.write_text('import subprocess\nprint(GET_books()[0]["id"])\n')
    refused = atc("check", program, "--api", spec)
    assert (refused.exit_code, refused.stdout.partition(": ")[0]) == (1, f"{program}:1:1")
    assert "refused: line 1: `import subprocess`" in refused.stdout


def test_the_command_shows_what_was_seen(tmp_path: Path) -> None:
    """For people and machines; a tool that there is not is wrong usage."""
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(SPEC))
    store = tmp_path / "store"
    ContractStore(store).record(load(spec), [("GET_books", 200, [BOOK])])
    where = ("--api", spec, "--store", store)

    assert json.loads(atc("contract", "show", *where, "--json").stdout) == {
        "GET_books": {"bodies": 1, "statuses": {"200": 1}}
    }
    lines = atc("contract", "show", "GET_books", *where).stdout.splitlines()
    assert {"id: int", "note?: str", "price: float"} <= set(lines)
    assert atc("contract", "show", "GET_x", *where).exit_code == 2
    assert atc("contract", "show", "--api", spec, "--store", tmp_path / "none").exit_code == 2
