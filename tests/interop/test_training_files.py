"""Training data in ToolBench's published form: read one conversation at a time, as an array or as lines."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.learning.sft.conversations import read_data
from benchmarks.learning.sft.examples import read_examples
from benchmarks.learning.sft.settings import read_config
from benchmarks.methods.formats.toolllama import published_prompt, write_message
from protocols.errors import UsageError

TURNS = [
    ("system", "Use tools."),
    ("user", "\nWhen is high water?\nBegin!\n"),
    ("assistant", write_message("Ask.", "tide", '{"port": "ESB"}')),
    ("function", '{"error": "", "response": "noon"}'),
    ("assistant", write_message("Done.", "Finish", '{"final_answer": "noon"}')),
]


class ByteTokenizer:
    """A tokenizer without offsets: a token for each byte, and one for each mark of a beginning and an end."""

    bos_token, eos_token, bos_token_id, is_fast = "<s>", "</s>", 256, False

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        parts = re.split(r"(<s>|</s>)", text)
        marks = {"<s>": [256], "</s>": [257]}
        ids = [token for part in parts for token in marks.get(part, part.encode())]
        return {"input_ids": [256, *ids] if add_special_tokens else ids}


def conversation(number: int, turns: int) -> dict[str, Any]:
    """A step of a dialogue."""
    listed = [{"from": role, "value": value} for role, value in TURNS[:turns]]
    return {"id": f"Step {turns - 1}: When is high water {number}?", "conversations": listed}


@pytest.mark.parametrize("as_lines", [False, True], ids=["array", "lines"])
def test_the_last_answer_is_learned_with_the_two_tokens_before_it(tmp_path: Path, as_lines: bool) -> None:
    """As in the published code: the space and the line break before `Thought:`; the steps of a query are one group."""
    steps = [conversation(1, 3), conversation(1, 5), conversation(2, 3)]
    file = tmp_path / "toolllama.json"
    file.write_text("\n".join(map(json.dumps, steps)) if as_lines else json.dumps(steps, indent=4))

    examples, counts = read_examples([str(file)], ByteTokenizer(), 8192, "last", "roles")

    learned = [bytes(label for label in example.labels if 0 <= label < 256).decode() for example in examples]
    assert learned == [f" {TURNS[2][1]}", f" {TURNS[4][1]}", f" {TURNS[2][1]}"]
    assert all(example.ids[0] == 256 and example.labels[-1] == example.ids[-1] == 257 for example in examples)
    assert bytes(examples[1].ids[1:-1]).decode().count("Function: ") == 1
    assert [example.group == examples[0].group for example in examples] == [True, True, False]
    assert (counts.conversations, counts.target_tokens) == (3, sum(map(len, learned)) + 3)


def test_a_large_array_is_read_one_element_at_a_time(tmp_path: Path) -> None:
    """Memory does not grow with the file: 40 MB are read with less than a tenth of it."""
    file = tmp_path / "large.json"
    element = json.dumps({"conversations": [{"from": "user", "value": "x" * 40_000}]}, indent=4)
    with file.open("w") as output:
        output.write("[" + ",\n".join([element] * 1_000) + "]")

    tracemalloc.start()
    try:
        count = sum(1 for _ in read_data(file))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert (count, peak < file.stat().st_size / 4) == (1_000, True), peak


@pytest.mark.parametrize(
    ("cut", "element", "why"),
    [
        (lambda text: text[:-10], 2, "the array ends or breaks off here"),
        (lambda text: text[:-1], 2, "the array ends or breaks off here"),
        (lambda text: text.replace("}, {", "} {"), 1, "follows it in place of a comma"),
        (lambda text: text.replace('"user"', "oops"), 1, "the array ends or breaks off here"),
    ],
)
def test_an_array_that_is_half_written_is_told(
    tmp_path: Path, cut: Callable[[str], str], element: int, why: str
) -> None:
    """The message has the file and the element; what came before it was read."""
    file = tmp_path / "half.json"
    file.write_text(cut(json.dumps([{"role": "user"}, {"role": "assistant"}])))

    elements = read_data(file)
    with pytest.raises(UsageError, match=re.escape(f"{file}, element {element}: ") + f".*{why}"):
        for _ in elements:
            pass


def test_an_answer_file_is_told_what_it_lacks_for_the_published_prompt(tmp_path: Path) -> None:
    """Of training data each sentence is theirs; a later conversation may have the description that the first lacks."""
    system = "You work.\nWrite a function call for this step.{form}\nTools:\n1.tides: None\n\nYou have: {functions}"
    finish = {"name": "Finish", "description": "Stop.", "parameters": {}}
    bare = {"name": "tide", "description": 'Of "tides".'}
    described = {"name": "tide", "description": 'Of "tides".It: "Says when"'}
    form = " So:\nThought:\nAction\nAction Input:\n"
    file = tmp_path / "train.json"
    rows = [
        {"conversations": [{"from": "system", "value": system.format(form=form, functions=[function, finish])}]}
        for function in (bare, described)
    ]
    file.write_text(json.dumps(rows))

    prompt = published_prompt(file)

    assert (prompt.bare, prompt.described, prompt.is_whole) == ('Of "$tool".', 'Of "$tool".It: "$text"', True)
    assert prompt.answer_system == "You work.\nWrite a function call for this step.\nTools:\n$tools"


def test_the_configuration_of_the_paper_reads_the_published_file() -> None:
    """Each step is a conversation, whose last answer alone is learned."""
    config = read_config("toolllm.yaml")

    assert (config.data, config.layout, config.loss_on) == (("toolllama_G123_dfs_train.json",), "roles", "last")
