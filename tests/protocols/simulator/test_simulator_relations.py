"""Identifiers of a simulated API resolve, and its relations agree in every direction."""

from __future__ import annotations

from tests.protocols.simulator.simulated_apis import Client, movie_arguments, objects_of


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
    resolved: dict[tuple[str, object], dict[str, object]] = {}

    for path in paths:
        for key, entry in list(objects_of(movies.get(path)))[1:60]:
            kind = kind_of_movie_object(path, key, entry)
            if kind is None:
                continue
            if (kind, entry["id"]) not in resolved:
                resolved[kind, entry["id"]] = movies.get(f"/{kind}/{entry['id']}")
            details = resolved[kind, entry["id"]]
            assert details["id"] == entry["id"]
            title = "title" if kind == "movie" else "name"
            assert details[title] == entry.get(title, details[title]), (path, key)
            if "credit_id" in entry:
                assert movies.get(f"/credit/{entry['credit_id']}")["id"] == entry["credit_id"]

    assert len(resolved) > 150


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
    assert movies.send("GET", f"/tv/{show['id']}/season/99").status == 404
    episode = movies.get(f"/tv/{show['id']}/season/2/episode/3")
    assert (episode["season_number"], episode["episode_number"]) == (2, 3)


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
