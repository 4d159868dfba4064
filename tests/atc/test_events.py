"""The stream of events, as its readers see it."""

from __future__ import annotations

from atc import Agent
from atc.events import Event
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel


def test_every_event_names_its_solve(weather: LocalAPI) -> None:
    """The events of one solve have one id, and the next solve has another: one reader can follow many."""
    events: list[Event] = []
    answer = 'print(GET_cities(query="Oslo")["results"][0]["name"])'
    agent = Agent(weather.protocol, model=ScriptedModel(answer, answer), on_event=events.append)

    agent.solve("Which city?")
    first = {event.solve for event in events}
    events.clear()
    agent.solve("Which city?")
    second = {event.solve for event in events}

    assert len(first) == len(second) == 1
    assert first != second
    assert "" not in first
