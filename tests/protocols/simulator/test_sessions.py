"""Worlds of their own: what a task may rely on when others talk to the same simulator at the same time."""

from __future__ import annotations

import json
import random
import string
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
import requests
from click.testing import CliRunner

from atc.apps.cli.simulate import simulate
from protocols import Protocol, load
from protocols.samples import sample
from protocols.simulator import Simulator
from protocols.text.entities import read_entities
from tests.protocols.simulator.simulated_apis import TEXT, WHOLE, Client, described, list_of, object_of, operation


@pytest.fixture
def simulator(cinema_protocol: Protocol) -> Iterator[Simulator]:
    with Simulator(cinema_protocol, auth=False) as simulator:
        yield simulator


def asking(client: Client, question: str = "", task: str = "t1") -> Client:
    """A client of a session for a question."""
    return Client(client.simulator, client.simulator.session(question, task))


# -- opening, resetting, closing -----------------------------------------------------------------------------------


def test_a_session_is_opened_reset_and_closed_over_http(simulator: Simulator) -> None:
    """POST gives a base URL of its own; a reset undoes its writes; after DELETE the URL is gone."""
    root = simulator.url.removesuffix("/api")
    opened = requests.post(root + "/__session__", json={"seed": 3, "task": "t1", "query": "Is it good?"}, timeout=10)
    base, id = opened.json()["base_url"], opened.json()["id"]

    assert opened.status_code == 201
    assert base == f"{root}/__session__/{id}/api"
    first = requests.get(base + "/me/watchlist", timeout=10).json()
    gone = first["films"][0]["filmId"]
    assert requests.delete(base + "/me/watchlist", params={"filmIds": gone}, timeout=10).status_code == 204
    assert requests.get(base + "/me/watchlist", timeout=10).json() != first
    assert requests.post(base + "/__reset__", timeout=10).status_code == 204
    assert requests.get(base + "/me/watchlist", timeout=10).json() == first
    assert requests.get(base + "/__reset__", timeout=10).status_code == 405

    assert requests.delete(f"{root}/__session__/{id}", timeout=10).status_code == 204
    assert requests.get(base + "/me/watchlist", timeout=10).status_code == 404
    assert requests.delete(f"{root}/__session__/{id}", timeout=10).status_code == 404


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"{", "Invalid JSON"),
        (b"[1]", "should be an object"),
        (b'{"seed": "x"}', "seed: Input should be a valid integer"),
        (b'{"task": [1]}', "task: "),
        (b'{"query": 5}', "query: Input should be a valid string"),
        (b'{"colour": 1}', "colour: Extra inputs are not permitted"),
    ],
)
def test_a_session_that_cannot_be_opened_says_why(cinema: Client, sent: bytes, message: str) -> None:
    reply = cinema.send("POST", "/__session__", sent)

    assert reply.status == 400
    assert message in reply.json()["message"]


def test_a_session_from_python_closes_itself(cinema: Client) -> None:
    """It wants the credential that it has, like the simulator that it is of."""
    with cinema.simulator.session(task="t1") as session:
        client = Client(cinema.simulator, session)
        assert session.credentials == cinema.simulator.credentials
        assert client.send("GET", "/films").status == 200
        assert Client(cinema.simulator, session, signed_in=False).send("GET", "/films").status == 401
    assert client.send("GET", "/films").status == 404


# -- one world per task --------------------------------------------------------------------------------------------


def test_seed_and_task_decide_what_a_world_is(cinema_protocol: Protocol) -> None:
    """The same ones give the same world, whatever other sessions there are; another task or seed gives another."""
    simulator, seeded = Simulator(cinema_protocol, auth=False), Simulator(cinema_protocol, seed=5, auth=False)

    def world(simulator: Simulator, task: str, seed: int | None) -> object:
        client = Client(simulator, simulator.session(task=task, seed=seed))
        return [client.get("/films"), client.get("/people", query="Orla Quist")]

    first = world(simulator, "t1", 5)

    assert world(simulator, "t1", 5) == first == world(seeded, "t1", None)
    assert world(simulator, "t2", 5) != first
    assert world(simulator, "t1", 6) != first


