"""The steps that call a tool come from the data flow alone, and follow the words of the question."""

from __future__ import annotations

from functools import cache

import pytest

from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from protocols.render import hint
from tests.atc.assist.planning.sketches import document, graph, lines, plan_sketch, plan_sketches


def test_a_plan_begins_with_a_search() -> None:
    """The search, the details of its item, and the tool that takes their identifier."""
    assert lines("cinema", "GET_studios_studioId") == [
        'film = GET_films(query="…")["films"][0]',
        'studio = GET_films_filmId(filmId=film["filmId"])["studio"]',
        'details = GET_studios_studioId(studioId=studio["studioId"])',
    ]


def test_a_list_is_filled_from_a_list() -> None:
    """An argument of several identifiers takes them from a list; a write ends the plan."""
    assert lines("museum", "PUT_me_favourites") == [
        'artworks = GET_artworks(q="…")["artworks"]',
        'PUT_me_favourites(artwork_ids=[artwork["artwork_id"] for artwork in artworks])',
    ]


def test_the_words_of_a_question_choose_the_provider() -> None:
    """The best rated films are not searched for."""
    rated = lines("cinema", "GET_films_filmId_credits", "Who acted in the top rated film?")
    named = lines("cinema", "GET_films_filmId_credits", "Who acted in Dune?")

    assert rated[0] == 'film = GET_films_top_rated()["films"][0]'
    assert named[0] == 'film = GET_films(query="Dune")["films"][0]'


@pytest.mark.parametrize(
    "question", ["Who acted in Ana Bell's best film?", "Who acted in the films directed by Ana Bell?"]
)
def test_an_owned_entity_is_reached_from_its_owner(question: str) -> None:
    """The film is not called Ana Bell."""
    assert lines("cinema", "GET_films_filmId_credits", question)[:2] == [
        'person = GET_people(query="Ana Bell")["people"][0]',
        'film = GET_people_personId_credits(personId=person["personId"])["cast"][0]',
    ]


def test_the_latest_item_is_taken_by_its_date() -> None:
    """Only where the items have a date; they have no number for `best`."""
    latest, best = (
        lines("cinema", "GET_films_filmId_credits", f"Who acted in the {word} film?") for word in ("latest", "best")
    )

    assert latest[0] == 'film = max(GET_films(query="…")["films"], key=lambda film: str(film["releaseDate"] or ""))'
    assert best[0] == 'film = GET_films(query="…")["films"][0]'


def test_a_superlative_takes_an_item_by_its_number() -> None:
    """Only where the items have such a number; a list is named by its path."""
    light, dear = (
        lines("parcels", "GET_parcels_trackingNumber_events", f"What happened to the {word} parcel of Odd Larsen?")
        for word in ("lightest", "most expensive")
    )

    assert light[1] == (
        'tracking = min(GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"], '
        'key=lambda tracking: tracking["weightGrams"] or 0)'
    )
    assert dear[1] == 'tracking = GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"][0]'


def test_a_name_or_an_ordinal_means_a_single_item() -> None:
    """Also for an argument that takes several; a code in the question needs no search."""
    removal = lines("museum", "DELETE_me_favourites", "I want Three Nets Drying off my favourites.")
    several = lines("museum", "DELETE_me_favourites", "I want the artworks called Dusk off my favourites.")

    assert removal == [
        'artwork = GET_artworks(q="Three Nets Drying")["artworks"][0]',
        'DELETE_me_favourites(artwork_ids=[artwork["artwork_id"]])',
    ]
    assert several[0] == 'artworks = GET_artworks(q="Dusk")["artworks"]'
    assert lines("museum", "GET_rooms_room_code", "On which floor is room W2?") == [
        'details = GET_rooms_room_code(room_code="W2")'
    ]


def test_owned_entities_are_not_searched_for_by_the_name_of_the_owner() -> None:
    assert lines("museum", "GET_artworks", "How old are the works by Tomas Drager?") == []
    assert lines("museum", "GET_artworks", "How old is Dusk?") == ['artworks = GET_artworks(q="Dusk")["artworks"]']


def test_an_owner_leads_to_an_entity_by_the_shortest_call_path() -> None:
    assert lines("parcels", "GET_depots_depotCode", "Where is the depot that serves Odd Larsen?")[:2] == [
        'customer = GET_customers(name="Odd Larsen")["customers"][0]',
        'depot = GET_customers_customerId(customerId=customer["customerId"])',
    ]


def test_an_entity_to_create_is_not_searched_for() -> None:
    """The number of a new parcel comes from the call that announces it."""
    old = lines("parcels", "PATCH_parcels_trackingNumber", "Change the parcel of Olsen")
    new = lines("parcels", "PATCH_parcels_trackingNumber", "Create a parcel for Olsen, to be left at the door")

    assert any("GET_customers_customerId_parcels" in line for line in old)
    assert any("POST_customers_customerId_parcels" in line for line in new)


