"""What an MCP server says of its tools is its own word: its hints, its list, and what becomes of that while it runs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atc import Agent
from atc.apps.cli import main
from atc.assist.check import check
from protocols import APIError, Protocol, load
from protocols.choice import choose
from protocols.contracts.contract import Contract
from sandbox import CallRecord, Journal, Sandbox
from tests.scripted import ScriptedModel

SERVER = Path(__file__).with_name("hinting_server.py")


def source(*options: str) -> str:
    """The source that starts the server."""
    return f"mcp:stdio:{shlex.join([sys.executable, str(SERVER), *options])}"


@pytest.fixture(scope="module")
def server() -> Iterator[Protocol]:
    protocol = load(source())
    yield protocol
    protocol.close()


def test_a_tool_that_reads_and_destroys_is_a_write(server: Protocol) -> None:
    """Hints that contradict each other make no read."""
    assert [tool.name for tool in server.tools if tool.writes] == ["purge", "order"]


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ({"writes": "deny"}, None),
        ({"writes": "deny", "trust_hints": True}, "done"),
        ({"writes": "deny", "reads": ["look"]}, "done"),
        ({"writes": "ask"}, "done"),
        ({"writes": "ask", "reads": ["none"]}, None),
    ],
    ids=str,
)
def test_whoever_denies_writes_takes_no_hint_unasked(
    server: Protocol, options: dict[str, Any], answer: str | None
) -> None:
    """Under `deny` a hint makes a read with `trust_hints` alone; the user's own word holds, and takes hints back."""
    with Agent(server, ScriptedModel(*["```python\nprint(look())\n```"] * 9), **options) as agent:
        solution = agent.solve("Is it done?")

    assert solution.answer == answer
    if options == {"writes": "deny"}:
        assert "trust_hints=True takes the server's word that it reads" in str(solution.message)


def test_the_command_says_whose_word_it_takes(tmp_path: Path) -> None:
    """Once, on stderr, and a program that calls such a tool is refused."""
    program = tmp_path / "program.py"
    program.write_text("print(look())", "utf-8")

    def ran(*options: str) -> str:
        return CliRunner().invoke(main, ["run", str(program), "--api", source(), "--writes", "deny", *options]).output

    assert "taken to write, whatever the server's hints say: look, parts, change; --trust-hints" in ran()
    assert "taken to change nothing, by what the document says: look, parts, change" in ran("--trust-hints")
    assert "done" in ran("--trust-hints")


def test_a_list_that_changes_is_asked_for_again() -> None:
    """After the notification the server is asked before the next call; a tool that is another one is not called."""
    protocol = load(source())
    with Sandbox(protocol, writes="allow") as sandbox:
        run = sandbox.run("change()\nprint(look())\norder()")
    protocol.close()

    assert run.error is not None
    assert "changed its tools: order is no longer as it was listed; start again" in run.error.message
    assert [call.status for call in run.calls] == [200, None]


def test_a_list_that_changes_while_somebody_is_asked_is_looked_at_again() -> None:
    """A yes to the tool as it was sends nothing to the tool as it is, and leaves nothing in doubt."""
    protocol = load(source())
    confirmed_calls: list[CallRecord] = []

    def confirm(call: CallRecord) -> bool:
        confirmed_calls.append(call)
        protocol.tool("change").function.call({})  # type: ignore[union-attr]
        return True

    with Journal() as journal, Sandbox(protocol, writes=confirm, journal=journal) as sandbox:
        run = sandbox.run("order()")
    protocol.close()

    assert [call.tool for call in confirmed_calls] == ["order"]
    assert run.error is not None and "changed its tools" in run.error.message
    assert not run.warnings


def test_a_server_that_dies_in_the_middle_of_its_list_is_told() -> None:
    """At the start no half list is used; the message has the server's last words."""
    with pytest.raises(APIError, match=r"ended before it listed its tools \(out of paper\)"):
        load(source("--dies", "1"))


def test_a_server_that_dies_while_it_lists_again_loses_nothing() -> None:
    """What was answered stays; the write that waited for the list was not sent, so nothing about it is in doubt."""
    protocol = load(source("--dies", "2"))
    with Journal() as journal, Sandbox(protocol, writes="allow", journal=journal) as sandbox:
        run = sandbox.run("print(look())\nchange()\norder()")
    protocol.close()

    assert run.stdout == "done\n"
    assert run.error is not None and "ended (out of paper)" in run.error.message
    assert not run.warnings


def test_a_wrapped_result_is_unwrapped(server: Protocol) -> None:
    """A server that wraps what is no object says so in the schema; a program and its check see the value itself."""
    with Sandbox(server, writes="deny") as sandbox:
        run = sandbox.run("print(parts()[0]['name'])")
    wrong = check("print(parts()[0]['nam'])", Contract(server), strict=True)

    assert (run.stdout, run.calls[0].response) == ("bolt\n", [{"name": "bolt"}])
    assert [entry.suggestion for entry in wrong] == ['["name"]']


def test_hints_are_taken_back_for_a_server_alone(server: Protocol) -> None:
    """What a document or the user says of other operations stays."""
    protocol = choose(server, reads=["order"], hints=False)

    assert [tool.name for tool in protocol.tools if not tool.writes] == ["order"]
