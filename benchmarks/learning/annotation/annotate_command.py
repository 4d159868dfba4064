"""`atc toolbench annotate`: solve queries, and export the solutions."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import (
    agent_option,
    argument,
    json_option,
    limit_option,
    option,
    record_option,
    reuse_option,
    takes,
    workers_option,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.learning.annotation.annotate import AnnotationCounts
    from benchmarks.learning.annotation.exports import ExportForm
    from benchmarks.run.agent_environment import RunSettings
    from benchmarks.tasks.task_files import Task

__all__ = ["annotate"]

_SIMULATED = "simulated by its records"
"""The service in the settings of a run with --simulate: its address is another one each time."""

_file = click.Path(exists=True, dir_okay=False, path_type=Path)

_EPILOG = """\b
In DIR:
  toolllama.json   a conversation for each step, the array that ToolLLaMA is trained on (`loss_on: last` in atc train
                   sft); with --lines toolllama.jsonl
  program.jsonl    query, protocol and program, with the agent's first prompt as messages
  tasks, answers   each solution, and the same as a published answer file"""


@dataclass(frozen=True, kw_only=True)
class _AnnotateOptions:
    """The command line of `atc toolbench annotate`."""

    queries: Path = argument(type=_file, metavar="QUERIES")
    mode: str = option(
        "--mode",
        type=click.Choice(["dfsdt", "react", "attribute"]),
        default="dfsdt",
        show_default=True,
        help="How queries are solved: by a search of single calls, or by programs that are repaired.",
    )
    model: str | None = agent_option("model")
    calls: str = option(
        "--calls",
        default="auto",
        show_default=True,
        metavar="auto|text|functions|toolllama[:FILE]",
        help="How a search writes its calls, as --format of `atc bench`.",
    )
    compat: bool = option(
        "--compat",
        is_flag=True,
        help="With --calls toolllama:FILE: prompts and toolllama.json are those of ToolLLM's released code.",
    )
    server: str = option(
        "--server", default="", metavar="URL", help="Send calls to this virtual API server, as `atc toolbench serve`."
    )
    simulate: bool = option("--simulate", is_flag=True, help="Send calls to simulated APIs.")
    out: Path = option(
        "--out",
        required=True,
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Solutions and exports; queries that are solved in it are skipped.",
    )
    keep: Literal["passed", "answered"] = option(
        "--keep",
        type=click.Choice(["passed", "answered"]),
        default="passed",
        show_default=True,
        help="passed: an API that the query is about was called with success; answered: all.",
    )
    forms: tuple[str, ...] = option(
        "--format",
        multiple=True,
        type=click.Choice(["toolllama", "program"]),
        help="What is exported. Repeatable.  [default: toolllama; with --mode attribute program, too]",
    )
    as_lines: bool = option(
        "--lines", is_flag=True, help="Write toolllama.jsonl, a conversation a line, for the array."
    )
    limit: int | None = limit_option("queries")
    workers: int = workers_option("Queries")
    max_model_calls: int = option(
        "--max-model-calls", type=click.IntRange(min=0), default=0, metavar="N", help="Most model calls a query."
    )
    max_tokens: int = option(
        "--max-tokens", type=click.IntRange(min=0), default=0, metavar="N", help="Most tokens a query."
    )
    seed: int = option("--seed", type=int, default=0, show_default=True, help="Of the model and the simulated APIs.")
    record: Path | None = record_option()
    reuse: Path | None = reuse_option()
    as_json: bool = json_option("Print the counts as JSON.")


@click.command(epilog=_EPILOG)
@takes(_AnnotateOptions)
def annotate(options: _AnnotateOptions) -> None:
    """Solve QUERIES, keep the solutions that passed, and export them as training data.

    To go on after a stop, repeat the command.
    """
    from atc.engines.names import identity
    from atc.models import default_model
    from benchmarks.learning.annotation.annotate import Annotator
    from benchmarks.learning.annotation.exports import EXPORTS
    from benchmarks.toolbench.server.catalogue import Catalogue
    from benchmarks.toolbench.server.virtual_server import simulated_server

    if bool(options.server) == options.simulate:
        raise click.UsageError("calls need one place to go: give --server URL or --simulate")
    if "program" in options.forms and options.mode != "attribute":
        raise click.UsageError("--format program is of programs that a model wrote: add --mode attribute")
    if options.compat and (options.mode == "attribute" or not options.calls.startswith("toolllama:")):
        raise click.UsageError("--compat is of a search whose sentences are published: add --calls toolllama:FILE")
    default = EXPORTS if options.mode == "attribute" else EXPORTS[:1]
    forms = cast("tuple[ExportForm, ...]", options.forms or default)
    with ExitStack() as stack:
        server = options.server
        if options.simulate:
            server = stack.enter_context(simulated_server(Catalogue([options.queries]), options.seed)).start()
        settings = _settings(options, options.queries, identity(options.model or default_model()))
        annotator = Annotator(settings, options.queries, server, options.out, options.record, options.reuse)
        annotator.solve(options.workers, options.limit, say)
        counts = annotator.export(forms, options.limit, options.keep == "answered", options.as_lines, _exporting)
    if options.as_json:
        print_json(counts.to_json())
    else:
        _print(counts, options.out)


def _settings(options: _AnnotateOptions, queries: Path, model: str) -> RunSettings:
    from atc.agent import SIMULATED_NOW
    from atc.options import SearchSettings
    from atc.profile import profile_of
    from benchmarks.run.agent_environment import RunSettings
    from benchmarks.tasks.datasets import answers_digest, file_digest

    return RunSettings(
        benchmark="toolbench",
        model=model,
        mode=options.mode,
        max_reflections=profile_of(model).reflections,
        candidates="all",
        seed=options.seed,
        now=SIMULATED_NOW.isoformat(),
        api=options.server or _SIMULATED,
        files={"tasks": file_digest(queries), **answers_digest(model)},
        max_model_calls=options.max_model_calls,
        max_tokens=options.max_tokens,
        search=SearchSettings(max_model_calls=options.max_model_calls, compat=options.compat, format=options.calls),
    )


def _exporting(tasks: Sequence[Task]) -> Iterable[Task]:
    """Show on a terminal how far the export has come."""
    from rich.console import Console
    from rich.progress import track

    return track(tasks, "exporting", console=Console(stderr=True))


def _print(counts: AnnotationCounts, out: Path) -> None:
    data = counts.to_json()
    say(f"{data['answered']} of {data['queries']} queries are answered, {data['passed']} of them passed")
    if counts.kept:
        say(f"{counts.kept} are kept, with {data['mean_calls']} calls each")
    written = ", ".join(f"{number} as {form}" for form, number in counts.lines.items())
    say(f"conversations in {out}: {written}")
