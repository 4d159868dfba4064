"""An MCP server's answers have a bounded size, over stdio and HTTP: one that is too large ends its call alone."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.json_server import listening
from tests.security.large_mcp import OverHTTP
from tests.security.measured import in_process

SERVER = Path(__file__).parent / "large_mcp.py"
IMPORTS = "from protocols import load; from sandbox import Sandbox; import mcp, httpx2; from mcp import client"
PROGRAM = """
print(small())
for tool in (dump, tail, many):
    try:
        print(len(str(tool())))
    except Exception as error:
        print(error)
print(small())
"""
STEP = """protocol = load({!r})
with Sandbox(protocol, writes='allow') as sandbox:
    run = sandbox.run({!r})
    print(run.stdout, run.error)
protocol.close()"""
SENTENCE = "(): no answer — it has more than 16 MiB, or than 1,000,000 values; ask the tool for less"


@contextmanager
def source(where: str, form: str = "") -> Iterator[str]:
    """The server as `--api` takes it."""
    if where == "stdio":
        yield f"mcp:stdio:{shlex.join([sys.executable, str(SERVER), form])}"
        return
    with listening(OverHTTP) as url:
        yield f"mcp:{url}/{form or where}"


@pytest.mark.parametrize("where", ["stdio", "http", "events"])
def test_a_large_answer_ends_its_call_alone(where: str) -> None:
    """300 kB of gzip took 914 MB; a line without end took all memory."""
    with source(where) as api:
        text, grown = in_process(IMPORTS, STEP.format(api, PROGRAM))

    assert text.split("\n") == ["small", f"dump{SENTENCE}", f"tail{SENTENCE}", f"many{SENTENCE}", "small", " None"]
    assert grown < 250


@pytest.mark.parametrize("where", ["stdio", "http"])
def test_a_large_list_of_tools_is_left(where: str) -> None:
    """Pages of 4 MB without end: the tools so far are used."""
    with source(where, "list") as api:
        text, grown = in_process(IMPORTS, f"p = load({api!r}); p.close(); print(len(p.tools), *p.warnings)")

    assert text.startswith("5 ") and "lists more than 16 MiB of tools; the 5 tools so far are used" in text
    assert grown < 250


def test_requests_without_end_are_left_out() -> None:
    """Each waited in memory until the server read its answer."""
    with source("stdio", "pings") as api:
        text, grown = in_process(IMPORTS, STEP.format(api, "print(small())"))

    assert text == "small\n None"
    assert grown < 50


def test_noise_without_a_line_end_is_passed_over() -> None:
    """As other lines that are no messages."""
    with source("stdio", "noise") as api:
        text, grown = in_process(IMPORTS, f"p = load({api!r}); p.close(); print(len(p.tools))")

    assert (text, grown < 150) == ("4", True)
