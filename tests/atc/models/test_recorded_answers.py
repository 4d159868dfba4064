"""What a model answered is kept in a file, and played back without the model."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from atc.models import Message, Model, open_model
from atc.models.base import request_hash
from protocols.errors import ModelError, UsageError
from tests.chat_endpoint import KEY, ChatEndpoint
from tests.scripted import ScriptedModel, sample

QUESTION = [Message("system", "You write Python."), Message("user", "Write a function add(a, b).")]
PREFILLED = [*QUESTION, Message("assistant", "The program:\n```python\n")]


def recorded(model: Model, file: Path) -> Model:
    from atc.models.replay import Recorder

    return Recorder(model, file)


def test_what_was_recorded_is_played_back(tmp_path: Path) -> None:
    """The same requests give the same answers with the same counts, and no model is asked."""
    file = tmp_path / "answers.jsonl"
    model = recorded(ScriptedModel("zwölf\n", "two"), file)
    completions = [model.complete(QUESTION), model.complete(PREFILLED, stop=["```"])]

    replay = open_model(f"replay:{file}")

    assert [replay.complete(PREFILLED, stop=["```"]).text, replay.complete(QUESTION).text] == ["two", "zwölf\n"]
    again = replay.complete(QUESTION).usage
    assert (again.prompt_tokens, again.completion_tokens, again.cached_tokens, again.model_calls) == (100, 20, 50, 1)
    assert completions[0].usage.seconds == 0.01


def test_a_record_may_be_compressed_and_without_messages(tmp_path: Path) -> None:
    """What others may not see of prompts is left out; a damaged file is named."""
    file = tmp_path / "answers.jsonl.gz"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "cached_tokens": 0}
    entry = {"hash": request_hash(QUESTION, (), 1024), "model": "frontier", "text": "print(1)", "finish": "stop"}
    file.write_bytes(gzip.compress(json.dumps({**entry, "usage": usage}).encode()))

    assert open_model(f"replay:{file}").complete(QUESTION).text == "print(1)"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(ModelError, match="cannot read recorded answers"):
        open_model(f"replay:{file}")


def test_a_request_recorded_twice_is_answered_in_order(tmp_path: Path) -> None:
    """First answer first; after the last one it stays with that."""
    file = tmp_path / "answers.jsonl"
    model = recorded(ScriptedModel("first", "second"), file)
    model.complete(QUESTION)
    model.complete(QUESTION)

    replay = open_model(f"replay:{file}")

    assert [replay.complete(QUESTION).text for _ in range(3)] == ["first", "second", "second"]


def test_a_request_that_was_not_recorded_names_its_hash(tmp_path: Path) -> None:
    """Every part of the request counts; a miss is exit 5 with the hash and the file."""
    file = tmp_path / "answers.jsonl"
    recorded(ScriptedModel("x"), file).complete(QUESTION, stop=["```"], max_tokens=10)
    replay = open_model(f"replay:{file}")

    for stop, limit in (((), 10), (("```",), 11)):
        with pytest.raises(ModelError) as caught:
            replay.complete(QUESTION, stop=stop, max_tokens=limit)
        assert request_hash(QUESTION, stop, limit) in str(caught.value)
        assert str(file) in str(caught.value)
        assert caught.value.exit_code == 5


def test_what_is_recorded_is_not_asked_again(endpoint: ChatEndpoint, tmp_path: Path) -> None:
    """A second run asks only what is new to it and adds that; answers drawn at random are each played once."""
    file = tmp_path / "answers.jsonl"
    first = open_model("openai:small", reuse=file)
    completions = [first.complete(QUESTION), sample(first, PREFILLED, seed=1)]
    assert len(endpoint.requests) == 2

    second = open_model("openai:small", reuse=file)
    again = [second.complete(QUESTION) for _ in range(2)] + [sample(second, PREFILLED, seed=1)]
    assert len(endpoint.requests) == 2
    assert [answer.text for answer in again] == [completions[0].text, completions[0].text, completions[1].text]
    assert again[0].usage.prompt_tokens == completions[0].usage.prompt_tokens

    sample(second, PREFILLED, seed=2)
    second.complete(QUESTION, max_tokens=7)
    assert len(endpoint.requests) == 4
    assert len(file.read_text().splitlines()) == 4


def test_what_another_model_said_is_no_answer_of_this_one(endpoint: ChatEndpoint, tmp_path: Path) -> None:
    """A record may hold answers of several models; each run takes those of its own."""
    file = tmp_path / "answers.jsonl"
    for name in ("openai:small", "openai:large", "openai:large"):
        open_model(name, reuse=file).complete(QUESTION)
    assert len(endpoint.requests) == 2
    assert [json.loads(line)["model"] for line in file.read_text().splitlines()] == ["openai:small", "openai:large"]


def test_the_hash_of_a_request_never_changes() -> None:
    """Records stay good: this hash is written in files that people keep."""
    hashed = request_hash([Message("user", "h\u00e9")], ["```"], 5)
    assert hashed == "2d1dcb54ecc6232da0873491ac7ac203ff69b409b65d196300b4082b28801aa2"


def test_a_recording_holds_no_times(tmp_path: Path) -> None:
    """Two recordings of the same answers are the same bytes."""
    for name in ("one", "two"):
        recorded(ScriptedModel("x"), tmp_path / name).complete(QUESTION)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_an_open_endpoint_is_recorded(endpoint: ChatEndpoint, tmp_path: Path) -> None:
    """`record=` keeps what an endpoint said; the file has no key and plays back without the endpoint."""
    file = tmp_path / "answers.jsonl"
    completions = open_model("openai:small", record=file).complete(PREFILLED, stop=["```"])

    assert open_model(f"replay:{file}").complete(PREFILLED, stop=["```"]).text == completions.text
    assert KEY not in file.read_text()
    assert len(endpoint.requests) == 1


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    """No such record is exit 5; a file that is something else, or cannot be written, is a usage error."""
    with pytest.raises(ModelError, match="cannot read recorded answers"):
        open_model(f"replay:{tmp_path / 'missing.jsonl'}")
    (tmp_path / "other.jsonl").write_text('{"hash": "x"}\n')
    with pytest.raises(UsageError, match=r"other\.jsonl, line 1"):
        open_model(f"replay:{tmp_path / 'other.jsonl'}")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(UsageError, match="cannot record"):
        open_model(f"replay:{tmp_path / 'empty.jsonl'}", record=tmp_path / "no" / "folder.jsonl")
