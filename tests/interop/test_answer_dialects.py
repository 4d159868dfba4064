"""Answer files: those of a compat run as the published preprocessing wants them, and those in no form that is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from benchmarks.methods.formats.toolllama import published_prompt
from benchmarks.toolbench.corpus.answer_files import published_answer
from benchmarks.toolbench.corpus.queries import ToolQuery
from protocols.errors import UsageError
from tests.benchmarks.toolbench.judging import call, finish, record

API = {"category_name": "Sea", "tool_name": "High Tides", "api_name": "tide", "api_description": "", "method": "GET"}
FUNCTIONS = [
    {"name": "f_for_rain", "description": 'Of "rain".It: "Says when"'},
    {"name": "Finish", "description": "Stop.", "parameters": {"type": "object", "properties": {}}},
]
SYSTEM = "You work.\nWrite a function call for this step.{form}\nTools:\n1.{tool}: None\n"


def test_a_compat_answer_begins_with_the_published_system_sentence(tmp_path: Path) -> None:
    """It lacks the form of a call and the functions, which the published preprocessing adds."""
    file = tmp_path / "train.json"
    system = SYSTEM.format(form=" So:\nThought:\nAction\nAction Input:\n", tool="rain")
    turns = [{"from": "system", "value": f"{system}\nYou have: {FUNCTIONS}"}]
    file.write_text(json.dumps([{"conversations": turns}]))
    ending = {"name": "Finish", "arguments": {"final_answer": "Noon."}, "text": "", "observation": "", "code": 3}
    tree = [{"id": 1, "parent": 0, "trial": 1, "thought": "Done.", "steps": [ending], "outcome": "answer"}]
    usage = {"model_calls": 1, "prompt_tokens": 1, "completion_tokens": 1}
    settings = {"width": 2, "depth": 12, "compat": True, "max_model_calls": 0, "format": f"toolllama:{file}"}

    solution = {"tree": tree, "usage": usage, "calls": [], "answer": "Noon."}
    data = published_answer(solution, ToolQuery(1, "When?", (API,)), "react", 1, settings)

    generation = data["answer_generation"]
    assert generation["train_messages"][0][0]["content"] == SYSTEM.format(form="", tool="high_tides")
    assert generation["function"][-1] == FUNCTIONS[-1]
    assert generation["function"][0]["description"] == 'Of "high_tides".'


@pytest.mark.parametrize("text", ['{"messages": [{"role": "user", "content": "q"}]}', '{"answer_generation": {"valid_'])
def test_an_answer_file_of_a_third_dialect_is_told(tmp_path: Path, text: str) -> None:
    """The message names the file; the answers beside it and what was converted before stay as they are."""
    answers, out = tmp_path / "answers", tmp_path / "converted.json"
    answers.mkdir()
    right = json.dumps(record("When?", [call("Finish", finish("Noon."))], finish("Noon.")))
    (answers / "1_CoT@1.json").write_text(right)
    convert = ["eval", "convert", str(answers), "--out", str(out)]
    assert CliRunner().invoke(main, convert).exit_code == 0
    converted = out.read_text()
    (answers / "2_CoT@1.json").write_text(text)

    again = CliRunner().invoke(main, convert)

    assert again.exit_code == 2
    assert f"{answers / '2_CoT@1.json'}" in again.output.replace("\n", "")
    assert (out.read_text(), (answers / "1_CoT@1.json").read_text()) == (converted, right)
    with pytest.raises(UsageError, match=r"2_CoT@1\.json"):
        published_prompt(answers / "2_CoT@1.json")
