"""Validation of a repaired document against the OpenAPI rules, and the operations that it makes unusable.

openapi-spec-validator takes longer than all other steps. So the result is cached under the document's digest in
`ATC_HOME`, and the validator is not even imported the next time.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocols.bounded import with_linear_unique_items
from protocols.documents.openapi import Builder, counted, operations
from protocols.documents.schemas import split_subschemas
from protocols.documents.source import METHODS, DocumentSet, at_pointer, pointer, pointer_keys
from protocols.errors import ProtocolError
from protocols.model import Schema

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

__all__ = ["ValidationResult", "home", "validate"]

_DESCRIPTIVE_KEYS = frozenset(
    {"summary", "description", "operationId", "tags", "title", "deprecated", "termsOfService", "version"}
)
_AUXILIARY_KEYS = frozenset({"externalDocs", "example", "examples", "contact", "license", "xml", "callbacks", "links"})
_MAP_KEYS = frozenset({"properties", "patternProperties", "schemas", "responses", "parameters", "headers", "content"})


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """`skipped` has the reason for each unusable operation, by JSON pointer; `warnings` are about the rest."""

    skipped: dict[str, str]
    warnings: tuple[str, ...]


def validate(document: Mapping[str, Any], documents: DocumentSet, digest: str) -> ValidationResult:
    """Validate a repaired OpenAPI 3.0 or 3.1 document, or take the result from the cache.

    Args:
        digest: A hash of the document and all linked documents.
    """
    cache_file = home() / "validated" / f"{hashlib.sha256(f'{digest} {_rules_digest()}'.encode()).hexdigest()}.json"
    with suppress(OSError, ValueError, TypeError, KeyError):
        stored = json.loads(cache_file.read_bytes())
        return ValidationResult(stored["skipped"], tuple(stored["warnings"]))
    result = _check(document, documents)
    with suppress(OSError):  # a read-only cache costs only time
        _write(cache_file, json.dumps(asdict(result)).encode())
    return result


def home() -> Path:
    """The cache folder: `ATC_HOME`, else the user's."""
    if os.environ.get("ATC_HOME"):
        return Path(os.environ["ATC_HOME"]).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("atc")


def _rules_digest() -> str:
    """Digest of the code that decides, so that a changed rule invalidates old results."""
    folder = Path(__file__).parent
    code = hashlib.sha256()
    for name in ("validation.py", "spec_fixes.py", "swagger.py", "tool_files.py", "openapi.py", "schemas.py"):
        with suppress(OSError):  # an installation without sources
            code.update((folder / name).read_bytes())
    return code.hexdigest()


