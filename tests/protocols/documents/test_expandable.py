"""Services with relations that can be expanded: a number, or the thing itself."""

from __future__ import annotations

import pytest

from atc.assist.check import check
from atc.assist.check.stubs import write_stubs
from atc.assist.language.question import Question
from protocols import load
from protocols.contracts.contract import Contract
from protocols.dataflow.graph import ProtocolGraph
from protocols.model import Protocol
from protocols.render import render
from tests.protocols.documents.expandable import MUSEUM, document
from tests.protocols.documents.samples import document as one_operation


@pytest.fixture(scope="module")
def museum() -> Protocol:
    return load(document("http://museum.example"))


def diagnoses(protocol: Protocol, program: str, contract: Contract | None = None) -> list[tuple[str, str | None]]:
    """What the check says of a program."""
    names = [tool.name for tool in protocol.tools]
    checked = check(program, contract or Contract(protocol), names, Question("Painting 1"), ProtocolGraph(protocol))
    return [(diagnostic.rule, diagnostic.key) for diagnostic in checked]


def test_the_check_takes_a_relation_as_number_and_as_thing(museum: Protocol) -> None:
    program = """
painting = GET_items_paintings()["data"][0]
print(GET_items_lenders_id(id=painting["lender"]))
print(GET_items_lenders_id(id=painting["lender"]["id"]))
print(painting["lender"]["name"])
print(painting["lender"] + 1)
print(painting["lender"] is None or isinstance(painting["lender"], int))
"""

    assert diagnoses(museum, program) == []


def test_what_was_seen_does_not_narrow_a_relation(museum: Protocol) -> None:
    """A service expands a relation where it is asked to: one reply says nothing of the next."""
    observed = {
        "type": "object",
        "properties": {"data": {"type": "object", "properties": {"lender": {"type": "integer"}}}},
    }
    contract = Contract(museum, {"GET_items_paintings_id": observed})
    program = 'print(GET_items_paintings_id(id=1)["data"]["lender"]["name"])'

    assert diagnoses(museum, program, contract) == []


def test_the_model_reads_a_relation_as_a_union(museum: Protocol) -> None:
    text = render([museum.tool("GET_items_paintings_id")], ProtocolGraph(museum))

    assert "lender:int|{id:int, name, status}" in text


@pytest.mark.parametrize("collection", MUSEUM)
def test_a_thing_is_found_in_its_own_list(museum: Protocol, collection: str) -> None:
    """Every identifier is called `id`; one that lies in a relation is there only where it is expanded."""
    best, *_ = ProtocolGraph(museum).providers(f"GET_items_{collection}_id", "id")

    assert (best.tool, best.path) == (f"GET_items_{collection}", ("data", 0, "id"))


def test_an_identifier_is_read_before_it_is_made(museum: Protocol) -> None:
    """Also where a list has many filters, no search, and wraps its things under a name of its own."""
    described = document("http://museum.example")
    for path, item in described["paths"].items():
        if "get" in item and "post" in item:
            item["get"]["parameters"] = [
                parameter for parameter in item["get"]["parameters"] if parameter["name"] != "search"
            ]
            schema = item["get"]["responses"]["200"]["content"]["application/json"]["schema"]
            many = schema["properties"].pop("data")
            schema["properties"] = {"docs": many, "totalDocs": {"type": "integer"}, "hasNextPage": {"type": "boolean"}}
            assert path.startswith("/items/")
    best, *_ = ProtocolGraph(load(described)).providers("GET_items_lenders_id", "id")

    assert (best.tool, best.path) == ("GET_items_lenders", ("docs", 0, "id"))


def test_schemas_in_circles_are_read_in_linear_work() -> None:
    """Thirty schemas that refer to five others each: what is known of a response is bounded, and a mistake is seen."""
    names = [f"T{place}" for place in range(30)]
    schemas = {
        name: {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                **{f"r{k}": {"$ref": f"#/components/schemas/T{(place * 7 + k) % 30}"} for k in range(1, 6)},
            },
        }
        for place, name in enumerate(names)
    }
    protocol = load(one_operation({"$ref": "#/components/schemas/T0"}, schemas=schemas, place="get /t0"))

    assert len(write_stubs(Contract(protocol), ["GET_t0"]).objects) < 300
    assert diagnoses(protocol, 'print(GET_t0()["r1"]["r2"]["nme"])') == [("unknown-key", "nme")]


def test_the_document_itself_is_no_tool(museum: Protocol) -> None:
    assert "GET_server_specs_oas" not in museum
