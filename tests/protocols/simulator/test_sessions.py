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

from protocols import Protocol, load
from protocols.calls.credentials import ANY_REQUEST
from protocols.samples import sample
from protocols.simulator import Session, Simulator
from protocols.text.entities import read_entities


def get(at: Session | str, path: str, **query: object) -> dict:  # type: ignore[type-arg]
    """The body of a successful GET."""
    url = at if isinstance(at, str) else at.url
    reply = requests.get(url + path, params={name: str(value) for name, value in query.items()}, timeout=20)
    assert reply.status_code == 200, (path, query, reply.text[:300])
    return reply.json()  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def cinema_protocol() -> Protocol:
    return load(sample("cinema"))


@pytest.fixture
def cinema(cinema_protocol: Protocol) -> Iterator[Simulator]:
    with Simulator(cinema_protocol, auth=False) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def movies(data: Path) -> Iterator[Simulator]:
    with Simulator(load(data / "restbench" / "tmdb_oas.json"), auth=False) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def music(data: Path) -> Iterator[Simulator]:
    with Simulator(load(data / "restbench" / "spotify_oas.json"), auth=False) as simulator:
        yield simulator


# -- opening, resetting, closing -----------------------------------------------------------------------------------


def test_a_session_is_opened_reset_and_closed_over_http(cinema: Simulator) -> None:
    """POST gives a base URL of its own; a reset undoes its writes; after DELETE the URL is gone."""
    root = cinema.url.removesuffix("/api")
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
def test_a_session_that_cannot_be_opened_says_why(cinema: Simulator, sent: bytes, message: str) -> None:
    reply = requests.post(cinema.url.removesuffix("/api") + "/__session__", data=sent, timeout=10)

    assert reply.status_code == 400
    assert message in reply.json()["message"]


def test_a_session_from_python_closes_itself(cinema_protocol: Protocol) -> None:
    """It wants the credential that it has, like the simulator that it is of."""
    with Simulator(cinema_protocol) as simulator, simulator.session(task="t1") as session:
        headers: dict[str, str] = {}
        for credential in session.credentials:
            headers |= credential.sign(ANY_REQUEST)
        url = session.url
        assert requests.get(url + "/films", headers=headers, timeout=10).status_code == 200
        assert requests.get(url + "/films", timeout=10).status_code == 401
        session.close()
        assert requests.get(url + "/films", headers=headers, timeout=10).status_code == 404


# -- one world per task --------------------------------------------------------------------------------------------


def test_seed_and_task_decide_what_a_world_is(cinema: Simulator) -> None:
    """The same ones give the same world, whatever other sessions there are; another task or seed gives another."""

    def seen(session: Session) -> object:
        with session:
            return [get(session, "/films"), get(session, "/people", query="Orla Quist")]

    first = seen(cinema.session(task="t1", seed=5))

    assert seen(cinema.session(task="t1", seed=5)) == first
    assert seen(cinema.session(task="t2", seed=5)) != first
    assert seen(cinema.session(task="t1", seed=6)) != first
    with Simulator(cinema.protocol, seed=5, auth=False) as world:
        assert seen(world.session(task="t1")) == first


def test_sessions_at_the_same_time_do_not_meet(cinema: Simulator) -> None:
    """Each of eight tasks fills a watchlist of its own at once with the others and finds nothing else in it."""

    def fill(number: int) -> bool:
        with cinema.session(task=str(number)) as session, requests.Session() as client:
            films = [film["filmId"] for film in get(session, "/films")["films"][: number + 1]]
            old = [film["filmId"] for film in get(session, "/me/watchlist")["films"]]
            for film in old:
                client.delete(session.url + "/me/watchlist", params={"filmIds": film}, timeout=20)
            for film in films:
                client.put(session.url + "/me/watchlist", json={"filmIds": [film]}, timeout=20)
            return [film["filmId"] for film in get(session, "/me/watchlist")["films"]] == films

    before = get(cinema.url, "/me/watchlist")
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(fill, range(8)))
    assert get(cinema.url, "/me/watchlist") == before


QUESTION = 'Did Orla Quist direct Glass Meridian, and is "The Silent Harbor" on my watchlist?'


