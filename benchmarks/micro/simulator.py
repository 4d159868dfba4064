"""How many requests a simulated API answers in a minute on one core, over HTTP with connections that are kept.

`python -m benchmarks.micro.simulator SPEC` serves SPEC in a process of its own, bound to
one core, and asks from another one, over bare sockets, so that no client's own work is counted:

    known      the same forty reads again and again, as tasks that repeat themselves ask
    new        reads that nobody asked before: each page, name and identifier is another one
    mixed      nine known reads, then a write
"""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from urllib.parse import quote, urlsplit

import click

from benchmarks.micro.frame import Measurement, processor_seconds
from protocols import Protocol, UsageError, load
from protocols.simulator import Simulator

__all__ = ["main", "measure"]

_READS = 40


def measure(spec: str, seconds: float = 3.0, connections: int = 4) -> dict[str, int]:
    """Requests a minute of one core's time, by kind of request."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(spec, theirs), daemon=True)
    server.start()
    try:
        url: str = ours.recv()
        client = _Client(url)
        reads = list(_readable(load(spec), client))[:_READS]
        if not reads:
            raise UsageError(f"no read of {spec} goes without arguments")
        writes = _writable(load(spec), client)
        numbers = itertools.count()

        def repeated() -> Iterator[tuple[str, str]]:
            return (("GET", path) for path in itertools.cycle(reads))

        def new() -> Iterator[tuple[str, str]]:
            return (
                ("GET", f"{path}{'&' if '?' in path else '?'}unasked={next(numbers)}")
                for path in itertools.cycle(reads)
            )

        def mixed() -> Iterator[tuple[str, str]]:
            for number, path in enumerate(itertools.cycle(reads)):
                yield writes[number % len(writes)] if writes and number % 10 == 9 else ("GET", path)

        kinds: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {"known": repeated, "new": new, "mixed": mixed}
        return {
            name: _rate(url, server.pid or 0, requests, seconds, connections)
            for name, requests in kinds.items()
            if name != "mixed" or writes
        }
    finally:
        server.terminate()
        server.join()


def _serve(spec: str, connection: Connection) -> None:
    with contextlib.suppress(OSError, AttributeError):  # not on every system
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with Simulator(load(spec), auth=False) as simulator:
        connection.send(simulator.url)
        threading.Event().wait()


class _Client:
    """One kept connection."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._root = parts.path
        self._socket = socket.create_connection((parts.hostname or "", parts.port or 80))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")

    def ask(self, method: str, path: str) -> tuple[int, bytes]:
        """Status and body."""
        body = "Content-Length: 0\r\n" if method != "GET" else ""
        self._socket.sendall(f"{method} {self._root}{path} HTTP/1.1\r\nHost: localhost\r\n{body}\r\n".encode())
        status = int(self._file.readline().split()[1])
        size = 0
        while (line := self._file.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        return status, self._file.read(size)


def _readable(protocol: Protocol, client: _Client) -> Iterator[str]:
    """Reads that are answered with 2xx: those without arguments, and details of what they list."""
    gets = [tool for tool in protocol.tools if tool.method == "GET"]
    identifiers: list[str] = []
    for tool in gets:
        if not any(parameter.required for parameter in tool.parameters):
            status, body = client.ask("GET", tool.path)
            if status == 200:
                yield tool.path
                values = (entry.get(name) for entry in _objects(json.loads(body)) for name in ("id", "uuid"))
                identifiers += [str(value) for value in values if isinstance(value, (str, int))]
    for tool in gets:
        needed = [parameter for parameter in tool.parameters if parameter.required]
        if len(needed) == 1 and needed[0].location == "path":
            for identity in dict.fromkeys(identifiers):
                path = tool.path.replace(f"{{{needed[0].name}}}", quote(identity, safe=""))
                if client.ask("GET", path)[0] == 200:
                    yield path
                    break


def _writable(protocol: Protocol, client: _Client) -> list[tuple[str, str]]:
    """Writes without arguments that are answered with 2xx."""
    bare = (tool for tool in protocol.tools if tool.writes and not any(p.required for p in tool.arguments))
    return [(tool.method, tool.path) for tool in bare if client.ask(tool.method, tool.path)[0] < 300]


def _objects(body: object) -> Iterator[dict[str, object]]:
    if isinstance(body, dict):
        yield body
    for value in body.values() if isinstance(body, dict) else body if isinstance(body, list) else ():
        yield from _objects(value)


def _rate(
    url: str, process: int, requests: Callable[[], Iterator[tuple[str, str]]], seconds: float, connections: int
) -> int:
    """Requests that a process answers in a minute of one core's time, over so many connections at once."""
    end = time.perf_counter() + seconds

    def run(client: _Client) -> int:
        for count, (method, path) in enumerate(requests()):
            if time.perf_counter() > end:
                return count
            status, _ = client.ask(method, path)
            assert status < 500, (method, path, status)
        return 0

    clients = [_Client(url) for _ in range(connections)]
    spent_before = processor_seconds(process)
    with ThreadPoolExecutor(connections) as pool:
        answered = sum(pool.map(run, clients))
    return round(answered / (processor_seconds(process) - spent_before) * 60)


@click.command(cls=Measurement)
@click.argument("spec")
@click.option("--seconds", default=3.0, show_default=True, help="How long each kind of request is asked.")
@click.option("--connections", default=4, show_default=True, help="Connections at once.")
def main(spec: str, seconds: float, connections: int) -> None:
    """Measure how many requests the simulated API of SPEC, an OpenAPI document or *.tools.json, answers in a minute."""
    for name, rate in measure(spec, seconds, connections).items():
        click.echo(f"{name:8} {rate:10,} requests/min")


if __name__ == "__main__":
    main()