def test_sessions_at_the_same_time_do_not_meet(cinema: Client) -> None:
    """Each of eight tasks fills a watchlist of its own at once with the others and finds nothing else in it."""

    def watchlist(client: Client) -> list[object]:
        return [film["filmId"] for film in client.get("/me/watchlist")["films"]]

    def fill(number: int) -> bool:
        client = asking(cinema, task=str(number))
        films = [film["filmId"] for film in client.get("/films")["films"][: number + 1]]
        for film in watchlist(client):
            client.send("DELETE", "/me/watchlist", filmIds=film)
        for film in films:
            client.send("PUT", "/me/watchlist", {"filmIds": [film]})
        return watchlist(client) == films

    before = watchlist(cinema)
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(fill, range(8)))
    assert watchlist(cinema) == before


QUESTION = 'Did Orla Quist direct Glass Meridian, and is "The Silent Harbor" on my watchlist?'


def movie_reads(client: Client) -> Iterator[str]:
    """Reads of many kinds, with identifiers taken from others."""
    yield from ("/movie/popular", "/movie/top_rated", "/tv/on_the_air", "/person/popular", "/trending/tv/day")
    for kind in ("movie", "tv", "person", "company", "collection"):
        for name in ("Glass Meridian", "Orla Quist"):
            yield f"/search/{kind}?query={quote(name)}"
    film = client.get("/search/movie", query="Glass Meridian")["results"][0]["id"]
    person = client.get("/search/person", query="Orla Quist")["results"][0]["id"]
    show = client.get("/tv/on_the_air")["results"][0]["id"]
    yield from (f"/movie/{film}{suffix}" for suffix in ("", "/credits", "/similar", "/keywords", "/reviews", "/images"))
    yield from (f"/person/{person}{suffix}" for suffix in ("", "/movie_credits", "/tv_credits", "/images"))
    yield from (
        f"/tv/{show}{suffix}" for suffix in ("", "/credits", "/season/1", "/season/1/credits", "/recommendations")
    )
    crew = client.get(f"/movie/{film}/credits")["crew"]
    yield from (f"/credit/{entry['credit_id']}" for entry in crew[:3])
    yield from (f"/person/{entry['id']}/movie_credits" for entry in crew[:4])
    yield from (f"/person/{entry['id']}" for entry in crew[:4])
    yield f"/review/{client.get(f'/movie/{film}/reviews')['results'][0]['id']}"


def test_the_order_of_reads_makes_no_difference(movies: Client) -> None:
    """Forty reads and more in a shuffled order, then from eight threads at once: each is answered by the same bytes."""
    reads = list(dict.fromkeys(movie_reads(asking(movies, QUESTION))))

    def answers(order: list[str], threads: int) -> dict[str, bytes]:
        client = asking(movies, QUESTION)
        with ThreadPoolExecutor(threads) as pool:
            replies = list(pool.map(lambda path: client.send("GET", path), order))
        assert [reply.status for reply in replies] == [200] * len(order)
        return {path: reply.content for path, reply in zip(order, replies, strict=True)}

    first = answers(reads, 1)
    assert len(reads) >= 40
    for threads in (1, 8):
        assert answers(random.Random(threads).sample(reads, len(reads)), threads) == first


def test_what_is_written_at_the_same_time_is_the_same_in_either_order(cinema: Client) -> None:
    """A thing that is made has its identifier from what was sent, not from what came before."""
    replies = []
    for order in (("Good.", "Slow.", "Good."), ("Good.", "Good.", "Slow.")):
        client = asking(cinema)
        film = client.get("/films")["films"][0]["filmId"]
        sent = [client.send("POST", f"/films/{film}/reviews", {"stars": 4, "text": text}) for text in order]
        replies.append(sorted(reply.content for reply in sent))

    assert replies[0] == replies[1]
    assert len(set(replies[0])) == 3


