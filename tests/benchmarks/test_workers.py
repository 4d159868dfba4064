"""A benchmark's tasks side by side: each in a world of its own, where what its question presupposes is there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from atc.models import Completion, Message, Usage
from benchmarks.harness.engines import thread_engine
from benchmarks.harness.runner import Finished, Runner
from benchmarks.report.summary import MetricsScorer, TaskResult
from benchmarks.run.agent_environment import AgentEnvironment
from benchmarks.run.settings import RunSettings
from benchmarks.tasks.task_files import OfferedTask, Task, read_tasks
from benchmarks.worlds import find_worlds
from protocols import Protocol, load

SEARCHED = "def find(text, kind):\n    return GET_search(q=text, type=[kind])[kind + 's']['items'][0]\n"
PROGRAMS = {
    0: (
        "songs = GET_search(q='artist:Mariah Carey', type=['track'])['tracks']['items'][:3]\n"
        "me = GET_me()['id']\n"
        "made = POST_users_user_id_playlists(user_id=me, name='Love Mariah')['id']\n"
        "print(POST_playlists_playlist_id_tracks(playlist_id=made, uris=[one['uri'] for one in "
        "songs])['snapshot_id'])\n"
    ),
    1: (
        "album = find('The Dark Side of the Moon', 'album')\n"
        "song = GET_albums_id_tracks(id=album['id'])['items'][0]\n"
        "POST_me_player_queue(uri=song['uri'])\n"
        "print(song['name'], GET_me_player_queue()['queue'][-1]['name'])\n"
    ),
    2: (
        "songs = GET_search(q='quiet', type=['track'])['tracks']['items']\n"
        "PUT_me_player_play(uris=[one['uri'] for one in songs])\n"
        "print(GET_me_player()['item']['name'])\n"
    ),
    3: (
        "album = find('Mojito', 'album')\n"
        "PUT_me_albums(ids=[album['id']])\n"
        "print([one['name'] for one in album['artists']])\n"
    ),
    4: (
        "first = GET_me_playlists()['items'][0]\n"
        "PUT_playlists_playlist_id(playlist_id=first['id'], name='My First')\n"
        "print(first['name'])\n"
    ),
    5: (
        "song = GET_tracks_id(id=GET_me_player_currently_playing()['item']['id'])\n"
        "DELETE_me_following(type='artist', ids=[one['id'] for one in song['artists']])\n"
        "print(song['name'])\n"
    ),
    6: (
        "PUT_me_player_pause()\n"
        "PUT_me_player_volume(volume_percent=10)\n"
        "PUT_me_player_play()\n"
        "print(GET_me_player()['is_playing'])\n"
    ),
    7: ("print(GET_me_player_currently_playing()['item']['name'])\n"),
    8: (
        "songs = GET_artists_id_top_tracks(id=find('Taylor Swift', 'artist')['id'], "
        "market='US')['tracks']\n"
        "me = GET_me()['id']\n"
        "made = POST_users_user_id_playlists(user_id=me, name='Love Taylor')['id']\n"
        "print(POST_playlists_playlist_id_tracks(playlist_id=made, uris=[one['uri'] for one in "
        "songs])['snapshot_id'])\n"
    ),
    9: ("print(GET_me_top_type(type='artists')['items'][0]['name'])\n"),
    10: (
        "state = GET_me_player()\n"
        "assert state['device']['name'] == 'My PC' and state['is_playing']\n"
        "PUT_me_player_pause()\n"
        "print(GET_me_player()['is_playing'])\n"
    ),
    11: (
        "songs = GET_me_top_type(type='tracks')['items']\n"
        "me = GET_me()['id']\n"
        "made = POST_users_user_id_playlists(user_id=me, name='My Top')['id']\n"
        "print(POST_playlists_playlist_id_tracks(playlist_id=made, uris=[one['uri'] for one in "
        "songs])['snapshot_id'])\n"
    ),
    12: (
        "song = GET_tracks_id(id=find('When You Believe', 'track')['id'])\n"
        "PUT_me_following(type='artist', ids=[one['id'] for one in song['artists']])\n"
        "print(song['artists'][0]['name'])\n"
    ),
    13: (
        "mine = [one for one in GET_me_playlists()['items'] if one['name'] == 'My Rock']\n"
        "PUT_me_player_play(context_uri=mine[0]['uri'])\n"
        "print(GET_me_player()['item']['name'])\n"
    ),
    14: ("me = GET_me()['id']\nmade = POST_users_user_id_playlists(user_id=me, name='Quiet')['id']\nprint(made)\n"),
    15: (
        "album = GET_albums_id(id=find('Mojito', 'album')['id'])\n"
        "PUT_me_following(type='artist', ids=[album['artists'][0]['id']])\n"
        "print(album['artists'][0]['name'])\n"
    ),
    16: (
        "song = GET_me_tracks()['items'][0]['track']\n"
        "POST_me_player_queue(uri=song['uri'])\n"
        "PUT_me_player_repeat(state='track')\n"
        "print(song['name'])\n"
    ),
}
"""A program for each task of the development split, by its place there."""


class Knowing:
    """Writes the program for each question that it knows."""

    name = "scripted"

    def __init__(self, programs: Mapping[str, str]) -> None:
        self._programs = programs

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        prompt = messages[-2].content if messages[-1].role == "assistant" else messages[-1].content
        program = next(program for question, program in self._programs.items() if question in prompt)
        return Completion(SEARCHED + program, Usage(100, 20, 50, 1, 0.01), "stop")

    def close(self) -> None:
        """Nothing to close."""


def solve(protocol: Protocol, tasks: Sequence[Task], workers: int, out: Path) -> list[Finished[TaskResult]]:
    """Solve tasks so many at once; every task is offered all tools."""
    names = tuple(tool.name for tool in protocol.tools)
    settings = RunSettings("music", "scripted", "none", 0, "all", 0, "2024-06-01T12:00:00+00:00", "simulated", {})
    protocols = {tasks[0].domain: protocol}
    with closing(AgentEnvironment(settings, protocols, worlds=find_worlds(protocols))) as environment:
        environment.__dict__["model"] = Knowing({task.query: PROGRAMS[task.position] for task in tasks})
        runner = Runner(settings, environment, MetricsScorer(), thread_engine(environment, workers))
        results = list(runner.run([OfferedTask(task, names) for task in tasks], out))
    return sorted(results, key=lambda result: result.id)


def test_tasks_side_by_side_come_out_as_one_after_the_other(data: Path, tmp_path: Path) -> None:
    """All 17 questions about a music player, 14 of which write, with one worker and with four: the same records, byte
    for byte, and every gold call is answered, for what the questions presuppose is there."""
    protocol = load(data / "restbench" / "spotify_oas.json")
    tasks, _ = read_tasks(data / "restbench" / "spotify.dev.json", {"spotify": protocol}, ["spotify"] * 17)
    alone, together = (solve(protocol, tasks, workers, tmp_path / str(workers)) for workers in (1, 4))
    records = [{file.name: file.read_bytes() for file in (tmp_path / name / "tasks").iterdir()} for name in ("1", "4")]

    assert len(alone) == len(tasks) == 17
    assert records[0] == records[1]
    assert [result.figures.metrics for result in together] == [result.figures.metrics for result in alone]
    unsolved = [
        [record["query"], record["solution"]["attempts"][-1]]
        for record in map(json.loads, records[0].values())
        if not record["metrics"]["success"]
    ]
    assert unsolved == []
