"""What it costs to run a program in the sandbox, beside the executors of peers, in one table from one run.

`python -m benchmarks.micro.sandbox` prints medians; `--quick` takes fewer runs. Peers that are not installed are left
out, with a line that says so (`pip install -e '.[peers]'`). Speed is given as a multiple of CPython in the same run.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import click
from rich.console import Console

from atc.files import to_json
from benchmarks.micro.frame import Measurement, json_option, print_table, seconds_of
from protocols.simulator.http.connection import ConnectionServer
from sandbox import Limits, Sandbox

__all__ = ["Peer", "main", "measure"]

PAUSE = 0.03
"""Seconds between two runs."""

TRIVIAL = "print(1)"
LOOP = """
total = 0
for number in range({size}):
    if number % 3 == 0:
        total += number * number
    else:
        total -= 1
print(total)
"""
CRUNCH = """
import json
rows = [{{"id": n, "name": "film " + str(n), "year": 1950 + n % 70, "cast": [n, n + 1, n + 2]}} for n in range({size})]
years = {{}}
for row in json.loads(json.dumps(rows)):
    year = row["year"]
    if year not in years:
        years[year] = []
    years[year].append(row["name"])
best = sorted(years.items(), key=lambda item: (-len(item[1]), item[0]))[:3]
print([year for year, names in best])
"""
CALL = "import requests\nfor n in range({size}):\n    requests.get('{url}/thing').json()\nprint(1)"

Execute = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Peer:
    """One way to run a program: its name, what runs it to its end, and how many times slower its loops may be."""

    name: str
    execute: Execute
    slow: int = 1


def _in_process(program: str) -> object:
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
    return None


def _subprocess(program: str) -> object:
    return subprocess.run([sys.executable, "-I", "-c", program], check=True, capture_output=True)


def _ours(sandbox: Sandbox) -> Execute:
    def execute(program: str) -> object:
        result = sandbox.run(program)
        if result.outcome != "ok":
            raise RuntimeError(f"the sandbox could not run it: {result.error}")
        return result

    return execute


def _smolagents() -> Execute:
    from smolagents.local_python_executor import LocalPythonExecutor

    def execute(program: str) -> object:
        executor = LocalPythonExecutor(["json"], max_print_outputs_length=10_000)
        executor.send_tools({})
        return executor(program)

    return execute


def _monty(resources: ExitStack) -> Execute:
    import pydantic_monty

    pool = resources.enter_context(pydantic_monty.Monty())

    def execute(program: str) -> object:
        with pool.checkout() as session:
            return session.feed_run(program, print_callback=lambda *_: None)

    return execute


def peers(resources: ExitStack) -> Iterator[Peer]:
    """Everything that can be measured here; ours first, CPython as the measure second."""
    sandbox = resources.enter_context(Sandbox(None, limits=Limits(wall=120, cpu=120)))
    yield Peer("atc", _ours(sandbox))
    yield Peer("exec in this process (CPython)", _in_process)
    yield Peer("a plain subprocess", _subprocess)
    if importlib.util.find_spec("smolagents"):
        yield Peer("smolagents, LocalPythonExecutor", _smolagents(), slow=100)
    if importlib.util.find_spec("pydantic_monty"):
        yield Peer("pydantic-monty", _monty(resources))


def _median(peer: Peer, program: str, runs: int) -> float | None:
    """The median time in seconds, after one run that does not count; None where the program does not run at all.

    There is a pause before each run, so that pools are warm. Why a program does not run is told on stderr.
    """
    times = []
    try:
        for _ in range(runs + 1):
            time.sleep(PAUSE)
            times.append(seconds_of(lambda: peer.execute(program)))
    except Exception as error:  # each peer has errors of its own
        click.echo(f"{peer.name}: {type(error).__name__}: {error}", err=True)
        return None
    return statistics.median(times[1:])


def _call_costs(runs: int) -> tuple[float, float, float]:
    """Milliseconds of one GET with a Session of `requests` in this process, of one through the broker, and of one with
    the second run that finds out where values come from."""
    import requests

    from protocols import load

    count = 200
    server = ConnectionServer(0, lambda *_: (200, b'{"id": 1}', "application/json", {}), datetime.now(UTC))
    with closing(server):
        url = server.url
        session = requests.Session()
        session.get(f"{url}/thing")
        bare = min(seconds_of(lambda: [session.get(f"{url}/thing").json() for _ in range(count)]) for _ in range(runs))
        answer = {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}}}
        document: dict[str, object] = {
            "openapi": "3.1.0",
            "info": {"title": "things", "version": "1"},
            "servers": [{"url": url}],
            "paths": {"/thing": {"get": {"responses": answer}}},
        }
        taken = []
        for track in (False, True):
            with Sandbox(load(document), limits=Limits(calls=10 * count), track=track) as sandbox:
                execute = _ours(sandbox)
                execute(TRIVIAL)
                none, all_calls = (
                    min(seconds_of(partial(execute, CALL.format(size=size, url=url))) for _ in range(runs))
                    for size in (0, count)
                )
                taken.append(all_calls - none)
    return bare / count * 1000, taken[0] / count * 1000, taken[1] / count * 1000


def measure(quick: bool) -> tuple[list[dict[str, object]], dict[str, float]]:
    """A row for each executor (milliseconds, and multiples of CPython), and what a brokered call costs."""
    runs, size = (5, 500_000) if quick else (25, 2_000_000)
    rows: list[dict[str, object]] = []
    measure_of: dict[str, float] = {}
    with ExitStack() as resources:
        cold = seconds_of(lambda: Sandbox(None).run(TRIVIAL))
        everyone = list(peers(resources))
        for peer in sorted(everyone, key=lambda peer: "CPython" not in peer.name):
            trivial = _median(peer, TRIVIAL, runs * 4)
            row: dict[str, object] = {"executor": peer.name, "trivial_ms": _ms(trivial)}
            for name, text, share in (("loop", LOOP, 1), ("json", CRUNCH, 10)):
                loop_size = max(size // share // peer.slow, 10)
                program = text.format(size=loop_size)
                taken = _median(peer, program, max(runs // 5, 2))
                base = _median(Peer("CPython", _in_process), program, max(runs // 5, 2)) or 0.0
                own = max((taken or 0.0) - (trivial or 0.0), 0.0)
                row[f"{name}_times_cpython"] = round(own / base, 2) if taken is not None and base else None
            rows.append(row)
        measure_of["cold_ms"] = round(cold * 1000, 1)
        bare, ours, twice = _call_costs(2 if quick else 5)
        measure_of.update(requests_call_ms=round(bare, 2), brokered_call_ms=round(ours, 2))
        measure_of["tracked_call_ms"] = round(twice, 2)
    rows.sort(key=lambda row: [peer.name for peer in everyone].index(str(row["executor"])))
    return rows, measure_of


def _ms(seconds: float | None) -> float | None:
    return round(seconds * 1000, 2) if seconds is not None else None


@click.command(cls=Measurement)
@click.option("--quick", is_flag=True, help="Fewer runs and smaller programs, in well under a minute.")
@json_option()
def main(quick: bool, as_json: bool) -> None:
    """Measure the sandbox beside the executors of peers."""
    rows, calls = measure(quick)
    if as_json:
        click.echo(to_json({"executors": rows, "calls": calls}), nl=False)
        return
    columns = ("executor", "trivial program, ms", "loop, x CPython", "JSON, x CPython")
    print_table(columns, (["-" if value is None else value for value in row.values()] for row in rows))
    Console().print(
        f"first run of a new sandbox {calls['cold_ms']} ms; one GET on this machine "
        f"{calls['requests_call_ms']} ms with requests, {calls['brokered_call_ms']} ms through the broker, "
        f"{calls['tracked_call_ms']} ms with the second run that follows its values"
    )
    for name, module in (("smolagents", "smolagents"), ("pydantic-monty", "pydantic_monty")):
        if not importlib.util.find_spec(module):
            click.echo(f"{name} is not installed: pip install -e '.[peers]'", err=True)


if __name__ == "__main__":
    main()
