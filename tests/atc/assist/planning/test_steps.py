"""The steps that call a tool come from the data flow alone, and follow the words of the question."""

from __future__ import annotations

from functools import cache

import pytest

from protocols import Protocol, combine, load
from protocols.dataflow.graph import ProtocolGraph
from protocols.samples import sample
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


def test_the_only_list_inside_an_object_is_taken() -> None:
    """The list in the object that the path names; of several lists none is taken."""
    day = {"type": "object", "properties": {"high": {"type": "number"}}}
    place = {"in": "query", "name": "place_id", "required": True, "schema": {"type": "string"}}

    def sketched(*lists: str) -> str:
        inner = {name: {"type": "array", "items": day} for name in lists}
        reply = {"type": "object", "properties": {"zone": {}, "daily": {"type": "object", "properties": inner}}}
        places = {"type": "array", "items": {"type": "object", "properties": {"place_id": {"type": "string"}}}}
        paths = {"/places": ([], places), "/daily": ([place], reply)}
        flow = ProtocolGraph(load(document("Days", paths)))
        return plan_sketch(flow, "GET_daily", ["GET_places"])[-1]

    assert sketched("data").endswith('(place_id=place["place_id"])["daily"]["data"]')
    assert sketched("data", "items").endswith('(place_id=place["place_id"])')


def test_the_words_of_a_question_choose_the_provider() -> None:
    """The best rated films are not searched for."""
    rated = lines("cinema", "GET_films_filmId_credits", "Who acted in the top rated film?")
    named = lines("cinema", "GET_films_filmId_credits", "Who acted in Dune?")

    assert rated[0] == 'film = GET_films_top_rated()["films"][0]'
    assert named[0] == 'film = GET_films(query="Dune")["films"][0]'


def test_a_text_that_the_question_speaks_of_is_asked_for() -> None:
    """`my favourite film` is what a function of these words returns; words that it lacks lead to no function."""

    def favourite_film() -> str:
        """Name my favourite film."""
        return "Dune"

    notes = Protocol.from_functions([favourite_film], name="Notes", reads=["favourite_film"])
    flow = ProtocolGraph(combine({"notes": notes, "cinema": sample("cinema")}))
    callable_tools = ["notes__favourite_film", "cinema__GET_films"]

    def sketched(question: str) -> list[str]:
        return plan_sketch(flow, "cinema__GET_films_filmId", callable_tools, question)

    assert sketched("When was my favourite film released?")[:2] == [
        "film = notes__favourite_film()",
        'film2 = cinema__GET_films(query=film)["films"][0]',
    ]
    assert sketched("When was the film released?")[0] == 'film = cinema__GET_films(query="…")["films"][0]'


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


def test_an_ordinal_is_the_value_of_a_number_argument() -> None:
    """The number of the item that a service lists first is not taken."""
    number = {"name": "season_number", "in": "path", "required": True, "schema": {"type": "integer"}}
    show = {"name": "show_id", "in": "path", "required": True, "schema": {"type": "integer"}}
    numbers = {"season_number": {"type": "integer"}, "title": {"type": "string"}}
    season = {"type": "object", "properties": numbers}
    shows = {"type": "object", "properties": {"id": {"type": "integer"}, "seasons": {"type": "array", "items": season}}}
    paths = {
        "/shows": ([], {"type": "array", "items": shows}),
        "/shows/{show_id}/seasons/{season_number}": ([show, number], season),
    }
    flow = ProtocolGraph(load(document("Shows", paths)))
    tool = "GET_shows_show_id_seasons_season_number"

    def written(question: str) -> str:
        return plan_sketch(flow, tool, [callable_tool.name for callable_tool in flow.protocol.tools], question)[-1]

    assert "season_number=3" in written("What happened in the third season?")
    assert "season_number=12" in written("What happened in season 12?")
    assert 'season_number=season["season_number"]' in written("Which seasons are there?")


