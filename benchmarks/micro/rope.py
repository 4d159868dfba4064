"""The loss beyond the context that a model was made for, with and without position interpolation.

`python -m benchmarks.micro.rope` makes a model of two layers, trains it on conversations of 128 tokens, and reads
longer ones with it: as it is, with its positions halved (`rope: {type: linear, factor: 2}`), and with its positions
halved after a short tuning on the longer ones. That is what ToolLLM does from 4,096 to 8,192 tokens.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from atc.engines.pretrained import find_base
from atc.files import to_json
from benchmarks.learning.sft.base import load_model, load_tokenizer
from benchmarks.learning.sft.examples import IGNORED, TokenizedExample, read_examples
from benchmarks.learning.sft.run import prepare, run
from benchmarks.learning.sft.settings import TuningConfig
from benchmarks.micro.frame import Measurement, json_option, print_table
from benchmarks.micro.overfit import training_progress
from benchmarks.micro.tiny_model import make_conversations, make_model

__all__ = ["main", "measure_rope"]

_CONTEXT = 128
_STRETCHED = {"type": "linear", "factor": 2}


def measure_rope(folder: Path, steps: int) -> dict[str, tuple[float, float]]:
    """Mean losses of answer tokens within the first context and beyond it, by how positions are read.

    Args:
        steps: Updates of the training within the context; the tuning beyond it takes a fifth.
    """
    files = {}
    for name, turns, seed in (("short", 2, 1), ("long", 6, 2), ("test", 6, 3)):
        lines = make_conversations(400 if name != "test" else 40, turns, seed)
        files[name] = folder / f"{name}.jsonl"
        files[name].write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    texts = [turn["content"] for line in make_conversations(400) for turn in line["messages"]]
    make_model(folder / "untrained", texts, layers=2, hidden=192, words=500, context=_CONTEXT)
    first = TuningConfig(
        base=str(folder / "untrained"),
        data=(str(files["short"]),),
        out=str(folder / "plain"),
        dev=0.0,
        method="full",
        learning_rate=2e-3,
        epochs=1_000,
        batch=16,
        micro_batch=16,
        max_length=_CONTEXT,
        precision="fp32",
        max_steps=steps,
        save_every=steps,
    )
    _tune(first)
    second = replace(
        first,
        base=str(folder / "plain" / "merged"),
        data=(str(files["long"]),),
        out=str(folder / "stretched"),
        max_length=2 * _CONTEXT,
        rope=_STRETCHED,
        learning_rate=5e-4,
        max_steps=max(steps // 5, 1),
    )
    rows, _ = read_examples([str(files["test"])], load_tokenizer(find_base(second.base), second.layout), 2 * _CONTEXT)
    losses = {
        "as it is": _losses(replace(second, rope=None), rows),
        "interpolated": _losses(second, rows),
    }
    _tune(second)
    tuned = replace(second, base=str(folder / "stretched" / "merged"), rope=None)  # its files say the factor
    return {**losses, "interpolated and tuned": _losses(tuned, rows)}


def _tune(config: TuningConfig) -> None:
    run(prepare(config), ["python", "-m", "benchmarks.micro.rope"], lambda message: None, training_progress)


def _losses(config: TuningConfig, rows: Sequence[TokenizedExample]) -> tuple[float, float]:
    import torch

    model = load_model(find_base(config.base), config)
    within: list[float] = []
    beyond: list[float] = []
    for row in rows:
        with torch.inference_mode():
            logits = model(torch.tensor([row.ids])).logits[0, :-1]
        losses = torch.nn.functional.cross_entropy(logits, torch.tensor(row.ids[1:]), reduction="none").tolist()
        for place, (loss, label) in enumerate(zip(losses, row.labels[1:], strict=True), 1):
            if label != IGNORED:
                (within if place < _CONTEXT else beyond).append(loss)
    return sum(within) / len(within), sum(beyond) / len(beyond)


@click.command(cls=Measurement, help=__doc__)
@click.option("--steps", default=400, show_default=True, type=click.IntRange(min=5), help="Updates of the training.")
@json_option()
def main(steps: int, as_json: bool) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        figures = measure_rope(Path(folder), steps)
    if as_json:
        click.echo(to_json(figures), nl=False)
        return
    rows = [(name, f"{within:.3f}", f"{beyond:.3f}") for name, (within, beyond) in figures.items()]
    print_table(("positions", f"loss up to {_CONTEXT}", "loss beyond"), rows, figures_from=1)


if __name__ == "__main__":
    main()
