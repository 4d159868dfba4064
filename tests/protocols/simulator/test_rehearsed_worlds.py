"""Worlds that grow by what programs look for, and what is true of every world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import requests

from atc.program.demands import demands_of
from protocols import Protocol, UsageError, load
from protocols.simulator import Demand, Session, Simulator
from protocols.text.entities import read_entities


def _object(**properties: object) -> dict[str, Any]:
    shapes = {name: kind if isinstance(kind, dict) else {"type": kind} for name, kind in properties.items()}
    return {"type": "object", "properties": shapes, "required": list(shapes)}


def _replies(schema: dict[str, Any], example: object = None) -> dict[str, Any]:
    content = {"schema": schema} | ({"example": example} if example is not None else {})
    return {"responses": {"200": {"description": "", "content": {"application/json": content}}}}


def _of(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


BOAT = _object(id="string", name="string", price="number", built={"type": "string", "format": "date"})
CREW = _object(id="string", name="string", role={"type": "string", "enum": ["cook", "mate"]})
SHARED = "b1c2d3e4f5"
SHOP = Path(__file__).parents[3] / "docs" / "examples" / "shop.yaml"
SHIPYARD = {
    "openapi": "3.0.3",
    "info": {"title": "Shipyard", "version": "1"},
    "servers": [{"url": "https://yard.example"}],
    "paths": {
        "/boats": {
            "get": {
                "parameters": [{"name": "price_lte", "in": "query", "schema": {"type": "number"}}],
                **_replies(_object(boats={"type": "array", "items": BOAT})),
            }
        },
        "/boats/{boat_id}": {"get": {"parameters": [_of("boat_id")], **_replies(BOAT, {"id": SHARED, "name": "Ada"})}},
        "/crews/{crew_id}": {"get": {"parameters": [_of("crew_id")], **_replies(CREW, {"id": SHARED, "name": "Bo"})}},
        "/boats/{boat_id}/crews": {
            "get": {"parameters": [_of("boat_id")], **_replies(_object(crews={"type": "array", "items": CREW}))}
        },
    },
}


@pytest.fixture(scope="module")
def shipyard() -> Protocol:
    return load(SHIPYARD)


def _get(session: Session, path: str, **query: object) -> Any:
    reply = requests.get(session.url + path, params=query, timeout=20)  # type: ignore[arg-type]
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_a_world_grows_and_what_was_shown_stays(shipyard: Protocol) -> None:
    """A second program finds what it looks for; the boats of the first reply are still the same ones."""
    with Simulator(shipyard, auth=False) as simulator, simulator.session("Is there a boat?", rehearses=True) as session:
        before = {boat["id"]: boat for boat in _get(session, "/boats")["boats"]}
        session.satisfy([Demand("GET_boats", "below", 900, ("boats", 0, "price")), Demand("GET_boats", "call")])
        session.satisfy([Demand("GET_boats", "starts", "2021-07", ("boats", 0, "built"))])
        after = {boat["id"]: boat for boat in _get(session, "/boats")["boats"]}
        session.reset()
        again = {boat["id"]: boat for boat in _get(session, "/boats")["boats"]}

    assert all(after[key] == boat for key, boat in before.items() if key in after)
    assert any(boat["built"].startswith("2021-07") for boat in after.values())
    assert any(not boat["built"].startswith("2021-07") for boat in after.values())
    assert after.keys() == again.keys()


def test_a_filter_of_a_program_leaves_something_in_and_out(shipyard: Protocol) -> None:
    """A limit that the query sends is met by some boats, and not by all of them."""
    with Simulator(shipyard, auth=False) as simulator, simulator.session(rehearses=True) as session:
        session.satisfy(demands_of("print(GET_boats(price_lte=3)['boats'])", shipyard))
        within = _get(session, "/boats", price_lte=3)["boats"]
        every = _get(session, "/boats")["boats"]

    assert within
    assert all(boat["price"] <= 3 for boat in within)
    assert len(within) < len(every)


def test_a_total_does_not_depend_on_the_page_that_a_program_asks_for() -> None:
    """A list is longer than the document's largest page, and in the order that its summary tells."""
    shop, march = load(SHOP), 'status="unpaid", createdFrom="2024-03-01T00:00:00Z"'
    pages = []
    for arguments in (march, f"{march}, pageSize=50", f"{march}, pageSize=100", f"**dict({march})"):
        with Simulator(shop, auth=False) as simulator, simulator.session(rehearses=True) as session:
            session.satisfy(demands_of(f'print(GET_orders({arguments})["total"])', shop))
            pages.append(_get(session, "/orders", status="unpaid", createdFrom="2024-03-01T00:00:00Z"))

    placed = [order["createdAt"] for order in pages[0]["items"]]
    assert len({page["total"] for page in pages}) == 1
    assert pages[0]["total"] > 100
    assert placed == sorted(placed, reverse=True)
    assert placed[0] > placed[-1]


