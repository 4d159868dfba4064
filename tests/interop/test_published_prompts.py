"""Prompts of `--compat --format toolllama:FILE`: what ToolBench's own pipeline makes of the same records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from atc.apps.cli import main
from benchmarks.learning.sft.conversations import read_conversation, renderer
from benchmarks.methods.formats.toolllama import function_schemas, write_message
from protocols import load
from tests.local_api import Answer, LocalAPI, Received

SYSTEM = (
    "You work.\nWrite a function call for this step. So:\nThought:\nAction\nAction Input:\n\nTools:\n1.rain: None\n"
)
FINISH = {"name": "Finish", "description": "Stop.", "parameters": {"type": "object", "properties": {}}}
FUNCTIONS = [{"name": "f", "description": 'Of "rain".'}, {"name": "g", "description": 'Of "rain".It: "Says"'}, FINISH]


def record(name: str, required: list[Any], optional: list[Any]) -> dict[str, Any]:
    """An API of a query's list."""
    shared = {"category_name": "Sea", "tool_name": "High Tides", "method": "GET", "api_description": f"The {name} API."}
    return {**shared, "api_name": name, "required_parameters": required, "optional_parameters": optional}


def parameter(name: str, kind: str, default: object) -> dict[str, Any]:
    """A parameter of a record."""
    return {"name": name, "type": kind, "description": "", "default": default}


QUERY = {
    "query": "When is high water?",
    "query_id": 7,
    "api_list": [
        record("tide", [parameter("port", "STRING", "ESB")], [parameter("exact", "BOOLEAN", True)]),
        record(
            "depth", [parameter("days", "NUMBER", 3)], [parameter("Days", "number", "3"), parameter("l", "LIST", [])]
        ),
        record("Depth", [], [parameter("port", "STRING", "ESB")]),
    ],
    "relevant APIs": [["High Tides", "tide"]],
}


def test_a_record_is_described_as_the_published_pipeline_does() -> None:
    """Defaults stay what they are in JSON, a name counts twice, and so does an API; a tool's own schema is as ever."""
    protocol = load({"title": "tides", "api_list": QUERY["api_list"]})
    names = {tool.operation_id: tool.name for tool in protocol.tools}

    tide, depth, twice, _ = function_schemas(protocol, names, compat=True)

    assert tide["parameters"]["properties"]["exact"] == {"type": "boolean", "description": "", "example_value": True}
    assert "The tide_for_high_tides API." in tide["description"]
    assert depth["parameters"] == {
        "type": "object",
        "properties": {
            "days": {"type": "string", "description": "", "example_value": "3"},
            "l": {"type": "string", "description": "", "example_value": []},
        },
        "required": ["days"],
        "optional": ["days", "l"],
    }
    assert (twice["name"], twice["parameters"]["properties"]) == (depth["name"], {})
    exact = protocol.tools[0].argument("exact")
    assert exact is not None
    assert exact.schema == {"type": "boolean", "default": True}


class NoTokenizer:
    """The part of a tokenizer that the layout "roles" asks for."""

    bos_token, eos_token = None, "</s>"

    def __call__(self, text: str) -> dict[str, list[int]]:
        return {"input_ids": [1] * len(text)}


def test_a_compat_annotation_is_what_the_model_read(tmp_path: Path) -> None:
    """Each row of toolllama.json is a prompt with the sentences of FILE, and the answer to it."""
    queries, released, out = tmp_path / "queries.json", tmp_path / "train.json", tmp_path / "out"
    queries.write_text(json.dumps([QUERY]))
    turns = [{"from": "system", "value": f"{SYSTEM}\nYou have: {FUNCTIONS}"}]
    released.write_text(json.dumps([{"conversations": turns}]))
    call = write_message("Ask.", "tide_for_high_tides", '{"port": "ESB"}')
    unknown = write_message("And?", "no_such_function", "{}")
    end = write_message("Done.", "Finish", '{"return_type": "give_answer", "final_answer": "Noon."}')
    answers, prompts = [call, unknown, end], list[str]()

    def complete(request: Received) -> Answer:
        prompts.append(json.loads(request.body)["prompt"])
        choice = {"index": 0, "finish_reason": "stop", "text": answers[len(prompts) - 1]}
        return Answer(200, {"id": "1", "object": "text_completion", "created": 0, "model": "m", "choices": [choice]})

    with LocalAPI() as api:
        api.respond("POST", "/completions", complete)
        runner = CliRunner(env={"OPENAI_BASE_URL": api.url, "OPENAI_API_KEY": "k"})
        options = ["--simulate", "--mode", "react", "--model", "openai:m", "--out", str(out), "--format", "toolllama"]
        form = ["--compat", "--calls", f"toolllama:{released}"]
        done = runner.invoke(main, ["toolbench", "annotate", str(queries), *options, *form])

    assert done.exit_code == 0, done.output
    rows = json.loads((out / "toolllama.json").read_text())
    assert [row["id"] for row in rows] == [f"Step {number}: {QUERY['query']}" for number in (2, 4, 6)]
    assert rows[0]["conversations"][0]["value"].startswith(SYSTEM.replace("rain", "high_tides"))
    render = renderer(NoTokenizer(), "roles")
    for row, prompt, answer in zip(rows, prompts, answers, strict=True):
        conversation = read_conversation("the row", row)
        assert render("the row", conversation)(conversation.turns[:-1], True) == prompt.removesuffix(" \n")
        assert conversation.turns[-1]["content"] == answer
