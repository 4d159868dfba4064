"""Messages and frames of a hostile MCP server end in one of our errors or a value: no traceback, no hang.

Conversations of a real server are altered by a seed (`hostile_mcp.py`); 200 were tried over each of stdio and HTTP.
Those after which a server never lists its tools are left out here: each costs the 30 s that a start may take.
"""

from __future__ import annotations

import ast
import json
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.json_server import listening
from tests.security.hostile_mcp import Hostile, over_http

HERE = Path(__file__).parent
SERVER = HERE.parent / "protocols" / "mcp" / "tools_server.py"
START = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
ARGUMENTS: dict[str, dict[str, str]] = {
    "parts/find": {"text": "b"},
    "parts.take": {"name": "bolt"},
    "list": {},
    "picture-of": {"name": "bolt"},
    "echo": {"text": "x"},
}

SEEDS = [105, 107, 108, 111, 112, 116, 119, 120]
"""Without the handler that keeps the SDK's loggers quiet, six of them print; the others end in a message."""


@pytest.fixture(scope="module")
def replies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with what a real server replied, by method or tool."""
    requests = [("initialize", START), ("tools/list", {})]
    requests += [("tools/call", {"name": name, "arguments": values}) for name, values in ARGUMENTS.items()]
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(requests)
    ]
    messages.insert(1, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    found: dict[str, Any] = {}
    with subprocess.Popen([sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        for message in messages:
            print(json.dumps(message), file=server.stdin, flush=True)
            if "id" in message:
                reply = json.loads(server.stdout.readline())
                name = message["params"].get("name") or message["method"]
                found[name] = {key: reply[key] for key in ("result", "error") if key in reply}
    file = tmp_path_factory.mktemp("mcp") / "replies.json"
    file.write_text(json.dumps(found))
    return file


CHILD = """
import json, sys, time
from protocols import load
from protocols.errors import ATCError
from protocols.functions.host_function import ArgumentError, NoReplyError, RemoteCallError

for api in sys.argv[1:]:
    try:
        protocol = load(api)
    except ATCError as error:
        print(repr(str(error)))
        continue
    for tool in protocol.tools:
        end = time.monotonic() + 0.15
        values = {name: value for name, value in {"text": "b", "name": "bolt"}.items() if name in tool.function.hints}
        try:
            print(len(json.dumps(tool.function.call(values, lambda: end - time.monotonic()))))
        except (ArgumentError, NoReplyError, RemoteCallError) as error:
            print(repr(str(error)))
    protocol.close()
"""


@pytest.mark.parametrize("where", ["stdio", "http"])
def test_a_hostile_server_ends_in_a_message(where: str, replies: Path) -> None:
    """Notifications of another form printed the traceback of a logger of the SDK."""
    with ExitStack() as servers:
        apis = []
        for seed in SEEDS:
            stranger = Hostile(json.loads(replies.read_text()), seed)
            command = shlex.join([sys.executable, str(HERE / "hostile_mcp.py"), str(replies), str(seed)])
            url = servers.enter_context(listening(over_http(stranger))) if where == "http" else ""
            apis.append(f"mcp:{url}/mcp" if url else f"mcp:stdio:{command}")
        words = [sys.executable, "-c", CHILD, *apis]
        child = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=HERE.parents[1])
    results = [ast.literal_eval(line) for line in child.stdout.splitlines()]

    assert (child.returncode, child.stderr) == (0, "")
    assert len(results) >= len(SEEDS)
    assert not [text for text in results if isinstance(text, str) and ("\n" in text or len(text) > 1000)]
