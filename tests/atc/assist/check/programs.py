"""What the tests of the check share: our own APIs, and a check of a program."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from atc.assist.check import Diagnostic, check
from atc.assist.language.question import Question
from benchmarks.tasks.datasets import open_dataset
from protocols import Protocol, load
from protocols.contracts.contract import Contract
from protocols.dataflow.graph import ProtocolGraph
from protocols.samples import sample

__all__ = ["HERE", "checked", "protocols"]


HERE = Path(__file__).parent


@cache
def protocols() -> dict[str, Protocol]:
    """Our own APIs by name."""
    return {
        "cinema": load(sample("cinema")),
        "shed": load(HERE / "open.yaml"),
        **open_dataset("tiny", None, ()).protocols,
    }


def checked(program: str, api: str, query: str | None = None) -> list[Diagnostic]:
    protocol = protocols()[api]
    return check(
        program, Contract(protocol), None, Question(query) if query is not None else None, ProtocolGraph(protocol)
    )
