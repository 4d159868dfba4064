"""Solves in an event loop and as streams of events, over real HTTP; the model alone is scripted."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest

from atc import Agent, Event, EventSink, ModelProgress, Progress, SolveEnded, SolveStarted, Usage, background
from atc.background import Interruption
from atc.models import Completion
from atc.models.base import ModelBase, ModelRequest
from atc.solution import Solution
from protocols.errors import UsageError
from sandbox import Journal
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

PROGRAM = 'print(GET_cities(query="Oslo")["results"][0]["population"])'
SLOW = 'print(GET_cities_city_id_weather(city_id="osl"))'
QUESTION = "How many people live in Oslo?"


@pytest.fixture
def towns(weather: LocalAPI) -> LocalAPI:
    """A service that does not tell the weather in time."""
    weather.answer("GET", "/cities/osl/weather", {"now": {"rain": True}}, wait=60.0)
    return weather


class Hanging(ModelBase):
    """Reports progress until it is told to stop; `stopped` is then set."""

    name = "hanging"

    def __init__(self, *, reports: bool) -> None:
        self.reports = reports
        self.asked = threading.Event()
        self.stopped = threading.Event()

    def answer(self, request: ModelRequest) -> Completion:
        self.asked.set()
        try:
            for number in range(400):
                if self.reports and request.on_progress is not None:
                    request.on_progress(Progress(number, 400))
                time.sleep(0.05)
        finally:
            self.stopped.set()
        return Completion(PROGRAM, Usage(), "stop")

    def close(self) -> None:
        """Nothing to close."""


@pytest.mark.anyio
async def test_several_questions_are_solved_at_once(towns: LocalAPI) -> None:
    """Solves of one agent go on side by side, each with its own solution."""
    async with Agent(towns.protocol, model=lambda messages: PROGRAM, profile="small") as agent:
        solutions = await asyncio.gather(*(agent.asolve(f"{QUESTION} ({number})") for number in range(4)))

    assert [solution.answer for solution in solutions] == ["717710"] * 4
    assert [solution.query[-2] for solution in solutions] == list("0123")


@pytest.mark.anyio
async def test_an_async_stream_ends_with_the_solution(towns: LocalAPI) -> None:
    """The events come in their order, the agent's own reader gets them too, and the last one has the solution."""
    heard: list[Event] = []
    agent = Agent(towns.protocol, model=ScriptedModel(PROGRAM), on_event=heard.append)

    events = [event async for event in agent.astream(QUESTION)]

    assert events == heard
    assert isinstance(events[0], SolveStarted)
    assert isinstance(events[-1], SolveEnded)
    assert events[-1].solution.answer == "717710"


@pytest.mark.anyio
async def test_bad_input_is_raised_where_the_solve_is_awaited(towns: LocalAPI) -> None:
    """An empty question is a UsageError of the awaited call and of the first event."""
    agent = Agent(towns.protocol, model=ScriptedModel(PROGRAM))
    with pytest.raises(UsageError, match="empty"):
        await agent.asolve(" ")
    with pytest.raises(UsageError, match="empty"):
        await anext(agent.astream(" "))
    with pytest.raises(UsageError, match="no tool GET_moon"):
        next(agent.stream(QUESTION, ["GET_moon"]))


@pytest.mark.anyio
@pytest.mark.parametrize("program", ["print(sum(range(10**12)))", SLOW])
async def test_a_cancelled_task_stops_its_program(towns: LocalAPI, program: str) -> None:
    """Cancelling ends a running program, and one that waits for a reply, within moments."""
    agent = Agent(towns.protocol, model=ScriptedModel(program))
    ended: list[Event] = []
    agent.on_event = ended.append
    task = asyncio.create_task(agent.asolve(QUESTION))
    while not any(type(event).__name__ == "ProgramWritten" for event in ended):
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.1)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert isinstance(ended[-1], SolveEnded)
    assert ended[-1].solution.status == "interrupted"
    assert len(ended[-1].solution.attempts) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("reports", [True, False])
async def test_a_cancelled_task_waits_for_no_model(towns: LocalAPI, reports: bool) -> None:
    """The task ends although the model is silent; a model that reports progress is stopped by that."""
    model = Hanging(reports=reports)
    agent = Agent(towns.protocol, model=model)
    task = asyncio.create_task(agent.asolve(QUESTION))
    while not model.asked.is_set():
        await asyncio.sleep(0.02)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert model.stopped.wait(2 if reports else 0.01) == reports


def test_a_stream_that_is_closed_leaves_a_journal_to_go_on_with(towns: LocalAPI, tmp_path: Path) -> None:
    """After a write the reader leaves; the journal then finishes the solve, and the write is not sent again."""
    towns.answer("POST", "/alerts", {"text": "storm"})
    program = f'POST_alerts(text="storm")\n{SLOW}'
    question = 'Post the alert "storm" and tell the weather in Oslo.'
    file = tmp_path / "solve.journal"

    with Journal(file) as journal:
        events = Agent(towns.protocol, model=ScriptedModel(program), writes="allow").stream(question, journal=journal)
        for event in events:
            if type(event).__name__ == "CallMade":
                break
        events.close()
    towns.answer("GET", "/cities/osl/weather", {"now": {"rain": True}})
    with Journal(file) as journal:
        solution = Agent(towns.protocol, model=ScriptedModel(), writes="allow").solve(question, journal=journal)

    assert solution.status == "answered"
    assert [request.method for request in towns.requests].count("POST") == 1


def test_a_slow_reader_loses_no_event_but_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solve waits for the reader; of the frequent reports some are dropped."""
    monkeypatch.setattr(background, "QUEUED_EVENTS", 10)
    solution = Solution(QUESTION, "failed", None, (), (), Usage(), {}, {})

    def start(sink: EventSink, interruption: Interruption) -> Solution:
        for number in range(100):
            sink(SolveStarted(str(number), ()))
            for _ in range(20):
                sink(ModelProgress(1, Progress(number, 100)))
        sink(SolveEnded(solution))
        return solution

    events: list[Event] = []
    for event in background.stream(start):
        events.append(event)
        time.sleep(0.001)

    started = [event.query for event in events if isinstance(event, SolveStarted)]
    assert started == list(map(str, range(100)))
    assert len(events) < 100 * 21
    assert isinstance(events[-1], SolveEnded)
