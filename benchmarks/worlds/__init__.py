"""World files of the benchmarks' APIs, by domain: facts that their documents lack.

Those of RestBench and ToolFlow hold facts about films, music, food and places that anybody knows, and nothing of any
task. Those of our own tasks (`own`) hold the entities that these tasks are about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from protocols.errors import UsageError
from protocols.model import Protocol
from protocols.simulator.analysis.api_analysis import analyze_api
from protocols.simulator.analysis.world_file import read_world

__all__ = ["find_worlds"]


def find_worlds(
    protocols: Mapping[str, Protocol], own: Mapping[str, str] | None = None, tell: Callable[[str], object] | None = None
) -> dict[str, Path]:
    """The world files of those domains that have one, by domain.

    Args:
        own: World files by domain, "" for the only one, that are taken in place of the shipped ones.
        tell: Is told which shipped file is left out since the protocol is another one than it is about; without it that
            is an error, too.
    Raises: UsageError: A file is not about its protocol; or one of `own` is for no domain.
    """
    own = own or {}
    if strange := [domain for domain in own if domain not in protocols and (domain or len(protocols) > 1)]:
        where = f"for {strange[0]!r}, and" if strange[0] else "and"
        raise UsageError(f"--world: this one is {where} the tasks are of {', '.join(protocols)}; write DOMAIN=FILE")
    files = {}
    for domain, protocol in protocols.items():
        own_file = own.get(domain, own.get(""))
        file = Path(own_file) if own_file else Path(__file__).with_name(f"{domain}.yaml")
        if not own_file and not file.exists():
            continue
        try:
            analyze_api(protocol, read_world(file, protocol))
        except UsageError as error:
            if own_file or tell is None:
                raise
            tell(f"the world file of {domain} is left out, it does not fit the document (--world takes yours): {error}")
            continue
        files[domain] = file
    return files
