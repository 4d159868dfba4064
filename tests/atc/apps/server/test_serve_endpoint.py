"""`atc serve` with an OpenAI-compatible endpoint that we did not write: llama.cpp's own server, as vLLM would be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atc.engines import files
from atc.engines.local import Engine
from tests.atc.apps.server.serving import start_serving
from tests.local_api import LocalAPI, document


@pytest.mark.model
def test_the_server_asks_an_endpoint_of_llama_cpp(tmp_path: Path) -> None:
    """The endpoint is asked by `openai:NAME` with OPENAI_BASE_URL; its tokens are counted in the Solution."""
    smallest = min((files.path(model.name) for model in files.installed()), key=lambda file: file.stat().st_size)
    engine = Engine(smallest, 4096)
    key = engine._headers["Authorization"].removeprefix("Bearer ")
    spec = tmp_path / "weather.json"
    with LocalAPI() as api:
        api.answer("GET", "/cities/oslo", {"id": "oslo", "name": "Oslo", "population": 700_000})
        spec.write_text(json.dumps(document(api.url)))
        options = ["--api", str(spec), "--base-url", api.url, "--model", "openai:local", "--profile", "tiny"]
        options += ["--auth", "bearer:env:CITY_TOKEN", "--max-reflections", "0"]
        options += ["--only", "/cities/*"]
        environment = {"OPENAI_BASE_URL": f"{engine.url}/v1", "OPENAI_API_KEY": key, "CITY_TOKEN": "token-0123456789"}
        with start_serving(tmp_path, options, environment) as serving, serving.client() as client:
            query = "What is the population of the city with the id oslo?"
            solution = client.post("/v1/solve", json={"query": query}, timeout=600).json()
    engine.stop()

    assert solution["status"] != "model_error", solution["message"]
    assert solution["usage"]["model_calls"] >= 1
    assert solution["usage"]["prompt_tokens"] > 100 and solution["usage"]["completion_tokens"] > 1
