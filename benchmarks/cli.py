"""`atc bench`: one command for every benchmark of `benchmarks.harness.registry`. And `atc data`."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from atc.apps.cli import say
from atc.apps.cli.help_pages import BriefCommand
from atc.apps.cli.options import (
    RealRange,
    agent_option,
    agent_options,
    argument,
    check_api_options,
    is_typed,
    option,
    takes,
)
from atc.options import Options
from benchmarks.harness.options import WorkerOptions, repeat_option, settings_of
from benchmarks.harness.placed_group import PlacedGroup
from benchmarks.harness.registry import benchmarks
from protocols.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.run.agent_environment import AgentEnvironment, RunSettings
    from benchmarks.tasks.datasets import Dataset
    from benchmarks.tasks.query_tasks import Retrieve

__all__ = ["BenchCommand", "bench", "data"]


class BenchCommand(BriefCommand):
    """`atc bench NAME`, where a benchmark with options of its own is a command of its own."""

    @staticmethod
    def own_command(name: str) -> click.Command | None:
        """The command of a benchmark with options of its own; None of another one."""
        benchmark = benchmarks().get(name)
        return benchmark.own_command() if benchmark else None

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args and (command := self.own_command(args[0])) is not None:
            command.context_class = self.context_class
            return command.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the benchmarks, those of other packages included."""
        with formatter.section("Names"):
            formatter.write_dl([(name, benchmark.line) for name, benchmark in benchmarks().items()])


def _benchmark_name(text: str) -> str:
    """The name of a benchmark, perhaps of another package. Raises: click.BadParameter."""
    if text not in benchmarks():
        raise click.BadParameter(f"{text!r} is not one of {', '.join(benchmarks())}.")
    return text


@dataclass(frozen=True, kw_only=True)
class _TaskOptions:
    """The benchmark, and the files that it is read from."""

    name: str = argument(type=_benchmark_name, metavar="NAME")
    task_file: Path | None = option(
        "--tasks",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        common=True,
        help="Tasks in RestBench's or ToolFlow's format, or ToolBench's queries  [default: as under $ATC_DATA]",
    )
    subset: str = option(
        "--subset",
        default="",
        metavar="SUBSET",
        help="A set of ToolBench's queries under $ATC_DATA, such as G2_category  [default: G1_instruction]",
    )
    server: str = option(
        "--server",
        default="",
        metavar="URL",
        help="Send the calls of ToolBench's queries to this virtual API server, such as `atc toolbench serve`.",
    )
    as_listed: bool = option(
        "--as-listed", is_flag=True, help="Offer what FILE lists, without the required tools that it leaves out."
    )
    apis: tuple[str, ...] = option(
        "--api",
        multiple=True,
        metavar="[DOMAIN=]SPEC",
        common=True,
        help="OpenAPI document or *.tools.json, where tasks are of several domains one for each  [default: as under "
        "$ATC_DATA]",
    )


@dataclass(frozen=True, kw_only=True)
class _WorldOptions:
    """What the service is simulated from, and what the agent sees of it."""

    world: tuple[str, ...] = option(
        "--world",
        multiple=True,
        metavar="[DOMAIN=]FILE",
        help="Simulate with this world file (see docs/simulation.md) in place of the benchmark's. Repeatable.",
    )
    learned: tuple[str, ...] = option(
        "--learned",
        multiple=True,
        metavar="[DOMAIN=]FILE",
        help="Show the agent this document in place of the API's own, such as one that `atc probe` wrote; the API is "
        "simulated and calls are scored by its own. Repeatable.",
    )


