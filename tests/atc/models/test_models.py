"""Language models: whoever answers, a caller sees one interface, honest counts, and one clear message on failure."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import traceback
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from atc import Agent, Endpoint
from atc.apps.cli import main
from atc.engines import files
from atc.models import DEFAULT_MODEL, Message, default_model, open_model
from atc.models.base import ModelRequest, answer
from protocols import load
from protocols.errors import ModelError, UsageError
from protocols.extras import install_command
from protocols.samples import sample as api
from tests.chat_endpoint import KEY, ChatEndpoint, completion, serve

_CODED = base64.b64encode(f"Bearer {KEY}".encode()).decode()
QUESTION = [Message("system", "You write Python."), Message("user", "Write a function add(a, b).")]
PREFILLED = [*QUESTION, Message("assistant", "The program:\n```python\n")]


# Names


def test_the_default_model_is_the_small_local_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ATC_MODEL` names another one."""
    assert default_model() == DEFAULT_MODEL == "local:qwen2.5-coder-1.5b"
    monkeypatch.setenv("ATC_MODEL", "openai:gpt-4.1")
    assert default_model() == "openai:gpt-4.1"


@pytest.mark.parametrize("name", ["my-model", "vendor:small", "openai:", "local"])
def test_a_name_without_a_known_scheme_lists_what_there_is(name: str) -> None:
    """Exit 2, and the message has every form that works."""
    with pytest.raises(UsageError, match=r"give local:qwen2.+, or one of anthropic:…, google:…, hf:…, .+, replay:…"):
        open_model(name)


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("gpt-4.1", "openai:gpt-4.1"),
        ("o3", "openai:o3"),
        ("opneai:gpt-4.1", "openai:gpt-4.1"),
        ("claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("gemini-2.5-pro", "google:gemini-2.5-pro"),
        ("mistral-large-latest", "mistral:mistral-large-latest"),
        ("qwen3:8b", "ollama:qwen3:8b"),
    ],
)
def test_what_a_name_without_a_prefix_may_mean(name: str, guess: str) -> None:
    """It is told before the document is fetched: here there is none."""
    with pytest.raises(UsageError, match=f"{re.escape(repr(name))} names no model; did you mean {re.escape(guess)}\\?"):
        Agent.from_openapi("http://127.0.0.1:9/openapi.yaml", model=name)


def test_the_command_checks_the_name_of_a_model_first() -> None:
    """Whether it is an option, a variable or the default: no document is read, and no API asked."""
    command = ["solve", "Who?", "--api", "http://127.0.0.1:9/openapi.yaml"]
    result = CliRunner().invoke(main, command, env={"ATC_MODEL": "claude-sonnet-4-5"})

    assert result.exit_code == 2
    assert "did you mean anthropic:claude-sonnet-4-5?" in result.stderr


