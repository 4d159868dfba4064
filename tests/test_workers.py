"""A benchmark's tasks side by side: each in a world of its own, where what its question presupposes is there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from atc.models import Completion, Message, Usage
from benchmarks.engines import threads
from benchmarks.restbench import Task, read_tasks
from benchmarks.runner import Result, Settings, prepare, run_tasks
from benchmarks.work import Work
from benchmarks.worlds import find_world
from protocols import Protocol, load

SEARCHED = "def find(text, kind):\n    return GET_search(q=text, type=[kind])[kind + 's']['items'][0]\n"
NEW_LIST = "me = GET_me()['id']\nmade = POST_users_user_id_playlists(user_id=me, name={name!r})['id']\n"
FILLED = (
    "print(POST_playlists_playlist_id_tracks(playlist_id=made, uris=[one['uri'] for one in songs])['snapshot_id'])\n"
)
PROGRAMS = {
    "Make me a playlist containing three songs of Mariah Carey": "songs = GET_search(q='artist:Mariah Carey', "
    "type=['track'])['tracks']['items'][:3]\n" + NEW_LIST.format(name="Love Mariah") + FILLED,
    "Add the first song of The Dark Side of the Moon": "album = find('The Dark Side of the Moon', 'album')\n"
    "song = GET_albums_id_tracks(id=album['id'])['items'][0]\n"
    "POST_me_player_queue(uri=song['uri'])\nprint(song['name'], GET_me_player_queue()['queue'][-1]['name'])\n",
    "play me some quiet songs": "songs = GET_search(q='quiet', type=['track'])['tracks']['items']\n"
    "PUT_me_player_play(uris=[one['uri'] for one in songs])\nprint(GET_me_player()['item']['name'])\n",
    "Save Jay Chou's album Mojito": "album = find('Mojito', 'album')\nPUT_me_albums(ids=[album['id']])\n"
    "print([one['name'] for one in album['artists']])\n",
    "Rename my first playlist": "first = GET_me_playlists()['items'][0]\n"
    "PUT_playlists_playlist_id(playlist_id=first['id'], name='My First')\nprint(first['name'])\n",
    "Remove following from the artist": "song = GET_tracks_id(id=GET_me_player_currently_playing()['item']['id'])\n"
    "DELETE_me_following(type='artist', ids=[one['id'] for one in song['artists']])\nprint(song['name'])\n",
    "Pause playback, turn down": "PUT_me_player_pause()\nPUT_me_player_volume(volume_percent=10)\n"
    "PUT_me_player_play()\nprint(GET_me_player()['is_playing'])\n",
    "What is the name of the song I playing": "print(GET_me_player_currently_playing()['item']['name'])\n",
    "Make top tracks of Taylor Swift": "songs = GET_artists_id_top_tracks(id=find('Taylor Swift', 'artist')['id'], "
    "market='US')['tracks']\n" + NEW_LIST.format(name="Love Taylor") + FILLED,
    "Who is my favorite artist": "print(GET_me_top_type(type='artists')['items'][0]['name'])\n",
    "Pause device 'My PC'": "state = GET_me_player()\n"
    "assert state['device']['name'] == 'My PC' and state['is_playing']\n"
    "PUT_me_player_pause()\nprint(GET_me_player()['is_playing'])\n",
    "Make my top tracks a new playlist": "songs = GET_me_top_type(type='tracks')['items']\n"
    + NEW_LIST.format(name="My Top")
    + FILLED,
    "Follow all the singers": "song = GET_tracks_id(id=find('When You Believe', 'track')['id'])\n"
    "PUT_me_following(type='artist', ids=[one['id'] for one in song['artists']])\nprint(song['artists'][0]['name'])\n",
    "Play my playlist 'My Rock'": "mine = [one for one in GET_me_playlists()['items'] if one['name'] == 'My Rock']\n"
    "PUT_me_player_play(context_uri=mine[0]['uri'])\nprint(GET_me_player()['item']['name'])\n",
    "Create a new playlist and name it Quiet": NEW_LIST.format(name="Quiet") + "print(made)\n",
    "Follow the artist of the album Mojito": "album = GET_albums_id(id=find('Mojito', 'album')['id'])\n"
    "PUT_me_following(type='artist', ids=[album['artists'][0]['id']])\nprint(album['artists'][0]['name'])\n",
    "Add the first song from my music library": "song = GET_me_tracks()['items'][0]['track']\n"
    "POST_me_player_queue(uri=song['uri'])\nPUT_me_player_repeat(state='track')\nprint(song['name'])\n",
}


class Knowing:
    """Writes the program for each question that it knows."""

    name = "scripted"

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        asked = messages[-2].content if messages[-1].role == "assistant" else messages[-1].content
        program = next(program for question, program in PROGRAMS.items() if question in asked)
        return Completion(SEARCHED + program, Usage(100, 20, 50, 1, 0.01), "stop")

    def close(self) -> None:
        """Nothing to close."""


def solve(protocol: Protocol, tasks: Sequence[Task], workers: int, out: Path) -> list[Result]:
    """Solve tasks so many at once; every task is offered all tools."""
    names = tuple(tool.name for tool in protocol.tools)
    settings = Settings("music", "scripted", "none", 0, "all", 0, "2024-06-01T12:00:00+00:00", "simulated", {})
    prepare(out, settings)
    world = find_world(tasks[0].domain, protocol)
    assert world is not None
    with closing(Work(settings, {tasks[0].domain: protocol}, worlds={tasks[0].domain: world})) as work:
        work.__dict__["model"] = Knowing()
        found = list(run_tasks([(task, names) for task in tasks], settings, out, threads(work, workers)))
    return sorted(found, key=lambda result: result.id)


def test_tasks_side_by_side_come_out_as_one_after_the_other(data: Path, tmp_path: Path) -> None:
    """All 17 questions about a music player, 14 of which write, with one worker and with four: the same records, byte
    for byte, and every gold call is answered, for what the questions presuppose is there."""
    protocol = load(data / "restbench" / "spotify_oas.json")
    tasks, _ = read_tasks(data / "restbench" / "spotify.dev.json", {"spotify": protocol}, ["spotify"] * 17)
    alone, together = (solve(protocol, tasks, workers, tmp_path / str(workers)) for workers in (1, 4))
    records = [{file.name: file.read_bytes() for file in (tmp_path / name / "tasks").iterdir()} for name in ("1", "4")]

    assert len(alone) == len(tasks) == 17
    assert records[0] == records[1]
    assert [result.metrics() for result in together] == [result.metrics() for result in alone]
    unsolved = [
        [record["query"], record["solution"]["attempts"][-1]]
        for record in map(json.loads, records[0].values())
        if not record["metrics"]["success"]
    ]
    assert unsolved == []