# -- what a question takes for granted -----------------------------------------------------------------------------


def invented_name(words: int = 2) -> str:
    """A name that nobody ever heard of."""
    return " ".join("".join(random.choices(string.ascii_lowercase, k=6)).capitalize() for _ in range(words))


def test_names_in_a_question_are_found_in_every_searched_collection(movies: Client) -> None:
    """Quoted, capitalised, possessive: a search finds the very name first, and the entity is the same everywhere."""
    film, person, company = invented_name(3), invented_name(), invented_name().lower()
    client = asking(movies, f'Who made "{company}", is it {person}\'s, and when will {film} be shown?')
    for name in (film, person, company):
        for kind in ("movie", "tv", "person", "company", "collection"):
            title = "title" if kind == "movie" else "name"
            entity = client.get(f"/search/{kind}", query=name)["results"][0]
            assert entity[title] == name
            assert client.get(f"/{kind}/{entity['id']}")[title] == name
            assert client.get(f"/search/{kind}", query=name.upper())["results"][0]["id"] == entity["id"]
            assert entity["id"] in [each["id"] for each in client.get(f"/search/{kind}", query=name[:5])["results"]]


def test_names_in_a_question_are_in_the_collections_of_the_user(music: Client) -> None:
    """A playlist, a device, an album, a song or an artist of that name is the user's; a name that the question calls a
    playlist is only that."""
    any_name, playlist = invented_name(), invented_name()
    client = asking(music, f"Play {any_name} and my playlist '{playlist}' on it")
    mine = {
        "playlist": [item["name"] for item in client.get("/me/playlists")["items"]],
        "device": [item["name"] for item in client.get("/me/player/devices")["devices"]],
        "album": [item["album"]["name"] for item in client.get("/me/albums")["items"]],
        "track": [item["track"]["name"] for item in client.get("/me/tracks")["items"]],
        "artist": [item["name"] for item in client.get("/me/following", type="artist")["artists"]["items"]],
    }
    assert all(any_name in names for names in mine.values())
    assert [kind for kind, names in mine.items() if playlist in names] == ["playlist"]
    own_playlist = next(item for item in client.get("/me/playlists")["items"] if item["name"] == playlist)
    assert client.get(f"/playlists/{own_playlist['id']}")["name"] == playlist
    assert own_playlist["owner"]["id"] == client.get("/me")["id"]
    assert client.get(f"/playlists/{own_playlist['id']}/tracks")["items"]
    assert client.get("/search", q=playlist, type="playlist")["playlists"]["items"][0]["id"] == own_playlist["id"]


def test_those_who_made_something_in_a_question_did_make_it(music: Client, movies: Client) -> None:
    """The album of somebody is theirs, in both directions, and two who play in a film are in its cast."""
    artist, album, first, second, film = (invented_name() for _ in range(5))
    client = asking(music, f"Save {artist}'s album {album}")

    def search(text: str, kind: str) -> dict[str, object]:
        return client.get("/search", q=text, type=kind)[f"{kind}s"]["items"][0]  # type: ignore[no-any-return]

    record, singer = search(album, "album"), search(artist, "artist")
    assert singer["id"] in [entry["id"] for entry in record["artists"]]  # type: ignore[attr-defined]
    assert record["id"] in [entry["id"] for entry in client.get(f"/artists/{singer['id']}/albums")["items"]]
    assert search(f"{artist} {album}", "album")["id"] == record["id"]
    assert search(f"{album} {artist}", "artist")["id"] == singer["id"]
    assert search(f"album:{album} artist:{artist}", "album")["id"] == record["id"]
    client = asking(movies, f"Are {first} and {second} co-starring in {film}?")
    film_id = client.get("/search/movie", query=film)["results"][0]["id"]
    cast = [entry["name"] for entry in client.get(f"/movie/{film_id}/credits")["cast"]]
    assert {first, second} <= set(cast)
    person = client.get("/search/person", query=first)["results"][0]["id"]
    assert film_id in [entry["id"] for entry in client.get(f"/person/{person}/movie_credits")["cast"]]


