"""The configuration of a fine-tuning: a YAML file, checked once."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeGuard

from protocols.errors import UsageError

__all__ = ["CONFIGS", "TuningConfig", "read_config"]

CONFIGS = Path(__file__).parent.parent / "configs"
"""The configurations that are shipped; `small.yaml` in here is `--config small.yaml`."""

_CHOICES = {
    "method": ("full", "lora", "qlora"),
    "schedule": ("cosine", "constant"),
    "loss_on": ("all", "last"),
    "layout": ("chat", "roles"),
    "precision": ("bf16", "fp32"),
}
_POSITIVE = ("rank", "alpha", "learning_rate", "epochs", "batch", "micro_batch", "max_length", "save_every")
_MAY_BE_ZERO = ("dropout", "warm_up", "weight_decay", "max_tokens", "max_seconds", "max_steps", "seed")
_BELOW = {"dropout": 1, "warm_up": 1, "rank": 2**16, "epochs": 10**6, "seed": 2**32}
"""What a number is less than; others are less than _LARGEST."""
_LARGEST = 10**12
_MOST_STRETCHED = 10**6
_MAY_CHANGE = ("micro_batch", "gradient_checkpointing", "max_seconds", "merge")
"""What a run that is continued may set anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningConfig:
    """What a fine-tuning is told; the defaults are those of the method, not of a paper.

    Args:
        base: A name of the catalogue (`atc model list`), a folder, a GGUF file, or a name on the Hugging Face hub.
        data: JSONL files; each line has `messages`.
        out: The folder that is written.
        dev: A file like `data`, or the share of the examples (0 to 0.5) that is held out.
        targets: Layers that LoRA adapts: `all-linear`, or the ends of their names.
        batch: Examples (packed rows with `packing`) of one update, over all processes.
        micro_batch: Examples that one process holds in memory at once.
        max_length: Tokens of one example; the context of a longer one is cut on its left.
        packing: Put several short examples into one row of `max_length`; none attends to another.
        loss_on: Learn every assistant turn of a conversation, or only its last.
        layout: The model's chat template, or `roles`: the text of `--format toolllama`, for toolllama.jsonl.
        rope: {"type": "linear", "factor": F} stretches positions (position interpolation), to F times the context.
        max_tokens, max_seconds, max_steps: Where to stop; 0 is no limit. The schedule ends with the tokens or the
            steps, but not with the seconds.
        save_every: Updates between two checkpoints; the loss on the held-out examples is measured there too.
        merge: Also write the tuned model as a whole.
    """

    base: str
    data: tuple[str, ...]
    out: str
    dev: str | float = 0.02
    method: str = "lora"
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.0
    targets: str | tuple[str, ...] = "all-linear"
    learning_rate: float = 2e-4
    schedule: str = "cosine"
    warm_up: float = 0.04
    weight_decay: float = 0.0
    epochs: float = 2
    batch: int = 16
    micro_batch: int = 4
    max_length: int = 2048
    packing: bool = False
    loss_on: str = "all"
    layout: str = "chat"
    rope: Mapping[str, Any] | None = None
    gradient_checkpointing: bool = False
    precision: str = "bf16"
    max_tokens: int = 0
    max_seconds: int = 0
    max_steps: int = 0
    save_every: int = 50
    merge: bool = False
    seed: int = 0

    @property
    def factor(self) -> float:
        """How far positions are stretched; 1 without `rope`."""
        return float(self.rope["factor"]) if self.rope else 1.0

    def as_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {**asdict(self), "rope": dict(self.rope) if self.rope else None}

    def decisive(self) -> dict[str, Any]:
        """The fields that must be the same when a run is continued."""
        return {name: value for name, value in self.as_json().items() if name not in _MAY_CHANGE}


