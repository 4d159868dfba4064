"""The model that is tuned: its tokenizer, its architecture and its weights, as a configuration wants them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import Any

from atc.engines import pretrained
from atc.engines.pretrained import BaseModelFiles, load_part, load_weights
from benchmarks.learning.sft.examples import TokenizedExample
from benchmarks.learning.sft.settings import TuningConfig
from protocols.errors import UsageError
from protocols.extras import needs_extra

__all__ = ["check_vocabulary", "load_model", "load_tokenizer", "model_config", "require"]

_NEEDED = ("torch", "transformers", "peft", "accelerate")


def require(gguf: bool) -> None:
    """See that what a training needs is installed. Raises: UsageError: Something is missing.

    Args:
        gguf: The base is a GGUF file.
    """
    needed = (*_NEEDED, "gguf") if gguf else _NEEDED
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(needs_extra(f"fine-tuning, without {' and '.join(missing)},", "train"))


def load_tokenizer(base: BaseModelFiles, layout: str) -> Any:
    """The tokenizer of a base.

    Raises:
        ModelError: It cannot be had.
        UsageError: It has no chat template, and the layout is "chat".
    """
    tokenizer = pretrained.load_tokenizer(base)
    if tokenizer.chat_template is None and layout == "chat":
        raise UsageError(
            f"the tokenizer of {base.name} has no chat template; tune an instruct model, or take a copy in a folder "
            "with a chat_template.jinja beside its tokenizer; or train on toolllama.json with layout: roles"
        )
    return tokenizer


def model_config(base: BaseModelFiles, config: TuningConfig) -> Any:
    """The architecture of a base, with its positions stretched as `rope` says. Raises: ModelError, UsageError."""
    import transformers

    architecture = load_part(base, transformers.AutoConfig.from_pretrained)
    if config.rope:
        _stretch(architecture, config.factor, base.name)
    return architecture


def _stretch(architecture: Any, factor: float, name: str) -> None:
    """Linear scaling of rotary positions: position p is read as p / factor."""
    field = "rope_parameters" if hasattr(architecture, "rope_parameters") else "rope_scaling"
    settings = dict(getattr(architecture, field, None) or {})
    kind = settings.get("rope_type", settings.get("type", "default"))
    if any(isinstance(value, dict) for value in settings.values()) or kind != "default":
        raise UsageError(f"rope: {name} scales its positions itself ({settings}); leave rope out")
    rotary = bool(settings) or hasattr(architecture, "rope_theta")
    if not rotary or not hasattr(architecture, "max_position_embeddings"):
        raise UsageError(f"rope: {name} has no rotary positions; leave rope out")
    setattr(architecture, field, {**settings, "rope_type": "linear", "factor": factor})
    architecture.max_position_embeddings = round(architecture.max_position_embeddings * factor)


def load_model(base: BaseModelFiles, config: TuningConfig) -> Any:
    """The base with its weights, ready for its adapter. Raises: ModelError, UsageError."""
    import torch

    frozen = config.method != "full"
    options: dict[str, Any] = {"config": model_config(base, config)}
    options["dtype"] = torch.bfloat16 if frozen and config.precision == "bf16" else torch.float32
    model = load_weights(base, **options)
    model.config.use_cache = False
    return model


def check_vocabulary(base: BaseModelFiles, rows: int, tokenizer: Any, examples: Iterable[TokenizedExample]) -> None:
    """See that the model has an embedding for every token of the data.

    Args:
        rows: Rows of the model's embedding.
    Raises: UsageError: The tokenizer is not that of the model.
    """
    highest = max((max(example.tokens) for example in examples), default=0)
    if highest >= rows:
        raise UsageError(
            f"the tokenizer does not fit the model {base.name}: the data has token {highest} (of {len(tokenizer)}), "
            f"and the model has embeddings for {rows}; take the tokenizer files of the same model"
        )
