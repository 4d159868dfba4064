"""What a program may rely on when it talks to a simulated service instead of the real one."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
import requests
from jsonschema import Draft202012Validator

from protocols import Protocol, Tool, load
from protocols.calls.binding import bind
from protocols.samples import sample
from protocols.simulator import Simulator

Arguments = Mapping[str, object]


class Client:
    """Talks to a simulator over real HTTP, with or without its credential."""

    def __init__(self, simulator: Simulator, signed_in: bool = True) -> None:
        self.simulator = simulator
        self.signed_in = signed_in
        self.session = requests.Session()

    def send(
        self, method: str, path: str, body: object = None, /, *extra_headers: Mapping[str, str], **query: object
    ) -> requests.Response:
        headers = {name: value for entries in extra_headers for name, value in entries.items()}
        pairs: list[tuple[str, str]] = []
        cookies: dict[str, str] = {}
        for credential in self.simulator.credentials if self.signed_in else ():
            credential.apply(headers, pairs, cookies)
        pairs += [(name, str(value)) for name, value in query.items()]
        url = self.simulator.url + path
        return self.session.request(method, url, params=pairs, json=body, headers=headers, cookies=cookies, timeout=20)

    def get(self, path: str, **query: object) -> dict:  # type: ignore[type-arg]
        reply = self.send("GET", path, **query)
        assert reply.status_code == 200, (path, reply.text[:300])
        return reply.json()  # type: ignore[no-any-return]

    def call(self, tool: Tool, arguments: Arguments, body: object = None) -> requests.Response:
        path = tool.path
        query = dict(arguments)
        headers: dict[str, str] = {}
        for parameter in tool.parameters:
            if parameter.location == "path":
                path = path.replace(f"{{{parameter.name}}}", str(query.pop(parameter.name)))
            elif parameter.location == "header" and parameter.name in query:
                headers[parameter.name] = str(query.pop(parameter.name))
        return self.send(tool.method, path, body, headers, **query)


@pytest.fixture(scope="module")
def cinema_protocol() -> Protocol:
    return load(sample("cinema"))


@pytest.fixture
def cinema(cinema_protocol: Protocol) -> Iterator[Client]:
    with Simulator(cinema_protocol) as simulator:
        yield Client(simulator)


@pytest.fixture(scope="module")
def movies(data: Path) -> Iterator[Client]:
    with Simulator(load(data / "restbench" / "tmdb_oas.json")) as simulator:
        yield Client(simulator)


@pytest.fixture
def music(data: Path) -> Iterator[Client]:
    with Simulator(load(data / "restbench" / "spotify_oas.json")) as simulator:
        yield Client(simulator)


# -- every operation of a document ---------------------------------------------------------------------------------


def faults_of(client: Client, tool: Tool, reply: requests.Response) -> list[str]:
    """What is wrong with a reply, measured by the document alone."""
    protocol = client.simulator.protocol
    success = tool.success
    if reply.status_code // 100 != 2:
        return [f"{tool.name}: {reply.status_code} {reply.text[:200]}"]
    if success is None or success.schema is None:
        return [] if not reply.content else [f"{tool.name}: a body where none is documented"]
    body = reply.json()
    validator = Draft202012Validator(
        protocol.standalone(success.schema), format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    faults = [f"{tool.name}: {list(e.absolute_path)} {e.message[:150]}" for e in validator.iter_errors(body)]
    faults += [f"{tool.name}: {place} is missing" for ex in success.examples for place in missing(ex, body)]
    if any(key == "" for key in keys_of(body)):
        faults.append(f"{tool.name}: an empty key")
    return faults


def missing(example: object, body: object, place: str = "") -> Iterator[str]:
    """Keys that the document's example has and a body has not; a list item must be like some item of the example."""
    if isinstance(example, dict) and isinstance(body, dict):
        for key, value in example.items():
            if key and key not in body:
                yield f"{place}.{key}"
            elif key:
                yield from missing(value, body[key], f"{place}.{key}")
    elif isinstance(example, list) and isinstance(body, list) and example:
        for item in body[:5]:
            lacks = [list(missing(example_item, item, f"{place}[]")) for example_item in example[:30]]
            yield from min(lacks, key=len)


def keys_of(body: object) -> Iterator[str]:
    if isinstance(body, dict):
        yield from body
        for value in body.values():
            yield from keys_of(value)
    elif isinstance(body, list):
        for value in body:
            yield from keys_of(value)


def objects_of(body: object, key: str = "") -> Iterator[tuple[str, dict[str, object]]]:
    """Every object in a body with the key that holds it."""
    if isinstance(body, dict):
        yield key, body
        for name, value in body.items():
            yield from objects_of(value, name)
    elif isinstance(body, list):
        for value in body:
            yield from objects_of(value, key)


def test_every_operation_of_the_cinema_answers_as_documented(cinema: Client) -> None:
    """All bodies validate, have the keys of the document's examples, and writes give the documented status."""
    film = cinema.get("/films", query="Glass Meridian")["films"][0]["filmId"]
    person = cinema.get("/people", query="Orla Quist")["people"][0]["personId"]
    studio = cinema.get(f"/films/{film}")["studio"]["studioId"]
    arguments_by_name: dict[str, object] = {
        "filmId": film,
        "personId": person,
        "studioId": studio,
        "query": "Orla Quist",
    }
    bodies: dict[tuple[str, str], object] = {
        ("POST", "/films/{filmId}/reviews"): {"stars": 4, "text": "Good."},
        ("PUT", "/me/watchlist"): {"filmIds": [film]},
    }
    faults: list[str] = []

    for tool in cinema.simulator.protocol.tools:
        arguments = {
            p.name: arguments_by_name[p.name] for p in tool.parameters if p.required and p.name in arguments_by_name
        }
        if tool.method == "DELETE":
            arguments["filmIds"] = film
        reply = cinema.call(tool, arguments, bodies.get((tool.method, tool.path)))
        faults += faults_of(cinema, tool, reply)

    assert not faults


TMDB_SOURCES = {
    "movie_id": ("/search/movie", "Glass Meridian", ("results", 0, "id")),
    "tv_id": ("/search/tv", "Harbor Lights", ("results", 0, "id")),
    "person_id": ("/search/person", "Orla Quist", ("results", 0, "id")),
    "company_id": ("/search/company", "Quist Pictures", ("results", 0, "id")),
    "collection_id": ("/search/collection", "Meridian Collection", ("results", 0, "id")),
}


def dig(body: object, path: tuple[str | int, ...]) -> object:
    for step in path:
        body = body[step]  # type: ignore[index]
    return body


