"""How a test starts the server that is written by hand, and runs a program over a server's tools."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from protocols import Protocol
from sandbox import Run, Sandbox

HERE = Path(__file__).parent


def spec(*options: str, file: str = "small_server.py") -> str:
    """The source that starts a server of this folder."""
    return f"mcp:stdio:{shlex.join([sys.executable, str(HERE / file), *options])}"


def ran(protocol: Protocol, program: str, **options: object) -> Run:
    """Run a program over the tools."""
    with Sandbox(protocol, **options) as sandbox:  # type: ignore[arg-type]
        return sandbox.run(program)
