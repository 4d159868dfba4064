"""Solves of one process compute in turns, and wait without one."""

from __future__ import annotations

import threading

from atc import Agent
from atc.apps.server.waiting import ComputeTurn
from tests.local_api import Answer, LocalAPI, Received
from tests.scripted import ScriptedModel

PROGRAM = 'print(GET_cities(query="Oslo")["results"][0]["name"])'


def test_a_service_that_waits_holds_up_nobody(weather: LocalAPI) -> None:
    """While one program waits for its reply, another solve has its turn."""
    other_had_it = threading.Event()

    def slow(_request: Received) -> Answer:
        with ComputeTurn():
            other_had_it.set()
        return Answer(200, {"results": [{"id": "osl", "name": "Oslo"}]})

    weather.respond("GET", "/cities", slow)
    with ComputeTurn() as turn:
        solution = Agent(weather.protocol, model=ScriptedModel(PROGRAM), on_event=turn.follow).solve("Which city?")

    assert other_had_it.is_set()
    assert solution.answer == "Oslo"


def test_a_second_solve_waits_for_the_first_ones_turn() -> None:
    has_turn = threading.Event()

    def second() -> None:
        with ComputeTurn():
            has_turn.set()

    threads = [threading.Thread(target=second) for _ in range(2)]
    with ComputeTurn() as first:
        threads[0].start()
        assert not has_turn.wait(0.05)
        first.give()
        first.give()  # once is enough: the next is not let through twice
        assert has_turn.wait(10)
    threads[0].join()
    has_turn.clear()
    with ComputeTurn():
        threads[1].start()
        assert not has_turn.wait(0.05)
    threads[1].join()
