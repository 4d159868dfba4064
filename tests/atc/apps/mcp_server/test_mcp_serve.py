"""`atc mcp serve`: an API for clients of the Model Context Protocol, driven by the official SDK's own client."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from click.testing import CliRunner
from mcp import Client
from mcp_types import CallToolResult

from atc.apps.cli import main
from atc.apps.mcp_server.app import create_server
from atc.apps.mcp_server.service import ToolService
from atc.events import SolveEnded
from atc.models.replay import Recorder
from atc.options import Options, WritesPolicy
from protocols import UsageError, load
from protocols.samples import sample
from sandbox import Sandbox
from tests.scripted import ScriptedModel

ATC = [sys.executable, "-c", "from atc.apps.cli import main; main()"]
CINEMA = str(sample("cinema"))
QUESTION = "Who directed The Silent Harbor?"
WRONG = "```python\nprint(GET_films(query='The Silent Harbor')['films'][0]['director'])\n```"
RIGHT = (
    "```python\nfilm = GET_films(query='The Silent Harbor')['films'][0]\n"
    "crew = GET_films_filmId_credits(filmId=film['filmId'])['crew']\n"
    "print(next(person['name'] for person in crew if person['job'] == 'Director'))\n```"
)
WRITE = "PUT_me_watchlist(filmIds=[57])\nprint([film['filmId'] for film in GET_me_watchlist()['films']])"
KEY = "a-key-for-the-tests-1"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a model answered to the question: a program that fails, and its revision."""
    file = tmp_path_factory.mktemp("recorded") / "answers.jsonl"
    model = Recorder(ScriptedModel(WRONG, RIGHT), file)
    options = Options(model=model, simulate=True, profile="small")

    async def ask() -> str | None:
        with ToolService(load(CINEMA), options) as service:
            async for event in service.solve(QUESTION):
                if isinstance(event, SolveEnded):
                    return event.solution.answer
        return None

    assert anyio.run(ask)
    return file


def command(*options: str, api: str = CINEMA) -> list[str]:
    """The command line of a server."""
    return [*ATC, "mcp", "serve", "--api", api, *options]


@contextmanager
def listening(*options: str) -> Iterator[str]:
    """A server over HTTP; its URL."""
    words = command("--transport", "http", "--port", "0", *options)
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            assert "serving on" in line, line + process.stderr.read()
            yield line.split()[-1]
        finally:
            process.terminate()
            process.wait(10)
    assert process.returncode == 0


async def value(client: Client, tool: str, **arguments: object) -> Any:
    """The structured content of a call that went well."""
    result = await client.call_tool(tool, dict(arguments))
    assert isinstance(result, CallToolResult) and not result.is_error, result
    return result.structured_content


async def use_all_tools(client: Client) -> None:
    """What a client does with a server of the recorded model."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"solve", "check_program", "run_program", "search_tools", "describe_tool"}
    assert all(tool.output_schema is not None for tool in tools.values())
    assert [p for tool in tools.values() for p in tool.input_schema["properties"]] == [
        *("query", "program", "program", "query", "limit", "name"),
    ]
    search = await value(client, "search_tools", query="who made a film", limit=2)
    assert search["tools"][0]["name"] == "GET_films_filmId_credits" and len(search["tools"]) == 2
    described = await value(client, "describe_tool", name="GET_films_filmId_credits")
    assert "def GET_films_filmId_credits(filmId: int) -> Credit:" in described["documentation"]
    wrong = await client.call_tool("describe_tool", {"name": "GET_filmz"})
    assert wrong.is_error and "did you mean GET_films?" in str(wrong.content)
    checked = await value(client, "check_program", program="print(GET_films()['pages'])")
    assert [entry["rule"] for entry in checked["diagnostics"]] == ["unknown-key"]
    run = await value(client, "run_program", program="films = GET_films()\nprint(films['page'])\nfilms['pages']")
    assert (run["outcome"], run["output"], run["calls"][0]["status"]) == ("error", "1\n", 200)
    assert run["fault"]["line"] == 3 and run["attribution"]["tool"] == "GET_films"
    lines: list[str] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        lines.append(str(message))

    result = await client.call_tool("solve", {"query": QUESTION}, progress_callback=on_progress)
    solved = result.structured_content or {}
    assert solved["status"] == "answered" and solved["standing"] == "supported", solved
    assert solved["program"] == RIGHT.split("\n", 1)[1].rsplit("\n", 1)[0] and solved["attempts"] == 2
    with anyio.fail_after(5):  # a notification may be handled after the result
        while not any("GET_films_filmId_credits" in line for line in lines):
            await anyio.sleep(0.05)


def test_a_client_over_http_uses_all_tools(recorded: Path) -> None:
    """Question, check, run, search and documentation, with output schemas and progress."""

    async def run(url: str) -> None:
        async with Client(url) as client:
            await use_all_tools(client)

    with listening("--simulate", "--model", f"replay:{recorded}", "--profile", "small") as url:
        anyio.run(run, url)


@pytest.mark.parametrize(("writes", "acting"), [(None, []), ("allow", ["solve", "run_program"])])
def test_writes_are_denied_unless_the_server_allows_them(writes: WritesPolicy | None, acting: list[str]) -> None:
    """The policy is the server's own; the hints follow from it, and a client cannot change it."""

    async def run(service: ToolService) -> Any:
        async with Client(create_server(service, "1")) as client:
            hints = {t.name: t.annotations and t.annotations.read_only_hint for t in (await client.list_tools()).tools}
            assert [name for name, reads in hints.items() if not reads] == acting
            return await value(client, "run_program", program=WRITE, writes="allow", base_url="http://127.0.0.1:1")

    with ToolService(load(CINEMA), Options(simulate=True, writes=writes)) as service:
        outcome = anyio.run(run, service)
    assert (outcome["outcome"], outcome["calls"][0]["refused"]) == (("ok", False) if writes else ("error", True))
    assert ("57" in outcome["output"]) == bool(writes)


