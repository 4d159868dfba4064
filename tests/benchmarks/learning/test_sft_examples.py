"""Conversations become training examples: which of their tokens a loss is taken of."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from atc.engines.gguf_metadata import read_metadata
from atc.engines.pretrained import find_base, load_tokenizer
from atc.models import Message
from atc.models.chat_format import role_prompt
from benchmarks.learning.sft.examples import IGNORED, TokenizedExample
from benchmarks.methods.formats.toolllama import write_message
from protocols.errors import UsageError
from tests.benchmarks.learning.conftest import ExamplesOf
from tests.benchmarks.learning.tiny_llama import VOCABULARY, make_llama, write_gguf
from tests.benchmarks.learning.tuning import CHATML

SYSTEM_ADDED = (
    "{% for message in messages %}{% if loop.first and message.role != 'system' %}<|im_start|>system\nBe brief."
    "<|im_end|>\n{% endif %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""As SmolLM2 and Qwen 2.5: a system turn is added where there is none."""
THINKING = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{% if message.role == 'assistant' and loop.last %}"
    "<think>\n\n</think>\n\n{% endif %}{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""As Qwen 3: the last turn is rendered in another way than earlier ones."""
PLAIN = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}" + (
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
"""No marks at all; a line end is the end of a turn."""
TURNS = [
    {"role": "user", "content": "Add 1 and 2."},
    {"role": "assistant", "content": "print(add(1, 2))"},
    {"role": "user", "content": "And 3?"},
    {"role": "assistant", "content": "print(add(3, 3))"},
]


def targets(tokenizer: Any, example: TokenizedExample) -> list[str]:
    """The tokens that a loss is taken of, as texts."""
    return [tokenizer.decode([label]) for label in example.labels if label != IGNORED]


@pytest.mark.train
@pytest.mark.parametrize("template", [CHATML, SYSTEM_ADDED], ids=["chatml", "system added"])
def test_the_loss_is_taken_of_answers_alone(tokenizer: Any, examples_of: ExamplesOf, template: str) -> None:
    """Every token of every assistant turn and of its end counts, and no other token does."""
    tokenizer.chat_template = template

    [example], _ = examples_of(TURNS)

    expected: list[int] = []
    for turn in TURNS:
        head = tokenizer(f"<|im_start|>{turn['role']}\n")["input_ids"]
        body = tokenizer(f"{turn['content']}<|im_end|>")["input_ids"]
        learned = turn["role"] == "assistant"
        expected += [IGNORED] * len(head) + (body if learned else [IGNORED] * len(body))
        expected += [IGNORED] * len(tokenizer("\n")["input_ids"])
    expected = expected[: -len(tokenizer("\n")["input_ids"])]  # an example ends with its last answer
    added = len(example.labels) - len(expected)
    assert example.labels == [IGNORED] * added + expected
    assert (added > 0) == (template is SYSTEM_ADDED)
    assert all(label in (IGNORED, token) for token, label in zip(example.ids, example.labels, strict=True))
    assert "".join(targets(tokenizer, example)) == "print(add(1, 2))<|im_end|>print(add(3, 3))<|im_end|>"


@pytest.mark.train
@pytest.mark.parametrize("template", [CHATML, SYSTEM_ADDED, PLAIN], ids=["chatml", "system added", "plain"])
def test_solved_examples_in_a_question_are_learned_too(tokenizer: Any, examples_of: ExamplesOf, template: str) -> None:
    """What a turn has to `learn` is learned with all answers, and not with the last alone."""
    tokenizer.chat_template = template
    question = "\nAdd 3 and 4.\nprint(add(3, 4))\nAdd 1 and 2."
    first = question.index("print")
    turns: list[dict[str, Any]] = [{"role": "user", "content": question, "learn": [(first, first + 16)]}, TURNS[1]]

    [example], _ = examples_of(turns)
    [last], _ = examples_of(turns, loss_on="last")

    ending = "\n" if template is PLAIN else "<|im_end|>"
    assert "".join(targets(tokenizer, example)) == f"print(add(3, 4))print(add(1, 2)){ending}"
    assert "".join(targets(tokenizer, last)) == f"print(add(1, 2)){ending}"


@pytest.mark.train
def test_what_a_template_trims_is_not_learned(tokenizer: Any, examples_of: ExamplesOf) -> None:
    """White space at the end of a content is not there; the marks after it are never learned in its place."""
    tokenizer.chat_template = CHATML.replace("message['content']", "message['content'] | trim").replace(
        "message.content", "message.content | trim"
    )
    [example], _ = examples_of([{"role": "user", "content": "Add 1\n", "learn": [(4, 6)]}, TURNS[1]])

    assert "".join(targets(tokenizer, example)) == "1print(add(1, 2))<|im_end|>"


