"""World files of the benchmarks' APIs, by domain: what their documents cannot say (protocols/simulator/worldfile.py).

They hold facts about films, music, food and places that anybody knows, and nothing of any task.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from protocols.errors import UsageError
from protocols.model import Protocol
from protocols.simulator.kinds import survey
from protocols.simulator.worldfile import read_world

__all__ = ["find_worlds"]


def find_worlds(protocols: Mapping[str, Protocol]) -> dict[str, Path]:
    """The world files of those domains that have one, by domain."""
    return {domain: file for domain, protocol in protocols.items() if (file := _find(domain, protocol))}


def _find(domain: str, protocol: Protocol) -> Path | None:
    """The world file of a domain, if it is about this protocol: another document under the name goes without one."""
    file = Path(__file__).with_name(f"{domain}.yaml")
    if not file.exists():
        return None
    try:
        survey(protocol, read_world(file, protocol))
    except UsageError:
        return None
    return file
