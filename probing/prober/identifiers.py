"""The identifiers in a response: the entity of each one, and the entity that contains it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise

from probing.prober.replies import is_envelope
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.identifiers import IdentifierReference
from protocols.model import Parameter, Tool
from protocols.text.words import (
    NAMES,
    WRAPPERS,
    attribute_of,
    is_identifier,
    noun_of,
    noun_of_identifier,
    singular,
    words,
)

__all__ = ["is_value", "linked_identifiers", "name_reference", "noun_of_path", "reference_of"]

_QUERY_WORDS = NAMES["search verbs"] | NAMES["query words"]
"""Words of a path that name the kind of query, not the entity."""

_MAX_ITEMS = 8
"""Items read of each list."""


def is_value(value: object) -> bool:
    """True if a value can identify an entity."""
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def noun_of_path(path: str) -> str:
    """The entity that a path ends at: film for `/films/{id}`, `/films/search` and `/films/name/{name}`."""
    parts = [part for part in path.split("/") if part]
    fixed = [(part, after) for part, after in pairwise([*parts, ""]) if part[0] != "{"]
    informative = [part for part, after in fixed if not _QUERY_WORDS.issuperset(words(part)) and after != f"{{{part}}}"]
    return noun_of((informative or [part for part, _ in fixed] or [""])[-1])


def reference_of(key: str, noun: str) -> IdentifierReference:
    """The entity and attribute that a key identifies; a bare `id` belongs to the enclosing entity."""
    return IdentifierReference(noun_of_identifier(key) or noun, attribute_of(key) or singular(words(key)[-1]))


def name_reference(tool: Tool, parameter: Parameter, graph: ProtocolGraph) -> IdentifierReference | None:
    """The reference of a required path argument that is no identifier: `/pools/{name}`, `/limits/tag/{tag}`.

    None for all other arguments.
    """
    parts = words(parameter.name)
    if parameter.location != "path" or not parts or graph.reference(tool.name, parameter.argument) is not None:
        return None
    noun = noun_of_path(tool.path.partition(f"{{{parameter.name}}}")[0] + f"{{{parameter.name}}}")
    return reference_of("_".join(parts[parts.index("or") + 1 :] if "or" in parts else parts), noun)


def linked_identifiers(
    body: object,
    noun: str,
    about: Mapping[IdentifierReference, object],
    most: int | None = _MAX_ITEMS,
    *,
    by: Collection[str] = (),
) -> Iterator[Mapping[IdentifierReference, object]]:
    """The identifiers of each entity in a body, together with those of the entities that contain it.

    Args:
        noun: The entity of the body, if the body does not name it.
        about: Identifiers given in the request.
        most: Items read of each list; None for all.
        by: Other nouns that name an entity, from `name_reference`.
    """
    if isinstance(body, list):
        for item in body[:most]:
            yield from linked_identifiers(item, noun, about, most, by=by)
    elif isinstance(body, Mapping):
        named = () if is_envelope(body) else map(str, body)
        keys = [key for key in named if is_identifier(key) or (by and noun_of(key) in by)]
        own_identifiers = {reference_of(key, noun): body[key] for key in keys if is_value(body[key])}
        identifiers = {**about, **own_identifiers}
        if own_identifiers:
            yield identifiers
        for key, part in body.items():
            part_noun = noun_of(str(key))
            part_noun = noun if not part_noun or part_noun in WRAPPERS else part_noun
            yield from linked_identifiers(part, part_noun, identifiers, most, by=by)
