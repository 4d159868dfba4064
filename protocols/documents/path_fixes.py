"""Repairs of `paths`: a path without its slash, a method in capitals; and what stands there that cannot be called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from protocols.documents.source import METHODS, mapping_or_empty, pointer
from protocols.model import LeftOut
from protocols.naming import tool_name

__all__ = ["RepairedPaths", "repair_paths"]

_NO_SLASH = "paths without a slash at their beginning"
_SPELLED = "methods that are not in lower case"
_BESIDE_METHODS = frozenset({"$ref", "summary", "description", "servers", "parameters"})
_FURTHER = "additionalOperations"
"""Of OpenAPI 3.2: operations with methods of any name."""


@dataclass
class RepairedPaths:
    """The paths, one warning for each kind of defect, what is left out, and the old JSON pointers of what has new ones.

    `pointers` of operations come before those of their paths.
    """

    paths: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    pointers: dict[str, str] = field(default_factory=dict)


def repair_paths(paths: Mapping[str, Any]) -> RepairedPaths:
    """The path items under paths that begin with a slash, with methods in lower case; extensions are dropped."""
    repaired = RepairedPaths()
    moved_paths: dict[str, str] = {}
    places: dict[str, list[str]] = {}
    for written, item in paths.items():
        key = str(written)
        if key.startswith("x-"):
            continue
        path = key.strip() if key.strip().startswith("/") else f"/{key.strip()}"
        if "://" in key:
            repaired.left_out += _operations_at(key, item, "its path is a whole URL; write the server under `servers`")
            continue
        if path != key:
            places.setdefault(_NO_SLASH, []).append(pointer("paths", key))
            moved_paths[pointer("paths", path)] = pointer("paths", key)
        if not isinstance(item, Mapping):
            repaired.paths.setdefault(path, item)
            continue
        before = mapping_or_empty(repaired.paths.get(path))
        new = dict(before)
        for name, value in _with_spelling_last(item):
            method = name.strip().lower()
            place = pointer("paths", key, name)
            if method not in METHODS:
                if method not in _BESIDE_METHODS and not method.startswith("x-"):
                    repaired.left_out += _uncallable(path, name, value, place)
                new.setdefault(name, value)
                continue
            if method in new:
                text = f"the document has {method.upper()} {path} twice"
                repaired.left_out.append(_left_out(path, method, value, text, place))
                continue
            new[method] = value
            if name != method:
                places.setdefault(_SPELLED, []).append(place)
            if name != method or path != key:
                repaired.pointers[pointer("paths", path, method)] = place
        repaired.paths[path] = new
    repaired.pointers.update(moved_paths)
    repaired.warnings += [f"repaired {len(found)} {kind}, first at {found[0]}" for kind, found in places.items()]
    return repaired


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
    elif isinstance(value, Mapping):
        yield _left_out(path, name.strip(), value, f"{name[:40]!r} is no HTTP method", place)


def _operations_at(key: str, item: Any, reason: str) -> Iterator[LeftOut]:
    methods = [name for name in mapping_or_empty(item) if str(name).lower() in METHODS]
    for name in methods:
        yield _left_out(key, str(name), item[name], reason, pointer("paths", key, name))
    if not methods:
        yield LeftOut("", key, "", reason, place=pointer("paths", key))


def _left_out(path: str, method: str, operation: Any, reason: str, place: str) -> LeftOut:
    identifier = str(mapping_or_empty(operation).get("operationId") or "")
    return LeftOut(method.upper(), path, tool_name(method, path), reason, identifier, place)
