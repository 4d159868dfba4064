"""The configuration of a fine-tuning: a YAML file, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from protocols.errors import UsageError

__all__ = ["CONFIGS", "TuningConfig", "read_config"]

CONFIGS = Path(__file__).parent.parent / "configs"
"""The configurations that are shipped; `small.yaml` in here is `--config small.yaml`."""

_MAY_CHANGE = {"micro_batch", "gradient_checkpointing", "max_seconds", "merge"}
"""What a run that is continued may set anew."""

_LARGEST = 10**12
Positive = Annotated[int, Field(gt=0, lt=_LARGEST, strict=True)]
Count = Annotated[int, Field(ge=0, lt=_LARGEST, strict=True)]
Number = Annotated[float, Field(ge=0, lt=_LARGEST, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=0.5, allow_inf_nan=False)]
Names = Annotated[
    tuple[str, ...],
    Field(min_length=1),
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
]


class Stretching(BaseModel, frozen=True, extra="forbid"):
    """Position interpolation: position p is read as p / factor."""

    type: Literal["linear"]
    factor: Annotated[float, Field(ge=1, lt=10**6, allow_inf_nan=False)]


class TuningConfig(BaseModel, frozen=True, extra="forbid"):
    """What a fine-tuning is told; the defaults are those of the method, not of a paper.

    Args:
        base: A name of the catalogue (`atc model list`), a folder, a GGUF file, or a name on the Hugging Face hub.
        data: Files of conversations: lines, or an array as published.
        out: The folder that is written.
        dev: A file like `data`, or the share of the examples (0 to 0.5) that is held out.
        targets: Layers that LoRA adapts: `all-linear`, or the ends of their names.
        batch: Examples of one update, over all processes.
        micro_batch: Examples that one process holds in memory at once.
        max_length: Tokens of one example; the context of a longer one is cut on its left.
        loss_on: Learn every assistant turn of a conversation, or only its last.
        layout: The model's chat template, or `roles`: the text of `--format toolllama`, for toolllama.json.
        rope: {"type": "linear", "factor": F} stretches positions (position interpolation), to F times the context.
        max_tokens, max_seconds, max_steps: Where to stop; 0 is no limit. The schedule ends with the tokens or the
            steps, but not with the seconds.
        save_every: Updates between two checkpoints; the loss on the held-out examples is measured there too.
        merge: Also write the tuned model as a whole.
    """

    base: Annotated[str, Field(min_length=1)]
    data: Names
    out: Annotated[str, Field(min_length=1)]
    dev: Share | Annotated[str, Field(min_length=1)] = Field(default=0.02, union_mode="left_to_right")
    method: Literal["full", "lora"] = "lora"
    rank: Annotated[Positive, Field(lt=2**16)] = 16
    alpha: Positive = 32
    dropout: Annotated[Number, Field(lt=1)] = 0.0
    targets: str | Annotated[tuple[str, ...], Field(min_length=1)] = "all-linear"
    learning_rate: Annotated[Number, Field(gt=0)] = 2e-4
    schedule: Literal["cosine", "constant"] = "cosine"
    warm_up: Annotated[Number, Field(lt=1)] = 0.04
    weight_decay: Number = 0.0
    epochs: Annotated[Number, Field(gt=0, lt=10**6)] = 2
    batch: Positive = 16
    micro_batch: Positive = 4
    max_length: Positive = 2048
    loss_on: Literal["all", "last"] = "all"
    layout: Literal["chat", "roles"] = "chat"
    rope: Stretching | None = None
    gradient_checkpointing: bool = False
    precision: Literal["bf16", "fp32"] = "bf16"
    max_tokens: Count = 0
    max_seconds: Count = 0
    max_steps: Count = 0
    save_every: Positive = 50
    merge: bool = False
    seed: Annotated[Count, Field(lt=2**32)] = 0

    @model_validator(mode="after")
    def _batches_are_whole(self) -> TuningConfig:
        if self.batch % self.micro_batch:
            raise ValueError(f"batch is {self.batch}, and must be a multiple of micro_batch, {self.micro_batch}")
        return self

    @property
    def factor(self) -> float:
        """How far positions are stretched; 1 without `rope`."""
        return self.rope.factor if self.rope else 1.0

    def as_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return self.model_dump(mode="json")

    def decisive(self) -> dict[str, Any]:
        """The fields that must be the same when a run is continued."""
        return self.model_dump(mode="json", exclude=_MAY_CHANGE)


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


def _checked(where: str, data: Mapping[Any, Any]) -> TuningConfig:
    unknown = [key for key in data if key not in TuningConfig.model_fields]
    if unknown:
        known_fields = ", ".join(TuningConfig.model_fields)
        raise UsageError(f"{where}: a configuration has no field {unknown[0]!r}; it has {known_fields}")
    for key in ("base", "data", "out"):
        if not data.get(key):
            raise UsageError(f"{where}: `{key}` is missing; write it into the file, or give --set {key}=…")
    try:
        return TuningConfig.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"] if isinstance(part, int) or part in data or part == "factor")
        subject = f"{name} is {first['input']!r}: " if name else ""
        raise UsageError(f"{where}: {subject}{first['msg'].removeprefix('Value error, ')}") from None
