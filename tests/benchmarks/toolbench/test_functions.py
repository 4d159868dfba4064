"""Searches whose calls are the tool calls of an endpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from atc import Agent, Solution
from atc.models import Completion, Usage
from atc.models.base import FunctionCall, ModelBase, ModelRequest
from atc.options import SearchSettings
from protocols.errors import UsageError
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

CITY = ("GET_cities", {"query": "Oslo"})
WEATHER = ("GET_cities_city_id_weather", {"city_id": "osl"})
FINISH = ("finish", {"answer": "It rains."})
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


def ask(api: LocalAPI, mode: str, model: Any, **options: Any) -> Solution:
    with Agent(api.protocol, model=model, mode=mode, **options) as agent:
        return agent.solve("Does it rain in Oslo?")


def test_functions_are_offered_and_results_are_messages(weather: LocalAPI) -> None:
    """A model that takes functions is offered them, `finish` last, and reads each result under its call."""
    model = Calling([CITY], [WEATHER], [FINISH])
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
    model = Calling([CITY, ("read_reply", {"path": "results[0].name"}), ("GET_alerts", {})], [FINISH])
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
    model = Calling(reply, [CITY], [FINISH])
    solution = ask(weather, "react", model)

    assert solution.answer == "It rains."
    assert why in model.requests[1].messages[-1].content
    assert len(solution.tree) == 2


def test_a_text_that_is_given_again_is_the_answer(weather: LocalAPI) -> None:
    """Models that call functions often answer in plain text; asked for a call once, they say it again."""
    solution = ask(weather, "react", Calling([CITY], "It rains.", "It does rain."))

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
