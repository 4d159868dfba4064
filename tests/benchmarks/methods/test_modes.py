"""The methods that the loop is compared with: over real HTTP, with a model that says what a test wants it to say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from atc import Agent, Solution
from atc.models import Completion, Message
from atc.models.budget import BudgetedModel
from atc.profile import LARGE, SMALL
from benchmarks.methods import BASELINES
from benchmarks.tasks.metrics import Gold, score
from protocols import load
from protocols.quoting import estimate
from protocols.samples import sample as sample_document
from sandbox import Journal
from tests.local_api import Answer, LocalAPI
from tests.scripted import ScriptedModel

CITY = 'GET_cities(query="Oslo")'
WEATHER = 'GET_cities_city_id_weather(city_id="osl")'
NOWHERE = 'GET_cities_city_id_weather(city_id="xxx")'
COMPARED = BASELINES

GOLD = Gold({"GET_cities": 1, "GET_cities_city_id_weather": 1})


class Scripted(ScriptedModel):
    """A scripted model that also samples; with `forever` it repeats its last answer."""

    def __init__(self, *answers: str, forever: bool = False) -> None:
        super().__init__(*answers)
        self.forever = forever
        self.seeds: list[int] = []

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        if self.forever and len(self.answers) == 1:
            self.answers *= 2
        completion = super().complete(messages)
        return replace(completion, usage=replace(completion.usage, prompt_tokens=100 + len(self.asked)))

    def sample(
        self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024, seed: int
    ) -> Completion:
        self.seeds.append(seed)
        return self.complete(messages)


def act(action: str) -> str:
    return f"Thought: so be it.\nAction: {action}"


def searches(count: int) -> list[str]:
    """Steps that differ, and lead nowhere."""
    return [act(f'GET_cities(query="town {number}")') for number in range(count)]


def code(*lines: str) -> str:
    return "\n".join(["```python", *lines, "```"])


def rain(*lines: str) -> list[str]:
    return [act(CITY), act(WEATHER), *lines, act('finish(answer="It rains.")')]


def statuses(solution: Solution) -> list[list[int | None]]:
    return [[call.status for call in attempt.calls] for attempt in solution.attempts]


@pytest.fixture
def weather() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [{"id": "osl", "name": "Oslo", "population": 717710}]})
        api.answer("GET", "/cities/osl/weather", {"now": {"rain": True, "degrees": 7}})
        api.answer("GET", "/alerts", [])
        api.respond("POST", "/alerts", lambda got: Answer(201, got.json()))
        yield api


def ask(api: LocalAPI, mode: str, model: Any, query: str = "Does it rain in Oslo?", **options: Any) -> Solution:
    with Agent(api.protocol, model=model, mode=mode, **options) as agent:
        return agent.solve(query)


# --- every mode

TWO_CALLS: dict[str, list[str]] = {
    "react": rain(),
    "dfsdt": rain(),
    "codeact": [
        code(f'city = {CITY}["results"][0]', "print(city)"),
        code('print(GET_cities_city_id_weather(city_id=city["id"])["now"]["rain"])'),
        "Answer: It rains.",
    ],
    "restgpt": [
        "Next: find the id of Oslo",
        "GET_cities",
        CITY,
        "Oslo has the id osl.",
        "Next: find the weather of the city with the id osl",
        "GET_cities_city_id_weather",
        WEATHER,
        "It rains.",
        "Answer: It rains.",
    ],
    "conagents": [
        "Function: GET_cities\nTask: find the id of Oslo",
        CITY,
        "Oslo has the id osl.",
        "Function: GET_cities_city_id_weather\nTask: find the weather of osl",
        WEATHER,
        "It rains.",
        "Answer: It rains.",
    ],
}


@pytest.mark.parametrize("mode", COMPARED)
def test_each_mode_answers_a_question_of_two_calls(weather: LocalAPI, mode: str) -> None:
    """One attempt with both calls, so that Success, Path and Prec are 1; tokens are the sum over what was asked."""
    model = Scripted(*TWO_CALLS[mode])
    solution = ask(weather, mode, model)

    assert (solution.status, solution.answer, solution.reflections) == ("answered", "It rains.", 0)
    assert [call.tool for call in solution.calls] == ["GET_cities", "GET_cities_city_id_weather"]
    assert [call.index for call in solution.calls] == [0, 1]
    assert len(weather.requests) == 2
    measured = score(GOLD, [attempt.calls for attempt in solution.attempts], solution.status)
    assert (measured.success, measured.path, measured.precision) == (1, 1, 1)
    model_calls = len(model.asked)
    assert model_calls == len(TWO_CALLS[mode])
    assert solution.usage.model_calls == model_calls
    assert solution.usage.prompt_tokens == sum(100 + number for number in range(1, model_calls + 1))
    assert solution.usage.completion_tokens == 20 * model_calls
    assert solution.to_json()["program"]


FAILING: dict[str, list[str]] = {
    "react": ["I will look up Oslo.", act("GET_towns(name=1)"), act(NOWHERE), *rain()],
    "dfsdt": ["I will look up Oslo.", act(NOWHERE), *rain()],
    "codeact": ["I will look up Oslo.", code(f"print({NOWHERE})"), *TWO_CALLS["codeact"]],
    "restgpt": [
        *("Next: find the weather in Oslo", "GET_cities_city_id_weather", NOWHERE, TWO_CALLS["restgpt"][0]),
        *("the search", "GET_cities", "I call it.", *TWO_CALLS["restgpt"][2:]),
    ],
    "conagents": [
        *("I do not know.", "Function: GET_cities_city_id_weather\nTask: find the weather in Oslo", *[NOWHERE] * 3),
        *(TWO_CALLS["conagents"][0], "GET_cities(query=city.name)", *TWO_CALLS["conagents"][1:]),
    ],
}


@pytest.mark.parametrize("mode", COMPARED)
def test_each_mode_corrects_a_bad_action_and_goes_on_after_a_404(weather: LocalAPI, mode: str) -> None:
    """A message that asks for nothing that can be done costs a turn, and no call. The model reads what the service
    said, and no call is lost from the record."""
    model = Scripted(*FAILING[mode])
    solution = ask(weather, mode, model)

    assert (solution.status, solution.answer) == ("answered", "It rains.")
    assert solution.usage.model_calls == len(FAILING[mode])
    assert any("404" in message.content for messages in model.asked for message in messages)
    assert statuses(solution)[-1][-2:] == [200, 200]
    assert sum(map(len, statuses(solution))) == len(weather.requests) == (5 if mode == "conagents" else 3)


def test_a_leader_who_names_no_function_of_the_list_is_told_the_nearest(weather: LocalAPI) -> None:
    model = Scripted("Function: GET_citys\nTask: find Oslo", *TWO_CALLS["conagents"])

    assert ask(weather, "conagents", model).status == "answered"
    assert "there is no function GET_citys; did you mean GET_cities?" in model.asked[1][-1].content


ENDLESS = {
    "react": act("GET_alerts()"),
    "codeact": code("print(len(GET_alerts()))"),
    "dfsdt": act("GET_alerts()"),
    "restgpt": "Next: GET_alerts()",
    "conagents": "Function: GET_alerts\nTask: GET_alerts()",
}


@pytest.mark.parametrize("mode", COMPARED)
def test_each_mode_ends_when_its_budget_is_used_up(weather: LocalAPI, mode: str) -> None:
    """A model that never finishes: the status says that a limit was hit, and everything is kept."""
    model = Scripted(ENDLESS[mode], forever=True)
    solution = ask(weather, mode, model)

    assert (solution.status, solution.exit_code, solution.answer) == ("limit", 4, None)
    assert "no answer within" in solution.message
    assert len(model.asked) == solution.usage.model_calls <= 40
    calls = [call for attempt in solution.attempts for call in attempt.calls]
    assert len(weather.requests) == sum(not call.replayed for call in calls) > 0


@pytest.mark.parametrize("mode", COMPARED)
def test_an_api_that_is_down_ends_every_mode(mode: str) -> None:
    """As in the loop: no other call would get any further, so the model is not asked again."""
    with LocalAPI() as api:
        gone = api
    model = Scripted(*TWO_CALLS[mode])

    assert ask(gone, mode, model).status == "api_error"


@pytest.mark.parametrize("mode", COMPARED)
def test_a_write_that_is_not_allowed_ends_every_mode(weather: LocalAPI, mode: str) -> None:
    """Nothing is sent, and the status is that of the loop."""
    write = 'POST_alerts(text="Storm")'
    says = {
        "react": [act(write)],
        "dfsdt": [act(write)],
        "codeact": [code(write)],
        "restgpt": ["Next: write it", "POST_alerts", write],
        "conagents": ["Function: POST_alerts\nTask: write it", write],
    }
    solution = ask(weather, mode, Scripted(*says[mode]), writes="deny")

    assert (solution.status, solution.exit_code, weather.requests) == ("refused", 3, [])
    assert [call.refused for call in solution.calls] == [True]


# --- step by step


def test_the_observation_is_a_turn_of_the_conversation(weather: LocalAPI) -> None:
    """What was said stays as it was, so that a model that remembers its prompt reads only what is new."""
    model = Scripted(*rain())
    ask(weather, "react", model)

    assert model.asked[1][: len(model.asked[0])] == model.asked[0]
    assert model.asked[1][-1].content.startswith('Observation: {"results": [{"id": "osl"')


def test_what_a_model_makes_up_after_its_action_is_dropped(weather: LocalAPI) -> None:
    invented = f"{act(CITY)}\nObservation: it is sunny\nAnswer: sunny"
    model = Scripted(invented, *rain()[1:])
    solution = ask(weather, "react", model)

    assert solution.answer == "It rains."
    assert not any("sunny" in message.content for message in model.asked[1])


def test_wrong_arguments_are_told_before_anything_is_sent(weather: LocalAPI) -> None:
    model = Scripted(act('GET_cities(name="Oslo")'), *rain())
    solution = ask(weather, "react", model)

    assert (solution.status, len(weather.requests)) == ("answered", 2)
    assert "query" in model.asked[1][-1].content


def test_a_long_conversation_is_shortened_where_it_is_oldest(weather: LocalAPI) -> None:
    """Old replies go first; instruction and question stay."""
    weather.answer("GET", "/alerts", [{"text": "x" * 90} for _ in range(400)])
    model = Scripted(*[act("GET_alerts()")] * 15, act('finish(answer="many")'))
    solution = ask(weather, "react", model)

    assert solution.status == "answered"
    sizes = [estimate("".join(message.content for message in messages)) for messages in model.asked]
    assert max(sizes) <= SMALL.prompt_tokens + 500
    assert "Does it rain in Oslo?" in "".join(message.content for message in model.asked[-1])


def test_a_solve_that_was_cut_off_goes_on(weather: LocalAPI) -> None:
    """With the same journal nothing is asked or sent again, the write least of all."""
    journal = Journal()
    write = act('POST_alerts(text="Storm")')
    first = Scripted(act(CITY), write)
    with Agent(weather.protocol, model=first, mode="react", writes="allow") as agent:
        assert agent.solve("Warn Oslo", journal=journal).status == "model_error"
    second = Scripted(act('finish(answer="Done.")'))
    with Agent(weather.protocol, model=second, mode="react", writes="allow") as agent:
        solution = agent.solve("Warn Oslo", journal=journal)

    assert (solution.answer, len(second.asked), len(weather.requests)) == ("Done.", 1, 2)
    assert [call.replayed for call in solution.calls] == [True, True]


# --- DFSDT


def test_a_branch_that_is_given_up_is_not_in_the_final_attempt(weather: LocalAPI) -> None:
    """The dead end is taken back: its call counts, but not for the path that led to the answer."""
    model = Scripted(act(CITY), act(NOWHERE), act('give_up(reason="not found")'), *rain()[1:])
    solution = ask(weather, "dfsdt", model)

    assert solution.answer == "It rains."
    assert statuses(solution) == [[404], [200, 200]]
    assert [call.index for call in solution.calls] == [0, 2]
    assert [call.line for call in solution.calls] == [1, 2]
    assert score(GOLD, [attempt.calls for attempt in solution.attempts], "answered").success == 1
    assert solution.usage.model_calls == len(model.asked) == 5


def test_a_sibling_is_asked_to_differ_and_does_not_see_the_branch(weather: LocalAPI) -> None:
    """What was tried is told at the end of the prompt, and only while the next child is asked for."""
    model = Scripted(act(CITY), act(NOWHERE), act('give_up(reason="no")'), *rain()[1:])
    ask(weather, "dfsdt", model)
    again, after = model.asked[3], model.asked[4]

    assert again[:-1] == model.asked[1][:-1]
    assert "GET_cities_city_id_weather(city_id='xxx') -> Error" in again[-1].content
    assert "were tried" not in "".join(message.content for message in after)


def test_a_write_of_an_abandoned_branch_is_not_repeated(weather: LocalAPI) -> None:
    """What is done is done: the next branch gets its reply, and only one request was sent."""
    write = act('POST_alerts(text="Storm")')
    model = Scripted(write, act('give_up(reason="no")'), write, act('finish(answer="Done.")'))
    solution = ask(weather, "dfsdt", model, "Warn Oslo of the storm", writes="allow")

    assert solution.answer == "Done."
    assert [got.method for got in weather.requests] == ["POST"]
    assert [call.replayed for call in solution.calls] == [True]
    assert solution.abandoned == ()


def test_a_write_that_only_an_abandoned_branch_made_is_told(weather: LocalAPI) -> None:
    model = Scripted(act('POST_alerts(text="Storm")'), act('give_up(reason="no")'), *rain())
    solution = ask(weather, "dfsdt", model, "Warn Oslo of the storm", writes="allow")

    assert [call.tool for call in solution.abandoned] == ["POST_alerts"]


# --- CodeAct


def test_variables_stay_and_nothing_is_sent_twice(weather: LocalAPI) -> None:
    """The third snippet uses what the first one fetched; a failed call inside one that went well is not sent again
    either, and each snippet's output is shown once."""
    model = Scripted(
        code(f'city = {CITY}["results"][0]', "print('one')", "try:", f"    {NOWHERE}", "except Exception:", "    pass"),
        code('POST_alerts(text=city["name"])', "print('two')"),
        code('print(city["population"])'),
        "Answer: 717710",
    )
    solution = ask(weather, "codeact", model, "Warn Oslo of the storm", writes="allow")

    assert solution.answer == "717710"
    assert [got.method for got in weather.requests] == ["GET", "GET", "POST"]
    assert [messages[-1].content for messages in model.asked[1:]] == ["Output:\none", "Output:\ntwo", "Output:\n717710"]
    assert [call.status for call in solution.calls] == [200, 404, 201]
    assert not any(call.replayed for call in solution.calls)
    assert solution.program.count("\n") == 8
    assert solution.abandoned == ()


