"""`atc train sft` for the small model that tests make."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from click.testing import CliRunner, Result

from benchmarks.learning.sft_command import sft

__all__ = ["changes", "tune"]


def changes(tiny: Path, out: Path, **fields: object) -> list[str]:
    """The fields that make a shipped configuration one for the small model."""
    small = {"base": str(tiny / "base"), "data": str(tiny / "pairs.jsonl"), "out": str(out), "max_length": 128}
    small |= {"batch": 4, "micro_batch": 2, "save_every": 4, "dev": 0.1, "precision": "fp32", "merge": False}
    return [f"{key}={json.dumps(value)}" for key, value in {**small, **fields}.items()]


def tune(config: str, settings: Sequence[str]) -> Result:
    """Run `atc train sft --config CONFIG --set …`."""
    arguments = [part for change in settings for part in ("--set", change)]
    return CliRunner().invoke(sft, ["--config", config, *arguments])
