"""What a model is given and held to, by its profile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from atc import Agent
from atc.help import check_parts
from atc.models import open_model
from atc.profile import LARGE, SMALL, TINY, open_profile, profile_of, without
from protocols import load
from protocols.errors import UsageError
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel


def test_how_strong_a_model_is_is_declared(weather: LocalAPI) -> None:
    """By the catalogue, by the model itself, or by a short context; what declares nothing is strong."""

    class Declared(ScriptedModel):
        profile = "tiny"

    class Short(ScriptedModel):
        name, profile, context = "short", "", 4096

    class Long(Short):
        context = 8192

    assert profile_of("openai:gpt-4.1") is profile_of("hf:some") is LARGE
    assert profile_of("local:qwen2.5-coder-1.5b") is SMALL
    assert profile_of("local:smollm2-135m") is profile_of("local:smollm2-135m+adapter.gguf") is TINY
    assert profile_of(Declared()) is TINY
    assert (SMALL.help, LARGE.help) == ("small", "")
    program = "```python\nprint(GET_cities()['results'][0]['name'])\n```"
    helped = {}
    for model in (Short(program), Long(program)):
        Agent(weather.protocol, model).solve("Which city?")
        helped[type(model).__name__] = model.asked[0][-1].role == "assistant"  # a program is begun for small ones
    assert helped == {"Short": True, "Long": False}


def test_a_profile_file_changes_fields_of_a_shipped_one(tmp_path: Path) -> None:
    """`base` names the shipped profile; the file's name is the profile's."""
    file = tmp_path / "mine.yaml"
    file.write_text("base: large\noutput_tokens: 2000\nhelp: small\nhelp_off: [planner]\n")

    profile = open_profile(str(file))

    assert (profile.name, profile.output_tokens) == ("mine", 2000)
    assert (profile.help, profile.help_off) == ("small", ("planner",))
    assert profile.prompt_tokens == LARGE.prompt_tokens


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("output_tokens: 10", "begins with `base: ` and one of tiny, small, large"),
        ("base: small\ntokens: 10", "has no field 'tokens'"),
        ("base: small\noutput_tokens: many", "output_tokens is 'many', and must be like 512"),
        ("base: small\ntools: 0", "tools is 0, and must be larger"),
        ("base: small\ndocumentation: short", "documentation is 'short'"),
        ("base: [", "cannot be read as a profile"),
    ],
)
def test_a_wrong_profile_file_is_a_message(text: str, error: str, tmp_path: Path) -> None:
    """It says which field is wrong."""
    file = tmp_path / "mine.yaml"
    file.write_text(text)

    with pytest.raises(UsageError, match=error.replace("[", r"\[")):
        open_profile(str(file))


def test_unknown_profiles_and_features_are_named() -> None:
    """With what there is instead."""
    with pytest.raises(UsageError, match="there is no profile 'huge': give tiny, small, large or a file"):
        open_profile("huge")
    with pytest.raises(UsageError, match="there is no feature 'magic' to leave out: check, autofix"):
        check_parts(without(SMALL, ["magic"]))
    with pytest.raises(UsageError, match="no feature 'planner' to leave out of the profile large: hints, closure"):
        without(LARGE, ["planner"])


def test_prompt_and_program_share_the_context_window() -> None:
    """Where a model tells the size of its window, both have room in it."""
    profile = LARGE.within(8_000)

    assert profile.output_tokens + profile.prompt_tokens <= 8_000
    assert LARGE.within(None) is LARGE
    assert SMALL.within(8_192) == SMALL


def test_a_strong_model_gets_full_documentation_and_room(weather: LocalAPI) -> None:
    """Its program runs as it was written, and text before the code block is no obstacle."""
    program = 'print(GET_cities(query="Oslo")["results"][0]["name"])'
    text = f"First a look:\n```python\nx = 1\n```\nNow all of it:\n```python\n{program}\n```\nDone."
    model = ScriptedModel(text)

    solution = Agent(weather.protocol, model, profile="large").solve("Which city?")

    assert (solution.answer, len(solution.attempts)) == ("Oslo", 1)
    assert model.asked[0][-1].role == "user"


def test_full_documentation_has_all_fields() -> None:
    """The small profile shows the fields that other tools take, and cuts the rest."""
    fields = {f"measure_{number}": {"type": "number"} for number in range(60)}
    response = {"description": "ok", "content": {"application/json": {"schema": {"properties": fields}}}}
    operation = {"summary": "Read a sensor", "responses": {"200": response}}
    document: dict[str, object] = {
        "openapi": "3.1.0",
        "info": {"title": "Sensors", "version": "1"},
        "paths": {"/sensor": {"get": operation}},
    }
    model = ScriptedModel()
    with Agent(load(document), model, profile="large") as strong, Agent(load(document), model) as small:
        question = "What does the sensor measure?"
        assert "measure_59" in strong.opening(question).functions
        assert "measure_59" not in small.opening(question).functions
        assert strong.opening(question).sections == ()


@pytest.mark.parametrize(("status", "size"), [(200, 8192), (404, None)])
def test_the_context_window_comes_from_the_endpoint(
    replies: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int, size: int | None
) -> None:
    """Its list of models tells the size, by one of the usual names, or nothing."""
    entry = '{"id": "m", "object": "model", "created": 0, "owned_by": "o", "max_model_len": 8192}'
    monkeypatch.setenv("OPENAI_BASE_URL", replies(status, "application/json", entry))
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    with closing(open_model("openai:m", record=tmp_path / "record.jsonl")) as model:
        assert getattr(model, "context", 0) == size
