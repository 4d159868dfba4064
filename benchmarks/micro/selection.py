"""How many of the tools that a question needs are among those chosen for it, and what the choice saves.

`python -m benchmarks.micro.selection NAME` takes the questions of a benchmark and the whole API, not the candidates
that a task file lists, and chooses the k best tools for each (atc.retrieval.candidates), alone and with the
tools that yield what these need. No language model is asked. Recall is that of the gold tools, in percent, as a mean
over the tasks; of how many tasks all gold tools are called in the plan sketches of the prompt stands beside.

`questions` in the place of NAME is none of the benchmarks: 256 questions of our own over the same APIs
(data/questions.yaml). By these the weights are chosen, so that the benchmarks' own questions say something; `unseen`
are 90 more for which no rule was written (data/unseen.yaml); only their totals stood beside when weights were compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import yaml

from atc import Agent
from atc.assist.language.question import Question
from atc.assist.leaning import leanings
from atc.assist.small import plans_of
from atc.files import to_json
from atc.retrieval.tool_index import build_index
from benchmarks.harness.registry import SHIPPED, dataset_names
from benchmarks.micro.frame import Measurement, json_option
from benchmarks.report.render import print_table
from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.metrics import Gold, mean
from benchmarks.tasks.task_files import Task
from benchmarks.toolbench.retrieval.documents import protocol_documents
from protocols.model import Protocol

__all__ = ["main", "measure", "own_questions"]

SIZES = (3, 5, 10, 20)
_OWN_SETS = ("questions", "unseen")


def measure(agents: dict[str, Agent], tasks: Sequence[Task], most: int | None) -> dict[str, float]:
    """The figures for the `most` best tools of each task's API, None for all: `recall` without and `closed` with the
    producers of identifiers, tasks with all gold tools in `examples` (percent), `tools` shown and `tokens` of the
    prompt, estimated (means)."""
    recall, closed, worked, tool_counts, tokens = [], [], [], [], []
    for task in tasks:
        agent, gold = agents[task.domain], set(task.gold.calls)
        count = most or len(agent.protocol.tools)
        offsets = leanings(Question(task.query), agent.graph, choosing=True)
        plain = agent.candidates.choose(task.query, count, offsets, closed=False)
        agent.settings = replace(agent.settings, tools=count)
        opened = agent.opening(task.query, today="2024-06-01")
        recall.append(len(gold & set(plain)) / len(gold))
        closed.append(len(gold & set(opened.tools)) / len(gold))
        worked.append(gold <= {tool for plan in plans_of(opened.query, opened) for tool in plan.tools})
        tool_counts.append(len(opened.tools))
        tokens.append(opened.tokens())
    figures = {"recall": 100 * mean(recall), "closed": 100 * mean(closed), "examples": 100 * mean(worked)}
    figures |= {"tools": mean(tool_counts), "tokens": mean(tokens)}
    return {name: round(value, 1) for name, value in figures.items()}


def own_questions(name: str) -> tuple[dict[str, Protocol], list[Task]]:
    """Our own `questions` or the `unseen` ones, and the APIs that they are about.

    Raises: UsageError: One of the APIs is not there.
    """
    protocols: dict[str, Protocol] = {}
    for dataset in ("restbench-tmdb", "restbench-spotify", "toolflow"):
        protocols |= open_dataset(dataset, None, ()).protocols
    tasks = []
    for domain, questions in yaml.safe_load((SHIPPED / f"{name}.yaml").read_text("utf-8")).items():
        for place, (query, tools) in enumerate(questions.items()):
            tasks.append(Task(place, f"{domain}-{place}", query, Gold(dict.fromkeys(tools.split(), 1)), (), domain))
    return protocols, tasks


@click.command(cls=Measurement)
@click.argument(
    "name",
    type=click.Choice([*dataset_names(), *_OWN_SETS]),
    metavar="NAME",
)
@click.option(
    "--retriever", metavar="ENCODER", help="Choose by an index with this encoder instead (see `atc retrieve build`)."
)
@json_option("Print JSON instead of the table.")
def main(name: str, retriever: str | None, as_json: bool) -> None:
    """Measure the choice of tools on the questions of the benchmark NAME, or on our own: `questions` or `unseen`."""
    if name in _OWN_SETS:
        protocols, tasks = own_questions(name)
    else:
        dataset = open_dataset(name, None, ())
        protocols, tasks = dict(dataset.protocols), list(dataset.tasks)
    with TemporaryDirectory() as scratch:
        indexes = _indexes(protocols, retriever, Path(scratch)) if retriever else {}
        agents = {
            domain: Agent(protocol, "openai:nobody", profile="small", retriever=indexes.get(domain))
            for domain, protocol in protocols.items()
        }
        rows = {str(most or "all"): measure(agents, tasks, most) for most in (*SIZES, None)}
    if as_json:
        click.echo(to_json({"benchmark": name, "tasks": len(tasks), "chosen": rows}), nl=False)
        return
    columns = ("chosen", "recall", "with producers", "in examples", "tools shown", "prompt tokens", "saved")
    cells = [
        (
            most,
            *(f"{row[name]:.1f} %" for name in ("recall", "closed", "examples")),
            f"{row['tools']:.1f}",
            f"{row['tokens']:,.0f}",
            f"{100 - 100 * row['tokens'] / rows['all']['tokens']:.0f} %",
        )
        for most, row in rows.items()
    ]
    print_table(f"{name}, {len(tasks)} tasks", columns, cells, 0)


def _indexes(protocols: Mapping[str, Protocol], encoder: str, folder: Path) -> dict[str, Path]:
    """An index of each protocol's tools."""
    for domain, protocol in protocols.items():
        build_index(folder / domain, protocol_documents(protocol), encoder)
    return {domain: folder / domain for domain in protocols}


if __name__ == "__main__":
    main()