def test_a_snippet_that_fails_is_an_attempt_of_its_own(weather: LocalAPI) -> None:
    """Its new calls are in it, its place in the snippet is told, and nothing of it stays."""
    model = Scripted(
        code(f'city = {CITY}["results"][0]'),
        code("x = 1", 'POST_alerts(text="Storm")', 'print(city["area"])'),
        code('POST_alerts(text="Storm")', 'print(city["population"])'),
        "Answer: 717710",
    )
    solution = ask(weather, "codeact", model, "Warn Oslo of the storm", writes="allow")

    assert statuses(solution) == [[201], [200, 201]]
    fault = solution.attempts[0].fault
    assert fault is not None
    assert (fault.type, fault.line) == ("KeyError", 3)
    assert 'line 3: print(city["area"])' in model.asked[2][-1].content
    assert [got.method for got in weather.requests] == ["GET", "POST"]
    assert solution.program.startswith("city = ")
    assert "x = 1" not in solution.program


def test_chance_and_time_are_part_of_the_state(weather: LocalAPI) -> None:
    """A snippet that is run again finds the same random numbers and the same time."""
    model = Scripted(
        code("import random, time", "n, t = random.random(), time.time()", "print(n, t)"),
        code("print(n, t)"),
        "Answer: ok",
    )
    ask(weather, "codeact", model)

    assert model.asked[1][-1].content == model.asked[2][-1].content


