"""A LoRA adapter of peft as a GGUF file, which llama.cpp adds to its own copy of the model.

A tensor of the model has two in the file, NAME.lora_a (rank x inputs) and NAME.lora_b (outputs x rank). llama.cpp
scales their product by `adapter.lora.alpha` / rank. A GGUF file of the llama architecture has the rows of the query and
key projections in another order, in which the two halves of a rotated pair are neighbours; lora_b follows it.

Source: LoRA (arXiv:2106.09685); the tensors and fields that llama.cpp reads.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atc.engines.gguf_metadata import ROPE_FACTOR
from atc.engines.names import ADAPTER_FILES, ROPE_FILE
from protocols.errors import ModelError, UsageError
from protocols.extras import needs_extra

__all__ = [
    "AdaptedLayer",
    "BaseFile",
    "check_packages",
    "convert",
    "default_base",
    "gguf_file",
    "permuted",
    "read_base",
    "read_layers",
    "tensor_name",
    "trained_rope_factor",
]

ARCHITECTURES = ("llama", "qwen2", "qwen3")
"""Those whose tensors are the projections of transformers, but for the order of rows in `_PERMUTED`."""

_PERMUTED = {"llama": {"attn_q": "head_count", "attn_k": "head_count_kv"}}
"""By architecture and kind of tensor, the field with the number of heads."""

_LARGEST = 3.4e38
"""Of a number in 32 bit, as the file has it."""

_MOVING = ("pissa", "olora", "corda", "loftq", "lora_ga")
"""How peft may begin an adapter so that the base's weights change, too; a GGUF base has them as they were."""

_TENSOR = re.compile(r"^base_model\.model\.(?P<module>.+)\.(?P<kind>lora_[AB]|lora_embedding_[AB])(\.weight)?$")


@dataclass(frozen=True, slots=True)
class AdapterFile:
    """A written file: its architecture, the model's tensors that it changes, its rank and its size in bytes."""

    file: Path
    architecture: str
    tensors: int
    rank: int
    size: int


@dataclass(frozen=True, slots=True)
class AdaptedLayer:
    """What is added to a tensor of the model: `scale * up @ down`, with rows in the order of the file."""

    tensor: str
    down: Any
    up: Any
    scale: float

    @property
    def rank(self) -> int:
        """Rows of `down`."""
        return int(self.down.shape[0])


@dataclass(frozen=True, slots=True)
class BaseFile:
    """The model of an adapter; `shapes` has (inputs, outputs) by the name of a tensor."""

    file: Path
    architecture: str
    blocks: int
    heads: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]


def convert(folder: Path, base: Path, out: Path) -> AdapterFile:
    """Write the adapter in `folder` to the GGUF file `out`, in 16 bit.

    Args:
        folder: As peft's `save_pretrained` writes it.
        base: The GGUF file of the model that it was trained on; every tensor is compared with it.
    Raises:
        UsageError: The adapter has parts that llama.cpp cannot add, or `out` cannot be written.
        ModelError: A file is missing or damaged, the adapter does not fit the model, or a package is not installed.
    """
    check_packages()
    model = read_base(base)
    layers = read_layers(folder, model)
    alpha = float(_config(folder)["lora_alpha"])
    tensors: dict[str, Any] = {}
    for layer in layers:
        tensors[f"{layer.tensor}.lora_a"] = layer.down
        tensors[f"{layer.tensor}.lora_b"] = layer.up
    rank = max(layer.rank for layer in layers)
    _write(out, model.architecture, alpha, tensors, trained_rope_factor(folder))
    return AdapterFile(out, model.architecture, len(layers), rank, out.stat().st_size)


def check_packages() -> None:
    """See that what a conversion needs is installed. Raises: ModelError."""
    missing = [name for name in ("gguf", "safetensors", "torch") if importlib.util.find_spec(name) is None]
    if missing:
        raise ModelError(needs_extra(f"a conversion, without {' and '.join(missing)},", "train"))


