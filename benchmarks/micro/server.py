"""How many solves a second `atc serve` answers, how long each waits beside the model, and what a kill -9 costs.

`python -m benchmarks.micro.server` starts the simulated API of the museum of `tiny`, a model endpoint that answers
recorded programs after a delay, the server and a load generator, each in processes of its own on this machine. The
questions are those of `tiny` that only read; each is told apart by a number, and every third first program fails, so
that the model is asked once more. A solve counts as a failure unless it gives the answer that the recorded program
gives by itself.

With `--kill` the questions are orders at a service that records them, half of them in the background and half with an
Idempotency-Key. The server is killed with -9 twice, each time when a third of what is left was answered, and started
again; who had no answer asks again with the same key. Then each accepted solve is looked up, and the orders are
counted.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from atc.files import to_json, write_json
from benchmarks.micro.frame import Measurement, json_option, print_table
from benchmarks.micro.server_parts import (
    SHOP,
    Answered,
    Asked,
    generate_load,
    model_endpoint,
    recording_service,
    running,
    simulated_api,
    tree_seconds,
)
from benchmarks.run.oracle import record_answers
from benchmarks.tasks.datasets import Dataset, open_dataset
from protocols.calls.auth import Credential
from protocols.errors import ATCError
from sandbox import Sandbox

__all__ = ["main", "measure", "measure_kill"]

LIMIT = 3600.0
"""Seconds for the whole load."""

PATIENCE = 60.0
"""Seconds for the server to start, and for the last solves after a kill."""

ITEMS = ("tea", "cup", "spoon")
_ORDER = "Order a tea, a cup and a spoon for the cart cart-{number:05}"
_ORDER_PROGRAM = """cart = GET_carts_cart(cart="{0}")
for item in ("tea", "cup", "spoon"):
    order = POST_orders(cart="{0}", item=item)
    print(item, order["number"])"""


@dataclass
class _Server:
    """A server that is started, and may be killed and started again."""

    options: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    workers: int
    process: subprocess.Popen[bytes] | None = None
    url: str = ""
    key: str = field(default_factory=lambda: secrets.token_hex(16))

    def start(self) -> None:
        """Start it, and wait until it takes solves. Raises: ATCError: It does not."""
        keys, log = self.folder / "keys", self.folder / "server.log"
        keys.write_text(f"load:{self.key} concurrent=100000 per_minute=1000000\n")
        keys.chmod(0o600)
        port = self.url.rpartition(":")[2] or "0"
        command = [
            sys.executable,
            "-c",
            "from atc.apps.cli import main; main()",
            "serve",
            *self.options,
            "--port",
            port,
        ]
        command += ["--key-file", str(keys), "--journal", str(self.folder / "journal"), "--workers", str(self.workers)]
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                command, env={**os.environ, **self.environment}, stderr=errors, stdin=subprocess.DEVNULL
            )
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            _, serving, address = log.read_text().partition("serving on ")
            if serving and "\n" in address:
                self.url = address.partition("\n")[0]
                return
            time.sleep(0.05)
        raise ATCError(f"the server did not start: {log.read_text().strip()[-500:]}")

    def kill(self) -> None:
        """End it as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def stop(self) -> None:
        """End it with SIGTERM."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()


@contextmanager
def _served(options: Sequence[str], environment: Mapping[str, str], workers: int) -> Iterator[_Server]:
    """A server in a folder of its own, until the end of the block."""
    with tempfile.TemporaryDirectory() as folder:
        server = _Server(options, environment, Path(folder), workers)
        try:
            server.start()
            yield server
        finally:
            server.stop()


@contextmanager
def _endpoint(programs: Sequence[tuple[str, str]], delay: float, failing: int) -> Iterator[dict[str, str]]:
    """A model endpoint; gives the environment that leads to it."""
    with running(model_endpoint, programs, delay, failing) as pipe:
        yield {"OPENAI_BASE_URL": pipe.recv(), "OPENAI_API_KEY": "none"}


def _load_answers(pipe: Connection, total: int, done: int = 0) -> list[Answered]:
    """Wait for a load generator, and show how far it is."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("solves", total=total, completed=done)
        while isinstance(message := pipe.recv(), int):
            progress.update(bar, completed=done + message)
    answers: list[Answered] = message
    return answers


# Throughput and latency


