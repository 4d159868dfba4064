"""The identifiers in an answer: of which thing each one is, and of what that thing is a part."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise

from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.identifiers import IdentifierReference, attribute_of, noun_of_identifier
from protocols.model import Parameter, Tool
from protocols.text.words import WRAPPERS, is_identifier, noun_of, singular, words

__all__ = ["is_value", "linked_identifiers", "name_reference", "noun_of_path", "reference_of"]

_QUERY_WORDS = frozenset(
    {"all", "count", "filter", "find", "get", "latest", "list", "lookup", "paginate", "query", "search"}
)
"""Words of a path that say how one asks, and not for what."""

_MAX_ITEMS = 8
"""Things of a list that are looked at."""


def is_value(value: object) -> bool:
    """Whether a value may identify something."""
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def noun_of_path(path: str) -> str:
    """What a path is about at last: film for `/films/{id}`, for `/films/search` and for `/films/name/{name}`."""
    parts = [part for part in path.split("/") if part]
    fixed = [(part, after) for part, after in pairwise([*parts, ""]) if part[0] != "{"]
    informative = [part for part, after in fixed if not _QUERY_WORDS.issuperset(words(part)) and after != f"{{{part}}}"]
    return noun_of((informative or [part for part, _ in fixed] or [""])[-1])


def reference_of(key: str, noun: str) -> IdentifierReference:
    """What a key is the identifier of, or the name; a bare `id` is that of the thing it stands in."""
    return IdentifierReference(noun_of_identifier(key) or noun, attribute_of(key) or singular(words(key)[-1]))


def name_reference(tool: Tool, parameter: Parameter, graph: ProtocolGraph) -> IdentifierReference | None:
    """What a required part of a path calls by another word than an identifier: `/pools/{name}`, `/limits/tag/{tag}`.

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
    """For each thing in a body its identifiers, together with those of what it is in.

    Args:
        noun: What the body is about, where it does not say so itself.
        about: Identifiers that the request gave.
        most: Things of each list that are looked at; None for all.
        by: Other words by which things are called: what `name_reference` gives.
    """
    if isinstance(body, list):
        for item in body[:most]:
            yield from linked_identifiers(item, noun, about, most, by=by)
    elif isinstance(body, Mapping):
        keys = [key for key in map(str, body) if is_identifier(key) or (by and noun_of(key) in by)]
        own_identifiers = {reference_of(key, noun): body[key] for key in keys if is_value(body[key])}
        identifiers = {**about, **own_identifiers}
        if own_identifiers:
            yield identifiers
        for key, part in body.items():
            key_noun = noun_of(str(key))
            yield from linked_identifiers(
                part, noun if not key_noun or key_noun in WRAPPERS else key_noun, identifiers, most, by=by
            )
