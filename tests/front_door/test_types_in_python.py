"""What a type checker and `inspect` see of an agent: each option with its type, and an answer of the type asked for."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from atc import Agent, run_program
from atc.options import Options

ROOT = Path(__file__).resolve().parents[2]

RIGHT = """\
from typing import Literal
from pydantic import BaseModel
import atc

class Invoice(BaseModel):
    total: float

def double(number: int) -> int:
    return 2 * number

agent = atc.Agent(tools=[double, "openapi.yaml", "mcp:https://tools.example.com/mcp"], model="openai:any", max_tools=5)
reveal_type(agent.solve("How many?", answer_type=int).value)  # int
reveal_type(agent.solve("Which?", answer_type=list[int]).value)  # list[int]
reveal_type(agent.solve("Which?", answer_type=Invoice).value)  # Invoice
reveal_type(agent.solve("Which?", answer_type=list[Invoice]).value)  # list[Invoice]
reveal_type(agent.solve("Which?", answer_type=Literal["a", "b"]).value)  # Any
reveal_type(agent.solve("Which?").value)  # Any
reveal_type(agent.as_tool())  # (str) -> str
reveal_type(agent.as_tool(asynchronous=True))  # (str) -> Awaitable[str]
reveal_type(atc.run_program("openapi.yaml", "print(1)", writes="plan"))  # ProgramResult

async def ask() -> dict[str, float]:
    return (await agent.asolve("How much?", answer_type=dict[str, float])).value

def told(solution: atc.Solution) -> str:
    return solution.answer or solution.message

told(agent.solve("How many?", answer_type=int))
"""

OWN = """\
from collections.abc import Sequence

from atc import Agent, CallMade, Completion, Event, Message, ModelError, SolveEnded, Solution, Usage


class Echo:
    name = "echo"

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        if not messages:
            raise ModelError("nothing was asked")
        return Completion("print(1)", Usage(), "stop")

    def close(self) -> None:
        pass


def show(event: Event) -> None:
    match event:
        case CallMade(call=call):
            print(event.solve, call.tool, call.status)
        case SolveEnded(solution=solution):
            print(solution.answer)
        case _:
            pass


def answer_aloud(question: str) -> Solution:
    with Agent.from_openapi("api.json", Echo(), on_event=show) as agent:
        return agent.solve(question)


answer: str | None = answer_aloud("Which films are there?").answer
"""
"""A model and a reader of events of one's own, with the public names alone."""

WRONG = """\
atc.Agent("openapi.yaml", seed="three")
atc.Agent("openapi.yaml", writes="sometimes")
atc.Agent("openapi.yaml", modle="openai:any")
"""


REVEALED = re.compile(r'Revealed type is "(.*)"$')
Check = Callable[[Path], tuple[list[str], list[int]]]


def checked_by_mypy(file: Path) -> tuple[list[str], list[int]]:
    """The types that are revealed, and the lines with an error."""
    ours = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache")]  # 1 s, else 10
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *ours, file.name]
    lines = subprocess.run(command, cwd=file.parent, capture_output=True, text=True).stdout.splitlines()
    revealed = [
        re.sub(r"\b[a-z_]+\.(?=[a-zA-Z])|^def ", "", match[1]) for line in lines if (match := REVEALED.search(line))
    ]
    return revealed, [int(line.split(":")[1]) for line in lines if ": error: " in line]


def checked_by_pyright(file: Path) -> tuple[list[str], list[int]]:
    """The same by the checker of editors."""
    (file.parent / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict", "pythonVersion": "3.11"}))
    command = [
        sys.executable,
        "-m",
        "basedpyright",
        "--outputjson",
        "--pythonpath",
        sys.executable,
        "-p",
        str(file.parent),
    ]
    report = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    diagnostics = report["generalDiagnostics"]
    texts = [re.fullmatch(r'Type of ".*" is "(.*)"', entry["message"], re.DOTALL) for entry in diagnostics]
    errors = sorted({entry["range"]["start"]["line"] + 1 for entry in diagnostics if entry["severity"] == "error"})
    return [text[1] for text in texts if text is not None], errors


@pytest.mark.parametrize("check", [checked_by_mypy, checked_by_pyright])
def test_what_an_editor_sees(tmp_path: Path, check: Check) -> None:
    """An answer has the type that was asked for (Any where a checker cannot follow it); a wrong option is an error.

    The script lies outside the checkout, and has the types of the installed package.
    """
    file = tmp_path / "script.py"
    file.write_text(RIGHT + OWN + WRONG)

    revealed, errors = check(file)

    assert revealed == re.findall(r"reveal_type\(.*  # (.*)", RIGHT)
    assert errors == [(RIGHT + OWN).count("\n") + line for line in (1, 2, 3)]


def test_inspect_sees_each_option() -> None:
    """Also of what runs a program alone."""
    options = [option.name for option in fields(Options)]
    agent, program = inspect.signature(Agent).parameters, inspect.signature(run_program).parameters

    assert list(agent) == ["tools", *options]
    assert list(program) == ["tools", "program", *options]
    assert agent["seed"].default == 0
