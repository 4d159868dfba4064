"""The code of docs/comparison.md runs as it stands there: each framework with the shop and with scripted answers.

Google's ADK cannot be in one environment with the others; its programs run with the Python of `.venv-adk`, if that is
there (`make peers`).
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import anyio
import pytest
import yaml

from tests.chat_endpoint import serve, tool_call
from tests.json_server import JSONHandler, listening
from tests.shop import TOKEN, serving_shop
from tests.warm_server import LOADED

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "docs" / "comparison"
ADK = ROOT / ".venv-adk" / "bin" / "python"
TASKS = ("api", "function", "typed", "mcp", "approval")
PYDANTIC_AI = "pydantic_ai_harness pydantic_ai_harness.code_mode pydantic_ai.models.openai pydantic_ai.mcp fastmcp"
GOOGLE_ADK = """
    google.adk.runners google.adk.agents google.adk.models.google_llm google.adk.tools.mcp_tool
    google.adk.tools.openapi_tool
"""
FRAMEWORKS = {"atc": LOADED, "pydantic_ai": PYDANTIC_AI, "smolagents": "smolagents"}
SERVER = '''
from fastmcp import FastMCP
from tests.json_server import JSONHandler, listening

server = FastMCP("stock")


@server.tool(annotations={"readOnlyHint": True})
def stock(product: str) -> int:
    """How many pieces of a product are in stock."""
    return 12


server.run(show_banner=False)
'''
ORDERS = {"status": "unpaid", "createdFrom": "2026-03-01T00:00:00Z"}
OURS = ", ".join(f"{name}={value!r}" for name, value in ORDERS.items())
THEIRS = OURS.replace("createdFrom", "created_from")
REFUND = {"payment": "p1001", "reason": "broken"}
CODE = {
    ("api", "atc"): f"print(GET_orders({OURS})['total'])",
    ("api", "pydantic_ai"): f"(await listOrders({OURS}))['total']",
    ("api", "smolagents"): f"final_answer(list_orders({THEIRS})['total'])",
    ("function", "atc"): "print(stock(product='desk lamp'))",
    ("function", "pydantic_ai"): "await stock(product='desk lamp')",
    ("function", "smolagents"): "final_answer(stock(product='desk lamp'))",
    ("typed", "atc"): f"print([order['id'] for order in GET_orders({OURS})['items']])",
    ("typed", "pydantic_ai"): f"[order['id'] for order in (await listOrders({OURS}))['items']]",
    ("typed", "smolagents"): f"final_answer([order['id'] for order in list_orders({THEIRS})['items']])",
    ("mcp", "atc"): "print(stock(product='desk lamp'))",
    ("mcp", "pydantic_ai"): "await stock(product='desk lamp')",
    ("mcp", "smolagents"): "final_answer(int(stock(product='desk lamp')))",
    ("approval", "atc"): "print(refund(payment='p1001', reason='broken'))",
    ("approval", "smolagents"): "final_answer(refund(payment='p1001', reason='broken'))",
}
CALLS = {
    "api": ("list_orders", {"status": "unpaid", "created_from": ORDERS["createdFrom"]}),
    "function": ("stock", {"product": "desk lamp"}),
    "typed": ("list_orders", {"status": "unpaid", "created_from": ORDERS["createdFrom"]}),
    "mcp": ("stock", {"product": "desk lamp"}),
    "approval": ("refund", REFUND),
}
UNPAID = [1115, 1107, 1099, 1091, 1083, 1075]
ANSWERS = {"api": "6", "function": "12", "typed": str(UNPAID), "mcp": "12", "approval": "refunded"}


def test_the_page_has_every_program_and_counts_its_lines() -> None:
    """The table of the page is true, and no program is left out."""
    page = (FILES.parent / "comparison.md").read_text("utf-8")
    names = ("atc", "pydantic_ai", "fastmcp", "smolagents", "adk")
    counts = [[sum(map(bool, map(str.split, _lines(f"{task}_{name}")))) for name in names] for task in TASKS]
    rows = re.findall(r"^\| \[.*?\)((?: \| \d+){5}) \|$", page, re.MULTILINE)

    assert [[int(number) for number in row.split(" | ")[1:]] for row in rows] == counts
    assert [file for file in FILES.glob("*.py") if f'--8<-- "comparison/{file.name}"' not in page] == []


def _lines(name: str) -> list[str]:
    return (FILES / f"{name}.py").read_text("utf-8").splitlines()


def fenced(program: str) -> str:
    """A program as a model answers with it."""
    return f"```python\n{program}\n```"


def scripted(task: str, framework: str) -> list[tuple[str | None, tuple[str, object] | None]]:
    """What the model answers in turn: a text, or a call of a function by name and arguments."""
    if framework == "atc":
        return [(fenced(CODE[task, framework]), None)]
    if framework == "smolagents":
        return [(f"Thought: one call is enough.\n<code>\n{CODE[task, framework]}\n</code>", None)]
    if task == "approval":
        return [(None, ("refund", REFUND)), ("refunded", None)]
    steps: list[tuple[str | None, tuple[str, object] | None]] = [(None, ("run_code", {"code": CODE[task, framework]}))]
    return [*steps, (None, ("final_result", {"response": UNPAID})) if task == "typed" else (ANSWERS[task], None)]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the document of a shop that is served, and an MCP server."""
    (tmp_path / "server.py").write_text(SERVER)
    with serving_shop(tmp_path):
        yield tmp_path