@pytest.mark.parametrize("tool", ["GET_me", "GET_films_top_rated"])
def test_a_single_call_is_planned_only_for_a_sure_tool(tool: str) -> None:
    """That a tool can be called does not mean that it should be."""
    names = [cinema_tool.name for cinema_tool in graph("cinema").protocol.tools]
    credits = "GET_films_filmId_credits"
    first = plan_sketches(graph("cinema"), [tool, credits], names, "Who acted in Dune?", [tool])
    second = plan_sketches(graph("cinema"), [credits, tool], names, "Who acted in Dune?", [credits])

    assert [len(sketch.split("\n")) for sketch in (*first, *second)] == [1, 2, 2]
    assert f"{tool}()" in first[0]


@cache
def radio() -> ProtocolGraph:
    """Songs and bands: one's own most heard, what is on the air, and shelves that take songs as objects."""
    text: dict[str, object] = {"type": "string"}

    def objects(*names: str) -> dict[str, object]:
        return {"type": "array", "items": {"type": "object", "properties": {**dict.fromkeys(names, text)}}}

    song = {"type": "object", "properties": {"id": text, "title": text, "uri": text, "bands": objects("id", "name")}}
    songs: dict[str, object] = {"type": "array", "items": song}
    kind = [{"in": "path", "name": "type", "required": True, "schema": {"type": "string", "enum": ["bands", "songs"]}}]

    def numbered(noun: str) -> list[object]:
        return [{"in": "path", "name": f"{noun}_id", "required": True, "schema": text}]

    api = document(
        "Radio",
        {
            "/me": ([], {"type": "object", "properties": {"id": text, "name": text}}),
            "/me/top/{type}": (kind, objects("id", "name", "uri", "title")),
            "/songs": ([{"in": "query", "name": "q", "required": True, "schema": text}], songs),
            "/songs/{song_id}": (numbered("song"), song),
            "/bands/{band_id}": (numbered("band"), {"type": "object", "properties": {"id": text, "name": text}}),
            "/shelves": ([], objects("id", "name", "owner")),
            "/shelves/{shelf_id}": (numbered("shelf"), {"type": "object", "properties": {"id": text, "name": text}}),
            "/shelves/{shelf_id}/songs": (numbered("shelf"), songs),
        },
    )
    held = {"type": "array", "items": {"type": "object", "properties": {"uri": text}}}
    schema = {"type": "object", "properties": {"songs": held}, "required": ["songs"]}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    paths = api["paths"]
    assert isinstance(paths, dict)
    paths["/shelves/{shelf_id}/songs"]["post"] = {"parameters": numbered("shelf"), "requestBody": body}
    paths["/shelves/{shelf_id}/songs"]["delete"] = {"parameters": numbered("shelf"), "requestBody": body}
    named = {"application/json": {"schema": {"type": "object", "properties": {"name": text}, "required": ["name"]}}}
    makes = {"parameters": numbered("user"), "requestBody": {"required": True, "content": named}}
    paths["/users/{user_id}/shelves"] = {"post": makes}
    return ProtocolGraph(load(api))


def shown(tool: str, query: str) -> list[str]:
    return plan_sketch(radio(), tool, [callable_tool.name for callable_tool in radio().protocol.tools], query)


def test_a_list_of_objects_is_filled_with_objects() -> None:
    """Each has the identifier under the key that the schema gives it."""
    assert radio().item_key("DELETE_shelves_shelf_id_songs", "songs") == "uri"
    assert shown("DELETE_shelves_shelf_id_songs", "Take all my songs off the shelf Blue")[-1] == (
        'DELETE_shelves_shelf_id_songs(shelf_id=shelf["id"], songs=[{"uri": song["uri"]} for song in songs])'
    )
    assert hint(radio(), "DELETE_shelves_shelf_id_songs", "songs").startswith('songs: [{"uri": str}] — from GET_')


def test_items_to_add_do_not_come_from_the_target_list() -> None:
    """They come from the list of the question, with its argument for their type."""
    top = shown("POST_shelves_shelf_id_songs", "Put my top songs on the shelf Blue")

    assert top[1:] == [
        'songs = GET_me_top_type(type="songs")',
        'POST_shelves_shelf_id_songs(shelf_id=shelf["id"], songs=[{"uri": song["uri"]} for song in songs])',
    ]
    assert "GET_shelves_shelf_id_songs" not in "\n".join(shown("POST_shelves_shelf_id_songs", "Fill the shelf Blue"))


def test_the_user_is_not_taken_from_a_list_of_the_user() -> None:
    """Even if the question calls entities of another type `my`."""
    assert shown("POST_users_user_id_shelves", "Make a shelf of my top songs and call it Best")[0] == "user = GET_me()"


def test_the_question_chooses_an_enum_value() -> None:
    """The value that it mentions; the first where it mentions none or several."""
    assert shown("GET_me_top_type", "Who are my top bands?") == ['type = GET_me_top_type(type="bands")']
    assert shown("GET_me_top_type", "What are my top songs?") == ['type = GET_me_top_type(type="songs")']
    assert shown("GET_bands_band_id", "Tell me of my top band")[0] == 'band = GET_me_top_type(type="bands")[0]'
