"""Where the value of an argument certainly comes from: what a model is told in a line, or not at all.

The graph ranks everything that may provide an identifier, because a plan needs a guess. A reader of documentation is
better off without one. So a source is told only where the paths of the API say it: the collection that an identifier
selects from (`/films` of `/films/{filmId}`), a search or a list of such objects, or a list of them inside another one.
No operation that writes is a source for reading.

The rules were written with 207 labelled arguments of six documents in view: there 161 of 163 told sources are true. Of
192 arguments of six documents that nobody had read, 75 of 87 are (`python -m benchmarks.micro.sources`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from protocols.dataflow.graph import USER_NOUNS, ProtocolGraph, ProvidedField
from protocols.dataflow.identifiers import IdentifierReference, literals_of
from protocols.dataflow.operations import is_own, looks_like_read
from protocols.json_path import Step
from protocols.model import Parameter, Schema, Tool
from protocols.schema_fields import items_of, properties_of, type_of, wrapper_of
from protocols.text.words import (
    ID_WORDS,
    SEARCHES,
    WRAPPERS,
    attribute_of,
    noun_of,
    noun_of_identifier,
    singular,
    words,
)

__all__ = ["certain_source"]

_LISTING = frozenset({"all", "find", "list", "query", "search"})
"""Last words of a path that lists or searches what the path before it is about."""
_DESCRIBED = re.compile(r"\b(?:id|identifier)s? of (?:(?:the|an?) )?(\w+)", re.IGNORECASE)
_SUFFIX = re.compile(r"\.(json|xml)$")
_SCALARS = frozenset({"string", "integer", "number", ""})


def certain_source(
    graph: ProtocolGraph, tool: str, argument: str, among: Collection[str] | None = None
) -> ProvidedField | None:
    """The field that provides an argument beyond doubt; None where nothing does, or several could.

    Args:
        among: Names of the tools that may be named: where the source is another one, nothing is told in its place.
    """
    taker = graph.protocol.tool(tool)
    parameter = taker.argument(argument)
    if parameter is None or "enum" in parameter.schema or type_of(parameter.schema) == "boolean":
        return None
    sources = _of_path(graph, taker, parameter) if parameter.location == "path" else _of_noun(graph, taker, parameter)
    source = next((source for source in sources if source.tool != tool), None)
    return source if source is not None and (among is None or source.tool in among) else None


def _of_path(graph: ProtocolGraph, tool: Tool, parameter: Parameter) -> Iterator[ProvidedField]:
    """The collection that a path parameter selects from, else what lists such objects elsewhere."""
    head = _head(tool.path, parameter)
    collection = list(_collection(graph, head, parameter))
    yield from collection
    if collection or not head or _listings(graph, head):
        return
    yield from _in_parent(graph, head, parameter)
    attribute = attribute_of(parameter.name) or "id"
    nouns = dict.fromkeys([noun_of_identifier(parameter.name), noun_of(head[-1])])
    for noun in filter(None, nouns):
        yield from _lists(graph, tool, parameter, IdentifierReference(noun, attribute), _joined(head[-1]))


def _head(path: str, parameter: Parameter) -> tuple[str, ...]:
    """The segments of a path before a parameter, and before those that stand right before it."""
    segments = _segments(path)
    end = next((n for n, segment in enumerate(segments) if segment == f"{{{parameter.name}}}"), 0)
    while end and segments[end - 1].startswith("{"):
        end -= 1
    return tuple(segments[:end])


def _of_noun(graph: ProtocolGraph, tool: Tool, parameter: Parameter) -> Iterator[ProvidedField]:
    """The collection of the objects that another argument refers to, if there is one alone."""
    reference = graph.reference(tool.name, parameter.argument)
    phrase = _phrase(parameter.name)
    named = phrase or (reference.noun if reference is not None else "")
    if not named:
        return
    collections: list[_Collection] = []
    if attribute_of(parameter.name) is not None or reference is not None:
        collections = [entry for entry in _collections(graph) if named.endswith(entry.name)]
    if not phrase and not collections and not _is_described(parameter, named):
        return
    if not collections and attribute_of(parameter.name) is not None:
        described = _DESCRIBED.search(f"{parameter.description} {parameter.schema.get('description', '')}")
        noun = _joined(described[1]) if described else ""
        collections = [entry for entry in _collections(graph) if entry.name == noun]
    longest = max((len(entry.name) for entry in collections), default=0)
    collections = [entry for entry in collections if len(entry.name) == longest]
    if len(collections) > 1:
        collections = [entry for entry in collections if _shared(graph, entry.head, tool)]
    collections.sort(key=lambda entry: len(entry.head))
    if collections:
        is_of_itself = _form(_segments(tool.path)) == collections[0].head
        is_of_itself = is_of_itself and (tool.method == "GET" or not phrase)
        is_alone = len({entry.head for entry in collections if len(entry.head) == len(collections[0].head)}) == 1
        if is_alone and not is_of_itself:
            attribute = attribute_of(parameter.name)  # the number of an invoice is not its id
            yield from (s for s in collections[0].sources if attribute is None or attribute == _attribute(s))
        if collections[0].sources or not is_alone or is_of_itself:
            return
    if reference is not None and not (longest and not collections):
        yield from _lists(graph, tool, parameter, reference, named)


def _attribute(source: ProvidedField) -> str | None:
    """What kind of identifier a field is, by its name; `id` where that says none."""
    key = next((step for step in reversed(source.path) if isinstance(step, str)), "")
    return attribute_of(key) or "id"


def _phrase(name: str) -> str:
    """The words of an argument's name before its identifier word, as one: `mastertsigkey` of `master_tsig_key_ids`."""
    parts = [singular(part) for part in words(name)]
    return "".join(parts[:-1] if parts and parts[-1] in ID_WORDS else parts)