RUNNER = """
import importlib, json, os, runpy, sys
packages, *programs = json.load(sys.stdin)
for package in packages.split():
    importlib.import_module(package)
for name, variables in programs:
    child = os.fork()
    if not child:
        os.environ |= variables
        os.dup2(os.open("yes", os.O_RDONLY), 0)
        for number, kind in enumerate(("out", "err"), 1):
            os.dup2(os.open(f"{name}.{kind}", os.O_CREAT | os.O_WRONLY), number)
        sys.stdin = open(0, closefd=False)
        runpy.run_path(f"{name}.py", run_name="__main__")
        break
    print(name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
"""Imports what programs of a framework load, which takes seconds, and runs each in a process of its own.

Their user says y.
"""


def run(python: Path | str, packages: str, folder: Path, programs: Mapping[str, Mapping[str, str]]) -> None:
    """Run programs of the page, with their variables, in the folder, whose service stands in for the shop's."""
    address = yaml.safe_load((folder / "openapi.yaml").read_text("utf-8"))["servers"][0]["url"]
    for name in programs:
        program = (FILES / f"{name}.py").read_text("utf-8").replace("https://api.shop.example/v1", address)
        (folder / f"{name}.py").write_text(program)
    (folder / "yes").write_text("y\n")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "SHOP_TOKEN": TOKEN, "PATH": path}
    text = json.dumps([packages, *programs.items()])
    command = [str(python), "-c", RUNNER]
    subprocess.run(command, cwd=folder, env=environment, input=text, text=True, timeout=300, check=True)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_programs_of_the_page_answer(framework: str, folder: Path) -> None:
    """Each ends with the same answer, after the call that the model wrote, and after approval where that is asked."""
    for package in ("fastmcp", FRAMEWORKS[framework].split()[0]):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"there is no {package}")
    with ExitStack() as endpoints:
        programs = {}
        for task in TASKS:
            endpoint = endpoints.enter_context(serve())
            for number, (text, call) in enumerate(scripted(task, framework)):
                calls = [tool_call(f"c{number}", call[0], json.dumps(call[1]))] if call else []
                endpoint.reply(text, **({"tool_calls": calls} if calls else {}))
            programs[f"{task}_{framework}"] = {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "none"}
        run(sys.executable, FRAMEWORKS[framework], folder, programs)

    for task in TASKS:
        output, errors = ((folder / f"{task}_{framework}.{kind}").read_text("utf-8") for kind in ("out", "err"))
        if (task, framework) == ("mcp", "smolagents"):  # mcpadapt 0.1.19 is for MCP's SDK before 2.0
            assert "cannot import name 'streamablehttp_client'" in errors
        else:
            assert output.rstrip().endswith(ANSWERS[task]), f"{task}: {output}{errors}"
        if task == "approval":
            assert re.search("refund.*p1001", output, re.IGNORECASE)
            assert "sent p1001" in output + errors


