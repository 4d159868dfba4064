"""What a server was told at its start, in a form that its solver processes can be handed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from atc.options import Options

__all__ = ["GRACE", "SLOTS", "ServerSettings"]

GRACE = 30.0
"""Seconds that solves have to come to their end when the server is stopped; the others go on at its next start."""

SLOTS = 64
"""Solves at a time in one process; most of them wait for the model or the API."""


@dataclass(frozen=True)
class ServerSettings:
    """Args:
    api: The documents, as `--api` names them.
    options: Of the agent; `model` is a name, and `writes` is not "ask".
    workers: Solver processes.
    folder: Where requests and journals are kept.
    """

    api: tuple[str, ...]
    options: Options
    workers: int
    folder: Path
