"""The benchmarks by name: ours, and those that another package registers as an entry point `atc.benchmarks`.

A benchmark is a `Benchmark`: a row of data where its tasks are in RestBench's, ToolFlow's or ToolBench's format, else
the place of a command with options of its own, built on `benchmarks.harness.run_folders`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from atc.doors import doors, load
from benchmarks.harness.placed_group import loaded

if TYPE_CHECKING:
    import click

__all__ = ["BENCHMARKS", "SHIPPED", "Benchmark", "benchmarks"]

SHIPPED = Path(__file__).parent.parent / "data"
"""The files of our own benchmarks."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark by its name, with its line in the help of `atc bench`.

    `tasks` are task files to look for, the best first, and `apis` has the API document of each domain.

    One that is `fictional` comes with its files, and its APIs can only be simulated. With `tasks_shipped`, the tasks
    alone come with the package; they are always simulated, too, and a user may bring others. What comes with the
    package is in `folder`. `tools` is how many are chosen for a question from APIs that are too large to be shown
    whole. With a `subset`, the one that is taken where none is named, the tasks are ToolBench's queries, each of which
    lists its own APIs. `command`, `module:name`, is a click command of its own. `tables`, `module:name`, makes the
    tables of a report from `summary.json`, where its records are not those of an agent.
    """

    name: str
    line: str
    tasks: tuple[str, ...] = ()
    apis: Mapping[str, str] = field(default_factory=dict)
    fictional: bool = False
    tasks_shipped: bool = False
    folder: Path = SHIPPED
    tools: int | None = None
    subset: str = ""
    command: str = ""
    tables: str = ""

    def own_command(self) -> click.Command | None:
        """The command with options of its own; None of a benchmark that takes those of `atc bench`."""
        return loaded(self.command) if self.command else None


def _whole_or_dev(*names: str) -> tuple[str, ...]:
    """Task files, whole or only the development split."""
    return tuple(f"{name}{split}.json" for name in names for split in ("", ".dev"))


def _restbench(api: str, line: str) -> Benchmark:
    tasks = _whole_or_dev(f"toolflow/{api}.candidates", f"restbench/{api}")
    return Benchmark(f"restbench-{api}", line, tasks, {api: f"restbench/{api}_oas.json"})


_TINY = {"museum": "tiny/museum.yaml", "parcels": "tiny/parcels.yaml"}
_TOOLFLOW = {name: f"toolflow/{name}.tools.json" for name in ("food", "weather", "music", "tmdb", "game")}
_SERVICES = {
    "adyen": "openapi/adyen_checkout.json",
    "airflow": "openapi/airflow.yaml",
    "figma": "openapi/figma.yaml",
    "intercom": "openapi/intercom.yaml",
    "openai": "openapi/openai.yaml",
    "paypal": "openapi/paypal_invoicing.json",
    "sendgrid": "openapi/sendgrid.json",
    "xero": "openapi/xero_accounting.yaml",
}

BENCHMARKS: Mapping[str, Benchmark] = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark(
            "tiny",
            "24 tasks of our own with two made-up APIs, always simulated; needs no other file",
            ("tiny/tasks.json",),
            _TINY,
            fictional=True,
        ),
        _restbench("tmdb", "RestBench, questions about movies (TMDB)"),
        _restbench("spotify", "RestBench, tasks for a music player (Spotify)"),
        Benchmark(
            "toolflow",
            "ToolFlow (AutoTools-Eval), long questions about food, weather and more",
            _whole_or_dev("toolflow/toolflow"),
            _TOOLFLOW,
        ),
        Benchmark(
            "toolbench",
            "ToolBench, queries that list the APIs they may use; --subset or --tasks",
            subset="G1_instruction",
        ),
        Benchmark(
            "own",
            "200 tasks of our own over eight real API documents; or yours, with --tasks and --api",
            ("own/tasks.json",),
            _SERVICES,
            tasks_shipped=True,
            tools=20,
        ),
        Benchmark(
            "apibench",
            "APIBench, which API of TorchHub fits and its call; see `atc bench apibench --help`",
            command="benchmarks.apibench.apibench_command:apibench",
            tables="benchmarks.apibench.apibench_run:apibench_tables",
        ),
        Benchmark(
            "services",
            "40 questions about two invented services, truths known before; see `atc bench services --help`",
            command="benchmarks.services.services_command:services",
            tables="benchmarks.services.services_summary:services_tables",
        ),
        Benchmark(
            "manipulation",
            "the tool-manipulation suite, eight tools; see `atc bench manipulation --help`",
            command="benchmarks.manipulation.suite_command:manipulation",
        ),
    )
}
"""Ours, in the order of the help."""


def benchmarks() -> dict[str, Benchmark]:
    """All benchmarks by name: ours, and those of other packages under the names of their entry points."""
    return {**BENCHMARKS, **{name: load("atc.benchmarks", name) for name in doors("atc.benchmarks")}}