def test_what_is_playing_is_playing_where_the_question_says(music: Client) -> None:
    """Plain words presuppose too: there is a state, what I have first or last is there, and it is on that device."""
    device = invented_name()
    client = asking(music, f"Is something now playing on my device '{device}'?")
    player = client.get("/me/player")
    assert (player["is_playing"], player["device"]["name"]) == (True, device)
    assert player["item"]["name"]
    assert device in [item["name"] for item in client.get("/me/player/devices")["devices"]]
    client = asking(music, "Remove my first saved song and the last of my queue")
    assert client.get("/me/tracks")["items"]
    assert client.get("/me/player/queue")["queue"]


def test_a_list_without_a_search_has_the_names_too() -> None:
    """Where an API only lists, the name is in the list."""
    document = described({"/pets": {"get": operation(list_of(object_of(id=WHOLE, name=TEXT)))}})
    client = asking(Client(Simulator(load(document))), "Is Vomiro a cat?")

    assert "Vomiro" in [pet["name"] for pet in client.get("/pets")]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Who directed The Far Side of the Hill?", ["The Far Side of the Hill"]),
        ("What is the last episode of 3 Lost Sailors?", ["3 Lost Sailors"]),
        ("Do Mina Tanabe and Jo Okada play in Ice as Fire?", ["Mina Tanabe", "Jo Okada", "Ice as Fire"]),
        ("Pause device 'My PC', then play “Blue Moon”", ["My PC", "Blue Moon"]),
        ("Save Jay Chou\u2019s album Mojito", ["Jay Chou", "Mojito"]),
        ("Is it near Fisherman's Wharf?", ["Fisherman", "Fisherman's Wharf", "Wharf"]),
        ("Play me some quiet songs. Make it loud.", []),
        ("Show Dr. Strange in the Multiverse of Madness", ["Dr. Strange", "Multiverse of Madness"]),
        ("How warm was it in Porto on 14 July 2021, and on May 3rd, 2022?", ["Porto"]),
        ("We're in Faro. Isn't it warm? Don't Blink is a film.", ["Faro", "Don't Blink"]),
        ("Who built Avatar: The Way of Water?", ["Avatar", "Avatar: The Way of Water", "The Way of Water"]),
        ("Record a payment of Ada Lund.", ["Ada Lund"]),
        ("Review all boats of Ada Lund.", ["Ada Lund"]),
    ],
)
def test_names_are_read_from_plain_english(query: str, names: list[str]) -> None:
    """A colon may stand within a title; a word before an article at the start of a sentence is a verb."""
    assert sorted(name.text for name in read_entities(query).names) == sorted(names)


# -- what a service puts its clients through -----------------------------------------------------------------------


def statuses(simulator: Simulator, paths: list[str], threads: int = 1) -> list[tuple[str, int, str | None]]:
    """What became of requests in a session of their own: path, status and Retry-After, in the order of the paths."""
    client = Client(simulator, simulator.session(task="t1"))
    with ThreadPoolExecutor(threads) as pool:
        replies = list(pool.map(lambda path: client.send("GET", path), paths))
    return [(path, r.status, r.headers.get("Retry-After")) for path, r in zip(paths, replies, strict=True)]


