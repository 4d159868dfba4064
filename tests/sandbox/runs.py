"""Runs of programs for the tests of the sandbox."""

from __future__ import annotations

import textwrap
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from protocols import Protocol
from sandbox import Limits, Run, Sandbox
from tests.local_api import LocalAPI

OSLO = {"id": "oslo", "name": "Oslo", "population": 700_000}
SECRET = "tok/en+4711=="
NOON = datetime(2024, 6, 1, 12, tzinfo=UTC)


def run(api: LocalAPI | None, program: str, **limits: float) -> Run:
    """Run a program against the documented server, with limits that a test can wait for."""
    bounds = Limits(**{"wall": 10, **limits})  # type: ignore[arg-type]
    if api is None:
        return Sandbox(None, limits=bounds).run(textwrap.dedent(program))
    return Sandbox(api.documented, base_url=api.url, limits=bounds).run(textwrap.dedent(program))


def run_with(protocol: Protocol, program: str) -> Run:
    """Run at the documented address itself."""
    return Sandbox(protocol, limits=Limits(wall=10)).run(program)


def children(process: str = "self") -> set[str]:
    """Processes of the sandbox whose parent a process is; we ourselves, if none is named.

    Others, which earlier tests started, do not count.
    """
    children: set[str] = set()
    for task in Path(f"/proc/{process}/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that has just ended
            children.update((task / "children").read_text().split())
    commands = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return {child for child, command in commands.items() if b'ModuleType("sandbox")' in command}