def movie_arguments(client: Client) -> dict[str, object]:
    arguments: dict[str, object] = {"query": "Orla Quist", "media_type": "movie", "time_window": "week"}
    for name, (path, text, place) in TMDB_SOURCES.items():
        arguments[name] = dig(client.get(path, query=text), place)
    arguments["network_id"] = client.get(f"/tv/{arguments['tv_id']}")["networks"][0]["id"]
    arguments["review_id"] = client.get(f"/movie/{arguments['movie_id']}/reviews")["results"][0]["id"]
    arguments["credit_id"] = client.get(f"/tv/{arguments['tv_id']}/credits")["crew"][0]["credit_id"]
    return {**arguments, "season_number": 2, "episode_number": 3}


def test_every_operation_of_a_large_movie_protocol_answers_as_documented(movies: Client) -> None:
    """54 tools, arguments taken from searches and lists: valid bodies with all keys of the examples, no empty key."""
    values = movie_arguments(movies)
    faults: list[str] = []

    for tool in movies.simulator.protocol.tools:
        arguments = {p.name: values[p.name] for p in tool.parameters if p.required and p.name in values}
        faults += faults_of(movies, tool, movies.call(tool, arguments))

    assert not faults


def music_arguments(client: Client) -> dict[str, object]:
    results = client.get("/search", q="Glass Meridian", type="album,artist,track,playlist")
    ids: dict[str, object] = {kind: results[kind + "s"]["items"][0]["id"] for kind in ("album", "artist", "track")}
    ids["uri"] = results["tracks"]["items"][0]["uri"]
    ids["playlist_id"] = client.get("/me/playlists")["items"][0]["id"]
    ids["user_id"] = client.get("/me")["id"]
    return ids


def music_values(tool: Tool, ids: dict[str, object]) -> dict[str, object]:
    """The required arguments of a tool of the music protocol."""
    kind = next((kind for kind in ("album", "artist", "track") if f"/{kind}s/{{id}}" in tool.path), "")
    kind = kind or next((kind for kind in ("album", "artist", "track") if f"/{kind}s" in tool.path), "artist")
    values = {
        **ids, "id": ids[kind], "ids": ids[kind], "q": "Orla Quist", "type": "track", "uris": ids["uri"],
        "seed_artists": ids["artist"], "seed_tracks": ids["track"], "seed_genres": "rock",
        "state": "track", "volume_percent": 30, "position_ms": 1000, "device_id": "x",
    }  # fmt: skip
    if tool.path == "/me/following":
        values["type"] = "artist"
    if tool.path == "/me/top/{type}":
        values["type"] = "tracks"
    return {p.name: values[p.name] for p in tool.parameters if p.required}


def test_every_operation_of_a_large_music_protocol_answers_as_documented(music: Client) -> None:
    """40 tools, 17 of them writes."""
    ids = music_arguments(music)
    faults: list[str] = []

    for tool in music.simulator.protocol.tools:
        arguments = music_values(tool, ids)
        body: object = None
        if tool.body is not None:
            names = tool.body.schema.get("properties", {})
            assert isinstance(names, dict)
            fields = {
                "ids": [arguments.get("ids")],
                "uris": [ids["uri"]],
                "name": "New",
                "tracks": [{"uri": ids["uri"]}],
            }
            body = {name: fields[name] for name in names if name in fields}
        faults += faults_of(music, tool, music.call(tool, arguments, body))

    assert not faults


@pytest.mark.parametrize("name", ["food", "weather"])
def test_tool_files_are_served_too(data: Path, name: str) -> None:
    """A tool file with one example per tool is enough for a service that answers every tool validly."""
    with Simulator(load(data / "toolflow" / f"{name}.tools.json")) as simulator:
        client = Client(simulator)
        faults: list[str] = []
        for tool in simulator.protocol.tools:
            arguments: dict[str, object] = {}
            for parameter in tool.parameters:
                if parameter.required:
                    arguments[parameter.name] = parameter.schema.get("const", "2024-05-01")
            if any(
                parameter.name in {"recipe_id", "ingredient_id", "product_id", "item_id"}
                for parameter in tool.parameters
            ):
                continue
            faults += faults_of(client, tool, client.call(tool, arguments))
        assert not faults


# -- identifiers and relations -------------------------------------------------------------------------------------


def test_every_identifier_in_a_movie_response_resolves(movies: Client) -> None:
    """Whatever id a response holds, the tool that takes it knows it, and calls it by the same name."""
    arguments = movie_arguments(movies)
    film, show, person = (arguments[name] for name in ("movie_id", "tv_id", "person_id"))
    paths = [
        f"/movie/{film}/credits", f"/movie/{film}", f"/movie/{film}/similar", "/movie/top_rated", "/movie/latest",
        f"/person/{person}/movie_credits", f"/person/{person}/tv_credits", "/person/popular", "/tv/on_the_air",
        f"/tv/{show}", f"/tv/{show}/credits", f"/tv/{show}/season/1/episode/2/credits", "/trending/tv/day",
        f"/collection/{arguments['collection_id']}",
    ]  # fmt: skip
    detail = {
        "movie": "title",
        "tv": "name",
        "person": "name",
        "company": "name",
        "network": "name",
        "collection": "name",
    }
    tries = 0

    for path in paths:
        for key, entry in list(objects_of(movies.get(path)))[1:60]:
            kind = kind_of_movie_object(path, key, entry)
            if kind is None:
                continue
            details = movies.get(f"/{kind}/{entry['id']}")
            tries += 1
            assert details["id"] == entry["id"]
            name_in_list = entry.get(detail[kind], details[detail[kind]])
            assert details[detail[kind]] == name_in_list, (path, key)
            if "credit_id" in entry:
                assert movies.get(f"/credit/{entry['credit_id']}")["id"] == entry["credit_id"]

    assert tries > 150


def kind_of_movie_object(path: str, key: str, entry: dict[str, object]) -> str | None:
    """By eye: what an object in a response of the movie protocol is."""
    if "id" not in entry or key in {"seasons", "last_episode_to_air", "genres", "episodes"}:
        return None
    by_key = {"production_companies": "company", "networks": "network", "created_by": "person", "parts": "movie"}
    if key in by_key:
        return by_key[key]
    if "title" in entry and "name" not in entry:
        return "movie"
    if "first_air_date" in entry or path.startswith("/trending/tv"):
        return "tv"
    if "profile_path" in entry:
        return "person"
    return None


