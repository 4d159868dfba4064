"""Observations of APIs in a folder, one file for each API, by the hash of its document.

A file is replaced as a whole under a lock, so several processes may record at once, and only its owner may read it. It
holds JSON schemas inferred from bodies, never the bodies themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from protocols.contracts.contract import Contract, ValueType, infer_schema
from protocols.errors import UsageError
from protocols.json_path import Step, subscripts
from protocols.model import Protocol, Schema
from protocols.private_files import folder_locked, write_whole

__all__ = ["SIMULATED", "ContractDrift", "ContractStore", "ObservedEdge", "ToolObservations", "contract_drift"]

FORMAT = 1

SIMULATED = "simulated"
"""The folder in a store for observations of simulated services."""


@dataclass(frozen=True, slots=True)
class ToolObservations:
    """Observations of one tool: the number of 2xx bodies, their schema, and the count of each status."""

    bodies: int = 0
    schema: Schema = field(default_factory=dict)
    statuses: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ObservedEdge:
    """The field of another tool's response that an argument of successful calls came from, and how often.

    In `path`, 0 stands for any item.
    """

    tool: str
    argument: str
    source: str
    path: tuple[Step, ...]
    times: int = 1


@dataclass(frozen=True, slots=True)
class ContractDrift:
    """A difference between document and service; `path` is program text from the root of the tool's response.

    `kind` is new (observed, not documented), missing (documented, not always observed) or changed (of another type).
    `required`: what is missing is documented as always there.
    """

    tool: str
    kind: str
    path: str
    text: str
    required: bool = False


class ContractStore:
    """The observations in a folder, which is created by the first `record`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, protocol: Protocol) -> Path:
        """The file of an API."""
        return self.folder / f"{protocol.digest[:16] or 'unnamed'}.json"

    def observed(self, protocol: Protocol) -> dict[str, ToolObservations]:
        """Observations by tool. Raises: UsageError: The file has another format."""
        return self._read(protocol)[0]

    def edges(self, protocol: Protocol) -> list[ObservedEdge]:
        """Observed sources of arguments, the most frequent first. Raises: UsageError: As `observed`."""
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
        """The contract from document, examples and observations. Raises: UsageError."""
        schemas = {
            name: observations.schema for name, observations in self.observed(protocol).items() if observations.bodies
        }
        return Contract(protocol, schemas)

    def record(
        self, protocol: Protocol, bodies: Iterable[tuple[str, int, object]], edges: Iterable[ObservedEdge] = ()
    ) -> None:
        """Add replies (tool, status, parsed body) and the sources of arguments.

        Raises: UsageError: The folder cannot be written.
        """
        replies = [(tool, status, body) for tool, status, body in bodies if tool in protocol]
        edges = list(edges)
        if not replies and not edges:
            return
        with self._locked():
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
        tools = {name: asdict(observations) for name, observations in sorted(observed.items())}
        data: dict[str, object] = {"format": FORMAT, "api": protocol.title, "document": protocol.digest, "tools": tools}
        data["edges"] = [asdict(edge) for edge in edges]
        try:
            write_whole(self.file(protocol), json.dumps(data, ensure_ascii=False, indent=1) + "\n")
        except OSError as error:
            raise UsageError(f"{self.file(protocol)} cannot be written: {error.strerror or error}") from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with ExitStack() as stack:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(folder_locked(self.folder))
            except OSError as error:
                raise UsageError(f"{self.folder} cannot be written: {error.strerror or error}") from None
            yield


def contract_drift(protocol: Protocol, observed: Mapping[str, ToolObservations]) -> list[ContractDrift]:
    """The differences between observed responses and the document."""
    differences: list[ContractDrift] = []
    contract = Contract(protocol)
    for tool, observations in sorted(observed.items()):
        if tool not in protocol or not observations.bodies:
            continue
        if (documented := contract.body(tool)) is not None:
            differences += _differences(tool, (), documented, contract.type_of(observations.schema))
        statuses = {response.status for response in protocol.tool(tool).responses}
        for status in observations.statuses:
            if not statuses & {status, f"{status[0]}XX", "default"}:
                differences.append(ContractDrift(tool, "new", "", f"status {status} is not documented"))
    return differences


def _differences(
    tool: str, path: tuple[Step, ...], documented: ValueType, observed: ValueType
) -> Iterator[ContractDrift]:
    """The differences at a path and below it."""
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
    for key, documented_key in documented.keys.items():
        field_path = subscripts((*path, key))
        if key not in observed.keys:
            yield ContractDrift(tool, "missing", field_path, "documented, never there", documented_key.certain)
        elif not observed.keys[key].certain:
            yield ContractDrift(tool, "missing", field_path, "documented, not always there", documented_key.certain)
