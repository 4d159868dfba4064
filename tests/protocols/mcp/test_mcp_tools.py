"""The tools of an MCP server, called by programs."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.agent import Agent
from atc.apps.cli import main
from atc.assist.check import check
from protocols import APIError, Protocol, UsageError, load
from protocols.calls.auth import credential
from protocols.contracts.contract import Contract
from protocols.mcp import connection
from sandbox import Journal, Limits
from tests.atc_command import start
from tests.local_api import Answer, LocalAPI
from tests.protocols.mcp.conftest import ran, spec
from tests.scripted import ScriptedModel

SECRET = "s3cr3t-of-the-stockroom"
STOCKROOM = spec(file="tools_server.py")


@pytest.fixture(scope="module")
def stockroom() -> Iterator[Protocol]:
    """A server that stays what it is."""
    protocol = load(STOCKROOM)
    yield protocol
    protocol.close()


@pytest.fixture
def fragile(tmp_path: Path) -> Iterator[tuple[Protocol, Path]]:
    """A server of one test, and the file with its process id."""
    file = tmp_path / "pid"
    protocol = load(spec("--pid", str(file)))
    yield protocol, file
    protocol.close()


def alive(file: Path) -> bool:
    try:
        os.kill(int(file.read_text()), 0)
    except ProcessLookupError:
        return False
    return "zombie" not in Path(f"/proc/{file.read_text()}/status").read_text()


def test_tools_have_names_hints_and_documentation_of_the_server(stockroom: Protocol) -> None:
    """Namespaces become `__`, a builtin is not shadowed; schemas, defaults and docstrings are told to the model."""
    usages = {tool.name: tool.function.typed_usage for tool in stockroom.tools if tool.function}

    assert stockroom.title == "Stockroom"
    assert usages["parts__find"] == "parts__find(text: str = '', limit: int = 10) -> dict"
    assert usages["list_"] == "list_(kind: str | None = None) -> Any"
    assert stockroom.tool("parts__find").argument("text").description == "What the name holds."  # type: ignore[union-attr]
    prompt = Agent(stockroom, ScriptedModel()).opening("How many bolts are there?").messages()[-1].content
    assert "parts__find(text: str = '', limit: int = 10) -> dict — List the parts whose names hold a text." in prompt
    assert "-> {items:[{name, count:int" in prompt or "-> {items:[" in prompt


def test_a_read_is_replayed_on_resume(stockroom: Protocol, tmp_path: Path) -> None:
    """The server is not asked again what the journal has; a write after it is."""
    programs = ("print(parts__find('bolt')['total'])", "print(parts__find('bolt')['total'])\nparts__take(name='bolt')")
    runs = []
    for program in programs:
        with Journal(tmp_path / "solve.journal") as journal:
            runs.append(ran(stockroom, program, writes="allow", journal=journal))

    assert runs[0].stdout == runs[1].stdout == "1\n"
    assert [[call.replayed for call in run.calls] for run in runs] == [[False], [True, False]]


def test_only_a_hint_of_the_server_makes_a_tool_a_read(stockroom: Protocol) -> None:
    """`readOnlyHint` says that a tool reads; without it a call is a write, which the policy may refuse."""
    run = ran(stockroom, "print(parts__find('bolt')['total'])\nparts__take(name='bolt')", writes="deny")

    assert {tool.name for tool in stockroom.tools if tool.writes} == {"parts__take"}
    assert run.stdout == "1\n"
    assert run.error is not None and "which --writes deny refuses" in run.error.message
    assert [call.refused for call in run.calls] == [False, True]


def test_a_result_is_its_structured_content_else_its_text(stockroom: Protocol) -> None:
    """A text that is a JSON list or object is parsed; what is no text is named."""
    program = (
        "print(parts__find(text='bolt', limit=None)['items'][0]['name'], list_()[0]['count'], echo(text='7') + '!')\n"
        "print(picture_of(name='bolt'))"
    )
    run = ran(stockroom, program)

    assert run.stdout == "bolt 7 7!\nHere it is:\n[image image/png, 128 bytes]\n"
    assert [call.url for call in run.calls][:2] == ["mcp:parts__find", "mcp:list_"]


def test_a_failing_tool_is_blamed_with_its_own_words(stockroom: Protocol) -> None:
    """`isError` raises a ToolError with the text; a wrong argument is told before anything is sent."""
    run = ran(stockroom, "parts__take(name='nut', count=3)")
    wrong = ran(stockroom, "parts__take(name='nut', count='many')")

    assert run.error is not None and run.error.tool == "parts__take" and run.calls[0].status == 400
    assert "there are only 0 of nut" in run.error.message
    assert wrong.error is not None and wrong.calls[0].attempts == 0
    assert wrong.error.message == "parts__take(): argument 'count' must be an integer, not 'many'"


def test_a_program_is_checked_against_the_output_schema(stockroom: Protocol) -> None:
    """Wrong keys and arguments are found without a call."""
    program = "print(parts__find(text='x')['item'])\nparts__find(txt='x')\nprint(list_()['anything'])"

    found = [(entry.line, entry.rule, entry.suggestion) for entry in check(program, Contract(stockroom), strict=True)]

    assert found == [(1, "unknown-key", '["items"]'), (2, "unknown-argument", "text")]


def test_an_agent_answers_with_the_tools(stockroom: Protocol) -> None:
    """A solve over a server is one like any other: its calls are the evidence."""
    model = ScriptedModel("```python\nprint(parts__find(text='nut')['items'][0]['count'])\n```")

    solution = Agent(stockroom, model).solve("How many nuts are there?")

    assert (solution.answer, solution.status) == ("0", "answered")
    assert [source.path for source in solution.evidence] == [("items", 0, "count")]


def test_a_server_gets_only_what_is_named_and_its_secret_is_seen_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of the environment a server has what `--auth env:NAME` names, and what it needs to start."""
    monkeypatch.setenv("STOCK_TOKEN", SECRET)
    monkeypatch.setenv("ANOTHER_SECRET", "not-for-servers")
    protocol = load(spec(), auth=["env:STOCK_TOKEN"])
    program = "found = variables()\nprint(sorted(found), found['STOCK_TOKEN'], found['STOCK_TOKEN'][::-1])"
    with Journal(tmp_path / "journal") as journal:
        run = ran(protocol, program, credentials=[credential("env:STOCK_TOKEN", protocol)], journal=journal)
    protocol.close()

    assert "'STOCK_TOKEN'" in run.stdout and "ANOTHER_SECRET" not in run.stdout
    assert "[secret]" in run.stdout and SECRET not in json.dumps(asdict(run))
    assert SECRET.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_an_environment_is_for_servers_that_are_started(stockroom: Protocol, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be passed on is told, and no message repeats what may be a secret."""
    monkeypatch.setenv("STOCK_TOKEN", SECRET)
    for source, auth in (
        (STOCKROOM, "bearer:env:STOCK_TOKEN"),
        ("mcp:https://x.test", "env:STOCK_TOKEN"),
        ("mcp:http://127.0.0.1:1/mcp", "query:key:env:STOCK_TOKEN"),
        ("mcp:http://127.0.0.1:1/mcp", "cookie:key:env:STOCK_TOKEN"),
    ):
        with pytest.raises(UsageError, match="--auth") as raised:
            load(source, auth=[auth])
        assert SECRET not in str(raised.value)


def test_a_server_that_dies_is_told_with_its_last_words(fragile: tuple[Protocol, Path]) -> None:
    """The call that ended it has no reply, and no further one is sent."""
    program = "try:\n    die(words='out of oil')\nexcept ToolError as error:\n    print(error)\nlast()"
    run = ran(fragile[0], program)

    assert run.stdout == "die(): no answer — the MCP server `python` ended (out of oil)\n"
    assert run.error is not None and run.error.message.startswith("last(): no answer — the MCP server")
    assert [call.status for call in run.calls] == [None, None]


def test_a_write_that_a_server_died_of_is_not_sent_again(fragile: tuple[Protocol, Path]) -> None:
    """Its outcome is unknown: the journal keeps a later run from repeating it."""
    with Journal() as journal:
        ran(fragile[0], "die()", journal=journal)
        fragile[0].close()
        run = ran(fragile[0], "die()", journal=journal)

    assert run.error is not None and "its outcome is unknown; it was not sent again" in run.error.message
    assert run.calls[0].attempts == 0


def test_a_server_that_hangs_is_left_and_ended(fragile: tuple[Protocol, Path]) -> None:
    """A call waits as long as the limits say; closing ends the process, although it listens to nobody."""
    protocol, pid = fragile
    waited = ran(protocol, "hang()", limits=Limits(request_timeout=0.2))
    stopped = ran(protocol, "hang()", limits=Limits(wall=0.2))
    assert alive(pid)
    protocol.close()

    assert waited.error is not None and waited.error.message == "hang(): no answer — no answer in time"
    assert (stopped.outcome, stopped.limit) == ("limit", "wall")
    assert not alive(pid)


def test_changed_tools_end_the_calls(fragile: tuple[Protocol, Path]) -> None:
    """Programs were written for the tools as they were: a tool that is another one now is not called, ever again."""
    program = "reform()\ntry:\n    last()\nexcept ToolError:\n    last()"
    first, again = (ran(fragile[0], text) for text in (program, "last()"))

    for run in (first, again):
        assert "changed its tools: last is no longer as it was listed; start again" in str(run.error)
    assert [call.status for call in (*first.calls, *again.calls)] == [200, None, None, None]


def test_tools_that_changed_between_two_starts_end_the_calls(tmp_path: Path) -> None:
    """A server that is started again lists its tools again: those of the first time count, also for other tools."""
    protocol = load(spec("--reform", str(tmp_path / "reformed")))
    protocol.close()
    (tmp_path / "reformed").touch()
    run = ran(protocol, "variables()")
    protocol.close()

    assert "changed its tools: last is no longer as it was listed" in str(run.error)
    assert [call.status for call in run.calls] == [None]


def test_all_pages_are_listed_and_names_told_apart() -> None:
    """Names that collide are numbered; what is not told from the server's name is a warning."""
    protocol = load(spec())
    run = ran(protocol, "print(files__read(file_path='a')['arguments'], files__read_2())")
    protocol.close()

    names = ["files__read", "files__read_2", "print_", "slow", "elsewhere", "tree", "n2nd", "last"]
    names += ["die", "hang", "variables", "reform"]
    assert [tool.name for tool in protocol.tools] == names
    assert "the tool 'files.read' of the MCP server is called files__read_2" in protocol.warnings
    assert protocol.tool("files__read").summary == "Read a file"
    assert [tool.name for tool in protocol.tools if not tool.writes] == ["tree", "hang", "variables"]
    assert run.stdout.startswith("{'file-path': 'a'} {'name': 'files.read'")


def test_schemas_of_a_server_are_not_trusted() -> None:
    """They read no file, no pattern of theirs takes forever, and a recursive one is checked."""
    protocol = load(spec())
    run = ran(
        protocol,
        f"slow(text={'a' * 40!r})\nelsewhere(file='x')\ntree(root={{'parts': [{{'name': 1, 'parts': 2}}]}})",
    )
    protocol.close()

    assert protocol.tool("elsewhere").arguments[0].schema == {}
    assert run.error is not None and run.error.line == 3 and run.error.message.startswith("tree(): argument 'root'")


BAD_SOURCES = [
    ("mcp:", UsageError, "names no server; write mcp:stdio:"),
    ("mcp:stdio:", UsageError, "names no command"),
    ("mcp:stdio:'open", UsageError, "the command line cannot be read: No closing quotation"),
    ("mcp:http://example.com/mcp", UsageError, "plain http is for servers on this machine; use https"),
    ("mcp:https://me:pass@example.com/mcp", UsageError, "pass it with --auth"),
    ("mcp:stdio:no-such-command-here", APIError, "there is no command 'no-such-command-here'"),
    ("mcp:stdio:cat", APIError, "`cat` does not answer as an MCP server"),
    ("mcp:stdio:sleep 60", APIError, "`sleep` did not list its tools in time"),
    ("mcp:stdio:yes", APIError, "`yes` did not list its tools in time"),
    ("mcp:stdio:false", APIError, "ended before it listed its tools"),
    ("mcp:http://127.0.0.1:9/mcp", APIError, "cannot be reached"),
]


@pytest.mark.parametrize(("source", "error", "message"), BAD_SOURCES, ids=[message for _, _, message in BAD_SOURCES])
def test_what_is_no_server_is_told(
    source: str, error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what is wrong with the source, or with what answers there."""
    if "in time" in message:
        monkeypatch.setattr(connection, "_START", 0.3)
    with pytest.raises(error, match=re.escape(message)) as raised:
        load(source)

    assert "pass@" not in str(raised.value)


@pytest.mark.parametrize("status", [302, 307, 308])
def test_a_credential_does_not_follow_a_redirect(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another port is another server: it gets neither the token nor another header of the user, nor the request."""
    monkeypatch.setenv("TOKEN", SECRET)
    with LocalAPI() as named, LocalAPI() as elsewhere:
        elsewhere.answer("POST", "/mcp", {})
        named.respond("POST", "/mcp", lambda _: Answer(status, {}, headers={"Location": f"{elsewhere.url}/mcp"}))
        with pytest.raises(APIError) as error:
            load(f"mcp:{named.url}/mcp", ["bearer:env:TOKEN", "header:X-Api-Key:env:TOKEN"])

    assert named.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert elsewhere.requests == []
    assert SECRET not in str(error.value)


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Runs `atc` with a program in a file; the exit code, and all that was printed."""

    def invoke(name: str, program: str, *arguments: str) -> tuple[int, str]:
        file = tmp_path / "program.py"
        file.write_text(program, "utf-8")
        result = CliRunner().invoke(main, [name, str(file), "--api", spec(), *arguments])
        return result.exit_code, result.output

    return invoke


def test_commands_take_a_server(command: Callable[..., tuple[int, str]]) -> None:
    """`atc run` and `atc check` work on its tools; a server that dies is an API that could not be had."""
    assert command("run", "print(tree(root={})['name'])") == (0, "tree\n")
    code, output = command("check", "tree(rot={})")
    assert code == 1 and "unknown-argument" in output
    code, output = command("run", "die(words='out of oil')")
    assert code == 6 and "the MCP server `python` ended (out of oil)" in output


@pytest.mark.parametrize(("signum", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_no_server_outlives_the_command(tmp_path: Path, signum: signal.Signals, status: int) -> None:
    """Ctrl-C ends the command and the server, which is busy; so does a kill that leaves the command no time."""
    (tmp_path / "program.py").write_text("hang()", "utf-8")
    pid = tmp_path / "pid"
    process = start("run", tmp_path / "program.py", "--api", spec("--pid", str(pid)))
    while not pid.with_name("pid.hangs").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signum)
    process.communicate(timeout=20)
    for _ in range(100):
        if not alive(pid):
            break
        time.sleep(0.05)

    assert not alive(pid)
    assert process.returncode == status
