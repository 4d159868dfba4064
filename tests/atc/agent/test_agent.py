"""From a question to an answer over real HTTP; the only thing replaced is the model, by scripted answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from atc import Agent
from atc.events import CallMade, Event, FaultFound, SolveEnded, SolveStarted
from atc.models import Completion, Message
from protocols import load
from protocols.errors import UsageError
from protocols.samples import sample
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel


def test_a_question_is_answered_by_one_program(weather: LocalAPI) -> None:
    """The program's output is the answer; calls, usage and seconds are all in the solution."""
    model = ScriptedModel('city = GET_cities(query="Oslo")["results"][0]\nprint(city["population"])')

    with Agent(weather.protocol, model=model) as agent:
        solution = agent.solve("How many people live in Oslo?")

    assert (solution.status, solution.answer, solution.exit_code) == ("answered", "717710", 0)
    assert [(call.tool, call.status) for call in solution.calls] == [("GET_cities", 200)]
    assert (solution.usage.prompt_tokens, solution.usage.model_calls, solution.reflections) == (100, 1, 0)
    assert json.loads(json.dumps(solution.to_json()))["attempts"][0]["stage"] == "done"


def test_any_operation_of_the_document_may_be_called(weather: LocalAPI) -> None:
    """One that was not offered is checked and documented as the others; tools that are given are the only ones."""
    wrong = 'print(GET_cities_city_id_weather(city_id="osl", unit="metric")["now"]["degrees"])'
    right = wrong.replace("unit=", "units=")
    question = "How many people live in Oslo?"
    model = ScriptedModel(wrong, right)

    with Agent(weather.protocol, model=model, max_tools=1, ablate=["closure", "autofix"]) as agent:
        assert "GET_cities_city_id_weather" not in agent.opening(question).tools
        solution = agent.solve(question)
        given = Agent(weather.protocol, model=ScriptedModel(right), max_reflections=0).solve(question, ["GET_cities"])

    assert (solution.answer, len(model.asked)) == ("7", 2)
    assert "GET_cities_city_id_weather(city_id: str" in model.asked[1][-2].content
    assert given.status == "failed"
    assert given.calls == ()


def test_a_failure_is_attributed_and_repaired(weather: LocalAPI) -> None:
    """The first program trips over a field far from the call; told which tool it came from, the second one answers."""
    model = ScriptedModel(
        'city = GET_cities(query="Oslo")["results"][0]\n'
        'weather = GET_cities_city_id_weather(city_id=city["id"])\n'
        "days = weather\n"
        'print("rain" if days["forecast"]["rain"] else "dry")',
        'city = GET_cities(query="Oslo")["results"][0]\n'
        'weather = GET_cities_city_id_weather(city_id=city["id"])\n'
        'print("rain" if weather["now"]["rain"] else "dry")',
    )

    solution = Agent(weather.protocol, model=model).solve("Does it rain in Oslo?")

    assert (solution.answer, solution.reflections) == ("rain", 1)
    attribution = solution.attempts[0].attribution
    assert attribution is not None
    assert (attribution.tool, attribution.call, attribution.how) == ("GET_cities_city_id_weather", 1, "data")
    reflection = model.asked[1][-2].content
    assert "KeyError: forecast" in reflection.replace("'", "")
    assert "--> 4" in reflection
    assert "GET_cities_city_id_weather(city_id: str" in reflection
    assert '`days` has no "forecast"; its keys are "now"' in reflection
    assert len(model.asked) == 2, "the tool was found without asking the model"


@pytest.mark.parametrize(("mode", "hint"), [("attribute", True), ("naive", False)])
def test_the_modes_differ_in_what_the_model_is_shown(weather: LocalAPI, mode: str, hint: bool) -> None:
    """The naive mode shows the error alone, as the paper ablates it."""
    model = ScriptedModel('print(GET_cities(query="Oslo")["towns"])', 'print("ok", GET_cities(query="Oslo"))')

    solution = Agent(weather.protocol, model=model, mode=mode).solve("Which towns?")

    assert solution.status == "answered"
    reflection = model.asked[1][-2].content
    assert "KeyError" in reflection
    assert ("the fault comes from the call of GET_cities" in reflection) is hint


