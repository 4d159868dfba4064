"""The model that is tuned: a file of the catalogue, a GGUF file, a folder, or a name on the hub."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atc.models import files
from atc.training.sft.examples import TokenizedExample
from atc.training.sft.settings import TuningConfig
from protocols.errors import ModelError, UsageError

__all__ = ["BaseModelFiles", "check_vocabulary", "find_base", "load_model", "load_tokenizer", "model_config", "require"]

_NEEDED = ("torch", "transformers", "peft", "accelerate", "matplotlib")


@dataclass(frozen=True, slots=True)
class BaseModelFiles:
    """Where transformers finds a model: a folder or hub name, and the GGUF file in that folder if it is one."""

    name: str
    source: str
    gguf: str | None = None

    def options(self) -> dict[str, str]:
        """The keywords of `from_pretrained`."""
        return {"gguf_file": self.gguf} if self.gguf else {}


def require(method: str) -> None:
    """See that what a training needs is installed. Raises: UsageError: Something is missing."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"fine-tuning needs {', '.join(missing)}: pip install 'atc-toolchain[train]'")
    if method != "qlora":
        return
    if importlib.util.find_spec("bitsandbytes") is None:
        raise UsageError("method qlora needs bitsandbytes: pip install bitsandbytes; or take --set method=lora")
    import torch

    if not torch.cuda.is_available():
        raise UsageError("method qlora needs a GPU, and torch sees none; take --set method=lora")


def find_base(name: str) -> BaseModelFiles:
    """Find the files of a base. Raises: ModelError: There are none."""
    short = name.removeprefix("local:")
    if short in {model.name for model in files.CATALOGUE} or name.startswith("local:"):
        file = files.path(short)
        return BaseModelFiles(short, str(file.parent), file.name)
    path = Path(name).expanduser()
    if path.suffix == ".gguf":
        if not path.is_file():
            raise ModelError(f"there is no model file {path}")
        if importlib.util.find_spec("gguf") is None:
            raise UsageError("to read a GGUF file takes gguf: pip install 'atc-toolchain[train]'")
        return BaseModelFiles(path.stem, str(path.parent), path.name)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ModelError(f"{path} is no model folder: it has no config.json")
        return BaseModelFiles(path.name, str(path))
    if name.startswith((".", "/", "~")):
        raise ModelError(f"there is no model folder {path}")
    return BaseModelFiles(name, name)


def load_tokenizer(base: BaseModelFiles, layout: str) -> Any:
    """The tokenizer of a base.

    Raises:
        ModelError: It cannot be had.
        UsageError: It has no chat template, and the layout is "chat".
    """
    import transformers

    tokenizer = _loaded(base, transformers.AutoTokenizer.from_pretrained)
    if tokenizer.chat_template is None and layout == "chat":
        raise UsageError(
            f"the tokenizer of {base.name} has no chat template; tune an instruct model, or take a copy in a folder "
            "with a chat_template.jinja beside its tokenizer; or train on toolllama.jsonl with layout: roles"
        )
    return tokenizer


def model_config(base: BaseModelFiles, config: TuningConfig) -> Any:
    """The architecture of a base, with its positions stretched as `rope` says. Raises: ModelError, UsageError."""
    import transformers

    architecture = _loaded(base, transformers.AutoConfig.from_pretrained)
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
    import transformers

    frozen = config.method != "full"
    options: dict[str, Any] = {"config": model_config(base, config)}
    options["dtype"] = torch.bfloat16 if frozen and config.precision == "bf16" else torch.float32
    if base.gguf and hasattr(transformers, "GgufConfig"):  # since 5.23 blocks stay packed unless this is said
        options["quantization_config"] = transformers.GgufConfig(dequantize=True)
    if config.method == "qlora":
        if base.gguf:
            raise UsageError("method qlora quantizes the base itself; name a folder or a hub name instead of a GGUF")
        options["quantization_config"] = transformers.BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
        )
    model = _loaded(base, transformers.AutoModelForCausalLM.from_pretrained, **options)
    model.config.use_cache = False
    return model


def _loaded(base: BaseModelFiles, load: Any, **options: Any) -> Any:
    """What transformers loads of a base. Raises: ModelError."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        return load(base.source, **base.options(), **options)
    except (OSError, ValueError, KeyError, ImportError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        remedy = ""
        if not Path(base.source).is_dir():
            remedy = (
                "; if the hub cannot be reached from here, download the model elsewhere "
                "(`hf download NAME --local-dir FOLDER`) and give the folder as `base`"
            )
        raise ModelError(f"transformers cannot load {base.name}: {reason}{remedy}") from error


def check_vocabulary(base: BaseModelFiles, rows: int, tokenizer: Any, examples: Iterable[TokenizedExample]) -> None:
    """See that the model has an embedding for every token of the data.

    Args:
        rows: Rows of the model's embedding.
    Raises: UsageError: The tokenizer is not that of the model.
    """
    highest = max((token for example in examples for token in example.ids), default=0)
    if highest >= rows:
        raise UsageError(
            f"the tokenizer does not fit the model {base.name}: the data has token {highest} (of {len(tokenizer)}), "
            f"and the model has embeddings for {rows}; take the tokenizer files of the same model"
        )
