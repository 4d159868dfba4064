"""How many writes are made twice when solves are cut off, with the journal and without, and what the journal costs.

`python -m benchmarks.micro.journal` solves the same task many times against a service on this machine. Each solve has
one fault, in even shares: its process dies before a write is sent; the service does a write and hangs up; the process
dies with the reply in its hands; it is killed at a random moment. A solve that was killed is done again: resumed from
its journal, or, without one, from the start. The model is a script whose first program fails after its writes, so that
every solve has a repair in it, too.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from atc import Agent
from atc.events import Event, ProgramWritten
from atc.files import to_json
from atc.models import Completion, Message, Usage
from protocols import Protocol, load
from sandbox import Broker, Journal, Limits
from sandbox.egress.transport import Transport, TransportReply

__all__ = ["FAULTS", "main", "measure"]

_COLUMNS = ("fault", "runs", "killed", "solved", "twice", "lost", "unknown", "silent")
FAULTS = ("before send", "after commit", "before save", "kill -9")
JOBS = 5
"""Solves that go on at a time."""

WINDOW = 0.25
"""Seconds after its first program is written in which a solve is killed; most end sooner."""

PAUSE = 0.002
"""Seconds that the service takes before and after it does a write, so that a kill hits all of its moments."""

FIRST = """
from concurrent.futures import ThreadPoolExecutor
GET_carts_cart(cart="{run}")
tea = POST_orders(cart="{run}", item="tea")
PUT_addresses_cart(cart="{run}", street="Long Lane", number=7)
def cup(n):
    return POST_orders(cart="{run}", item="cup")["number"]
with ThreadPoolExecutor(2) as pool:
    cups = list(pool.map(cup, range(2)))