def test_failures_are_drawn_from_the_seed(cinema_protocol: Protocol) -> None:
    """About as many as asked for, the same ones in any order, and a request that is sent again may get through."""
    paths = [f"/films?page={page}" for page in range(1, 201)]
    simulator = Simulator(cinema_protocol, auth=False, fail_rate=0.3)
    first = statuses(simulator, paths)
    failed = [(path, status, wait) for path, status, wait in first if status != 200]
    assert 40 <= len(failed) <= 80
    assert {status for _, status, _ in failed} == {429, 500, 502, 503}
    assert all((wait == "1") == (status in {429, 503}) for _, status, wait in failed)
    assert sorted(statuses(simulator, paths[::-1], threads=4)) == sorted(first)
    again = statuses(simulator, [path for path, _, _ in failed for _ in range(8)])
    assert {path for path, status, _ in again if status == 200} == {path for path, _, _ in failed}
    assert statuses(Simulator(cinema_protocol, seed=1, auth=False, fail_rate=0.3), paths) != first


def test_a_failed_write_was_not_done(cinema_protocol: Protocol) -> None:
    calm, broken, shaky = (Client(Simulator(cinema_protocol, auth=False, fail_rate=rate)) for rate in (0, 1, 0.5))
    change = {"filmIds": [calm.get("/films")["films"][0]["filmId"]]}
    before = calm.get("/me/watchlist")
    reply = broken.send("PUT", "/me/watchlist", change)
    assert reply.status in {429, 500, 502, 503}
    assert set(reply.json()) == {"code", "message"}
    while shaky.send("PUT", "/me/watchlist", change).status != 204:
        listed = shaky.send("GET", "/me/watchlist")
        assert listed.status != 200 or listed.json() == before


def test_the_rate_is_limited_in_each_session(cinema_protocol: Protocol) -> None:
    """The first request passes, then 429 says how long to wait; another session has a limit of its own."""
    simulator = Simulator(cinema_protocol, auth=False, rate_limit=0.001)
    for task in ("t1", "t2"):
        client = Client(simulator, simulator.session(task=task))
        replies = [client.send("GET", "/me") for _ in range(4)]
        assert [reply.status for reply in replies] == [200, 429, 429, 429]
        assert all(900 < int(reply.headers["Retry-After"]) <= 1000 for reply in replies[1:])


def test_the_log_has_a_line_for_each_request_and_no_secret(movies: Client, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    with Simulator(movies.simulator.protocol, log=file) as simulator:
        session = simulator.session(task="t1")
        (credential,) = simulator.credentials
        Client(simulator).get("/3/movie/popular", page=2)
        Client(simulator, session).get("/3/movie/popular", page=2)
        Client(simulator, session, signed_in=False).send("GET", "/3/movie/popular")
    lines = [json.loads(line) for line in file.read_text().splitlines()]

    assert [list(line) for line in lines] == [["time", "method", "path", "status", "ms", "session"]] * 3
    assert [(line["path"], line["status"], line["session"]) for line in lines] == [
        ("/3/movie/popular", 200, ""),
        ("/3/movie/popular", 200, session.id),
        ("/3/movie/popular", 401, session.id),
    ]
    assert credential.secrets()[0] not in file.read_text()


def test_the_command_sets_the_conditions_and_tells_the_credential(tmp_path: Path) -> None:
    """All of them at once: `atc simulate` with a log, a limit, a delay and failures."""
    log = tmp_path / "log.jsonl"
    options = ["--latency", "0.05", "--fail-rate", "1", "--rate-limit", "2/s", "--log", str(log)]
    command = [str(Path(sys.executable).with_name("atc")), "simulate", str(sample("cinema")), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url, credential = (process.stdout.readline().strip() for _ in range(2))
        replies = [requests.get(url + "/films", timeout=10) for _ in range(4)]
        process.terminate()

    assert credential.startswith("credential: header Authorization: Bearer simulated-")
    assert all(reply.status_code >= 429 for reply in replies)
    assert len(log.read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rate-limit", "fast"], "10/s"),
        (["--fail-rate", "2"], "fail-rate"),
        (["--latency", "-1"], "latency"),
    ],
)
def test_the_command_refuses_wrong_conditions(options: list[str], message: str) -> None:
    refused = CliRunner().invoke(simulate, [str(sample("cinema")), *options])

    assert refused.exit_code == 2
    assert message in refused.output
