"""`hf:NAME`: a causal language model run by transformers, from a folder, a GGUF file or the Hugging Face hub.

It is slower than the other engines, but runs whatever transformers can load, with or without a chat template. The
weights of a GGUF file are those of `local:`, in 32 bit; an adapter is added to them.
"""

from __future__ import annotations

import importlib.util
import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from atc.engines.names import ADAPTER_FILES, ROPE_FILE
from atc.engines.pretrained import find_base, load_tokenizer, load_weights
from atc.models.base import (
    TEMPERATURE,
    Completion,
    Message,
    ModelBase,
    ModelRequest,
    Usage,
    check_context_length,
    check_text_only,
    cut_at_stop,
    split_prefill,
)
from atc.models.chat_format import role_prompt
from protocols.errors import ModelError
from protocols.extras import needs_extra

__all__ = ["TransformersModel"]


class TransformersModel(ModelBase):
    """A model that transformers loads at the first request; it answers one conversation at a time.

    Args:
        base: A folder, a name of the catalogue, the path of a GGUF file, or a name on the hub.
        adapter: The folder of a LoRA adapter, as peft writes it.
        name: The model's name, by default `hf:` and the base.
    Raises: ModelError: A package that it needs is not installed, or there is no model or adapter of that name.
    """

    def __init__(self, base: str, adapter: Path | None = None, name: str = "") -> None:
        self.name = name or f"hf:{base}"
        self._adapter = adapter
        self._base = replace(find_base(base), name=self.name)
        self._check_packages()
        if adapter is not None and not all((adapter / name).is_file() for name in ADAPTER_FILES):
            raise ModelError(
                f"{adapter} is no adapter for hf:, which takes a folder with {' and '.join(ADAPTER_FILES)}"
            )
        if adapter is not None and (adapter / ROPE_FILE).is_file():
            raise ModelError(
                f"{adapter} was trained with interpolated positions, which hf: does not give a base; train with "
                "`merge: true` and take the folder merged beside it"
            )
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def _check_packages(self) -> None:
        needed = {"torch": "hf", "transformers": "hf"}
        needed |= {"gguf": "train"} if self._base.gguf else {}
        needed |= {"peft": "train"} if self._adapter is not None else {}
        missing = [package for package in needed if importlib.util.find_spec(package) is None]
        if missing:
            extra = needed[missing[-1]]
            raise ModelError(needs_extra(f"{self.name}, without {' and '.join(missing)},", extra))

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`. Raises: ModelError: also when prompt and answer do not fit into the model's
        context."""
        check_text_only(self.name, request)
        started = time.monotonic()
        with self._lock:
            tokenizer, model = self._load()
            chat = request.layout == "chat"
            prompt = _render(tokenizer, request.messages) if chat else role_prompt(request.messages)
            # A chat template writes the beginning of a text itself.
            read = tokenizer(
                prompt, return_tensors="pt", add_special_tokens=tokenizer.chat_template is None or not chat
            )
            inputs = {name: read[name].to(model.device) for name in ("input_ids", "attention_mask")}
            length = inputs["input_ids"].shape[1]
            context = getattr(model.config, "max_position_embeddings", None)
            if context is not None:
                check_context_length(self.name, length, request.max_tokens, context)
            written = self._write(inputs, request.stop, request.max_tokens, request.seed)[length:]
        text, stopped = cut_at_stop(tokenizer.decode(written, skip_special_tokens=True), request.stop)
        ended = stopped or len(written) < request.max_tokens or int(written[-1]) in _ends(model)
        usage = Usage(length, len(written), 0, 1, time.monotonic() - started)
        return Completion(text, usage, "stop" if ended else "length")

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, without chat template. Raises: ModelError."""
        with self._lock:
            tokenizer, _ = self._load()
            return len(tokenizer(text, add_special_tokens=False)["input_ids"])

    def close(self) -> None:
        """Forget the model."""
        with self._lock:
            self._loaded = None

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            import torch

            tokenizer = load_tokenizer(self._base)
            model = load_weights(self._base, dtype="auto")
            if self._adapter is not None:
                model = self._adapted(model, self._adapter)
            model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
            self._loaded = tokenizer, model
        return self._loaded

    def _adapted(self, model: Any, adapter: Path) -> Any:
        """The model with an adapter's weights added to its own. Raises: ModelError: They do not fit."""
        import peft

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # of transformers, about what peft calls
                return peft.PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
        except Exception as error:  # of many classes; a damaged safetensors file has one of its own
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise ModelError(
                f"the adapter {adapter} cannot be added to the model: {lines[0].strip()}; it was trained on another "
                "model, or it is damaged"
            ) from error

    def _write(self, inputs: dict[str, Any], stop: Sequence[str], max_tokens: int, seed: int | None) -> Any:
        """Prompt and answer as a vector of tokens; with a seed the answer is sampled."""
        import torch
        import transformers

        tokenizer, model = self._load()
        ends = _ends(model)
        settings = transformers.GenerationConfig(
            do_sample=seed is not None,
            temperature=TEMPERATURE if seed is not None else None,
            max_new_tokens=max_tokens,
            eos_token_id=ends or None,
            pad_token_id=tokenizer.pad_token_id if tokenizer.pad_token_id is not None else next(iter(ends), 0),
            stop_strings=list(stop) or None,
        )
        with torch.inference_mode(), torch.random.fork_rng():
            if seed is not None:
                torch.manual_seed(seed)
            return model.generate(**inputs, generation_config=settings, tokenizer=tokenizer)[0]


def _render(tokenizer: Any, messages: Sequence[Message]) -> str:
    """Render a conversation with the model's chat template, open at its end."""
    turns, prefill = split_prefill(messages)
    if tokenizer.chat_template is None:
        return "".join(f"{turn['content']}\n\n" for turn in turns) + prefill
    rendered: str = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    return rendered + prefill


def _ends(model: Any) -> list[int]:
    """The tokens that end an answer."""
    ends = model.generation_config.eos_token_id
    if ends is None:  # as of a GGUF file
        ends = model.config.eos_token_id
    if ends is None:
        return []
    return list(ends) if isinstance(ends, list) else [ends]