def test_a_provider_without_its_extra_is_told_first(tmp_path: Path) -> None:
    """Exit 5 and what to install, before a document is read."""
    program = (
        "import sys\nsys.modules['any_llm'] = None\nfrom atc.apps.cli import main\n"
        "main(['solve', 'Who?', '--api', 'http://127.0.0.1:9/api.yaml', '--model', 'anthropic:small'])"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert process.returncode == 5
    assert f"anthropic:small needs the extra `providers`: {install_command('providers')}" in process.stderr


# OpenAI-compatible endpoints

STREAMED = {"stream", "stream_options"}


def test_an_endpoint_answers_and_counts(endpoint: ChatEndpoint) -> None:
    """The request is greedy and seeded, the key goes along, and tokens read from the cache are counted as such."""
    model = open_model("openai:small", seed=7)

    answer = model.complete(QUESTION, stop=["```"], max_tokens=50)

    assert answer.text == endpoint.text
    assert answer.finish == "stop"
    usage = answer.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.model_calls) == (120, 12, 100, 1)
    assert usage.seconds > 0
    assert endpoint.keys == [f"Bearer {KEY}"]
    assert endpoint.requests == [
        {
            "model": "small",
            "messages": [
                {"role": "system", "content": "You write Python."},
                {"role": "user", "content": "Write a function add(a, b)."},
            ],
            "max_tokens": 50,
            "temperature": 0,
            "seed": 7,
            "stop": ["```"],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]


def test_an_answer_is_seen_as_it_comes(endpoint: ChatEndpoint) -> None:
    """It is streamed where the endpoint does that, and counted as before."""
    endpoint.pieces = ("print", "(1", ")")
    seen: list[str] = []

    done = answer(
        open_model("openai:small"), ModelRequest(QUESTION, on_progress=lambda progress: seen.append(progress.text))
    )

    assert (done.text, done.finish, done.usage.prompt_tokens) == ("print(1)", "stop", 120)
    assert seen[:3] == ["print", "print(1", "print(1)"]


def test_a_content_may_come_in_parts(endpoint: ChatEndpoint) -> None:
    """The text of its parts is the answer, streamed or not; counts and ends of another type do no harm."""
    parts = [
        {"type": "thinking", "thinking": "A film."},
        {"type": "text", "text": "print("},
        {"type": "text", "text": "1)"},
    ]
    whole = {**completion(None, content=parts), "usage": {"prompt_tokens": "12"}}
    whole["choices"][0]["finish_reason"] = 5
    chunk = json.dumps({"choices": [{"index": 0, "delta": {"content": parts}, "finish_reason": "stop"}]})
    stream = (200, {"Content-Type": "text/event-stream"}, f"data: {chunk}\n\n")
    endpoint.replies = [(200, {}, json.dumps(whole)), stream]

    answers = [open_model("openai:small").complete(QUESTION) for _ in range(2)]

    assert [answer.text for answer in answers] == ["print(1)"] * 2
    assert (answers[0].usage.prompt_tokens, answers[0].finish) == (0, "5")


@pytest.mark.parametrize(
    "events",
    [
        ["[DONE]"],
        ['{"choices": null}', "[DONE]"],
        ['{"choices": [{"index": 0, "delta": null, "finish_reason": null}]}', "[DONE]"],
        ['{"choices": [{"delta": {"content": 5}}]}', "[DONE]"],
        ["5", "[DONE]"],
        ["no JSON", "[DONE]"],
    ],
)
def test_a_stream_of_something_else_is_no_answer(endpoint: ChatEndpoint, events: list[str]) -> None:
    """Whatever comes, it ends with a sentence that names the endpoint."""
    body = "".join(f"data: {event}\n\n" for event in events)
    endpoint.replies = [(200, {"Content-Type": "text/event-stream"}, body)]

    with pytest.raises(ModelError, match=r"127\.0\.0\.1"):
        open_model("openai:small").complete(QUESTION)


def test_only_silence_ends_the_wait(endpoint: ChatEndpoint) -> None:
    """An answer may take longer than the limit if something of it comes."""
    endpoint.pieces, endpoint.pause = ("a",) * 4, 0.2

    assert Endpoint("small", base_url=endpoint.url, silence=0.7).complete(QUESTION).text == "aaaa"


def test_several_endpoints_in_a_process(endpoint: ChatEndpoint) -> None:
    """Each has its own address and key; the key of the environment goes to no other address."""
    with serve() as other:
        mine = Endpoint("mine", base_url=other.url, api_key="sk-other-0123456789")
        Endpoint("open", base_url=other.url).complete(QUESTION)
        mine.complete(QUESTION)
        open_model("openai:small").complete(QUESTION)

        assert (mine.name, other.keys) == ("openai:mine", ["Bearer none", "Bearer sk-other-0123456789"])
        assert endpoint.keys == [f"Bearer {KEY}"]


@pytest.mark.parametrize(
    ("reply", "stop", "text"),
    [
        ("The program:\n```python\nx = 1\n```\nDone.", "```", "x = 1\n"),
        ("Here it is.\n```python\nx = 1\n```\nDone.", "```", "x = 1\n"),
        ("x = 1\n```", "```", "x = 1\n"),
        ("x = 1\n", "```", "x = 1\n"),
        ("Here it is:\n```python\nx = 1\n```", "\n```", "x = 1"),  # a stop that the opening nearly holds
    ],
)
def test_a_prefill_becomes_a_request(endpoint: ChatEndpoint, reply: str, stop: str, text: str) -> None:
    """The format has no prefill: it is asked for, and the answer is what comes after it, however it was repeated."""
    endpoint.text = reply

    answer = open_model("openai:small").complete(PREFILLED, stop=[stop])

    assert answer.text == text
    sent = endpoint.requests[0]
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert sent["messages"][1]["content"].startswith("Write a function add(a, b).\n")
    assert sent["messages"][1]["content"].endswith("The program:\n```python\n")
    assert "stop" not in sent  # it would end the answer at the opened block that the answer repeats


def test_a_parameter_that_is_refused_is_left_out(endpoint: ChatEndpoint) -> None:
    """Newer models want another name for the token limit and no temperature; that is found out once."""
    endpoint.refuses = {"max_tokens", "temperature", "stop"}
    endpoint.text = "x = 1\n```\nThis sets x."
    model = open_model("openai:small")

    first, second = model.complete(QUESTION, stop=["```"], max_tokens=9), model.complete(QUESTION, stop=["```"])

    assert first.text == second.text == "x = 1\n"
    assert len(endpoint.requests) == 5
    assert endpoint.requests[3].keys() - STREAMED == {"model", "messages", "seed", "max_completion_tokens"}
    assert endpoint.requests[3]["max_completion_tokens"] == 9


def test_a_busy_endpoint_is_asked_again(endpoint: ChatEndpoint) -> None:
    """429 and 503 are waited out."""
    endpoint.replies = [(429, {"retry-after-ms": "1"}, "{}"), (503, {"retry-after-ms": "1"}, "{}")]

    assert open_model("openai:small").complete(QUESTION).text == endpoint.text
    assert len(endpoint.requests) == 3


def test_an_endpoint_that_counts_nothing(endpoint: ChatEndpoint) -> None:
    """No usage in the reply: zeros, and still one call; `finish` tells a cut answer from a whole one."""
    endpoint.replies = [(200, {}, json.dumps({**completion("def add(", finish="length"), "usage": None}))]
    cut = open_model("openai:small").complete(QUESTION)

    assert (cut.usage.prompt_tokens, cut.usage.completion_tokens, cut.usage.model_calls) == (0, 0, 1)
    assert cut.finish == "length"


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (401, f'{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}', "refuses OPENAI_API_KEY"),
        (404, '{"error": {"message": "The model `small` does not exist"}}', "has no model 'small'"),
        (400, f'{{"error": {{"message": "bad request by {KEY}"}}}}', "status 400"),
        (400, f'{{"error": {{"message": "header {_CODED} is bad\\nby {quote(KEY)}!"}}}}', "status 400"),
        (200, "<html><body>Welcome to the login page</body></html>", "not with a chat completion"),
        (200, '{"status": "ok"}', "not with a chat completion"),
        (200, "null", "not with a chat completion"),
        (200, '{"choices": [1]}', "not with a chat completion"),
        (200, '{"choices": {"a": 1}}', "not with a chat completion"),
        (200, '{"choices": [{"message": "hello"}]}', "not with a chat completion"),
        (400, '{"error": {"param": ["stop"], "message": "no"}}', "status 400"),
    ],
)
def test_an_endpoint_that_gives_no_answer(endpoint: ChatEndpoint, status: int, body: str, says: str) -> None:
    """One message with the reason and exit 5; the key is never in it, not even when the endpoint repeats it."""
    endpoint.replies = [(status, {}, body)]

    with pytest.raises(ModelError) as caught:
        open_model("openai:small").complete(QUESTION)

    assert says in str(caught.value)
    assert endpoint.url in str(caught.value)
    assert caught.value.exit_code == 5
    assert "\n" not in str(caught.value)
    assert not [form for form in (KEY, _CODED, KEY[3:-3]) if form in str(caught.value)]
    assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("code", ["context_length_exceeded", "content_filter"])