def test_credits_agree_in_both_directions(movies: Client) -> None:
    """A film's credits name the person whose credits name the film, with the same role and credit."""
    person = movies.get("/search/person", query="Sofia Coppola")["results"][0]
    assert person["name"] == "Sofia Coppola"
    credits = movies.get(f"/person/{person['id']}/movie_credits")
    directed = [entry for entry in credits["crew"] if entry["job"] == "Director"]
    assert directed

    for part in ("cast", "crew"):
        for entry in credits[part]:
            back = [e for e in movies.get(f"/movie/{entry['id']}/credits")[part] if e["id"] == person["id"]]
            assert [e["credit_id"] for e in back] == [entry["credit_id"]]
            role = "character" if part == "cast" else "job"
            assert back[0][role] == entry[role]

    film_credits = movies.get(f"/movie/{directed[0]['id']}/credits")
    for member in film_credits["cast"]:
        theirs = movies.get(f"/person/{member['id']}/movie_credits")["cast"]
        assert directed[0]["id"] in [entry["id"] for entry in theirs]
    assert {entry["id"] for entry in person["known_for"] if entry["media_type"] == "movie"} <= {
        entry["id"] for part in ("cast", "crew") for entry in credits[part]
    }


def test_every_film_has_one_director(movies: Client) -> None:
    """Values that the document shows often for a role are there in every film, so questions about them have answers."""
    for film in movies.get("/movie/top_rated")["results"][:10]:
        crew = movies.get(f"/movie/{film['id']}/credits")["crew"]
        assert [entry["job"] for entry in crew].count("Director") == 1


def test_a_credit_names_the_work_and_the_person(movies: Client) -> None:
    show = movies.get("/search/tv", query="Black Mirror")["results"][0]
    crew = movies.get(f"/tv/{show['id']}/season/2/credits")["crew"]
    director = next(entry for entry in crew if entry["job"] == "Director")

    credit = movies.get(f"/credit/{director['credit_id']}")

    assert credit["person"]["name"] == director["name"]
    assert (credit["media"]["id"], credit["media_type"], credit["job"]) == (show["id"], "tv", "Director")


def test_seasons_and_episodes_add_up(movies: Client) -> None:
    """The numbers that a show tells are those of the seasons and episodes that it has."""
    show = movies.get("/search/tv", query="Two Quiet Girls")["results"][0]
    detail = movies.get(f"/tv/{show['id']}")
    episodes = 0
    for season in detail["seasons"]:
        listed = movies.get(f"/tv/{show['id']}/season/{season['season_number']}")
        assert [e["episode_number"] for e in listed["episodes"]] == list(range(1, len(listed["episodes"]) + 1))
        episodes += len(listed["episodes"])

    assert detail["number_of_seasons"] == len(detail["seasons"]) >= 3
    assert detail["number_of_episodes"] == episodes
    assert movies.send("GET", f"/tv/{show['id']}/season/99").status_code == 404
    episode = movies.get(f"/tv/{show['id']}/season/2/episode/3")
    assert (episode["season_number"], episode["episode_number"]) == (2, 3)


def test_a_review_knows_what_it_is_about(movies: Client) -> None:
    film = movies.get("/search/movie", query="The Dark Knight")["results"][0]
    review = movies.get(f"/movie/{film['id']}/reviews")["results"][0]

    detail = movies.get(f"/review/{review['id']}")

    assert (detail["media_id"], detail["media_title"]) == (film["id"], "The Dark Knight")
    assert detail["content"] == review["content"]


def test_a_collection_holds_films_that_belong_to_it(movies: Client) -> None:
    collection = movies.get("/search/collection", query="The Hunger Games")["results"][0]
    parts = movies.get(f"/collection/{collection['id']}")["parts"]

    assert parts
    for part in parts:
        assert movies.get(f"/movie/{part['id']}")["belongs_to_collection"]["id"] == collection["id"]


# -- one world, seen in many ways ----------------------------------------------------------------------------------


def test_a_search_returns_an_entity_of_that_name_first(movies: Client) -> None:
    for path, text, name in [
        ("/search/person", "Clint Eastwood", "name"),
        ("/search/movie", "The Double Life of Veronique", "title"),
        ("/search/company", "universal pictures", "name"),
        ("/search/tv", "2 Broke Girls", "name"),
    ]:
        page = movies.get(path, query=text)
        assert page["results"][0][name] == text
        assert page["total_results"] == len(page["results"])
        assert movies.get(path, query=text) == page


def test_a_year_in_a_search_is_the_year_of_what_is_found(movies: Client) -> None:
    first = movies.get("/search/movie", query="Titanic", year=1997)["results"][0]
    assert (first["title"], first["release_date"][:4]) == ("Titanic", "1997")


def test_lists_are_sorted_as_their_path_says(movies: Client) -> None:
    rated = [film["vote_average"] for film in movies.get("/movie/top_rated")["results"]]
    popular = [person["popularity"] for person in movies.get("/person/popular")["results"]]
    upcoming = [film["release_date"] for film in movies.get("/movie/upcoming")["results"]]
    playing = [film["release_date"] for film in movies.get("/movie/now_playing")["results"]]

    assert rated == sorted(rated, reverse=True)
    assert popular == sorted(popular, reverse=True)
    assert upcoming == sorted(upcoming)
    assert upcoming[0] > "2024-06-01" >= playing[0]
    assert len(rated) == len(popular) == 20


def test_pages_follow_each_other(movies: Client) -> None:
    first, second = movies.get("/movie/popular"), movies.get("/movie/popular", page=2)
    last = movies.get("/movie/popular", page=first["total_pages"])

    assert (first["page"], second["page"]) == (1, 2)
    assert not {f["id"] for f in first["results"]} & {f["id"] for f in second["results"]}
    assert (first["total_pages"] - 1) * 20 + len(last["results"]) == first["total_results"]
    assert movies.get("/movie/popular", page=first["total_pages"] + 1)["results"] == []


def test_filters_narrow_a_list(movies: Client) -> None:
    person = movies.get("/search/person", query="Sofia Coppola")["results"][0]["id"]
    genre = movies.get("/genre/movie/list")["genres"][0]["id"]
    since = {"primary_release_date.gte": "2015-01-01", "sort_by": "vote_average.desc"}

    recent = movies.get("/discover/movie", **since)["results"]
    by_genre = movies.get("/discover/movie", with_genres=genre)["results"]

    assert recent
    assert all(film["release_date"] >= "2015-01-01" for film in recent)
    assert [film["vote_average"] for film in recent] == sorted((f["vote_average"] for f in recent), reverse=True)
    assert by_genre
    assert all(genre in film["genre_ids"] for film in by_genre)
    assert movies.get("/discover/movie", with_crew=person)["total_results"] >= 0