def test_a_place_is_found_by_prefix_or_coordinates() -> None:
    """Whichever the question gives; a date that it gives in full is an argument, too."""
    text = {"type": "string"}
    place = {"type": "object", "properties": {"place_id": text, "name": text, "country": text, "lat": text}}

    def tool(summary: str, schema: object, *required: str) -> dict[str, object]:
        body = {"200": {"description": "", "content": {"application/json": {"schema": schema}}}}
        names = [*required, "place_id"] if summary == "Weather" else required
        parameters = [{"name": n, "in": "query", "required": n in required, "schema": text} for n in names]
        return {"get": {"summary": summary, "parameters": parameters, "responses": body}}

    places = {"type": "array", "items": place}
    flow = ProtocolGraph(
        load(
            {
                "openapi": "3.0.3",
                "info": {"title": "Weather", "version": "1"},
                "paths": {
                    "/find_places": tool("Search places by name", places, "text"),
                    "/find_places_prefix": tool("Search places by the beginning of the name", places, "text"),
                    "/nearest_place": tool("The nearest place to GPS coordinates", place, "lat", "lon"),
                    "/historical_weather": tool("Weather", {"type": "object", "properties": {"wind": text}}, "date"),
                },
            }
        )
    )

    def written(question: str) -> list[str]:
        return plan_sketch(
            flow, "GET_historical_weather", [callable_tool.name for callable_tool in flow.protocol.tools], question
        )

    assert written("How windy was it in Oslo?") == []  # on which day?
    assert written("How windy was it in Oslo on this day last year?")[-1] == (
        'weather = GET_historical_weather(date="…", place_id=place["place_id"])'
    )
    assert (
        "GET_find_places_prefix(" in written('How windy was it last week in the first place that starts with "Os"?')[0]
    )
    nearest = written("How windy was it at the coordinates 59.9° N, 10.7° W on April 3rd, 2023?")
    assert nearest[0] == 'place = GET_nearest_place(lat="59.9", lon="-10.7")'
    assert 'date="2023-04-03"' in nearest[1]


def test_an_entity_to_create_is_not_searched_for() -> None:
    """The number of a new parcel comes from the call that announces it."""
    old = lines("parcels", "PATCH_parcels_trackingNumber", "Change the parcel of Olsen")
    new = lines("parcels", "PATCH_parcels_trackingNumber", "Create a parcel for Olsen, to be left at the door")

    assert any("GET_customers_customerId_parcels" in line for line in old)
    assert any("POST_customers_customerId_parcels" in line for line in new)


def test_a_list_meant_as_a_whole_is_not_searched() -> None:
    """The question has no name to search for."""
    text: dict[str, object] = {"type": "string"}
    shows = {
        "type": "object",
        "properties": {"results": {"type": "array", "items": {"$ref": "#/components/schemas/Show"}}},
    }
    answer = {"200": {"description": "shows", "content": {"application/json": {"schema": shows}}}}
    query = [{"name": "query", "in": "query", "required": True, "schema": text}]
    number = [{"name": "show_id", "in": "path", "required": True, "schema": {"type": "integer"}}]
    recipes = ProtocolGraph(
        load(
            {
                "openapi": "3.1.0",
                "info": {"title": "t", "version": "1"},
                "paths": {
                    "/search/shows": {"get": {"parameters": query, "responses": answer}},
                    "/shows/top_rated": {"get": {"responses": answer}},
                    "/shows/{show_id}/keywords": {"get": {"parameters": number}},
                },
                "components": {
                    "schemas": {"Show": {"type": "object", "properties": {"id": {"type": "integer"}, "title": text}}}
                },
            }
        )
    )
    names = [tool.name for tool in recipes.protocol.tools]

    def first_line(query: str) -> str:
        return plan_sketch(recipes, "GET_shows_show_id_keywords", names, query)[0]

    assert first_line("Give me a keyword of the top-1 rated show") == 'show = GET_shows_top_rated()["results"][0]'
    assert first_line("Give me a keyword of Dusk") == 'show = GET_search_shows(query="Dusk")["results"][0]'


@pytest.mark.parametrize("tool", ["GET_me", "GET_films_top_rated"])
def test_a_single_call_is_planned_only_for_a_sure_tool(tool: str) -> None:
    """That a tool can be called does not mean that it should be."""
    names = [cinema_tool.name for cinema_tool in graph("cinema").protocol.tools]
    credits = "GET_films_filmId_credits"
    first = plan_sketches(graph("cinema"), [tool, credits], names, "Who acted in Dune?", [tool])
    second = plan_sketches(graph("cinema"), [credits, tool], names, "Who acted in Dune?", [credits])

    assert [len(sketch.split("\n")) for sketch in (*first, *second)] == [1, 2, 2]
    assert f"{tool}()" in first[0]