def movie_reads(session: Session) -> Iterator[str]:
    """Reads of many kinds, with identifiers taken from others."""
    yield from ("/movie/popular", "/movie/top_rated", "/tv/on_the_air", "/person/popular", "/trending/tv/day")
    for kind in ("movie", "tv", "person", "company", "collection"):
        for name in ("Glass Meridian", "Orla Quist"):
            yield f"/search/{kind}?query={quote(name)}"
    film = get(session, "/search/movie", query="Glass Meridian")["results"][0]["id"]
    person = get(session, "/search/person", query="Orla Quist")["results"][0]["id"]
    show = get(session, "/tv/on_the_air")["results"][0]["id"]
    yield from (f"/movie/{film}{suffix}" for suffix in ("", "/credits", "/similar", "/keywords", "/reviews", "/images"))
    yield from (f"/person/{person}{suffix}" for suffix in ("", "/movie_credits", "/tv_credits", "/images"))
    yield from (
        f"/tv/{show}{suffix}" for suffix in ("", "/credits", "/season/1", "/season/1/credits", "/recommendations")
    )
    crew = get(session, f"/movie/{film}/credits")["crew"]
    yield from (f"/credit/{entry['credit_id']}" for entry in crew[:3])
    yield from (f"/person/{entry['id']}/movie_credits" for entry in crew[:4])
    yield from (f"/person/{entry['id']}" for entry in crew[:4])
    yield f"/review/{get(session, f'/movie/{film}/reviews')['results'][0]['id']}"


def test_the_order_of_reads_makes_no_difference(movies: Simulator) -> None:
    """Forty reads and more in a shuffled order, then from eight threads at once: each is answered by the same bytes."""
    with movies.session(query=QUESTION, task="t1") as session:
        reads = list(dict.fromkeys(movie_reads(session)))

    def asked(order: list[str], threads: int) -> dict[str, bytes]:
        with movies.session(query=QUESTION, task="t1") as session, ThreadPoolExecutor(threads) as pool:
            replies = list(pool.map(lambda path: requests.get(session.url + path, timeout=30), order))
            assert [reply.status_code for reply in replies] == [200] * len(order)
            return {path: reply.content for path, reply in zip(order, replies, strict=True)}

    first = asked(reads, 1)
    assert len(reads) >= 40
    for threads in (1, 8):
        assert asked(random.Random(threads).sample(reads, len(reads)), threads) == first


def test_what_is_written_at_the_same_time_is_the_same_in_either_order(cinema: Simulator) -> None:
    """A thing that is made has its identifier from what was sent, not from what came before."""
    replies = []
    for order in ((0, 1, 2), (2, 0, 1)):
        with cinema.session(task="t1") as session:
            film = get(session, "/films")["films"][0]["filmId"]
            bodies = [{"stars": 4, "text": text} for text in ("Good.", "Slow.", "Good.")]
            sent = [
                (bodies[i], requests.post(f"{session.url}/films/{film}/reviews", json=bodies[i], timeout=10))
                for i in order
            ]
            replies.append(sorted(json.dumps(reply.json()) for _, reply in sent))

    assert replies[0] == replies[1]
    assert len(set(replies[0])) == 3


# -- what a question takes for granted -----------------------------------------------------------------------------


def invented_name(words: int = 2) -> str:
    """A name that nobody ever heard of."""
    return " ".join("".join(random.choices(string.ascii_lowercase, k=6)).capitalize() for _ in range(words))


def test_names_in_a_question_are_found_in_every_searched_collection(movies: Simulator) -> None:
    """Quoted, capitalised, possessive: a search finds the very name first, and the entity is the same everywhere."""
    film, person, company = invented_name(3), invented_name(), invented_name().lower()
    query = f'Who made "{company}", is it {person}\'s, and when will {film} be shown?'
    with movies.session(query=query, task="t1") as session:
        for name in (film, person, company):
            for kind, title in (
                ("movie", "title"),
                ("tv", "name"),
                ("person", "name"),
                ("company", "name"),
                ("collection", "name"),
            ):
                entity = get(session, f"/search/{kind}", query=name)["results"][0]
                assert entity[title] == name
                assert get(session, f"/{kind}/{entity['id']}")[title] == name
                assert get(session, f"/search/{kind}", query=name.upper())["results"][0]["id"] == entity["id"]
                assert entity["id"] in [
                    result["id"] for result in get(session, f"/search/{kind}", query=name[:5])["results"]
                ]


