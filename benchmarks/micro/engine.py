"""How fast the local engine reads and writes on this machine, by its settings.

`python -m benchmarks.micro.engine` starts the engine once for each setting, and has it answer the same questions about
a sample API: each prompt cold, then again with what it has read before. Tokens a second of reading and of writing, and
the seconds of an answer, cold and cached; beside the default, as a ratio. The answers have to be those of the default
wherever the arithmetic is the same. `openvino` is another engine with the same file, where it is installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from atc.agent import Agent
from atc.engines import files
from atc.engines.local import CONTEXT, Engine
from atc.engines.openvino_model import OpenVINOModel, render, settings
from atc.models import DEFAULT_MODEL, Message
from atc.models.base import ModelRequest
from benchmarks.micro.frame import Measurement, print_table
from protocols import load
from protocols.samples import sample

__all__ = ["SETTINGS", "Speed", "main", "measure"]

QUESTIONS = (
    "Who directed the top rated film, and when was that person born?",
    "Which films are in the watchlist, and where can I see the first one tonight?",
)
_ANSWER_TOKENS = 160
_OPENVINO = "openvino"


def _drafts(kind: str) -> Callable[[Any, Any], None]:
    """Tokens that follow the same words earlier in the text are proposed, and read in one go."""

    def change(engine: Any, parameters: Any) -> None:
        parameters.speculative.types = [getattr(engine.common_speculative_type, kind)]

    return change


def _set(**values: object) -> Callable[[Any, Any], None]:
    def change(engine: Any, parameters: Any) -> None:
        for name, value in values.items():
            setattr(parameters, name, value)

    return change


def _threads(engine: Any, parameters: Any) -> None:
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1


SETTINGS: Mapping[str, Callable[[Any, Any], None]] = {
    "default": _set(),
    "one thread": _threads,
    "batch of 64": _set(n_batch=64, n_ubatch=64),
    "batch of 512": _set(n_batch=512, n_ubatch=512),
    "weights rearranged": _set(no_extra_bufts=False),
    "drafts, n-grams": _drafts("COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE"),
    "drafts, map of n-grams": _drafts("COMMON_SPECULATIVE_TYPE_NGRAM_MAP_K"),
}
"""Changes of the engine's parameters, by name."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens a second, seconds of an answer to a new prompt and to a cached one, and the answers."""

    read: float
    written: float
    cold: float
    cached: float
    texts: tuple[str, ...]


def measure(file: Path, change: Callable[[Any, Any], None], prompts: Sequence[Sequence[Message]]) -> Speed:
    """Start an engine with a setting, and have it answer each prompt twice. Raises: ModelError."""
    engine = Engine(file, CONTEXT, change)
    try:
        texts, seconds, timings = [], [], []
        for prompt in prompts:
            text = engine.post("/apply-template", {"messages": [message.to_json() for message in prompt]})["prompt"]
            tokens = engine.tokenize(text, special=True)
            for _ in range(2):
                request = {"prompt": tokens, "n_predict": _ANSWER_TOKENS, "temperature": 0.0}
                started = time.perf_counter()
                reply = engine.post("/completion", request)
                seconds.append(time.perf_counter() - started)
                timings.append(reply["timings"])
            texts.append(reply["content"])
    finally:
        engine.stop()
    cold = timings[::2]
    return Speed(
        sum(timing["prompt_n"] for timing in cold) / sum(timing["prompt_ms"] for timing in cold) * 1000,
        sum(timing["predicted_n"] for timing in timings) / sum(timing["predicted_ms"] for timing in timings) * 1000,
        sum(seconds[::2]) / len(prompts),
        sum(seconds[1::2]) / len(prompts),
        tuple(texts),
    )


def openvino(file: Path, prompts: Sequence[Sequence[Message]]) -> Speed:
    """The same with OpenVINO GenAI, which keeps what it has read, too. Raises: ModelError: It is not installed.

    It does not tell how much of a prompt it had read before, so reading is measured by the first prompt alone.
    """
    engine = OpenVINOModel(_OPENVINO, file, files.converted(file))
    pipeline, generation = engine.load(), settings(ModelRequest((), max_tokens=_ANSWER_TOKENS))
    pipeline.generate(["Hello"], generation)  # what is made ready at the first question
    texts, seconds, timings = [], [], []
    for prompt in prompts:
        text = render(pipeline.get_tokenizer(), prompt)
        for _ in range(2):
            started = time.perf_counter()
            reply = pipeline.generate([text], generation)
            seconds.append(time.perf_counter() - started)
            timings.append(reply.perf_metrics)
        texts.append(reply.texts[0])
    written = sum(timing.get_num_generated_tokens() - 1 for timing in timings)
    return Speed(
        timings[0].get_num_input_tokens() / timings[0].get_ttft().mean * 1000,
        written / sum(timing.get_generate_duration().mean - timing.get_ttft().mean for timing in timings) * 1000,
        sum(seconds[::2]) / len(prompts),
        sum(seconds[1::2]) / len(prompts),
        tuple(texts),
    )


@click.command(cls=Measurement)
@click.option("--model", default=DEFAULT_MODEL, show_default=True, metavar="local:NAME")
@click.option("--only", multiple=True, type=click.Choice([*SETTINGS, _OPENVINO]), help="Measure these. Repeatable.")
def main(model: str, only: tuple[str, ...]) -> None:
    """Measure how fast the local engine is with each of its settings."""
    with Agent(load(sample("cinema")), model, simulate=True) as agent:
        prompts = [agent.opening(query, today="2024-06-01").messages() for query in QUESTIONS]
    speeds: dict[str, Speed] = {}
    names = [name for name in (*SETTINGS, _OPENVINO) if name in only or (not only and name in SETTINGS)]
    file = files.path(model.removeprefix("local:"))
    for name in track(names, "settings", console=Console(stderr=True)):
        speeds[name] = openvino(file, prompts) if name == _OPENVINO else measure(file, SETTINGS[name], prompts)
    first = speeds[names[0]]
    rows = []
    for name, speed in speeds.items():
        cells = [f"{figure:.1f}" for figure in (speed.read, speed.written, speed.cold, speed.cached)]
        rows.append((name, *cells, f"{speed.cold / first.cold:.2f}", "yes" if speed.texts == first.texts else "no"))
    print_table(("", "read, tokens/s", "written, tokens/s", "cold, s", "cached, s", "times", "same answers"), rows)


if __name__ == "__main__":
    main()
