"""Values in responses, by field name and by list.

An argument takes a value of the list above it (`/terminals/{terminal_id}` one of `/terminals`), or of a field with its
name (`path`), even if neither is an identifier by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice, zip_longest

from probing.prober.identifiers import is_value, noun_of_path
from probing.prober.replies import is_envelope, is_envelope_key
from protocols.model import Parameter, Protocol, Tool
from protocols.schema_fields import items_of, resolve, type_of
from protocols.text.words import (
    WRAPPERS,
    attribute_of,
    is_identifier,
    noun_of,
    noun_of_identifier,
    singular,
    words,
)

__all__ = ["ObservedValues"]

_MAX_ITEMS = 12
"""Items read of each list."""
_MAX_KEYS = 12
"""Keys of an object read as names."""
_FIRST_VALUES = 2
"""Values of the list above an argument that precede those of fields."""
_MAX_DEPTH = 5
_MAX_CHARS = 300
_NAME_KEYS = ("id", "uuid", "key", "slug", "name", "path", "code", "number", "title", "label")
"""Keys that may identify an item, the surest first."""
_PARAMETER = re.compile(r"\{([^{}]+)\}")
_LOOKUPS = frozenset(
    {"after", "before", "contains", "endswith", "eq", "exact", "from", "gt", "gte", "icontains", "iendswith", "iexact"}
    | {"ilike", "in", "iregex", "is", "isnull", "istartswith", "like", "lt", "lte", "max", "min", "ne", "neq", "nin"}
    | {"not", "null", "range", "regex", "since", "starts", "startswith", "to", "until", "with", "ends"}
)
"""Last words of a filter's name that say how its value is compared: `code__iexact`, `id_in`, `title[like]`."""
_FILTERS = frozenset({"filter", "filters", "where"})
_ANY_ENTITY = frozenset({"guid", "id", "ids", "identifier", "uuid"})
"""Names of identifiers that say nothing of their entity."""
_CURSORS = frozenset({"cursor", "marker", "token"})
"""Words of keys of an envelope whose values the next request takes."""


class ObservedValues:
    """Observed values: `add` stores a response, `candidates` are values for an argument.

    A caller tries each value before it takes the next one, and a reply adds others: each loop that yields goes over a
    copy.
    """

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._fields: dict[tuple[str, ...], dict[object, None]] = {}
        self._replies: dict[str, list[tuple[Mapping[str, object], object]]] = {}

    def add(self, tool: Tool, arguments: Mapping[str, object], body: object) -> None:
        """Store a successful response."""
        if not tool.writes:
            self._replies.setdefault(_template(tool.path), []).append((arguments, body))
        self._remember(body, 0)

    def _remember(self, value: object, depth: int) -> None:
        if depth > _MAX_DEPTH:
            return
        if isinstance(value, Mapping):
            envelope = is_envelope(value)
            for key, part in value.items():
                if _is_usable(part):
                    if envelope and _CURSORS.isdisjoint(words(str(key))):
                        continue
                    self._fields.setdefault(words(str(key)), {})[part] = None
                else:
                    self._remember(part, depth + 1)
        elif isinstance(value, list):
            for part in value[:_MAX_ITEMS]:
                self._remember(part, depth + 1)

    def calls(self, tool: Tool, arguments: list[Parameter]) -> Iterator[dict[str, object]]:
        """Values for several arguments together, the likeliest first; none if an argument has no candidate."""
        yielded: set[str] = set()
        for call in self._calls(tool, arguments):
            if repr(call) not in yielded:
                yielded.add(repr(call))
                yield call

    def _calls(self, tool: Tool, arguments: list[Parameter]) -> Iterator[dict[str, object]]:
        paths = [param for param in arguments if param.location == "path"]
        paths.sort(key=lambda param: tool.path.find(f"{{{param.name}}}"))
        if paths:
            for above, value in self._listed_values(tool, paths[-1]):
                filled = {param.argument: above[param.name] for param in paths[:-1] if param.name in above}
                if len(filled) == len(paths) - 1 and (rest := self._first_values(arguments, paths)) is not None:
                    yield {**filled, paths[-1].argument: value, **rest}
        choices = [list(islice(self.candidates(tool, param), _MAX_KEYS)) for param in arguments]
        names = [param.argument for param in arguments]
        for position in range(max(map(len, choices), default=0) if all(choices) else 0):
            yield dict(zip(names, (values[min(position, len(values) - 1)] for values in choices), strict=True))

    def _first_values(self, arguments: list[Parameter], paths: list[Parameter]) -> dict[str, object] | None:
        """The first value of each argument outside the path; None if one has none."""
        outside = [param for param in arguments if param not in paths]
        values = {param.argument: next(self._values_by_name(param), None) for param in outside}
        return None if None in values.values() else values

    def candidates(self, tool: Tool, parameter: Parameter) -> Iterator[object]:
        """Values for one argument: of the list above it, then of fields with its name. A list gets one item."""
        schema = resolve(parameter.schema, self._protocol)
        if type_of(schema) == "array" and (items := items_of(schema, self._protocol)) is not None:
            yield from ([value] for value in self.candidates(tool, replace(parameter, schema=items)))
            return
        in_path = parameter.location == "path"
        listed = [value for _, value in self._listed_values(tool, parameter)] if in_path else []
        yield from listed[:_FIRST_VALUES]
        yield from self._values_by_name(parameter)
        yield from listed[_FIRST_VALUES:]
        if not in_path:
            yield from self._of_entity(tool, parameter)

    def _of_entity(self, tool: Tool, parameter: Parameter) -> list[object]:
        """Identifiers in the lists of the entity that an argument names (`project`), or of the tool's own (`id_in`)."""
        parts = _field_words(parameter.name)
        name = "_".join(parts)
        noun = (noun_of_identifier(name) or noun_of_path(tool.path)) if is_identifier(name) else noun_of(name)
        lists = [replies for template, replies in self._replies.items() if noun_of_path(template) == noun]
        items = [item for replies in lists for _, body in replies for item in _list_items(body, noun)]
        wanted = replace(parameter, name=attribute_of(name) or "id")
        values = [value for item in items if isinstance(item, Mapping) for value in _item_names(item, wanted)]
        if not lists and is_identifier(name) and parts[-1] not in _ANY_ENTITY:
            values = list(self._fields.get(parts, {}))  # a `slug` says more than an `id`
        return [value for value in dict.fromkeys(values) if self._fits(value, parameter)]

    def _values_by_name(self, parameter: Parameter) -> Iterator[object]:
        parts = words(parameter.name)
        field = _field_words(parameter.name)
        if len(field) == 1 and is_identifier(field[0]):
            return  # an `id` of another entity is useless
        for name in dict.fromkeys((parts, tuple(singular(part) for part in parts), field)):
            yield from [value for value in self._fields.get(name, {}) if self._fits(value, parameter)]

    def _listed_values(self, tool: Tool, parameter: Parameter) -> Iterator[tuple[Mapping[str, object], object]]:
        """The values in the list above a path argument, each with the arguments of that list."""
        above = _template(tool.path.partition(f"{{{parameter.name}}}")[0])
        names = {name: position for position, name in enumerate(_PARAMETER.findall(tool.path))}
        for template, replies in list(self._replies.items()):
            if _anonymous(template) != _anonymous(above):
                continue
            own = _PARAMETER.findall(template)
            for arguments, body in list(replies):
                places = {name: own[position] for name, position in names.items() if position < len(own)}
                renamed = {name: arguments[place] for name, place in places.items() if place in arguments}
                for item in _list_items(body, noun_of(above.rpartition("/")[2])):
                    for value in _item_names(item, parameter):
                        if self._fits(value, parameter):
                            yield renamed, value

    def _fits(self, value: object, parameter: Parameter) -> bool:
        schema = resolve(parameter.schema, self._protocol)
        declared = schema.get("type")
        types = declared if isinstance(declared, list) else [declared] if declared else []
        if not types or "string" in types:
            return _is_usable(value) and not ({"object", "array"} & set(types))
        return isinstance(value, int) and not isinstance(value, bool) and bool({"integer", "number"} & set(types))