def test_members_of_a_thing_are_made_for_it(shipyard: Protocol) -> None:
    """The crew that a program looks for is that of each boat, and different on each."""
    program = 'for boat in GET_boats()["boats"]:\n    crews = GET_boats_boat_id_crews(boat_id=boat["id"])["crews"]\n'
    program += '    print([c["name"] for c in crews if c["role"] == "cook"])'
    with Simulator(shipyard, auth=False) as simulator, simulator.session(rehearses=True) as session:
        session.satisfy(demands_of(program, shipyard))
        boats = _get(session, "/boats")["boats"][:4]
        crews = [_get(session, f"/boats/{boat['id']}/crews")["crews"] for boat in boats]

    assert all(any(member["role"] == "cook" for member in crew) for crew in crews)


def test_an_identifier_that_nobody_told_is_none(shipyard: Protocol) -> None:
    """A program may use an identifier of the question; one that it invents is answered with 404."""
    program = "GET_boats_boat_id(boat_id='bx-99')"
    with Simulator(shipyard, auth=False) as simulator:
        for question, status in (("Show boat bx-99.", 200), ("Show a boat.", 404)):
            with simulator.session(question, rehearses=True) as session:
                session.satisfy(demands_of(program, shipyard))
                assert requests.get(session.url + "/boats/bx-99", timeout=20).status_code == status


def test_a_session_without_rehearsals_takes_no_demands(shipyard: Protocol) -> None:
    """The worlds of benchmarks stay as they are."""
    with Simulator(shipyard, auth=False) as simulator, pytest.raises(UsageError, match="rehearses"):
        simulator.session().satisfy([])


def test_types_share_no_identifier(shipyard: Protocol) -> None:
    """A document that uses one example for two types does not make them one thing."""
    with Simulator(shipyard, auth=False) as simulator, simulator.session() as session:
        assert _get(session, "/boats/b1c2d3e4f5")["name"] == "Ada"
        assert requests.get(session.url + "/crews/b1c2d3e4f5", timeout=20).status_code == 404


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who built Avatar: The Way of Water?", ["Avatar", "Avatar: The Way of Water", "The Way of Water"]),
        ("Record a payment of Ada Lund.", ["Ada Lund"]),
        ("Review all boats of Ada Lund.", ["Ada Lund"]),
    ],
)
def test_titles_with_colons_are_whole_and_verbs_are_no_names(question: str, names: list[str]) -> None:
    """A colon may stand within a title; a word before an article at the start of a sentence is a verb."""
    assert [name.text for name in read_entities(question).names] == names


@pytest.mark.parametrize(
    "test",
    [
        *("price < float('inf')", "price == float('inf')", "price == float('nan')", f"price == {'9' * 400}"),
        *("built < '0001-01-01'", "built > '9999-12-31'", "price == 'Infinity'"),
    ],
)
def test_a_value_that_no_reply_can_have_is_not_looked_for(shipyard: Protocol, test: str) -> None:
    """A program that searches the least or the latest begins beyond them; the world answers as if it did not."""
    field, _, rest = test.partition(" ")
    program = f'print([boat for boat in GET_boats()["boats"] if boat["{field}"] {rest}])'
    with Simulator(shipyard) as simulator, simulator.session(rehearses=True) as session:
        session.satisfy(demands_of(program, shipyard))

        assert _get(session, "/boats")["boats"]
