"""How many calls a virtual API server answers in a second of one core, over HTTP with connections that are kept.

`python -m benchmarks.micro.virtual_server` serves APIs of our own in a process bound to one core, and asks from another
one. Only the server's processor time counts:

    cached     the same forty calls again and again, from the cache
    simulated  calls that nobody made before: each has another argument
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
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import click

from atc.apps.cli import print_json
from benchmarks.micro.frame import Measurement, json_option, print_table, processor_seconds
from benchmarks.toolbench.server.cache import ResponseCache
from benchmarks.toolbench.server.catalogue import Catalogue
from benchmarks.toolbench.server.schema_source import SchemaSource
from benchmarks.toolbench.server.virtual_server import VirtualServer

__all__ = ["main", "measure"]

_APIS = 40
_TEMPLATE = {
    "id": "int",
    "name": "str",
    "open": "bool",
    "ports": [{"name": "str", "depth": "float", "_list_length": 5}],
}
"""A reply as large as those of most published APIs."""


def measure(seconds: float = 3.0, connections: int = 4) -> dict[str, int]:
    """Calls a second of one core's time, by kind."""
    with TemporaryDirectory() as folder:
        ours, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        server = context.Process(target=_serve, args=(folder, theirs), daemon=True)
        server.start()
        try:
            url: str = ours.recv()
            numbers = itertools.count()
            names = [f"depth_{number}" for number in range(_APIS)]

            def cached() -> Iterator[bytes]:
                return itertools.cycle([_request(name, "ESB") for name in names])

            def simulated() -> Iterator[bytes]:
                return (_request(name, f"port {next(numbers)}") for name in itertools.cycle(names))

            kinds: dict[str, Callable[[], Iterator[bytes]]] = {"cached": cached, "simulated": simulated}
            client = _Client(url)
            for request in itertools.islice(cached(), _APIS):
                client.ask(request)
            return {
                kind: _rate(url, server.pid or 0, requests, seconds, connections) for kind, requests in kinds.items()
            }
        finally:
            server.terminate()
            server.join()


def _request(api: str, port: str) -> bytes:
    call = {"category": "Weather", "tool_name": "harbour_depths", "api_name": api, "tool_input": {"port": port}}
    return json.dumps({**call, "strip": "", "toolbench_key": ""}).encode()


def _serve(folder: str, connection: Connection) -> None:
    """Serve forty APIs of one tool, with a cache."""
    with contextlib.suppress(OSError, AttributeError):  # not on every system
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    parameters = [{"name": "port", "type": "STRING", "description": "", "default": "ESB"}]
    described = {"category_name": "Weather", "tool_name": "Harbour Depths", "method": "GET"}
    described |= {"required_parameters": parameters, "optional_parameters": [], "template_response": _TEMPLATE}  # type: ignore[dict-item]
    records = [{**described, "api_name": f"Depth {number}"} for number in range(_APIS)]
    file = Path(folder) / "queries.json"
    file.write_text(json.dumps([{"query": "How deep?", "query_id": 1, "api_list": records}]), "utf-8")
    catalogue = Catalogue([file])
    with VirtualServer(catalogue, ResponseCache(Path(folder) / "cache"), source=SchemaSource(catalogue)) as server:
        connection.send(server.start())
        threading.Event().wait()


class _Client:
    """One kept connection."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname or "", parts.port or 80))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")

    def ask(self, body: bytes) -> bytes:
        """The reply to a call."""
        head = f"POST /virtual HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        self._socket.sendall(head + body)
        assert b" 200 " in self._file.readline()
        size = 0
        while (line := self._file.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        return self._file.read(size)


def _rate(url: str, process: int, requests: Callable[[], Iterator[bytes]], seconds: float, connections: int) -> int:
    """Calls that a process answers in a second of one core's time, over so many connections at once."""
    end = time.perf_counter() + seconds

    def run(client: _Client) -> int:
        for count, request in enumerate(requests()):
            if time.perf_counter() > end:
                return count
            assert b'"error": ""' in client.ask(request)
        return 0

    clients = [_Client(url) for _ in range(connections)]
    spent_before = processor_seconds(process)
    with ThreadPoolExecutor(connections) as pool:
        answered = sum(pool.map(run, clients))
    return round(answered / (processor_seconds(process) - spent_before))


@click.command(cls=Measurement)
@click.option("--seconds", default=3.0, show_default=True, help="How long each kind of call is asked.")
@click.option("--connections", default=4, show_default=True, help="Connections at once.")
@json_option()
def main(seconds: float, connections: int, as_json: bool) -> None:
    """Measure how many calls the virtual API server answers in a second of one core."""
    rates = measure(seconds, connections)
    if as_json:
        print_json(rates)
    else:
        print_table(
            ("calls", "a second of one core"), [(kind, f"{rate:,}") for kind, rate in rates.items()], figures_from=1
        )


if __name__ == "__main__":
    main()
