"""What a number of solves a day needs: processor cores, tokens of the model, requests in flight, disk.

`python -m benchmarks.micro.server --json > figures.json` measures the unit costs on this machine, and
`python -m benchmarks.micro.capacity figures.json --gpu-tokens N` computes from them; N is the tokens a second that one
GPU reads and writes for your model, as its serving engine reports them.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import click

from atc.files import to_json
from benchmarks.micro.frame import Measurement, json_option, print_table
from protocols.errors import UsageError

__all__ = ["capacity", "main"]

DAY = 24 * 3600
UNITS = (
    "server_cpu_seconds_per_solve",
    "model_calls_per_solve",
    "prompt_tokens_per_solve",
    "completion_tokens_per_solve",
    "disk_bytes_per_solve",
    "p50_ms",
)
"""The figures of benchmarks.micro.server that are used."""


def capacity(
    units: dict[str, float], solves: int, peak: float, utilization: float, gpu_tokens: float, model_seconds: float
) -> dict[str, Any]:
    """What so many solves a day need.

    Args:
        units: Unit costs, with the names in UNITS.
        peak: The busiest hour in multiples of the mean. utilization: The share of a core or GPU that may be used.
        gpu_tokens: Tokens a second of one GPU, read and written together; 0 leaves the GPUs out.
        model_seconds: Seconds of one answer of the model.
    """
    mean = solves / DAY
    highest = mean * peak
    tokens = units["prompt_tokens_per_solve"] + units["completion_tokens_per_solve"]
    seconds = model_seconds * units["model_calls_per_solve"] + units["p50_ms"] / 1000
    figures: dict[str, Any] = {
        "solves_per_second_mean": round(mean, 2),
        "solves_per_second_peak": round(highest, 2),
        "solves_per_second_per_core": round(1 / units["server_cpu_seconds_per_solve"], 1),
        "cores": math.ceil(highest * units["server_cpu_seconds_per_solve"] / utilization),
        "in_flight_peak": math.ceil(highest * seconds),
        "model_requests_per_second_peak": round(highest * units["model_calls_per_solve"], 1),
        "tokens_per_solve": round(tokens),
        "tokens_per_second_peak": round(highest * tokens),
        "disk_gb_per_day": round(solves * units["disk_bytes_per_solve"] / 1e9, 1),
    }
    if gpu_tokens:
        figures["gpus"] = math.ceil(highest * tokens / (gpu_tokens * utilization))
    return figures


@click.command(cls=Measurement)
@click.argument("figures", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--solves", type=click.IntRange(min=1), default=1_000_000, show_default=True, help="Solves a day.")
@click.option(
    "--peak", type=click.FloatRange(min=1), default=3.0, show_default=True, help="The busiest hour over the mean."
)
@click.option(
    "--utilization",
    type=click.FloatRange(0.05, 1),
    default=0.6,
    show_default=True,
    help="The share of a core or GPU that may be used.",
)
@click.option("--gpu-tokens", type=click.FloatRange(min=0), default=0.0, help="Tokens a second of one GPU.")
@click.option(
    "--model-seconds",
    type=click.FloatRange(min=0),
    default=2.0,
    show_default=True,
    help="Seconds of one answer of the model.",
)
@json_option()
def main(
    figures: Path,
    solves: int,
    peak: float,
    utilization: float,
    gpu_tokens: float,
    model_seconds: float,
    as_json: bool,
) -> None:
    """Compute what a number of solves a day needs from FIGURES, the JSON of benchmarks.micro.server."""
    needed = capacity(_read(figures), solves, peak, utilization, gpu_tokens, model_seconds)
    if as_json:
        click.echo(to_json(needed), nl=False)
        return
    print_table(("", f"{solves:,} solves a day"), [(name.replace("_", " "), value) for name, value in needed.items()])


def _read(file: Path) -> dict[str, float]:
    """Raises: UsageError: The file has no such figures."""
    try:
        data = json.loads(file.read_text("utf-8"))
        return {name: float(data[name]) for name in UNITS}
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{file} has no figures of benchmarks.micro.server ({error}); write it with --json > FILE"
        ) from None


if __name__ == "__main__":
    main()
