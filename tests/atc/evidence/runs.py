"""Runs for the tests of facts and rules, built by hand."""

from __future__ import annotations

from dataclasses import replace

from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from protocols.samples import sample
from sandbox import CallRecord, Resources, Run
from sandbox.records import Provenance, Source

GRAPH = ProtocolGraph(load(sample("cinema")))


def call(
    tool: str = "GET_films",
    response: object = None,
    status: int | None = 200,
    line: int = 1,
    index: int = 0,
    **arguments: object,
) -> CallRecord:
    """A call as a run records it."""
    error = None if status is not None and status < 400 else f"{tool}: {status} \u2014 there is no such thing"
    method = tool.partition("_")[0]
    url = "https://cinema.example.com/api/films"
    return CallRecord(index, tool, method, url, arguments, line, status, 1.0, 1, "function", response, error)


def run(text: str, *calls: CallRecord, printed: tuple[Source, ...] | None = None) -> Run:
    """A run that printed this; without `printed` nobody followed its values."""
    numbered = tuple(replace(record, index=place) for place, record in enumerate(calls))
    provenance = None if printed is None else Provenance(printed=printed)
    return Run("ok", text, "", None, numbered, Resources(0.1, 0.1, 10.0, len(text)), provenance=provenance)


def printed(text: str, *statuses: int, method: str = "GET") -> Run:
    """A run whose calls were answered so."""
    return run(text, *(call(f"{method}_films", {}, status) for status in statuses))


def exact(*path: str | int, at: int = 0) -> Source:
    """That a value lies there."""
    return Source(at, path, "exact")
