"""`atc bench services`: questions about services that nothing was tuned on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json
from atc.apps.cli.options import agent_option, argument, takes
from benchmarks.harness.options import WorkerOptions, repeat_option, settings_of

if TYPE_CHECKING:
    from benchmarks.services.services_run import ServicesEnvironment, ServicesSettings

__all__ = ["services"]

_FILES = ("openapi.yaml", "data.json", "tasks.json")


@dataclass(frozen=True, kw_only=True)
class _ServicesOptions(WorkerOptions):
    """The command line of `atc bench services`."""

    names: tuple[str, ...] = argument(nargs=-1, metavar="[NAME]...")
    mode: str = agent_option("mode")
    max_reflections: int | None = agent_option("max_reflections")
    profile: str | None = agent_option("profile")
    seed: int = agent_option("seed")
    model: str | None = agent_option("model")
    repeat: int | None = repeat_option()


@click.command()
@takes(_ServicesOptions)
def services(options: _ServicesOptions) -> None:
    """Ask the services NAME (by default all that come with the package) their questions, each at a fresh server.

    An answer is right if it states every fact of the truth, and nothing but the expected changes was made. Each task is
    one JSON file in DIR/tasks, the figures are in DIR/summary.json. To go on after a stop, repeat the command.
    """
    from atc.apps.cli.model import offer_pull
    from atc.engines.names import identity
    from atc.models import default_model, open_model
    from benchmarks.harness.run_folders import run_all
    from benchmarks.harness.runner import repeated, selected
    from benchmarks.services.services_run import (
        FOLDER,
        ServicesEnvironment,
        ServicesSettings,
        read_services,
        service_names,
    )
    from benchmarks.services.services_summary import ServicesScorer, services_tables
    from benchmarks.tasks.datasets import answers_digest, file_digest

    if unknown := set(options.names) - set(service_names()):
        raise click.UsageError(f"no service {', '.join(sorted(unknown))}; there are {', '.join(service_names())}")
    model = identity(options.model or default_model())
    data, tasks = read_services(sorted(set(options.names)) or service_names())
    tasks = selected(tasks, options.half, options.limit)
    offer_pull(model)
    settings = settings_of(
        ServicesSettings,
        options,
        benchmark="services",
        model=model,
        profile=options.profile or "",
        files={
            **{f"{name}/{file}": file_digest(FOLDER / name / file) for name in data for file in _FILES},
            **answers_digest(model),
        },
    )

    @contextmanager
    def environment(run_settings: ServicesSettings, folder: object) -> Iterator[ServicesEnvironment]:
        seed = run_settings.seed + run_settings.repeat
        with closing(open_model(model, record=options.record, reuse=options.reuse, seed=seed)) as opened:
            yield ServicesEnvironment(data, run_settings, opened)

    folders = repeated(options.out, settings, options.repeat)
    summaries = [run.summary for run in run_all(folders, tasks, environment, ServicesScorer(), options)]
    if options.as_json:
        print_json(summaries if options.repeat else summaries[0])
        return
    from benchmarks.report.render import show

    show([table for summary in summaries for table in services_tables(summary)])
