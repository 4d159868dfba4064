"""Observations of APIs in a folder, one file for each API, by the hash of its document.

A file is replaced as a whole under a lock, so several processes may record at once, and only its owner may read it. It
holds JSON schemas inferred from bodies, never the bodies themselves. Where the keys of an object are data (an entry for
each id), or a reply is wide or deep beyond measure, the keys are not kept, and `left_out` has the path: else the file
would grow with each reply, and with it the time of the next one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from protocols.bounded_files import read_whole
from protocols.contracts.contract import Contract, ValueType, infer_schema
from protocols.errors import UsageError
from protocols.json_path import Step, subscripts
from protocols.model import Protocol, Schema
from protocols.private_files import folder_locked, make_private_folder, write_whole
from protocols.quoting import one_line

__all__ = ["SIMULATED", "ContractDrift", "ContractStore", "ObservedEdge", "ToolObservations", "contract_drift"]

FORMAT = 1

_MOST_BYTES = 64 * 1024 * 1024
"""Bytes of a file that is read; one of the bounds below for 500 tools has about 30 MB."""

_MOST_KEYS = 200
"""Keys of one object from which they are data: the widest object of 12 public documents has 74."""

_MOST_FIELDS = 1000
"""Keys of all objects in the replies of one tool; outer ones come first."""

_MOST_DEPTH = 24
"""Lists and objects in one another."""

_LONGEST_NAME = 200
"""Characters of a key."""

_KINDS = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})

_MOST_EDGES = 2000
"""Sources of arguments; the most frequent are kept."""

SIMULATED = "simulated"
"""The folder in a store for observations of simulated services."""


@dataclass(frozen=True, slots=True)
class ToolObservations:
    """Observations of one tool: the number of 2xx bodies, their schema, and the count of each status.

    `left_out`: the objects and lists whose insides the schema does not have; in a path 0 stands for any item.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")
    bodies: int = 0
    schema: Schema = field(default_factory=dict)
    statuses: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[tuple[Step, ...], ...] = ()


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
            data = json.loads(read_whole(file, _MOST_BYTES))
        except FileNotFoundError:
            return {}, []
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(f"{file} cannot be read: {error}; move it away to begin anew") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("tools"), dict):
            raise UsageError(f"{file} is no contract of format {FORMAT}; move it away to begin anew")
        try:
            edges = TypeAdapter(list[ObservedEdge]).validate_python(data.get("edges", []))
            tools = TypeAdapter(dict[str, ToolObservations]).validate_python(data["tools"])
            return {name: _bounded(observations) for name, observations in tools.items()}, edges
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            why = str(error)
        raise UsageError(f"{file} is damaged: {one_line(why)[:300]}; move it away to begin anew")

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
        try:
            make_private_folder(self.folder)
            with folder_locked(self.folder):
                self._add(protocol, replies, edges)
        except OSError as error:
            raise UsageError(f"{self.folder} cannot be written: {error.strerror or error}") from None

    def _add(
        self, protocol: Protocol, replies: Sequence[tuple[str, int, object]], edges: Iterable[ObservedEdge]
    ) -> None:
        """`record`, while no other process does."""
        observed, stored_edges = self._read(protocol)
        flow: Counter[ObservedEdge] = Counter()
        for edge in (*stored_edges, *edges):
            if len(edge.path) <= _MOST_DEPTH and all(map(_is_key, edge.path)):
                flow[replace(edge, times=0)] += edge.times
        for tool, status, body in replies:
            observations = observed.get(tool, ToolObservations())
            is_good = 200 <= status < 300 and isinstance(body, dict | list)
            if is_good:
                body = _without(body, frozenset(observations.left_out))
                schema = infer_schema([body], observations.schema)
                observations = _bounded(replace(observations, bodies=observations.bodies + 1, schema=schema))
            statuses = {**observations.statuses, str(status): observations.statuses.get(str(status), 0) + 1}
            observed[tool] = replace(observations, statuses=statuses)
        counted = [replace(edge, times=times) for edge, times in flow.most_common(_MOST_EDGES)]
        self._write(protocol, observed, counted)

    def _write(
        self, protocol: Protocol, observed: Mapping[str, ToolObservations], edges: Sequence[ObservedEdge]
    ) -> None:
        tools = {name: asdict(observations) for name, observations in sorted(observed.items())}
        data: dict[str, object] = {"format": FORMAT, "api": protocol.title, "document": protocol.digest, "tools": tools}
        data["edges"] = [asdict(edge) for edge in edges]
        try:
            write_whole(self.file(protocol), json.dumps(data, indent=1) + "\n")
        except OSError as error:
            raise UsageError(f"{self.file(protocol)} cannot be written: {error.strerror or error}") from None


def _is_key(step: Step) -> bool:
    return len(str(step)) <= _LONGEST_NAME


def _without(body: object, left_out: frozenset[tuple[Step, ...]], path: tuple[Step, ...] = ()) -> object:
    """A body, but for the insides of what is left out."""
    if not left_out or not isinstance(body, dict | list):
        return body
    if path in left_out:
        return type(body)()
    if isinstance(body, list):
        return [_without(item, left_out, (*path, 0)) for item in body]
    return {name: _without(part, left_out, (*path, name)) for name, part in body.items()}


def _bounded(observations: ToolObservations) -> ToolObservations:
    """The observations with their schema bounded, in its place: a list or an object that is too much loses its insides.

    Raises: TypeError, AttributeError, ValueError: It is no schema of ours.
    """
    left_out = dict.fromkeys(observations.left_out)
    number = 0
    level: list[tuple[tuple[Step, ...], Any]] = [((), observations.schema)]
    while level:
        following: list[tuple[tuple[Step, ...], Any]] = []
        for path, schema in level:
            following += [(path, part) for part in schema.get("anyOf", ())]
            names, items = schema.get("properties", {}), schema.get("items")
            _check_words(schema)
            is_long = len(names) > _MOST_KEYS or number + len(names) > _MOST_FIELDS or not all(map(_is_key, names))
            if (names or items) and (path in left_out or is_long or len(path) >= _MOST_DEPTH):
                left_out[path] = None
                for word in ("properties", "required", "items"):
                    schema.pop(word, None)
                continue
            number += len(names)
            following += [((*path, name), part) for name, part in names.items()]
            following += [((*path, 0), items)] if items is not None else []
        level = following
    return replace(observations, left_out=tuple(left_out))


def _check_words(schema: Mapping[str, Any]) -> None:
    """Raises: ValueError, TypeError: What is no schema in a schema has another form than it is written in."""
    kinds, required = schema.get("type", ()), schema.get("required", [])
    if not {kinds} <= _KINDS if isinstance(kinds, str) else not set(kinds) <= _KINDS:
        raise ValueError(f"there is no type {kinds}")
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise ValueError("the required keys are no texts")


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