@dataclass(frozen=True, kw_only=True)
class _BenchOptions(WorkerOptions, _WorldOptions, _TaskOptions):
    """The command line of `atc bench`."""

    agent: Options = agent_options("simulate", "auth", "clock", "model", "mode", "search")
    base_url: str | None = agent_option("base_url", metavar="URL", multiple=False, callback=None)
    select: int | None = option(
        "--select",
        type=click.IntRange(min=1),
        metavar="N",
        help="Let atc choose N tools for each question from the whole API, as `atc solve` does, whatever FILE lists.",
    )
    retriever: Path | None = option(
        "--retriever",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="INDEX",
        help="Take the tools of each question from this index (see `atc retrieve build`), whatever FILE lists.",
    )
    top_k: int = option(
        "--top-k",
        type=click.IntRange(min=1),
        default=5,
        show_default=True,
        metavar="K",
        help="How many tools --retriever takes.",
    )
    repeat: int | None = repeat_option()
    writes: Literal["allow", "deny", "simulate"] | None = option(
        "--writes",
        type=click.Choice(("allow", "deny", "simulate")),
        help="Whether calls that may change something are sent  [default: allow where simulated, else deny]",
    )
    without: tuple[str, ...] = option(
        "--without",
        multiple=True,
        metavar="FEATURE",
        help="Turn off a feature of the profile or a part of its help, to measure what it is worth (docs/modes.md).",
    )
    ablate: bool = option(
        "--ablate",
        is_flag=True,
        help="Run with all features, into DIR/all, and without each one, into DIR/without-FEATURE.",
    )
    max_tokens: int = option(
        "--max-tokens", type=click.IntRange(min=0), default=0, metavar="N", help="Most tokens a task."
    )
    max_seconds: float = option(
        "--max-seconds", type=RealRange(min=0), default=0.0, metavar="S", help="Most seconds a task."
    )


@click.command(cls=BenchCommand)
@takes(_BenchOptions)
def bench(options: _BenchOptions) -> None:
    """Run the benchmark NAME and print its figures.

    Each finished task is one JSON file in DIR/tasks, the figures are in DIR/summary.json. To go on after a stop, repeat
    the command.
    """
    from atc.apps.cli.model import offer_pull
    from atc.engines.names import identity
    from atc.models import default_model
    from benchmarks.tasks.datasets import named_documents
    from benchmarks.worlds import find_worlds

    benchmark = benchmarks()[options.name]
    if benchmark.command:
        raise click.UsageError(f"{options.name} has options of its own: write `atc bench {options.name} --out DIR`")
    simulated = (benchmark.fictional or (benchmark.tasks_shipped and not options.task_file)) and not options.base_url
    options = replace(options, agent=replace(options.agent, simulate=options.agent.simulate or simulated))
    if benchmark.tools and not options.task_file:
        options = replace(options, select=options.select or benchmark.tools)
    options = _check_service(options)
    if options.retriever and options.select:
        raise click.UsageError("--retriever INDEX takes --top-k tools: leave out --select")
    if options.retriever and not benchmark.subset:
        options = replace(options, select=options.top_k)
    dataset = _open(options)
    _check_runs(options, dataset)
    own = named_documents("--world", options.world)
    worlds = {}
    if options.agent.simulate and not dataset.own_protocols:
        worlds = find_worlds(dataset.protocols, own, lambda text: say(f"warning: {text}"))
    model = identity(str(options.agent.model or default_model()))
    offer_pull(model)
    search = options.agent.search
    if search.compat and dataset.own_protocols and not search.format.startswith("toolllama:"):
        say(
            "note: the prompt is in our words; the answers fit atc eval and ToolEval, but ToolBench's training "
            "preprocessing refuses them; --format toolllama:FILE has the published words (docs/interop.md)"
        )
    _run(options, dataset, _settings(options, dataset, worlds, model), worlds)