def test_what_is_trending_is_of_the_kind_that_was_asked_for(movies: Client) -> None:
    show = movies.get("/trending/tv/day")["results"][0]
    assert movies.get(f"/tv/{show['id']}")["name"] == show["name"]
    assert movies.get(f"/tv/{show['id']}/similar")["results"]


def test_the_same_seed_gives_the_same_bytes_in_another_process(cinema_protocol: Protocol) -> None:
    """Nothing depends on the process, on hash randomisation or on what was asked before."""
    program = (
        "import sys; from protocols import load; from protocols.samples import sample\n"
        "from protocols.simulator import Simulator\n"
        "s = Simulator(load(sample('cinema')), seed=int(sys.argv[1]), auth=False)\n"
        "for path in sys.argv[2:]: answer = s.handle('GET', path, {}, b'')[1].decode()\n"
        "print(answer)"
    )

    def answer(seed: int, *paths: str) -> str:
        command = [sys.executable, "-c", program, str(seed), *paths]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    search = "/api/films?query=Glass%20Meridian"
    first = answer(7, search)

    assert first == answer(7, "/api/films/top-rated", "/api/people?query=Orla%20Quist", search)
    assert first != answer(8, search)
    with Simulator(cinema_protocol, seed=7, auth=False) as simulator:
        assert json.loads(first) == requests.get(simulator.url + "/films?query=Glass%20Meridian", timeout=10).json()


def test_what_is_asked_first_makes_no_difference(cinema_protocol: Protocol) -> None:
    """Two worlds that were asked the same things in another order are the same world."""
    paths = [
        "/api/films",
        "/api/films/top-rated",
        "/api/people?query=Orla%20Quist",
        "/api/films?query=Glass%20Meridian",
    ]
    with Simulator(cinema_protocol, auth=False) as simulator:
        person = json.loads(simulator.handle("GET", paths[2], {}, b"")[1])["people"][0]["personId"]
        film = json.loads(simulator.handle("GET", paths[3], {}, b"")[1])["films"][0]["filmId"]
    paths += [f"/api/people/{person}/credits", f"/api/films/{film}/credits", f"/api/films/{film}", "/api/me/watchlist"]
    answers = []
    for order in (paths, paths[::-1]):
        world = Simulator(cinema_protocol, auth=False)
        for path in (*order, *order):
            world.handle("GET", path, {}, b"")
        answers.append([world.handle("GET", path, {}, b"") for path in paths])

    assert answers[0] == answers[1]
    assert all(status == 200 for status, _, _, _ in answers[0])


def test_screenings_are_in_the_next_days(cinema: Client) -> None:
    film = cinema.get("/films", query="Glass Meridian")["films"][0]["filmId"]
    starts = [screening["startsAt"] for screening in cinema.get(f"/films/{film}/screenings")["screenings"]]
    assert starts
    assert starts == sorted(starts)
    assert all("2024-06-01T12" < start < "2024-06-15" for start in starts)


def test_today_is_what_the_clock_says(cinema_protocol: Protocol) -> None:
    with Simulator(cinema_protocol, now=datetime(2031, 5, 4, tzinfo=UTC)) as simulator:
        client = Client(simulator)
        newest = client.get("/films", sortBy="-releaseDate")["films"][0]["releaseDate"]
    assert newest[:4] == "2031"


# -- writes --------------------------------------------------------------------------------------------------------


def test_a_review_that_was_written_is_listed(cinema: Client) -> None:
    film = cinema.get("/films", query="Glass Meridian")["films"][0]["filmId"]
    before = cinema.get(f"/films/{film}/reviews")["reviews"]

    created = cinema.send("POST", f"/films/{film}/reviews", {"stars": 5, "text": "See it twice."})

    assert created.status_code == 201
    after = cinema.get(f"/films/{film}/reviews")["reviews"]
    assert (created.json()["stars"], created.json()["text"], created.json()["filmId"]) == (5, "See it twice.", film)
    assert after == [*before, created.json()]


def test_the_watchlist_keeps_what_is_put_on_it(cinema: Client) -> None:
    film = cinema.get("/films", query="Glass Meridian")["films"][0]["filmId"]
    before = [entry["filmId"] for entry in cinema.get("/me/watchlist")["films"]]

    assert cinema.send("PUT", "/me/watchlist", {"filmIds": [film]}).status_code == 204
    added = cinema.get("/me/watchlist")
    assert [entry["filmId"] for entry in added["films"]] == [*before, film]
    assert added["totalCount"] == len(before) + 1
    cinema.send("PUT", "/me/watchlist", {"filmIds": [film]})
    assert cinema.get("/me/watchlist") == added

    assert cinema.send("DELETE", "/me/watchlist", filmIds=film).status_code == 204
    assert [entry["filmId"] for entry in cinema.get("/me/watchlist")["films"]] == before
    assert cinema.send("PUT", "/me/watchlist", {"filmIds": [999999999]}).status_code == 404


def test_a_playlist_is_made_and_filled(music: Client) -> None:
    """The way of a real task: find songs of an artist, make a playlist of a name, put the songs in."""
    songs = music.get("/search", q="artist:Mariah Carey", type="track", limit=3)["tracks"]["items"]
    me = music.get("/me")["id"]
    created = music.send("POST", f"/users/{me}/playlists", {"name": "Love Mariah"})
    playlist = created.json()["id"]
    uris = [song["uri"] for song in songs]
    added = music.send("POST", f"/playlists/{playlist}/tracks", {"uris": uris})

    assert (created.status_code, created.json()["name"], created.json()["owner"]["id"]) == (201, "Love Mariah", me)
    assert {artist["name"] for song in songs for artist in song["artists"]} == {"Mariah Carey"}
    assert added.status_code == 201
    tracks = music.get(f"/playlists/{playlist}/tracks")
    assert [entry["track"]["uri"] for entry in tracks["items"]] == uris
    assert tracks["total"] == 3
    assert tracks["items"][0]["added_at"] == "2024-06-01T12:00:00Z"
    assert music.get(f"/playlists/{playlist}")["snapshot_id"] == added.json()["snapshot_id"]
    assert "Love Mariah" in [entry["name"] for entry in music.get("/me/playlists")["items"]]

    music.send("DELETE", f"/playlists/{playlist}/tracks", {"tracks": [{"uri": uris[0]}]})
    assert [e["track"]["uri"] for e in music.get(f"/playlists/{playlist}/tracks")["items"]] == uris[1:]
    music.send("PUT", f"/playlists/{playlist}", {"name": "Less Mariah"})
    assert music.get(f"/playlists/{playlist}")["name"] == "Less Mariah"


