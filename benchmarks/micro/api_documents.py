"""How often each retriever of `atc bench apibench` has the right API, or its domain, among the first documents.

`python -m benchmarks.micro.api_documents bm25 base hybrid:DIR` ranks the catalogue for each question. No language model
is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from atc.files import to_json
from benchmarks.apibench.dataset import APIBenchData, read_apibench
from benchmarks.apibench.run import rankings
from benchmarks.micro.frame import json_option, print_table
from benchmarks.report.stats import estimate

__all__ = ["measure"]

_FEW = 5


def measure(data: APIBenchData, encoder: str) -> dict[str, dict[str, float]]:
    """Shares of the questions in percent, each with its 95 % interval. Raises: UsageError: There is no such encoder."""
    ranked = rankings(data, data.questions, encoder)
    pairs = [(places, question.reference) for places, question in zip(ranked, data.questions, strict=True)]
    domains = [(data.catalogue[places[0]].domain, data.catalogue[reference].domain) for places, reference in pairs]
    return {
        "first": _share([places[0] == reference for places, reference in pairs]),
        f"among {_FEW}": _share([reference in places[:_FEW] for places, reference in pairs]),
        "domain of the first": _share([domain == right for domain, right in domains]),
    }


def _share(hits: Sequence[bool]) -> dict[str, float]:
    share = estimate([float(hit) for hit in hits], share=True)
    bounds = {"rate": share.mean, "low": share.low, "high": share.high}
    return {name: round(100 * (bound or 0.0), 1) for name, bound in bounds.items()}


@click.command()
@click.argument("encoders", nargs=-1, required=True, metavar="bm25|wordllama|hybrid|base|DIR|hybrid:DIR…")
@json_option("Print JSON instead of the table.")
def main(encoders: tuple[str, ...], as_json: bool) -> None:
    """Rank the APIs of APIBench for its questions by each of the encoders."""
    data = read_apibench()
    rows = {encoder: measure(data, encoder) for encoder in encoders}
    if as_json:
        click.echo(to_json({"questions": len(data.questions), "encoders": rows}), nl=False)
        return
    cells = [
        (encoder, *(f"{share['rate']} ({share['low']:.0f} to {share['high']:.0f})" for share in shares.values()))
        for encoder, shares in rows.items()
    ]
    columns = ("documents", *next(iter(rows.values())))
    print_table(columns, cells, title=f"{len(data.questions)} questions, in %", figures_from=1)


if __name__ == "__main__":
    main()
