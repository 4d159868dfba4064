"""Calls of functions: offered to an endpoint, read from its replies, recorded and played back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from atc.engines.local import LocalEngine
from atc.models import Message, open_model
from atc.models.base import FunctionCall, FunctionSpec, ModelRequest, answer, calls_functions
from atc.models.budget import BudgetedModel
from atc.resume import recorded_completion
from protocols.errors import ModelError, UsageError
from sandbox.journal.journal import Journal
from tests.chat_endpoint import ChatEndpoint, serve, tool_call
from tests.scripted import ScriptedModel

QUESTION = [Message("system", "You answer with functions."), Message("user", "How large is Oslo?")]
FUNCTIONS = [
    FunctionSpec("find_city", "Find a city.", {"type": "object", "properties": {"name": {"type": "string"}}}),
    FunctionSpec("finish", "Give the answer.", {"type": "object", "properties": {}}),
]
CALLED = [
    *QUESTION,
    Message("assistant", "", (FunctionCall("c1", "find_city", '{"name": "Oslo"}'),)),
    Message("tool", "[1]", call_id="c1", name="find_city"),
]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatEndpoint]:
    with serve() as state:
        monkeypatch.setenv("OPENAI_BASE_URL", state.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
        yield state


def test_functions_are_offered_and_called(endpoint: ChatEndpoint) -> None:
    """Functions, earlier calls and their results are sent; several calls come back in order, text beside them."""
    calls = [tool_call("c2", "find_city", '{"name": "Bergen"}'), tool_call("c3", "find_city", '{"name": ')]
    endpoint.reply("Two more.", tool_calls=calls)
    model = open_model("openai:small")

    completion = answer(model, ModelRequest(CALLED, functions=FUNCTIONS))

    assert calls_functions(model)
    assert completion.text == "Two more."
    assert completion.finish == "tool_calls"
    assert completion.calls == (
        FunctionCall("c2", "find_city", '{"name": "Bergen"}'),
        FunctionCall("c3", "find_city", '{"name": '),
    )
    assert completion.message() == Message("assistant", "Two more.", completion.calls)
    sent = endpoint.requests[0]
    assert [(tool["type"], tool["function"]["name"]) for tool in sent["tools"]] == [
        ("function", "find_city"),
        ("function", "finish"),
    ]
    assert sent["tools"][0]["function"]["parameters"] == FUNCTIONS[0].parameters
    assert sent["messages"][2:] == [
        {"role": "assistant", "content": None, "tool_calls": [tool_call("c1", "find_city", '{"name": "Oslo"}')]},
        {"role": "tool", "content": "[1]", "tool_call_id": "c1", "name": "find_city"},
    ]


@pytest.mark.parametrize(
    ("message", "calls"),
    [
        ({"function_call": {"name": "f", "arguments": "{}"}}, [("call_2", "f", "{}")]),
        ({"function_call": None, "tool_calls": None}, []),
        ({"tool_calls": []}, []),
        ({"tool_calls": [tool_call(None, "f", {"a": "é"})]}, [("call_2", "f", '{"a": "é"}')]),
        (
            {"tool_calls": [tool_call("", "f", None), tool_call("c1", "g", "")]},
            [("call_2", "f", ""), ("call_3", "g", "")],
        ),
    ],
)
def test_calls_in_other_forms(
    endpoint: ChatEndpoint, message: dict[str, Any], calls: list[tuple[str, str, str]]
) -> None:
    """The older field, nulls, arguments as an object, and ids that are missing or used twice are understood."""
    endpoint.reply(None, **message)

    completion = answer(open_model("openai:small"), ModelRequest(CALLED, functions=FUNCTIONS))

    assert completion.text == ""
    assert [(call.id, call.name, call.arguments) for call in completion.calls] == calls


@pytest.mark.parametrize("calls", [7, ["f"], [{"id": "c2", "type": "function", "function": None}], {"f": 1}])
def test_calls_that_are_none(endpoint: ChatEndpoint, calls: object) -> None:
    """A reply whose calls name no function is one message, not a crash."""
    endpoint.reply(None, tool_calls=calls)
    with pytest.raises(ModelError, match="not with a chat completion"):
        answer(open_model("openai:small"), ModelRequest(QUESTION, functions=FUNCTIONS))


@pytest.mark.parametrize("param", [None, "tools"])
def test_an_endpoint_without_functions(endpoint: ChatEndpoint, param: str | None) -> None:
    """The message says which option does without them."""
    error = {"error": {"message": "small does not support tools", "param": param, "code": None}}
    endpoint.replies.append((400, {}, json.dumps(error)))
    with pytest.raises(ModelError, match=r"does not support tools.*--format text"):
        answer(open_model("openai:small"), ModelRequest(QUESTION, functions=FUNCTIONS))


@pytest.mark.local
@pytest.mark.parametrize(
    "request_with_functions",
    [ModelRequest(QUESTION, functions=FUNCTIONS), ModelRequest(CALLED), ModelRequest(CALLED[:3])],
)
def test_a_model_of_text_takes_no_functions(request_with_functions: ModelRequest, tmp_path: Path) -> None:
    """It is told before anything is loaded, and names the option that writes calls as text."""
    for model in (ScriptedModel("x"), LocalEngine("local:small", tmp_path / "missing.gguf")):
        assert not calls_functions(model)
        with pytest.raises(UsageError, match="cannot call functions; use --format text"):
            answer(model, request_with_functions)


def test_calls_are_recorded_and_played_back(endpoint: ChatEndpoint, tmp_path: Path) -> None:
    """The functions are part of the request, and calls come back as they were written, from a journal too."""
    file = tmp_path / "answers.jsonl"
    request = ModelRequest(CALLED, functions=FUNCTIONS)
    endpoint.reply("Two.", tool_calls=[tool_call("c2", "f", "{}"), tool_call("c3", "g", "no JSON")])
    model = BudgetedModel(open_model("openai:small", record=file, reuse=tmp_path / "reused.jsonl"), calls=9)
    asked = model.answer(request)

    replay = open_model(f"replay:{file}")
    assert answer(replay, request).calls == asked.calls
    assert calls_functions(model)
    assert calls_functions(replay)
    reusing = open_model("openai:small", reuse=tmp_path / "reused.jsonl")
    assert answer(reusing, request).calls == asked.calls
    assert len(endpoint.requests) == 1
    for changed in (replace(request, functions=FUNCTIONS[:1]), ModelRequest(CALLED), ModelRequest(QUESTION)):
        with pytest.raises(ModelError, match="no answer to the request"):
            answer(replay, changed)
    with Journal(tmp_path / "journal") as journal:
        journal.answer(0, "key", asdict(asked))
        assert recorded_completion(journal, 0, "key") == asked


def test_a_conversation_as_one_text(endpoint: ChatEndpoint, tmp_path: Path) -> None:
    """In the layout of roles a model reads the turns as a text, and goes on from there; it is recorded as such."""
    turns = [*QUESTION, Message("assistant", "\nThought: x"), Message("tool", "[1]"), Message("user", "")]
    request = ModelRequest(turns, ["\nUser:"], 50, layout="roles")
    endpoint.text = "Thought: y\nUser: z"
    file = tmp_path / "answers.jsonl"

    completion = answer(open_model("openai:small", record=file), request)

    assert completion.text == "Thought: y"
    assert completion.usage.prompt_tokens == 120
    assert endpoint.requests == [
        {
            "model": "small",
            "prompt": "System: You answer with functions.\nUser: How large is Oslo?\nAssistant: \nThought: x\n"
            "Function: [1]\nUser:\nAssistant: \n",
            "max_tokens": 50,
            "temperature": 0,
            "seed": 0,
            "stop": ["\nUser:"],
        }
    ]
    replay = open_model(f"replay:{file}")
    assert answer(replay, request).text == "Thought: y"
    with pytest.raises(ModelError, match="no answer to the request"):
        answer(replay, replace(request, layout="chat"))
    with pytest.raises(UsageError, match="cannot call functions"):
        answer(open_model("openai:small"), replace(request, functions=FUNCTIONS))