def read_layers(folder: Path, base: BaseFile) -> list[AdaptedLayer]:
    """The layers of an adapter, by the names of the base's tensors. Raises: UsageError, ModelError: see `convert`."""
    config = _config(folder)
    layers = []
    for module, (down, up) in sorted(_pairs(folder).items()):
        name = tensor_name(f"{module}.weight", base)
        expected, actual = base.shapes[name], (down.shape[1], up.shape[0])
        if expected != actual or down.shape[0] != up.shape[1]:
            raise ModelError(
                f"{folder}: {module} has {actual[0]} inputs and {actual[1]} outputs, and {name} in {base.file} has "
                f"{' and '.join(map(str, expected))}: the adapter was trained on another model; name it with --base"
            )
        layers.append(AdaptedLayer(name, down, permuted(up, name, base), float(config["lora_alpha"]) / down.shape[0]))
    return layers


def default_base(folder: Path) -> str:
    """The model that an adapter names as its own: a name of the catalogue, or a GGUF file.

    Raises: UsageError: It names none that can be had; ModelError: The folder holds no adapter.
    """
    from atc.engines.files import is_listed

    if not (folder / ADAPTER_FILES[0]).is_file() and (folder / "config.json").is_file():
        raise UsageError(f"{folder} is a whole model, which does not name its base; give its GGUF file with --base")
    name = str(_config(folder).get("base_model_name_or_path") or "")
    place = Path(name).expanduser()
    if is_listed(name) or (name.endswith(".gguf") and place.is_file()):
        return name
    model_files = sorted(place.glob("*.gguf")) if name and place.is_dir() else []
    if len(model_files) != 1:
        raise UsageError(f"{folder} was trained on {name or 'a model without a name'}; give its GGUF file with --base")
    return str(model_files[0])


def _config(folder: Path) -> dict[str, Any]:
    """The adapter's settings. Raises: UsageError: It has parts that llama.cpp cannot add; ModelError."""
    file = folder / ADAPTER_FILES[0]
    try:
        config: object = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ModelError(f"{folder} is no adapter's folder: {file.name}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{file} is damaged: {error}") from error
    if not isinstance(config, dict) or config.get("peft_type") != "LORA":
        raise UsageError(f"{file} describes no LoRA adapter; train one with `method: lora`")
    unusual = [
        *(name for name in ("use_dora", "use_rslora", "lora_bias", "fan_in_fan_out", "use_qalora") if config.get(name)),
        *(["alpha_pattern"] if config.get("alpha_pattern") else []),
        *(name for name in ("modules_to_save", "trainable_token_indices", "target_parameters") if config.get(name)),
        *(["bias"] if config.get("bias", "none") != "none" else []),
        *(
            [f"init_lora_weights={start}"]
            if (start := str(config.get("init_lora_weights"))).startswith(_MOVING)
            else []
        ),
    ]
    if unusual:
        raise UsageError(
            f"{file}: llama.cpp cannot add an adapter with {', '.join(unusual)}; train without, or merge it"
        )
    if not config.get("lora_alpha"):
        raise UsageError(f"{file}: lora_alpha is missing or 0, so that the adapter changes nothing")
    for name in ("r", "lora_alpha"):
        number = config.get(name)
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < _LARGEST:
            raise ModelError(f"{file} is damaged: {name} is {number!r}, and must be a number larger than 0")
    return config


