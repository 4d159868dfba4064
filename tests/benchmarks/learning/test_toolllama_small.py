"""The whole way of ToolLLaMA, in small: split, annotate, tune, and measure with retrieved APIs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from tests.benchmarks.learning.tiny_llama import make_llama, write_gguf

CALL = 'Thought: The tide is needed.\nAction: get_tide_for_harbour_tides(port_code="ESB")'
FINISH = 'Thought: That is all.\nAction: finish(answer="High water is at noon.")'


def query(number: int) -> dict[str, Any]:
    """A query about one of six tools, with two APIs."""
    tool = {"category_name": f"Sea {number % 6}", "tool_name": "Harbour Tides", "method": "GET"}
    port = {"name": "Port Code", "type": "STRING", "description": "Its code", "default": "ESB"}
    empty: dict[str, Any] = {"required_parameters": [], "optional_parameters": []}
    return {
        "query": f"When is high water at pier {number}?",
        "query_id": number,
        "api_list": [
            {**tool, **empty, "api_name": "Get Tide", "required_parameters": [port]},
            {**tool, **empty, "api_name": "Get Depth"},
        ],
        "relevant APIs": [["Harbour Tides", "Get Tide"]],
    }


def atc(*arguments: object) -> str:
    """What a command writes; it has to succeed."""
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output + repr(done.exception)
    return done.stdout


@pytest.mark.train
def test_from_queries_to_a_tuned_model_that_is_measured(tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """Each command takes what the one before it wrote; the tuned model is measured without a judge."""
    import torch

    torch.set_num_threads(1)
    queries, parts, solved = tmp_path / "queries.json", tmp_path / "parts", tmp_path / "solved"
    queries.write_text(json.dumps([query(number) for number in range(6)]))
    base, out = tmp_path / "base.gguf", tmp_path / "tuned"
    write_gguf(make_llama(context=4096), base)
    endpoint(*[CALL, FINISH] * 6)

    atc("toolbench", "split", queries, "--by", "query", "--out", parts)
    annotation = ("--mode", "react", "--calls", "text", "--model", "openai:scripted", "--out", solved)
    kept = json.loads(atc("toolbench", "annotate", parts / "train.json", "--simulate", *annotation, "--json"))["kept"]
    data = solved / "toolllama.json"
    fields = {"base": base, "data": data, "out": out, "layout": "roles", "loss_on": "last", "max_length": 4096}
    fields |= {"batch": 2, "micro_batch": 1, "dev": 0, "max_steps": 2, "precision": "fp32"}
    settings = [part for key, value in fields.items() for part in ("--set", f"{key}={value}")]
    atc("train", "sft", "--config", "small.yaml", *settings)
    atc("retrieve", "build", queries, "--out", tmp_path / "index", "--encoder", "bm25")
    tasks = ("--tasks", parts / "test.json", "--simulate", "--format", "toolllama", "--limit", 1)
    retrieved = ("--retriever", tmp_path / "index", "--top-k", 1)
    run = ("--mode", "react", "--model", f"hf:{base}+{out / 'adapter'}", "--out", tmp_path / "measured", "--json")
    summary = json.loads(atc("bench", "toolbench", *tasks, *retrieved, *run))

    assert kept > 0
    assert {"usable_turns", "answered", "path", "precision"} <= summary.keys(), summary
    assert summary["gold_offered"] is not None
