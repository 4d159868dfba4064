"""Models of providers with an API of their own: the real library asks a server that speaks the provider's format."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from atc import Agent
from atc.models import Message, open_model
from atc.models.base import FunctionSpec, ModelRequest, Progress, answer
from protocols import load
from protocols.errors import ModelError, PromptRefused
from protocols.samples import sample
from tests.provider_api import VARIABLES, ProviderAPI, serve_provider

KEY = "key-0123456789-very-secret"
QUESTION = [Message("system", "You write Python."), Message("user", "Print 1.")]
FORECAST = FunctionSpec(
    "forecast", "The weather of a day.", {"type": "object", "properties": {"day": {"type": "integer"}}}
)
PROVIDERS = sorted(VARIABLES)

Start = Callable[[str], ProviderAPI]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts the API of a provider, and names it and a key where the provider's client looks for them."""
    with ExitStack() as closing:

        def serve(provider: str) -> ProviderAPI:
            state = closing.enter_context(serve_provider(provider))
            address, key = VARIABLES[provider]
            monkeypatch.setenv(address, state.url)
            monkeypatch.setenv(key, KEY)
            return state

        yield serve


pytestmark = pytest.mark.providers


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_answers_and_counts(start: Start, provider: str) -> None:
    """The text is seen as it comes, thoughts apart; the tokens are counted, and the key goes along."""
    api = start(provider)
    api.thoughts = "One line will do."
    seen: list[Progress] = []

    done = answer(open_model(f"{provider}:small"), ModelRequest(QUESTION, ["END"], 50, on_progress=seen.append))

    assert (done.text, done.finish) == ("print(1)", "stop")
    assert (done.usage.prompt_tokens, done.usage.completion_tokens, done.usage.model_calls) == (120, 12, 1)
    assert done.usage.cached_tokens == (100 if provider == "anthropic" else 0)
    assert [progress.text for progress in seen if progress.text][:1] == ["prin"]
    assert seen[-1].reasoning == api.thoughts
    request = json.dumps(api.requests)
    assert "You write Python." in request and '"END"' in request and "50" in request
    assert KEY not in request
    assert [value for value in api.headers[0].values() if KEY in value]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_calls_functions(start: Start, provider: str) -> None:
    """A call comes in the provider's form, and its result goes back in that form."""
    api = start(provider)
    api.function = "forecast"
    model = open_model(f"{provider}:small")

    called = answer(model, ModelRequest(QUESTION, functions=[FORECAST]))
    (call,) = called.calls
    api.function, api.text = "", "It rains."
    result = Message("tool", '{"sky": "rain"}', call_id=call.id, name="forecast")
    done = answer(model, ModelRequest([*QUESTION, called.message(), result], functions=[FORECAST]))

    assert (call.name, json.loads(call.arguments), called.text) == ("forecast", {"day": 1}, "print(1)")
    assert done.text == "It rains."
    assert '"forecast"' in json.dumps(api.requests[0])
    assert "rain" in json.dumps(api.requests[1])


def test_what_all_questions_share_is_marked_for_the_provider(start: Start) -> None:
    """Anthropic keeps what a request marks: the instructions and the functions of a small API, not the question."""
    api = start("anthropic")
    api.text = '```python\nprint(GET_films()["totalCount"])\n```'
    questions = ("When did Dune come out?", "Who directed Dune?")

    with Agent(load(sample("cinema")), open_model("anthropic:small"), profile="large", simulate=True) as agent:
        for question in questions:
            agent.solve(question)

    contents = [request["messages"][-1]["content"] for request in api.requests]
    (first, *_), (second, *_) = contents
    assert first == second
    assert first["cache_control"] == {"type": "ephemeral"} and "def GET_films(" in first["text"]
    assert [rest for _, *rest in contents] == [
        [{"type": "text", "text": f"\n\nQuestion: {question}"}] for question in questions
    ]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_half_a_stream_of_a_provider_is_no_answer(start: Start, provider: str) -> None:
    """It is told how far the answer came."""
    start(provider).ends = False

    with pytest.raises(ModelError, match=rf"^{provider}:small .*(broke off|no answer)"):
        open_model(f"{provider}:small").complete(QUESTION)


