"""The tools that chosen tools are of no use without: those that provide the identifiers which they require."""

from __future__ import annotations

from collections.abc import Sequence

from protocols.dataflow.graph import ProtocolGraph

__all__ = ["with_providers"]


def with_providers(graph: ProtocolGraph, best: Sequence[str]) -> tuple[str, ...]:
    """The tools, and the providers of the identifiers that they require, transitively.

    Args:
        best: The names of the chosen tools, the best first.
    """
    chosen = dict.fromkeys(best)
    queue = list(chosen)
    for name in queue:
        most = 2 if name == best[0] else 1  # the best tool has a second way to each identifier
        providers = [source.tool for argument in graph.needs(name) for source in graph.providers(name, argument)[:most]]
        queue += [provider for provider in dict.fromkeys(providers) if provider not in chosen]
        chosen |= dict.fromkeys(providers)
    return tuple(chosen)