def _joined(name: str) -> str:
    return "".join(singular(part) for part in words(name))


def _is_described(parameter: Parameter, noun: str) -> bool:
    text = f"{parameter.description} {parameter.schema.get('description', '')}"
    return noun in [singular(part) for part in words(text)]


def _shared(graph: ProtocolGraph, head: Sequence[str], tool: Tool) -> bool:
    """True if two paths begin alike, beyond what all paths have in common."""
    common, own = _common_start(graph), _form(_segments(tool.path))
    return tuple(head[common : common + 1]) == own[common : common + 1]


@lru_cache(maxsize=16)
def _common_start(graph: ProtocolGraph) -> int:
    """The number of first segments that all paths share."""
    paths = [_segments(tool.path) for tool in graph.protocol.tools]
    return next((n for n, column in enumerate(zip(*paths, strict=False)) if len(set(column)) > 1), 1)


@dataclass(frozen=True, slots=True)
class _Collection:
    """A collection from which path parameters select.

    Args:
        name: Its last segment, as one word in the singular. head: Its path. sources: The identifiers in its items.
    """

    name: str
    head: tuple[str, ...]
    sources: tuple[ProvidedField, ...]


@lru_cache(maxsize=16)
def _collections(graph: ProtocolGraph) -> tuple[_Collection, ...]:
    """The collections from which path parameters select."""
    found: dict[tuple[str, ...], _Collection] = {}
    for tool in graph.protocol.tools:
        for parameter in tool.parameters:
            head = _head(tool.path, parameter) if parameter.location == "path" else ()
            form = _form(head)
            if head and (form not in found or not found[form].sources):
                found[form] = _Collection(_joined(head[-1]), form, tuple(_collection(graph, head, parameter)))
    return tuple(found.values())


def _listings(graph: ProtocolGraph, head: Sequence[str]) -> list[Tool]:
    """The operations that read the collection at a path, or search or list it right below."""
    form = _form(head)
    listings = []
    for tool, own in _forms(graph):
        is_below = own[:-1] == form and own[-1] != "{}" and set(words(own[-1])) <= _LISTING
        if (own == form and tool.method == "GET") or (is_below and (tool.method == "GET" or looks_like_read(tool))):
            listings.append(tool)
    return listings


