"""The model that is tuned, loaded as a configuration wants it, and what a training leaves: adapter, model, card."""

from __future__ import annotations

import importlib.util
import shutil
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from atc.engines import pretrained
from atc.engines.names import ROPE_FILE
from atc.engines.pretrained import BaseModelFiles, load_part, load_weights
from atc.files import write_json, write_text
from benchmarks.learning.sft.examples import TokenizedExample
from benchmarks.learning.sft.settings import TuningConfig
from benchmarks.learning.sft.trainer import read_log
from protocols.errors import UsageError
from protocols.extras import needs_extra

__all__ = [
    "check_vocabulary",
    "load_model",
    "load_tokenizer",
    "loss_figures",
    "model_config",
    "require",
    "save_model",
    "write_card",
]

_NEEDED = ("torch", "transformers", "peft", "accelerate")

_WINDOW = 10
"""Updates whose losses are averaged for a figure."""


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


def save_model(model: Any, tokenizer: Any, base: BaseModelFiles, config: TuningConfig) -> None:
    """Write `adapter/` in fp16, and with `merge` (or without an adapter) `merged/` in the precision of the training."""
    import torch

    dtype = torch.bfloat16 if config.precision == "bf16" else torch.float32
    out = Path(config.out)
    if config.method == "full":
        _replace_folder(out / "merged", lambda folder: model.to(dtype).save_pretrained(folder), tokenizer)
        return
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.to(torch.float16)
    # Not where the base lies on this machine.
    model.peft_config["default"].base_model_name_or_path = base.name
    # Whether the embedding was changed need not be asked at the hub: it never is.
    _replace_folder(out / "adapter", lambda folder: _save_adapter(model, folder, config.factor), tokenizer)
    if config.merge:
        import peft

        fresh = load_model(base, config.model_copy(update={"method": "lora", "precision": "fp32"}))
        whole = peft.PeftModel.from_pretrained(fresh, out / "adapter").merge_and_unload().to(dtype)
        _replace_folder(out / "merged", whole.save_pretrained, tokenizer)


def _save_adapter(model: Any, folder: Path, factor: float) -> None:
    model.save_pretrained(folder, save_embedding_layers=False)
    if factor != 1:
        write_json(folder / ROPE_FILE, {"rope_type": "linear", "factor": factor})


def _replace_folder(folder: Path, save: Any, tokenizer: Any) -> None:
    """Write a folder beside the old one, and put it in its place once it is whole."""
    fresh = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(fresh, ignore_errors=True)
    save(fresh)
    tokenizer.save_pretrained(fresh)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.replace(folder)


def loss_figures(out: Path) -> dict[str, float | None]:
    """The first and the last losses of a log, each a mean over ten updates, and the dev loss before and at its best."""
    lines = read_log(out / "log.jsonl")
    values, dev_values = (
        [line[name] for line in lines if isinstance(line.get(name), int | float)] for name in ("loss", "dev_loss")
    )
    return {
        "first_loss": statistics.fmean(values[:_WINDOW]) if values else None,
        "last_loss": statistics.fmean(values[-_WINDOW:]) if values else None,
        "dev_before": dev_values[0] if dev_values else None,
        "dev_after": min(dev_values[1:], default=None),
    }


def write_card(config: TuningConfig, command: str, facts: Mapping[str, Any]) -> None:
    """Write the model card to the output folder, and beside the adapter or the merged model.

    Args:
        facts: Counts and figures, by the names of the placeholders of `card.txt`; None is a figure that there is not.
    """
    out = Path(config.out)
    settings = [f"- {name}: {value}" for name, value in config.as_json().items() if name not in ("base", "data", "out")]
    texts = {name: _in_words(value) for name, value in facts.items()}
    template = Template((Path(__file__).parent / "card.txt").read_text("utf-8"))
    text = template.substitute(
        texts,
        name=out.resolve().name,
        method=_method(config),
        loss_on=config.loss_on,
        max_length=config.max_length,
        command=command,
        settings="\n".join(settings),
    )
    for folder in (out, out / "adapter", out / "merged"):
        if folder.is_dir():
            write_text(folder / "README.md", text)


def _method(config: TuningConfig) -> str:
    scope = "all weights" if config.method == "full" else f"a {config.method} adapter of rank {config.rank}"
    if config.factor == 1:
        return scope
    return (
        f"{scope}, positions interpolated by {config.factor:g} (load the base with linear rope scaling by that factor)"
    )


def _in_words(value: object) -> str:
    if value is None:
        return "not measured"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "\n".join(f"- {entry}" for entry in value)
    return str(value)
