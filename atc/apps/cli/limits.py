"""The options that limit what a question may cost."""

from __future__ import annotations

from dataclasses import dataclass

import click

from atc.apps.cli.options import RealRange, option

__all__ = ["LimitOptions"]


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """The most that a question may cost; at a limit there is a partial solution, and the exit code is 4."""

    max_tokens: int | None = option(
        "--max-tokens",
        type=click.IntRange(min=1),
        metavar="N",
        help="Most tokens of a question, read and written, all requests to the model together. At this and the next "
        "two limits the solution is what there is until then, and the exit code 4.",
    )
    max_seconds: float | None = option(
        "--max-seconds",
        type=RealRange(min=0, min_open=True),
        metavar="S",
        help="Most seconds of a question; the time in which you confirm writes does not count.",
    )
    max_cost: float | None = option(
        "--max-cost",
        type=RealRange(min=0, min_open=True),
        metavar="USD",
        help="Most US dollars of a question, by the price table.",
    )
    prices: str | None = option(
        "--prices",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="A price table for --max-cost and for what a solution says that it cost: YAML, docs/limits.md  [default: "
        "the list prices that come with atc]",
    )
