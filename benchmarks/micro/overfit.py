"""How many of its training programs a fine-tuned model writes again, token for token.

`python -m benchmarks.micro.overfit` makes a model of two layers on the spot and tunes all its weights on 200 questions
with their programs, two minutes long. A model that does not learn these has labels at the wrong places, or none. A
program counts if greedy decoding writes it from the prompt to its end-of-turn token; that is so if at each place of it
the likeliest token, after all right ones before, is the right one.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from atc.files import to_json
from benchmarks.learning.sft.examples import IGNORED, read_examples
from benchmarks.learning.sft.run import prepare, run
from benchmarks.learning.sft.settings import TuningConfig
from benchmarks.micro.frame import Measurement, json_option, print_table
from benchmarks.micro.tiny_model import make_conversations, make_model

__all__ = ["OverfitFigures", "main", "measure_overfit", "training_progress"]


@dataclass(frozen=True, slots=True)
class OverfitFigures:
    """`reproduced` of `programs` are written again; `loss` is the mean of the last ten updates."""

    programs: int
    reproduced: int
    steps: int
    seconds: float
    loss: float | None


def measure_overfit(folder: Path, programs: int, seconds: int, steps: int = 2_000) -> OverfitFigures:
    """Make a model and its data in `folder`, tune it, and count the programs that it writes again."""
    lines = make_conversations(programs)
    data = folder / "programs.jsonl"
    data.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    texts = [turn["content"] for line in lines for turn in line["messages"]]
    make_model(folder / "base", texts, layers=2, hidden=192, words=500, context=160)
    config = TuningConfig(
        base=str(folder / "base"),
        data=(str(data),),
        out=str(folder / "tuned"),
        dev=0.0,
        method="full",
        learning_rate=2e-3,
        schedule="constant",
        warm_up=0.01,
        epochs=10_000,
        batch=min(20, programs),
        micro_batch=min(20, programs),
        max_length=160,
        precision="fp32",
        max_steps=steps,
        max_seconds=seconds,
        save_every=1_000,
    )
    summary = run(
        prepare(config), ["python", "-m", "benchmarks.micro.overfit"], lambda message: None, training_progress
    )
    reproduced = _reproduced(folder / "tuned" / "merged", str(data))
    return OverfitFigures(programs, reproduced, summary["steps"], summary["seconds"], summary["last_loss"])


@contextmanager
def training_progress(steps: int) -> Iterator[Callable[[int, float], None]]:
    """A progress bar on stderr over the updates of a training."""
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("training", total=steps)
        yield lambda step, loss: bar.update(task, completed=step)


def _reproduced(model_folder: Path, data: str) -> int:
    """How many answers the model gives token for token."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(model_folder)
    examples, _ = read_examples([data], tokenizer, model.config.max_position_embeddings)
    reproduced = 0
    for example in examples:
        with torch.inference_mode():
            likeliest = model(torch.tensor([example.ids])).logits[0].argmax(-1).tolist()
        pairs = zip(likeliest, example.labels[1:], strict=False)
        reproduced += all(label in (IGNORED, token) for token, label in pairs)
    return reproduced


@click.command(cls=Measurement, help=__doc__)
@click.option("--programs", default=200, show_default=True, type=click.IntRange(min=1), help="Programs to learn.")
@click.option("--seconds", default=120, show_default=True, type=click.IntRange(min=1), help="Longest training.")
@json_option()
def main(programs: int, seconds: int, as_json: bool) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        figures = measure_overfit(Path(folder), programs, seconds)
    if as_json:
        click.echo(to_json(asdict(figures)), nl=False)
        return
    share = f"{figures.reproduced} of {figures.programs} ({figures.reproduced / figures.programs:.0%})"
    loss = "-" if figures.loss is None else f"{figures.loss:.4f}"
    row = (share, figures.steps, f"{figures.seconds:.0f}", loss)
    print_table(("programs written again", "updates", "seconds", "loss"), [row], figures_from=1)


if __name__ == "__main__":
    main()