def test_code_is_run_before_an_answer_beside_it_is_believed(weather: LocalAPI) -> None:
    model = Scripted(f"{code(f'print({CITY})')}\nAnswer: sunny", "Answer: rain")

    assert ask(weather, "codeact", model).answer == "rain"


# --- @N


def test_tries_stop_at_the_first_answer(weather: LocalAPI) -> None:
    """The first try spends its budget, the second one answers, the third is not made; all is summed and visible. No
    write is repeated."""
    write = act('POST_alerts(text="Storm")')
    model = Scripted(write, *searches(39), write, *rain(), act("never asked"))
    solution = ask(weather, "react@3", model, seed=5, writes="allow")

    assert (solution.status, solution.answer) == ("answered", "It rains.")
    assert [len(attempt.calls) for attempt in solution.attempts] == [40, 3]
    assert solution.usage.model_calls == 44
    assert model.seeds == [6, 6, 6, 6], "the first try is not drawn, the second has a seed of its own"
    assert score(GOLD, [attempt.calls for attempt in solution.attempts], solution.status).success == 1
    assert [got.method for got in weather.requests].count("POST") == 1


def test_the_loop_can_be_tried_anew(weather: LocalAPI) -> None:
    """Each try has all its reflections, and begins without what went before."""
    model = Scripted("print(a)", "print(b)", f"print({CITY})")
    solution = ask(weather, "naive@2", model, max_reflections=1)

    assert (solution.status, len(solution.attempts)) == ("answered", 3)
    assert model.asked[2] == model.asked[0]
    assert model.seeds == [1]


