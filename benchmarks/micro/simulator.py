"""How many requests a simulated API answers in a minute on one core, over HTTP with connections that are kept.

`python -m benchmarks.micro.simulator SPEC` serves SPEC in a process of its own, bound to
one core, and asks from another one, over bare sockets, so that no client's own work is counted:

    known      the same forty reads again and again, as tasks that repeat themselves ask
    new        reads that nobody asked before: each page, name and identifier is another one
    mixed      nine known reads, then a write
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import multiprocessing
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import quote, urlsplit

from protocols import Protocol, Tool, load
from protocols.simulator import Simulator

__all__ = ["measure"]

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
            raise SystemExit(f"no read of {spec} goes without arguments")
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
    identifiers: dict[str, list[str]] = {}
    for tool in gets:
        if not any(parameter.required for parameter in tool.parameters):
            status, body = client.ask("GET", tool.path)
            if status == 200:
                yield tool.path
                for entry in _objects(json.loads(body)):
                    for name in ("id", "uuid"):
                        if isinstance(entry.get(name), (str, int)):
                            identifiers.setdefault("", []).append(str(entry[name]))
    for tool in gets:
        needed = [parameter for parameter in tool.parameters if parameter.required]
        if len(needed) == 1 and needed[0].location == "path":
            for identity in dict.fromkeys(identifiers.get("", [])):
                path = tool.path.replace(f"{{{needed[0].name}}}", quote(identity, safe=""))
                if client.ask("GET", path)[0] == 200:
                    yield path
                    break


def _writable(protocol: Protocol, client: _Client) -> list[tuple[str, str]]:
    """Writes without arguments that are answered with 2xx."""

    def is_bare_write(tool: Tool) -> bool:
        return tool.writes and not any(p.required for p in tool.arguments)

    return [(t.method, t.path) for t in protocol.tools if is_bare_write(t) and client.ask(t.method, t.path)[0] < 300]


def _objects(body: object) -> Iterator[dict[str, object]]:
    if isinstance(body, dict):
        yield body
    for value in body.values() if isinstance(body, dict) else body if isinstance(body, list) else ():
        yield from _objects(value)


def _rate(
    url: str, process: int, requests: Callable[[], Iterator[tuple[str, str]]], seconds: float, connections: int
) -> int:
    """Requests that a process answers in a minute of one core's time, over so many connections at once."""
    counts = [0] * connections
    clients = [_Client(url) for _ in range(connections)]
    end = time.perf_counter() + seconds

    def run(number: int) -> None:
        for method, path in requests():
            if time.perf_counter() > end:
                return
            status, _ = clients[number].ask(method, path)
            assert status < 500, (method, path, status)
            counts[number] += 1

    threads = [threading.Thread(target=run, args=(number,)) for number in range(connections)]
    begun = _spent(process)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return round(sum(counts) / (_spent(process) - begun) * 60)


def _spent(process: int) -> float:
    """Seconds of processor time that a process has used: what others do on the machine meanwhile does not count."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("spec", help="OpenAPI document or *.tools.json")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each kind of request is asked  [3]")
    parser.add_argument("--connections", type=int, default=4, help="at once  [4]")
    arguments = parser.parse_args()
    for name, rate in measure(arguments.spec, arguments.seconds, arguments.connections).items():
        print(f"{name:8} {rate:10,} requests/min")


if __name__ == "__main__":
    main()
