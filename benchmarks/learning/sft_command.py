"""`atc train sft`: fine-tune a model on conversations."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import json_option, option, takes
from benchmarks.learning.sft.trainer import is_main_process, process_count

__all__ = ["sft"]

_EPILOG = """\b
Shipped configurations (--config NAME):
  small.yaml    LoRA on the 135M model, about an hour on two cores
  gpu.yaml      the same model, longer, on one GPU
  toolllm.yaml  ToolLLM's settings (7B, all weights, 8,192 tokens)
  xu.yaml       those of Xu et al. (8 epochs, constant rate, 2,048 tokens)

Several GPUs: torchrun --nproc-per-node N --no-python atc train sft --config …
"""


@dataclass(frozen=True, kw_only=True)
class _TuningOptions:
    config: str = option(
        "--config", required=True, metavar="FILE", help="A YAML file, or the name of a shipped configuration (below)."
    )
    changes: tuple[str, ...] = option(
        "--set", metavar="KEY=VALUE", multiple=True, help="Replace a field of the configuration. Repeatable."
    )
    dry_run: bool = option("--dry-run", is_flag=True, help="Print steps, tokens, parameters and memory; train nothing.")
    as_json: bool = json_option("Print the summary as JSON.")


@click.command(epilog=_EPILOG)
@takes(_TuningOptions)
def sft(options: _TuningOptions) -> None:
    """Fine-tune a model on conversations: lines with `messages`, or ToolBench's array of `conversations`.

    The loss is taken of the assistant's turns alone. To go on after a stop, repeat the command. The output folder gets
    checkpoints, the adapter or the merged model, log.jsonl and a model card.
    """
    from benchmarks.learning.sft.run import estimate, finished, prepare, run
    from benchmarks.learning.sft.settings import read_config

    config = read_config(options.config, options.changes)
    summary = None if options.dry_run else finished(config)
    if summary is not None:
        over = "is finished; delete it, or --set out=…, to train anew"
        if summary["stopped_by"] == "max_seconds":
            over = f"was stopped by max_seconds after {summary['steps']:,} updates; --set max_seconds=… goes on"
        _tell(f"{config.out} {over}")
    else:
        prepared = prepare(config, _reading, process_count())
        if options.dry_run:
            _print_estimate(estimate(prepared), options)
            return
        counts = prepared.counts
        _tell(
            f"{counts.examples:,} examples of {counts.tokens:,} tokens ({counts.truncated:,} cut on the left, "
            f"{counts.dropped:,} answers too long); {prepared.plan.steps:,} updates"
        )
        summary = run(prepared, _command(options), _tell, _training)
    if options.as_json and is_main_process():
        print_json(summary)
    elif is_main_process():
        click.echo("\n".join(f"{name.replace('_', ' '):<12} {_cell(value)}" for name, value in summary.items()))
    if process_count() > 1:  # threads of the group may abort a process at its usual end, and torchrun then fails
        sys.stdout.flush()
        os._exit(0)


def _tell(message: str) -> None:
    """As `say`; of several processes only the first does."""
    if is_main_process():
        say(message)


def _command(options: _TuningOptions) -> list[str]:
    changes = [part for change in options.changes for part in ("--set", change)]
    return ["atc", "train", "sft", "--config", options.config, *changes]


def _reading(lines: Iterable[Any]) -> Iterable[Any]:
    """Show on a terminal how far the data has been read."""
    from rich.console import Console
    from rich.progress import track

    return track(lines, "reading", console=Console(stderr=True), disable=not is_main_process())


@contextmanager
def _training(steps: int) -> Iterator[Callable[[int, float], None]]:
    from benchmarks.harness.progress import counting

    with counting("training", steps, hidden=not is_main_process()) as show:
        yield lambda step, loss: show(step, f"loss {loss:.3f}")


def _print_estimate(figures: Mapping[str, Any], options: _TuningOptions) -> None:
    if options.as_json:
        print_json(dict(figures))
        return
    share, memory = f"{figures['target_share']:.1%}", f"{figures['memory'] / 2**30:.1f} GiB for each process"
    rows = {**figures, "target_share": share, "memory": memory}
    rows["several GPUs"] = f"torchrun --nproc-per-node N --no-python {shlex.join(_command(options))}"
    click.echo("\n".join(f"{name.replace('_', ' '):<12} {_cell(value)}" for name, value in rows.items()))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