def _collection(graph: ProtocolGraph, head: Sequence[str], parameter: Parameter) -> Iterator[ProvidedField]:
    """The identifier in the items of the collection at a path."""
    for tool in _listings(graph, head) if head else ():
        if any(p.required and noun_of(p.name) in ID_WORDS and p.location != "path" for p in tool.arguments):
            continue  # it takes identifiers itself
        if (path := _item_field(graph, tool.response_schema, parameter, noun_of(head[-1]))) is not None:
            yield ProvidedField(tool.name, path, 1.0)


def _in_parent(graph: ProtocolGraph, head: Sequence[str], parameter: Parameter) -> Iterator[ProvidedField]:
    """The identifier in a list of the object around a collection: `["seasons"][0]["season_number"]` of a series."""
    form = _form(head[:-1])
    if not form or form[-1] != "{}":
        return
    for tool, own in _forms(graph):
        if tool.method == "GET" and own == form:
            for path, items in _lists_within(graph, tool.response_schema, _joined(head[-1])):
                if (field := _field_of(graph, items, parameter, noun_of(head[-1]))) is not None:
                    yield ProvidedField(tool.name, (*path, *field), 1.0)


def _lists_within(
    graph: ProtocolGraph, schema: Schema | None, name: str, depth: int = 2
) -> Iterator[tuple[tuple[Step, ...], Schema]]:
    """The lists in an object whose key is a name, or ends with it."""
    for key, part in properties_of(schema, graph.protocol).items() if schema is not None else ():
        items = items_of(part, graph.protocol)
        if items is not None and _joined(key).endswith(name):
            yield (key, 0), items
        elif items is None and depth:
            inner = _lists_within(graph, part, name, depth - 1)
            yield from (((key, *path), found) for path, found in inner)


def _segments(path: str) -> list[str]:
    """The segments of a path, without the form of the reply that some end in: `/topics/{id}.json`."""
    return [_SUFFIX.sub("", segment) for segment in path.strip("/").split("/")]


@lru_cache(maxsize=16)
def _forms(graph: ProtocolGraph) -> tuple[tuple[Tool, tuple[str, ...]], ...]:
    """All tools, each with the form of its path."""
    return tuple((tool, _form(_segments(tool.path))) for tool in graph.protocol.tools)


def _form(segments: Sequence[str]) -> tuple[str, ...]:
    """The segments of a path, whatever its parameters are called."""
    return tuple("{}" if segment.startswith("{") else segment for segment in segments)


def _item_field(
    graph: ProtocolGraph, schema: Schema | None, parameter: Parameter, noun: str
) -> tuple[Step, ...] | None:
    """The path to the identifier in the items that a response lists; None if it lists none, or has several such."""
    for path, items in _main_lists(graph, schema, noun, _phrase(parameter.name)):
        if (field := _field_of(graph, items, parameter, noun)) is not None:
            return (*path, *field)
    return None


def _field_of(graph: ProtocolGraph, items: Schema, parameter: Parameter, noun: str) -> tuple[str, ...] | None:
    """The key of the identifier in an item, nothing where the item itself is it; None without one."""
    properties = properties_of(items, graph.protocol)
    if not properties:
        is_it = noun_of(parameter.name).rstrip("s") in ("", noun.rstrip("s"))
        return () if is_it and type_of(items) in ("string", "integer") else None
    scalars = [name for name, part in properties.items() if type_of(part) in _SCALARS]
    name = _identifier_among(scalars, parameter, noun)
    return (name,) if name is not None else None


def _main_lists(
    graph: ProtocolGraph, schema: Schema | None, noun: str, phrase: str
) -> Iterator[tuple[tuple[Step, ...], Schema]]:
    """The list that a response is about, as the path to its items and their schema."""
    if schema is None:
        return
    items = items_of(schema, graph.protocol)
    if items is not None:
        yield (0,), items
        return
    inner: list[tuple[tuple[Step, ...], Schema]] = []
    for name, part in properties_of(schema, graph.protocol).items():
        items = items_of(part, graph.protocol)
        if items is not None:
            inner.append(((name, 0), items))
            continue
        for key, nested in properties_of(part, graph.protocol).items():
            if (items := items_of(nested, graph.protocol)) is not None and noun_of(name) in WRAPPERS | {noun}:
                inner.append(((name, key, 0), items))
    exact = [entry for entry in inner if phrase and _joined(str(entry[0][-2])) == phrase]
    named = exact or [entry for entry in inner if noun and noun_of(str(entry[0][-2])) == noun]
    wrapped = [entry for entry in inner if noun_of(str(entry[0][-2])) in WRAPPERS]
    if named or wrapped:
        yield from (named or wrapped)[:1]
    elif len(inner) == 1 or wrapper_of(schema, graph.protocol):
        yield from inner[:1]


