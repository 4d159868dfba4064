"""What docs/integrations.md shows runs with the real packages, against the shop and scripted answers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner

from atc import Agent
from atc.apps.cli import main
from atc.apps.toolset import open_toolset
from tests.chat_endpoint import ChatEndpoint, serve, tool_call
from tests.shop import TOKEN, serving_shop

FILES = Path(__file__).resolve().parents[2] / "docs" / "integrations"
PROGRAM = "print(GET_orders(status='unpaid', createdFrom='2026-03-01T00:00:00Z')['total'])"
AUTH = ["bearer:env:SHOP_TOKEN"]
NAMES = ["ask_shop", "run_program", "search_tools", "describe_tool"]
FRAMEWORKS = {"with_pydantic_ai": "pydantic_ai", "with_langchain": "langchain_openai", "with_smolagents": "smolagents"}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the document of a shop that is served."""
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    monkeypatch.chdir(tmp_path)
    with serving_shop(tmp_path):
        yield tmp_path


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatEndpoint]:
    """The endpoint of all models."""
    with serve() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield endpoint


def call(id: str, name: str, arguments: dict[str, str]) -> dict[str, object]:
    """A call of a function, as an endpoint sends it."""
    return tool_call(id, name, json.dumps(arguments))


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_an_agent_of_a_framework_answers_with_the_api(name: str, shop: Path, model: ChatEndpoint) -> None:
    """The framework's model runs a program, asks a question of its own, and answers with what came of both."""
    pytest.importorskip(FRAMEWORKS[name])
    model.reply(None, tool_calls=[call("c1", "run_program", {"program": PROGRAM})])
    model.reply(None, tool_calls=[call("c2", "ask_shop", {"question": "How many orders of March are not paid?"})])
    model.reply(f"```python\n{PROGRAM}\n```")
    if name == "with_smolagents":
        model.reply(None, tool_calls=[call("c3", "final_answer", {"answer": "6 orders"})])
    else:
        model.reply("6 orders")
    process = subprocess.run(
        [sys.executable, str(FILES / f"{name}.py")], cwd=shop, capture_output=True, text=True, timeout=120
    )

    assert (process.returncode, process.stdout.splitlines()[-1:]) == (0, ["6 orders"]), process.stderr
    offered = [tool["function"] for tool in model.requests[0]["tools"]]
    assert [tool["name"] for tool in offered][:4] == NAMES
    assert offered[1]["parameters"]["required"] == ["program"]
    results = str(model.requests[-1]["messages"])
    assert re.search(r"output\W+6", results)
    assert len(model.requests) == 4


def test_fastmcp_mounts_the_functions(shop: Path) -> None:
    """They are tools of the user's own server, which a client starts."""
    fastmcp = pytest.importorskip("fastmcp")
    command = {"command": sys.executable, "args": [str(FILES / "with_fastmcp.py")], "env": dict(os.environ)}

    async def run() -> None:
        async with fastmcp.Client({"mcpServers": {"mine": command}}) as client:
            names = {tool.name for tool in await client.list_tools()}
            assert names == {"vat", *(f"shop_{name}" for name in NAMES)}
            result = await client.call_tool("shop_run_program", {"program": PROGRAM})
            assert result.structured_content["output"] == "6\n"

    anyio.run(run)


