"""The operations of a document, however its paths are written: without their slash, in capitals, in other files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from protocols.documents.source import METHODS, DocumentSet, mapping_or_empty, pointer
from protocols.errors import ProtocolError
from protocols.model import LeftOut
from protocols.naming import tool_name

__all__ = ["PathReader", "WrittenOperation"]

_NO_SLASH = "repaired a path without a slash at its beginning"
_SPELLED = "repaired a method that is not in lower case"
_BESIDE_METHODS = frozenset({"$ref", "summary", "description", "servers", "parameters"})
_FURTHER = "additionalOperations"
"""Of OpenAPI 3.2: operations with methods of any name."""


class WrittenOperation(NamedTuple):
    """An operation and its path item, each with the URI of the document that it is in, and its JSON pointer."""

    path: str
    method: str
    item: Mapping[str, Any]
    item_base: str
    content: object
    base: str
    place: str


@dataclass
class PathReader:
    """Reads the paths of one document; what stands there that cannot be called is left out, and extensions are dropped.

    `notes` counts repaired defects.
    """

    documents: DocumentSet
    notes: Counter[str]
    leave_out: Callable[[LeftOut], None]
    taken: set[tuple[str, str]] = field(default_factory=set)

    def operations(self, document: Mapping[str, Any]) -> Iterator[WrittenOperation]:
        """The operations in the order of the document. Raises: ProtocolError: The paths lie in a file that is none."""
        paths, base = self.documents.resolved(document.get("paths"), self.documents.uri)
        for written, raw in paths.items():
            key = str(written).strip()
            if "://" in key:
                for operation in _operations_at(str(written), raw):
                    self.leave_out(operation)
            elif not key.startswith("x-"):
                path = key if key.startswith("/") else f"/{key}"
                self.notes.update([_NO_SLASH] if path != written else [])
                try:
                    item, where = self.documents.resolved(raw, base)
                except ProtocolError as error:
                    self.leave_out(LeftOut("", path, "", str(error), place=pointer("paths", written)))
                    continue
                yield from self._of_item(path, str(written), item, where)

    def _of_item(self, path: str, key: str, item: Mapping[str, Any], base: str) -> Iterator[WrittenOperation]:
        for name, value in _with_spelling_last(item):
            method, place = name.strip().lower(), pointer("paths", key, name)
            if method not in METHODS:
                for operation in _uncallable(path, name, value, place):
                    self.leave_out(operation)
                continue
            if (path, method) in self.taken:
                self.leave_out(_left_out(path, method, value, f"the document has {method.upper()} {path} twice", place))
                continue
            self.taken.add((path, method))
            self.notes.update([_SPELLED] if name != method else [])
            try:
                content, where = (
                    self.documents.resolved(value, base) if "$ref" in mapping_or_empty(value) else (value, base)
                )
            except ProtocolError as error:
                self.leave_out(_left_out(path, method, value, str(error), place))
                continue
            yield WrittenOperation(path, method, item, base, content, where, place)


def _with_spelling_last(item: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The entries in order, but a method in capitals behind the same one in lower case."""
    entries = [(str(name), value) for name, value in item.items()]
    names = {name for name, _ in entries}
    return sorted(entries, key=lambda entry: entry[0] != entry[0].lower() and entry[0].lower() in names)


def _uncallable(path: str, name: str, value: Any, place: str) -> Iterator[LeftOut]:
    """What stands where a method is expected and is none that can be called."""
    if name == _FURTHER:
        for method, operation in mapping_or_empty(value).items():
            reason = f"calls with the method {method} are not supported"
            yield _left_out(path, method, operation, reason, f"{place}/{pointer(method)[2:]}")
    elif name.strip().lower() == "query":
        yield _left_out(path, name.strip(), value, "calls with the method QUERY are not supported", place)
    elif isinstance(value, Mapping) and name.strip().lower() not in _BESIDE_METHODS and not name.startswith("x-"):
        yield _left_out(path, name.strip(), value, f"{name[:40]!r} is no HTTP method", place)


def _operations_at(key: str, item: Any) -> Iterator[LeftOut]:
    reason = "its path is a whole URL; write the server under `servers`"
    methods = [name for name in mapping_or_empty(item) if str(name).lower() in METHODS]
    for name in methods:
        yield _left_out(key, str(name), item[name], reason, pointer("paths", key, name))
    if not methods:
        yield LeftOut("", key, "", reason, place=pointer("paths", key))


def _left_out(path: str, method: str, operation: Any, reason: str, place: str) -> LeftOut:
    identifier = str(mapping_or_empty(operation).get("operationId") or "")
    return LeftOut(method.upper(), path, tool_name(method, path), reason, identifier, place)
