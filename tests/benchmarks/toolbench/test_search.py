"""The searches by single calls, as text and as calls of functions: as published, and as ours; with scripted models."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from atc import Agent, Solution
from atc.models import Completion, Message, Usage
from atc.models.base import FunctionCall, ModelBase, ModelRequest
from atc.options import SearchSettings
from atc.search_tree import path_to
from protocols.errors import UsageError
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

COMPAT = SearchSettings(compat=True)
CITY = 'GET_cities(query="Oslo")'
WEATHER = 'GET_cities_city_id_weather(city_id="osl")'
CALL_WITH_THOUGHT = 'Thought: once more.\nAction: GET_cities(query="Oslo")'
CALL_ALONE = 'Action: GET_cities(query="Oslo")'
THOUGHT_ALONE = "Thought: what now?"


class Loop:
    """A model that says the same without end."""

    name = "loop"
    context = None

    def __init__(self, reply: str | Callable[[int], str]) -> None:
        self.reply = reply
        self.asked: list[list[Message]] = []

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        self.asked.append(list(messages))
        text = self.reply if isinstance(self.reply, str) else self.reply(len(self.asked))
        return Completion(text, Usage(10, 10, 0, 1, 0.0), "stop")

    def close(self) -> None:
        """Nothing is open."""


def ask(api: LocalAPI, mode: str, model: Any, **options: Any) -> Solution:
    with Agent(api.protocol, model=model, mode=mode, **options) as agent:
        return agent.solve("Does it rain in Oslo?")


def act(action: str) -> str:
    return f"Thought: so be it.\nAction: {action}"


@pytest.mark.parametrize(
    ("reply", "depth", "chain", "tree"),
    [
        (CALL_WITH_THOUGHT, 12, 4, 30),
        (CALL_ALONE, 12, 6, 126),
        (THOUGHT_ALONE, 12, 12, 200),
        (CALL_WITH_THOUGHT, 50, 17, None),
        (CALL_ALONE, 50, 25, None),
        (THOUGHT_ALONE, 50, 50, None),
    ],
)
def test_a_published_search_makes_the_published_calls(
    weather: LocalAPI, reply: str, depth: int, chain: int, tree: int | None
) -> None:
    """The depth counts tree nodes, so a model that never ends is asked as often as by the released code."""
    for mode, count in (("react", chain), ("dfsdt", tree)):
        if count is not None:
            model = Loop(reply)
            ask(weather, mode, model, search=SearchSettings(compat=True, depth=depth))
            assert len(model.asked) == count


def test_more_model_calls_raise_the_budget(weather: LocalAPI) -> None:
    """`--max-model-calls` is of all tries together, and also raises what a try of the mode may ask."""
    model, more = Loop(CALL_WITH_THOUGHT), Loop(CALL_WITH_THOUGHT)
    ask(weather, "dfsdt", model, search=SearchSettings(max_model_calls=150))
    solution = ask(weather, "react@99", more, search=SearchSettings(max_model_calls=50))

    assert (len(model.asked), len(more.asked)) == (150, 50)
    assert solution.status == "limit"


def test_the_last_message_is_said_to_be_the_last(weather: LocalAPI) -> None:
    """At the end of the budget or of a path no further call helps, so the model is told to answer."""
    model, deep = Loop(CALL_WITH_THOUGHT), Loop(CALL_WITH_THOUGHT)
    ask(weather, "react", model, search=SearchSettings(max_model_calls=3))
    ask(weather, "dfsdt", deep, search=SearchSettings(depth=2, width=1))

    for asked in (model.asked, deep.asked):
        assert ["This is the last message" in messages[-1].content for messages in asked] == [False] * (
            len(asked) - 1
        ) + [True]


def test_the_last_message_is_the_answer_in_any_form(weather: LocalAPI) -> None:
    """A model that answers in prose when nothing else is left has answered."""
    model = Loop(lambda number: CALL_ALONE if number < 3 else "Thought: It rains in Oslo.")
    solution = ask(weather, "react", model, search=SearchSettings(max_model_calls=3))

    assert (solution.status, solution.answer) == ("answered", "It rains in Oslo.")


def test_a_call_is_not_made_twice_on_a_path(weather: LocalAPI) -> None:
    """The model is told that it made the call; after a write it is made again."""
    replies = [act(CITY), act(CITY), act('POST_alerts(text="Storm")'), act(CITY), act('finish(answer="Yes")')]
    model = ScriptedModel(*replies)
    weather.answer("POST", "/alerts", {})
    with Agent(weather.protocol, model=model, mode="react", writes="allow") as agent:
        solution = agent.solve("Warn Oslo of the storm")

    assert [request.method for request in weather.requests] == ["GET", "POST", "GET"]
    assert "This call was made before" in model.asked[2][-1].content
    assert [step.call for node in solution.tree for step in node.steps] == [0, None, 1, 2, None]


def test_a_path_that_goes_in_circles_ends(weather: LocalAPI) -> None:
    """After two messages that repeat calls the model is told to finish."""
    model = Loop(CALL_ALONE)
    ask(weather, "react", model, search=SearchSettings(max_model_calls=6))

    assert ["This is the last message" in messages[-1].content for messages in model.asked] == [False] * 3 + [True] * 3


def test_a_published_search_ends_when_the_first_message_gives_up(weather: LocalAPI) -> None:
    """After a give-up the parent is left, too; at the first message that is the question. Ours asks once more."""
    give_up = 'Action: Finish(return_type="give_up_and_restart")'
    model = Loop(give_up)
    solution = ask(weather, "dfsdt", model, search=COMPAT)
    own = Loop('Action: give_up(reason="no")')
    ask(weather, "dfsdt", own)

    assert (solution.status, len(model.asked), len(own.asked)) == ("failed", 1, 2)
    assert [node.outcome for node in solution.tree] == ["give_up"]


def test_after_a_give_up_the_grandparent_tries_its_next_child(weather: LocalAPI) -> None:
    """A give-up in the third message of a line: the fourth is asked at the first, with what was tried there."""
    replies = [
        act(CITY),
        act(WEATHER),
        act('Finish(return_type="give_up_and_restart")'),
        act('Finish(return_type="give_answer", final_answer="It rains.")'),
    ]
    model = ScriptedModel(*replies)
    solution = ask(weather, "dfsdt", model, search=COMPAT)

    assert solution.answer == "It rains."
    assert [node.parent for node in solution.tree] == [0, 1, 2, 1]
    assert '"name": "GET_cities_city_id_weather"' in model.asked[3][-1].content
    assert [node.id for node in path_to(solution.tree, 4)] == [1, 4]


def test_a_published_call_names_the_end_of_a_function(weather: LocalAPI) -> None:
    """The first function whose name ends with the text is called, and an unknown one gets another name."""
    finish = act('Finish(return_type="give_answer", final_answer="It rains.")')
    model = ScriptedModel(act('GET_towns(query="Oslo")'), finish)
    solution = ask(weather, "react", model, search=COMPAT)

    assert [step.code for node in solution.tree for step in node.steps] == [1, 3]
    assert solution.tree[0].steps[0].name == "GET_towns"
    assert "invalid_hallucination_function_name" in model.asked[1][-2].content


def test_a_published_finish_without_an_answer_is_an_error(weather: LocalAPI) -> None:
    """Code 2 is an observation, and the search goes on."""
    replies = ["Finish()", 'Finish(return_type="give_answer")', 'Finish(return_type="give_answer", final_answer="Yes")']
    solution = ask(weather, "react", ScriptedModel(*map(act, replies)), search=COMPAT)

    assert [step.code for node in solution.tree for step in node.steps] == [2, 2, 3]
    assert solution.answer == "Yes"


def test_a_published_observation_is_cut_as_text(weather: LocalAPI) -> None:
    """1,024 characters and three dots, wherever that is; ours stays JSON, and a line below says how the rest is had."""
    weather.answer("GET", "/alerts", [{"text": "storm " * 20} for _ in range(60)])
    end = act('Finish(return_type="give_answer", final_answer="many")')
    published = ScriptedModel(act("GET_alerts()"), end)
    own = ScriptedModel(act("GET_alerts()"), act('finish(answer="many")'))
    ask(weather, "react", published, search=COMPAT)
    solution = ask(weather, "react", own, search=SearchSettings(max_observation=100))

    cut = published.asked[1][-1].content.removeprefix("Observation: ")
    assert (len(cut), cut[-3:]) == (1027, "...")
    data, note = solution.tree[0].steps[0].observation.split("\n")
    assert len(data) <= 300
    assert json.loads(data)
    assert note == "(Shortened. read_reply(reply=1, path=…, page=…) shows the rest.)"


def test_what_an_observation_leaves_out_is_read_without_a_call(weather: LocalAPI) -> None:
    """By path, by page and of an earlier reply; a wrong path is told, and no reading counts as a repeated call."""
    weather.answer("GET", "/alerts", [{"number": place, "text": f"storm {place} " * 20} for place in range(60)])
    steps = [
        "read_reply()",
        "GET_alerts()",
        CITY,
        'read_reply(reply=1, path="[41].text")',
        'read_reply("[*].number", reply=1)',
        'read_reply(path="results[0].name")',  # of the last one
        "read_reply(page=2, reply=1)",
        "read_reply(reply=9)",
        'read_reply(page="two")',
        "read_reply(page=2)",
        "GET_alerts()",
        'finish(answer="storm")',
    ]
    solution = ask(weather, "react", ScriptedModel(*map(act, steps)), search=SearchSettings(max_observation=100))

    seen = [node.steps[0].observation for node in solution.tree]
    assert solution.answer == "storm"
    assert seen[0] == "Error: no call has a reply yet"
    assert seen[3].startswith('"storm 41 storm 41')
    assert seen[4].startswith("[0, 1, 2,")
    assert seen[5] == '"Oslo"'
    assert seen[6].startswith("Page 2 of ")
    assert seen[7] == "Error: call 9 has no reply; these have one: 1, 2"
    assert seen[8] == "Error: page is a whole number, not 'two'"
    assert seen[9].startswith("Error: there is no page 2; there are 1; this is an object with results")
    assert seen[10].startswith("This call was made before")
    assert [call.tool for call in solution.calls] == ["GET_alerts", "GET_cities"]
    assert len(weather.requests) == 2


@pytest.mark.parametrize(("second", "is_told"), [("page=1", True), ("page=2", False)])
def test_a_part_that_is_read_again_leads_to_the_end(weather: LocalAPI, second: str, is_told: bool) -> None:
    """After two messages that read the same part the model is told to finish; the next page is another part."""
    weather.answer("GET", "/alerts", [{"number": place, "text": f"storm {place} " * 20} for place in range(60)])
    steps = ["GET_alerts()", "read_reply(page=1)", f"read_reply({second})", 'finish(answer="storm")']
    model = ScriptedModel(*map(act, steps))
    ask(weather, "react", model, search=SearchSettings(max_observation=100))

    assert ["This is the last message" in messages[-1].content for messages in model.asked] == [*[False] * 3, is_told]


# --- the tree


def test_every_message_is_kept(weather: LocalAPI) -> None:
    """Thoughts, messages without a call, give-ups and their order; the calls are those of the attempts."""
    replies = ["I do not know.", "Nor now.", act(CITY), act('give_up(reason="no")'), act(WEATHER), act('finish("Yes")')]
    solution = ask(weather, "dfsdt", ScriptedModel(*replies))

    assert [(node.parent, node.outcome) for node in solution.tree] == [
        (0, "open"),
        (1, "abandoned"),
        (2, "give_up"),
        (1, "open"),
        (4, "answer"),
    ]
    assert solution.tree[0].correction == "it calls no function"
    assert solution.tree[1].why == "the branch led to no answer"
    assert solution.tree[3].tried.endswith("Now take a different action, with another function or other arguments.")
    indexes = [step.call for node in solution.tree for step in node.steps if step.call is not None]
    assert indexes == sorted(call.index for attempt in solution.attempts for call in attempt.calls)
    assert len(solution.to_json()["tree"]) == 5  # type: ignore[arg-type]


CITY_CALL = ("GET_cities", {"query": "Oslo"})
WEATHER_CALL = ("GET_cities_city_id_weather", {"city_id": "osl"})
FINISH_CALL = ("finish", {"answer": "It rains."})
Reply = str | Sequence[tuple[str, object]]


class Calling(ModelBase):
    """Says what a test wants it to say: a text, or calls."""

    name = "calling"
    calls_functions = True

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[ModelRequest] = []

    def answer(self, request: ModelRequest) -> Completion:
        self.requests.append(request)
        reply = self.replies.pop(0)
        text, calls = (reply, ()) if isinstance(reply, str) else ("so be it", reply)
        made = tuple(
            FunctionCall(f"c{len(self.requests)}{number}", name, args if isinstance(args, str) else json.dumps(args))
            for number, (name, args) in enumerate(calls)
        )
        return Completion(text, Usage(10, 10, 0, 1, 0.0), "tool_calls" if made else "stop", made)

    def close(self) -> None:
        """Nothing is open."""


def test_functions_are_offered_and_results_are_messages(weather: LocalAPI) -> None:
    """A model that takes functions is offered them, `finish` last, and reads each result under its call."""
    model = Calling([CITY_CALL], [WEATHER_CALL], [FINISH_CALL])
    solution = ask(weather, "react", model)

    assert solution.answer == "It rains."
    names = [function.name for function in model.requests[0].functions]
    assert names[-1] == "finish"
    assert {"GET_cities", "GET_cities_city_id_weather"} <= set(names)
    roles = [message.role for message in model.requests[2].messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert model.requests[1].messages[-1].call_id == "c10"
    assert '"id": "osl"' in model.requests[1].messages[-1].content


def test_calls_of_one_message_are_all_made(weather: LocalAPI) -> None:
    """Parallel calls are one node, and each has its result; a part of a reply may be read beside them."""
    model = Calling([CITY_CALL, ("read_reply", {"path": "results[0].name"}), ("GET_alerts", {})], [FINISH_CALL])
    solution = ask(weather, "dfsdt", model)

    assert [len(node.steps) for node in solution.tree] == [3, 1]
    results = [message for message in model.requests[1].messages if message.role == "tool"]
    assert [message.call_id for message in results] == ["c10", "c11", "c12"]
    assert results[1].content == '"Oslo"'
    assert [call.tool for call in solution.calls] == ["GET_cities", "GET_alerts"]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("I will look up Oslo.", "it calls no function"),
        ([("GET_cities", "{query:")], "the arguments of GET_cities are no JSON"),
        ([("GET_cities", "[1]")], "the arguments of GET_cities are no JSON object"),
    ],
)
def test_an_unreadable_message_is_corrected_once(weather: LocalAPI, reply: Reply, why: str) -> None:
    """The correction says what is wrong, as the result of the call where there was one."""
    model = Calling(reply, [CITY_CALL], [FINISH_CALL])
    solution = ask(weather, "react", model)

    assert solution.answer == "It rains."
    assert why in model.requests[1].messages[-1].content
    assert len(solution.tree) == 2


def test_a_text_that_is_given_again_is_the_answer(weather: LocalAPI) -> None:
    """Models that call functions often answer in plain text; asked for a call once, they say it again."""
    solution = ask(weather, "react", Calling([CITY_CALL], "It rains.", "It does rain."))

    assert (solution.status, solution.answer) == ("answered", "It does rain.")


def test_a_model_without_functions_says_so(weather: LocalAPI) -> None:
    """`--format functions` needs a model that takes them; without it the text form is used."""
    with pytest.raises(UsageError, match="cannot call functions"):
        ask(weather, "react", ScriptedModel("x"), search=SearchSettings(format="functions"))
    model = Calling("Thought: so be it.\nAction: finish(answer='It rains.')")
    solution = ask(weather, "react", model, search=SearchSettings(format="text"))

    assert (solution.answer, model.requests[0].functions) == ("It rains.", ())


def test_a_search_in_the_form_of_the_toolllama_weights(weather: LocalAPI) -> None:
    """`Thought`, `Action`, `Action Input` and Finish, without a chat template; other forms are corrected."""
    model = Calling(
        'Thought: t\nAction: GET_cities\nAction Input: {"query": "Oslo"}',
        "Thought: it has an answer.",
        'Thought: t\nAction: Finish\nAction Input: {"return_type": "give_answer", "final_answer": "It rains."}',
    )
    solution = ask(weather, "dfsdt", model, search=SearchSettings(format="toolllama"))

    assert solution.answer == "It rains."
    assert [step.name for node in solution.tree for step in node.steps] == ["GET_cities", "Finish"]
    assert {request.layout for request in model.requests} == {"roles"}
    assert "'name': 'Finish'" in model.requests[0].messages[0].content
    assert "it has no `Action:` and no `Action Input:`" in model.requests[2].messages[-1].content