def _run(options: _BenchOptions, dataset: Dataset, settings: RunSettings, worlds: Mapping[str, Path]) -> None:
    """Run what is missing in each folder, and print the figures."""
    from atc.files import to_json
    from benchmarks.harness.run_folders import run_all
    from benchmarks.harness.runner import selected
    from benchmarks.report import MetricsScorer, ablation, table
    from benchmarks.report.render import show
    from benchmarks.run.agent_environment import AgentEnvironment
    from benchmarks.tasks.task_files import offered_tasks

    tasks = selected(dataset.tasks, options.half, options.limit)
    offered = offered_tasks(tasks, dataset.protocols)

    @contextmanager
    def environment(run_settings: RunSettings, folder: Path) -> Iterator[AgentEnvironment]:
        agent, retriever = options.agent, options.retriever if run_settings.chosen else None
        service = (options.base_url, agent.auth, options.record, options.reuse)
        with closing(AgentEnvironment(run_settings, dataset, *service, worlds, retriever)) as opened:
            try:
                yield opened
            finally:
                _write_answers(folder, dataset, run_settings)

    folders = _run_folders(options, settings)
    summaries = []
    for run in run_all(folders, offered, environment, MetricsScorer(), options):
        summaries.append(run.summary)
        if not options.as_json and not options.ablate:
            run_settings = folders[run.folder]
            without = f" · without {', '.join(run_settings.without)}" if run_settings.without else ""
            show([table(_title(run_settings, options.half) + without, run.summary)])
    if options.as_json:
        click.echo(to_json(summaries if len(summaries) > 1 or options.repeat else summaries[0]), nl=False)
    elif options.ablate:
        show([ablation(_title(settings, options.half), summaries)])


def _check_service(options: _BenchOptions) -> _BenchOptions:
    """The options with the base URL of a virtual API server. Raises: click.UsageError: They contradict one another."""
    from benchmarks.toolbench.corpus.queries import split_server

    if options.server and (options.agent.simulate or options.base_url):
        raise click.UsageError("--server is the service: give it without --simulate and --base-url")
    if options.server:
        options = replace(options, base_url=split_server(options.server)[0])
    check_api_options(options.agent.simulate, options.base_url, options.agent.auth)
    if not options.retriever and is_typed("top_k"):
        raise click.UsageError("--top-k is how many tools --retriever takes: add --retriever INDEX, or leave it out")
    if options.world and not options.agent.simulate:
        raise click.UsageError("--world is of a simulated API: add --simulate")
    if options.learned and not options.agent.simulate:
        raise click.UsageError("--learned needs --simulate: a real service is asked by --api alone")
    return options


def _open(options: _BenchOptions) -> Dataset:
    """The tasks with the documents to solve them by; their warnings go to stderr."""
    from benchmarks.tasks.datasets import open_dataset, with_learned

    retrieve = _retrieve(options) if options.retriever and benchmarks()[options.name].subset else None
    files = (options.name, options.task_file, options.apis, options.subset, options.server)
    dataset = open_dataset(*files, retrieve, options.as_listed)
    if dataset.own_protocols and (options.world or options.learned):
        raise click.UsageError(f"--world and --learned are of one API; each task of {options.name} has its own")
    if options.learned:
        dataset = with_learned(dataset, options.learned)
    for warning in dataset.warnings:
        say(f"warning: {warning}")
    if options.select:
        dataset = replace(dataset, tasks=tuple(replace(task, candidates=()) for task in dataset.tasks))
    return dataset


def _retrieve(options: _BenchOptions) -> Retrieve:
    """The search for the APIs of a ToolBench query. Raises: UsageError: The index was not made of query files."""
    from atc.retrieval.tool_index import ToolIndex

    index = ToolIndex(Path(str(options.retriever)))
    if not all(document.record for document in index.documents):
        raise UsageError(f"{options.retriever} was not made of ToolBench's files, so it does not hold their APIs")
    return lambda text: [json.loads(hit.document.record) for hit in index.search(text, options.top_k)]


def _check_runs(options: _BenchOptions, dataset: Dataset) -> None:
    """Refuse options that do not fit the tasks, or one another."""
    if options.base_url and len(dataset.protocols) > 1 and not options.server:
        raise click.UsageError("--base-url: the tasks are of several APIs; run one of them, or --simulate")
    if options.ablate and (options.repeat or options.without):
        raise click.UsageError("--ablate leaves out one part after another: give it without --repeat and --without")


