"""The identifiers in an answer: of which thing each one is, and of what that thing is a part."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise

from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.identifiers import IdentifierReference, attribute_of, noun_of_identifier
from protocols.model import Parameter, Tool
from protocols.text.words import WRAPPERS, is_identifier, noun_of, singular, words

__all__ = ["identified", "is_value", "named", "noun_of_path", "wanted"]

_HOW = frozenset({"all", "count", "filter", "find", "get", "latest", "list", "lookup", "paginate", "query", "search"})
"""Words of a path that say how one asks, and not for what."""

_ITEMS = 8
"""Things of a list that are looked at."""


def is_value(value: object) -> bool:
    """Whether a value may identify something."""
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def noun_of_path(path: str) -> str:
    """What a path is about at last: film for `/films/{id}`, for `/films/search` and for `/films/name/{name}`."""
    parts = [part for part in path.split("/") if part]
    fixed = [(part, after) for part, after in pairwise([*parts, ""]) if part[0] != "{"]
    telling = [part for part, after in fixed if not _HOW.issuperset(words(part)) and after != f"{{{part}}}"]
    return noun_of((telling or [part for part, _ in fixed] or [""])[-1])


def wanted(key: str, noun: str) -> IdentifierReference:
    """What a key is the identifier of, or the name; a bare `id` is that of the thing it stands in."""
    return IdentifierReference(noun_of_identifier(key) or noun, attribute_of(key) or singular(words(key)[-1]))


def named(tool: Tool, parameter: Parameter, graph: ProtocolGraph) -> IdentifierReference | None:
    """What a required part of a path calls by another word than an identifier: `/pools/{name}`, `/limits/tag/{tag}`.

    None for all other arguments.
    """
    parts = words(parameter.name)
    if parameter.location != "path" or not parts or graph.reference(tool.name, parameter.argument) is not None:
        return None
    noun = noun_of_path(tool.path.partition(f"{{{parameter.name}}}")[0] + f"{{{parameter.name}}}")
    return wanted("_".join(parts[parts.index("or") + 1 :] if "or" in parts else parts), noun)


def identified(
    body: object,
    noun: str,
    about: Mapping[IdentifierReference, object],
    most: int | None = _ITEMS,
    *,
    by: Collection[str] = (),
) -> Iterator[Mapping[IdentifierReference, object]]:
    """For each thing in a body its identifiers, together with those of what it is in.

    Args:
        noun: What the body is about, where it does not say so itself.
        about: Identifiers that the request gave.
        most: Things of each list that are looked at; None for all.
        by: Other words by which things are called: what `named` gives.
    """
    if isinstance(body, list):
        for item in body[:most]:
            yield from identified(item, noun, about, most, by=by)
    elif isinstance(body, Mapping):
        telling = [key for key in map(str, body) if is_identifier(key) or (by and noun_of(key) in by)]
        own = {wanted(key, noun): body[key] for key in telling if is_value(body[key])}
        told = {**about, **own}
        if own:
            yield told
        for key, part in body.items():
            said = noun_of(str(key))
            yield from identified(part, noun if not said or said in WRAPPERS else said, told, most, by=by)