def _identifier_among(names: Sequence[str], parameter: Parameter, noun: str) -> str | None:
    """The field of an item that a parameter selects it by.

    An `id` of the item comes before a field that repeats its noun: that one is often the caller's own.
    """
    attribute = attribute_of(parameter.name)
    parts = [singular(part) for part in words(parameter.name)]
    by_words = {tuple(singular(part) for part in words(name)): name for name in reversed(names)}
    if attribute is not None and (name := by_words.get((attribute,))) is not None:
        return name
    if (name := by_words.get(tuple(parts))) is not None:
        return name
    if attribute is not None:
        return by_words.get((noun, attribute)) if noun else None
    if parts == [noun] and (name := by_words.get(("id",)) or by_words.get(("name",))) is not None:
        return name
    ending = [name for name in names if name.lower().endswith(parts[-1])] if parts else []
    exact = by_words.get((parts[-1],)) if parts else None
    return exact or (ending[0] if len(ending) == 1 else None)


def _lists(
    graph: ProtocolGraph, tool: Tool, parameter: Parameter, reference: IdentifierReference, named: str
) -> Iterator[ProvidedField]:
    """Searches and lists of the objects of a reference elsewhere, and lists of them in other objects.

    Those that need no identifier come first, then those whose paths have more words of the tool's own.
    """
    own = {*words(tool.path)} - {*words(named)}
    candidates: list[tuple[tuple[int, bool, int, int], ProvidedField]] = []
    for rank, source in enumerate(graph.providers(tool.name, parameter.argument, noun=reference.noun)):
        provider = graph.protocol.tool(source.tool)
        if source.header or source.link or (provider.writes and not looks_like_read(provider)):
            continue
        keys = [step for step in source.path if isinstance(step, str)]
        field, around = keys[-1], [key for key in keys[:-1] if noun_of(key) not in WRAPPERS]
        is_listed = any(isinstance(step, int) for step in source.path)
        is_bare = noun_of_identifier(field) == "" and singular(words(field)[-1]) == words(field)[-1]
        about = _joined(around[-1] if around else (literals_of(provider.path) or [""])[-1])
        is_about = about == reference.noun or (bool(about) and (named.endswith(about) or about == named))
        is_caller = is_own(provider) and reference.noun in USER_NOUNS and parameter.location == "path" and not around
        lists_them = parameter.location == "path" or noun_of((literals_of(provider.path) or [""])[-1]) == reference.noun
        is_repeated = words(field) == words(parameter.name) and lists_them and is_listed and len(around) <= 1
        needs = sum(graph.reference(provider.name, p.argument) is not None for p in provider.arguments if p.required)
        is_search = "search" in words(provider.path) or _searches(provider)
        is_list_of_it = (
            len(around) == 1 and around[0] == source.path[0] and about in map(_joined, provider.path.split("/"))
        )
        is_arbitrary = bool(around) and not needs and not is_search and not is_list_of_it
        is_of_them = is_repeated or (is_bare and is_about and is_listed)
        if (is_of_them and not is_arbitrary) or (is_bare and is_caller):
            is_direct = not around or is_list_of_it or (is_search and _joined(str(source.path[0])) == about)
            tier = (0 if is_direct else 3) + min(needs, 2) - (is_search and is_direct) + 2 * is_repeated
            shared = len(own.intersection(words(provider.path)))
            candidates.append(((tier, is_own(provider), -shared, rank), source))
    yield from (source for _, source in sorted(candidates, key=lambda entry: entry[0]))


def _searches(tool: Tool) -> bool:
    """True if texts to search for are the only required arguments of a tool."""
    required = [p.argument.lower() for p in tool.arguments if p.required]
    return bool(required) and SEARCHES.issuperset(required)