def test_an_endpoint_that_refuses_one_conversation(endpoint: ChatEndpoint, code: str) -> None:
    """It may take the next one: the question has no answer, with status limit, and nothing else stops."""
    refusal = {"error": {"message": "not this one", "code": code}}
    endpoint.replies = [(400, {}, json.dumps(refusal))]
    endpoint.text = "```python\nprint(GET_films_top_rated()['films'][0]['title'])\n```"
    with Agent(load(api("cinema")), simulate=True, model="openai:small") as agent:
        solutions = [agent.solve("What is the best film?") for _ in range(2)]

    assert [solution.status for solution in solutions] == ["limit", "answered"]
    assert "not this one" in solutions[0].message


def test_an_endpoint_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens: the message names the place."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ModelError, match=r"http://127\.0\.0\.1:9/v1 cannot be reached"):
        open_model("openai:small").complete(QUESTION)


@pytest.mark.parametrize(
    ("key", "url", "says"),
    [
        ("sk-1\u20112", "http://127.0.0.1:9/v1", r"api_key for openai:small has a letter that no header takes"),
        ("sk-1\n2", "http://127.0.0.1:9/v1", r"api_key for openai:small has a letter that no header takes"),
        (None, None, "openai:small needs a key: set OPENAI_API_KEY"),
    ],
)
def test_a_bad_key_is_told_when_the_model_is_opened(
    monkeypatch: pytest.MonkeyPatch, key: str | None, url: str | None, says: str
) -> None:
    """As after copying it from a page; the message does not hold it. OpenAI itself needs one."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelError, match=says) as caught:
        Endpoint("small", base_url=url, api_key=key)
    assert "sk-" not in str(caught.value)


def test_an_endpoint_of_ones_own_needs_no_key(endpoint: ChatEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on one's own machine is asked without a real key."""
    monkeypatch.delenv("OPENAI_API_KEY")
    model = open_model("openai:small")
    assert model.complete(QUESTION).text == endpoint.text
    model.close()
    model.close()
    assert model.complete(QUESTION).text == endpoint.text


