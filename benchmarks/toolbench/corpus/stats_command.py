"""`atc toolbench stats`."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["stats"]

_TITLES = {
    "categories": "categories",
    "tools": "tools",
    "apis": "APIs, different",
    "records": "API records",
    "queries": "queries",
    "words": "words a query",
    "relevant_apis": "relevant APIs a query",
    "relevant_tools": "their tools",
    "relevant_categories": "their categories",
    "answers": "annotated answers",
    "instances": "training instances",
    "calls": "calls of all branches",
    "trace": "calls of a chosen path",
    "pairs": "exported solutions",
    "pair_calls": "their calls",
    "steps": "steps of one, its answer included",
}


@click.command()
@click.argument("places", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="DIR|FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def stats(places: tuple[Path, ...], as_json: bool) -> None:
    """Count the tools, APIs, queries and annotated answers in files of ToolBench, and exported solutions."""
    from rich.console import Console
    from rich.table import Table

    from atc.apps.cli import print_json, say
    from benchmarks.toolbench.corpus.stats import corpus_stats

    counted = corpus_stats(places)
    if as_json:
        print_json(counted.to_json())
        return
    data = counted.to_json()
    table = Table("counted", show_header=False)
    table.add_column("", justify="right")
    for name, title in _TITLES.items():
        if data[name]:
            table.add_row(title, f"{data[name]:,}")
    Console().print(table)
    for problem in counted.unread:
        say(f"warning: {problem}")