def test_names_in_a_question_are_in_the_collections_of_the_user(music: Simulator) -> None:
    """A playlist, a device, an album, a song or an artist of that name is the user's; a name that the question calls a
    playlist is only that."""
    any_name, playlist = invented_name(), invented_name()
    with music.session(query=f"Play {any_name} and my playlist '{playlist}' on it", task="t1") as session:
        mine = {
            "playlist": [item["name"] for item in get(session, "/me/playlists")["items"]],
            "device": [item["name"] for item in get(session, "/me/player/devices")["devices"]],
            "album": [item["album"]["name"] for item in get(session, "/me/albums")["items"]],
            "track": [item["track"]["name"] for item in get(session, "/me/tracks")["items"]],
            "artist": [item["name"] for item in get(session, "/me/following", type="artist")["artists"]["items"]],
        }
        assert all(any_name in names for names in mine.values())
        assert [kind for kind, names in mine.items() if playlist in names] == ["playlist"]
        own_playlist = next(item for item in get(session, "/me/playlists")["items"] if item["name"] == playlist)
        assert get(session, f"/playlists/{own_playlist['id']}")["name"] == playlist
        assert own_playlist["owner"]["id"] == get(session, "/me")["id"]
        assert get(session, f"/playlists/{own_playlist['id']}/tracks")["items"]
        assert get(session, "/search", q=playlist, type="playlist")["playlists"]["items"][0]["id"] == own_playlist["id"]


def test_those_who_made_something_in_a_question_did_make_it(music: Simulator, movies: Simulator) -> None:
    """The album of somebody is theirs, in both directions, and two who play in a film are in its cast."""
    artist, album, first, second, film = (invented_name() for _ in range(5))
    with music.session(query=f"Save {artist}'s album {album}", task="t1") as session:
        record = get(session, "/search", q=album, type="album")["albums"]["items"][0]
        singer = get(session, "/search", q=artist, type="artist")["artists"]["items"][0]
        assert singer["id"] in [entry["id"] for entry in record["artists"]]
        assert record["id"] in [entry["id"] for entry in get(session, f"/artists/{singer['id']}/albums")["items"]]
        assert get(session, "/search", q=f"{artist} {album}", type="album")["albums"]["items"][0]["id"] == record["id"]
        assert (
            get(session, "/search", q=f"{album} {artist}", type="artist")["artists"]["items"][0]["id"] == singer["id"]
        )
        by_both = get(session, "/search", q=f"album:{album} artist:{artist}", type="album")["albums"]["items"]
        assert by_both[0]["id"] == record["id"]
    with movies.session(query=f"Are {first} and {second} co-starring in {film}?", task="t1") as session:
        film_id = get(session, "/search/movie", query=film)["results"][0]["id"]
        cast = [entry["name"] for entry in get(session, f"/movie/{film_id}/credits")["cast"]]
        assert {first, second} <= set(cast)
        person = get(session, "/search/person", query=first)["results"][0]["id"]
        assert film_id in [entry["id"] for entry in get(session, f"/person/{person}/movie_credits")["cast"]]


def test_what_is_playing_is_playing_where_the_question_says(music: Simulator) -> None:
    """Plain words presuppose too: there is a state, what I have first or last is there, and it is on that device."""
    device = invented_name()
    with music.session(query=f"Is something now playing on my device '{device}'?", task="t1") as session:
        player = get(session, "/me/player")
        assert (player["is_playing"], player["device"]["name"]) == (True, device)
        assert player["item"]["name"]
        assert device in [item["name"] for item in get(session, "/me/player/devices")["devices"]]
    with music.session(query="Remove my first saved song and the last of my queue", task="t1") as session:
        assert get(session, "/me/tracks")["items"]
        assert get(session, "/me/player/queue")["queue"]


def test_a_list_without_a_search_has_the_names_too() -> None:
    """Where an API only lists, the name is in the list."""
    item = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
    answer = {"description": "ok", "content": {"application/json": {"schema": {"type": "array", "items": item}}}}
    document = {
        "openapi": "3.0.3",
        "info": {"title": "T", "version": "1"},
        "paths": {"/pets": {"get": {"responses": {"200": answer}}}},
    }
    name = invented_name(1)
    with Simulator(load(document)) as simulator, simulator.session(query=f"Is {name} a cat?") as session:
        pets = requests.get(session.url + "/pets", timeout=10).json()
    assert name in [pet["name"] for pet in pets]


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
    ],
)
def test_names_are_read_from_plain_english(query: str, names: list[str]) -> None:
    assert sorted(name.text for name in read_entities(query).names) == sorted(names)


# -- what a service puts its clients through -----------------------------------------------------------------------


def statuses(simulator: Simulator, paths: list[str], threads: int = 1) -> list[tuple[str, int, str | None]]:
    """What became of requests in a session of their own: path, status and Retry-After, in the order of the paths."""
    with simulator.session(task="t1") as session, ThreadPoolExecutor(threads) as pool:
        replies = list(pool.map(lambda path: requests.get(session.url + path, timeout=20), paths))
    return [(path, r.status_code, r.headers.get("Retry-After")) for path, r in zip(paths, replies, strict=True)]


