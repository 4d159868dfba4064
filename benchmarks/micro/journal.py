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
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import click
import yaml
from rich.console import Console

from atc import Agent
from atc.events import Event, ProgramWritten
from atc.files import to_json
from atc.models import Message
from benchmarks.micro.frame import Measurement, json_option, print_table, seconds_of
from benchmarks.run.scripted_model import ScriptedModel
from protocols import Protocol, load
from protocols.simulator.http.connection import ConnectionServer
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

DOCUMENT = """
openapi: 3.1.0
info: {title: shop, version: "1"}
paths:
  /carts/{cart}:
    get: {parameters: [&cart {name: cart, in: path, required: true, schema: {type: string}}], responses: &ok {
      "200": {description: ok, content: {application/json: {schema: {type: object}}}}}}
  /orders:
    post: {responses: *ok, requestBody: {required: true, content: {application/json: {schema: {
      type: object, required: [cart, item], properties: {cart: {type: string}, item: {type: string}}}}}}}
  /payments:
    post: {responses: *ok, parameters: [{name: Idempotency-Key, in: header, schema: {type: string}}], requestBody: {
      required: true, content: {application/json: {schema: {
      type: object, required: [cart, amount], properties: {cart: {type: string}, amount: {type: integer}}}}}}}
  /addresses/{cart}:
    get: {parameters: [*cart], responses: *ok}
    put: {parameters: [*cart], responses: *ok, requestBody: {required: true, content: {application/json: {schema: {
      type: object, required: [street, number], properties: {street: {type: string}, number: {type: integer}}}}}}}
"""
"""The service: a cart that can be read, orders, payments with an idempotency key, an address that is put."""

_processes = get_context("fork")


def _protocol(url: str) -> Protocol:
    return load({**yaml.safe_load(DOCUMENT), "servers": [{"url": url}]})


# The service, in a process of its own


class _Shop:
    """The writes that came, by solve and item."""

    def __init__(self) -> None:
        self.writes: dict[str, Counter[str]] = {}
        self._addresses: dict[str, object] = {}
        self._paid: dict[str, object] = {}
        self._cut: set[str] = set()
        self._lock = threading.Lock()

    def handle(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, bytes, str, Mapping[str, str]]:
        """Answer one request, or hang up."""
        cart = target.rpartition("/")[2]
        if method == "GET":
            resource = self._addresses.get(cart) if "/addresses/" in target else {"cart": cart}
            return _reply(200 if resource else 404, resource or {"message": "there is none"})
        sent, key = json.loads(body), headers.get("idempotency-key")
        time.sleep(PAUSE)
        if key and key in self._paid:
            return _reply(200, self._paid[key])
        cart = sent.get("cart") or cart
        item = sent.get("item") or ("payment" if "amount" in sent else "address")
        number, lost = self._write(cart, item)
        reply = {"number": number, "paid": sent.get("amount")}
        if key:
            self._paid[key] = reply
        if item == "address":
            self._addresses[cart] = sent
        time.sleep(PAUSE)
        if lost:
            raise SystemExit  # ends the thread of this connection, and so the connection
        return _reply(200, reply)

    def _write(self, cart: str, item: str) -> tuple[int, bool]:
        """Do a write. Gives its number, and whether to hang up: a cart called `cut3-…` loses its third reply."""
        with self._lock:
            counts = self.writes.setdefault(cart, Counter())
            counts[item] += 1
            number = counts.total()
            lost = cart.startswith(f"cut{number}-") and cart not in self._cut
            self._cut |= {cart} if lost else set()
            return number, lost


def _reply(status: int, body: object) -> tuple[int, bytes, str, Mapping[str, str]]:
    return status, json.dumps(body).encode(), "application/json", {}


def _serve(pipe: Connection) -> None:
    """Send the URL, and all writes whenever something comes."""
    shop = _Shop()
    with closing(ConnectionServer(0, shop.handle, datetime.now(UTC))) as server:
        pipe.send(server.url)
        while pipe.recv():
            pipe.send(dict(shop.writes))