def _write(place: Path, data: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
        file.write(data)
    Path(file.name).replace(place)


def _check(document: Mapping[str, Any], documents: DocumentSet) -> ValidationResult:
    skipped: dict[str, str] = {}
    notes: Counter[str] = Counter()
    users: dict[str, set[str]] | None = None
    for error in _errors(document):
        path = tuple(str(key) for key in error.absolute_path)
        reason = f"{error.message[:200]} (at {pointer(*path)})"
        if not _is_fatal(path, error):
            notes[_warning(error)] += 1
        elif path[:1] == ("paths",) and len(path) > 2 and path[2] in METHODS:
            skipped.setdefault(pointer(*path[:3]), reason)
        elif path[:1] == ("paths",) and len(path) > 1:
            for operation_path, method, _, _ in operations(document):
                if operation_path == path[1]:
                    skipped.setdefault(pointer("paths", operation_path, method), reason)
        elif path[:1] == ("components",) and len(path) > 2 and path[1] != "securitySchemes":
            users = _component_users(document) if users is None else users
            for place in sorted(users.get(pointer(*path[:3]), ())):
                skipped.setdefault(place, reason)
            if not users.get(pointer(*path[:3])):
                notes["an unused component breaks the OpenAPI rules"] += 1
        else:
            notes[f"breaks the OpenAPI rules: {reason}"] += 1
    if documents.has_linked or str(document.get("openapi")).startswith("3.1"):
        for place, reason in _invalid_schemas(document, documents):
            skipped.setdefault(place, reason)
    return ValidationResult(skipped, counted(notes))


def _errors(document: Mapping[str, Any]) -> Iterator[ValidationError]:
    """The validator's errors, each at its actual place.

    The document is validated by OpenAPI's schema only. The validator's further checks take as long again, and repair
    and reading cover them.
    """
    from openapi_spec_validator import OpenAPIV30SpecValidator, OpenAPIV31SpecValidator

    new = str(document.get("openapi")).startswith("3.1")
    rules = OpenAPIV31SpecValidator if new else OpenAPIV30SpecValidator
    for error in with_linear_unique_items(rules.schema_validator).iter_errors(document):
        yield from _leaves(error)


def _invalid_schemas(document: Mapping[str, Any], documents: DocumentSet) -> Iterator[tuple[str, str]]:
    """Operations with an invalid schema, by JSON pointer, and the reason.

    OpenAPI 3.1 leaves schemas to JSON Schema, and linked documents are not validated yet.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    rules = with_linear_unique_items(Draft202012Validator(Draft202012Validator.META_SCHEMA))
    builder = Builder(document, documents)
    roots: dict[str, list[object]] = {}
    for path, method, item, operation, base in builder.operations():
        with suppress(ProtocolError, RecursionError):  # reading it fails as well, and reports the reason
            tool = builder.tool("", method, path, operation, base, item)
            roots[pointer("paths", path, method)] = [
                *(parameter.schema for parameter in tool.parameters),
                *([tool.body.schema] if tool.body else []),
                *(response.schema for response in tool.responses if response.schema),
            ]
    inside: dict[int, list[object]] = {}
    reasons: dict[int, str] = {}
    for schema in _subschemas([root for several in roots.values() for root in several], inside):
        error = best_match(rules.iter_errors(split_subschemas(schema)[0]))
        if error is not None:
            reasons[id(schema)] = error.message[:200]
    for place, several in roots.items() if reasons else ():
        for schema in _subschemas(several, inside):
            if id(schema) in reasons:
                yield place, f"a schema that cannot be used: {reasons[id(schema)]}"


def _subschemas(roots: list[object], inside: dict[int, list[object]]) -> Iterator[Schema]:
    """Each schema within `roots` once; `inside` caches direct subschemas by id."""
    waiting, visited = list(roots), set()
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, Mapping) and id(schema) not in visited:
            visited.add(id(schema))
            if id(schema) not in inside:
                inside[id(schema)] = split_subschemas(schema)[1]
            waiting += inside[id(schema)]
            yield schema


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """The causes of a failed `oneOf`: the errors of the branch that was meant, not "is no reference"."""
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    meant = [inners for inners in branches.values() if not any(_is_reference(inner) for inner in inners)]
    if len(meant) == 1:
        for inner in meant[0]:
            yield from _leaves(inner)
    elif branches:
        from jsonschema.exceptions import best_match

        yield best_match([error])
    else:
        yield error


def _is_reference(error: ValidationError) -> bool:
    return error.validator == "required" and "'$ref'" in error.message


def _is_fatal(path: tuple[str, ...], error: ValidationError) -> bool:
    """True if an error makes the operation or component around it unusable."""
    if error.validator in ("additionalProperties", "unevaluatedProperties", "uniqueItems"):
        return False
    if error.validator == "required" and any(f"'{key}'" in error.message for key in ("description", "responses")):
        return False
    if error.validator == "format":
        return False
    keys = [key for before, key in zip(("", *path), path, strict=False) if before not in _MAP_KEYS]
    return not (_DESCRIPTIVE_KEYS.intersection(keys[-1:]) or _AUXILIARY_KEYS.intersection(keys))


def _warning(error: ValidationError) -> str:
    if error.validator in ("additionalProperties", "unevaluatedProperties"):
        return f"unknown keys were ignored, first at {pointer(*error.absolute_path)}: {error.message[:120]}"
    return f"{error.message[:160]} (at {pointer(*error.absolute_path)})"


def _component_users(document: Mapping[str, Any]) -> dict[str, set[str]]:
    """The operations that use each component, both as JSON pointers."""
    reached: dict[str, set[str]] = {}
    memo: dict[str, set[str]] = {}

    def refs(node: object) -> Iterable[str]:
        if isinstance(node, Mapping):
            if isinstance(node.get("$ref"), str):
                yield node["$ref"]
            for value in node.values():
                yield from refs(value)
        elif isinstance(node, list):
            for value in node:
                yield from refs(value)

    for path, method, item, operation in operations(document):
        place = pointer("paths", path, method)
        waiting = list(refs([operation, item.get("parameters")]))
        visited: set[str] = set()
        while waiting:
            ref = waiting.pop()
            if not ref.startswith("#/components/"):
                continue
            keys = pointer_keys(ref)[:3]
            name = pointer(*keys)
            if name in visited:
                continue
            visited.add(name)
            reached.setdefault(name, set()).add(place)
            if name not in memo:
                memo[name] = set(refs(at_pointer(document, keys)))
            waiting.extend(memo[name])
    return reached
