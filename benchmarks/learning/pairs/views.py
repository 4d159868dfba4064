"""What an API can be asked about: the lists in its responses, the objects behind identifiers, and their fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from benchmarks.learning.pairs.wording import is_person
from protocols.dataflow.graph import ProtocolGraph, ProvidedField
from protocols.dataflow.operations import is_current, is_own, looks_like_read
from protocols.json_path import Step
from protocols.model import Protocol, Schema, Tool
from protocols.schema_fields import fields, items_of, properties_of, type_of
from protocols.text.word_lists import NAMES
from protocols.text.words import SEARCHES, WRAPPERS, is_identifier, noun_of, words

__all__ = ["APIViews", "FieldView", "ListView"]

_TITLES = (("name",), ("title",), ("display", "name"), ("full", "name"), ("label",), ("subject",))
_NOISE = NAMES["noise"] | {"etag", "token", "hash", "cursor"}
_ALIKE = 0.4
"""Share of fields that two lists of a response have in common, if they hold the same kind of object."""
_MAX_DEPTH = 2
_Identifiers: TypeAlias = dict[tuple[str, tuple[Step, ...]], tuple[str, dict[str, str]]]
_PAGES = frozenset({"page", "pages", "offset", "cursor", "next", "total", "count"})


@dataclass(frozen=True, slots=True)
class FieldView:
    """A scalar field of an object: its name, JSON type, and whether it holds a date."""

    name: str
    kind: str
    is_date: bool = False


@dataclass(frozen=True, slots=True)
class ListView:
    """A list of objects at a path of a tool's response, or with an empty `items` the object itself.

    `noun` is what an item is called; `entity` the noun of the identifier under `id_key`, empty where no tool takes it.
    `id_keys` are those of all its identifiers, by attribute. `title` is the field that names an item; empty without
    one. `paged`: the response says that there is more.
    """

    tool: str
    path: tuple[Step, ...]
    noun: str
    fields: Mapping[str, FieldView] = field(compare=False)
    title: str = ""
    entity: str = ""
    id_key: str = ""
    paged: bool = False
    total: str = ""
    single: bool = False
    id_keys: Mapping[str, str] = field(default_factory=dict, compare=False)

    def key_for(self, attribute: str) -> str:
        """The key of an identifier by its attribute: of the `uri`, where there is one, or of the only one."""
        return self.id_keys.get(attribute, self.id_key)

    @property
    def key(self) -> str:
        """The key of the list, empty where it only wraps the content or is the response itself."""
        last = str(self.path[-1]) if self.path else ""
        return "" if noun_of(last) in WRAPPERS or not last else last

    @property
    def item(self) -> str:
        """A name for an item, other than that of the list."""
        key = "_".join(words(self.key))
        name = "_".join(words(self.noun)[-2:])
        return name if name and name != key else "person" if is_person(name) else "entry"

    def of_kind(self, *kinds: str) -> list[FieldView]:
        """The fields of some JSON types that a question can ask for, without dates and the title."""
        return [f for f in self.fields.values() if f.kind in kinds and not f.is_date and f.name != self.title]

    @property
    def dates(self) -> list[FieldView]:
        """The fields with dates."""
        return [f for f in self.fields.values() if f.is_date]


class APIViews:
    """The lists and objects in the responses of a protocol's reading tools."""

    def __init__(self, graph: ProtocolGraph) -> None:
        self.graph = graph
        self.protocol: Protocol = graph.protocol
        self.reads = [tool for tool in self.protocol.tools if not tool.writes or looks_like_read(tool)]
        self.lists: dict[tuple[str, tuple[Step, ...]], ListView] = {}
        identifiers = self._identifiers()
        for tool in self.reads:
            for view in self._views(tool, identifiers):
                self.lists[view.tool, view.path] = view

    def of_tool(self, tool: str) -> list[ListView]:
        """The lists in the response of a tool."""
        return [view for view in self.lists.values() if view.tool == tool and not view.single]

    def object_of(self, tool: str) -> ListView | None:
        """The object that a tool returns; None where it returns a list, or nothing to ask for."""
        return next((view for view in self.lists.values() if view.tool == tool and view.single and not view.path), None)

    @cached_property
    def sources(self) -> Mapping[str, tuple[ListView, ...]]:
        """By entity, the lists and objects that hold its identifier."""
        by_entity: dict[str, list[ListView]] = {}
        for view in self.lists.values():
            if view.entity:
                by_entity.setdefault(view.entity, []).append(view)
        return {entity: tuple(views) for entity, views in by_entity.items()}

    @cached_property
    def takers(self) -> Mapping[str, tuple[Tool, ...]]:
        """By entity, the reading tools that take its identifier as their last required one."""
        by_entity: dict[str, list[Tool]] = {}
        for tool in self.reads:
            references = [self.graph.reference(tool.name, p.argument) for p in tool.arguments if p.required]
            nouns = [reference.noun for reference in references if reference is not None]
            if nouns:
                by_entity.setdefault(nouns[-1], []).append(tool)
        return {entity: tuple(tools) for entity, tools in by_entity.items()}

    def _identifiers(self) -> _Identifiers:
        """By tool and path of an object, the noun and by attribute the keys of its identifiers."""
        nouns: _Identifiers = {}
        for tool in self.protocol.tools:
            for parameter in tool.arguments:
                reference = self.graph.reference(tool.name, parameter.argument)
                if reference is None:
                    continue
                for source in self.graph.providers(tool.name, parameter.argument):
                    if is_plain(source):
                        noun, keys = nouns.setdefault((source.tool, source.path[:-1]), (reference.noun, {}))
                        if noun == reference.noun:
                            keys.setdefault(reference.attribute, str(source.path[-1]))
        return nouns

    def _views(self, tool: Tool, identifiers: _Identifiers) -> list[ListView]:
        schema = tool.response_schema
        if schema is None:
            return []
        views = []
        nouns = {path: noun_and_keys for (name, path), noun_and_keys in identifiers.items() if name == tool.name}
        for path, properties, is_list in self._objects(schema):
            if not is_list and path and noun_of(str(path[0])) in WRAPPERS and is_own(tool) and not is_current(tool):
                continue  # the object of some state, which has no name
            whole = (*path, 0) if is_list else path
            entity, id_keys = nouns.get(whole, ("", {}))
            view = self._view(tool, path, properties, is_list, entity, id_keys)
            if view is not None:
                views.append(view)
        return self._with_siblings(views)

    def _with_siblings(self, views: list[ListView]) -> list[ListView]:
        """The views, each list like one with a known entity taken for one of that, too."""
        completed = []
        for view in views:
            for sibling in views:
                shared = view.fields.keys() & sibling.fields.keys()
                alike = len(shared) / max(len(view.fields.keys() | sibling.fields.keys()), 1)
                if not view.entity and sibling.entity and not view.single and not sibling.single and alike >= _ALIKE:
                    view = replace(
                        view, noun=sibling.noun, entity=sibling.entity, id_key=sibling.id_key, id_keys=sibling.id_keys
                    )
            completed.append(view)
        return completed

    def _objects(self, schema: Schema) -> Iterator[tuple[tuple[Step, ...], Mapping[str, Schema], bool]]:
        """The path and properties of the response, and of each object or list of objects in it that is in no list."""
        items = items_of(schema, self.protocol)
        if items is not None:
            yield (), properties_of(items, self.protocol), True
            return
        yield (), properties_of(schema, self.protocol), False
        for found_field in fields(schema, self.protocol, _MAX_DEPTH):
            path = found_field.path
            if 0 in path or found_field.expanded:
                continue
            items = items_of(found_field.schema, self.protocol)
            properties = properties_of(items if items is not None else found_field.schema, self.protocol)
            if properties and words(found_field.name)[-1:] not in (("by",), ("for",), ("of",)):
                yield path, properties, items is not None

    def _view(
        self,
        tool: Tool,
        path: tuple[Step, ...],
        properties: Mapping[str, Schema],
        is_list: bool,
        entity: str,
        id_keys: Mapping[str, str],
    ) -> ListView | None:
        telling = {name: _field_view(name, schema) for name, schema in properties.items() if _is_telling(name, schema)}
        schema = tool.response_schema
        beside = properties_of(schema, self.protocol) if schema is not None else {}
        lists = [name for name, inner in beside.items() if items_of(inner, self.protocol) is not None]
        if not path and not is_list and any(words(name)[1:] == () and noun_of(name) in WRAPPERS for name in lists):
            return None  # a page of a list
        if not telling or (not is_list and path and not entity):
            return None
        title = next((name for last in _TITLES for name in telling if words(name) == last), "")
        paging = [name for name in beside if not _PAGES.isdisjoint(words(name))] if is_list and path else []
        total = next((name for name in paging if words(name) in (("total", "results"), ("total",), ("count",))), "")
        whole = (*path, 0) if is_list else path
        noun = entity or self.graph.object_noun(tool.name, whole, properties)
        id_key = next(iter(id_keys.values()), "")
        return ListView(
            tool.name, path, noun, telling, title, entity, id_key, bool(paging), total, not is_list, id_keys
        )


def is_plain(source: ProvidedField) -> bool:
    """True if a field lies in the body, in an object or in the items of one list, under a key of its own."""
    return not source.header and not source.link and source.path.count(0) <= 1 and isinstance(source.path[-1], str)


def is_search(tool: Tool) -> bool:
    """True if a tool requires a search text."""
    return any(p.required and p.argument.lower() in SEARCHES for p in tool.arguments)


def _is_telling(name: str, schema: Schema) -> bool:
    """True if a question may ask for a field."""
    parts = words(name)
    plain = type_of(schema) in ("string", "integer", "number", "boolean")
    is_word = bool(parts) and parts[-1] != "type" and all(len(part) > 1 or part.isdigit() for part in parts)
    return plain and is_word and not is_identifier(name) and _NOISE.isdisjoint(parts) and "iso" not in parts


def _field_view(name: str, schema: Schema) -> FieldView:
    kind = type_of(schema)
    stamped = schema.get("format") in ("date", "date-time")
    is_date = kind == "string" and (stamped or not {"date", "birthday", "deathday"}.isdisjoint(words(name)[-1:]))
    return FieldView(name, kind, is_date or (kind == "string" and words(name)[-1:] == ("at",)))