# transformers


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of a few thousand random weights, and a tokenizer that knows single characters."""
    import tokenizers
    import torch
    import transformers

    torch.manual_seed(0)
    letters = [chr(code) for code in range(32, 127)] + ["\n"]
    vocabulary = {text: number for number, text in enumerate(["<end>", "<unknown>", *letters])}
    core = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unknown>"))
    core.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    core.decoder = tokenizers.decoders.Fuse()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<end>", unk_token="<unknown>", clean_up_tokenization_spaces=False
    )
    config = transformers.LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=256,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=0,
    )
    folder = tmp_path_factory.mktemp("model")
    tokenizer.save_pretrained(folder)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.mark.hf
def test_a_model_folder_answers(tiny: Path) -> None:
    """Any causal model works without a chat template; the answer is greedy, so it stays the same, and is counted."""
    model = open_model(f"hf:{tiny}")

    first, second = model.complete(QUESTION, max_tokens=8), model.complete(QUESTION, max_tokens=8)

    assert first.text == second.text != ""
    assert first.usage.prompt_tokens == len("You write Python.\n\nWrite a function add(a, b).\n\n")
    assert (first.usage.completion_tokens, first.usage.model_calls, first.finish) == (8, 1, "length")
    with pytest.raises(ModelError, match=r"has 302 tokens, and 10 are kept for the answer; hf:.* can hold 256"):
        model.complete([Message("user", "x" * 300)], max_tokens=10)


@pytest.mark.hf
def test_a_model_folder_stops_where_it_is_told(tiny: Path) -> None:
    """A stop sequence ends the answer, is not part of it, and spares the tokens after it."""
    model = open_model(f"hf:{tiny}")
    whole = model.complete(PREFILLED, max_tokens=20).text
    stop = whole[3:5]

    answer = model.complete(PREFILLED, stop=[stop], max_tokens=20)

    assert answer.text == whole[: whole.index(stop)]
    assert answer.finish == "stop"
    assert answer.usage.completion_tokens < 20


@pytest.mark.hf
def test_a_chat_template_is_used(tiny: Path, tmp_path: Path) -> None:
    """Where the tokenizer has a template it writes the prompt, and a prefill stands at its very end."""
    folder = tmp_path / "with-template"
    shutil.copytree(tiny, folder)
    (folder / "chat_template.jinja").write_text(
        "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{% if add_generation_prompt %}[me]{% endif %}"
    )
    model = open_model(f"hf:{folder}")

    prefilled = model.complete(PREFILLED, max_tokens=4).usage.prompt_tokens

    rendered = "[system]You write Python.[user]Write a function add(a, b).[me]The program:\n```python\n"
    assert prefilled == len(rendered)


@pytest.mark.hf
def test_folders_that_hold_no_model(tiny: Path, tmp_path: Path) -> None:
    """A wrong folder is told at once, a damaged one when it is loaded; both in one sentence."""
    with pytest.raises(ModelError, match=r"no config\.json"):
        open_model(f"hf:{tmp_path}")
    with pytest.raises(ModelError, match="there is no model folder"):
        open_model(f"hf:{tmp_path / 'missing'}")
    (tmp_path / "config.json").write_text("{}")
    torn, listed = (Path(shutil.copytree(tiny, tmp_path / name)) for name in ("torn", "listed"))
    (torn / "model.safetensors").write_bytes(b"torn")
    (listed / "generation_config.json").write_text("[1]")
    for folder in (tmp_path, torn, listed):
        with pytest.raises(ModelError, match=f"transformers cannot load hf:{folder}: .*; if {folder} is dam") as caught:
            open_model(f"hf:{folder}").complete(QUESTION)
        assert "\n" not in str(caught.value)


# The local engine


ASK_LOCAL_MODEL = """
from atc.models import Message, open_model
from protocols.errors import ModelError
try:
    open_model().complete([Message('user', 'Hello')])
except ModelError as error:
    print(error)
"""


@pytest.mark.parametrize("library", ["there", "missing"])
def test_a_local_model_that_cannot_be_loaded_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    """A file that is no model, and a bare machine without libgomp: a way out, and no word of the engine itself."""
    monkeypatch.setenv("ATC_HOME", str(tmp_path))
    file = tmp_path / "models" / files.CATALOGUE[0].file
    file.parent.mkdir()
    file.write_bytes(b"GGUF" + bytes(1000))
    says = [f"the local engine could not load {file} (1,004 bytes)"]
    if library == "missing":
        (tmp_path / "xllamacpp.py").write_text("raise ImportError('libgomp.so.1: cannot open shared object file')\n")
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
        says = ["libgomp.so.1: cannot open shared object file", "apt install libgomp1"]
    process = subprocess.run([sys.executable, "-c", ASK_LOCAL_MODEL], capture_output=True, text=True, timeout=60)

    assert (process.returncode, process.stderr, process.stdout.count("\n")) == (0, "", 1)
    assert [text for text in says if text not in process.stdout] == []
