"""What is written to a simulated API is seen by every later read."""

from __future__ import annotations

from tests.protocols.simulator.simulated_apis import Client


def test_the_watchlist_keeps_what_is_put_on_it(cinema: Client) -> None:
    film = cinema.get("/films", query="Glass Meridian")["films"][0]["filmId"]
    before = [entry["filmId"] for entry in cinema.get("/me/watchlist")["films"]]

    assert cinema.send("PUT", "/me/watchlist", {"filmIds": [film]}).status == 204
    added = cinema.get("/me/watchlist")
    assert [entry["filmId"] for entry in added["films"]] == [*before, film]
    assert added["totalCount"] == len(before) + 1
    cinema.send("PUT", "/me/watchlist", {"filmIds": [film]})
    assert cinema.get("/me/watchlist") == added

    assert cinema.send("DELETE", "/me/watchlist", filmIds=film).status == 204
    assert [entry["filmId"] for entry in cinema.get("/me/watchlist")["films"]] == before
    assert cinema.send("PUT", "/me/watchlist", {"filmIds": [999999999]}).status == 404


def test_a_playlist_is_made_and_filled(music: Client) -> None:
    """The way of a real task: find songs of an artist, make a playlist of a name, put the songs in."""
    songs = music.get("/search", q="artist:Mariah Carey", type="track", limit=3)["tracks"]["items"]
    me = music.get("/me")["id"]
    created = music.send("POST", f"/users/{me}/playlists", {"name": "Love Mariah"})
    playlist = created.json()["id"]
    uris = [song["uri"] for song in songs]
    added = music.send("POST", f"/playlists/{playlist}/tracks", {"uris": uris})

    assert (created.status, created.json()["name"], created.json()["owner"]["id"]) == (201, "Love Mariah", me)
    assert {artist["name"] for song in songs for artist in song["artists"]} == {"Mariah Carey"}
    assert added.status == 201
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

    assert music.send("PUT", "/me/albums", ids=album["id"]).status == 200
    assert album["id"] in [entry["album"]["id"] for entry in music.get("/me/albums")["items"]]
    music.send("DELETE", "/me/albums", ids=album["id"])
    assert album["id"] not in [entry["album"]["id"] for entry in music.get("/me/albums")["items"]]

    assert music.send("PUT", "/me/following", {"ids": [artist]}, type="artist", ids=artist).status == 204
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