def _field_words(name: str) -> tuple[str, ...]:
    """The words of the field that a filter compares: code of `code__iexact` and `filter[code][like]`."""
    parts = words(name)
    while len(parts) > 1 and parts[-1] in _LOOKUPS:
        parts = parts[:-1]
    return parts[1:] if len(parts) > 1 and parts[0] in _FILTERS else parts


def _template(path: str) -> str:
    return path.rstrip("/")


def _anonymous(path: str) -> str:
    return _PARAMETER.sub("{}", path)


def _is_usable(value: object) -> bool:
    return is_value(value) and not (isinstance(value, str) and (len(value) > _MAX_CHARS or "\n" in value))


def _list_items(body: object, noun: str, depth: int = 0) -> Iterator[object]:
    """The items of a response: those of its lists, or the keys of an object that maps names."""
    if isinstance(body, list):
        yield from body[:_MAX_ITEMS]
    elif isinstance(body, Mapping) and depth < 3:
        lists = [part for part in body.values() if isinstance(part, list) and part]
        keys = [key for key in map(str, body) if not is_envelope_key(key)]
        if len(body) > 1 and all(isinstance(part, list) for part in body.values()):
            yield from keys[:_MAX_KEYS]  # a list for each kind: the kinds are the items
        lists.sort(key=len, reverse=True)
        for row in zip_longest(*(items[:_MAX_ITEMS] for items in lists), fillvalue=None):
            yield from (item for item in row if item is not None)
        maps = {str(key): part for key, part in body.items() if isinstance(part, Mapping)}
        for key, part in maps.items():
            if noun_of(key) in WRAPPERS | {noun}:
                yield from _list_items(part, noun, depth + 1)
        if maps and len(maps) == len(body):
            yield from keys[:_MAX_KEYS]
        elif depth == 0 and not lists and not maps and not is_envelope(body):  # a map of settings
            yield from list(map(str, body))[:_MAX_KEYS]


def _item_names(item: object, parameter: Parameter) -> Iterator[object]:
    """The values that may identify an item of a list, the surest first."""
    if _is_usable(item):
        yield item
    if not isinstance(item, Mapping):
        return
    last = attribute_of(parameter.name) or singular((words(parameter.name) or ("",))[-1])
    keys = [parameter.name, last, *_NAME_KEYS]
    folded = {words(str(key)): part for key, part in item.items()}
    for key in dict.fromkeys(keys):
        value = folded.get(words(key))
        if _is_usable(value):
            yield value
            return