def test_a_budget_of_the_benchmark_counts_drawn_answers(weather: LocalAPI) -> None:
    """Whichever budget is smaller ends the solve; what was called is kept."""
    model = Scripted(*searches(42), forever=True)
    solution = ask(weather, "react@3", BudgetedModel(model, calls=42))

    assert (solution.status, solution.usage.model_calls, len(model.asked)) == ("limit", 42, 42)
    assert model.seeds == [1, 1]
    assert [len(attempt.calls) for attempt in solution.attempts] == [40, 2]


def test_the_planner_alone_runs_its_plan_and_asks_no_model() -> None:
    """What the other modes add to the planner is the difference to this one."""
    with Agent(load(sample_document("cinema")), ScriptedModel(), mode="plan", simulate=True) as agent:
        solution = agent.solve("Who directed the film The Silent Harbor?")

    assert (solution.status, solution.usage.model_calls) == ("answered", 0)
    assert "GET_films_filmId_credits" in {call.tool for call in solution.calls}
    assert solution.program is not None
    assert "print(" in solution.program


@pytest.mark.parametrize("mode", [*BASELINES, "attribute"])
def test_every_mode_is_shown_the_same_plan(mode: str) -> None:
    """So that a comparison of modes does not compare planners."""
    model = ScriptedModel("Thought: none.")
    with Agent(load(sample_document("cinema")), model, mode=mode, simulate=True) as agent:
        agent.solve("Who directed the film The Silent Harbor?")
        [plan, *_] = agent.opening("Who directed the film The Silent Harbor?").sections

    prompts = [message.content for messages in model.asked for message in messages]
    assert mode == "restgpt" or any(plan in prompt for prompt in prompts)


@pytest.mark.parametrize("mode", BASELINES)
def test_every_mode_reads_what_the_loop_reads_and_may_ask_for_more(mode: str) -> None:
    """The same text of the functions; one short message shows others, and stays in the conversation."""
    few = replace(LARGE, described=2, stable=False)
    ask_first = "Next: find it\n" if mode == "restgpt" else ""
    model = Scripted(*filter(None, [ask_first, "SHOW: GET_me_watchlist"]), act("nothing()"), forever=True)
    with Agent(load(sample_document("cinema")), model, mode, profile=few, simulate=True) as agent:
        described, _, others = agent.opening("Where is the headquarters?").functions.partition("\n\nFurther functions")
        agent.solve("Where is the headquarters?")

    before, after = model.asked[len(ask_first) > 0], model.asked[1 + (len(ask_first) > 0)]
    text = "\n".join(message.content for message in before)
    assert described in text
    assert others.partition("\n")[2] in text
    assert "def GET_me_watchlist() -> WatchlistPage:" in "\n".join(message.content for message in after)
    assert [message for message in after if message in before] == before
    assert len(after) == len(before) + 2
