"""Our benchmarks as tasks of Inspect AI: its model is asked, and its log has our scores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = pytest.mark.inspect

EVALUATION = """
import json, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

PROGRAMS = {"On which floor is room W2?": "print(GET_rooms_room_code(room_code='W2')['floor'])"}
asked = []

def reply(messages, tools, tool_choice, config):
    text = "".join(message.text for message in messages)
    asked.append(config.temperature)
    program = next((program for query, program in PROGRAMS.items() if query in text), "print('nothing')")
    output = ModelOutput.from_content("mock", "```python\\n" + program + "\\n```")
    output.usage = ModelUsage(input_tokens=len(text) // 4, output_tokens=20, total_tokens=len(text) // 4 + 20)
    return output

model = get_model("mockllm/model", custom_outputs=reply)
[log] = eval("benchmarks/inspect_tasks.py@tiny", model=model, limit=2, log_dir=sys.argv[1], display="none")
print(json.dumps({
    "status": log.status, "temperatures": sorted(set(asked)),
    "samples": {
        sample.id: {
            "scores": {name: score.value for name, score in sample.scores.items()},
            "target": sample.target, "answer": sample.output.completion,
            "standing": sample.store["standing"], "tokens": sum(u.input_tokens for u in sample.model_usage.values()),
            "tools": [call["tool"] for call in sample.store["solution"]["attempts"][0]["calls"]],
        }
        for sample in log.samples
    },
}))
"""


def test_a_benchmark_as_an_inspect_task(tmp_path: Path) -> None:
    """A right program scores; one that makes no call does not; scores, tokens and the solution are in the log."""
    done = subprocess.run(
        [sys.executable, "-c", EVALUATION, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=ROOT,
        env={**os.environ, "INSPECT_LOG_LEVEL": "error"},
    )

    assert done.returncode == 0, done.stderr
    log = json.loads(done.stdout.splitlines()[-1])
    right, wrong = log["samples"]["museum-1"], log["samples"]["museum-2"]
    assert (log["status"], log["temperatures"]) == ("success", [0.0])
    assert right["scores"] == {"calls": {"success": 1.0, "path": 1.0, "precision": 1.0}, "answer_right": 1.0}
    assert right["target"] == right["tools"] == ["GET_rooms_room_code"]
    assert (right["standing"], right["tokens"] > 100) == ("supported", True)
    assert wrong["scores"] == {"calls": {"success": 0.0, "path": 0.0, "precision": 0.0}, "answer_right": 0.0}
