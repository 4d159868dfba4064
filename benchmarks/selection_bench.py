"""How many of the tools that a question needs are among those chosen for it, and what the choice saves.

`python -m benchmarks.selection_bench NAME` takes the questions of a benchmark and the whole API, not the candidates
that a task file lists, and chooses the k best tools for each (atc.candidates), alone and with the tools that yield what
these need; `--dense` chooses by meaning, too. No language model is asked. Recall is that of the gold tools, in percent,
as a mean over the tasks.
"""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import Console
from rich.table import Table

from atc import Agent
from atc.cli.options import dense_option
from atc.embedding import Embedder
from atc.files import to_json
from benchmarks.cli import NAMES
from benchmarks.datasets import open_dataset
from benchmarks.metrics import mean
from benchmarks.restbench import Task

__all__ = ["main", "measure"]

SIZES = (3, 5, 10, 20)


def measure(agents: dict[str, Agent], tasks: Sequence[Task], most: int | None) -> dict[str, float]:
    """The figures for the `most` best tools of each task's API, None for all: `recall` without and `closed` with the
    producers of identifiers (percent), `tools` shown and `tokens` of the prompt, estimated (means)."""
    recall, closed, shown, tokens = [], [], [], []
    for task in tasks:
        agent, gold = agents[task.domain], set(task.gold.calls)
        count = most or len(agent.protocol.tools)
        plain = agent.candidates.choose(task.query, count, closed=False)
        agent.tools = count
        opened = agent.opening(task.query)
        recall.append(len(gold & set(plain)) / len(gold))
        closed.append(len(gold & set(opened.tools)) / len(gold))
        shown.append(len(opened.tools))
        tokens.append(opened.tokens("2024-06-01"))
    figures = {"recall": 100 * mean(recall), "closed": 100 * mean(closed), "tools": mean(shown), "tokens": mean(tokens)}
    return {name: round(value, 1) for name, value in figures.items()}


@click.command()
@click.argument("name", type=click.Choice(list(NAMES)), metavar="NAME")
@dense_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
def main(name: str, dense: bool, as_json: bool) -> None:
    """Measure the choice of tools on the questions of the benchmark NAME."""
    dataset = open_dataset(name, None, ())
    embedder = Embedder() if dense else None
    agents = {
        domain: Agent(protocol, "openai:nobody", embedder=embedder) for domain, protocol in dataset.protocols.items()
    }
    rows = {str(most or "all"): measure(agents, dataset.tasks, most) for most in (*SIZES, None)}
    if as_json:
        click.echo(to_json({"benchmark": name, "tasks": len(dataset.tasks), "dense": dense, "chosen": rows}), nl=False)
        return
    table = Table(title=f"{name}, {len(dataset.tasks)} tasks{', dense' * dense}")
    for column in ("chosen", "recall", "with producers", "tools shown", "prompt tokens", "saved"):
        table.add_column(column, justify="right")
    everything = rows["all"]["tokens"]
    for most, row in rows.items():
        table.add_row(
            most,
            f"{row['recall']:.1f} %",
            f"{row['closed']:.1f} %",
            f"{row['tools']:.1f}",
            f"{row['tokens']:,.0f}",
            f"{100 - 100 * row['tokens'] / everything:.0f} %",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