@pytest.mark.parametrize("task", TASKS)
def test_a_server_of_the_page_answers_its_client(task: str, folder: Path) -> None:
    """fastmcp has no agent: its programs are servers, whose tools a client calls."""
    fastmcp = pytest.importorskip("fastmcp")
    code = {
        "api": f"return (await call_tool('listOrders', {ORDERS}))['total']",
        "mcp": "return (await call_tool('stock', {'product': 'desk lamp'}))['result']",
    }
    calls = {
        "function": ("stock", {"product": "desk lamp"}),
        "typed": ("unpaid_orders", {"month": 3}),
        "approval": ("refund", REFUND),
    }
    name, arguments = calls.get(task) or ("execute", {"code": code[task]})
    environment = {**os.environ, "SHOP_TOKEN": TOKEN}
    command = {"command": sys.executable, "args": [str(FILES / f"{task}_fastmcp.py")], "env": environment}
    questions: list[str] = []

    async def accept(message: str, *_: object) -> dict[str, object]:
        questions.append(message)
        return {"value": True}

    async def ask() -> None:
        config = {"mcpServers": {"shop": {**command, "cwd": str(folder)}}}
        era = "legacy" if task == "approval" else "auto"  # servers ask clients up to MCP 2025-11-25 alone
        async with fastmcp.Client(config, elicitation_handler=accept, mode=era) as client:
            result = await client.call_tool(name, arguments)
            structured = result.structured_content or {"result": result.content[0].text}
            assert str(structured["result"]) == ("[1115, 1107, 1099]" if task == "typed" else ANSWERS[task])

    anyio.run(ask)
    assert questions == (["Refund p1001: broken?"] if task == "approval" else [])


@contextmanager
def gemini(*parts: object) -> Iterator[str]:
    """An endpoint in the format that ADK's models speak, which answers with these parts in turn."""
    remaining = list(parts)

    class Handler(JSONHandler):
        def do_POST(self) -> None:
            self.read_json()
            content = {"role": "model", "parts": [remaining.pop(0)]}
            self.reply({"candidates": [{"content": content, "finishReason": "STOP"}]})

    with listening(Handler) as url:
        yield url


@pytest.mark.skipif(not ADK.exists(), reason="there is no .venv-adk (make peers)")
def test_the_programs_with_adk_answer(folder: Path) -> None:
    """Each ends with the same answer, after a call that its model asked for."""
    with ExitStack() as endpoints:
        programs = {}
        for task in TASKS:
            name, arguments = CALLS[task]
            first = {"functionCall": {"name": name, "args": arguments}}
            typed = {"functionCall": {"name": "set_model_response", "args": {"items": UNPAID}}}
            parts = (first, typed if task == "typed" else {"text": ANSWERS[task]}, {"text": ANSWERS[task]})
            variables = {"GOOGLE_GEMINI_BASE_URL": endpoints.enter_context(gemini(*parts)), "GOOGLE_API_KEY": "none"}
            programs[f"{task}_adk"] = variables
        run(ADK, GOOGLE_ADK, folder, programs)

    for task in TASKS:
        output = (folder / f"{task}_adk.out").read_text("utf-8")
        assert output.splitlines()[-1].endswith(ANSWERS[task]), f"{task}: {output}"
