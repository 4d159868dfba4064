"""The main job with nothing replaced: real local model, real HTTP, real sandbox, a question it has never seen."""

from __future__ import annotations

import pytest

from atc import Agent
from protocols import load
from protocols.samples import sample

MODEL = "local:qwen2.5-coder-1.5b"


@pytest.mark.model
@pytest.mark.timeout(600)
def test_the_local_model_answers_a_question_about_a_simulated_api() -> None:
    """The model picks the right one of fifteen tools and prints the field that was asked for."""
    with Agent(load(sample("cinema")), model=MODEL, simulate=True) as agent:
        solution = agent.solve("What is the title of the top rated film?")

    assert solution.status == "answered", solution.message
    top = next(call.response for call in solution.calls if call.tool == "GET_films_top_rated")
    assert isinstance(top, dict)
    assert solution.answer is not None
    assert top["films"][0]["title"] in solution.answer
    assert solution.usage.prompt_tokens > 500
