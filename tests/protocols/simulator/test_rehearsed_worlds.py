"""Worlds that grow by what programs look for, and what is true of every world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from atc.program.demands import demands_of
from protocols import Protocol, UsageError, load
from protocols.simulator import Demand, Session, Simulator
from tests.protocols.simulator.simulated_apis import NUMBER, TEXT, Client, described, list_of, object_of, operation

BOAT = object_of(id=TEXT, name=TEXT, price=NUMBER, built={"type": "string", "format": "date"})
CREW = object_of(id=TEXT, name=TEXT, role={"type": "string", "enum": ["cook", "mate"]})
SHARED = "b1c2d3e4f5"
SHOP = Path(__file__).parents[3] / "docs" / "examples" / "shop.yaml"


def with_example(schema: dict[str, Any], **example: object) -> dict[str, Any]:
    """An operation that shows an example of its answer."""
    shown = operation(schema)
    shown["responses"]["200"]["content"]["application/json"]["example"] = example
    return shown


@pytest.fixture(scope="module")
def shipyard() -> Protocol:
    """Boats and their crews; the document has one example for both."""
    paths = {
        "/boats": {"get": operation(object_of(boats=list_of(BOAT)), {"price_lte": NUMBER})},
        "/boats/{boat_id}": {"get": with_example(BOAT, id=SHARED, name="Ada")},
        "/crews/{crew_id}": {"get": with_example(CREW, id=SHARED, name="Bo")},
        "/boats/{boat_id}/crews": {"get": operation(object_of(crews=list_of(CREW)))},
    }
    return load(described(paths))


def rehearsed(protocol: Protocol, program: str = "", question: str = "") -> tuple[Session, Client]:
    """A session in which programs are rehearsed, this one to begin with, and a client of it."""
    simulator = Simulator(protocol, auth=False)
    session = simulator.session(question, rehearses=True)
    if program:
        session.satisfy(demands_of(program, protocol))
    return session, Client(simulator, session)


def test_a_world_grows_and_what_was_shown_stays(shipyard: Protocol) -> None:
    """A second program finds what it looks for; the boats of the first reply are still the same ones."""
    session, client = rehearsed(shipyard, question="Is there a boat?")
    before = {boat["id"]: boat for boat in client.get("/boats")["boats"]}
    session.satisfy([Demand("GET_boats", "below", 900, ("boats", 0, "price")), Demand("GET_boats", "call")])
    session.satisfy([Demand("GET_boats", "starts", "2021-07", ("boats", 0, "built"))])
    after = {boat["id"]: boat for boat in client.get("/boats")["boats"]}
    session.reset()
    again = {boat["id"]: boat for boat in client.get("/boats")["boats"]}

    assert all(after[key] == boat for key, boat in before.items() if key in after)
    assert any(boat["built"].startswith("2021-07") for boat in after.values())
    assert any(not boat["built"].startswith("2021-07") for boat in after.values())
    assert after.keys() == again.keys()


def test_a_filter_of_a_program_leaves_something_in_and_out(shipyard: Protocol) -> None:
    """A limit that the query sends is met by some boats, and not by all of them."""
    _, client = rehearsed(shipyard, "print(GET_boats(price_lte=3)['boats'])")
    within = client.get("/boats", price_lte=3)["boats"]

    assert within
    assert all(boat["price"] <= 3 for boat in within)
    assert len(within) < len(client.get("/boats")["boats"])


def test_a_total_does_not_depend_on_the_page_that_a_program_asks_for() -> None:
    """A list is longer than the document's largest page, and in the order that its summary tells."""
    shop, march = load(SHOP), 'status="unpaid", createdFrom="2024-03-01T00:00:00Z"'
    pages = []
    for arguments in (march, f"{march}, pageSize=50", f"{march}, pageSize=100", f"**dict({march})"):
        _, client = rehearsed(shop, f'print(GET_orders({arguments})["total"])')
        pages.append(client.get("/orders", status="unpaid", createdFrom="2024-03-01T00:00:00Z"))

    placed = [order["createdAt"] for order in pages[0]["items"]]
    assert len({page["total"] for page in pages}) == 1
    assert pages[0]["total"] > 100
    assert placed == sorted(placed, reverse=True)
    assert placed[0] > placed[-1]


def test_a_list_is_longer_than_the_page_that_a_program_asks_for() -> None:
    """A program that takes 500 items for all of them reads a part in this world as it may in the real one."""
    _, client = rehearsed(load(SHOP), 'print(len(GET_orders(pageSize=500)["items"]))')

    assert client.get("/orders")["total"] > 500


def test_members_of_a_thing_are_made_for_it(shipyard: Protocol) -> None:
    """The crew that a program looks for is that of each boat, and different on each."""
    program = 'for boat in GET_boats()["boats"]:\n    crews = GET_boats_boat_id_crews(boat_id=boat["id"])["crews"]\n'
    _, client = rehearsed(shipyard, program + '    print([c["name"] for c in crews if c["role"] == "cook"])')
    crews = [client.get(f"/boats/{boat['id']}/crews")["crews"] for boat in client.get("/boats")["boats"][:4]]

    assert all(any(member["role"] == "cook" for member in crew) for crew in crews)


@pytest.mark.parametrize(("question", "status"), [("Show boat bx-99.", 200), ("Show a boat.", 404)])
def test_an_identifier_that_nobody_told_is_none(shipyard: Protocol, question: str, status: int) -> None:
    """A program may use an identifier of the question; one that it invents is answered with 404."""
    _, client = rehearsed(shipyard, "GET_boats_boat_id(boat_id='bx-99')", question)

    assert client.send("GET", "/boats/bx-99").status == status


def test_a_session_without_rehearsals_takes_no_demands(shipyard: Protocol) -> None:
    """The worlds of benchmarks stay as they are."""
    with pytest.raises(UsageError, match="rehearses"):
        Simulator(shipyard).session().satisfy([])


def test_types_share_no_identifier(shipyard: Protocol) -> None:
    """A document that uses one example for two types does not make them one thing."""
    client = Client(Simulator(shipyard))

    assert client.get(f"/boats/{SHARED}")["name"] == "Ada"
    assert client.send("GET", f"/crews/{SHARED}").status == 404


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
    _, client = rehearsed(shipyard, f'print([boat for boat in GET_boats()["boats"] if boat["{field}"] {rest}])')

    assert client.get("/boats")["boats"]


def test_totals_within_an_object_about_the_reply_are_those_of_its_list() -> None:
    """`meta.pagination`, as many frameworks write it: the pages end where it says, and `count` is of this page."""
    about = {"pagination": object_of(total=NUMBER, count=NUMBER, per_page=NUMBER, total_pages=NUMBER)}
    parameters = {"limit": NUMBER, "page": NUMBER}
    listing = operation(object_of(data=list_of(BOAT), meta=object_of(**about)), parameters)
    program = 'print(GET_boats(limit=20)["meta"]["pagination"]["total_pages"])'
    _, client = rehearsed(load(described({"/boats": {"get": listing}})), program)

    pages = client.get("/boats", limit=20)["meta"]["pagination"]["total_pages"]
    replies = [client.get("/boats", limit=20, page=page) for page in range(1, pages + 2)]

    assert pages > 1
    assert sum(len(reply["data"]) for reply in replies) == replies[0]["meta"]["pagination"]["total"]
    assert [len(reply["data"]) for reply in replies] == [reply["meta"]["pagination"]["count"] for reply in replies]
    assert replies[-1]["data"] == []
    assert replies[-2]["data"] != []
