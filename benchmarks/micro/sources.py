"""How often a line that says where an identifier comes from is true, and how often the natural source is told.

`python -m benchmarks.micro.sources DIR` reads the documents in DIR (those of `atc data pull openapi` and `restbench`,
and public ones by their names) and judges the certain source of 1,167 arguments of 36 documents by labels that were
written by hand, from the documents alone. All but those of `last` were seen while the rules were written.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from atc.files import to_json
from benchmarks.micro.frame import Measurement, json_option
from benchmarks.report.render import print_table
from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.sources import certain_source
from protocols.errors import UsageError

__all__ = ["judge", "main"]

LABELS = Path(__file__).parents[1] / "data" / "sources" / "labels.json.gz"


def judge(graph: ProtocolGraph, arguments: list[dict[str, Any]]) -> Counter[str]:
    """Sources that are told and true, and arguments with a natural source that is told."""
    counts: Counter[str] = Counter()
    for label in arguments:
        source = certain_source(graph, label["tool"], label["argument"])
        # A list of texts may be named with its items or without.
        named = f"{source.tool}{source.accessor()}" if source is not None else ""
        forms = {named, f"{named}[0]", named.removesuffix("[0]")} if named else set()
        counts["told"] += bool(named)
        counts["true"] += not forms.isdisjoint(label["accept"])
        counts["with a natural source"] += bool(label["natural"])
        counts["natural"] += not forms.isdisjoint(label["natural"])
    return counts


def _figures(counts: Mapping[str, int]) -> tuple[str, str]:
    true = f"{counts['true']} of {counts['told']}"
    return true, f"{counts['natural']} of {counts['with a natural source']}"


@click.command(cls=Measurement)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@json_option()
def main(folder: Path, as_json: bool) -> None:
    """Judge the sources that are told of arguments, for the documents in FOLDER."""
    labels: dict[str, Any] = json.loads(gzip.decompress(LABELS.read_bytes()))
    rows: list[tuple[str, str, Counter[str]]] = []
    for name, label in sorted(labels.items(), key=lambda item: (item[1]["half"], item[0])):
        file = next((file for file in folder.rglob(name) if file.is_file()), None)
        if file is None or hashlib.sha256(file.read_bytes()).hexdigest() != label["sha256"]:
            origin = f"; it was {label['source']}" if "source" in label else ""
            click.echo(f"{name} is left out: {folder} has no such file with the labelled content{origin}", err=True)
            continue
        rows.append((label["half"], name, judge(ProtocolGraph(load(file)), label["arguments"])))
    if not rows:
        raise UsageError(f"{folder} has none of {', '.join(labels)}")
    halves: dict[str, Counter[str]] = {}
    for half, _, counts in rows:
        halves.setdefault(half, Counter()).update(counts)
    if as_json:
        click.echo(to_json({half: dict(counts) for half, counts in halves.items()}))
        return
    table = [(half, name, *_figures(counts)) for half, name, counts in rows]
    table += [(half, "all", *_figures(counts)) for half, counts in halves.items()]
    print_table("", ("half", "document", "true", "natural source told"), table, 2)


if __name__ == "__main__":
    main()
