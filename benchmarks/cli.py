"""`atc bench`: one command for every benchmark; another one is a reader of its task file and a line in BENCHMARKS."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from atc.cli import say
from atc.cli.options import api_options, check_api_options, model_options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.runner import Result

__all__ = ["BENCHMARKS", "bench"]

BENCHMARKS = {
    "restbench-tmdb": "RestBench, questions about movies (TMDB)",
    "restbench-spotify": "RestBench, tasks for a music player (Spotify)",
}
"""Names with a line for --help; all of them have task files of RestBench's formats."""

EPILOG = "\b\nNames:\n" + "\n".join(f"  {name:<18} {text}" for name, text in BENCHMARKS.items())


@click.command(epilog=EPILOG)
@click.argument("name", type=click.Choice(list(BENCHMARKS)), metavar="NAME")
@click.option(
    "--tasks",
    "task_file",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Tasks in RestBench's format, with or without candidate tools.",
)
@api_options
@model_options
@click.option(
    "--candidates",
    type=click.IntRange(min=1),
    metavar="N",
    help="Offer the gold tools among random others, N in all, where FILE lists no candidates  [default: all tools]",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks.")
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Results; tasks already in it are skipped.",
)
@click.option("--json", "as_json", is_flag=True, help="Print summary.json instead of the table.")
def bench(
    name: str,
    task_file: Path,
    api: str,
    simulate: bool,
    base_url: str | None,
    auth: tuple[str, ...],
    seed: int,
    now: datetime | None,
    model: str | None,
    mode: str,
    max_reflections: int,
    candidates: int | None,
    limit: int | None,
    out: Path,
    as_json: bool,
) -> None:
    """Run the benchmark NAME and print its figures.

    Each finished task is one JSON file in DIR/tasks, the figures are in DIR/summary.json. To go on after a stop, repeat
    the command.
    """
    check_api_options(simulate, base_url, auth)
    import hashlib
    from contextlib import closing

    from rich.console import Console

    from atc import Agent
    from atc.agent import SIMULATED_NOW
    from atc.cli.model import offer_pull
    from atc.files import to_json, write_json
    from atc.models import default_model, open_model
    from benchmarks.report import summarize, table
    from benchmarks.restbench import offer, read_tasks
    from benchmarks.runner import Settings, prepare, run_tasks
    from protocols import load

    protocol = load(api)
    tasks, warnings = read_tasks(task_file, protocol)
    for warning in warnings:
        say(f"warning: {warning}")
    listed = any(task.candidates for task in tasks)
    if candidates and listed:
        raise click.UsageError("--candidates: the task file lists the candidates itself; leave the option out")
    offered = [(task, offer(task, protocol, candidates, seed)) for task in tasks[:limit]]
    now = now or SIMULATED_NOW
    model = model or default_model()
    offer_pull(model)
    with closing(open_model(model, seed=seed)) as opened:
        settings = Settings(
            benchmark=name,
            model=opened.name,
            mode=mode,
            max_reflections=max_reflections,
            candidates=str(candidates or ("listed" if listed else "all")),
            seed=seed,
            now=now.isoformat(),
            api="simulated" if simulate else base_url or ", ".join(server.url for server in protocol.servers),
            protocol={"file": Path(urlsplit(api).path).name, "sha256": protocol.digest},
            task_file={"file": task_file.name, "sha256": hashlib.sha256(task_file.read_bytes()).hexdigest()},
        )
        prepare(out, settings)

        def open_agent() -> Agent:
            return Agent(protocol, opened, mode, max_reflections, base_url, auth, simulate, seed, now=now)

        results = _watch(run_tasks(offered, settings, out, open_agent), len(offered))
    summary = summarize(results, settings)
    write_json(out / "summary.json", summary)
    if as_json:
        click.echo(to_json(summary), nl=False)
    else:
        click.echo(f"{name} · {settings.model} · mode {mode} · seed {seed}")
        Console().print(table(summary))


def _watch(results: Iterable[Result], total: int) -> list[Result]:
    """Collect the results; on stderr show a bar with the running figures, or a line for each task."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from benchmarks.metrics import percent

    console = Console(stderr=True)
    done: list[Result] = []
    columns = (MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("", total=total)
        for result in results:
            done.append(result)
            success = percent(one.score.success for one in done)
            path = percent(one.score.path for one in done)
            progress.update(bar, advance=1, description=f"Success {success:.1f} %  Path {path:.1f} %")
            if not console.is_terminal:
                measures = f"success {result.score.success:.0f} path {result.score.path:.2f}"
                say(f"{len(done)}/{total} task {result.id}: {result.status}, {measures}, {result.seconds:.1f} s")
    return done