def test_the_library_of_the_signed_in_user_changes(music: Client) -> None:
    album = music.get("/search", q="album:Mojito artist:Jay Chou", type="album")["albums"]["items"][0]
    assert (album["name"], album["artists"][0]["name"]) == ("Mojito", "Jay Chou")
    artist = album["artists"][0]["id"]

    assert music.send("PUT", "/me/albums", ids=album["id"]).status_code == 200
    assert album["id"] in [entry["album"]["id"] for entry in music.get("/me/albums")["items"]]
    music.send("DELETE", "/me/albums", ids=album["id"])
    assert album["id"] not in [entry["album"]["id"] for entry in music.get("/me/albums")["items"]]

    assert music.send("PUT", "/me/following", {"ids": [artist]}, type="artist", ids=artist).status_code == 204
    assert artist in [entry["id"] for entry in music.get("/me/following", type="artist")["artists"]["items"]]
    music.send("DELETE", "/me/following", {"ids": [artist]}, type="artist", ids=artist)
    assert artist not in [entry["id"] for entry in music.get("/me/following", type="artist")["artists"]["items"]]


def test_a_player_has_a_state(music: Client) -> None:
    """Pausing, volume, repeat mode, queue and what is played are seen by every tool that shows them."""
    track = music.get("/search", q="track:When You Believe", type="track")["tracks"]["items"][0]
    assert music.get("/me/player")["item"] == music.get("/me/player/currently-playing")["item"]

    music.send("PUT", "/me/player/pause")
    assert music.get("/me/player")["is_playing"] is False
    music.send("PUT", "/me/player/volume", volume_percent=33)
    assert music.get("/me/player")["device"]["volume_percent"] == 33
    assert 33 in [device["volume_percent"] for device in music.get("/me/player/devices")["devices"]]
    music.send("PUT", "/me/player/repeat", state="track")
    assert music.get("/me/player")["repeat_state"] == "track"
    music.send("POST", "/me/player/queue", uri=track["uri"])
    assert music.get("/me/player/queue")["queue"][-1]["name"] == "When You Believe"
    music.send("PUT", "/me/player/play", {"uris": [track["uri"]]})
    assert music.get("/me/player")["is_playing"] is True
    assert music.get("/me/player/currently-playing")["item"]["name"] == "When You Believe"
    assert music.get("/me/player/queue")["currently_playing"]["id"] == track["id"]
    waiting = music.get("/me/player/queue")["queue"][0]["id"]
    music.send("POST", "/me/player/next")
    assert music.get("/me/player")["item"]["id"] == waiting


def test_albums_own_their_tracks(music: Client) -> None:
    album = music.get("/search", q="The Dark Side of the Moon", type="album")["albums"]["items"][0]
    tracks = music.get(f"/albums/{album['id']}/tracks")["items"]

    assert music.get(f"/albums/{album['id']}")["total_tracks"] == len(tracks) >= 3
    assert [track["track_number"] for track in tracks] == list(range(1, len(tracks) + 1))
    for track in tracks:
        detail = music.get(f"/tracks/{track['id']}")
        assert detail["album"]["id"] == album["id"]
        assert [a["id"] for a in detail["artists"]] == [a["id"] for a in album["artists"]]
    artist = album["artists"][0]["id"]
    assert album["id"] in [entry["id"] for entry in music.get(f"/artists/{artist}/albums")["items"]]
    top = music.get(f"/artists/{artist}/top-tracks", market="US")["tracks"]
    assert all(artist in [a["id"] for a in track["artists"]] for track in top)


def test_identifiers_inside_links_are_those_of_the_entity(music: Client) -> None:
    track = music.get("/search", q="Moonlit", type="track")["tracks"]["items"][0]
    assert track["uri"] == f"spotify:track:{track['id']}"
    assert track["href"] == f"https://api.spotify.com/v1/tracks/{track['id']}"
    assert track["type"] == "track"


def test_lists_link_to_their_next_page(music: Client) -> None:
    first = music.get("/browse/new-releases", limit=5)["albums"]
    query = dict(part.split("=") for part in first["next"].partition("?")[2].split("&"))
    second = music.get("/browse/new-releases", **query)["albums"]

    assert (first["limit"], first["offset"], second["offset"]) == (5, 0, 5)
    assert first["previous"] is None
    assert second["previous"] is not None
    assert not {a["id"] for a in first["items"]} & {a["id"] for a in second["items"]}


# -- refusals ------------------------------------------------------------------------------------------------------


def test_wrong_requests_get_the_documented_refusals(cinema: Client) -> None:
    """Each says in the document's own shape what is wrong."""
    missing_query = cinema.send("GET", "/people")
    wrong_type = cinema.send("GET", "/films", page="soon")
    outside = cinema.send("GET", "/films", genre="opera")
    unknown = cinema.send("GET", "/films/999999999")
    bad_body = cinema.send(
        "POST", f"/films/{cinema.get('/films')['films'][0]['filmId']}/reviews", {"stars": 9, "text": "x"}
    )

    for reply, status, name in [
        (missing_query, 400, "query"), (wrong_type, 400, "page"), (outside, 400, "genre"),
        (unknown, 404, "filmId"), (bad_body, 400, "stars"),
    ]:  # fmt: skip
        assert reply.status_code == status
        assert set(reply.json()) == {"code", "message"}
        assert name in reply.json()["message"]
    assert cinema.send("GET", "/nowhere").status_code == 404
    refused = cinema.send("PATCH", "/me/watchlist")
    assert refused.status_code == 405
    assert refused.headers["Allow"] == "DELETE, GET, PUT"


def test_only_the_made_up_credential_is_accepted(cinema_protocol: Protocol) -> None:
    with Simulator(cinema_protocol) as simulator:
        stranger = Client(simulator, signed_in=False)
        refused = stranger.send("GET", "/me")
        assert refused.status_code == 401
        assert refused.json()["code"] == "unauthorized"
        assert Client(simulator).send("GET", "/me").status_code == 200
        assert requests.get(simulator.url + "/me", headers={"Authorization": "Bearer x"}, timeout=10).status_code == 401
        (credential,) = simulator.credentials
        assert credential.secret not in repr(credential)
    with Simulator(cinema_protocol, auth=False) as simulator:
        assert simulator.credentials == ()
        assert Client(simulator).send("GET", "/me").status_code == 200


def test_a_key_in_the_query_is_a_credential_too(movies: Client) -> None:
    reply = Client(movies.simulator, signed_in=False).send("GET", "/movie/popular")
    assert reply.status_code == 401
    assert "status_message" in reply.json()
    assert [credential.location for credential in movies.simulator.credentials] == ["query"]