def test_a_fastapi_endpoint_answers(shop: Path, model: ChatEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question in a request becomes an answer with its standing."""
    pytest.importorskip("fastapi")
    from starlette.testclient import TestClient

    monkeypatch.setenv("ATC_MODEL", "openai:scripted")
    model.text = f"```python\n{PROGRAM}\n```"
    module: dict[str, object] = {}
    exec(compile((FILES / "with_fastapi.py").read_text("utf-8"), "with_fastapi.py", "exec"), module)
    client = TestClient(module["app"])  # type: ignore[arg-type]
    reply = client.get("/answers", params={"question": "How many are not paid?"})
    empty = client.get("/answers", params={"question": ""})

    assert (empty.status_code, empty.json()) == (422, {"detail": "the question is empty"})
    assert reply.json() == {"answer": "6", "standing": "supported", "message": ""}


def test_a_tool_tells_its_model_what_is_wrong(shop: Path) -> None:
    """An error of ours is part of the result, and no exception of the framework's."""
    with open_toolset("openapi.yaml", auth=AUTH, model="openai:none") as (_, run_program, search_tools, describe_tool):
        match = search_tools("refund a payment")["tools"][0]
        assert (match["name"], match["writes"]) == ("POST_payments_paymentId_refund", True)
        assert "did you mean GET_orders" in describe_tool("GET_order")["error"]
        refused = run_program("POST_payments_paymentId_refund(paymentId='p1001', reason='broken')")
        assert (refused["outcome"], refused["calls"][0]["refused"]) == ("error", True)
        assert "POST_payments" in describe_tool(match["name"])["documentation"]
        for function in (run_program, search_tools, describe_tool):
            assert "None: it must be a text" in function(None)["error"]


def test_a_model_that_fails_is_told_in_the_text(shop: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The framework goes on, and the author of the model finds the traceback in the log."""
    with Agent("openapi.yaml", auth=AUTH, model=lambda messages: str(1 / 0)) as agent:
        text = agent.as_tool()("How many orders?")

    assert text == "There is no answer: ZeroDivisionError: division by zero"
    assert "1 / 0" in caplog.text


def config(*words: str) -> tuple[int, str, str]:
    """What `atc mcp config` does: exit code, stdout, stderr."""
    process = CliRunner().invoke(main, ["mcp", "config", *words])
    return process.exit_code, process.stdout, process.stderr


def test_the_configuration_of_a_client(shop: Path) -> None:
    """Paths are absolute, the credential is a name, and each client gets its value in its own way."""
    code, printed, note = config("--api", "openapi.yaml", "--auth", *AUTH, "--name", "shop")
    server = json.loads(printed)["mcpServers"]["shop"]

    assert code == 0
    assert server["args"][-6:] == ["mcp", "serve", "--api", str(shop / "openapi.yaml"), "--auth", *AUTH]
    assert Path(server["command"]).is_absolute()
    assert TOKEN not in printed
    assert 'add SHOP_TOKEN to "env"' in note
    _, printed, _ = config("--api", "openapi.yaml", "--auth", *AUTH, "--client", "cursor")
    assert json.loads(printed)["mcpServers"]["atc"]["env"] == {"SHOP_TOKEN": "${env:SHOP_TOKEN}"}


def test_the_configuration_takes_what_the_file_of_the_folder_says(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client starts elsewhere, so that the file is named; its document and its credential are checked."""
    monkeypatch.delenv("ATC_CONFIG")
    monkeypatch.setenv("ATC_HOME", str(shop / "home"))
    assert CliRunner().invoke(main, ["init", "openapi.yaml", "--auth", *AUTH]).exit_code == 0

    for words in ((), ("--api", "openapi.yaml")):
        code, printed, note = config(*words)
        assert code == 0, note
        assert json.loads(printed)["mcpServers"]["atc"]["env"] == {"ATC_CONFIG": str(shop / "atc.toml")}
        assert 'add SHOP_TOKEN to "env"' in note


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Missing option '--api'"),
        (("--api", "nope.yaml"), "nope.yaml: no such file"),
        (("--api", "openapi.yaml", "--header", "X-Key: 123"), "holds no secret"),
        (("--api", "openapi.yaml", "--auth", "bearer:123"), "holds no secret"),
        (("--api", "openapi.yaml", "--base-url", "https://me:123@shop.example"), "holds no secret"),
        (("--api", "openapi.yaml", "--base-url", "https://shop.example?key=123"), "holds no secret"),
        (("--api", "openapi.yaml", "--transport", "http"), "by its URL"),
        (("--api", "openapi.yaml", "--autth", "x"), "Did you mean '--auth'"),
    ],
)
def test_a_configuration_that_would_not_start(words: tuple[str, ...], message: str, shop: Path) -> None:
    """The options are those of `atc mcp serve`, and are checked as there; no secret is written into a file."""
    code, printed, note = config(*words)

    assert (code, printed) == (2, "")
    assert message in note