def _settings(options: _BenchOptions, dataset: Dataset, worlds: Mapping[str, Path], model: str) -> RunSettings:
    from atc.agent import SIMULATED_NOW
    from atc.profile import PROFILES, open_profile, profile_of
    from benchmarks.run.agent_environment import BEST, RunSettings
    from benchmarks.tasks.datasets import answers_digest, file_digest
    from benchmarks.tasks.references import references_digest

    select, agent = options.select, options.agent
    simulate, profile = agent.simulate, str(agent.profile or "")
    chosen = open_profile(profile) if profile else profile_of(model)
    drawn = dataset.candidates
    if options.retriever and dataset.own_protocols:
        drawn = f"retrieved {options.top_k}"
    return settings_of(
        RunSettings,
        options,
        benchmark=options.name,
        model=model,
        max_reflections=chosen.reflections if agent.max_reflections is None else agent.max_reflections,
        candidates=f"{BEST}{select}" if select else drawn,
        mode=agent.mode,
        seed=agent.seed,
        now=(agent.now or SIMULATED_NOW).isoformat(),
        api="simulated" if simulate else options.base_url or "documented",
        files={
            **dataset.files,
            **{f"world-{domain}": file_digest(file) for domain, file in worlds.items()},
            **({"references": {"sha256": references_digest(options.name)}} if simulate else {}),
            **({"profile": file_digest(Path(profile))} if profile and profile not in PROFILES else {}),
            **(_index_digest(options.retriever) if options.retriever else {}),
            **answers_digest(model),
        },
        profile=profile,
        max_model_calls=agent.search.max_model_calls,
        writes=options.writes or ("allow" if simulate else "deny"),
        search=agent.search,
    )


def _index_digest(folder: Path) -> dict[str, dict[str, str]]:
    from atc.retrieval.tool_index import ToolIndex

    return {"retriever": {"file": folder.name, "sha256": ToolIndex(folder).digest}}


def _run_folders(options: _BenchOptions, settings: RunSettings) -> dict[Path, RunSettings]:
    from atc.help import parts
    from atc.profile import FEATURES, open_profile, profile_of
    from benchmarks.harness.runner import repeated

    if not options.ablate:
        return repeated(options.out, settings, options.repeat)
    out = options.out
    profile = open_profile(settings.profile) if settings.profile else profile_of(settings.model)
    names = (*FEATURES, *parts(profile.help))
    features = [feature for feature in names if feature != "demonstrations"]  # which no task has
    ablated = {out / f"without-{feature}": replace(settings, without=(feature,)) for feature in features}
    return {out / "all": settings, **ablated}


def _write_answers(folder: Path, dataset: Dataset, settings: RunSettings) -> None:
    """Write the answers of ToolBench's queries in the published form, too."""
    from atc.modes import parse
    from benchmarks.tasks.query_tasks import QueryProtocols
    from benchmarks.toolbench.corpus.answer_files import write_answers

    if isinstance(dataset.protocols, QueryProtocols):
        write_answers(folder, dataset.protocols.queries, *parse(settings.mode), asdict(settings.search))


def _title(settings: RunSettings, half: str | None) -> str:
    parts = [settings.benchmark, settings.model, f"mode {settings.mode}", f"seed {settings.seed + settings.repeat}"]
    parts += [f"candidates {settings.candidates}"] * (settings.candidates != "listed")
    parts += [f"{half} tasks"] * (half is not None) + [f"profile {settings.profile}"] * bool(settings.profile)
    return " · ".join(parts)


@click.group(
    cls=PlacedGroup,
    places={
        "pull": "benchmarks.data_command:pull",
        "show": "benchmarks.data_command:show",
    },
)
def data() -> None:
    """Fetch and show task files."""