# -- the server ----------------------------------------------------------------------------------------------------


def test_many_clients_at_once_see_one_world(cinema: Client) -> None:
    """Requests from many threads over kept connections are answered one after the other and alike."""
    answers: list[object] = []

    def ask() -> None:
        client = Client(cinema.simulator)
        answers.extend([client.get("/films/top-rated") for _ in range(5)])

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(answers) == 30
    assert all(answer == answers[0] for answer in answers)


def test_a_stopped_server_is_gone_and_can_be_started_again(cinema_protocol: Protocol) -> None:
    simulator = Simulator(cinema_protocol, auth=False)
    url = simulator.start()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/api", url)
    session = requests.Session()
    assert session.get(url + "/films", timeout=10).status_code == 200
    simulator.stop()
    with pytest.raises(requests.ConnectionError):
        session.get(url + "/films", timeout=10)
    assert requests.get(simulator.start() + "/films", timeout=10).status_code == 200
    simulator.stop()


def test_bodies_that_are_too_large_or_broken_are_refused(cinema: Client) -> None:
    film = cinema.get("/films")["films"][0]["filmId"]
    (credential,) = cinema.simulator.credentials
    headers: dict[str, str] = {"Content-Type": "application/json"}
    credential.apply(headers, [], {})
    url = f"{cinema.simulator.url}/films/{film}/reviews"
    assert requests.post(url, data=b'{"stars": ', headers=headers, timeout=10).status_code == 400
    with contextlib.suppress(requests.ConnectionError):  # hanging up before all of it was sent is as good
        assert requests.post(url, data=b"x" * 11_000_000, headers=headers, timeout=10).status_code == 413


def test_a_simulator_is_ready_at_once(data: Path) -> None:
    """Making one costs nothing next to loading the protocol, and a warm request takes a few milliseconds."""
    protocol = load(data / "restbench" / "tmdb_oas.json")
    begun = time.perf_counter()
    with Simulator(protocol, auth=False) as simulator:
        session = requests.Session()
        url = simulator.url
        assert time.perf_counter() - begun < 0.15
        session.get(url + "/movie/popular", timeout=20)
        begun = time.perf_counter()
        for page in range(100):
            session.get(url + "/movie/popular", params={"page": page % 5 + 1}, timeout=20)
        assert (time.perf_counter() - begun) / 100 < 0.03


# -- an API with other habits --------------------------------------------------------------------------------------


def operation(path: str, *, body: object = None, answer: object = None, status: int = 200, **query: object) -> dict:  # type: ignore[type-arg]
    """One operation of a document; parameters in the path are strings, those of the query as their schemas say."""
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", path)
    ]
    parameters += [{"name": name, "in": "query", "schema": schema} for name, schema in query.items()]
    content = {"application/json": {"schema": answer}} if answer is not None else None
    reply = {"description": "Done.", **({"content": content} if content else {})}
    described_operation: dict[str, object] = {"parameters": parameters, "responses": {str(status): reply}}
    if body is not None:
        described_operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return described_operation


def object_schema(*required: str, **properties: object) -> dict[str, object]:
    return {"type": "object", **({"required": list(required)} if required else {}), "properties": properties}


def page_of(items: object) -> dict[str, object]:
    paging = {"nextCursor": {"type": ["string", "null"]}, "hasMore": {"type": "boolean"}}
    return object_schema("data", data={"type": "array", "items": items}, **paging)


def shop_paths() -> dict:  # type: ignore[type-arg]
    text, number, whole = {"type": "string"}, {"type": "number"}, {"type": "integer"}
    uuid, mail, moment = ({"type": "string", "format": name} for name in ("uuid", "email", "date-time"))
    status = {"type": "string", "enum": ["open", "paid", "shipped"]}
    customer = object_schema("uuid", "fullName", uuid=uuid, fullName=text, email=mail, orderCount=whole)
    order_fields = {"uuid": uuid, "customerUuid": uuid, "status": status, "total": number, "createdAt": moment}
    order = object_schema("uuid", "customerUuid", "status", "total", **order_fields)
    product = object_schema(sku=text, id=text, name=text, price=number)
    new = object_schema("fullName", fullName=text, email=text)
    draft = object_schema("total", total=number, status=status)
    ids = {"type": "array", "items": text}
    paths = {
        "/customers": {
            "get": operation("/customers", answer=page_of(customer), search=text, limit=whole, cursor=text),
            "post": operation("/customers", body=new, answer=customer, status=201),
        },
        "/customers/{uuid}": {
            "get": operation("/customers/{uuid}", answer=customer),
            "patch": operation("/customers/{uuid}", body=new, answer=customer),
            "delete": operation("/customers/{uuid}", status=204),
        },
        "/customers/{uuid}/orders": {
            "get": operation("/customers/{uuid}/orders", answer=page_of(order)),
            "post": operation("/customers/{uuid}/orders", body=draft, answer=order, status=201),
        },
        "/orders": {
            "get": operation("/orders", answer=page_of(order), status_=status, minTotal=number, maxTotal=number)
        },
        "/orders/{uuid}": {"get": operation("/orders/{uuid}", answer=order)},
        "/products": {"get": operation("/products", answer=page_of(product), name=text)},
        "/me": {"get": operation("/me", answer=object_schema(id=text, login=text))},
        "/me/saved": {
            "get": operation("/me/saved", answer=page_of(product)),
            "put": operation("/me/saved", status=204, product_ids=ids),
        },
        "/me/saved/contains": {
            "get": operation("/me/saved/contains", answer={"type": "array", "items": {"type": "boolean"}}, ids=ids)
        },
        "/categories/{id}": {"get": operation("/categories/{id}", answer={"$ref": "#/components/schemas/Category"})},
    }
    paths["/orders"]["get"]["parameters"][0]["name"] = "status"
    return paths


def shop_document() -> dict:  # type: ignore[type-arg]
    """Customers and orders with uuids, a tree of categories, cursors, saved products, basic authentication."""
    children = {"type": "array", "items": {"$ref": "#/components/schemas/Category"}}
    category = object_schema("id", "name", id={"type": "integer"}, name={"type": "string"}, children=children)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "https://shop.example.com"}],
        "security": [{"login": []}],
        "paths": shop_paths(),
        "components": {
            "schemas": {"Category": category},
            "securitySchemes": {"login": {"type": "http", "scheme": "basic"}},
        },
    }


@pytest.fixture
def shop() -> Iterator[Client]:
    with Simulator(load(shop_document())) as simulator:
        yield Client(simulator)


