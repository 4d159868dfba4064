"""Simulated APIs with other habits: uuids, cursors, basic authentication; links in headers, lookups, errors."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

import pytest

from atc.program.demands import demands_of
from protocols import load
from protocols.simulator import Simulator
from tests.protocols.simulator.simulated_apis import (
    NUMBER,
    TEXT,
    WHOLE,
    Client,
    client_of,
    described,
    list_of,
    object_of,
    operation,
)


def page_of(items: object) -> dict[str, object]:
    paging = {"nextCursor": {"type": ["string", "null"]}, "hasMore": {"type": "boolean"}}
    return object_of("data", data=list_of(items), **paging)


def shop_document() -> dict[str, object]:
    """Customers and orders with uuids, cursors, basic authentication."""
    uuid, mail, moment = ({"type": "string", "format": name} for name in ("uuid", "email", "date-time"))
    status = {"type": "string", "enum": ["open", "paid", "shipped"]}
    customer = object_of("uuid", "fullName", uuid=uuid, fullName=TEXT, email=mail, orderCount=WHOLE)
    order_fields = {"uuid": uuid, "customerUuid": uuid, "status": status, "total": NUMBER, "createdAt": moment}
    order = object_of("uuid", "customerUuid", "status", "total", **order_fields)
    new = object_of("fullName", fullName=TEXT, email=TEXT)
    draft = object_of("total", total=NUMBER, status=status)
    paths = {
        "/customers": {
            "get": operation(page_of(customer), {"search": TEXT, "limit": WHOLE, "cursor": TEXT}),
            "post": operation(customer, body=new, status=201),
        },
        "/customers/{uuid}": {
            "get": operation(customer),
            "patch": operation(customer, body=new),
            "delete": operation(status=204),
        },
        "/customers/{uuid}/orders": {
            "get": operation(page_of(order)),
            "post": operation(order, body=draft, status=201),
        },
        "/orders": {"get": operation(page_of(order), {"status": status, "minTotal": NUMBER, "maxTotal": NUMBER})},
        "/orders/{uuid}": {"get": operation(order)},
    }
    login = {"login": {"type": "http", "scheme": "basic"}}
    return {**described(paths, securitySchemes=login), "openapi": "3.1.0", "security": [{"login": []}]}


@pytest.fixture
def shop() -> Client:
    return Client(Simulator(load(shop_document())))


def test_things_are_created_changed_and_deleted(shop: Client) -> None:
    """POST, PATCH and DELETE on a plain collection do what their names say, under basic authentication."""
    created = shop.send("POST", "/customers", {"fullName": "Marta Kowal", "email": "marta@example.com"})
    customer = created.json()
    at = f"/customers/{customer['uuid']}"

    assert created.status == 201
    assert shop.get(at) == customer
    assert shop.get("/customers", search="Marta Kowal")["data"][0] == customer
    assert shop.send("PATCH", at, {"fullName": "Marta Lund"}).json()["fullName"] == "Marta Lund"
    assert (shop.get(at)["fullName"], shop.get(at)["email"]) == ("Marta Lund", "marta@example.com")
    assert shop.send("DELETE", at).status == 204
    assert shop.send("GET", at).status == 404
    assert Client(shop.simulator, signed_in=False).send("GET", at).status == 401


def test_orders_belong_to_their_customer(shop: Client) -> None:
    """A foreign identifier in a response and the list below the thing that it names agree."""
    for order in shop.get("/orders")["data"][:5]:
        below = shop.get(f"/customers/{order['customerUuid']}/orders")["data"]
        assert order["uuid"] in [entry["uuid"] for entry in below]
    customer = shop.get("/customers")["data"][0]["uuid"]
    order = shop.send("POST", f"/customers/{customer}/orders", {"total": 12.5, "status": "paid"}).json()
    assert order["customerUuid"] == customer
    assert shop.get(f"/orders/{order['uuid']}") == order
    below = shop.get(f"/customers/{customer}/orders")["data"]
    assert below[-1] == order
    assert {entry["customerUuid"] for entry in below} == {customer}
    assert shop.get(f"/customers/{customer}")["orderCount"] == len(below)


def test_a_cursor_leads_through_all_pages(shop: Client) -> None:
    uuids: list[str] = []
    cursor: dict[str, object] = {}
    for _ in range(30):
        page = shop.get("/customers", limit=7, **cursor)
        uuids += [entry["uuid"] for entry in page["data"]]
        if not page["hasMore"]:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(uuids) == len(set(uuids)) > 20
    assert page["nextCursor"] is None


def test_keys_that_are_only_required_come_in_the_order_of_the_document() -> None:
    """The bytes of a reply are the same in each process."""
    names = ["id", *(f"part_{letter}" for letter in "hgfedcba")]
    client = client_of(described({"/boats": {"get": operation(list_of(object_of(*names, id=WHOLE)))}}))

    assert {tuple(boat) for boat in client.get("/boats")} == {tuple(names)}


def club_document() -> dict[str, object]:
    """Members, who have two names, in bare lists with links in headers; lookups, searches, and errors in replies."""
    member = object_of("id", id=TEXT, first_name=TEXT, last_name=TEXT, handle=TEXT)
    tie = object_of("id", id=TEXT, follows={"type": "boolean"}, note=TEXT)
    errors = list_of(object_of(code=TEXT, detail=TEXT))
    listed = operation(list_of(member), {"limit": WHOLE, "max_id": TEXT})
    listed["responses"]["200"]["headers"] = {"Link": {"schema": TEXT}, "X-Total-Count": {"schema": WHOLE}}
    lamp = object_of("id", id=TEXT, name=TEXT)
    paths = {
        "/members": {"get": listed},
        "/members/{id}": {"get": operation(member)},
        "/members/lookup": {"get": operation(member, {"handle": TEXT})},
        "/ties": {"get": operation(list_of(tie), {"id": list_of(TEXT)})},
        "/lamps": {"get": operation(object_of(lamps=list_of(lamp), errors=errors, cursor=TEXT))},
        "/lamps/{lamp_id}": {"get": operation(object_of("lamp", "errors", lamp=lamp, errors=errors))},
        "/lamps/codes": {"get": operation(object_of(lamp_codes=list_of(object_of("id", id=TEXT)), cursor=TEXT))},
        "/lamps/search": {
            "post": operation(object_of(lamps=list_of(lamp)), body=object_of(text_filter=TEXT, limit=WHOLE))
        },
        "/shown//colours": {"get": operation(object_of("id", id=WHOLE, colour=TEXT))},
        "/settings/": {"get": operation(object_of("id", id=WHOLE, colour=TEXT))},
    }
    return described(paths)


@pytest.fixture
def club() -> Client:
    protocol = load(club_document())
    simulator = Simulator(protocol, auth=False)
    session = simulator.session('Who is Ada Quist, and where is the "Blue Lamp"?', rehearses=True)
    session.satisfy(demands_of('GET_members_lookup(handle="ada@club.test")', protocol))
    return Client(simulator, session)


def test_headers_lead_through_bare_lists(club: Client) -> None:
    """A documented Link header leads on by the last identifier, and a limit of 0 is none."""
    everybody = club.get("/members", limit=0)
    first = club.send("GET", "/members?limit=7")
    link, total = first.headers["Link"], int(first.headers["X-Total-Count"])
    following = club.get("/members", limit=7, max_id=first.json()[-1]["id"])

    assert total == len(everybody) > 14
    assert f"max_id={first.json()[-1]['id']}" in link
    assert link.endswith('rel="next"')
    assert [*first.json(), *following] == everybody[:14]
    assert "Link" not in club.send("GET", "/members?limit=0").headers


def test_people_of_the_question_have_two_names(club: Client) -> None:
    names = [(member["first_name"], member["last_name"]) for member in club.get("/members", limit=0)]

    assert names.count(("Ada", "Quist")) == 1


def test_what_a_program_looks_up_exists(club: Client) -> None:
    """One member by a handle, the ties to several by their identifiers, a lamp by a search in a body."""
    ids = [member["id"] for member in club.get("/members", limit=3)]

    assert club.get("/members/lookup", handle="ada@club.test")["handle"] == "ada@club.test"
    assert club.send("GET", "/members/lookup?handle=nobody@club.test").status == 404
    assert [tie["id"] for tie in club.get("/ties", id=ids)] == ids
    lamps = club.send("POST", "/lamps/search", {"text_filter": "Blue Lamp", "limit": 5}).json()["lamps"]
    assert lamps[0]["name"] == "Blue Lamp"


def test_a_success_has_no_errors(club: Client) -> None:
    """Errors are left out where they may be, and empty where they must be there; a list of codes is no lamp."""
    assert club.get("/lamps").keys() >= {"lamps"}
    assert "errors" not in club.get("/lamps")
    assert club.get(f"/lamps/{club.get('/lamps')['lamps'][0]['id']}")["errors"] == []
    assert club.get("/lamps/codes")["lamp_codes"]
    assert club.get("/settings/")["id"]


def depot_document() -> dict[str, object]:
    """Identifiers of one name for several types, two keys of one type, names in paths, and filters of several kinds."""
    crate = object_of("zoo_id", zoo_id=WHOLE, name=TEXT, rack=WHOLE, sent={"type": "string", "format": "rfc-2822"})
    rack, bin_ = object_of("zoo_id", zoo_id=WHOLE, name=TEXT), object_of("zoo_id", zoo_id=WHOLE, colour=TEXT)
    order = object_of("id", "external_id", id={"type": "string", "format": "uuid"}, external_id=TEXT, name=TEXT)
    page = object_of(crates=list_of(crate), next_page_uri={"type": "string", "nullable": True})
    listed = operation(page, {"name__icontains": TEXT, "q": TEXT, "page": WHOLE, "sent__gte": TEXT})
    paths = {
        "/crates": {"get": listed},
        "/crates/{zoo_id}": {"get": operation(crate)},
        "/racks": {"get": operation(list_of(rack))},
        "/racks/{zoo_id}": {"get": operation(rack)},
        "/bins/{zoo_id}": {"get": operation(bin_)},
        "/orders": {"get": operation(list_of(order))},
        "/orders/{external_order_id}": {"get": operation(order)},
        "/projects/{project_name_or_id}": {"get": operation(object_of("id", id=WHOLE, name=TEXT))},
    }
    return described(paths)


@pytest.fixture
def depot() -> Client:
    return client_of(depot_document(), 'Which crates of "North Wing" are there?')


def test_an_identifier_of_several_types_names_none(depot: Client) -> None:
    """A number under the name of a type is its identifier, too."""
    crates, racks = depot.get("/crates")["crates"], depot.get("/racks")

    assert {"zoo_id", "name", "rack", "sent"} == crates[0].keys()
    assert depot.get(f"/crates/{crates[0]['zoo_id']}") == crates[0]
    assert depot.get(f"/racks/{crates[0]['rack']}") in racks


def test_things_are_found_by_other_keys(depot: Client) -> None:
    """By the key that a parameter names, and by a name or an identifier."""
    order = depot.get("/orders")[0]
    project = depot.get("/projects/North Wing")

    assert depot.get(f"/orders/{order['external_id']}") == order
    assert order["id"][14] == "4"
    assert project["name"] == "North Wing"
    assert depot.get(f"/projects/{project['id']}") == project


def test_filters_by_a_part_by_a_condition_and_by_a_date(depot: Client) -> None:
    crates = depot.get("/crates")["crates"]
    name, sent = crates[3]["name"], [parsedate_to_datetime(crate["sent"]) for crate in crates]
    later = depot.get("/crates", sent__gte=sorted(sent)[10].strftime("%Y-%m-%d"))["crates"]

    assert [crate["name"] for crate in depot.get("/crates", name__icontains=name.upper())["crates"]] == [name]
    assert depot.get("/crates", q=f"zoo_id={crates[2]['zoo_id']}")["crates"] == [crates[2]]
    assert depot.get("/crates", q=f"{name} zoo_id:{crates[2]['zoo_id']}")["crates"] != [crates[2]]
    assert min(parsedate_to_datetime(crate["sent"]) for crate in later) >= sorted(sent)[10].replace(hour=0, minute=0)
    assert depot.get("/crates")["next_page_uri"].endswith("page=2")


def test_a_key_in_a_path_means_what_the_lists_show() -> None:
    """A lookup by another field, where a deleted key comes back; what is a choice among words stays one."""
    charts = operation(list_of(object_of("id", "name", id=WHOLE, name=TEXT)))
    period = {"type": "string", "enum": ["day", "week"]}
    charts["parameters"] = [{"name": "period", "in": "path", "required": True, "schema": period}]
    order = object_of("id", "external_id", id=WHOLE, external_id=TEXT)
    paths = {
        "/songs/period/{period}": {"get": charts},
        "/orders": {"post": operation(order, body=object_of("external_id", external_id=TEXT), status=201)},
        "/orders/external_id/{external_id}": {"get": operation(order), "delete": operation(status=204)},
    }
    client = client_of(described(paths))
    at = "/orders/external_id/e1"

    assert client.send("GET", "/songs/period/day").status == 200
    for _ in range(2):
        assert client.send("POST", "/orders", {"external_id": "e1"}).status == 201
        assert client.get(at)["external_id"] == "e1"
        assert client.send("DELETE", at).status == 204
        assert client.send("GET", at).status == 404
