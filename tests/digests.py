"""What a solve asks and does, as short digests: a change of structure leaves all of them as they were.

`python -m tests.digests` writes `digests.json` anew, for a change that is meant, and prints what is different.
A digest of a task covers every prompt of the solve, its programs, calls, faults and its answer. The model is scripted:
it makes three mistakes (a wrong key, an unknown function, an error at run time) before it writes the reference program.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from atc import Agent
from atc.files import write_json
from atc.models import Completion, Message, Usage
from atc.modes import LOOP, modes
from benchmarks.micro.selection import own_questions
from benchmarks.run.agent_environment import AgentEnvironment
from benchmarks.run.oracle import OracleModel, OracleScript, oracle_script, simulated_settings
from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.task_files import candidate_tools
from benchmarks.worlds import find_worlds
from tests.conftest import DATA

__all__ = ["BENCHMARKS", "FILE", "QUESTIONS", "SHIPPED", "first_prompts", "solves"]

FILE = Path(__file__).with_suffix(".json")
SHIPPED = ("tiny", "tiny large")
BENCHMARKS = ("restbench-tmdb", "restbench-spotify", "toolflow")
QUESTIONS = ("questions", "unseen")


class Flawed(OracleModel):
    """A model that makes mistakes before it says what is right, and keeps all that it was asked."""

    name = "flawed"

    def __init__(self, mode: str, solution: OracleScript) -> None:
        super().__init__(mode, solution, lambda text: len(text.split()))
        self._mistakes = list(mistakes(mode, solution.program))
        self.prompts: list[tuple[str, str]] = []

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        self.prompts += [(message.role, message.content) for message in messages]
        if not self._mistakes:
            return super().complete(messages, stop=stop, max_tokens=max_tokens)
        text = self._mistakes.pop(0)
        read = sum(len(message.content.split()) for message in messages)
        return Completion(text, Usage(read, len(text.split()), 0, 1, 0.0), "stop")


def mistakes(mode: str, program: str) -> Iterator[str]:
    """What a model says that is wrong, in the form that a mode wants."""
    if mode in ("react", "dfsdt"):
        yield "Thought: this may do.\nAction: GET_nothing_of_the_kind(number=1)"
        yield "I do not know."
    elif mode == "codeact":
        yield f"```python\n{program}\nprint(int('none'))\n```"
    elif mode in LOOP:
        yield ast.unparse(_WrongKey().visit(ast.parse(program)))
        yield ast.unparse(_WrongTool().visit(ast.parse(program)))
        yield f"{program}\nprint(int('none'))"


class _WrongKey(ast.NodeTransformer):
    """Takes every key for another one."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            node.slice = ast.Constant(f"the_{node.slice.value}")
        return node


class _WrongTool(ast.NodeTransformer):
    """Calls tools by names that are none."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and "_" in node.func.id:
            node.func = ast.Name(f"{node.func.id}s")
        return node


def digest(value: object) -> str:
    """Eight hex digits of a plain value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:8]


def solves(name: str) -> dict[str, dict[str, str]]:
    """By mode and task of a benchmark, the digest of a solve; `tiny large` is of the large profile."""
    benchmark, _, profile = name.partition(" ")
    dataset = open_dataset(benchmark, None, ())
    settings = replace(simulated_settings(dataset, "flawed", "none"), profile=profile)
    digests: dict[str, dict[str, str]] = {mode: {} for mode in modes()}
    with closing(AgentEnvironment(settings, dataset.protocols, worlds=find_worlds(dataset.protocols))) as runner:
        for task in dataset.tasks:
            runner.model = Flawed("none", OracleScript("", (), ""))
            offered = candidate_tools(task, dataset.protocols[task.domain], None, settings.seed)
            solution = oracle_script(runner, task, offered)
            if solution is None:
                continue
            for mode in modes():
                runner.settings = replace(settings, mode=mode)
                runner.model = model = Flawed(mode, solution)
                solved = runner.solve(task, offered)
                digests[mode][task.id] = digest([model.prompts, essence(solved.record["solution"])])
    return digests


def essence(solution: Any) -> object:
    """What was done in a solve: its programs, calls, faults and answer, whatever else its record holds."""
    attempts = [
        {
            "program": attempt["program"],
            "fault": [(attempt["fault"] or {}).get(name) for name in ("stage", "type", "message", "line")],
            "tool": (attempt["attribution"] or {}).get("tool"),
            "calls": [
                [call["tool"], call["arguments"], call["status"]]
                for call in ((attempt["run"] or {}).get("calls") or [])
            ],
        }
        for attempt in solution["attempts"]
    ]
    return [solution["status"], solution["answer"], attempts, solution["usage"]]


def first_prompts(name: str) -> dict[str, str]:
    """By question of our own, the digest of the first prompt over the whole API."""
    protocols, tasks = own_questions(name)
    agents = {domain: Agent(protocol, "openai:nobody", profile="small") for domain, protocol in protocols.items()}
    prompts = {}
    for task in tasks:
        opening = agents[task.domain].opening(task.query, today="2024-06-01")
        prompts[task.id] = digest([(message.role, message.content) for message in opening.messages()])
    return prompts


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The entries that are not as they were, as paths."""
    paths = []
    for name in {**before, **now}:
        old, new = before.get(name), now.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            paths += [f"{name}/{path}" for path in differences(old, new)]
        elif old != new:
            paths.append(name)
    return paths


def main() -> None:
    """Write the file anew."""
    os.environ["ATC_DATA"] = str(DATA)
    before = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    now = {name: solves(name) for name in (*SHIPPED, *BENCHMARKS)} | {name: first_prompts(name) for name in QUESTIONS}
    write_json(FILE, now)
    changed = differences(before, now)
    print(f"{len(changed)} digests are new or different", *changed, sep="\n")


if __name__ == "__main__":
    main()