@contextmanager
def _service() -> Iterator[tuple[str, Callable[[], dict[str, Counter[str]]]]]:
    """A running service: its URL, and a function that returns all writes."""
    ours, theirs = _processes.Pipe()
    server = _processes.Process(target=_serve, args=(theirs,), daemon=True)
    server.start()

    def written() -> dict[str, Counter[str]]:
        ours.send("writes")
        counts: dict[str, Counter[str]] = ours.recv()
        return counts

    yield ours.recv(), written
    server.kill()
    server.join()


# One solve, in a process that may die


def _repairing_model(run: str) -> ScriptedModel:
    """A model that writes the failing program first, then the repaired one."""

    def reply(messages: Sequence[Message]) -> str:
        repairs = any(message.role == "assistant" and run in message.content for message in messages)
        return (REPAIRED if repairs else FIRST).format(run=run)

    return ScriptedModel("script", reply)


class _JournallessAgent(Agent):
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
    process: BaseProcess | None = None
    kill_at: float | None = None
    retried: bool = False

    @property
    def started(self) -> Path:
        """A file that is there once the first program is written."""
        return self.result.with_suffix(".started")


def _solve(solve: _InterruptedSolve, protocol: Protocol) -> None:
    """Do one solve, or as much of it as its fault allows."""
    os.setsid()
    if not solve.retried and solve.fault in ("before send", "before save"):
        _die_at_write(solve.nth, solve.fault)
    kind = _JournallessAgent if solve.file is None else Agent
    journal = Journal(solve.file) if solve.file is not None else None
    script = _repairing_model(solve.name)

    def mark_started(event: Event) -> None:
        if isinstance(event, ProgramWritten):
            solve.started.touch()

    with kind(protocol, script, mode="naive", max_reflections=2, writes="allow", on_event=mark_started) as agent:
        solution = agent.solve(f"Buy tea and two cups ({solve.name})", journal=journal)
    unknown = len(journal.unknown) if journal is not None else 0
    solve.result.write_text(json.dumps({"status": solution.status, "unknown": unknown, "message": solution.message}))
    if journal is not None:
        journal.close()


def _die_at_write(nth: int, fault: str) -> None:
    """Let this process die at its nth write."""
    send, lock, writes = Transport.send, threading.Lock(), 0

    def dying(self: Transport, request: object, *, seconds: float, limit: int, own: bool = False) -> TransportReply:
        nonlocal writes
        with lock:
            writes += getattr(request, "method", "GET") != "GET"
            last = writes == nth
        if last and fault == "before send":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = send(self, request, seconds=seconds, limit=limit)  # type: ignore[arg-type]
        if last:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    Transport.send = dying  # type: ignore[method-assign]


# All of them


def _solve_all(solves: Sequence[_InterruptedSolve], protocol: Protocol, report: Callable[[int], None]) -> None:
    """Do all solves; one that was killed is done again, without a fault."""
    waiting, running, finished = list(reversed(solves)), list[_InterruptedSolve](), 0
    while waiting or running:
        while waiting and len(running) < JOBS:
            solve = waiting.pop()
            solve.process = _processes.Process(target=_solve, args=(solve, protocol))
            solve.process.start()
            running.append(solve)
        for solve in list(running):
            assert solve.process is not None
            killed = solve.fault == "kill -9" and not solve.retried
            if killed and solve.kill_at is None and solve.started.exists():
                solve.kill_at = time.monotonic() + random.Random(solve.name).uniform(0.0, WINDOW)
            if solve.kill_at is not None and time.monotonic() >= solve.kill_at:
                solve.process.kill()
            if solve.process.exitcode is None:
                continue
            running.remove(solve)
            if solve.process.exitcode and not solve.retried:
                solve.retried, solve.kill_at = True, None
                waiting.append(solve)
            else:
                finished += 1
                report(finished)
        time.sleep(0.001)