def test_each_part_of_the_prompt_can_be_left_out() -> None:
    """Where identifiers come from, who yields them, and programs written from that."""
    protocol = load(sample("cinema"))

    def prompt(*without: str) -> str:
        with Agent(protocol, ScriptedModel(), max_tools=1, ablate=without) as agent:
            return "\n".join(
                said.content for said in agent.opening("Which credits does the person Ana Bell have?").messages()[-1:]
            )

    whole, unhinted, open_ended, bare = prompt(), prompt("hints"), prompt("closure"), prompt("planner")

    assert " — from GET_people" in whole
    assert " — from " not in unhinted
    assert "GET_people(" not in open_ended.partition("Question:")[0]
    assert len(bare) < len(whole)
    with pytest.raises(UsageError, match="no feature 'luck' to leave out: check"):
        prompt("luck")


def test_a_program_that_prints_nothing_is_no_answer(weather: LocalAPI) -> None:
    """Silence is a fault: the model is asked to print, and only then is there an answer."""
    model = ScriptedModel('x = GET_cities(query="Oslo")', 'print(GET_cities(query="Oslo")["results"][0]["name"])')

    solution = Agent(weather.protocol, model=model).solve("Which city?")

    assert [attempt.stage for attempt in solution.attempts] == ["answer", "done"]
    assert solution.answer == "Oslo"


def test_a_password_in_the_base_url_is_refused(weather: LocalAPI) -> None:
    with pytest.raises(UsageError, match="user name or password") as caught:
        Agent(weather.protocol, model=ScriptedModel("print(1)"), base_url="http://me:hunter2@127.0.0.1:1")
    assert "hunter2" not in str(caught.value)


def test_events_tell_the_story_in_order(weather: LocalAPI) -> None:
    """From the question to the solution that is returned, with one id, and another in the next solve."""
    events: list[Event] = []
    name = 'print(GET_cities(query="Oslo")["results"][0]["name"])'
    agent = Agent(weather.protocol, model=ScriptedModel("print(undefined)", name, name), on_event=events.append)

    solution = agent.solve("Which city?")
    first = list(events)
    agent.solve("Which city?")

    assert isinstance(first[0], SolveStarted)
    assert first[-1] == SolveEnded(solution, solve=first[0].solve)
    kinds = [type(event) for event in first]
    assert kinds.index(FaultFound) < kinds.index(CallMade)
    (one,), (other,) = ({event.solve for event in part} for part in (first, events[len(first) :]))
    assert one != other and one and other


def test_the_older_turns_are_shortened_when_the_conversation_grows(weather: LocalAPI) -> None:
    """All earlier programs stay in the context, but not whole when they are long."""
    long = (
        "\n".join(f"x{n} = 'some text that takes a lot of room number {n}'" for n in range(400)) + "\nprint(undefined)"
    )
    model = ScriptedModel(long, long + "\nprint(x0)", 'print(GET_cities(query="Oslo"))')

    solution = Agent(weather.protocol, model=model, mode="naive").solve("Which city?")

    assert solution.status == "answered"
    first, second = [said.content for said in model.asked[2] if said.content.startswith("```python\nx0 = ")]
    assert len(first) < 700 < len(second)


def test_a_revision_reads_only_what_it_is_about(weather: LocalAPI) -> None:
    """The last program, cut where it is long, what is wrong with it, and the functions that it needs."""
    wrong = "\n".join(f"x{n} = {n} * 1_000_000_000 + 1_000_000_000" for n in range(300)) + "\nprint(undefined)"
    right = 'print(GET_cities(query="Oslo")["results"][0]["name"])'
    model = ScriptedModel(wrong, f"{wrong}\nprint(x0)", right)

    solution = Agent(weather.protocol, model=model).solve("Which city?")

    assert (solution.answer, solution.reflections) == ("Oslo", 2)
    *first, asked, begun = model.asked[2]
    assert (first[0], begun.content) == (model.asked[0][0], "```python\n")
    assert len(asked.content) < 6000
    assert asked.content.count("x0 = 0") == 1
    assert "NameError" in asked.content
    assert "POST_alerts" not in asked.content


def test_wrong_use_is_told_at_once(weather: LocalAPI) -> None:
    wrong = [("mode", "magic", "unknown mode"), ("mode", None, "mode is None"), ("profile", 3, "profile is 3")]
    for name, value, says in [*wrong, ("now", "today", "now is 'today'")]:
        with pytest.raises(UsageError, match=says):
            Agent(weather.protocol, **{name: value})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="missing a required argument: 'tools'"):
        Agent()  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="question is empty"):
        Agent(weather.protocol, model=ScriptedModel()).solve("  ")
    with pytest.raises(UsageError, match="no tool GET_nothing"):
        Agent(weather.protocol, model=ScriptedModel()).solve("What?", tools=["GET_nothing"])


