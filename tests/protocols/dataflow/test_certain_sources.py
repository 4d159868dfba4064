"""Where an identifier comes from is said where the API lists such objects, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.sources import certain_source
from tests.protocols.documents.samples import content, document


def things(*keys: str, wrapper: str = "data") -> dict[str, Any]:
    """A response with a list of objects."""
    item = {"type": "object", "properties": {key: {"type": "string"} for key in keys}}
    return {"type": "object", "properties": {wrapper: {"type": "array", "items": item}}}


def one(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


TEXT = {"type": "string"}
PATHS: dict[str, Any] = {
    "get /companies": things("id", "company_id", "name"),
    "get /companies/{company_id}": one(id=TEXT, company_id=TEXT),
    "get /companies/{company_id}/offices/{office_id}": one(id=TEXT),
    "get /companies/{company_id}/offices": things("id", "street", wrapper="offices"),
    "post /keys": one(id=TEXT),
    "delete /keys/{key_id}": None,
    "get /pools": {"type": "array", "items": one(name=TEXT, size=TEXT)},
    "delete /pools/{pool_name}": None,
    "get /series/{series_id}": one(seasons={"type": "array", "items": one(season_number=TEXT, title=TEXT)}),
    "get /series/{series_id}/season/{season_number}": one(title=TEXT),
    "get /search/series": things("id", "title", wrapper="results"),
    "post /tickets/search": things("id", "state", wrapper="tickets"),
    "get /tickets/{ticket_id}": one(id=TEXT),
    "get /marketing/lists": things("id"),
    "get /marketing/lists/{list_id}": one(id=TEXT),
    "get /contacts/lists": things("id"),
    "get /contacts/lists/{list_id}": one(id=TEXT),
    "post /campaigns?list_ids": None,
    "post /contacts/imports?list_ids": None,
    "get /admins": things("id", "email"),
    "get /admins/{admin_id}": one(id=TEXT, team_ids={"type": "array", "items": TEXT}),
    "post /notes?owner_id": None,
    "get /signing-keys": things("id"),
    "delete /signing-keys/{id}": None,
    "post /zones?main_signing_key_ids": None,
    "get /latest": one(page=one(size=TEXT, topics=things("id")["properties"]["data"])),
    "post /pins?topic_id": None,
    "get /clubs": {
        "type": "array",
        "items": one(id={"type": "integer"}, name=TEXT, owner=one(id={"type": "integer"}, login=TEXT)),
    },
    "get /clubs/{owner}/{club}": one(id=TEXT),
    "get /clubs/{owner}/{club}/walks": {"type": "array", "items": one(id=TEXT, number={"type": "integer"})},
    "get /clubs/{owner}/{club}/walks/{index}": one(id=TEXT),
    "get /currencies": things("id", wrapper="data")
    | {"properties": {"data": {"type": "array", "items": one(id=TEXT, attributes=one(code=TEXT))}}},
    "get /currencies/{code}": one(id=TEXT),
    "post /admins/{admin_id}/labels/{label}": None,
    "get /admins/{admin_id}/labels": things("name"),
    "post /companies?company_id": None,
    "post /admins/{admin_id}/companies?company_id": None,
    "put /admins/{admin_id}/pools/{pool}": None,
    "get /admins/{admin_id}/pools": things("name"),
    "get /meals/random": things("id"),
    "get /meals/thoroughSearch": things("id", wrapper="results"),
    "get /meals/{meal_id}": one(id=TEXT),
    "get /find_towns": {"type": "array", "items": one(town_id=TEXT)},
    "post /tides?town_id": None,
    "get /locks?pool_id": things("id"),
    "delete /locks/{lock_id}": None,
    "get /shades/computed": things("id"),
    "post /paint?shade_id": None,
    "get /post": {"type": "array", "items": one(id=TEXT, type={"type": "string", "enum": ["parcel"]})},
    "post /vans?parcel_id": None,
    "get /books/all?book_id": things("id"),
    "get /shelves": {"type": "array", "items": one(id=TEXT, books=things("id")["properties"]["data"])},
    "post /loans?book_id": None,
    "get /guests": things("id", "external_id"),
    "get /guests/{external_guest_id}/bill": one(total=TEXT),
    "get /list": things("id"),
    "delete /list?id": None,
    "get /recipes": things("id"),
    "get /recipes/{kitchen}/{recipe_id}": one(id=TEXT),
}
DESCRIPTIONS = {"owner_id": "The id of an admin who looks after it"}


@pytest.fixture(scope="module")
def graph() -> ProtocolGraph:
    paths: dict[str, Any] = {}
    for place, schema in PATHS.items():
        method, _, rest = place.partition(" ")
        path, _, argument = rest.partition("?")
        operation: dict[str, Any] = {
            "parameters": [
                {"name": segment[1:-1], "in": "path", "required": True, "schema": TEXT}
                for segment in path.split("/")
                if segment.startswith("{")
            ],
            "responses": {"200": {"description": ""}},
        }
        if schema is not None:
            operation["responses"]["200"] |= content(schema)
        if argument and method == "get":
            operation["parameters"].append({"name": argument, "in": "query", "required": True, "schema": TEXT})
        elif argument:
            kind = {"type": "array", "items": TEXT} if argument.endswith("s") else TEXT
            described = {**kind, "description": DESCRIPTIONS.get(argument, "")}
            body = {"type": "object", "properties": {argument: described}}
            operation["requestBody"] = content(body)
        paths.setdefault(path, {})[method] = operation
    return ProtocolGraph(load(document() | {"paths": paths}))


@pytest.mark.parametrize(
    ("tool", "argument", "source"),
    [
        # The collection that the path selects from; its own id, not the one that the caller gave it.
        ("GET_companies_company_id", "company_id", 'GET_companies()["data"][0]["id"]'),
        (
            "GET_companies_company_id_offices_office_id",
            "office_id",
            'GET_companies_company_id_offices(company_id=…)["offices"][0]["id"]',
        ),
        ("DELETE_pools_pool_name", "pool_name", 'GET_pools()[0]["name"]'),
        # A search right below the collection, or elsewhere.
        ("GET_tickets_ticket_id", "ticket_id", 'POST_tickets_search()["tickets"][0]["id"]'),
        ("GET_series_series_id", "series_id", 'GET_search_series()["results"][0]["id"]'),
        ("GET_meals_meal_id", "meal_id", 'GET_meals_thoroughSearch()["results"][0]["id"]'),
        ("DELETE_list", "id", 'GET_list()["data"][0]["id"]'),  # of no collection
        ("POST_tides", "town_id", 'GET_find_towns()[0]["town_id"]'),
        # A list in the object around it.
        (
            "GET_series_series_id_season_season_number",
            "season_number",
            'GET_series_series_id(series_id=…)["seasons"][0]["season_number"]',
        ),
        # A collection of that name, or of the name in the description.
        ("POST_contacts_imports", "list_ids", 'GET_contacts_lists()["data"][0]["id"]'),
        ("POST_notes", "owner_id", 'GET_admins()["data"][0]["id"]'),
        ("POST_zones", "main_signing_key_ids", 'GET_signing_keys()["data"][0]["id"]'),
        # A list that is all that a reply is about, wherever it stands in it.
        ("POST_pins", "topic_id", 'GET_latest()["page"]["topics"][0]["id"]'),
        # A text selects by a name where the id is a number; an owner by what stands in the object.
        ("GET_clubs_owner_club", "club", 'GET_clubs()[0]["name"]'),
        ("GET_clubs_owner_club", "owner", 'GET_clubs()[0]["owner"]["login"]'),
        ("GET_clubs_owner_club_walks_index", "index", 'GET_clubs_owner_club_walks(owner=…, club=…)[0]["number"]'),
        # What is added to an object is listed elsewhere, and not the ones that it has.
        ("POST_admins_admin_id_companies", "company_id", 'GET_companies()["data"][0]["id"]'),
        ("PUT_admins_admin_id_pools_pool", "pool", 'GET_pools()[0]["name"]'),
        ("GET_currencies_code", "code", 'GET_currencies()["data"][0]["attributes"]["code"]'),
        # A collection that is read with the identifier of another object, or by a word behind it.
        ("DELETE_locks_lock_id", "lock_id", 'GET_locks(pool_id=…)["data"][0]["id"]'),
        ("POST_paint", "shade_id", 'GET_shades_computed()["data"][0]["id"]'),
        # Objects that say what they are; none of a call that takes such an identifier itself.
        ("POST_vans", "parcel_id", 'GET_post()[0]["id"]'),
        ("POST_loans", "book_id", 'GET_shelves()[0]["books"][0]["id"]'),
        # The identifier that the argument's name qualifies.
        ("GET_guests_external_guest_id_bill", "external_guest_id", 'GET_guests()["data"][0]["external_id"]'),
    ],
)
def test_a_source_is_told_where_paths_say_it(graph: ProtocolGraph, tool: str, argument: str, source: str) -> None:
    certain = certain_source(graph, tool, argument)

    assert certain is not None
    assert graph.expression(certain) == source


@pytest.mark.parametrize(
    ("tool", "argument"),
    [
        ("DELETE_keys_key_id", "key_id"),  # only a write gives one
        ("POST_campaigns", "list_ids"),  # two collections have that name
        ("POST_admins_admin_id_labels_label", "label"),  # the caller makes it under that name
        ("POST_companies", "company_id"),  # the new object's own
        ("GET_recipes_kitchen_recipe_id", "kitchen"),  # no identifier of a recipe
    ],
)
def test_no_source_is_told_where_none_is_certain(graph: ProtocolGraph, tool: str, argument: str) -> None:
    assert certain_source(graph, tool, argument) is None


def test_a_source_that_is_not_offered_is_not_told(graph: ProtocolGraph) -> None:
    assert certain_source(graph, "GET_companies_company_id", "company_id", among={"GET_admins"}) is None


@pytest.mark.parametrize("wrapper", ["topics", "_"])
def test_paths_may_end_in_the_form_of_their_replies(wrapper: str) -> None:
    """`/topics/{id}.json` selects from `/topics.json`; the key of the list may be no word at all."""
    paths = document(things("id", wrapper=wrapper), place="get /topics.json")["paths"]
    parameter = {"name": "id", "in": "path", "required": True, "schema": TEXT}
    paths |= document(parameters=[parameter], place="get /topics/{id}.json")["paths"]
    graph = ProtocolGraph(load(document() | {"paths": paths}))
    certain = certain_source(graph, graph.protocol.tools[1].name, "id")

    assert certain is not None
    assert graph.expression(certain) == f'GET_topics_json()["{wrapper}"][0]["id"]'
