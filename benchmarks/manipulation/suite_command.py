"""`atc bench manipulation`: eight tools are handled in words, and what was done to them is judged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json
from atc.apps.cli.options import (
    agent_option,
    limit_option,
    option,
    takes,
)
from benchmarks.harness.options import RunOptions, repeat_option, settings_of
from benchmarks.manipulation.suite import TASKS

if TYPE_CHECKING:
    from benchmarks.manipulation.prompt_selection import DocumentCount
    from benchmarks.manipulation.suite_run import ManipulationSettings

__all__ = ["manipulation"]


def _document_count(text: str) -> DocumentCount:
    """How many functions a prompt shows. Raises: click.BadParameter."""
    words: dict[str, DocumentCount] = {"paper": "paper", "all": "all", "none": "none"}
    if text in words:
        return words[text]
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(f"{text!r} is neither a number from 1 nor `all`, `none` or `paper`")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class _ManipulationOptions(RunOptions):
    """The command line of `atc bench manipulation`."""

    tasks: tuple[str, ...] = option(
        "--task", multiple=True, metavar="NAME", help="One tool; repeatable  [default: all that there are]"
    )
    files: Path | None = option(
        "--files",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="Take functions, examples and test.jsonl of the original release in place of our own; with one --task of "
        "home, trip, weather, cat, virtualhome.",
    )
    mode: str = option(
        "--mode",
        default="action",
        show_default=True,
        metavar="action|attribute|naive|none|…",
        help="The paper's action generator, or a mode of `atc solve`.",
    )
    shots: int = option(
        "--shots",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        metavar="K",
        help="Show the K demonstrations nearest to the goal.",
    )
    oracle: bool = option("--oracle", is_flag=True, help="Show the demonstration nearest to the label, and no other.")
    system_prompt: bool = option(
        "--system-prompt", is_flag=True, help="Begin with role, functions, form of the answer and examples (action)."
    )
    documents: DocumentCount = option(
        "--docs",
        type=_document_count,
        default="paper",
        show_default=True,
        metavar="K|all|none|paper",
        help="How many functions are described: the K nearest to the goal, all, none, or as in the paper.",
    )
    retriever: str = option(
        "--retriever",
        default="bm25",
        show_default=True,
        metavar="bm25|wordllama|base|DIR",
        help="How demonstrations and functions are found: by words, by word vectors, or by a sentence transformer "
        "(the packaged one, or DIR).",
    )
    max_steps: int = option(
        "--max-steps",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="Most answers to a test of a tool that answers step by step (action)  [default: as the tool says]",
    )
    max_reflections: int | None = option(
        "--max-reflections",
        type=click.IntRange(min=0),
        metavar="N",
        help="How often a failed program may be revised (attribute, naive)  [default: as the profile says]",
    )
    profile: str | None = agent_option("profile")
    compat: bool = option(
        "--compat", is_flag=True, help="Judge as the released evaluators do, with the holes that they leave."
    )
    seed: int = option(
        "--seed", default=0, show_default=True, help="Of the tools, and of the order of equally near demonstrations."
    )
    repeat: int | None = repeat_option()
    model: str | None = agent_option("model")
    limit: int | None = limit_option("tests of each task")


@click.command(epilog="\b\nTasks: " + ", ".join(TASKS))
@takes(_ManipulationOptions)
def manipulation(options: _ManipulationOptions) -> None:
    """Run the tool-manipulation suite of Xu et al. (arXiv:2305.16504) and print its figures.

    Each finished test is one JSON file in DIR/tasks, the figures of the last command are in DIR/summary.json. To go on
    after a stop, repeat the command.
    """
    from atc.apps.cli.model import offer_pull
    from atc.engines.names import identity
    from atc.models import default_model, open_model
    from benchmarks.harness.run_folders import run_all
    from benchmarks.harness.runner import repeated, selected
    from benchmarks.manipulation.suite import open_original
    from benchmarks.manipulation.suite_run import SuiteEnvironment, SuiteScorer, SuiteTask
    from benchmarks.report.manipulation_tables import manipulation_tables
    from benchmarks.report.runs import read_run

    if options.oracle and options.shots:
        raise click.UsageError("--oracle shows one demonstration of its own: leave out --shots")
    if options.files and len(options.tasks) != 1:
        raise click.UsageError("--files has the files of one tool: say which with one --task")
    name = identity(options.model or default_model())
    settings = _settings(options, name)
    with ExitStack() as opened:
        tools = {
            task: opened.enter_context(closing(open_original(task, options.files, compat=options.compat)))
            for task in dict.fromkeys(options.tasks or TASKS)
        }
        tasks = [
            SuiteTask(task, test)
            for task, tool in tools.items()
            for test in selected(tool.tests, options.half, options.limit)
        ]
        offer_pull(name)

        @contextmanager
        def suite(settings: ManipulationSettings, folder: Path) -> Iterator[SuiteEnvironment]:
            with closing(open_model(name, record=options.record, reuse=options.reuse)) as model:
                yield SuiteEnvironment(tools, settings, model)

        folders = repeated(options.out, settings, options.repeat)
        completed = list(run_all(folders, tasks, suite, SuiteScorer(), options))
    if options.as_json:
        summaries = [run.summary for run in completed]
        print_json(summaries if options.repeat else summaries[0])
        return
    from benchmarks.report.render import show

    ids = {task.id for task in tasks}
    runs = [read_run(run.folder, str(run.folder)) for run in completed]
    runs = [replace(run, tasks=tuple(task for task in run.tasks if task.id in ids)) for run in runs]
    show(manipulation_tables(runs))


def _settings(options: _ManipulationOptions, model: str) -> ManipulationSettings:
    """The settings of the first run. Raises: UsageError: An unknown mode, profile or retriever."""
    from atc.profile import open_profile, profile_of
    from atc.retrieval.encoder import encoder_digest
    from benchmarks.manipulation.prompt_selection import RETRIEVERS, check_retriever
    from benchmarks.manipulation.solving import agent_mode
    from benchmarks.manipulation.suite import original_digest
    from benchmarks.manipulation.suite_run import ACTION_MODE, BENCHMARK, ManipulationSettings
    from benchmarks.tasks.datasets import answers_digest

    chosen = open_profile(options.profile) if options.profile else profile_of(model)
    check_retriever(options.retriever)
    action = options.mode == ACTION_MODE
    if action and options.max_reflections is not None:
        raise click.UsageError("--max-reflections is of the modes of an agent: the action generator corrects nothing")
    if not action:
        agent_mode(options.mode)
        if options.system_prompt or options.max_steps:
            raise click.UsageError("--system-prompt and --max-steps are of --mode action")
        if options.documents == "none":
            raise click.UsageError("--docs none is of --mode action: an agent knows the functions that it calls")
    files = {"original": original_digest(options.files)} if options.files else {}
    if options.retriever not in RETRIEVERS:  # a folder, whose encoder may be trained anew
        files["retriever"] = {"file": options.retriever, "sha256": encoder_digest(options.retriever)}
    reflections = chosen.reflections if options.max_reflections is None else options.max_reflections
    return settings_of(
        ManipulationSettings,
        options,
        benchmark=BENCHMARK,
        model=model,
        max_reflections=0 if action else reflections,
        profile="" if action else options.profile or "",
        prefill=chosen.prefill,
        files={**answers_digest(model), **files},
    )