def test_a_client_that_takes_long_to_load_is_no_silence(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clients of some providers take half a second, and more on a busy machine."""
    from any_llm import AnyLLM

    start("mistral")
    create = AnyLLM.create

    def create_slowly(*arguments: object, **options: object) -> object:
        time.sleep(2.1)
        return create(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(AnyLLM, "create", create_slowly)

    assert open_model("mistral:small", silence=2).complete(QUESTION).text == "print(1)"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_silence_of_a_provider_ends_the_wait(start: Start, provider: str) -> None:
    """The limit counts from the last part on, and the connection is closed."""
    api = start(provider)
    api.hangs = True

    with pytest.raises(ModelError, match=rf"{provider}:small was silent for 0\.5 seconds"):
        open_model(f"{provider}:small", silence=0.5).complete(QUESTION)
    assert api.closed.wait(60)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "says"),
    [(401, "refuses the key"), (404, "has no model"), (400, "answers with status 400: "), (403, "refuses the key")],
)
def test_what_a_provider_refuses_is_one_sentence(start: Start, provider: str, status: int, says: str) -> None:
    """One line with the reason and exit 5; the key is never in it, not even when the provider repeats it."""
    api = start(provider)
    api.status, api.error = status, f"no way with {KEY}"

    with pytest.raises(ModelError) as caught:
        open_model(f"{provider}:small").complete(QUESTION)

    assert says in str(caught.value)
    assert f"{provider}:small" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 5
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_conversation_that_is_too_long_for_a_provider(start: Start) -> None:
    """It is refused alone; other questions go on."""
    api = start("anthropic")
    api.status, api.error = 400, "prompt is too long: 300000 tokens > 200000 maximum"

    with pytest.raises(PromptRefused, match="prompt is too long"):
        open_model("anthropic:small").complete(QUESTION)


def test_a_parameter_that_a_provider_refuses_is_left_out(start: Start) -> None:
    """That is found out once."""
    api = start("anthropic")
    api.refuses = "temperature"
    model = open_model("anthropic:small")

    assert [model.complete(QUESTION).text for _ in range(2)] == ["print(1)", "print(1)"]
    assert ["temperature" in request for request in api.requests] == [True, False, False]


def test_ollama_is_told_how_much_room_a_conversation_needs(start: Start) -> None:
    """By default it reads a part of a long one, and says nothing."""
    api = start("ollama")
    for text in ("Hi", "word " * 10_000):
        open_model("ollama:small").complete([Message("user", text)])

    assert [request["options"]["num_ctx"] for request in api.requests] == [8_192, 24_576]


def test_a_provider_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens."""
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")

    with pytest.raises(ModelError, match=r"ollama:small gives no answer: .*connect"):
        open_model("ollama:small").complete(QUESTION)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("anthropic:small", "set ANTHROPIC_API_KEY"),
        ("google:small", "set GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("deepseek:small", "set DEEPSEEK_API_KEY"),
        ("groq:small", r"needs the provider's own client: .*pip install .*'any-llm-sdk\[groq\]'"),
    ],
)
def test_what_a_provider_lacks_is_told_when_the_model_is_opened(
    monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    """A key by its variable, a client by its package; providers are those of the library."""
    for _, key in VARIABLES.values():
        monkeypatch.delenv(key, raising=False)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)

    with pytest.raises(ModelError, match=says):
        open_model(name)


def test_a_provider_in_a_notebook(start: Start) -> None:
    """An event loop that runs already, as a notebook's does, is not in the way."""
    start("ollama")
    program = (
        "import asyncio\nfrom atc.models import Message, open_model\n"
        "async def cell():\n    print(open_model('ollama:small').complete([Message('user', 'Hi')]).text)\n"
        "asyncio.run(cell())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=dict(os.environ))

    assert (done.stdout, done.stderr) == ("print(1)\n", "")


def test_a_question_is_answered_by_a_provider(start: Start) -> None:
    """A whole solve, with a note and a program."""
    api = start("anthropic")
    api.text = "Rated best.\n```python\nprint(GET_films_top_rated()['films'][0]['title'])\n```"
    with Agent(load(sample("cinema")), simulate=True, model="anthropic:small") as agent:
        solution = agent.solve("What is the best film?")

    assert (solution.status, solution.note) == ("answered", "Rated best.")
    assert solution.usage.prompt_tokens == 120
