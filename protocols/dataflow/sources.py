"""Where the value of an argument certainly comes from: what a model is told in a line, or not at all.

The graph ranks everything that may provide an identifier, because a plan needs a guess. A reader of documentation is
better off without one. A source is told only where the API lists such objects: the collection that a path parameter
selects from (`/films` of `/films/{filmId}`), a list in the object around it, else the lists named after the argument.
Different objects of one name are told apart by their paths, or not told at all. No operation that writes is a source.

Of 975 labelled arguments of 30 documents that the rules were written from, 746 of 760 told sources are true. Of 192
arguments of six documents that nobody had read, 142 of 152 are (`python -m benchmarks.micro.sources`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from typing import TypeAlias, cast

from protocols.dataflow.graph import USER_NOUNS, ProtocolGraph, ProvidedField
from protocols.dataflow.identifiers import is_own, looks_like_read
from protocols.json_path import Step
from protocols.model import Parameter, Schema, Tool
from protocols.schema_fields import items_of, json_types, properties_of, type_of, variants
from protocols.text.words import ID_WORDS, SEARCHES, WRAPPERS, noun_of, singular, words

__all__ = ["certain_source", "source_of"]

_SEARCHES = frozenset({"all", "find", "list", "query", "search"})
"""Segments of a path that list or search what the segment before them is about."""
_IDS = ("id", "gid", "guid", "sid", "uid", "uuid")
_IDENTIFIERS = ID_WORDS.union(_IDS)
_ATTRIBUTES = _IDENTIFIERS.difference(_IDS, {"uri"})
"""Identifier words that on their own are about the object at hand: its own number or code."""
_NAMES = ("name", "username", "login")
"""What a text selects an object by whose identifier is a number, the most usual first."""
_SAME = (frozenset({"handle", "login", "username"}), frozenset({"index", "number"}))
"""Names of one attribute: what an account is called, and the place of an object in its collection."""
_USER = ("user",)
_SCALARS = frozenset({"string", "integer", "number", ""})
_SUFFIX = re.compile(r"\.(json|xml)$")
_LINK = re.compile(r"\(\S*\)")
_KIND = re.compile(r"\b(id|username|login|name|slug|key)s?\b")
"""What a description says that an argument is."""
_OBJECT = re.compile(r"\b(?:id|identifier)s?`? (?:of|for) (?:(?:the|an?) )?`?((?:\w+\b(?!['\u2019]) ?){1,3})")
"""What it says that an argument identifies; "the id of the film's studio" is none of a film."""
_Form: TypeAlias = tuple[str, ...]
_Words: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Listing:
    """A list of objects in the reply of an operation that reads.

    Args:
        path: To one of its items, whose schema is `items`. names: What the objects are called, as one word each.
        form: The path of the operation, without the names of its parameters.
        inside: How many objects with an identifier of their own are around the list.
    """

    tool: Tool
    path: tuple[Step, ...]
    items: Schema
    names: tuple[str, ...]
    form: _Form
    inside: int


def certain_source(
    graph: ProtocolGraph, tool: str, argument: str, among: Collection[str] | None = None
) -> ProvidedField | None:
    """The field that provides an argument beyond doubt; None where nothing does, or several could.

    Args:
        among: Names of the tools that may be named: where the source is another one, nothing is told in its place.
    """
    taker = graph.protocol.tool(tool)
    parameter = taker.argument(argument)
    return source_of(graph, taker, parameter, among) if parameter is not None else None


def source_of(
    graph: ProtocolGraph, tool: Tool, parameter: Parameter, among: Collection[str] | None = None
) -> ProvidedField | None:
    """The same for an argument itself: finding each by its name takes the square of their number."""
    if "enum" in parameter.schema or type_of(parameter.schema) == "boolean":
        return None
    if key := graph.item_key(tool.name, parameter.argument):
        parameter = replace(parameter, name=f"{parameter.name}_{words(key)[-1]}")
    sources = _of_path(graph, tool, parameter) if parameter.location == "path" else _of_noun(graph, tool, parameter)
    source = next((source for source in sources if source.tool != tool.name), None)
    return source if source is not None and (among is None or source.tool in among) else None


def _of_path(graph: ProtocolGraph, tool: Tool, parameter: Parameter) -> Iterator[ProvidedField]:
    """The collection that a path parameter selects from, else a list in the object around, else one elsewhere."""
    head = _head(tool.path, parameter)
    if not head:
        return
    phrase = _parts(head[-1])
    nouns = [_phrase(parameter), phrase] if _phrase(parameter) != _USER else [phrase, _USER]
    if tool.path.endswith(f"{{{parameter.name}}}") and _makes(graph, tool, head):
        # It adds one of the objects listed elsewhere, or makes one under a name of the caller's.
        if _phrase(parameter) in (phrase, _USER) and "{}" in head:
            yield from _elsewhere(graph, tool, parameter, _phrase(parameter)) or ()
        if _attribute(parameter) not in _IDENTIFIERS:
            return
    at_head = _listings_at(graph, head, phrase)
    sources = _fields(graph, at_head, parameter, phrase)
    if f"{{{parameter.name}}}/{{" in tool.path:  # it qualifies the next one, and is no identifier of the object
        sources = (source for source in sources if not {*_parts(parameter.name)}.isdisjoint(_parts(source.accessor())))
    yield from sources
    if at_head:
        return
    around = [entry for entry in _listings(graph) if entry.form == head[:-1] and head[-2:-1] == ("{}",)]
    around = [entry for entry in around if any(name.endswith("".join(phrase)) for name in _keys(entry))]
    yield from _fields(graph, around, parameter, phrase)
    for noun in dict.fromkeys(nouns):
        yield from _elsewhere(graph, tool, parameter, noun) or ()
        if USER_NOUNS.intersection(noun[-1:]):
            yield from _own(graph, parameter)


def _makes(graph: ProtocolGraph, tool: Tool, collection: _Form) -> bool:
    """True if an operation makes an object of a collection, as no other one at the collection itself does."""
    others = (other for other in graph.protocol.tools if other.method in ("POST", "PUT") and other.name != tool.name)
    return tool.method in ("POST", "PUT") and collection not in (_form(other.path) for other in others)


def _own(graph: ProtocolGraph, parameter: Parameter) -> Iterator[ProvidedField]:
    """The identifier of the caller, in the caller's own profile."""
    for tool in graph.protocol.tools:
        if tool.method == "GET" and tool.response_schema and words(tool.path)[-1:] in (("me",), ("self",)):
            properties = properties_of(tool.response_schema, graph.protocol)
            if field := _field(graph, properties, parameter, ()):
                yield ProvidedField(tool.name, field, 1.0)