def test_failures_are_drawn_from_the_seed(cinema_protocol: Protocol) -> None:
    """About as many as asked for, the same ones in any order, and a request that is sent again may get through."""
    paths = [f"/films?page={page}" for page in range(1, 201)]
    with Simulator(cinema_protocol, auth=False, fail_rate=0.3) as simulator:
        first = statuses(simulator, paths)
        failed = [(path, status, wait) for path, status, wait in first if status != 200]
        assert 40 <= len(failed) <= 80
        assert {status for _, status, _ in failed} == {429, 500, 502, 503}
        assert all((wait == "1") == (status in {429, 503}) for _, status, wait in failed)
        assert sorted(statuses(simulator, paths[::-1], threads=4)) == sorted(first)
        again = statuses(simulator, [path for path, _, _ in failed for _ in range(8)])
        assert {path for path, status, _ in again if status == 200} == {path for path, _, _ in failed}
    with Simulator(cinema_protocol, seed=1, auth=False, fail_rate=0.3) as session:
        assert statuses(session, paths) != first


def test_a_failed_write_was_not_done(cinema_protocol: Protocol) -> None:
    with Simulator(cinema_protocol, auth=False) as calm, Simulator(cinema_protocol, auth=False, fail_rate=1) as broken:
        film = get(calm.url, "/films")["films"][0]["filmId"]
        before = get(calm.url, "/me/watchlist")
        reply = requests.put(broken.url + "/me/watchlist", json={"filmIds": [film]}, timeout=10)
        assert reply.status_code in {429, 500, 502, 503}
        assert set(reply.json()) == {"code", "message"}
    with Simulator(cinema_protocol, auth=False, fail_rate=0.5) as shaky, requests.Session() as client:
        while client.put(shaky.url + "/me/watchlist", json={"filmIds": [film]}, timeout=10).status_code != 204:
            listed = client.get(shaky.url + "/me/watchlist", timeout=10)
            assert listed.status_code != 200 or listed.json() == before


def test_the_rate_is_limited_in_each_session(cinema_protocol: Protocol) -> None:
    """A burst of a second's worth passes, then 429 says how long to wait; another session has a limit of its own."""
    with Simulator(cinema_protocol, auth=False, rate_limit=3) as simulator:
        answered = [status for _, status, _ in statuses(simulator, ["/films"] * 9)]
        assert answered[:3] == [200] * 3
        assert 429 in answered[3:]
        with simulator.session(task="t2") as session:
            assert requests.get(session.url + "/films", timeout=10).status_code == 200
            replies = [requests.get(session.url + "/films", timeout=10) for _ in range(8)]
            assert {reply.headers["Retry-After"] for reply in replies if reply.status_code == 429} == {"1"}


def test_the_log_has_a_line_for_each_request_and_no_secret(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    with Simulator(load(data / "restbench" / "tmdb_oas.json"), log=file) as simulator:
        (credential,) = simulator.credentials
        with simulator.session(task="t1") as session:
            for at in (simulator.url, session.url):
                requests.get(f"{at}/movie/popular?{credential.place[1]}={credential.secrets()[0]}&page=2", timeout=10)
            requests.get(session.url + "/movie/popular", timeout=10)
            id = session.id
    lines = [json.loads(line) for line in file.read_text().splitlines()]

    assert [list(line) for line in lines] == [["time", "method", "path", "status", "ms", "session"]] * 3
    assert [(line["path"], line["status"], line["session"]) for line in lines] == [
        ("/3/movie/popular", 200, ""),
        ("/3/movie/popular", 200, id),
        ("/3/movie/popular", 401, id),
    ]
    assert credential.secrets()[0] not in file.read_text()


def test_the_command_sets_the_conditions(cinema_protocol: Protocol, tmp_path: Path) -> None:
    """All of them at once: `atc simulate` with a log, a limit, a delay and failures; wrong ones are told."""
    log = tmp_path / "log.jsonl"
    atc = str(Path(sys.executable).with_name("atc"))
    options = ["--no-auth", "--latency", "0.05", "--fail-rate", "1", "--rate-limit", "2/s", "--log", str(log)]
    with subprocess.Popen(
        [atc, "simulate", str(sample("cinema")), *options], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        replies = [requests.get(url + "/films", timeout=10) for _ in range(4)]
        process.terminate()

    assert all(reply.status_code >= 429 for reply in replies)
    assert len(log.read_text().splitlines()) == 4
    for wrong, message in (
        (["--rate-limit", "fast"], "10/s"),
        (["--fail-rate", "2"], "fail-rate"),
        (["--latency", "-1"], "latency"),
    ):
        refused = subprocess.run([atc, "simulate", str(sample("cinema")), *wrong], capture_output=True, text=True)
        assert refused.returncode == 2
        assert message in refused.stderr