def test_a_named_entity_is_searched_for_unless_it_is_the_users_own() -> None:
    """The user has a list of such entities in both cases."""
    text = {"type": "string"}
    poems = {"type": "array", "items": {"type": "object", "properties": {"poem_id": text, "title": text}}}
    recipes = ProtocolGraph(
        load(
            document(
                "Poems",
                {
                    "/me/poems": ([], poems),
                    "/search": ([{"name": "q", "in": "query", "required": True, "schema": text}], poems),
                    "/poems/{poem_id}/notes": (
                        [{"name": "poem_id", "in": "path", "required": True, "schema": text}],
                        {"type": "array", "items": {"type": "object", "properties": {"note": text}}},
                    ),
                },
            )
        )
    )
    names = [tool.name for tool in recipes.protocol.tools]

    def first_line(query: str) -> str:
        return plan_sketch(recipes, "GET_poems_poem_id_notes", names, query)[0]

    assert first_line("What did I note in the poem Dusk?") == 'poem = GET_search(q="Dusk")[0]'
    assert first_line("What did I note in my poem Dusk?") == (
        'poem = next(poem for poem in GET_me_poems() if poem["title"] == "Dusk")'
    )


def test_a_search_has_the_argument_that_its_path_names() -> None:
    """Even if it is optional, and the question does not use the word."""
    recipes = ProtocolGraph(
        load(
            document(
                "Kitchen",
                {
                    "/dishes/by-spice": (
                        [{"name": name, "in": "query", "schema": {"type": "string"}} for name in ("sort", "spice")],
                        {"type": "array", "items": {"type": "object", "properties": {"dish_id": {"type": "integer"}}}},
                    ),
                    "/dishes/{dish_id}": (
                        [{"name": "dish_id", "in": "path", "required": True, "schema": {"type": "integer"}}],
                        {"type": "object"},
                    ),
                },
            )
        )
    )
    names = [tool.name for tool in recipes.protocol.tools]
    assert (
        plan_sketch(recipes, names[1], names, "What can I cook with saffron?")[0]
        == 'dish = GET_dishes_by_spice(spice="…")[0]'
    )


def test_items_to_remove_come_from_the_list_they_are_in() -> None:
    """It is one item where the question speaks of the first."""
    text = {"type": "string"}
    songs = {"type": "array", "items": {"type": "object", "properties": {"song_id": text, "title": text}}}
    shelves = {"type": "array", "items": {"type": "object", "properties": {"shelf_id": text, "name": text}}}
    shelf = [{"name": "shelf_id", "in": "path", "required": True, "schema": text}]
    many = [{"name": "song_ids", "in": "query", "required": True, "schema": {"type": "array", "items": text}}]
    api = document(
        "Songs", {"/me/songs": ([], songs), "/shelves": ([], shelves), "/shelves/{shelf_id}/songs": (shelf, songs)}
    )
    paths = api["paths"]
    assert isinstance(paths, dict)
    paths["/shelves/{shelf_id}/songs"]["delete"] = {"parameters": shelf + many}
    flow = ProtocolGraph(load(api))
    names = [tool.name for tool in flow.protocol.tools]

    def sketched(query: str) -> list[str]:
        return plan_sketch(flow, "DELETE_shelves_shelf_id_songs", names, query)

    assert sketched("Take all my songs off the shelf Blue") == [
        'shelf = next(shelf for shelf in GET_shelves() if shelf["name"] == "Blue")',
        'songs = GET_shelves_shelf_id_songs(shelf_id=shelf["shelf_id"])',
        'DELETE_shelves_shelf_id_songs(shelf_id=shelf["shelf_id"], song_ids=[song["song_id"] for song in songs])',
    ]
    assert sketched("Take the first song off the shelf Blue")[1:] == [
        'song = GET_shelves_shelf_id_songs(shelf_id=shelf["shelf_id"])[0]',
        'DELETE_shelves_shelf_id_songs(shelf_id=shelf["shelf_id"], song_ids=[song["song_id"]])',
    ]


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
    assert radio().hint("DELETE_shelves_shelf_id_songs", "songs").startswith('songs: [{"uri": str}] — from GET_')


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
