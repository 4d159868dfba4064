"""A small model to tune, and the conversations that it is tuned on."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.learning.sft.examples import ExampleCounts, TokenizedExample, read_examples
from tests.benchmarks.learning.tuning import make_model


def conversations(count: int) -> list[dict[str, Any]]:
    """Short questions, each with a program."""
    chance = random.Random(0)
    pairs = [(chance.randint(0, 99), chance.randint(0, 99)) for _ in range(count)]
    return [
        {
            "messages": [
                {"role": "user", "content": f"Add {first} and {second}."},
                {"role": "assistant", "content": f"print(add({first}, {second}))"},
            ]
        }
        for first, second in pairs
    ]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of two layers in `base`, and conversations in `pairs.jsonl`."""
    import torch

    torch.set_num_threads(1)  # quicker for so small a model, and its sums always come in the same order
    folder = tmp_path_factory.mktemp("tiny")
    lines = conversations(40)
    (folder / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    make_model(folder / "base", [turn["content"] for line in lines for turn in line["messages"]])
    return folder


ExamplesOf = Callable[..., tuple[list[TokenizedExample], ExampleCounts]]


@pytest.fixture
def examples_of(tokenizer: Any, tmp_path: Path) -> ExamplesOf:
    """Reads conversations from a file: `examples_of(turns, …, max_length=512, loss_on="all", layout="chat")`."""

    def read(
        *conversations: Sequence[Mapping[str, Any]], max_length: int = 512, **options: Any
    ) -> tuple[list[TokenizedExample], ExampleCounts]:
        file = tmp_path / "conversations.jsonl"
        file.write_text("".join(json.dumps({"messages": list(turns)}) + "\n" for turns in conversations))
        return read_examples([str(file)], tokenizer, max_length, **options)

    return read


@pytest.fixture
def tokenizer(tiny: Path) -> Any:
    """The tokenizer of the small model; a test may give it another chat template."""
    import transformers

    return transformers.AutoTokenizer.from_pretrained(tiny / "base")