def test_only_messages_of_the_protocol_are_on_stdout(tmp_path: Path) -> None:
    """What functions, and all else in the process, print goes to stderr."""
    file = tmp_path / "loud.py"
    file.write_text(
        "import os, sys\nprint('loading')\n\ndef shout(text: str) -> str:\n    '''Say it loudly.'''\n"
        "    print(text)\n    sys.stdout.write(text)\n    os.system('echo from a child')\n    return text.upper()\n",
        "utf-8",
    )
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    call = {"name": "run_program", "arguments": {"program": "print(shout(text='hear'))"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    words = command("--writes", "allow", api=f"functions:{file}")
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        process.stdin.flush()
        replies = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        rest = process.stdout.read()
        told = process.stderr.read().decode()

    assert [reply["id"] for reply in replies] == [1, 2] and rest == b""
    assert replies[1]["result"]["structuredContent"]["output"] == "HEAR\n"
    assert "loading" in told and "from a child" in told and process.returncode == 0


def test_a_key_is_asked_for_and_pages_of_browsers_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the key, or with another Host or Origin, nothing is answered; our own client sends the key."""
    keys = tmp_path / "keys"
    keys.write_text(f"tests:{KEY}\n", "utf-8")
    keys.chmod(0o600)
    monkeypatch.setenv("MCP_KEY", KEY)
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    good = {"Authorization": f"Bearer {KEY}", "Accept": "application/json, text/event-stream"}
    with listening("--simulate", "--key-file", str(keys)) as url:
        statuses = [
            httpx2.post(url, json=ping, headers=good | more).status_code
            for more in (
                {},
                {"Authorization": ""},
                {"Authorization": "Bearer another-key-of-mine"},
                {"Host": "evil.example"},
                {"Origin": "https://evil.example"},
            )
        ]
        with pytest.raises(Exception, match="does not answer as an MCP server"):
            load(f"mcp:{url}")
        protocol = load(f"mcp:{url}", auth=["bearer:env:MCP_KEY"])
        with Sandbox(protocol) as sandbox:
            run = sandbox.run("print(run_program(program='print(GET_films()[\"page\"])')['output'])")
        protocol.close()

    assert statuses[1:] == [401, 401, 421, 403] and statuses[0] not in (401, 403, 421)
    assert run.stdout == "1\n\n", run.error


def test_our_own_client_uses_our_own_server(tmp_path: Path) -> None:
    """A program of ours runs a program over there, through `--api mcp:stdio:`."""
    program = tmp_path / "program.py"
    program.write_text(
        "found = search_tools(query='who directed a film', limit=1)['tools'][0]['name']\n"
        "inner = 'print(len(GET_films()[\"films\"]) > 0)'\n"
        "print(found, check_program(program=inner)['diagnostics'], run_program(program=inner)['output'].strip())\n",
        "utf-8",
    )
    api = f"mcp:stdio:{shlex.join(command('--simulate'))}"

    result = CliRunner().invoke(main, ["run", str(program), "--api", api])

    assert (result.exit_code, result.output) == (0, "GET_films_filmId_credits [] True\n")


def test_limits_of_a_key_are_refused_at_the_start(tmp_path: Path) -> None:
    """This server holds none, and says so instead of letting them be written in vain; the key is not repeated."""
    keys = tmp_path / "keys"
    keys.write_text(f"plain:{KEY}-2\ntests:{KEY} per_minute=1 max_cost=0.10\n", "utf-8")
    options = ["--transport", "http", "--simulate", "--key-file", str(keys)]

    result = CliRunner().invoke(main, ["mcp", "serve", "--api", CINEMA, *options])

    assert result.exit_code == 2 and KEY not in result.output
    assert "line 2: this server holds no limits of a key; take those of tests out" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--transport", "http", "--host", "0.0.0.0", "--simulate"], 2, "name who may ask with --key-file FILE"),
        (["--key-file", __file__, "--simulate"], 2, "--key-file is for --transport http"),
        (["--writes", "ask"], 2, "'ask' is not one of"),
        (["--base-url", "http://127.0.0.1:9"], 6, "nobody answers at http://127.0.0.1:9"),
    ],
)
def test_a_server_that_cannot_be_is_told(options: list[str], code: int, message: str) -> None:
    """The reason is told before any client comes."""
    result = CliRunner().invoke(main, ["mcp", "serve", "--api", CINEMA, *options])

    assert result.exit_code == code and message in " ".join(result.output.split())


def test_nobody_can_be_asked() -> None:
    """A policy that asks is refused where nobody sits."""
    with pytest.raises(UsageError, match="nobody can be asked here"):
        ToolService(load(CINEMA), Options(simulate=True, writes="ask"))