def trained_rope_factor(folder: Path) -> float:
    """The factor by which positions were interpolated in the training; 1 if they were not. Raises: ModelError."""
    file = folder / ROPE_FILE
    if not file.is_file():
        return 1.0
    try:
        factor = float(json.loads(file.read_text("utf-8"))["factor"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{file} is damaged: {error}") from error
    if not 1 <= factor < math.inf:
        raise ModelError(f"{file} is damaged: the factor is {factor}, and must be at least 1")
    return factor


def _pairs(folder: Path) -> dict[str, tuple[Any, Any]]:
    """By module, both matrices as 32-bit arrays: rank x inputs, outputs x rank. Raises: UsageError, ModelError."""
    import safetensors
    from safetensors.torch import load_file

    file = folder / ADAPTER_FILES[1]
    try:
        tensors = load_file(file)
    except (OSError, safetensors.SafetensorError) as error:
        raise ModelError(
            f"{file} is missing or damaged ({error}); take an earlier checkpoint of the training"
        ) from error
    halves: dict[str, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        match = _TENSOR.match(name)
        if match is None or "embedding" in match["kind"] or tensor.dim() != 2:
            raise UsageError(f"{file}: llama.cpp cannot add {name}; train the adapter on linear layers alone")
        if not bool(tensor.isfinite().all()):
            raise ModelError(f"{file}: {name} has numbers without a value; take an earlier checkpoint of the training")
        halves.setdefault(match["module"], {})[match["kind"]] = tensor.float().numpy()
    if not halves or any(len(half) != 2 for half in halves.values()):
        raise ModelError(f"{file} is incomplete: each layer needs lora_A and lora_B")
    return {module: (half["lora_A"], half["lora_B"]) for module, half in halves.items()}


def read_base(file: Path) -> BaseFile:
    """Read what the conversion needs of a model. Raises: UsageError: Its architecture is none of ARCHITECTURES."""
    from gguf import GGUFReader

    from atc.engines.gguf_metadata import read_metadata

    fields = ("general.architecture", ".block_count", ".attention.head_count", ".attention.head_count_kv")
    metadata = read_metadata(file, fields)
    architecture = str(metadata.get(fields[0]))
    if architecture not in ARCHITECTURES:
        raise UsageError(f"{file} is a model of {architecture}; adapters are converted for {', '.join(ARCHITECTURES)}")
    heads = int(metadata.get(fields[2]) or 0)
    try:
        shapes = {tensor.name: tuple(map(int, tensor.shape)) for tensor in GGUFReader(file).tensors}
    except (ValueError, KeyError, IndexError, OSError) as error:
        raise ModelError(f"{file} is damaged: {error}; remove it and pull the model again") from error
    counts = {"head_count": heads, "head_count_kv": int(metadata.get(fields[3]) or heads)}
    return BaseFile(file, architecture, int(metadata.get(fields[1]) or 0), counts, shapes)


def tensor_name(parameter: str, base: BaseFile) -> str:
    """The tensor of a parameter, such as blk.0.attn_q.weight. Raises: UsageError, ModelError: The model has none."""
    import gguf

    number = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == base.architecture)
    name = gguf.get_tensor_name_map(number, base.blocks).get_name(parameter, (".weight", ".bias"))
    if name == "output.weight" and name not in base.shapes:
        raise UsageError(
            f"{base.file} uses its embeddings as output layer, too, so that {parameter} cannot be changed alone; "
            "train without that layer"
        )
    if name is None or name not in base.shapes:
        raise ModelError(f"{base.file} has no tensor for {parameter}: this was trained on another model")
    return str(name)


def permuted(matrix: Any, name: str, base: BaseFile) -> Any:
    """The rows of a matrix, or the numbers of a bias, in the order of the tensor `name`: of each head both halves of a
    pair side by side.
    """
    field = _PERMUTED.get(base.architecture, {}).get(name.split(".")[-2])
    if field is None:
        return matrix
    return matrix.reshape(base.heads[field], 2, -1, *matrix.shape[1:]).swapaxes(1, 2).reshape(matrix.shape)


def _write(out: Path, architecture: str, alpha: float, tensors: Mapping[str, Any], factor: float = 1.0) -> None:
    """Write the file as a whole or not at all. Raises: UsageError."""
    import numpy as np

    with gguf_file(out, architecture) as writer:
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        writer.add_float32("adapter.lora.alpha", alpha)
        if factor != 1:
            writer.add_float32(ROPE_FACTOR, factor)
        for name, array in tensors.items():
            writer.add_tensor(name, np.ascontiguousarray(array, np.float16))


@contextmanager
def gguf_file(out: Path, architecture: str) -> Iterator[Any]:
    """A GGUFWriter; what it was given is in the file at the end, as a whole or not at all. Raises: UsageError."""
    import gguf

    partial = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        writer = gguf.GGUFWriter(partial, architecture)
        yield writer
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        partial.replace(out)
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(NotADirectoryError):
            partial.unlink(missing_ok=True)
