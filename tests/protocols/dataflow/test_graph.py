"""Where an identifier comes from: right producers by hand for two real APIs and one with other habits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from protocols import load, render
from protocols.dataflow.graph import ProtocolGraph
from tests.protocols.documents.samples import content


def workshop() -> dict[str, object]:
    """A bicycle workshop that says uuid, ref and camelCase, and gives identifiers in headers and links."""

    def objects(**properties: str) -> dict[str, object]:
        return {"type": "object", "properties": {name: {"type": kind} for name, kind in properties.items()}}

    def listed(schema: Mapping[str, object]) -> dict[str, object]:
        return {"type": "object", "properties": {"data": {"type": "array", "items": schema}}}

    def get(schema: object, *names: str, where: str = "path") -> dict[str, object]:
        needed = [{"name": name, "in": where, "required": True, "schema": {"type": "string"}} for name in names]
        return {"get": {"parameters": needed, "responses": {"200": {"description": "ok", **content(schema)}}}}

    bike = objects(uuid="string", modelName="string", frameSize="integer")
    mechanic = objects(ref="string", fullName="string", hourlyRate="number")
    repair = objects(repairRef="string", note="string")
    links = {"type": "object", "properties": {"invoice": {"type": "string", "format": "uri"}}}
    repair["properties"] |= {"assignedMechanic": mechanic, "links": links}  # type: ignore[operator]
    made = {"description": "made", "headers": {"X-Pickup-Id": {"schema": {"type": "string"}}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Workshop", "version": "1"},
        "servers": [{"url": "https://workshop.test/api"}],
        "paths": {
            "/bikes": get(listed(bike), "ownerName", where="query"),
            "/bikes/{bikeUuid}": get(bike, "bikeUuid"),
            "/bikes/{bikeUuid}/repairs": get(listed(repair), "bikeUuid"),
            "/mechanics": get({"type": "array", "items": mechanic}),
            "/mechanics/{ref}/schedule": get(listed(objects(day="string", hours="number")), "ref"),
            "/repairs/{repairRef}": get(repair, "repairRef"),
            "/invoices/{invoiceId}": get(objects(total="number", paid="boolean"), "invoiceId"),
            "/pickups": {"post": {"requestBody": content(objects(day="string")), "responses": {"201": made}}},
            "/pickups/{pickupId}": get(objects(day="string", done="boolean"), "pickupId"),
        },
    }


@pytest.fixture(scope="module")
def tmdb(data: Path) -> ProtocolGraph:
    return ProtocolGraph(load(data / "restbench" / "tmdb_oas.json"))


@pytest.fixture(scope="module")
def spotify(data: Path) -> ProtocolGraph:
    return ProtocolGraph(load(data / "restbench" / "spotify_oas.json"))


@pytest.mark.parametrize(
    ("tool", "argument", "hint"),
    [
        ("GET_bikes_bikeUuid", "bikeUuid", 'GET_bikes(ownerName=…)["data"][0]["uuid"]'),
        ("GET_mechanics_ref_schedule", "ref", 'GET_mechanics()[0]["ref"]'),
        ("GET_repairs_repairRef", "repairRef", 'GET_bikes_bikeUuid_repairs(bikeUuid=…)["data"][0]["repairRef"]'),
        (
            "GET_invoices_invoiceId",
            "invoiceId",
            'GET_repairs_repairRef(repairRef=…)["links"]["invoice"].split("/")[-1]',
        ),
        ("GET_pickups_pickupId", "pickupId", 'POST_pickups().headers["X-Pickup-Id"]'),
    ],
)
def test_an_api_with_other_habits_is_understood(tool: str, argument: str, hint: str) -> None:
    """Nouns come from paths, objects and keys, identifiers from bodies, headers and links."""
    graph = ProtocolGraph(load(workshop()))

    assert render.hint(graph, tool, argument) == f"{argument}: str — from {hint}"


def test_a_search_by_words_comes_before_one_by_filters() -> None:
    """Which dish comes first says nothing where none of the limits is told."""

    def get(schema: Mapping[str, object], *names: str, where: str = "query") -> dict[str, object]:
        parameters = [
            {"name": name, "in": where, "required": where == "path", "schema": {"type": "string"}} for name in names
        ]
        return {"get": {"parameters": parameters, "responses": {"200": {"description": "ok", **content(schema)}}}}

    dishes = {"type": "array", "items": {"type": "object", "properties": {"dish_id": {"type": "string"}}}}
    paths = {
        "/dishes/by-salt": get(dishes, "minSalt", "maxSalt", "minFat", "maxFat"),
        "/dishes/search": get({"type": "object", "properties": {"results": dishes}}, "query", "diet", "sort", "type"),
        "/dishes/{dish_id}/taste": get({"type": "object"}, "dish_id", where="path"),
    }
    graph = ProtocolGraph(load({"openapi": "3.1.0", "info": {"title": "Kitchen", "version": "1"}, "paths": paths}))

    providers = graph.providers("GET_dishes_dish_id_taste", "dish_id")

    assert [source.tool for source in providers] == ["GET_dishes_search", "GET_dishes_by_salt"]


@pytest.mark.parametrize(
    ("tool", "argument", "first"),
    [
        ("GET_person_person_id", "person_id", ("GET_search_person", ("results", 0, "id"))),
        ("GET_movie_movie_id", "movie_id", ("GET_search_movie", ("results", 0, "id"))),
        ("GET_tv_tv_id", "tv_id", ("GET_search_tv", ("results", 0, "id"))),
        ("GET_company_company_id", "company_id", ("GET_search_company", ("results", 0, "id"))),
        ("GET_collection_collection_id", "collection_id", ("GET_search_collection", ("results", 0, "id"))),
        ("GET_network_network_id", "network_id", ("GET_tv_tv_id", ("networks", 0, "id"))),
        ("GET_review_review_id", "review_id", ("GET_movie_movie_id_reviews", ("results", 0, "id"))),
    ],
)
def test_tmdb(tmdb: ProtocolGraph, tool: str, argument: str, first: tuple[str, tuple[str | int, ...]]) -> None:
    """Every identifier of TMDB comes first from the search for its kind, or from the field that holds it."""
    source = tmdb.providers(tool, argument)[0]

    assert (source.tool, source.path) == first


@pytest.mark.parametrize(
    ("tool", "argument", "first"),
    [
        ("GET_albums_id", "id", ("GET_search", ("albums", "items", 0, "id"))),
        ("GET_artists_id", "id", ("GET_search", ("artists", "items", 0, "id"))),
        ("GET_tracks_id", "id", ("GET_search", ("tracks", "items", 0, "id"))),
        ("GET_playlists_playlist_id", "playlist_id", ("GET_me_playlists", ("items", 0, "id"))),
        ("POST_users_user_id_playlists", "user_id", ("GET_me", ("id",))),
    ],
)
def test_spotify(spotify: ProtocolGraph, tool: str, argument: str, first: tuple[str, tuple[str | int, ...]]) -> None:
    """Where every parameter is called id, the path says of what."""
    source = spotify.providers(tool, argument)[0]

    assert (source.tool, source.path) == first


def test_closure_brings_the_whole_chain(tmdb: ProtocolGraph) -> None:
    """A network's page needs a network, which needs a show, which needs a search: all come along, each once."""
    assert tmdb.closure(["GET_network_network_id"]) == ("GET_network_network_id", "GET_tv_tv_id", "GET_search_tv")