def test_what_is_wrong_before_a_run_costs_no_call() -> None:
    """The model is told as of any other failure; nothing was sent, and the tool is named."""
    model = ScriptedModel(
        'film = GET_films(query="Dune")["films"][0]\nfor _ in range(2):\n    last = film\nprint(film["director"])',
        'print(GET_films(query="Dune")["films"][0]["title"])',
    )
    with Agent(load(sample("cinema")), model=model, simulate=True) as agent:
        solution = agent.solve("Who directed Dune?")

    first = solution.attempts[0]
    assert (first.stage, first.run, first.calls) == ("check", None, ())
    assert first.fault is not None
    assert (first.fault.type, first.fault.line) == ("KeyError", 4)
    assert first.attribution is not None
    assert (first.attribution.tool, first.attribution.how) == ("GET_films", "check")
    assert 'GET_films(…)["films"][0] has no "director"; its keys are filmId, title' in model.asked[1][-2].content
    assert solution.reflections == 1


def test_what_is_wrong_in_several_lines_is_told_once() -> None:
    """Three calls with the same arguments that the tool does not take; what it takes is listed once."""
    call = 'GET_films_top_rated(colour="red", taste="sweet")'
    model = ScriptedModel(f"a = {call}\nb = {call}\nc = {call}\nprint(a, b, c)", "print(GET_films_top_rated())")
    with Agent(load(sample("cinema")), model=model, simulate=True) as agent:
        agent.solve("What is the top rated film?")

    told = "\n".join(message.content for message in model.asked[1])
    assert told.count('no parameter named "colour"') == told.count('no parameter named "taste"') == 1
    assert told.count("it takes") == 1


class CutModel(ScriptedModel):
    """Writes a few words at a time."""

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        completion = super().complete(messages, stop=stop, max_tokens=max_tokens)
        return replace(completion, finish="length" if self.answers else "stop")


def test_an_answer_that_is_cut_off_is_continued_once(weather: LocalAPI) -> None:
    """The model goes on from the end of its text, and the program is the whole of it."""
    model = CutModel('found = GET_cities(query="Oslo")\nprint(found["res', 'ults"][0]["name"])')

    solution = Agent(weather.protocol, model=model).solve("Which city?")

    assert (solution.answer, len(solution.attempts)) == ("Oslo", 1)
    assert model.asked[1][-1].content.endswith('print(found["res')


def test_an_answer_that_is_cut_off_again_is_a_fault_of_its_own(weather: LocalAPI) -> None:
    """It is not taken for bad Python: the model is asked for a shorter program."""
    right = 'print(GET_cities(query="Oslo")["results"][0]["name"])'
    model = CutModel("a = 1\n", "b = 2\n", right)

    solution = Agent(weather.protocol, model=model).solve("Which city?")

    fault = solution.attempts[0].fault
    assert fault is not None
    assert (fault.type, fault.message) == ("TokenLimit", "the answer was cut at 1024 tokens; write a shorter program")
    assert solution.answer == "Oslo"
    assert "write a shorter program" in "".join(message.content for message in model.asked[2])


def test_a_document_may_be_wrong() -> None:
    """A program that is told of a mistake and stays the same is run."""
    wrong = 'print(GET_me()["points"] if "points" in GET_me() else "none")'
    with Agent(load(sample("cinema")), model=ScriptedModel(*[wrong] * 4), simulate=True) as agent:
        solution = agent.solve("How many points do I have?")

    assert [attempt.stage for attempt in solution.attempts][:2] == ["check", "done"]


def test_who_did_what_was_asked_need_not_speak() -> None:
    """Where a program prints nothing, the writes that the service took are its answer."""
    program = 'PUT_me_watchlist(filmIds=[GET_films_top_rated()["films"][0]["filmId"]])'
    with Agent(load(sample("cinema")), ScriptedModel(program), simulate=True) as agent:
        solution = agent.solve("Put the best film on my watchlist")

    assert solution.status == "answered"
    assert (solution.answer or "").startswith("PUT_me_watchlist(filmIds=[")
