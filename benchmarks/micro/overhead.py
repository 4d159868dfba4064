"""What everything but the model and the API costs: loading a document, running a program, solving a question.

`python -m benchmarks.micro.overhead SPEC` prints medians. The model is replaced by one that answers at once and the API
by the simulated one, so what remains is ours; a new Python process and a bare `requests` call stand beside it as peers.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from atc.agent import Agent
from benchmarks.micro.frame import Measurement, median_ms, print_table
from benchmarks.run.scripted_model import ScriptedModel
from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from protocols.render import estimate, render, render_full
from sandbox import Sandbox

__all__ = ["main", "measure"]

_LOAD = "from protocols import load; import sys; load(sys.argv[1])"


def _process(code: str, *arguments: str, home: Path | None = None) -> None:
    environment = {**os.environ, **({"ATC_HOME": str(home)} if home else {})}
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, env=environment)


def measure(spec: str, runs: int) -> list[tuple[str, str]]:
    """Rows of what was measured and its figure."""
    protocol = load(spec)
    rows: list[tuple[str, str]] = []

    def row(name: str, work: Callable[[], object]) -> None:
        rows.append((name, f"{median_ms(work, runs):.0f} ms"))

    with tempfile.TemporaryDirectory() as folder:
        homes = itertools.count()
        row("a new Python process (peer)", lambda: _process("pass"))
        row(
            "a process that loads the document, never seen before",
            lambda: _process(_LOAD, spec, home=Path(folder) / str(next(homes))),
        )
        row("a process that loads it again", lambda: _process(_LOAD, spec, home=Path(folder) / "again"))
    with Sandbox(protocol, base_url="http://127.0.0.1:9") as sandbox:
        row("a trivial program in the sandbox", lambda: sandbox.run("print(1)"))
    instant = ScriptedModel("instant", lambda _: "print('answer', len('x'))")
    with Agent(protocol, model=instant, mode="none", simulate=True) as agent:
        row("a whole solve, model and API aside", lambda: agent.solve("How many things are there?"))
    graph = ProtocolGraph(protocol)
    compact, full = (
        estimate(text) / len(protocol.tools) for text in (render(protocol.tools, graph), render_full(protocol.tools))
    )
    rows.append(("documentation of a tool, compact / full schema (tokens, estimated)", f"{compact:.0f} / {full:.0f}"))
    return rows


@click.command(cls=Measurement)
@click.argument("spec")
@click.option("--runs", default=20, show_default=True, help="Runs of each; the median is printed.")
def main(spec: str, runs: int) -> None:
    """Print what everything but the model and the API costs, for the API document SPEC."""
    print_table(("what", "median"), measure(spec, runs))


if __name__ == "__main__":
    main()