def _of_noun(graph: ProtocolGraph, tool: Tool, parameter: Parameter) -> Iterator[ProvidedField]:
    """The list of the objects that another argument names, of a collection in the tool's own path first."""
    reference = graph.reference(tool.name, parameter.argument)
    kind, phrase, text = _kind(parameter.name), _phrase(parameter), _text(parameter)
    is_identifier = kind not in _ATTRIBUTES or phrase if kind else reference and "id" in _KIND.findall(text)
    if not is_identifier or ("external" in phrase and tool.writes):
        return
    own_lists = _lists_of_own_path(graph, tool, parameter)
    for entry in own_lists or ():
        yield from _fields(graph, [entry], parameter, phrase or _parts("".join(_collection(entry.form)[-1:])))
    is_added = own_lists == [] and tool.writes and "{}" in _form(tool.path)  # to another object, and listed elsewhere
    if own_lists is not None and phrase and not is_added:
        return
    collection = _parts("".join([*filter(lambda segment: segment != "{}", _form(tool.path))][-1:]))
    noun: _Words = (reference.noun,) if reference is not None else ()
    named = phrase or (collection if collection[-1:] == noun else noun)
    described = _OBJECT.search(text)
    words_of_it = _parts(described[1].replace(" ", "_")) if described else ()
    for noun in (named, *(words_of_it[:end] for end in range(len(words_of_it), 0, -1))):
        sources = _elsewhere(graph, tool, parameter, noun)
        if sources is not None:
            yield from sources
            return