def test_things_are_created_changed_and_deleted(shop: Client) -> None:
    """POST, PATCH and DELETE on a plain collection do what their names say, under basic authentication."""
    created = shop.send("POST", "/customers", {"fullName": "Marta Kowal", "email": "marta@example.com"})
    customer = created.json()
    at = f"/customers/{customer['uuid']}"

    assert created.status_code == 201
    assert shop.get(at) == customer
    assert shop.get("/customers", search="Marta Kowal")["data"][0] == customer
    assert shop.send("PATCH", at, {"fullName": "Marta Lund"}).json()["fullName"] == "Marta Lund"
    assert (shop.get(at)["fullName"], shop.get(at)["email"]) == ("Marta Lund", "marta@example.com")
    assert shop.send("DELETE", at).status_code == 204
    assert shop.send("GET", at).status_code == 404
    assert Client(shop.simulator, signed_in=False).send("GET", at).status_code == 401


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


def test_filters_are_bound_by_name(shop: Client) -> None:
    orders = shop.get("/orders", status="paid", minTotal=500, maxTotal=7000)["data"]
    assert orders
    assert {order["status"] for order in orders} == {"paid"}
    assert all(500 <= order["total"] <= 7000 for order in orders)


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


def test_saved_things_can_be_asked_for(shop: Client) -> None:
    product = shop.get("/products", name="Paper Lantern")["data"][0]
    assert product["name"] == "Paper Lantern"
    assert shop.send("GET", "/me/saved/contains", ids=product["id"]).json() == [False]
    assert shop.send("PUT", "/me/saved", product_ids=product["id"]).status_code == 204
    assert shop.send("GET", "/me/saved/contains", ids=product["id"]).json() == [True]
    assert product in shop.get("/me/saved")["data"]


def test_a_schema_that_contains_itself_ends_somewhere(shop: Client) -> None:
    protocol = shop.simulator.protocol
    tool = protocol.tool("GET_categories_id")
    world = Simulator(protocol, auth=False)
    status, body, _, _ = world.handle("GET", "/categories/1", {}, b"")
    assert status == 404
    assert b"id" in body
    assert tool.success is not None


# -- what is sent, and how -----------------------------------------------------------------------------------------


def described(paths: Mapping[str, object], **components: object) -> dict[str, object]:
    """A document of version 3.0."""
    return {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths, "components": components}


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 200), ("?tags=a&tags=b", 200), ("?limit=3", 200), ("?limit=null", 200), ("?limit=x", 400), ("?tree=a", 400)],
)
def test_parameters_that_may_be_null_are_read_by_their_other_type(query: str, status: int) -> None:
    tree = {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}
    tags = {"type": "array", "nullable": True, "items": {"type": "string"}}
    item_list = {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}}
    whole = {"type": "integer", "nullable": True}
    listed = operation("/l", answer=item_list, tags=tags, limit=whole, tree={"$ref": "#/components/schemas/Tree"})

    simulator = Simulator(load(described({"/l": {"get": listed}}, schemas={"Tree": tree})))
    assert simulator.handle("GET", "/l" + query, {}, b"")[0] == status


def pets_document() -> dict[str, object]:
    """Operations that ask for one scheme, for another, for either, for both, and for none."""
    security: dict[str, list[dict[str, list[str]]]] = {
        "/pets": [{"petstore_auth": []}],
        "/store/inventory": [{"api_key": []}],
        "/either": [{"petstore_auth": []}, {"api_key": []}],
        "/both": [{"petstore_auth": [], "api_key": []}],
        "/optional": [{"petstore_auth": []}, {}],
        "/open": [],
    }
    answer = {"type": "object", "properties": {"count": {"type": "integer"}}}
    paths = {path: {"get": {**operation(path, answer=answer), "security": ways}} for path, ways in security.items()}
    flow = {"authorizationUrl": "https://pets.example.com/login", "scopes": {}}
    schemes = {
        "petstore_auth": {"type": "oauth2", "flows": {"implicit": flow}},
        "api_key": {"type": "apiKey", "in": "header", "name": "api_key"},
        "unused": {"type": "http", "scheme": "basic"},
    }
    return described(paths, securitySchemes=schemes)


def test_each_operation_takes_the_credentials_that_it_asks_for() -> None:
    """There is one for each scheme in use; any alternative that is wholly there will do."""
    simulator = Simulator(load(pets_document()))
    by_scheme = {credential.scheme: credential for credential in simulator.credentials}
    assert list(by_scheme) == ["petstore_auth", "api_key"]

    def accepted(*schemes: str) -> list[str]:
        headers: dict[str, str] = {}
        for scheme in schemes:
            by_scheme[scheme].apply(headers, [], {})
        paths = [tool.path for tool in simulator.protocol.tools]
        return [path for path in paths if simulator.handle("GET", path, headers, b"")[0] == 200]

    assert accepted() == ["/optional", "/open"]
    assert accepted("petstore_auth") == ["/pets", "/either", "/optional", "/open"]
    assert accepted("api_key") == ["/store/inventory", "/either", "/optional", "/open"]
    assert accepted("petstore_auth", "api_key") == [tool.path for tool in simulator.protocol.tools]


