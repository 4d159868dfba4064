"""Names of models with an adapter: `SCHEME:BASE+ADAPTER`.

BASE is a name of the catalogue, a file, a folder or a hub name, and ADAPTER is the file or folder of a LoRA adapter.
A record needs more than a path, since a new training writes to the same one: `identity` adds the content's hash, as in
`local:smollm2-135m+adapter.gguf#1a2b3c4d5e6f`. Such a name can be opened while the adapter is still that one.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from protocols.errors import ModelError

__all__ = ["ADAPTER_FILES", "ROPE_FILE", "AdaptedModel", "adapter_hash", "identity", "parse"]

ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")
"""The files of an adapter's folder, as peft writes it."""

ROPE_FILE = "rope.json"
"""Beside them where positions were interpolated: `{"rope_type": "linear", "factor": F}`."""

_SCHEMES = ("local", "openvino", "hf")
_HASH = re.compile(r"#([0-9a-f]{12})$")


@dataclass(frozen=True, slots=True)
class AdaptedModel:
    """A name in parts; without an adapter `adapter` is None. `base` is as it was written."""

    base: str
    adapter: Path | None = None


def parse(text: str) -> AdaptedModel:
    """The parts of a name without its scheme.

    Where a path has a plus, too, the base ends at the first one with a known name or a file before it.
    Raises: ModelError: The adapter is not on disk, or it is not the one whose hash the name has.
    """
    base, adapter_text = _split(text)
    if not adapter_text:
        return AdaptedModel(base)
    adapter = Path(adapter_text).expanduser()
    expected = _HASH.search(adapter_text)
    if expected is not None and not adapter.exists():
        adapter = Path(adapter_text[: expected.start()]).expanduser()
    if not adapter.exists():
        raise ModelError(f"there is no adapter {adapter}; give BASE+ADAPTER with the path of its file or folder")
    if expected is not None and not str(adapter).endswith(expected[0]) and adapter_hash(adapter) != expected[1]:
        raise ModelError(
            f"{adapter} has changed: its hash is {adapter_hash(adapter)}, and the name asks for {expected[1]}; bring "
            "the earlier adapter back, or leave the hash out for the present one"
        )
    return AdaptedModel(base, adapter)


def identity(name: str) -> str:
    """The name of a model for records: with the hash of its adapter. A name that cannot be opened stays as it is."""
    scheme, _, text = name.partition(":")
    if scheme not in _SCHEMES or "+" not in text:
        return name
    try:
        adapter = parse(text).adapter
        return name if adapter is None or _HASH.search(name) else f"{name}#{adapter_hash(adapter)}"
    except ModelError:
        return name


def adapter_hash(adapter: Path) -> str:
    """Twelve hexadecimal digits of the sha256 of an adapter's file, or of the files in its folder.

    Raises: ModelError: One of them is missing or cannot be read.
    """
    digest = hashlib.sha256()
    names = [*ADAPTER_FILES, *([ROPE_FILE] if (adapter / ROPE_FILE).is_file() else [])]
    for file in [adapter / name for name in names] if adapter.is_dir() else [adapter]:
        try:
            digest.update(file.read_bytes())
        except OSError as error:
            raise ModelError(f"the adapter {adapter} is incomplete: {file.name}: {error.strerror or error}") from error
    return digest.hexdigest()[:12]


def _split(text: str) -> tuple[str, str]:
    from atc.engines.files import is_listed

    def is_base(part: str) -> bool:
        return is_listed(part) or Path(part).expanduser().exists()

    if is_base(text):
        return text, ""
    ends = [plus.start() for plus in re.finditer(r"\+", text)]
    end = next((end for end in ends if is_base(text[:end])), ends[0] if ends else len(text))
    return text[:end], text[end + 1 :]
