"""The prompts of ToolBench's own pipeline beside those of `atc bench toolbench --compat --format toolllama:FILE`.

    PYTHONPATH=.:$THEIRS:$THEIRS/toolbench/inference $PYTHON tests/interop/published_prompts.py QUERIES FILE ATC

By hand alone: no test runs this, for it needs THEIRS, a clone of ToolBench's repository, and PYTHON, an interpreter
with what its pipeline imports. docs/interop.md has the commands, and what came out.

QUERIES is a query file of ToolBench or StableToolBench, ATC our command. The tool folder that their pipeline reads is
made of the records of QUERIES. A server stands in for the weights: it keeps each prompt and ends the conversation.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.local_api import Answer, LocalAPI, Received

__all__ = ["compare"]

_END = '\nThought: Done.\nAction: Finish\nAction Input: {"return_type": "give_answer", "final_answer": "It is."}'


def compare(queries: Path, released: Path, atc: str) -> None:
    """Print how many prompts are equal."""
    asked: list[str] = []

    def reply(request: Received) -> Answer:
        asked.append(json.loads(request.body)["prompt"])
        choice = {"index": 0, "finish_reason": "stop", "text": _END}
        return Answer(200, {"id": "1", "object": "text_completion", "created": 0, "model": "m", "choices": [choice]})

    with LocalAPI() as api, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        theirs = _published(json.loads(queries.read_text("utf-8")), folder / "tools")
        api.respond("POST", "/completions", reply)
        options = [
            "--simulate",
            "--mode",
            "react",
            "--compat",
            "--format",
            f"toolllama:{released}",
            "--profile",
            "large",
        ]
        command = [atc, "bench", "toolbench", "--tasks", str(queries), *options, "--model", "openai:m", "--out", name]
        subprocess.run(command, env={**os.environ, "OPENAI_BASE_URL": api.url, "OPENAI_API_KEY": "k"}, check=True)
    equal = {prompt.rstrip() for prompt in asked} & {prompt.rstrip() for prompt in theirs}
    print("prompts", len(asked), "equal", sum(prompt.rstrip() in equal for prompt in asked))


def _published(queries: list[Any], tools: Path) -> list[str]:
    """The prompts of their pipeline."""
    pipeline = importlib.import_module("toolbench.inference.Downstream_tasks.rapidapi")
    prompts = importlib.import_module("Prompts.ReAct_prompts")
    adapter = importlib.import_module("toolbench.model.model_adapter")
    utils = importlib.import_module("toolbench.utils")
    _write_tools(queries, tools, pipeline.standardize)
    common = {"toolbench_key": "k", "rapidapi_key": "", "use_rapidapi_key": False, "api_customization": False}
    arguments = SimpleNamespace(
        tool_root_dir=str(tools), max_observation_length=1024, observ_compress_method="truncate", **common
    )
    texts = []
    for query in queries:
        owners = [[pipeline.standardize(record["tool_name"]), ""] for record in query["api_list"]]
        environment = pipeline.rapidapi_wrapper(query, owners, None, arguments, process_id=1)
        system = prompts.FORMAT_INSTRUCTIONS_SYSTEM_FUNCTION.replace("{task_description}", environment.task_description)
        user = prompts.FORMAT_INSTRUCTIONS_USER_FUNCTION.replace("{input_description}", query["query"])
        conversation = adapter.get_conversation_template("tool-llama-single-round")
        conversation.messages = []
        for role, text in (("System", utils.process_system_message(system, environment.functions)), ("User", user)):
            conversation.append_message(role, text)
        conversation.append_message("Assistant", None)
        texts.append(conversation.get_prompt())
    return texts


def _write_tools(queries: list[Any], tools: Path, standardize: Any) -> None:
    """The tool folder: a file for each tool, with the records of its APIs; no tool has a description."""
    records = [record for query in queries for record in query["api_list"]]
    for record in records:
        file = tools / record["category_name"] / f"{standardize(record['tool_name'])}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        empty = {"tool_name": record["tool_name"], "tool_description": "", "api_list": []}
        tool = json.loads(file.read_text("utf-8")) if file.exists() else empty
        if record["api_name"] not in [api["name"] for api in tool["api_list"]]:
            described = {"name": record["api_name"], "description": record["api_description"]}
            tool["api_list"].append({**record, **described})
        file.write_text(json.dumps(tool), "utf-8")


if __name__ == "__main__":
    compare(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3])
