"""Which fact or rule doubts a right answer: our reference programs, each run in the world of its task.

`python -m benchmarks.micro.alarms restbench-tmdb own` runs the reference of each task as if a model had written it: it
prints the answer in place of the claim, and `atc.evidence` and `atc.assist.rules` inspect the run. Each finding is a
false alarm.
No model is asked, and no task is named, so tasks that nobody should read stay unread. Left out are tasks without such a
program: those whose reference only looks at what a solve changed.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from atc.assist.language.question import Question
from atc.assist.rules import readings
from atc.evidence import facts
from atc.files import to_json
from benchmarks.harness.registry import dataset_names
from benchmarks.micro.frame import Measurement, json_option
from benchmarks.report.render import print_table
from benchmarks.run.agent_environment import AgentEnvironment
from benchmarks.run.right_programs import right_program, simulated_settings
from benchmarks.tasks.datasets import Dataset, open_dataset
from benchmarks.worlds import find_worlds
from protocols.dataflow.graph import ProtocolGraph

__all__ = ["count_alarms", "doubted_references", "main"]


def doubted_references(dataset: Dataset) -> Iterator[tuple[str, ...]]:
    """For each task with a reference the kinds of the findings on its right answer."""
    graphs = {domain: ProtocolGraph(protocol) for domain, protocol in dataset.protocols.items()}
    settings = simulated_settings(dataset)
    with closing(AgentEnvironment(settings, dataset, worlds=find_worlds(dataset.protocols))) as runner:
        for task in track(dataset.tasks, dataset.benchmark, console=Console(stderr=True)):
            program = right_program(runner, task)
            if program is None:
                continue
            with runner.world(task) as world:
                run = world.run(program)
            graph = graphs[task.domain]
            findings = facts(program, run, graph), readings(program, run, Question(task.query), graph)
            yield tuple(finding.kind for finding in itertools.chain(*findings))


def count_alarms(answers: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    """How many right answers there are, how many are doubted, and the findings by kind."""
    findings = Counter(kind for kinds in answers for kind in kinds)
    return {"right": len(answers), "doubted": sum(map(bool, answers)), "findings": dict(findings)}


@click.command(cls=Measurement, help=__doc__)
@click.argument(
    "names",
    nargs=-1,
    required=True,
    type=click.Choice(dataset_names()),
    metavar="NAME…",
)
@json_option()
def main(names: tuple[str, ...], as_json: bool) -> None:
    figures = {name: count_alarms(list(doubted_references(open_dataset(name, None, ())))) for name in names}
    if as_json:
        click.echo(to_json(figures), nl=False)
        return
    kinds = sorted({kind for alarms in figures.values() for kind in alarms["findings"]})
    rows = [[kind, *(figures[name]["findings"].get(kind, 0) for name in names)] for kind in kinds]
    rows.append(["doubted", *("{doubted} of {right}".format(**figures[name]) for name in names)])
    print_table("", ("finding", *names), rows)


if __name__ == "__main__":
    main()