def test_the_command_tells_every_credential(tmp_path: Path) -> None:
    (tmp_path / "pets.json").write_text(json.dumps(pets_document()))
    command = [str(Path(sys.executable).with_name("atc")), "simulate", str(tmp_path / "pets.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        _, first, second = (process.stdout.readline() for _ in range(3))
        process.terminate()

    assert first.startswith("credential: header Authorization: Bearer simulated-")
    assert second.startswith("credential: header api_key: simulated-")


def goods_document(media_type: str) -> dict[str, object]:
    """Goods are made from a body; the server alone gives them their id."""
    properties = {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string"},
        "price": {"type": "number", "minimum": 0},
        "sizes": {"type": "array", "items": {"type": "integer"}},
    }
    good = {"type": "object", "required": ["id", "name", "price"], "properties": properties}
    create = operation("/goods", answer=good, status=201)
    create["responses"]["422"] = {"description": "Wrong."}
    create["requestBody"] = {"required": True, "content": {media_type: {"schema": good}}}
    return described({"/goods": {"post": create}})


@pytest.mark.parametrize("media_type", ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"])
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"name": "Lamp", "price": 12.5, "sizes": [1, 2]}, 201),
        ({}, 422),
        ({"name": "Lamp"}, 422),
        ({"name": "Lamp", "price": "abc"}, 422),
        ({"name": "Lamp", "price": -1}, 422),
        ({"name": "Lamp", "price": 1, "sizes": [1, "big"]}, 422),
    ],
)
def test_a_body_is_checked_whatever_its_media_type(media_type: str, sent: dict[str, object], status: int) -> None:
    """What it must hold, and of which type; the refusal is the documented one."""
    with Simulator(load(goods_document(media_type))) as simulator:
        pairs = [(n, str(v)) for n, value in sent.items() for v in (value if isinstance(value, list) else [value])]
        if media_type == "application/json":
            reply = requests.post(simulator.url + "/goods", json=sent, timeout=10)
        elif media_type == "multipart/form-data":
            files = [(name, (None, text)) for name, text in pairs] or [("other", (None, "x"))]
            reply = requests.post(simulator.url + "/goods", files=files, timeout=10)
        else:
            reply = requests.post(simulator.url + "/goods", data=pairs or {"other": "x"}, timeout=10)

    assert reply.status_code == status
    if status == 201:
        assert {name: reply.json()[name] for name in sent} == sent


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 400),
        ({"Cookie": "visit=soon; X=1", "X_Tenant": "a"}, 400),
        ({"Cookie": "visit=7"}, 400),
        ({"cookie": "X=1; visit=7", "x_tenant": "a"}, 200),
    ],
)
def test_cookies_and_headers_are_parameters_too(headers: dict[str, str], status: int) -> None:
    """A right request before does not help a wrong one."""
    get = operation("/l", answer={"type": "object", "properties": {"count": {"type": "integer"}}})
    visit = {"name": "visit", "in": "cookie", "required": True, "schema": {"type": "integer"}}
    get["parameters"] = [visit, {"name": "X-Tenant", "in": "header", "required": True, "schema": {"type": "string"}}]
    simulator = Simulator(load(described({"/l": {"get": get}})))
    assert simulator.handle("GET", "/l", {"Cookie": "visit=7", "X-Tenant": "a"}, b"")[0] == 200

    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    assert simulator.handle("GET", "/l", sent, b"")[0] == status


@pytest.mark.parametrize(
    ("style", "explode"),
    [("deepObject", True), ("form", True), ("form", False), ("pipeDelimited", False), ("json", False)],
)
def test_an_object_in_the_query_is_read_as_it_is_called(style: str, explode: bool) -> None:
    """However a required object is laid out, the call gets through and filters; without it or with a wrong one not."""
    colour = {"type": "string", "enum": ["red", "green"]}
    fields = {"color": colour, "most": {"type": "integer"}, "near": {"type": "array", "items": {"type": "number"}}}
    schema = {"type": "object", "required": ["color"], "properties": fields, "additionalProperties": False}
    if style in {"form", "pipeDelimited"} and not explode:
        del fields["near"]  # a list within a list of texts is not told apart
    item = {"type": "object", "required": ["id", "color"], "properties": {"id": {"type": "integer"}, "color": colour}}
    laid = {"content": {"application/json": {"schema": schema}}} if style == "json" else {"schema": schema}
    named = {} if style == "json" else {"style": style, "explode": explode}
    page = {"name": "page", "in": "query", "schema": {"type": "integer"}}
    listed = operation("/things", answer={"type": "array", "items": item})
    listed["parameters"] = [{"name": "filter", "in": "query", "required": True, **laid, **named}, page]
    protocol = load(described({"/things": {"get": listed}}))
    filter_value = {"color": "red", "most": 3} | ({"near": [1.5, 2]} if "near" in fields else {})
    query = bind(protocol.tools[0], [], {"filter": filter_value, "page": 1}).query

    with Simulator(protocol) as simulator:
        matching = requests.get(simulator.url + "/things", params=query, timeout=10)
        wrong = [(name, text.replace("red", "blue")) for name, text in query]
        refused = [requests.get(simulator.url + "/things", params=p, timeout=10) for p in (wrong, [("page", "1")])]

    assert matching.status_code == 200, matching.text
    assert {entry["color"] for entry in matching.json()} == {"red"}
    assert [reply.status_code for reply in refused] == [400, 400]


def test_what_was_sent_is_shown_as_the_answer_documents_it() -> None:
    """Fields that an answer must have are filled in, what does not fit is left out, and the rest is as it was sent."""
    text = {"type": "string"}
    address = {"type": "object", "required": ["street", "city"], "properties": {"street": text, "city": text}}
    tag = {"type": "object", "required": ["label"], "properties": {"label": text, "weight": {"type": "integer"}}}
    sizes = {"type": "array", "minItems": 2, "items": {"type": "integer"}}
    reached = [{"type": "object", "required": [by], "properties": {by: text}} for by in ("mail", "phone")]
    user = {
        "type": "object",
        "required": ["userId", "address", "tags", "contact", "notes"],
        "properties": {
            "userId": {"type": "integer"},
            "address": address,
            "tags": {"type": "array", "items": tag},
            "sizes": sizes,
            "contact": {"oneOf": reached},
            "notes": {"type": "array", "items": {"type": "object", "additionalProperties": text}},
            "extra": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
    }
    paths = {
        "/users": {"post": operation("/users", body={"type": "object"}, answer=user, status=201)},
        "/users/{userId}": {
            "get": operation("/users/{userId}", answer=user),
            "patch": operation("/users/{userId}", body={"type": "object"}, answer=user),
        },
    }
    with Simulator(load(described(paths))) as simulator:
        client = Client(simulator)
        post, get, patch = (
            simulator.protocol.tool(f"{m}_users{e}")
            for m, e in (("POST", ""), ("GET", "_userId"), ("PATCH", "_userId"))
        )
        created = client.send(
            "POST", "/users", {"address": {"street": "y"}, "tags": ["x"], "sizes": [1], "extra": {"a": "b"}}
        )
        at = f"/users/{created.json()['userId']}"
        fetched = client.send("GET", at)
        sent = {
            "tags": [{"label": "new", "weight": "heavy"}, {"weight": 2}, 5],
            "address": {"street": 1, "city": "Bergen"},
        }
        changed = client.send("PATCH", at, sent)
        right = {"address": {"street": "a", "city": "b"}, "sizes": [3, 4], "extra": {"a": 1}, "contact": {"phone": "5"}}
        corrected = client.send("PATCH", at, right)

    assert [*faults_of(client, post, created), *faults_of(client, get, fetched)] == []
    assert [*faults_of(client, patch, changed), *faults_of(client, patch, corrected)] == []
    assert fetched.json() == created.json()
    assert created.json()["address"]["street"] == "y"
    assert created.json()["tags"] == []
    assert changed.json()["address"]["city"] == "Bergen"
    assert [tag["label"] for tag in changed.json()["tags"]][:1] == ["new"]
    assert [tag.get("weight") for tag in changed.json()["tags"]] == [None, 2]
    assert corrected.json() == changed.json() | right