def _lists_of_own_path(graph: ProtocolGraph, tool: Tool, parameter: Parameter) -> list[_Listing] | None:
    """The lists of the last collection in a tool's path that an argument names; None without one.

    A bare identifier names the last collection. Empty where the operation lists or makes these objects itself.
    """
    form, phrase = _form(tool.path), _phrase(parameter)
    for end in range(len(form), 0, -1):
        if not phrase and form[end - 1] == "{}":
            return None
        if not phrase or _parts(form[end - 1]) == phrase:
            lists = [entry for entry in _listings_at(graph, form[:end], phrase) if entry.path]
            lists = [entry for entry in lists if not _selects(entry, phrase)]
            if end == len(form) and (phrase or lists) and _is_new(graph, tool, parameter):
                return []
            if lists and (end < len(form) or tool.method not in ("POST", "PUT")):
                return lists
    return None


def _is_new(graph: ProtocolGraph, tool: Tool, parameter: Parameter) -> bool:
    """True if an argument is no reference to the objects that an operation itself lists or makes."""
    kind = _kind(parameter.name)
    form = _form(tool.path)
    is_made = tool.method == "POST" and kind is not None and _phrase(parameter) in ((), _parts(form[-1]))
    return tool.method == "GET" or is_made


def _elsewhere(graph: ProtocolGraph, tool: Tool, parameter: Parameter, phrase: _Words) -> list[ProvidedField] | None:
    """The best of the lists named by a phrase, empty where it could be another one; None without any."""
    own, collections = _form(tool.path), _collections(graph)
    head = _head(tool.path, parameter) if parameter.location == "path" else ()
    around = {*head[:-1]} - {"{}"}
    entries: list[tuple[tuple[int, ...], _Listing]] = []
    for named in (phrase, phrase[1:]):  # `parent_film` may be a film
        for entry in _by_name(graph).get("".join(named), ()):
            if entry.tool.name == tool.name or (head and _lists_at(entry, head)):
                continue
            is_arbitrary = entry.inside and 0 not in entry.path[:-1] and not _required(entry.tool)
            is_circle = any(p.location == "path" and _phrase(p)[-1:] == phrase[-1:] for p in entry.tool.parameters)
            if is_arbitrary or is_circle:
                continue
            common = len([*takewhile(lambda pair: pair[0] == pair[1], zip(entry.form, own, strict=False))])
            is_named = _parts(entry.form[-1]) == phrase
            order = (
                entry.inside,
                bool(around) and around.isdisjoint(entry.form),
                entry.form[common:].count("{}"),  # identifiers that the caller of the tool may not have
                is_own(entry.tool) != (tool.writes and parameter.location == "path"),
                not (entry.form in collections or "search" in words(entry.tool.path) or is_named),
                len(entry.form),
                -len({*entry.form} & {*own}),
                not is_named,
            )
            entries.append((order, entry))
        if entries:
            break
    else:
        return None
    entries.sort(key=lambda item: item[0])
    fields = ((order, entry, f) for order, entry in entries for f in _fields(graph, [entry], parameter, named))
    best = next(fields, None)
    if best is None or (_lists_at(best[1], own) and _is_new(graph, tool, parameter)):
        return []
    own_collection = _collection(best[1].form)
    equal = [_collection(entry.form) for order, entry in entries if order == best[0]]
    is_sure = all(len({collection, own_collection} & collections) < 2 for collection in equal)  # not two collections
    return [best[2]] if is_sure else []


