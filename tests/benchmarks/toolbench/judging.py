"""Answers and judges for the tests of `atc eval`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atc.apps.cli import main
from atc.models import Completion, Message, Usage
from benchmarks.toolbench.evaluation.judge import Judge
from benchmarks.toolbench.evaluation.judged import JudgedAnswer, write_converted
from benchmarks.toolbench.evaluation.sources import JudgedRun, convert
from tests.chat_endpoint import completion
from tests.local_api import Answer, Received

SUBSET = "G1_instruction"
PUBLISHED = pytest.mark.document(
    f"stabletoolbench/data_example/model_predictions_converted/virtual_chatgpt_cot/{SUBSET}.json"
)
"""Of a test that reads StableToolBench's published samples."""

FUNCTIONS = [
    {"name": "search_for_films", "description": "Find films.", "parameters": {"properties": {"title": {}}}},
    {"name": "credits_for_films", "description": "Who made a film.", "parameters": {"properties": {"id": {}}}},
    {"name": "Finish", "description": "End.", "parameters": {"properties": {}}},
]


def finish(text: str) -> str:
    """The arguments of Finish with an answer."""
    return json.dumps({"return_type": "give_answer", "final_answer": text})


def call(name: str, arguments: str = "{}") -> dict[str, Any]:
    """An assistant's message with one call."""
    return {"role": "assistant", "function_call": {"name": name, "arguments": arguments}}


def result(name: str, response: object) -> dict[str, Any]:
    """The result of a call."""
    return {"role": "function", "name": name, "content": json.dumps({"error": "", "response": response})}


def record(query: str, messages: Sequence[dict[str, Any]], final_answer: str) -> dict[str, Any]:
    """An answer file with a valid answer."""
    first = [{"role": "system", "content": "Use tools."}, {"role": "user", "content": query}]
    return {
        "win": True,
        "answer_generation": {
            "valid_data": True,
            "final_answer": final_answer,
            "function": FUNCTIONS,
            "train_messages": [[*first, *messages]],
            "query": query,
        },
    }


def answer(query_id: str, text: str = "Tom made it.", calls: int = 1, ending: bool = True) -> JudgedAnswer:
    """A converted answer: some calls, then Finish with a text; an empty text gives up."""
    arguments = finish(text) if text else json.dumps({"return_type": "give_up_and_restart"})
    messages = []
    for number in range(calls):
        messages += [call("search_for_films", f'{{"title": "Tide {number}"}}'), result("search_for_films", ["Tide"])]
    messages += [call("Finish", arguments)] * ending
    return convert(query_id, record(f"Who made Tide {query_id}?", messages, arguments if ending else ""), "CoT@1")


def write_answers(folder: Path, answers: Sequence[JudgedAnswer], subset: str = "G1_instruction") -> Path:
    """A converted file `FOLDER/SUBSET.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    write_converted(folder / f"{subset}.json", {entry.query_id: entry for entry in answers})
    return folder / f"{subset}.json"


class ScriptedJudge:
    """A judge whose replies follow from the prompt; it remembers what it was asked."""

    def __init__(self, decide: Callable[[str], str], name: str = "scripted") -> None:
        self.name = name
        self.prompts: list[str] = []
        self._decide = decide

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        self.prompts.append(messages[-1].content)
        return Completion(self._decide(messages[-1].content), Usage(model_calls=1), "stop")

    def close(self) -> None:
        """Nothing to close."""


def judge(folder: Path, decide: Callable[[str], str], name: str = "scripted", compat: bool = False) -> Judge:
    """A judge with its store in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return Judge(ScriptedJudge(decide, name), folder, compat)


def always(status: str, task: str = "Solvable", better: str = "Tie", complete: str = "Solved") -> Callable[[str], str]:
    """Decides every question in the same way."""

    def decide(prompt: str) -> str:
        if "<functions>" in prompt:
            return f"Because.\nVerdict: {task}"
        if "<second>" in prompt:
            return f"Because.\nVerdict: {better}"
        return f"Because.\nVerdict: {complete if 'Unsure' not in prompt else status}"

    return decide


class JudgeServer:
    """The replies of an endpoint, which follow from the last message; None is an error."""

    def __init__(self, decide: Callable[[str], str | None]) -> None:
        self.prompts: list[str] = []
        self.decide = decide

    def reply(self, received: Received) -> Answer:
        """The response to a request for a completion."""
        prompt = json.loads(received.body)["messages"][-1]["content"]
        text = self.decide(prompt)
        if text is None:
            return Answer(401, {"error": {"message": "gone"}})
        self.prompts.append(prompt)
        return Answer(200, completion(text))


def run(*answers: JudgedAnswer, method: str = "mine") -> JudgedRun:
    """Answers as a run."""
    return JudgedRun(method, SUBSET, {entry.query_id: entry for entry in answers})


def atc_eval(*arguments: object) -> Result:
    """Run `atc eval` in this process."""
    return CliRunner(env={"COLUMNS": "140"}).invoke(main, ["eval", *map(str, arguments)])


def summary(folder: Path) -> dict[str, Any]:
    """What an evaluation left."""
    return dict(json.loads((folder / "summary.json").read_text()))


def table(file: Path) -> list[dict[str, str]]:
    """A published result table."""
    return list(csv.DictReader(io.StringIO(file.read_text("utf-8"), newline=""), delimiter="\t"))
