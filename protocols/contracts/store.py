"""What was observed of APIs, kept in a folder: one file for each, by the hash of its document.

A file is written as a whole and under a lock, so that several processes may learn at once. It holds JSON schemas that
were learned from bodies, never the bodies themselves.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from protocols.contracts.contract import Contract, ValueType, infer_schema
from protocols.errors import UsageError
from protocols.model import Protocol, Schema
from protocols.schema_fields import Step, subscripts

__all__ = ["SIMULATED", "ContractDrift", "ContractStore", "ObservedEdge", "ToolObservations", "contract_drift"]

FORMAT = 1

SIMULATED = "simulated"
"""The folder in a store where what simulated services say is kept apart."""


@dataclass(frozen=True, slots=True)
class ToolObservations:
    """What was seen of one tool: how many good bodies, their schema, and how often each status came."""

    bodies: int = 0
    schema: Schema = field(default_factory=dict)
    statuses: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ObservedEdge:
    """Where an argument of calls that were answered well came from: a place in another tool's response, 0 standing for
    any item; and how often."""

    tool: str
    argument: str
    source: str
    path: tuple[Step, ...]
    times: int = 1


@dataclass(frozen=True, slots=True)
class ContractDrift:
    """One difference between document and service: `kind` is new (seen, not documented), missing (documented, not
    always there) or changed (of another type); `path` is program text from the root of the tool's response."""

    tool: str
    kind: str
    path: str
    text: str


class ContractStore:
    """The contracts in a folder, which is made when something is first learned."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, protocol: Protocol) -> Path:
        """Where what is known of an API is kept."""
        return self.folder / f"{protocol.digest[:16] or 'unnamed'}.json"

    def observed(self, protocol: Protocol) -> dict[str, ToolObservations]:
        """By tool. Raises: UsageError: The file is of another format, or none of ours."""
        return self._read(protocol)[0]

    def edges(self, protocol: Protocol) -> list[ObservedEdge]:
        """Where arguments came from, the most frequent first. Raises: UsageError: As `observed`."""
        return sorted(self._read(protocol)[1], key=lambda edge: -edge.times)

    def _read(self, protocol: Protocol) -> tuple[dict[str, ToolObservations], list[ObservedEdge]]:
        file = self.file(protocol)
        try:
            data = json.loads(file.read_text("utf-8"))
        except FileNotFoundError:
            return {}, []
        except (OSError, ValueError) as error:
            raise UsageError(f"{file} cannot be read: {error}") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("tools"), dict):
            raise UsageError(f"{file} is no contract of format {FORMAT}; move it away to begin anew")
        try:
            edges = [ObservedEdge(**{**entry, "path": tuple(entry["path"])}) for entry in data.get("edges", [])]
            return {name: ToolObservations(**entry) for name, entry in data["tools"].items()}, edges
        except (KeyError, TypeError) as error:
            raise UsageError(f"{file} is damaged: {error}; move it away to begin anew") from None

    def contract(self, protocol: Protocol) -> Contract:
        """What document, examples and observations say together. Raises: UsageError."""
        schemas = {
            name: observations.schema for name, observations in self.observed(protocol).items() if observations.bodies
        }
        return Contract(protocol, schemas)

    def record(
        self, protocol: Protocol, bodies: Iterable[tuple[str, int, object]], edges: Iterable[ObservedEdge] = ()
    ) -> None:
        """Add replies (tool, status and parsed body) and where the arguments of calls came from.

        Raises: UsageError: The folder cannot be written.
        """
        replies = [(tool, status, body) for tool, status, body in bodies if tool in protocol]
        edges = list(edges)
        if not replies and not edges:
            return
        with self._locked(protocol):
            observed, stored_edges = self._read(protocol)
            flow = {replace(edge, times=0): edge.times for edge in stored_edges}
            for edge in edges:
                flow[replace(edge, times=0)] = flow.get(replace(edge, times=0), 0) + edge.times
            for tool, status, body in replies:
                observations = observed.get(tool, ToolObservations())
                is_good = 200 <= status < 300 and isinstance(body, dict | list)
                observed[tool] = ToolObservations(
                    observations.bodies + is_good,
                    infer_schema([body], observations.schema) if is_good else observations.schema,
                    {**observations.statuses, str(status): observations.statuses.get(str(status), 0) + 1},
                )
            self._write(protocol, observed, [replace(edge, times=times) for edge, times in flow.items()])

    def _write(
        self, protocol: Protocol, observed: Mapping[str, ToolObservations], edges: Sequence[ObservedEdge]
    ) -> None:
        tools = {
            name: {
                "bodies": observations.bodies,
                "schema": dict(observations.schema),
                "statuses": dict(observations.statuses),
            }
            for name, observations in sorted(observed.items())
        }
        data: dict[str, object] = {"format": FORMAT, "api": protocol.title, "document": protocol.digest, "tools": tools}
        data["edges"] = [asdict(edge) for edge in edges]
        descriptor, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(data, ensure_ascii=False, indent=1) + "\n")
            Path(name).replace(self.file(protocol))
        except OSError as error:
            with suppress(OSError):
                Path(name).unlink()
            raise UsageError(f"{self.file(protocol)} cannot be written: {error.strerror or error}") from None

    @contextmanager
    def _locked(self, protocol: Protocol) -> Iterator[None]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / f"{self.file(protocol).stem}.lock").open("a")
        except OSError as error:
            raise UsageError(f"{self.folder} cannot be written: {error.strerror or error}") from None
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def contract_drift(protocol: Protocol, observed: Mapping[str, ToolObservations]) -> list[ContractDrift]:
    """Where the service does not answer as its document says."""
    differences: list[ContractDrift] = []
    document, observed_contract = Contract(protocol), Contract(protocol, {})
    for tool, observations in sorted(observed.items()):
        if tool not in protocol or not observations.bodies:
            continue
        documented_type = document.body(tool)
        observed_type = observed_contract.type_of(observations.schema)
        if documented_type is not None:
            differences += _differences(tool, (), documented_type, observed_type)
        statuses = {response.status for response in protocol.tool(tool).responses}
        for status in observations.statuses:
            if not statuses & {status, f"{status[0]}XX", "default"}:
                differences.append(ContractDrift(tool, "new", "", f"status {status} is not documented"))
    return differences


def _differences(
    tool: str, path: tuple[Step, ...], documented: ValueType, observed: ValueType
) -> Iterator[ContractDrift]:
    """The differences at a place and below it."""
    where = subscripts(path)
    if "any" in (documented.kind, observed.kind):
        return
    if documented.kind != observed.kind and not (documented.kind == "float" and observed.kind == "int"):
        yield ContractDrift(tool, "changed", where, f"documented as {documented.kind}, is {observed.kind}")
        return
    if documented.kind == "list":
        if documented.item is not None and observed.item is not None:
            yield from _differences(tool, (*path, 0), documented.item, observed.item)
        return
    if documented.kind != "object" or not documented.keys:
        return
    for key, key_type in observed.keys.items():
        if key not in documented.keys:
            if not documented.open:
                yield ContractDrift(tool, "new", subscripts((*path, key)), f"{key_type.type.kind}, not documented")
        else:
            yield from _differences(tool, (*path, key), documented.keys[key].type, key_type.type)
    for key in documented.keys:
        if key not in observed.keys:
            yield ContractDrift(tool, "missing", subscripts((*path, key)), "documented, never there")
        elif not observed.keys[key].certain:
            yield ContractDrift(tool, "missing", subscripts((*path, key)), "documented, not always there")
