"""Checkpoints that can be trusted: each has a list of its files, written last, with their sizes and digests.

A process that is killed while it saves leaves a checkpoint without that list, and a full disk one whose files do not
fit it. Neither is continued from; the one before is.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from atc.files import write_json
from protocols.errors import UsageError

__all__ = ["find_checkpoint", "keep_best_beside", "room_for", "seal_checkpoint", "step_of"]

_MANIFEST = "files.json"
_STATE = "trainer_state.json"


def seal_checkpoint(folder: Path) -> None:
    """Write the list of a checkpoint's files, once all of them are there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _MANIFEST)
    write_json(folder / _MANIFEST, {str(path.relative_to(folder)): _fingerprint(path) for path in files})


def find_checkpoint(folder: Path, say: Callable[[str], None]) -> Path | None:
    """The newest whole checkpoint of a run, or None; `say` is told of newer ones that are not whole."""
    for checkpoint in sorted(folder.glob("checkpoint-*"), key=step_of, reverse=True):
        defect = _defect(checkpoint)
        if defect is None:
            return checkpoint
        say(f"{checkpoint} cannot be used, {defect}; going back to the checkpoint before it")
    return None


def keep_best_beside(checkpoint: Path) -> None:
    """Make the best checkpoint that a sealed one names its neighbour, for the folder of both may have been moved.

    transformers records the path at the time of saving, and forgets the best checkpoint where that is gone.
    """
    state = json.loads((checkpoint / _STATE).read_text("utf-8"))
    path = state.get("best_model_checkpoint")
    neighbour = path and str(checkpoint.parent / Path(path).name)
    if path != neighbour:
        write_json(checkpoint / _STATE, state | {"best_model_checkpoint": neighbour})
        seal_checkpoint(checkpoint)


@contextmanager
def room_for(out: Path) -> Iterator[None]:
    """Tell what to do where a file cannot be written below a folder. Raises: UsageError."""
    import safetensors

    try:
        yield
    except (OSError, safetensors.SafetensorError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "writing" not in str(error):  # of torch.save
            raise
        raise UsageError(
            f"{out} cannot be written ({error}); make room, and the same command goes on from the last checkpoint"
        ) from error


def step_of(checkpoint: Path) -> int:
    """The number of updates behind a checkpoint; -1 if its name has none."""
    match = re.fullmatch(r"checkpoint-(\d+)", checkpoint.name)
    return int(match[1]) if match else -1


def _defect(checkpoint: Path) -> str | None:
    try:
        files = json.loads((checkpoint / _MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return "it was not written to its end"
    if not isinstance(files, dict):
        return f"{_MANIFEST} is corrupt"
    for name, fingerprint in files.items():
        if not (checkpoint / name).is_file():
            return f"{name} is missing"
        if _fingerprint(checkpoint / name) != fingerprint:
            return f"{name} is corrupt"
    return None


def _fingerprint(path: Path) -> list[int | str]:
    with path.open("rb") as file:
        return [path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()]