@pytest.mark.train
def test_a_template_that_renders_the_last_turn_otherwise(tokenizer: Any, examples_of: ExamplesOf) -> None:
    """Each answer then is an example of its own, as it looks when the model is asked for it."""
    tokenizer.chat_template = THINKING

    [first, second], _ = examples_of(TURNS)

    assert "".join(targets(tokenizer, first)) == "<think>\n\n</think>\n\nprint(add(1, 2))<|im_end|>"
    assert "".join(targets(tokenizer, second)) == "<think>\n\n</think>\n\nprint(add(3, 3))<|im_end|>"
    assert tokenizer.decode(second.ids).count("<think>") == 1


@pytest.mark.train
def test_the_roles_layout_is_the_prompt_of_the_toolllama_format(tokenizer: Any, examples_of: ExamplesOf) -> None:
    """Each answer is learned after the text that the model reads at inference, up to the end token."""
    turns = [
        {"role": "system", "content": "Call functions."},
        {"role": "user", "content": "\nAdd 1 and 2.\nBegin!\n"},
        {"role": "assistant", "content": write_message("Add.", "add", '{"first": 1}')},
        {"role": "tool", "content": '{"sum": 3}'},
        {"role": "assistant", "content": write_message("Done.", "Finish", "{}")},
    ]
    messages = [Message(cast(Any, turn["role"]), turn["content"]) for turn in turns]

    examples, _ = examples_of(turns, layout="roles")

    for example, place in zip(examples, (2, 4), strict=True):
        prompt = tokenizer(role_prompt(messages[:place]).removesuffix(" \n"))["input_ids"]
        answer = tokenizer(f" {messages[place].content}{tokenizer.eos_token}")["input_ids"]
        assert example.ids == [*prompt, *answer]
        assert example.labels == [*[IGNORED] * len(prompt), *answer]
    with pytest.raises(UsageError, match=r"line 1: layout roles cannot tell two turns of the assistant in a row apart"):
        examples_of([turns[1], turns[2], turns[2]], layout="roles")
    with pytest.raises(UsageError, match=r"line 1: its `learn` cannot be found"):
        examples_of([{**turns[1], "learn": [(0, 3)]}, *turns[2:]], layout="roles")
    with pytest.raises(UsageError, match=r"line 1: a chat template may leave out results of calls; set layout: roles"):
        examples_of(turns)


@pytest.mark.train
def test_an_answer_ends_with_the_token_at_which_engines_stop(tmp_path: Path) -> None:
    """For a GGUF file that is the one of its metadata, whatever version of transformers reads it."""
    file = tmp_path / "base.gguf"
    write_gguf(make_llama(), file)

    tokenizer = load_tokenizer(find_base(str(file)))

    assert (tokenizer.eos_token, tokenizer.eos_token_id) == ("<end>", VOCABULARY - 1)
    assert read_metadata(file, ["tokenizer.ggml.eos_token_id"]) == {"tokenizer.ggml.eos_token_id": VOCABULARY - 1}


@pytest.mark.train
def test_the_prompt_is_tokenized_as_at_inference(tokenizer: Any, examples_of: ExamplesOf) -> None:
    """An answer that begins with a line end is not joined with the line end before it."""
    tokenizer.add_tokens(["\n\n"])
    turns = [TURNS[0], {"role": "assistant", "content": "\nThought: add"}]
    prompt = tokenizer.apply_chat_template(turns[:1], tokenize=False, add_generation_prompt=True)

    [example], _ = examples_of(turns)

    read = tokenizer(prompt)["input_ids"]
    assert example.ids[: len(read)] == read
    assert "".join(targets(tokenizer, example)) == "\nThought: add<|im_end|>"


@pytest.mark.train
def test_a_long_context_is_cut_on_its_left(tokenizer: Any, examples_of: ExamplesOf) -> None:
    """The answer stays whole, with the end of its context before it; an answer that does not fit is counted."""
    long = [{"role": "user", "content": "Add 1 and 2. " * 60 + "Quick!"}, TURNS[1]]
    lost = [TURNS[0], {"role": "assistant", "content": "x(7)" * 80}]

    [example], counts = examples_of(long, lost, max_length=40)

    assert len(example.ids) == 40
    assert "".join(targets(tokenizer, example)) == "print(add(1, 2))<|im_end|>"
    assert "Quick!" in tokenizer.decode(example.ids)
    assert (counts.truncated, counts.dropped) == (1, 1)


@pytest.mark.train
def test_turns_beyond_the_length_get_examples_of_their_own(tokenizer: Any, examples_of: ExamplesOf) -> None:
    """No answer of a long conversation is lost: those that do not fit from its beginning stand alone."""
    turns = TURNS * 4

    examples, counts = examples_of(turns, max_length=100)

    answers = "".join(text for example in examples for text in targets(tokenizer, example))
    assert answers == "print(add(1, 2))<|im_end|>print(add(3, 3))<|im_end|>" * 4
    assert all(len(example.ids) <= 100 for example in examples)
    assert len(examples) == counts.truncated + 1
