"""Whether a model believes wrong answers less than right ones, by the probability that it says yes to them.

`python -m benchmarks.micro.self_evaluation RUN…` reads finished runs of `atc bench`. It shows the local model each
answer with its question, program, calls and the beginnings of the replies, and asks whether it is correct: P(True) of
Kadavath et al. (2022, arXiv:2207.05221). Printed are the area under the ROC curve and, where `--below P` is given, the
answers that are doubted because their probability is lower. Answers of which no reference tells whether they are right
are left out. The probability is that of Yes where only Yes and No may be written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, cast

import click
from rich.console import Console
from rich.progress import track

from atc.apps.cli import print_json
from atc.engines.openvino_model import OpenVINOModel, render, settings
from atc.models import Message, open_model
from atc.models.base import ModelRequest
from atc.modes.observations import truncate
from benchmarks.micro.frame import Measurement, json_option, print_table
from benchmarks.report.grades import call_lines
from benchmarks.report.runs import TaskRecord, read_run
from protocols.errors import UsageError
from protocols.model import READS

__all__ = ["Belief", "figures_of", "main", "messages_for"]

_SYSTEM = "You review answers. A program called an API to answer a question. Reply with Yes or No."
_CALLS, _ANSWER = 6, 200
"""Calls that the model is shown, the first ones; tokens of the answer."""


@dataclass(frozen=True, slots=True)
class Belief:
    """An answer, and the probability that the model calls it correct."""

    task: str
    correct: bool
    standing: str
    writes: bool
    probability: float


def messages_for(task: TaskRecord) -> list[Message]:
    """The question to the model about an answer."""
    solution = task.solution
    values = {
        "query": task.query,
        "program": solution["program"],
        "calls": "\n".join(call_lines(solution)[:_CALLS]),
        "answer": truncate(solution["answer"], _ANSWER),
    }
    text = Template(Path(__file__).with_suffix(".txt").read_text("utf-8").strip()).substitute(values)
    return [Message("system", _SYSTEM), Message("user", text)]


def _probability(model: OpenVINOModel, messages: Sequence[Message]) -> float:
    """The probability of Yes among Yes and No: that of the one that is drawn, or its complement."""
    import openvino_genai

    pipeline = model.load()
    tokenizer = pipeline.get_tokenizer()
    config = settings(ModelRequest(messages, max_tokens=1, seed=0))
    config.logprobs = 1
    config.temperature, config.top_p, config.top_k, config.min_p = 1.0, 1.0, 100_000, 0.0  # the whole distribution
    config.structured_output_config = openvino_genai.StructuredOutputConfig(regex="(Yes|No)")
    reply = pipeline.generate(tokenizer.encode(render(tokenizer, messages), add_special_tokens=False), config)
    drawn = math.exp(reply.scores[0])
    return drawn if tokenizer.decode(reply.tokens[0]).strip().startswith("Y") else 1 - drawn


def _beliefs(tasks: Sequence[TaskRecord], model: OpenVINOModel) -> Iterator[Belief]:
    for task in track(tasks, "asking", console=Console(stderr=True)):
        writes = any(call["method"] not in READS and not call.get("reads") for call in task.solution["calls"])
        probability = _probability(model, messages_for(task))
        yield Belief(task.id, bool(task.metrics.correct), str(task.metrics.standing), writes, probability)


def figures_of(beliefs: Sequence[Belief], below: float | None) -> dict[str, Any]:
    """How well the probability tells wrong answers from right ones, and those below a limit.

    Returns: For all answers, for those of runs that only read, and for those that stand as supported: how many are
        right and wrong, the area under the ROC curve (None without both), and the doubted ones of each.
    """
    from sklearn.metrics import roc_auc_score

    groups = {
        "all": list(beliefs),
        "reads": [belief for belief in beliefs if not belief.writes],
        "supported": [belief for belief in beliefs if belief.standing == "supported"],
    }
    figures = {}
    for name, group in groups.items():
        right = [belief.probability for belief in group if belief.correct]
        wrong = [belief.probability for belief in group if not belief.correct]
        labels = [1] * len(right) + [0] * len(wrong)
        figures[name] = {
            "right": len(right),
            "wrong": len(wrong),
            "auroc": float(roc_auc_score(labels, right + wrong)) if right and wrong else None,
        }
        if below is not None:
            figures[name]["right_doubted"] = sum(probability < below for probability in right)
            figures[name]["wrong_doubted"] = sum(probability < below for probability in wrong)
    return figures


@click.command(cls=Measurement, help=__doc__)
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--model", "name", default="openvino:qwen2.5-coder-1.5b", show_default=True)
@click.option("--below", type=click.FloatRange(0, 1), metavar="P", help="Doubt answers with a lower probability.")
@json_option()
def main(runs: tuple[Path, ...], name: str, below: float | None, as_json: bool) -> None:
    if not name.startswith("openvino:"):
        raise UsageError(f"{name} does not tell probabilities here: take an openvino: model")
    tasks = [task for folder in runs for task in read_run(folder).tasks if task.metrics.false_success is not None]
    if not tasks:
        raise UsageError("no answer in these runs can be told right or wrong")
    with closing(cast("OpenVINOModel", open_model(name))) as model:
        beliefs = list(_beliefs(tasks, model))
    figures = figures_of(beliefs, below)
    if as_json:
        print_json({"model": name, "below": below, "figures": figures})
        return
    columns = list(figures["all"])
    print_table(("answers", *columns), [(name, *map(_shown, row.values())) for name, row in figures.items()])


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