def _keys(entry: _Listing) -> tuple[str, ...]:
    return (*entry.names, *("".join(_parts(step)) for step in entry.path if isinstance(step, str)))


def _selects(entry: _Listing, phrase: _Words) -> bool:
    """True if an operation takes the identifier of what is looked for: `/films/related?filmId=7`."""
    return not _is_plural("".join(entry.form[-1:])) and any(
        other.location == "query" and _kind(other.name) and other.name[-1] != "s" and _phrase(other) == phrase
        for other in entry.tool.arguments
    )


def _required(tool: Tool) -> list[Parameter]:
    return [parameter for parameter in tool.arguments if parameter.required and parameter.location != "header"]


@lru_cache(maxsize=16)
def _collections(graph: ProtocolGraph) -> frozenset[_Form]:
    """The paths of collections from which path parameters select."""
    forms = [_form(tool.path) for tool in graph.protocol.tools]
    return frozenset(form[:end] for form in forms for end, segment in enumerate(form) if segment == "{}")


def _match(entry: _Listing, phrase: _Words) -> int:
    """How well a list is named: 2 by a phrase, 1 by all but its first word (`parent_film`), 0 by neither."""
    return next((2 - start for start in (0, 1) if "".join(phrase[start:]) in entry.names), 0)


@lru_cache(maxsize=16)
def _listings_at(graph: ProtocolGraph, form: _Form, phrase: _Words) -> list[_Listing]:
    """The lists that the operations at a path are about, those named by a phrase first."""
    entries = [entry for entry in _listings(graph) if not entry.inside and _lists_at(entry, form)]
    by_text = {entry.tool.name for entry in entries if any(p.name.lower() in SEARCHES for p in entry.tool.parameters)}
    return sorted(
        entries, key=lambda entry: (-_match(entry, phrase), entry.tool.name not in by_text, not _searches(entry))
    )


def _lists_at(entry: _Listing, form: _Form) -> bool:
    """True if an operation reads the collection at a path, or searches or lists it right below."""
    is_part = entry.form[:-1] == form and _is_qualified(entry.form) and bool(entry.path)
    return (entry.tool.method == "GET" or _searches(entry)) and (entry.form == form or is_part)


def _searches(entry: _Listing) -> bool:
    return not _SEARCHES.isdisjoint(words("".join(entry.form[-1:])))


# The lists of an API ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def _listings(graph: ProtocolGraph) -> tuple[_Listing, ...]:
    """All lists in the replies of operations that read and take no identifiers of what they list beside their paths.

    An operation without a list counts as one of a single item: a document may show one for all.
    """
    listings: list[_Listing] = []
    for tool in graph.protocol.tools:
        if tool.response_schema is None or (tool.writes and not looks_like_read(tool)):
            continue
        form = _form(tool.path)
        parts = _parts("".join(_collection(form)[-1:]))
        own = "".join([part for part in parts if part not in _SEARCHES] or parts)  # `/find_films`, and `/lists`
        if _is_qualified(form):
            own = "".join(_parts(form[-2]))
        ids = [_parts(p.name) for p in _required(tool) if noun_of(p.name) in _IDENTIFIERS and p.location != "path"]
        if any("".join(id_parts[:-1]) in ("", own) for id_parts in ids):
            continue
        lists = list(_lists_in(graph, tool.response_schema, own))
        outer = [path for path, _, inside in lists if not inside]
        for path, items, inside in lists:
            keys = [_parts(step) for step in path if isinstance(step, str)]
            names = {"".join(key) for key in [key for key in keys if WRAPPERS.isdisjoint(key[:1])][-1:]}
            if own and not inside and (not names or len(outer) == 1):
                names.add(own)
            names |= _types(graph, items)
            listings.append(_Listing(tool, path, items, tuple(names), form, inside))
        if not outer:
            listings.append(_Listing(tool, (), tool.response_schema, (), form, 0))
    return tuple(listings)


