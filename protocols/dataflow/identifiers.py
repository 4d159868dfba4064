"""What names and paths of an API say: the identifier that an argument takes, and what an operation does.

`film_uuid`, `filmUuid`, and `uuid` in `/films/{uuid}` all refer to the uuid of a film.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from protocols.model import Parameter, Protocol, Schema, Tool
from protocols.schema_fields import is_expandable, items_of, properties_of, type_of
from protocols.text.words import ID_WORDS, NAMES, attribute_of, noun_of, noun_of_identifier, singular, words

__all__ = [
    "CURRENT",
    "IdentifierReference",
    "identifier_reference",
    "is_called",
    "is_current",
    "is_own",
    "list_reference",
    "literals_of",
    "looks_like_read",
    "path_score",
]

CURRENT = frozenset({"active", "current", "currently", "now"})
"""Path words of an operation that reads the present state."""
_SELF_WORDS = frozenset({"me", "my", "self"})
_READ_VERBS = frozenset(
    {"calculate", "check", "count", "estimate", "filter", "find", "get", "list", "lookup", "preview", "query", "read"}
    | {"search", "validate"}
)
"""Verbs of reading operations, whatever their method."""

_UNAMBIGUOUS_ATTRIBUTES = NAMES["unambiguous identifiers"]


@dataclass(frozen=True, slots=True)
class IdentifierReference:
    """The identifier that an argument takes: the `attribute` (id, uuid…) of a `noun` (person, film…)."""

    noun: str
    attribute: str


def identifier_reference(
    tool: Tool, parameter: Parameter, path_nouns: Collection[str], protocol: Protocol
) -> IdentifierReference | None:
    """The identifier that an argument takes, by its name; for a bare `id` by its examples, description and path."""
    if _is_enumerated(parameter.schema):
        return None
    parts = [singular(part) for part in words(parameter.name)]
    if not parts:
        return None
    in_path = parameter.location == "path"
    owner = _owner_noun(tool.path, parameter.name) if in_path else ""
    if parts[-1] in ID_WORDS:
        if parts[-1] not in _UNAMBIGUOUS_ATTRIBUTES and not (in_path and parameter.required):
            return None
        noun = parts[-2] if len(parts) > 1 else owner
        if not in_path and parts[-1] in _UNAMBIGUOUS_ATTRIBUTES and (not noun or noun not in path_nouns):
            noun = _described_noun(parameter, parts[-1], path_nouns) or noun
            literals = literals_of(tool.path)
            noun = noun or (noun_of(literals[-1]) if literals else "")
        return IdentifierReference(noun, parts[-1]) if noun else None
    if in_path and owner and parts == [owner]:
        return IdentifierReference(owner, "id")
    says_identifier = re.search(r"\bids?\b", _description(parameter), re.IGNORECASE) or is_expandable(
        parameter.schema, protocol
    )
    if not in_path and parts[-1] in path_nouns and says_identifier:
        return IdentifierReference(parts[-1], "id")
    return None


def list_reference(
    parameter: Parameter, path_nouns: Collection[str], protocol: Protocol
) -> tuple[IdentifierReference, str] | None:
    """The identifier in the items of an argument that takes a list of objects, and its key."""
    noun = noun_of(parameter.name)
    items = items_of(parameter.schema, protocol)
    if noun not in path_nouns or items is None:
        return None
    identifier_keys = [name for name in properties_of(items, protocol) if attribute_of(name) in _UNAMBIGUOUS_ATTRIBUTES]
    if len(identifier_keys) != 1 or noun_of_identifier(identifier_keys[0]) not in ("", noun):
        return None
    return IdentifierReference(noun, attribute_of(identifier_keys[0]) or "id"), identifier_keys[0]


def _description(parameter: Parameter) -> str:
    return f"{parameter.description} {parameter.schema.get('description', '')} {parameter.schema.get('title', '')}"


def _described_noun(parameter: Parameter, attribute: str, path_nouns: Collection[str]) -> str:
    """The noun in an example value (`shop:film:42`) or the description (`the film ids`); empty for none."""
    examples = [parameter.schema.get("example"), *cast("list[object]", parameter.schema.get("examples") or [])]
    for example in examples:
        for value in example if isinstance(example, list) else [example]:
            if isinstance(value, str):
                prefix_nouns = [singular(word.lower()) for word in re.split(r"[:/,]", value)[:-1]]
                matching = [noun for noun in prefix_nouns if noun in path_nouns]
                if matching:
                    return matching[-1]
    text = _description(parameter)
    for word in re.findall(rf"(\w+)\W+{attribute}s?\b", text, re.IGNORECASE):
        if singular(word.lower()) in path_nouns:
            return singular(word.lower())
    # "the artist or the user IDs" of bare `ids`; "Valid contexts are albums, artists and playlists" of a `context_uri`
    own = noun_of_identifier(parameter.name)
    valid = re.search(rf"\bvalid {own}s? (?:are|is)\b(.*)", text, re.IGNORECASE) if own else None
    matching = re.findall(r"\w+", valid[1] if valid else "" if own else text)
    return next((noun for noun in (singular(word.lower()) for word in matching) if noun in path_nouns), "")


def _is_enumerated(schema: Schema) -> bool:
    """True if the values are enumerated, so that no other tool has to provide them."""
    return "enum" in schema or "const" in schema or type_of(schema) == "boolean"


def literals_of(path: str) -> list[str]:
    """The fixed segments of a path that name entities, without verbs and filters such as `findByColour`."""
    literals = []
    for segment in path.split("/"):
        segment_words = words(segment)
        noun_part = "_".join(segment_words[: segment_words.index("by")]) if "by" in segment_words else segment
        if noun_part and not segment.startswith("{") and not NAMES["search verbs"].issuperset(words(noun_part)):
            literals.append(noun_part)
    return literals


def path_score(path: str, noun: str) -> float:
    """The relevance of a path to a noun: most as its last segment, least as the owner of another one."""
    segments = [segment for segment in path.split("/") if segment]
    literals = [segment for segment in segments if not segment.startswith("{")]
    if not literals:
        return 0.0
    if noun_of(literals[-1]) == noun:
        return 2.0
    if noun in [singular(word) for word in words(literals[-1])]:
        return 1.5
    for segment, following in zip(segments, [*segments[1:], ""], strict=True):
        if noun in [singular(word) for word in words(segment)] and not segment.startswith("{"):
            return 0.5 if following.startswith("{") else 1.0
    return 0.0


def _owner_noun(path: str, name: str) -> str:
    """The noun of the literal segment before a path parameter: film for `/films/slug/{slug}`."""
    literals = literals_of(path.partition(f"{{{name}}}")[0])
    if len(literals) > 1 and literals[-1] == name and noun_of(literals[-2]) != words(literals[-2])[-1]:
        literals.pop()  # the attribute after a collection
    return noun_of(literals[-1]) if literals else ""


def looks_like_read(tool: Tool) -> bool:
    """True if a POST only queries, by the verb of its name, its path or its description."""
    if tool.method != "POST":
        return False
    path_words = words(tool.path.rstrip("/").rpartition("/")[2])
    summary_words = words(tool.summary or tool.description)[:1]
    return not _READ_VERBS.isdisjoint({*path_words[:1], *path_words[-1:], *summary_words})


def is_called(tool: Tool, verb: str) -> bool:
    """True if an operation's path ends with a verb: `play` for `/player/play`."""
    return words(tool.path.rstrip("/").rpartition("/")[2]) == (verb,)


def is_own(tool: Tool) -> bool:
    """True if an operation is about the caller's own data, by its path: `/me/playlists`."""
    return not _SELF_WORDS.isdisjoint(words(tool.path))


def is_current(tool: Tool) -> bool:
    """True if an operation reads the present state, by its path: `/me/player/currently-playing`."""
    return not tool.writes and not CURRENT.isdisjoint(words(tool.path))
