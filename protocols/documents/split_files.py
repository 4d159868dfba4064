"""A document of Swagger 2.0 in several files as one, since its operations are converted with all that belongs to them.

These are path items, operations, parameters and responses. Schemas stay where they are: whoever reads them follows
their references, as in OpenAPI 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urldefrag, urljoin

from protocols.documents.source import METHODS, DocumentSet, mapping_or_empty
from protocols.errors import ProtocolError

__all__ = ["joined"]

_STEPS = 32
"""References from one to the next; more lead in a circle."""
_DATA = frozenset({"example", "default", "enum", "const"})
"""Keys of plain values, in which a `$ref` is no reference."""
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "schemas", "headers", "responses"})
"""Keys of objects whose own keys are names."""


def joined(document: Mapping[str, Any], documents: DocumentSet) -> Mapping[str, Any]:
    """The document with what it takes from other files for its paths; a reference to nothing stays as it is.

    Args:
        documents: Resolves its references; nothing in it was repaired yet.
    """
    joiner = _Joiner(documents)
    new = {key: joiner.outside(value) for key, value in document.items()}
    for key in ("parameters", "responses"):
        if isinstance(new.get(key), Mapping):
            new[key] = {name: joiner.outside(part) for name, part in new[key].items()}
    if isinstance(new.get("paths"), Mapping):
        new["paths"] = {path: joiner.path_item(item) for path, item in new["paths"].items()}
    return new


class _Joiner:
    def __init__(self, documents: DocumentSet) -> None:
        self._documents = documents

    def path_item(self, raw: Any) -> Any:
        """A path item with its operations, their parameters and their responses."""
        item = self._taken_in(raw)
        if not isinstance(item, Mapping) or "$ref" in item:
            return item
        new = {}
        for key, value in item.items():
            if str(key).lower() in METHODS:
                operation = self._taken_in(value)
                new[key] = self._operation(operation) if isinstance(operation, Mapping) else operation
            else:
                new[key] = self._list(value) if key == "parameters" else value
        return new

    def outside(self, node: Any) -> Any:
        """What a reference to another file stands for; one within the document stays."""
        ref = mapping_or_empty(node).get("$ref")
        return self._taken_in(node) if isinstance(ref, str) and not ref.startswith("#") else node

    def _operation(self, operation: Mapping[str, Any]) -> Mapping[str, Any]:
        responses = operation.get("responses")
        new = dict(operation)
        if "parameters" in new:
            new["parameters"] = self._list(new["parameters"])
        if isinstance(responses, Mapping):
            new["responses"] = {status: self.outside(response) for status, response in responses.items()}
        return new

    def _list(self, parameters: Any) -> Any:
        return [self.outside(raw) for raw in parameters] if isinstance(parameters, list) else parameters

    def _taken_in(self, node: Any) -> Any:
        """The target of a reference, overridden by the keys beside it; the node itself where there is none."""
        beside: dict[str, Any] = {}
        base, target = self._documents.uri, node
        try:
            for _ in range(_STEPS):
                if not isinstance(target, Mapping) or not isinstance(target.get("$ref"), str):
                    break
                beside = {**{key: value for key, value in target.items() if key != "$ref"}, **beside}
                target, base, _ = self._documents.lookup(target["$ref"], base)
            else:
                return node
        except ProtocolError:
            return node
        if target is node:
            return node
        moved = target if base == self._documents.uri else self._moved(target, base)
        return {**moved, **beside} if isinstance(moved, Mapping) else node

    def _moved(self, node: Any, base: str, names: bool = False) -> Any:
        """A part of another file as it must be written in the document: its references name their file."""
        if isinstance(node, list):
            return [self._moved(part, base) for part in node]
        if not isinstance(node, Mapping):
            return node
        new = {}
        for key, value in node.items():
            if not names and key == "$ref" and isinstance(value, str):
                uri, fragment = urldefrag(urljoin(base, value))
                local = uri == self._documents.uri
                new[key] = f"#{fragment}" if local else f"{uri}#{fragment}" if fragment else uri
            elif not names and key in _DATA:
                new[key] = value
            else:
                new[key] = self._moved(value, base, not names and key in _NAMED)
        return new
