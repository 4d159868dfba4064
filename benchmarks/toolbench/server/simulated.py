"""A virtual API server in this process, for the commands that may be given one or go without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.toolbench.server.cache import ResponseCache
from benchmarks.toolbench.server.catalogue import Catalogue
from benchmarks.toolbench.server.schema_source import SchemaSource
from benchmarks.toolbench.server.virtual_server import VirtualServer

__all__ = ["simulated_server"]


@contextmanager
def simulated_server(catalogue: Catalogue, seed: int = 0) -> Iterator[str]:
    """Serve the tools of a catalogue from simulated worlds; gives the base URL.

    Equal calls have equal replies, also of a server that is started later with the same tools and seed.
    """
    with VirtualServer(catalogue, ResponseCache(None), source=SchemaSource(catalogue, seed)) as server:
        yield server.start()