paid = POST_payments(cart="{run}", amount=12)
print(tea["nr"], cups, paid["paid"])
"""
REPAIRED = 'GET_carts_cart(cart="{run}")\n' + FIRST.replace('tea["nr"]', 'tea["number"]').replace("cup(n)", "cup(i)")
WRITES = Counter({"tea": 1, "address": 1, "cup": 2, "payment": 1})
"""The writes of one right solve."""


def document(url: str) -> dict[str, object]:
    """The service: a cart that can be read, orders, payments with an idempotency key, an address that is put."""
    text: dict[str, object] = {"type": "string"}
    number: dict[str, object] = {"type": "integer"}

    def operation(body: dict[str, object] | None, *parameters: dict[str, object]) -> dict[str, object]:
        ok = {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}}}
        description: dict[str, object] = {"responses": ok, "parameters": list(parameters)}
        if body is not None:
            schema = {"type": "object", "properties": body, "required": list(body)}
            description["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
        return description

    cart: dict[str, object] = {"name": "cart", "in": "path", "required": True, "schema": text}
    key: dict[str, object] = {"name": "Idempotency-Key", "in": "header", "schema": text}
    return {
        "openapi": "3.1.0",
        "info": {"title": "shop", "version": "1"},
        "servers": [{"url": url}],
        "paths": {
            "/carts/{cart}": {"get": operation(None, cart)},
            "/orders": {"post": operation({"cart": text, "item": text})},
            "/payments": {"post": operation({"cart": text, "amount": number}, key)},
            "/addresses/{cart}": {
                "get": operation(None, cart),
                "put": operation({"street": text, "number": number}, cart),
            },
        },
    }


# The service, in a process of its own


@dataclass
class _Shop:
    """The writes that came, by solve and item."""

    writes: dict[str, Counter[str]] = field(default_factory=dict)
    addresses: dict[str, object] = field(default_factory=dict)
    paid: dict[str, object] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, cart: str, item: str) -> tuple[int, bool]:
        """Do a write. Gives its number, and whether to hang up: a cart called `cut3-…` loses its third reply."""
        with self.lock:
            counts = self.writes.setdefault(cart, Counter())
            counts[item] += 1
            number = counts.total()
            lost = cart.startswith(f"cut{number}-") and cart not in self.cut
            self.cut |= {cart} if lost else set()
            return number, lost


def _serve(ours: socket.socket) -> None:
    """Serve until the other end is closed; write the URL, and all writes for each line that comes."""
    shop = _Shop()

    class ShopHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            cart = self.path.rpartition("/")[2]
            resource = shop.addresses.get(cart) if "/addresses/" in self.path else {"cart": cart}
            self.answer(200 if resource else 404, resource or {"message": "there is none"})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = self.headers.get("Idempotency-Key")
            time.sleep(PAUSE)
            if key and key in shop.paid:
                return self.answer(200, shop.paid[key])
            cart = body.get("cart") or self.path.rpartition("/")[2]
            item = body.get("item") or ("payment" if "amount" in body else "address")
            number, lost = shop.write(cart, item)
            reply = {"number": number, "paid": body.get("amount")}
            if key:
                shop.paid[key] = reply
            if item == "address":
                shop.addresses[cart] = body
            time.sleep(PAUSE)
            if lost:
                self.close_connection = True
                return None
            return self.answer(200, reply)

        do_PUT = do_POST  # noqa: N815

        def answer(self, status: int, body: object) -> None:
            data = json.dumps(body).encode()
            head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
            with suppress(ConnectionError):  # who asked may have been killed
                self.wfile.write(head.encode() + data)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is logged."""

    class ShopServer(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that was killed is no news."""

    server = ShopServer(("127.0.0.1", 0), ShopHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with ours.makefile("rw") as lines:
        print(f"http://127.0.0.1:{server.server_port}", file=lines, flush=True)
        for _ in lines:
            with shop.lock:
                print(json.dumps(shop.writes), file=lines, flush=True)


@contextmanager
def _service() -> Iterator[tuple[str, Callable[[], dict[str, Counter[str]]]]]:
    """A running service: its URL, and a function that returns all writes."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        with suppress(BaseException):
            _serve(theirs)
        os._exit(0)
    theirs.close()
    with ours, ours.makefile("rw") as lines:
        url = lines.readline().strip()

        def written() -> dict[str, Counter[str]]:
            print("?", file=lines, flush=True)
            return {cart: Counter(counts) for cart, counts in json.loads(lines.readline()).items()}

        yield url, written
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


# One solve, in a process that may die


class _RepairingModel:
    """A model that writes the failing program first, then the repaired one."""

    name = "script"

    def __init__(self, run: str) -> None:
        self._run = run

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        repairs = any(message.role == "assistant" and self._run in message.content for message in messages)
        text = (REPAIRED if repairs else FIRST).format(run=self._run)
        return Completion(text, Usage(1, 1, 0, 1, 0.0), "stop")

    def close(self) -> None:
        """Nothing is held."""


class _JournallessAgent(Agent):
    """An agent without a journal."""

    def new_journal(self) -> Journal | None:
        return None


@dataclass
class _InterruptedSolve:
    """A solve on its way: its fault, the file of its journal (None: it has none), its process and when to kill it."""

    name: str
    fault: str
    nth: int
    file: Path | None
    result: Path
    pid: int = 0
    kill_at: float | None = None
    retried: bool = False

    @property
    def started(self) -> Path:
        """A file that is there once the first program is written."""
        return self.result.with_suffix(".started")


def _solve(solve: _InterruptedSolve, protocol: Protocol) -> None:
    """Do one solve, or as much of it as its fault allows."""
    if not solve.retried:
        _prepare_fault(solve)
    kind = _JournallessAgent if solve.file is None else Agent
    journal = Journal(solve.file) if solve.file is not None else None
    script = _RepairingModel(solve.name)

    def mark_started(event: Event) -> None:
        if isinstance(event, ProgramWritten):
            solve.started.touch()

    with kind(protocol, script, mode="naive", max_reflections=2, writes="allow", on_event=mark_started) as agent:
        solution = agent.solve(f"Buy tea and two cups ({solve.name})", journal=journal)
    unknown = len(journal.unknown) if journal is not None else 0
    text = json.dumps({"status": solution.status, "unknown": unknown, "message": solution.message})
    solve.result.write_text(text)
    if journal is not None:
        journal.close()


def _prepare_fault(solve: _InterruptedSolve) -> None:
    """Let this process die at its nth write, if that is its fault."""
    if solve.fault not in ("before send", "before save"):
        return
    send = Transport.send
    lock = threading.Lock()
    writes = 0

    def dying(self: Transport, request: object, *, seconds: float, limit: int) -> TransportReply:
        nonlocal writes
        with lock:
            writes += getattr(request, "method", "GET") != "GET"
            last = writes == solve.nth
        if last and solve.fault == "before send":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = send(self, request, seconds=seconds, limit=limit)  # type: ignore[arg-type]
        if last:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    Transport.send = dying  # type: ignore[method-assign]


def _start(solve: _InterruptedSolve, protocol: Protocol) -> None:
    solve.pid = os.fork()
    if solve.pid:
        return
    status = 1
    try:
        os.setsid()
        _solve(solve, protocol)
        status = 0
    except BaseException as error:
        print(f"{solve.name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


# All of them


def _solve_all(solves: Sequence[_InterruptedSolve], protocol: Protocol, report: Callable[[int], None]) -> None:
    """Do all solves; one that was killed is done again, without a fault."""
    waiting, running, finished = list(reversed(solves)), list[_InterruptedSolve](), 0
    while waiting or running:
        while waiting and len(running) < JOBS:
            solve = waiting.pop()
            _start(solve, protocol)
            running.append(solve)
        for solve in list(running):
            killed = solve.fault == "kill -9" and not solve.retried
            if killed and solve.kill_at is None and solve.started.exists():
                solve.kill_at = time.monotonic() + random.Random(solve.name).uniform(0.0, WINDOW)
            if solve.kill_at is not None and time.monotonic() >= solve.kill_at:
                os.kill(solve.pid, signal.SIGKILL)
            pid, status = os.waitpid(solve.pid, os.WNOHANG)
            if not pid:
                continue
            running.remove(solve)
            if status and not solve.retried:
                solve.retried, solve.kill_at = True, None
                waiting.append(solve)
            else:
                finished += 1
                report(finished)
        time.sleep(0.001)


def _rows(solves: Sequence[_InterruptedSolve], written: dict[str, Counter[str]]) -> list[dict[str, object]]:
    """The figures of each fault.

    How many solves there were, were killed, and had an answer; writes made twice, and in how many solves; writes that
    an answer rests on and the service does not have; writes reported as unknown; solves that ended with neither an
    answer nor such a report.
    """
    rows: list[dict[str, object]] = []
    for fault in FAULTS:
        mine = [solve for solve in solves if solve.fault == fault]
        counts = Counter[str]()
        for solve in mine:
            result: dict[str, Any] = {"status": "none", "unknown": 0}
            if solve.result.exists():
                result = json.loads(solve.result.read_text())
            twice = (written.get(solve.name, Counter()) - WRITES).total()
            missing = (WRITES - written.get(solve.name, Counter())).total()
            answered = result["status"] == "answered"
            counts["solved"] += int(answered)
            counts["twice"] += twice
            counts["solves"] += twice > 0
            counts["lost"] += missing if answered else 0
            counts["unknown"] += result["unknown"]
            counts["silent"] += not answered and not result["unknown"]
            counts["killed"] += solve.retried
        names = ("killed", "solved", "twice", "solves", "lost", "unknown", "silent")
        rows.append({"fault": fault, "runs": len(mine), **{name: counts[name] for name in names}})
    return rows


def _sums(rows: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """All faults together."""
    return {name: sum(int(str(row[name])) for row in rows) for name in rows[0] if name != "fault"}


def _cost(url: str, folder: Path, calls: int) -> dict[str, float]:
    """The median milliseconds of a call through the broker, with and without a journal on disk, in turns."""
    protocol = load(document(url))
    times: dict[bool, list[float]] = {True: [], False: []}
    with Journal(folder / "cost.journal") as journal:
        limits = Limits(calls=calls)
        brokers = {
            True: Broker(protocol, journal=journal.attempt(), limits=limits),
            False: Broker(protocol, limits=limits),
        }
        for number in range(calls):
            for journaled, broker in brokers.items():
                started = time.perf_counter()
                broker.call("GET_carts_cart", (), {"cart": f"cost-{number}"})
                times[journaled].append((time.perf_counter() - started) * 1000)
        for broker in brokers.values():
            broker.close()
    on, off = statistics.median(times[True]), statistics.median(times[False])
    return {"with_ms": round(on, 3), "without_ms": round(off, 3), "journal_ms": round(on - off, 3)}


def measure(runs: int, report: Callable[[int], None] = lambda finished: None) -> dict[str, object]:
    """Solve `runs` times with the journal and as often without, and give the figures of both."""
    figures: dict[str, object] = {"runs": runs}
    with tempfile.TemporaryDirectory() as name, _service() as (url, written):
        folder = Path(name)
        protocol = load(document(url))
        before = 0
        for journaled in (True, False):
            draw = random.Random(runs)
            solves = []
            for number in range(runs):
                fault, nth = FAULTS[number % len(FAULTS)], draw.randint(1, WRITES.total())
                kind = f"cut{nth}" if fault == "after commit" else "run"
                cart = f"{kind}-{'on' if journaled else 'off'}-{number:04}"
                file = folder / f"{cart}.journal" if journaled else None
                solves.append(_InterruptedSolve(cart, fault, nth, file, folder / f"{cart}.json"))
            _solve_all(solves, protocol, lambda finished, before=before: report(before + finished))  # type: ignore[misc]
            before += runs
            figures["journal" if journaled else "no journal"] = _rows(solves, written())
        figures["cost"] = _cost(url, folder, 500)
    return figures


@click.command()
@click.option("--runs", type=click.IntRange(min=4), default=500, show_default=True, help="Solves of each kind.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def main(runs: int, as_json: bool) -> None:
    """Count the writes made twice when solves are cut off, with the journal and without."""
    started = time.monotonic()

    def report(finished: int) -> None:
        if finished % 50 == 0:
            click.echo(f"{finished} of {2 * runs} solves, {time.monotonic() - started:.0f} s", err=True)

    figures = measure(runs, report)
    if as_json:
        click.echo(to_json(figures), nl=False)
        return
    console = Console()
    for kind in ("journal", "no journal"):
        rows = figures[kind]
        assert isinstance(rows, list)
        table = Table(*_COLUMNS, title=kind)
        for row in [*rows, {"fault": "all", **_sums(rows)}]:
            cells = {**row, "twice": f"{row['twice']} in {row['solves']}"}
            table.add_row(*(str(cells[name]) for name in _COLUMNS))
        console.print(table)
    cost = figures["cost"]
    assert isinstance(cost, dict)
    console.print(
        f"a call {cost['with_ms']} ms with a journal on disk, {cost['without_ms']} ms without: {cost['journal_ms']} ms"
    )


if __name__ == "__main__":
    main()