def read_config(name: str, changes: Sequence[str] = ()) -> TuningConfig:
    """Read a configuration: a file, or the name of a shipped one.

    Args:
        changes: Fields to replace, each `KEY=VALUE` with a YAML value.
    Raises: UsageError: There is no such file, or a field is missing, unknown, or has a value that cannot be.
    """
    import yaml

    shipped_files = {path.name: path for path in sorted(CONFIGS.glob("*.yaml"))}
    file = shipped_files.get(name, Path(name)) if not Path(name).is_file() else Path(name)
    if not file.is_file():
        shipped = ", ".join(shipped_files)
        raise UsageError(f"there is no configuration {name!r}: name a YAML file, or one of {shipped}")
    try:
        data = yaml.safe_load(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise UsageError(f"{file} cannot be read as a configuration: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{file}: a configuration has lines `key: value`, the first of them `base:`")
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals:
            raise UsageError(f"--set {change!r}: write KEY=VALUE")
        try:
            data[key] = yaml.safe_load(text)
        except (ValueError, RecursionError, yaml.YAMLError):
            raise UsageError(f"--set {change!r}: the value is no YAML") from None
    return _checked(str(file), data)


def _checked(where: str, data: dict[Any, Any]) -> TuningConfig:
    known = {entry.name: str(entry.type) for entry in fields(TuningConfig)}
    for key in data:
        if key not in known:
            raise UsageError(f"{where}: a configuration has no field {key!r}; it has {', '.join(known)}")
    for key in ("base", "data", "out"):
        if not data.get(key):
            raise UsageError(f"{where}: `{key}` is missing; write it into the file, or give --set {key}=…")
    values: dict[str, Any] = {key: _value(f"{where}: {key}", key, known[key], value) for key, value in data.items()}
    config = TuningConfig(**values)
    if config.dev == "" or (isinstance(config.dev, float) and not 0 <= config.dev <= 0.5):
        raise UsageError(f"{where}: dev is {config.dev!r}, and must be a file or a share from 0 to 0.5")
    if not config.targets:
        raise UsageError(f"{where}: targets is empty, and must be all-linear, or a list like [q_proj, v_proj]")
    if config.rope is not None:
        _check_rope(where, config.rope)
    if config.batch % config.micro_batch:
        raise UsageError(
            f"{where}: batch is {config.batch}, and must be a multiple of micro_batch, {config.micro_batch}"
        )
    return config


def _check_rope(where: str, rope: Mapping[str, Any]) -> None:
    """See that positions can be stretched so. Raises: UsageError."""
    factor = rope.get("factor")
    if set(rope) != {"type", "factor"} or rope["type"] != "linear" or not _is_number(factor):
        raise UsageError(f"{where}: rope is {dict(rope)}, and must be like {{type: linear, factor: 2}}")
    if not 1 <= factor < _MOST_STRETCHED:
        raise UsageError(
            f"{where}: the factor of rope is {factor}, and must be at least 1 and less than {_MOST_STRETCHED:,}"
        )


def _value(where: str, key: str, kind: str, value: Any) -> Any:
    """A value as the field has it: lists become tuples, numbers become floats where the field is one."""
    if key in ("data", "targets") and isinstance(value, list):
        value = tuple(map(str, value))
    elif key == "data":
        value = (str(value),)
    elif "float" in kind and _is_number(value):
        value = float(str(value))
    elif isinstance(value, str) and "float" in kind:  # YAML 1.1 takes 5e-5 for a text
        with contextlib.suppress(ValueError):
            value = float(value)
    if key in _CHOICES and value not in _CHOICES[key]:
        raise UsageError(f"{where} is {value!r}, and must be one of {', '.join(_CHOICES[key])}")
    fits = isinstance(value, _classes(kind))
    if not fits or (isinstance(value, bool) and kind != "bool"):
        raise UsageError(f"{where} is {value!r}, and must be {kind}")
    if key in _POSITIVE + _MAY_BE_ZERO:
        _check_number(where, key, value)
    return value


def _check_number(where: str, key: str, value: float) -> None:
    """See that a number is within its limits. Raises: UsageError."""
    if isinstance(value, float) and math.isnan(value):
        raise UsageError(f"{where} is {value}, and must be a number")
    if value < 0 or (key in _POSITIVE and value == 0):
        raise UsageError(f"{where} is {value}, and must be larger")
    if value >= (limit := _BELOW.get(key, _LARGEST)):
        raise UsageError(f"{where} is {value}, and must be less than {limit:,}")


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _classes(kind: str) -> tuple[type, ...]:
    classes = {"str": str, "float": float, "int": int, "bool": bool, "tuple[str, ...]": tuple}
    classes |= {"Mapping[str, Any]": dict, "None": type(None)}
    return tuple(classes[part] for part in kind.split(" | "))
