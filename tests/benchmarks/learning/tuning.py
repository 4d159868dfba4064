"""A model made on the spot, a few layers without any training with a tokenizer of the texts at hand, and its tuning.

It stands in for a real base where none can be had, and where a measurement must take seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from click.testing import CliRunner, Result

from benchmarks.learning.sft_command import sft

__all__ = ["CHATML", "changes", "make_model", "tune"]

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""The chat template of most small models: a turn is its role, a line end, its text, and a token that ends it."""


def make_model(folder: Path, texts: Iterable[str], hidden: int = 64) -> None:
    """Write a model of the llama architecture, and its tokenizer, into `folder`.

    Args:
        texts: What the tokenizer learns its words from.
        hidden: Width of the layers, a multiple of 32.
    """
    import tokenizers
    import torch
    import transformers

    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<|im_start|>", "<|im_end|>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|im_end|>"
    )
    wrapped.chat_template = CHATML
    wrapped.save_pretrained(folder)
    architecture = transformers.LlamaConfig(
        vocab_size=len(wrapped),
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=2,
        num_attention_heads=hidden // 32,
        num_key_value_heads=hidden // 32,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=wrapped.eos_token_id,
        pad_token_id=wrapped.pad_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.LlamaForCausalLM(architecture).save_pretrained(folder)


def changes(tiny: Path, out: Path, **fields: object) -> list[str]:
    """The fields that make a shipped configuration one for the small model."""
    small = {"base": str(tiny / "base"), "data": str(tiny / "pairs.jsonl"), "out": str(out), "max_length": 128}
    small |= {"batch": 4, "micro_batch": 2, "save_every": 4, "dev": 0.1, "precision": "fp32", "merge": False}
    return [f"{key}={json.dumps(value)}" for key, value in {**small, **fields}.items()]


def tune(config: str, settings: Sequence[str]) -> Result:
    """Run `atc train sft --config CONFIG --set …`."""
    arguments = [part for change in settings for part in ("--set", change)]
    return CliRunner().invoke(sft, ["--config", config, *arguments])
