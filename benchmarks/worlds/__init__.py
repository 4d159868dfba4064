"""World files of the benchmarks' APIs, by domain: what their documents cannot say (protocols/simulator/worldfile.py).

They hold facts about films, music, food and places that anybody knows, and nothing of any task.
"""

from __future__ import annotations

from pathlib import Path

from protocols.errors import UsageError
from protocols.model import Protocol
from protocols.simulator.kinds import survey
from protocols.simulator.worldfile import read_world

__all__ = ["find_world"]


def find_world(domain: str, protocol: Protocol) -> Path | None:
    """The world file of a domain, if it is about this protocol: another document under the name goes without one."""
    file = Path(__file__).with_name(f"{domain}.yaml")
    if not file.exists():
        return None
    try:
        survey(protocol, read_world(file, protocol))
    except UsageError:
        return None
    return file
