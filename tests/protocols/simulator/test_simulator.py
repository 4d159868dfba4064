"""What a program may rely on when it talks to a simulated service instead of the real one."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
import requests

from protocols import Protocol
from protocols.calls.credentials import ANY_REQUEST
from protocols.simulator import Simulator
from tests.protocols.simulator.simulated_apis import Client, faults_of, movie_arguments, music_arguments, music_values

# -- every operation of a document ---------------------------------------------------------------------------------


def test_every_operation_of_the_cinema_answers_as_documented(cinema: Client) -> None:
    """All bodies validate, have the keys of the document's examples, and writes give the documented status."""
    film = cinema.get("/films", query="Glass Meridian")["films"][0]["filmId"]
    person = cinema.get("/people", query="Orla Quist")["people"][0]["personId"]
    studio = cinema.get(f"/films/{film}")["studio"]["studioId"]
    values = {"filmId": film, "personId": person, "studioId": studio, "query": "Orla Quist", "filmIds": film}
    bodies: dict[tuple[str, str], object] = {
        ("POST", "/films/{filmId}/reviews"): {"stars": 4, "text": "Good."},
        ("PUT", "/me/watchlist"): {"filmIds": [film]},
    }
    faults: list[str] = []

    for tool in cinema.simulator.protocol.tools:
        arguments = {p.name: values[p.name] for p in tool.parameters if p.required and p.name in values}
        faults += faults_of(cinema, tool, cinema.call(tool, arguments, bodies.get((tool.method, tool.path))))

    assert not faults


def test_every_operation_of_a_large_movie_protocol_answers_as_documented(movies: Client) -> None:
    """54 tools, arguments taken from searches and lists: valid bodies with all keys of the examples, no empty key."""
    values = movie_arguments(movies)
    faults: list[str] = []

    for tool in movies.simulator.protocol.tools:
        arguments = {p.name: values[p.name] for p in tool.parameters if p.required and p.name in values}
        faults += faults_of(movies, tool, movies.call(tool, arguments))

    assert not faults


def test_every_operation_of_a_large_music_protocol_answers_as_documented(music: Client) -> None:
    """40 tools, 17 of them writes."""
    ids = music_arguments(music)
    faults: list[str] = []

    for tool in music.simulator.protocol.tools:
        arguments = music_values(tool, ids)
        body: object = None
        if tool.body is not None:
            fields = {
                "ids": [arguments.get("ids")],
                "uris": [ids["uri"]],
                "name": "New",
                "tracks": [{"uri": ids["uri"]}],
            }
            names = tool.body.schema.get("properties", {})
            body = {name: value for name, value in fields.items() if name in names}  # type: ignore[operator]
        faults += faults_of(music, tool, music.call(tool, arguments, body))

    assert not faults


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


def test_lists_link_to_their_next_page(music: Client) -> None:
    first = music.get("/browse/new-releases", limit=5)["albums"]
    query = dict(part.split("=") for part in first["next"].partition("?")[2].split("&"))
    second = music.get("/browse/new-releases", **query)["albums"]

    assert (first["limit"], first["offset"], second["offset"]) == (5, 0, 5)
    assert first["previous"] is None
    assert second["previous"] is not None
    assert not {a["id"] for a in first["items"]} & {a["id"] for a in second["items"]}


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


def test_the_same_seed_gives_the_same_bytes_in_another_process(cinema_protocol: Protocol) -> None:
    """Nothing depends on the process, on hash randomisation or on what was asked before."""
    program = (
        "from protocols import load; from protocols.samples import sample\n"
        "from protocols.simulator import Simulator\n"
        "s = Simulator(load(sample('cinema')), seed=7, auth=False)\n"
        "for path in ('/films/top-rated', '/people?query=Orla%20Quist', '/films?query=Glass%20Meridian'):\n"
        "    answer = s.handle('GET', path, {}, b'')[1].decode()\n"
        "print(answer, end='')"
    )
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    with Simulator(cinema_protocol, seed=7, auth=False) as simulator:
        assert requests.get(simulator.url + "/films?query=Glass%20Meridian", timeout=10).text == other
    answer = Simulator(cinema_protocol, 8, auth=False).handle("GET", "/films?query=Glass%20Meridian", {}, b"")
    assert answer[1].decode() != other


def test_today_is_what_the_clock_says(cinema_protocol: Protocol) -> None:
    client = Client(Simulator(cinema_protocol, now=datetime(2031, 5, 4, tzinfo=UTC)))
    assert client.get("/films", sortBy="-releaseDate")["films"][0]["releaseDate"][:4] == "2031"


# -- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_line", "status", "name"),
    [
        ("GET /people", 400, "query"),
        ("GET /films?page=soon", 400, "page"),
        ("GET /films?genre=opera", 400, "genre"),
        ("GET /films/999999999", 404, "filmId"),
        ("POST /films/{film}/reviews", 400, "stars"),
    ],
)
def test_wrong_requests_get_the_documented_refusals(cinema: Client, request_line: str, status: int, name: str) -> None:
    """Each says in the document's own shape what is wrong."""
    method, path = request_line.replace("{film}", str(cinema.get("/films")["films"][0]["filmId"])).split()
    reply = cinema.send(method, path, {"stars": 9, "text": "x"} if method == "POST" else None)

    assert reply.status == status
    assert set(reply.json()) == {"code", "message"}
    assert name in reply.json()["message"]


def test_what_is_not_documented_is_not_there(cinema: Client) -> None:
    refused = cinema.send("PATCH", "/me/watchlist")

    assert cinema.send("GET", "/nowhere").status == 404
    assert (refused.status, refused.headers["Allow"]) == (405, "DELETE, GET, PUT")


def test_only_the_made_up_credential_is_accepted(cinema: Client, cinema_protocol: Protocol) -> None:
    stranger = Client(cinema.simulator, signed_in=False)
    refused = stranger.send("GET", "/me")
    (credential,) = cinema.simulator.credentials

    assert (refused.status, refused.json()["code"]) == (401, "unauthorized")
    assert cinema.send("GET", "/me").status == 200
    assert stranger.send("GET", "/me", None, {"Authorization": "Bearer x"}).status == 401
    assert credential.secrets()[0] not in repr(credential)
    assert Client(Simulator(cinema_protocol, auth=False)).send("GET", "/me").status == 200


# -- the server ----------------------------------------------------------------------------------------------------


def test_many_clients_at_once_see_one_world(cinema_protocol: Protocol) -> None:
    """Requests from many threads over kept connections are answered one after the other and alike."""
    with Simulator(cinema_protocol, auth=False) as simulator, ThreadPoolExecutor(6) as pool:

        def ask(_: int) -> list[object]:
            with requests.Session() as client:
                return [client.get(simulator.url + "/films/top-rated", timeout=20).json() for _ in range(5)]

        answers = [answer for answers in pool.map(ask, range(6)) for answer in answers]

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
    headers = {"Content-Type": "application/json", **credential.sign(ANY_REQUEST)}
    with cinema.simulator as simulator:
        url = f"{simulator.url}/films/{film}/reviews"
        assert requests.post(url, data=b'{"stars": ', headers=headers, timeout=10).status_code == 400
        with contextlib.suppress(requests.ConnectionError):  # hanging up before all of it was sent is as good
            assert requests.post(url, data=b"x" * 11_000_000, headers=headers, timeout=10).status_code == 413