def _questions(
    dataset: Dataset, folder: Path, url: str, credentials: Sequence[Credential]
) -> dict[str, tuple[str, str]]:
    """The questions of the museum that only read: the program that answers each, and its answer."""
    record = folder / "answers.jsonl"
    dataset = replace(dataset, tasks=tuple(task for task in dataset.tasks if task.domain == "museum"))
    record_answers(dataset, record, lambda text: len(text) // 4, ("attribute",))
    entries = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    sandbox = Sandbox(dataset.protocols["museum"], base_url=url, credentials=credentials, writes="deny")
    questions = {}
    for task in dataset.tasks:
        asked = (entry for entry in entries if any(task.query in turn["content"] for turn in entry["messages"]))
        program = next((str(entry["text"]) for entry in asked), "")
        run = sandbox.run(program) if program else None
        if run is not None and run.outcome == "ok":
            questions[task.query] = (program, run.stdout.strip())
    return questions


def measure(solves: int, in_flight: int, delay: float, workers: int) -> dict[str, Any]:
    """Answer so many questions, so many at a time; the figures."""
    dataset = open_dataset("tiny", None, ())
    document = Path(__file__).parent.parent / "data" / "tiny" / "museum.yaml"
    with tempfile.TemporaryDirectory() as name, running(simulated_api, document) as api:
        url, credentials = api.recv()
        questions = _questions(dataset, Path(name), url, credentials)
        programs = [(f"({_escaped(query)})", program) for query, (program, _) in questions.items()]
        texts = list(questions)
        requests = [Asked(f"{texts[n % len(texts)]} (visitor {n})") for n in range(solves)]
        options = ["--api", str(document), "--base-url", url, "--model", "openai:recorded"]
        options += ["--auth", f"header:{credentials[0].parameter}:env:ATC_BENCH_API_KEY"]
        with (
            _endpoint(programs, delay, 3) as environment,
            _served(options, {**environment, "ATC_BENCH_API_KEY": credentials[0].secret}, workers) as server,
        ):
            assert server.process is not None
            warm = [replace(asked, query=f"{asked.query} once more") for asked in requests[: 4 * workers]]
            for load in (warm, requests):
                began, trees = time.monotonic(), (server.process.pid, os.getpid())
                used = [tree_seconds(process) for process in trees]
                with running(generate_load, server.url, server.key, load, in_flight, LIMIT) as pipe:
                    answers = _load_answers(pipe, len(load))
                seconds = time.monotonic() - began
                used = [tree_seconds(process) - before for process, before in zip(trees, used, strict=True)]
            size = sum(file.stat().st_size for file in (server.folder / "journal").rglob("*") if file.is_file())
    return {
        "solves": len(answers),
        "in_flight": in_flight,
        "delay": delay,
        "workers": workers,
        **_figures(answers, {query: answer for query, (_, answer) in questions.items()}, delay),
        "seconds": round(seconds, 2),
        "solves_per_second": round(len(answers) / seconds, 2),
        "server_cpu_seconds_per_solve": round(used[0] / max(len(answers), 1), 4),
        "all_cpu_seconds_per_solve": round(used[1] / max(len(answers), 1), 4),
        "disk_bytes_per_solve": size // max(len(answers), 1),
    }


def _escaped(text: str) -> str:
    """A question as a pattern; a prompt may break its lines."""
    return r"\s+".join(map(re.escape, text.split()))


def _figures(answers: Sequence[Answered], expected: Mapping[str, str], delay: float) -> dict[str, Any]:
    """Failures with their reasons, and percentiles of the latency less the delays of the model, in seconds."""
    reasons: Counter[str] = Counter()
    latencies, calls, tokens = [], 0, Counter[str]()
    for answer in answers:
        query = answer.asked.query.partition(" (visitor")[0]
        if answer.status != 200 or answer.body["status"] != "answered":
            reasons[f"{answer.status}: {json.dumps(answer.body)[:200]}"] += 1
        elif answer.body["answer"] != expected[query]:
            reasons["another answer"] += 1
        else:
            usage = answer.body["usage"]
            calls += usage["model_calls"]
            tokens.update({kind: usage[kind] for kind in ("prompt_tokens", "completion_tokens")})
            latencies.append(answer.seconds - delay * usage["model_calls"])
    latencies.sort()
    good = max(len(latencies), 1)
    return {
        "failures": sum(reasons.values()),
        "reasons": dict(reasons.most_common(5)),
        "model_calls_per_solve": round(calls / good, 3),
        "prompt_tokens_per_solve": round(tokens["prompt_tokens"] / good),
        "completion_tokens_per_solve": round(tokens["completion_tokens"] / good),
        "p50_ms": round(1000 * _percentile(latencies, 0.50)),
        "p99_ms": round(1000 * _percentile(latencies, 0.99)),
    }


def _percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


# kill -9


def measure_kill(solves: int, in_flight: int, delay: float, workers: int) -> dict[str, Any]:
    """Order so many times, kill the server twice meanwhile, and count what was ordered."""
    requests = [Asked(_ORDER.format(number=n), f"key-{n}", n % 2 == 0) for n in range(solves)]
    pattern = r"for the cart (cart-\d{5})"
    with tempfile.TemporaryDirectory() as name, running(recording_service) as shop:
        url = shop.recv()
        document = Path(name) / "shop.json"
        write_json(document, {**SHOP, "servers": [{"url": url}]})
        options = ["--api", str(document), "--base-url", url, "--model", "openai:recorded", "--writes", "allow"]
        with (
            _endpoint([(pattern, _ORDER_PROGRAM)], delay, 0) as environment,
            _served(options, environment, workers) as server,
        ):
            accepted, replies, kills = _through_kills(server, requests, in_flight, delay)
            ends = {number: _end_of(server, id) for number, id in accepted.items()}
            shop.send("orders")
            orders: dict[str, dict[str, int]] = shop.recv()
    lost = [number for number, end in ends.items() if end["state"] != "done"]
    differing = [
        number
        for number, reply in replies.items()
        if reply.get("status") != (ends[number].get("solution") or {}).get("status")
    ]
    answered = [n for n, end in ends.items() if (end.get("solution") or {}).get("status") == "answered"]
    incomplete = [n for n in answered if orders.get(f"cart-{n:05}") != dict.fromkeys(ITEMS, 1)]
    return {
        "solves": solves,
        "kills": kills,
        "accepted": len(accepted),
        "ended": len(ends) - len(lost),
        "answered": len(answered),
        "not_accepted": solves - len(accepted),
        "lost": len(lost),
        "answers_that_differ": len(differing),
        "writes": sum(sum(items.values()) for items in orders.values()),
        "writes_twice": sum(count > 1 for items in orders.values() for count in items.values()),
        "answered_without_all_writes": len(incomplete),
        "unanswered": dict(
            Counter(
                str((end.get("solution") or {}).get("message"))[:120] for n, end in ends.items() if n not in answered
            ).most_common(5)
        ),
    }


def _through_kills(
    server: _Server, requests: Sequence[Asked], in_flight: int, delay: float
) -> tuple[dict[int, str], dict[int, Any], int]:
    """Send all requests while the server is killed twice; those without an answer are sent again.

    Returns: The ids by number, the solutions that came at once, and the number of kills.
    """
    accepted: dict[int, str] = {}
    replies: dict[int, Any] = {}
    numbers = {request.key: number for number, request in enumerate(requests)}
    pending, kills = list(requests), 0
    while pending and kills < 5:
        with running(generate_load, server.url, server.key, pending, in_flight, LIMIT) as pipe:
            threshold = len(pending) // 3
            killed = False
            while isinstance(message := pipe.recv(), int):
                if not killed and kills < 2 and message >= threshold:
                    time.sleep(1.1 * delay)  # background solves are in their programs then
                    server.kill()
                    kills, killed = kills + 1, True
        if killed:
            server.start()
        pending = []
        for answer in message:
            number = numbers[answer.asked.key]
            if answer.status == 202:
                accepted[number] = answer.body["id"]
            elif answer.status == 200:
                replies[number] = answer.body
            else:
                pending.append(answer.asked)
        pending += [
            request for n, request in enumerate(requests) if not (n in accepted or n in replies or request in pending)
        ]
    again = [replace(request, background=True) for n, request in enumerate(requests) if n in replies]
    if again:  # the id of what was answered at once
        with running(generate_load, server.url, server.key, again, in_flight, LIMIT) as pipe:
            answers = _load_answers(pipe, len(again))
        accepted |= {numbers[answer.asked.key]: answer.body["id"] for answer in answers if answer.status == 202}
    return accepted, replies, kills


def _end_of(server: _Server, id: str) -> Any:
    """The state of a solve and its solution, as soon as it is over."""
    import httpx

    deadline = time.monotonic() + PATIENCE
    headers = {"Authorization": f"Bearer {server.key}"}
    while True:
        state = httpx.get(f"{server.url}/v1/solve/{id}", headers=headers, trust_env=False).json()
        if state.get("state") == "done" or time.monotonic() > deadline:
            return state
        time.sleep(0.1)


@click.command(cls=Measurement)
@click.option("--solves", type=click.IntRange(1, 20_000), default=200, show_default=True, help="Questions in all.")
@click.option("--in-flight", type=click.IntRange(1, 500), default=50, show_default=True, help="Questions at a time.")
@click.option(
    "--delay", type=click.FloatRange(0, 60), default=2.0, show_default=True, help="Seconds of each answer of the model."
)
@click.option("--workers", type=click.IntRange(min=1), default=2, show_default=True, help="Solver processes.")
@click.option("--kill", is_flag=True, help="Kill the server with -9 on the way, and count what was done twice or lost.")
@json_option()
def main(solves: int, in_flight: int, delay: float, workers: int, kill: bool, as_json: bool) -> None:
    """Measure the solves a second of `atc serve`, its latency beside the model, and what survives a kill -9."""
    figures = (measure_kill if kill else measure)(solves, in_flight, delay, workers)
    if as_json:
        click.echo(to_json(figures), nl=False)
        return
    print_table(("", "figure"), [(name.replace("_", " "), value) for name, value in figures.items()])


if __name__ == "__main__":
    main()