def _rows(solves: Sequence[_InterruptedSolve], written: Mapping[str, Counter[str]]) -> list[dict[str, Any]]:
    """The figures of each fault.

    How many solves there were, were killed, and had an answer; writes made twice, and in how many solves; writes that
    an answer rests on and the service does not have; writes reported as unknown; solves that ended with neither an
    answer nor such a report.
    """
    rows = []
    for fault in FAULTS:
        mine = [solve for solve in solves if solve.fault == fault]
        counts = dict.fromkeys(("killed", "solved", "twice", "solves", "lost", "unknown", "silent"), 0)
        for solve in mine:
            result: dict[str, Any] = {"status": "none", "unknown": 0}
            if solve.result.exists():
                result = json.loads(solve.result.read_text())
            writes, answered = written.get(solve.name, Counter()), result["status"] == "answered"
            twice = (writes - WRITES).total()
            counts["killed"] += solve.retried
            counts["solved"] += answered
            counts["twice"] += twice
            counts["solves"] += twice > 0
            counts["lost"] += (WRITES - writes).total() if answered else 0
            counts["unknown"] += result["unknown"]
            counts["silent"] += not answered and not result["unknown"]
        rows.append({"fault": fault, "runs": len(mine), **counts})
    return rows


def _cost(url: str, folder: Path, calls: int) -> dict[str, float]:
    """The median milliseconds of a call through the broker, with and without a journal on disk, in turns."""
    protocol, limits = _protocol(url), Limits(calls=calls)
    times: dict[bool, list[float]] = {True: [], False: []}
    with Journal(folder / "cost.journal") as journal:
        journaled, plain = Broker(protocol, journal=journal.attempt(), limits=limits), Broker(protocol, limits=limits)
        with closing(journaled), closing(plain):
            for number in range(calls):
                arguments = {"cart": f"cost-{number}"}
                for broker in (journaled, plain):
                    seconds = seconds_of(lambda: broker.call("GET_carts_cart", (), arguments))  # noqa: B023
                    times[broker is journaled].append(seconds * 1000)
    on, off = statistics.median(times[True]), statistics.median(times[False])
    return {"with_ms": round(on, 3), "without_ms": round(off, 3), "journal_ms": round(on - off, 3)}


def measure(runs: int, report: Callable[[int], None] = lambda finished: None) -> dict[str, Any]:
    """Solve `runs` times with the journal and as often without, and give the figures of both."""
    figures: dict[str, Any] = {"runs": runs}
    with tempfile.TemporaryDirectory() as name, _service() as (url, written):
        folder, protocol = Path(name), _protocol(url)
        for before, journaled in ((0, True), (runs, False)):
            draw = random.Random(runs)
            solves = []
            for number in range(runs):
                fault, nth = FAULTS[number % len(FAULTS)], draw.randint(1, WRITES.total())
                kind = f"cut{nth}" if fault == "after commit" else "run"
                cart = f"{kind}-{'on' if journaled else 'off'}-{number:04}"
                file = folder / f"{cart}.journal" if journaled else None
                solves.append(_InterruptedSolve(cart, fault, nth, file, folder / f"{cart}.json"))
            _solve_all(solves, protocol, lambda finished, before=before: report(before + finished))  # type: ignore[misc]
            figures["journal" if journaled else "no journal"] = _rows(solves, written())
        figures["cost"] = _cost(url, folder, 500)
    return figures


@click.command(cls=Measurement)
@click.option("--runs", type=click.IntRange(min=4), default=500, show_default=True, help="Solves of each kind.")
@json_option()
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
    for kind in ("journal", "no journal"):
        faults = figures[kind]
        sums = {name: sum(row[name] for row in faults) for name in faults[0] if name != "fault"}
        rows = [{**row, "twice": f"{row['twice']} in {row['solves']}"} for row in [*faults, {"fault": "all", **sums}]]
        print_table(_COLUMNS, ([row[name] for name in _COLUMNS] for row in rows), title=kind)
    cost = figures["cost"]
    Console().print(
        f"a call {cost['with_ms']} ms with a journal on disk, {cost['without_ms']} ms without: {cost['journal_ms']} ms"
    )


if __name__ == "__main__":
    main()
