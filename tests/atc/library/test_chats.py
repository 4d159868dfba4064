"""Conversations over real HTTP: what is read again, what is written again, and what the next question knows."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from atc import Agent
from atc.chat import Turn, conversation_so_far
from protocols.errors import UsageError
from sandbox import Journal
from tests.local_api import Answer, LocalAPI
from tests.scripted import ScriptedModel

SEARCH = 'city = GET_cities(query="Oslo")["results"][0]\n'
POPULATION = f'{SEARCH}print(city["population"])'
NAME = f'{SEARCH}print(city["name"])'
WEATHER = 'print(GET_cities_city_id_weather(city_id="osl")["now"]["degrees"])'
WRITE = 'print(POST_alerts(text="storm", level=2)["text"])'
FIRST = "How many people live in Oslo?"
POST = 'Post the alert "storm" of level 2.'


def sent(api: LocalAPI) -> list[str]:
    """What has arrived at the service, in order."""
    return [f"{request.method} {request.path.removeprefix('/v1')}" for request in api.requests]


def test_a_follow_up_knows_what_was_asked_and_reads_nothing_again(towns: LocalAPI) -> None:
    """Question, calls and answer stand in the next prompt; the same read is answered from the journal."""
    model = ScriptedModel(POPULATION, NAME)

    with Agent(towns.protocol, model=model) as agent, agent.chat() as chat:
        assert chat.ask(FIRST).answer == "717710"
        second = chat.ask("And what is it called?")

    assert second.answer == "Oslo"
    assert [call.replayed for call in second.calls] == [True]
    assert sent(towns) == ["GET /cities"]
    prompt = model.asked[1][-2].content
    assert f"Question: {FIRST}\nCalled: GET_cities(query='Oslo')\nAnswer: 717710" in prompt
    assert prompt.rstrip().endswith("Question: And what is it called?")


def test_an_identifier_of_an_earlier_turn_is_given(towns: LocalAPI) -> None:
    """A program may use it as it stands; without a chat the same program is held back as one that made it up."""
    model = ScriptedModel(f'{SEARCH}print(city["id"])', WEATHER)
    with Agent(towns.protocol, model=model) as agent, agent.chat() as chat:
        chat.ask("What is the id of Oslo?")
        solution = chat.ask("How warm is it there?")
    alone = Agent(towns.protocol, model=ScriptedModel(WEATHER), max_reflections=1, ablate=["autofix"])

    assert (solution.answer, solution.reflections, solution.findings) == ("7", 0, ())
    assert alone.solve("How warm is it there?").status == "model_error"


def test_tools_of_earlier_turns_are_offered(towns: LocalAPI) -> None:
    """A follow-up that names nothing is shown what was called, and the best for the question before, too."""
    model = ScriptedModel(WEATHER.replace('"osl"', 'GET_cities(query="Oslo")["results"][0]["id"]'), NAME)
    with Agent(towns.protocol, model=model, max_tools=1, ablate=["closure"]) as agent, agent.chat() as chat:
        assert chat.ask("Get the weather of Oslo: how many degrees is it?").answer == "7"
        chat.ask("And who would have thought that?")

    assert "GET_cities(query" in model.asked[1][-2].content
    assert "GET_cities_city_id_weather(city_id" in model.asked[1][-2].content


def test_reads_are_made_again_where_that_is_asked_for(towns: LocalAPI) -> None:
    """With `refresh` the reads of earlier turns are sent; within the turn each is sent once."""
    model = ScriptedModel(POPULATION, f"{SEARCH}print(city['nothing'])", NAME, NAME)

    with Agent(towns.protocol, model=model, ablate=["check"]) as agent, agent.chat() as chat:
        chat.ask(FIRST)
        again = chat.ask("Look again: what is it called?", refresh=True)
        chat.ask("What is it called?")

    assert again.reflections == 1
    assert sent(towns) == ["GET /cities"] * 2


def test_a_read_is_made_again_after_a_write(towns: LocalAPI) -> None:
    """What was read before somebody wrote may have changed; what was read after it is known."""
    listed = 'print(len(GET_alerts()), "alerts")'
    towns.script("GET", "/alerts", Answer(200, [{"text": "fog"}]), Answer(200, [{"text": "fog"}, {"text": "storm"}]))
    model = ScriptedModel(listed, WRITE, listed, listed)

    with Agent(towns.protocol, model=model, writes="allow") as agent, agent.chat() as chat:
        questions = ("How many alerts are there?", POST, "How many alerts are there now?", "How many alerts were that?")
        answers = [chat.ask(question).answer for question in questions]

    assert answers == ["1 alerts", "storm", "2 alerts", "2 alerts"]
    assert sent(towns) == ["GET /alerts", "POST /alerts", "GET /alerts"]


def test_a_write_is_repeated_in_another_turn_only(towns: LocalAPI) -> None:
    """ "Do it again" writes again and says so; a repaired program of the same turn does not."""
    broken = 'alert = POST_alerts(text="storm", level=2)\nprint(alert["nothing"])'
    model = ScriptedModel(broken, WRITE, broken, WRITE)

    with Agent(towns.protocol, model=model, writes="allow", ablate=["check"]) as agent, agent.chat() as chat:
        first = chat.ask(POST)
        second = chat.ask("Do it again.")

    assert (first.reflections, second.reflections) == (1, 1)
    assert sent(towns) == ["POST /alerts"] * 2
    assert not any("made again" in warning for warning in first.warnings)
    assert "POST_alerts(text='storm', level=2)" in next(w for w in second.warnings if "made again" in w)
    assert not second.abandoned


def test_a_write_of_unknown_outcome_is_not_repeated_by_another_turn(towns: LocalAPI) -> None:
    """Nobody knows whether it was done, so no later question sends it again."""
    towns.script("POST", "/alerts", Answer(cut=True), Answer(200, {"text": "storm"}))
    model = ScriptedModel(WRITE, WRITE)

    with Agent(towns.protocol, model=model, writes="allow", max_reflections=0) as agent, agent.chat() as chat:
        first = chat.ask(POST)
        second = chat.ask("Do it again.")

    assert (first.status, second.status) == ("api_error", "failed")
    assert sent(towns) == ["POST /alerts"]
    assert any("not known whether this write was done" in warning for warning in second.warnings)


def test_a_chat_goes_on_in_another_process(towns: LocalAPI, tmp_path: Path) -> None:
    """The journal has the turns and the replies; a question that had no model goes on with what it wrote."""
    file = tmp_path / "chat.journal"
    with Agent(towns.protocol, model=ScriptedModel(POPULATION)) as agent, agent.chat(file) as chat:
        chat.ask(FIRST)
    broken = ScriptedModel('alert = POST_alerts(text="storm", level=2)\nprint(alert["nothing"])')
    with Agent(towns.protocol, model=broken, writes="allow", ablate=["check"]) as agent, agent.chat(file) as chat:
        assert chat.ask(POST).status == "model_error"
    model = ScriptedModel(WRITE, NAME)
    with Agent(towns.protocol, model=model, writes="allow", ablate=["check"]) as agent, agent.chat(file) as chat:
        assert [turn.query for turn in chat.turns] == [FIRST, POST]
        assert chat.ask(POST).answer == "storm"
        assert chat.ask("And the name of the city?").answer == "Oslo"
        assert [turn.status for turn in chat.turns] == ["answered"] * 3

    assert sorted(sent(towns)) == ["GET /cities", "GET /cities", "POST /alerts"]
    assert "Answer: 717710" in "".join(message.content for message in model.asked[0])


def test_journals_of_something_else_are_refused(towns: LocalAPI, tmp_path: Path) -> None:
    """The journal of one question is no chat, and no chat is that of another document."""
    with Journal(tmp_path / "solve.journal") as journal:
        Agent(towns.protocol, model=ScriptedModel(POPULATION)).solve(FIRST, journal=journal)
    agent = Agent(towns.protocol, model=ScriptedModel())
    with pytest.raises(UsageError, match="of one question, and of no chat"):
        agent.chat(tmp_path / "solve.journal")
    with agent.chat(tmp_path / "chat.journal"):
        pass
    with pytest.raises(UsageError, match="belongs to another document"):
        Agent(towns.documented, model=ScriptedModel(), base_url=towns.url).chat(tmp_path / "chat.journal")


@pytest.mark.anyio
async def test_one_question_at_a_time(towns: LocalAPI) -> None:
    """A second question meanwhile is refused; a cancelled one goes on when it is asked again."""
    towns.answer("GET", "/cities/osl/weather", {"now": {"degrees": 7}}, wait=30.0)
    slow = f'{SEARCH}print(GET_cities_city_id_weather(city_id=city["id"])["now"]["degrees"])'
    model = ScriptedModel(slow)
    async with Agent(towns.protocol, model=model) as agent, agent.chat() as chat:
        task = asyncio.create_task(chat.aask("How warm is Oslo?"))
        while len(towns.requests) < 2:
            await asyncio.sleep(0.02)
        with pytest.raises(UsageError, match="another question of this chat is under way"):
            await chat.aask(FIRST)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert chat.turns[-1].status == "interrupted"
        towns.answer("GET", "/cities/osl/weather", {"now": {"degrees": 7}})
        solution = await chat.aask("How warm is Oslo?", answer_type=int)

    assert solution.status == "model_error"  # with a type it is asked for anew, and the script has ended
    assert len(chat.turns) == 1


def test_the_prompt_has_the_latest_turns_that_fit() -> None:
    """Long answers are shortened, line ends removed, and the oldest turns left out."""
    turns = [Turn(f"question {number}", "answered", "x\n" * 500, "", ("GET_a()",), ("GET_a",)) for number in range(20)]

    text = conversation_so_far(turns, 600)

    assert "question 19" in text
    assert "question 0" not in text
    assert len(text) < 3000
    assert conversation_so_far([], 600) == ""