@lru_cache(maxsize=16)
def _by_name(graph: ProtocolGraph) -> Mapping[str, Sequence[_Listing]]:
    """All lists by what their objects are called."""
    by_name: dict[str, list[_Listing]] = {}
    for entry in _listings(graph):
        for name in entry.names:
            by_name.setdefault(name, []).append(entry)
    return by_name


def _types(graph: ProtocolGraph, items: Schema) -> set[str]:
    """What the items of a list call themselves: the constants of their key `type`, one for each variant."""
    properties = [part.get("properties") or {} for part in variants(items, graph.protocol)]
    types = [cast("Mapping[str, Schema]", part).get("type", {}) for part in properties]
    constants = [cast("list[object]", part.get("enum") or [part.get("const")]) for part in types]
    return {"".join(_parts(name)) for name, *others in constants if isinstance(name, str) and not others}


def _lists_in(
    graph: ProtocolGraph, schema: Schema, own: str, path: tuple[Step, ...] = (), inside: int = 0
) -> Iterator[tuple[tuple[Step, ...], Schema, int]]:
    """The lists in a schema, at most three keys deep: the path to an item, its schema, and the objects around it."""
    items = items_of(schema, graph.protocol)
    if items is not None:
        yield (*path, 0), items, inside
        schema, path, inside = items, (*path, 0), inside + 1
    properties = properties_of(schema, graph.protocol)
    is_object = items is None and not {"id", "name", "uuid"}.isdisjoint(map(str.lower, properties))
    if path.count(0) < 2 and len(path) - path.count(0) < 3:
        for key, part in properties.items():
            is_reply = own == "".join(_parts(key)) or noun_of(key) in WRAPPERS
            yield from _lists_in(graph, part, own, (*path, key), inside + (is_object and not is_reply))


# The field of an item --------------------------------------------------------------------------------------------


def _fields(
    graph: ProtocolGraph, entries: Iterable[_Listing], parameter: Parameter, phrase: _Words
) -> Iterator[ProvidedField]:
    """The fields of lists' items that a parameter selects them by, where there are such."""
    for entry in entries:
        properties = properties_of(entry.items, graph.protocol)
        field = _field(graph, properties, parameter, phrase)
        if not properties and not entry.inside and _phrase(parameter) in ((), phrase):
            keys = [_parts(step)[-1:] for step in entry.path if isinstance(step, str)]
            is_named = keys[-1:] in ([], [phrase[-1:]])
            field = () if is_named and type_of(entry.items) in ("string", "integer") else None
        if field is None and (inner := properties_of(properties.get("attributes", {}), graph.protocol)):
            field = _field(graph, inner, parameter, phrase)
            field = ("attributes", *field) if field else None
        if field is not None:
            yield ProvidedField(entry.tool.name, (*entry.path, *field), 1.0)


def _field(
    graph: ProtocolGraph, properties: Mapping[str, Schema], parameter: Parameter, phrase: _Words
) -> tuple[str, ...] | None:
    """The key of what a parameter selects an object by, or the keys in an object inside that the parameter names.

    An `id` comes before a key that repeats the noun: that one is often the caller's own.
    """
    scalars = {name: part for name, part in properties.items() if type_of(part) in _SCALARS}
    by_words = {"".join(_parts(name)): name for name in reversed(scalars)}
    kind, noun, whole = _kind(parameter.name), "".join(phrase), "".join(_parts(parameter.name))
    owner = next((key for key in properties if "".join(_parts(key)) == (noun if kind else whole)), "")
    inner = properties_of(properties.get(owner, {}), graph.protocol)
    if kind is not None:
        qualifier = "".join(part for part in _parts(parameter.name)[:-1] if part not in phrase)
        is_own = bool(qualifier) and qualifier not in _by_name(graph)
        keys = (qualifier * is_own + kind, kind, whole, f"{noun}{kind}")
        key = next((by_words[key] for key in keys if key in by_words), None)
        nested = next((name for name in inner if _parts(name) == (kind,)), None)
        return (owner, nested) if nested and key is None else (key,) if key is not None else None
    if inner:
        nested = _named(inner, parameter)
        return (owner, nested) if nested else None
    same = next((same for same in _SAME if {whole, _attribute(parameter)} & same), ())
    wanted = [whole, *sorted(same), *(key for key in by_words if len(key) > 3 and whole.endswith(key))]
    key = next((by_words[key] for key in wanted if key in by_words), None) or _named(scalars, parameter)
    return (key,) if key else None


