"""A service that we did not write, to be probed: the server of Prefect, which keeps track of workflows in SQLite.

`LocalAPI` answers as a test tells it to. A real service has what no test of ours would think of: 187 operations, lists
that one asks for with POST, operations that make what may be there already, names in place of identifiers, errors for
what its document allows, and a document that does not say all that is sent. It listens on the loopback address alone,
and asks nobody else.

Usage:
    with service() as prefect:
        sandbox = Sandbox(load(prefect.document), base_url=prefect.base_url)
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import requests

__all__ = ["Service", "service"]

_KINDS = (
    *("artifacts", "automations", "block_documents", "block_schemas", "block_types", "concurrency_limits"),
    *("deployments", "events", "flow_runs", "flows", "logs", "saved_searches", "task_runs", "v2/concurrency_limits"),
    *("variables", "work_pools", "work_queues"),
)
"""What is stored, by the path under which one asks for it."""


@dataclass(frozen=True, slots=True)
class Service:
    """A running service."""

    url: str

    @property
    def base_url(self) -> str:
        return f"{self.url}/api"

    @property
    def document(self) -> str:
        """The URL of its own document, in OpenAPI 3.1."""
        return f"{self.url}/openapi.json"

    def make(self, path: str, body: object) -> str:
        """Have something made; its identifier, where it has one."""
        answer = requests.post(f"{self.base_url}/{path}/", json=body, timeout=20)
        answer.raise_for_status()
        return str((answer.json() or {}).get("id", ""))

    def stored(self) -> dict[str, object]:
        """What is in it now, by kind, to see that a probe left all as it was."""
        stored = {}
        for kind in _KINDS:
            answer = requests.post(f"{self.base_url}/{kind}/filter", json={}, timeout=20)
            answer.raise_for_status()
            held = answer.json()
            stored[kind] = sorted(held, key=lambda item: str(item["id"])) if isinstance(held, list) else held
        return stored


@contextmanager
def service(seconds: float = 120.0) -> Iterator[Service]:
    """Start it in a process of its own, filled with a few things; at the end nothing of it is left.

    Raises:
        TimeoutError: It did not answer within `seconds`.
    """
    with tempfile.TemporaryDirectory() as folder, Path(folder, "log").open("w+b") as log:
        running = Service(f"http://127.0.0.1:{_free_port()}")
        port = running.url.rpartition(":")[2]
        command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", port]
        # No environment but this: Prefect would take settings from it, such as where a store lies that somebody needs.
        settings = {
            "PATH": os.defpath,
            "HOME": folder,
            "PREFECT_HOME": folder,
            "PREFECT_API_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{folder}/prefect.db",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_UI_ENABLED": "false",
            "DO_NOT_TRACK": "1",
        }
        process = subprocess.Popen(
            [*command, "--no-services"], cwd=folder, env=settings, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            if not _answers(running, process, time.monotonic() + seconds):
                log.seek(0)
                raise TimeoutError(f"Prefect does not answer: {log.read()[-2000:].decode('utf-8', 'replace')}")
            _fill(running)
            yield running
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _fill(running: Service) -> None:
    report = running.make("flows", {"name": "nightly-report", "tags": ["reports"]})
    running.make("flows", {"name": "clean-up"})
    completed = {"type": "COMPLETED", "name": "Completed"}
    runs = [
        running.make("flow_runs", {"flow_id": report, "name": name, "state": completed, "tags": ["reports"]})
        for name in ("amber-otter", "blue-heron")
    ]
    task = {"task_key": "load", "dynamic_key": "0", "name": "load-0", "state": completed}
    running.make("task_runs", {"flow_run_id": runs[0], **task})
    running.make("variables", {"name": "region", "value": "north"})
    running.make("variables", {"name": "retries", "value": 3, "tags": ["ops"]})
    running.make("work_pools", {"name": "laptops", "type": "process"})
    running.make("work_queues", {"name": "later"})  # with the first one Prefect makes a pool for all such, and keeps it
    running.make("deployments", {"name": "weekly", "flow_id": report, "work_pool_name": "laptops"})
    running.make("artifacts", {"key": "summary", "type": "markdown", "data": "# Done", "flow_run_id": runs[0]})
    running.make("concurrency_limits", {"tag": "database", "concurrency_limit": 2})
    running.make("v2/concurrency_limits", {"name": "api", "limit": 4})
    failed = {"type": "event", "posture": "Reactive", "expect": ["prefect.flow-run.Failed"], "threshold": 1}
    act = {"trigger": {**failed, "within": 0}, "actions": [{"type": "do-nothing"}]}
    running.make("automations", {"name": "tell-me", **act})
    entry = {"name": "prefect", "level": 20, "message": "it began", "timestamp": "2026-01-01T00:00:00Z"}
    running.make("logs", [{**entry, "flow_run_id": runs[0]}])


def _answers(running: Service, process: subprocess.Popen[bytes], until: float) -> bool:
    while process.poll() is None and time.monotonic() < until:
        with suppress(requests.ConnectionError):
            return requests.get(f"{running.base_url}/health", timeout=10).ok
        time.sleep(0.2)
    return False


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
