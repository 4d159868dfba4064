"""How many solves a second `atc serve` answers, and how long each waits beside the model.

`python -m benchmarks.micro.server` starts the simulated API of the museum of `tiny`, a model endpoint that answers
recorded programs after a delay, the server and a load generator, each in processes of its own on this machine. The
questions are those of `tiny` that only read; each is told apart by a number, and every third first program fails, so
that the model is asked once more. A solve counts as a failure unless it gives the answer that the recorded program
gives by itself.
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
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from atc.files import to_json
from benchmarks.micro.frame import Measurement, json_option, print_table
from benchmarks.micro.server_parts import (
    Answered,
    generate_load,
    model_endpoint,
    running,
    simulated_api,
    tree_seconds,
)
from benchmarks.run.oracle import record_answers
from benchmarks.tasks.datasets import Dataset, open_dataset
from protocols.calls.credentials import Credential
from protocols.errors import ATCError
from sandbox import Sandbox

__all__ = ["main", "measure"]

LIMIT = 3600.0
"""Seconds for the whole load."""

PATIENCE = 60.0
"""Seconds for the server to start and to stop."""


@dataclass(frozen=True, slots=True)
class _Served:
    """A server that runs: where it answers, by which key, its process and its folder."""

    url: str
    key: str
    process: int
    folder: Path


@contextmanager
def _served(options: Sequence[str], environment: Mapping[str, str], workers: int) -> Iterator[_Served]:
    """A server in a folder of its own, until the end of the block. Raises: ATCError: It does not start."""
    with tempfile.TemporaryDirectory() as name:
        folder, key = Path(name), secrets.token_hex(16)
        keys, log = folder / "keys", folder / "server.log"
        keys.write_text(f"load:{key} concurrent=100000 per_minute=1000000\n")
        keys.chmod(0o600)
        entry = "from atc.apps.cli import main; main()"
        command = [sys.executable, "-c", entry, "serve", *options, "--port", "0", "--workers", str(workers)]
        command += ["--key-file", str(keys), "--journal", str(folder / "journal")]
        with log.open("wb") as errors:
            process = subprocess.Popen(
                command, env={**os.environ, **environment}, stderr=errors, stdin=subprocess.DEVNULL
            )
        try:
            yield _Served(_address(process, log), key, process.pid, folder)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """The URL of a server, as soon as it takes solves."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        _, serving, address = log.read_text().partition("serving on ")
        if serving and "\n" in address:
            return address.partition("\n")[0]
        time.sleep(0.05)
    raise ATCError(f"the server did not start: {log.read_text().strip()[-500:]}")


@contextmanager
def _endpoint(programs: Sequence[tuple[str, str]], delay: float, failing: int) -> Iterator[dict[str, str]]:
    """A model endpoint; gives the environment that leads to it."""
    with running(model_endpoint, programs, delay, failing) as pipe:
        yield {"OPENAI_BASE_URL": pipe.recv(), "OPENAI_API_KEY": "none"}


def _load_answers(pipe: Connection, total: int) -> list[Answered]:
    """Wait for a load generator, and show how far it is."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("solves", total=total)
        while isinstance(message := pipe.recv(), int):
            progress.update(bar, completed=message)
    answers: list[Answered] = message
    return answers


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
        programs = [(_escaped(query), program) for query, (program, _) in questions.items()]
        texts = list(questions)
        requests = [f"{texts[n % len(texts)]} (visitor {n})" for n in range(solves)]
        options = ["--api", str(document), "--base-url", url, "--model", "openai:recorded"]
        options += ["--auth", f"header:{credentials[0].place[1]}:env:ATC_BENCH_API_KEY"]
        with (
            _endpoint(programs, delay, 3) as environment,
            _served(options, {**environment, "ATC_BENCH_API_KEY": credentials[0].secrets()[0]}, workers) as server,
        ):
            warm = [f"{query} once more" for query in requests[: 4 * workers]]
            for load in (warm, requests):
                began, trees = time.monotonic(), (server.process, os.getpid())
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
        query = answer.query.partition(" (visitor")[0]
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


@click.command(cls=Measurement)
@click.option("--solves", type=click.IntRange(1, 20_000), default=200, show_default=True, help="Questions in all.")
@click.option("--in-flight", type=click.IntRange(1, 500), default=50, show_default=True, help="Questions at a time.")
@click.option(
    "--delay", type=click.FloatRange(0, 60), default=2.0, show_default=True, help="Seconds of each answer of the model."
)
@click.option("--workers", type=click.IntRange(min=1), default=2, show_default=True, help="Solver processes.")
@json_option()
def main(solves: int, in_flight: int, delay: float, workers: int, as_json: bool) -> None:
    """Measure the solves a second of `atc serve` and its latency beside the model."""
    figures = measure(solves, in_flight, delay, workers)
    if as_json:
        click.echo(to_json(figures), nl=False)
        return
    print_table(("", "figure"), [(name.replace("_", " "), value) for name, value in figures.items()])


if __name__ == "__main__":
    main()