def _named(properties: Mapping[str, Schema], parameter: Parameter) -> str | None:
    """What selects an object where the argument is only called after it: its id of the same type, else its name."""
    by_name = {name.lower(): name for name in properties}
    types, ids = {*json_types(parameter.schema)}, [key for key in _IDS if key in by_name]
    is_of_type = not types or "array" in types or any(types & {*json_types(properties[by_name[key]])} for key in ids)
    described = [key for word in _KIND.findall(_text(parameter)) for key in (ids if word == "id" else [word])]
    return next((by_name[key] for key in [*described, *(ids * is_of_type), *_NAMES] if key in by_name), None)


def _attribute(parameter: Parameter) -> str:
    """What kind of identifier an argument is, by its name or else its description; empty where they say none."""
    return _kind(parameter.name) or next(iter(_KIND.findall(_text(parameter))), "")


# Names and paths -------------------------------------------------------------------------------------------------


def _text(parameter: Parameter) -> str:
    """What is written about a parameter, without the addresses of links."""
    return _LINK.sub("", f"{parameter.description} {parameter.schema.get('description', '')}".lower())


@lru_cache(maxsize=8192)
def _parts(name: str) -> _Words:
    """The words of a name in the singular."""
    return tuple(singular(part) for part in words(name))


def _is_qualified(form: _Form) -> bool:
    """True if a path selects from a collection by a word: `/films/latest` are films."""
    return _is_plural("".join(form[-2:-1])) and not _is_plural(form[-1]) and form[-1] != "{}"


def _is_plural(segment: str) -> bool:
    """True for `films`."""
    return _parts(segment) != tuple(words(segment))


@lru_cache(maxsize=8192)
def _kind(name: str) -> str | None:
    """The identifier word at the end of a name; None without one."""
    return next((part for part in _parts(name)[-1:] if part in _IDENTIFIERS), None)


def _phrase(parameter: Parameter) -> _Words:
    """The words of an argument's name before its identifier word: master, tsig and key of `master_tsig_key_ids`."""
    parts = _parts(parameter.name)
    if parts in (("username",), ("login",)):
        return _USER
    return parts[:-1] if _kind(parameter.name) else parts


@lru_cache(maxsize=4096)
def _form(path: str) -> _Form:
    """The segments of a path, whatever its parameters are called, without the form of the reply: `/topics.json`."""
    segments = [_SUFFIX.sub("", segment) for segment in path.strip("/").split("/")]
    return tuple("{}" if segment.startswith("{") else segment for segment in segments)


def _head(path: str, parameter: Parameter) -> _Form:
    """The path before a parameter and those right before it; empty where one of these names the objects already."""
    segments = [_SUFFIX.sub("", segment) for segment in path.strip("/").split("/")]
    end = next((n for n, segment in enumerate(segments) if segment == f"{{{parameter.name}}}"), 0)
    while end and segments[end - 1].startswith("{"):
        end -= 1
        before, noun = _parts(segments[end]), _parts(segments[end - 1])
        if before == noun:
            return ()
    return _form("/".join(segments[:end])) if end else ()


def _collection(form: _Form) -> _Form:
    """The path of the collection that an operation lists: without a search below it."""
    end = len(form)
    while end and form[end - 1] != "{}" and _SEARCHES.issuperset(words(form[end - 1])):
        end -= 1
    return form[:end] if end and form[end - 1] != "{}" else ()
