"""What the measurement of `atc serve` needs around the server, each part in a process of its own on this machine.

A simulated API; a model endpoint that answers recorded programs after a delay; and the load generator.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from protocols import load
from protocols.simulator import Simulator

__all__ = [
    "Answered",
    "generate_load",
    "model_endpoint",
    "running",
    "simulated_api",
    "tree_seconds",
]

_processes = get_context("spawn")

RAMP_SECONDS = 2.0
"""Seconds over which a load of many requests begins, so that its clients do not wait for the same moments."""

_PROGRAM_MARK = "```python"


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a question: seconds as the client saw them; `body` is the JSON, None where the connection broke."""

    query: str
    status: int
    seconds: float
    body: Any


@contextmanager
def running(target: Callable[..., None], *args: object) -> Iterator[Connection]:
    """A process that is handed its end of a pipe, and then `args`; it is killed at the end of the block."""
    ours, theirs = _processes.Pipe()
    process = _processes.Process(target=target, args=(theirs, *args), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        process.kill()
        process.join()
        ours.close()


def simulated_api(pipe: Connection, document: Path) -> None:
    """Serve the simulated API of a document; sends its URL and the made-up credentials."""
    with Simulator(load(document)) as simulator:
        pipe.send((simulator.url, simulator.credentials))
        threading.Event().wait()


def model_endpoint(pipe: Connection, programs: Sequence[tuple[str, str]], delay: float, failing: int) -> None:
    """Serve chat completions; sends its URL.

    Args:
        programs: Patterns that a question matches, each with the program that answers it.
        delay: Seconds before each answer.
        failing: The first program of one question in so many fails, and is repaired by the next.
    """
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    asked = 0
    patterns = [(re.compile(pattern), program) for pattern, program in programs]

    async def complete(request: Request) -> Response:
        nonlocal asked
        started = time.monotonic()
        body = await request.body()
        text = "\n".join(str(message["content"]) for message in json.loads(body)["messages"])
        matches = ((pattern.search(text), program) for pattern, program in patterns)
        program = next(program for match, program in matches if match is not None)
        if "missing_field" not in text:  # the first program of this question
            asked += 1
            if asked % failing == 0:
                program = f'print({{}}["missing_field"])\n{program}'
        await asyncio.sleep(max(0.0, delay - (time.monotonic() - started)))
        message = {"role": "assistant", "content": f"{_PROGRAM_MARK}\n{program}\n```"}
        usage = {"prompt_tokens": len(text) // 4, "completion_tokens": len(program) // 4}
        usage["total_tokens"] = sum(usage.values())
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": "recorded", "choices": [choice]}
        return JSONResponse({**answer, "usage": usage})

    listener = socket.create_server(("127.0.0.1", 0))
    pipe.send(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).run(sockets=[listener])


def generate_load(pipe: Connection, url: str, key: str, questions: Sequence[str], in_flight: int, limit: float) -> None:
    """Ask questions, so many at a time; sends how many are answered, now and then, and at last a list of `Answered`.

    Args:
        limit: Seconds after which no further question is asked.
    """
    asyncio.run(_load(pipe, url, key, questions, in_flight, limit))


async def _load(pipe: Connection, url: str, key: str, questions: Sequence[str], in_flight: int, limit: float) -> None:
    import httpx

    waiting = list(reversed(questions))
    answers: list[Answered] = []
    deadline, step = time.monotonic() + limit, max(1, len(questions) // 100)

    async def worker(client: httpx.AsyncClient, number: int) -> None:
        await asyncio.sleep(RAMP_SECONDS * number / in_flight if len(questions) > in_flight else 0)
        while waiting and time.monotonic() < deadline:
            query = waiting.pop()
            started = time.monotonic()
            try:
                reply = await client.post(f"{url}/v1/solve", json={"query": query})
                answer = Answered(query, reply.status_code, time.monotonic() - started, _summary(reply.json()))
            except (httpx.HTTPError, ValueError):
                answer = Answered(query, 0, time.monotonic() - started, None)
            answers.append(answer)
            if len(answers) % step == 0:
                pipe.send(len(answers))

    limits = httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(headers=headers, timeout=120, limits=limits, trust_env=False) as client:
        await asyncio.gather(*(worker(client, number) for number in range(in_flight)))
    pipe.send(answers)


def _summary(body: Any) -> Any:
    """What of a reply is looked at."""
    wanted = ("id", "status", "answer", "usage", "message", "error", "warnings")
    return {name: body[name] for name in wanted if name in body} if isinstance(body, dict) else body


def tree_seconds(process: int) -> float:
    """Seconds of processor time of a process, its living descendants, and all their children that have ended."""
    ticks, pending = 0, [process]
    while pending:
        folder = Path(f"/proc/{pending.pop()}")
        try:
            ticks += sum(map(int, (folder / "stat").read_text().rpartition(")")[2].split()[11:15]))
            for task in (folder / "task").iterdir():
                pending += map(int, (task / "children").read_text().split())
        except OSError:  # it has ended meanwhile
            continue
    return ticks / os.sysconf("SC_CLK_TCK")
