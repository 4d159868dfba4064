"""A tuned model as one GGUF file: a base with an adapter added to its weights, or all weights after a full tuning.

Both engines read it, where OpenVINO takes no adapter. What the tuning did not change stays as the base's file has it,
metadata and vocabulary included. What it changed is written in 8 bit (Q8_0), or in the base's own 16 or 32 bit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atc.engines.names import ADAPTER_FILES
from benchmarks.learning.gguf_adapter import (
    AdaptedLayer,
    BaseFile,
    check_packages,
    gguf_file,
    permuted,
    read_base,
    read_layers,
    tensor_name,
    trained_rope_factor,
)
from protocols.errors import ModelError, UsageError

__all__ = ["ModelFile", "merge"]

_BLOCK = 32
"""Numbers of a row that share a scale in Q8_0."""

Change = Callable[[Any], Any]
"""Makes the tuned weights of a tensor, (outputs, inputs) in 32 bit, of those of the base."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A written file: its architecture, the tensors that differ from the base's, and its size in bytes."""

    file: Path
    architecture: str
    tensors: int
    size: int


def merge(folder: Path, base: Path, out: Path) -> ModelFile:
    """Write a tuned model to the GGUF file `out`.

    Args:
        folder: An adapter as peft writes it, or a whole model as transformers does.
        base: The GGUF file of the model that was tuned.
    Raises:
        UsageError: Positions were interpolated in the training, or `out` cannot be written.
        ModelError: A file is missing or damaged, the weights do not fit the model, or a package is not installed.
    """
    check_packages()
    model = read_base(base)
    if (folder / ADAPTER_FILES[0]).is_file():
        factor = trained_rope_factor(folder)
        changes = {layer.tensor: _added(layer) for layer in read_layers(folder, model)}
    else:
        factor = _whole_rope_factor(folder)
        changes = {name: _replaced(weights) for name, weights in _weights(folder, model).items()}
    if factor != 1:
        raise UsageError(
            f"{folder} was trained with interpolated positions, which this file cannot hold; give the adapter itself "
            "to local:, or the folder merged to hf:"
        )
    _write(out, base, model.architecture, changes)
    return ModelFile(out, model.architecture, len(changes), out.stat().st_size)


def _added(layer: AdaptedLayer) -> Change:
    return lambda weights: weights + layer.scale * (layer.up @ layer.down)


def _replaced(tuned: Any) -> Change:
    return lambda weights: tuned


def _whole_rope_factor(folder: Path) -> float:
    """The factor by which a model's positions are interpolated; another scaling is that of its base.

    Raises: ModelError: The folder holds no model.
    """
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text("utf-8"))
        scaling = config.get("rope_parameters") or config.get("rope_scaling") or {}
        is_linear = scaling.get("rope_type", scaling.get("type")) == "linear"
        return float(scaling.get("factor") or 1) if is_linear else 1.0
    except OSError as error:
        raise ModelError(
            f"{folder} is neither an adapter nor a model: {file.name}: {error.strerror or error}"
        ) from error
    except (ValueError, TypeError, AttributeError) as error:
        raise ModelError(f"{file} is damaged: {error}") from error


def _weights(folder: Path, base: BaseFile) -> dict[str, Any]:
    """By the base's tensors, the weights of a model, in the order of rows of the file. Raises: ModelError."""
    import safetensors
    from safetensors.torch import load_file

    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise ModelError(f"{folder} has no weights: no file *.safetensors; name the folder `merged` of a training")
    weights: dict[str, Any] = {}
    for file in files:
        try:
            parameters = load_file(file)
        except (OSError, safetensors.SafetensorError) as error:
            raise ModelError(f"{file} is damaged ({error}); take an earlier checkpoint of the training") from error
        for parameter, tensor in parameters.items():
            name = tensor_name(parameter, base)
            values = tensor.float().numpy()
            if base.shapes[name] != tuple(reversed(values.shape)):
                raise ModelError(f"{file}: {parameter} has another size than {name} in {base.file}; name its base")
            weights[name] = permuted(values, name, base)
    if missing := base.shapes.keys() - weights.keys() - {"rope_freqs.weight"}:
        raise ModelError(f"{folder} has no weights for {min(missing)} of {base.file}; name its base with --base")
    return weights


def _write(out: Path, base: Path, architecture: str, changes: Mapping[str, Change]) -> None:
    """Write the file as a whole or not at all. Raises: UsageError."""
    import gguf

    reader = gguf.GGUFReader(base)
    with gguf_file(out, architecture) as writer:
        for name, entry in reader.fields.items():
            if name != "general.architecture" and not name.startswith("GGUF."):
                kind, *parts = entry.types
                writer.add_key_value(name, entry.contents(), kind, parts[-1] if parts else None)
        for tensor in reader.tensors:
            data, kind = tensor.data, tensor.tensor_type
            if (change := changes.get(tensor.name)) is not None:
                data, kind = _stored(change(gguf.quants.dequantize(data, kind)), kind)
            writer.add_tensor(tensor.name, data, raw_dtype=kind)


def _stored(weights: Any, kind: Any) -> tuple[Any, Any]:
    """Weights and the type that they are stored in, given the base's: OpenVINO reads no 8 bit in a file of 16."""
    import gguf
    import numpy as np

    types = gguf.GGMLQuantizationType
    if kind not in (types.F32, types.F16, types.BF16):
        kind = types.F32 if weights.ndim < 2 or weights.shape[-1] % _BLOCK else types.Q8_0
    return gguf.quants.quantize(np.ascontiguousarray(weights, np.float32), kind), kind
