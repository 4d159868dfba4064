"""A server of `atc serve` in a process of its own, and a model endpoint that answers programs, for its tests."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.chat_endpoint import completion
from tests.json_server import JSONHandler, listening

__all__ = ["ALICE", "BOB", "CAROL", "ProgramEndpoint", "Serving", "start_endpoint", "start_serving"]

ALICE, BOB, CAROL = "alice-key-0123456789", "bob-key-0123456789", "carol-key-0123456789"
KEYS = f"# who may ask\nalice:{ALICE}\nbob:{BOB} concurrent=1\ncarol:{CAROL} per_minute=2\n"


@dataclass
class ProgramEndpoint:
    """A model: `programs` by a part of the question; what has a part of it in `held` waits until that is released."""

    url: str = ""
    programs: dict[str, str] = field(default_factory=dict)
    held: dict[str, threading.Event] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def hold(self, part: str) -> threading.Event:
        """Let questions with this part wait for the event."""
        self.held[part] = threading.Event()
        return self.held[part]

    def answer(self, text: str) -> str:
        """The program for a prompt."""
        self.asked.append(text)
        for part, release in self.held.items():
            if part in text:
                release.wait(20)
        return next((program for part, program in self.programs.items() if part in text), 'print("nothing")')

    def count(self, part: str) -> int:
        """How many requests had this part in their prompt."""
        return sum(part in text for text in self.asked)


@contextmanager
def start_endpoint() -> Iterator[ProgramEndpoint]:
    """Serve the chat completions format until the end of the block."""
    state = ProgramEndpoint()

    class Handler(JSONHandler):
        def do_POST(self) -> None:
            request = self.read_json()
            program = state.answer("\n".join(str(message["content"]) for message in request["messages"]))
            self.reply(completion(f"```python\n{program}\n```"))

    with listening(Handler) as url:
        state.url = f"{url}/v1"
        yield state
        for release in state.held.values():
            release.set()


@dataclass
class Serving:
    """A server under test. `options` follow `atc serve`; `folder` has its keys, its log and its journal."""

    options: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    keyed: bool = True
    more_keys: str = ""
    process: subprocess.Popen[bytes] | None = None
    url: str = ""

    @property
    def log(self) -> str:
        """What it said on stderr since its last start."""
        return (self.folder / "log").read_text()

    def start(self) -> None:
        """Start it, at the same port as before, and wait until it serves."""
        command = [sys.executable, "-c", "from atc.apps.cli import main; main()", "serve", *self.options]
        command += ["--journal", str(self.folder / "journal"), "--port", self.url.rpartition(":")[2] or "0"]
        if self.keyed:
            keys = self.folder / "keys"
            keys.write_text(KEYS + self.more_keys)
            keys.chmod(0o600)
            command += ["--key-file", str(keys)]
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(command, env={**os.environ, **self.environment}, stderr=log)
        deadline = time.monotonic() + 60
        while "serving on " not in self.log:
            assert self.process.poll() is None and time.monotonic() < deadline, self.log
            time.sleep(0.05)
        self.url = self.log.partition("serving on ")[2].split()[0]

    def client(self, key: str | None = ALICE) -> httpx.Client:
        """A client with a key."""
        headers = {"Authorization": f"Bearer {key}"} if key is not None else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False)

    def ended(self, id: str, key: str = ALICE) -> dict[str, Any]:
        """The state of a solve once it is over, with its solution."""
        deadline = time.monotonic() + 60
        with self.client(key) as client:
            while True:
                state: dict[str, Any] = client.get(f"/v1/solve/{id}").json()
                if state["state"] in ("done", "cancelled"):
                    return state
                assert time.monotonic() < deadline, state
                time.sleep(0.05)

    def children(self) -> list[int]:
        """The solver processes."""
        assert self.process is not None
        found: list[int] = []
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
        return [pid for pid in found if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def kill(self) -> None:
        """End it as a crash would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()


@contextmanager
def start_serving(
    folder: Path,
    options: Sequence[str],
    environment: Mapping[str, str] = {},
    *,
    keyed: bool = True,
    more_keys: str = "",
) -> Iterator[Serving]:
    """Serve until the end of the block; it is killed then."""
    serving = Serving(options, environment, folder, keyed, more_keys)
    try:
        serving.start()
        yield serving
    finally:
        if serving.process is not None and serving.process.poll() is None:
            serving.kill()
