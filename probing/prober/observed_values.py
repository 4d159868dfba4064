"""Values that replies held, by the name of the field and by the list that they came from.

An argument takes a value of the list above it (`/terminals/{terminal_id}` one of `/terminals`), or of a field that is
called like it (`path`), even where neither is called an identifier.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice, zip_longest
from urllib.parse import unquote, urlsplit

from probing.prober.identifiers import is_value, noun_of_path
from protocols.dataflow.identifiers import attribute_of
from protocols.model import Parameter, Protocol, Tool
from protocols.schema_fields import resolve, type_of
from protocols.text.words import WRAPPERS, is_identifier, noun_of, singular, words

__all__ = ["SeenValues"]

_ITEMS = 12
"""Items of a list that are looked at."""
_KEYS = 12
"""Keys of an object that may be names of things."""
_FIRST = 2
"""Values of the list above an argument that are tried before those of fields and addresses."""
_DEEPEST = 5
_LONGEST = 300
_CALLED = ("id", "uuid", "key", "slug", "name", "path", "code", "number", "title", "label")
"""Keys of an item by which it may be called, the surest first."""
_PARAMETER = re.compile(r"\{([^{}]+)\}")
_PLACE = re.compile(r"(?:[^\s/:?#]+/)+[^\s/:?#]+\.\w+")
"""A path in a tree, to a file with an ending."""
_MOST_PLACES = 24
_PLACES = frozenset({"directory", "dir", "file", "folder", "path", "prefix"})
"""Last words of arguments that name a place in a tree, whose top is `/`."""


class SeenValues:
    """Values that were seen; `add` remembers a reply, `candidates` are values for an argument."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._fields: dict[tuple[str, ...], dict[object, None]] = {}
        self._links: dict[str, dict[str, None]] = {}
        self._places: dict[str, Mapping[str, object]] = {}
        self._linked = [(tool.name, _link_pattern(tool)) for tool in protocol.tools if _PARAMETER.search(tool.path)]
        self._replies: dict[str, list[tuple[Mapping[str, object], object]]] = {}

    def add(self, tool: Tool, given: Mapping[str, object], body: object) -> None:
        """Remember what a good reply held."""
        if not tool.writes:
            self._replies.setdefault(_template(tool.path), []).append((given, body))
        self._remember(body, 0, given)

    def _remember(self, value: object, depth: int, given: Mapping[str, object]) -> None:
        if depth > _DEEPEST:
            return
        if isinstance(value, Mapping):
            for key, part in value.items():
                self._follow(part)
                self._note_place(key, given)
                self._note_place(part, given)
                if _usable(part):
                    self._fields.setdefault(words(str(key)), {})[part] = None
                else:
                    self._remember(part, depth + 1, given)
        elif isinstance(value, list):
            for part in value[:_ITEMS]:
                self._follow(part)
                self._note_place(part, given)
                self._remember(part, depth + 1, given)

    def _follow(self, value: object) -> None:
        """Remember the addresses of operations that a reply names: what stands in their place is a value for it."""
        if not isinstance(value, str) or "/" not in value or len(value) > _LONGEST:
            return
        path = urlsplit(value).path
        for name, pattern in self._linked:
            if (found := pattern.search(path)) is not None and len(self._links.setdefault(name, {})) < _KEYS:
                self._links[name][json.dumps([unquote(text) for text in found.groups()])] = None

    def _note_place(self, value: object, given: Mapping[str, object]) -> None:
        """Remember what may be the path of a file, of what is a key or a value."""
        if not isinstance(value, str) or len(value) > _LONGEST or len(self._places) >= _MOST_PLACES:
            return
        if _PLACE.fullmatch(value):
            self._places.setdefault(value, given)

    def linked(self, tool: Tool) -> Iterator[dict[str, object]]:
        """The path arguments of a tool as addresses in replies have them."""
        names = _PARAMETER.findall(tool.path)
        parameters = {one.name: one for one in tool.parameters if one.location == "path"}
        for text in self._links.get(tool.name, {}):
            call: dict[str, object] = {}
            for name, value in zip(names, json.loads(text), strict=True):
                parameter = parameters[name]
                kind = type_of(resolve(parameter.schema, self._protocol))
                if kind in ("", "string"):
                    call[parameter.argument] = value
                elif kind in ("integer", "number") and value.isdigit():
                    call[parameter.argument] = int(value)
            if len(call) == len(parameters):
                yield call

    def calls(self, tool: Tool, arguments: list[Parameter]) -> Iterator[dict[str, object]]:
        """Values for several arguments of a tool together, the likeliest first; none where one has no candidate."""
        paths = [one for one in arguments if one.location == "path"]
        paths.sort(key=lambda one: tool.path.find(f"{{{one.name}}}"))
        given: set[str] = set()
        for addressed in self.linked(tool) if paths else ():
            others = [one for one in arguments if one.location != "path"]
            beside: dict[str, object] = {one.argument: next(self._called(one), None) for one in others}
            whole = {**addressed, **beside}
            if None not in beside.values() and repr(whole) not in given:
                given.add(repr(whole))
                yield whole
        if paths:
            for above, value in self._listed(tool, paths[-1]):
                filled = {one.argument: above[one.name] for one in paths[:-1] if one.name in above}
                if len(filled) == len(paths) - 1 and (rest := self._rest(arguments, paths)) is not None:
                    call = {**filled, paths[-1].argument: value, **rest}
                    if repr(call) not in given:
                        given.add(repr(call))
                        yield call
        for call in self._placed(arguments, paths):
            if repr(call) not in given:
                given.add(repr(call))
                yield call
        each = [list(islice(self.candidates(tool, one), _KEYS)) for one in arguments]
        if any(each):
            each = [values or self._bound(one) for one, values in zip(arguments, each, strict=True)]
        for place in range(max(map(len, each), default=0) if all(each) else 0):
            call = {
                one.argument: values[min(place, len(values) - 1)] for one, values in zip(arguments, each, strict=True)
            }
            if repr(call) not in given:
                given.add(repr(call))
                yield call

    def _placed(self, arguments: list[Parameter], paths: list[Parameter]) -> Iterator[dict[str, object]]:
        """Paths in a tree that replies held (`linux/tool-1.0.zip`), each with what that reply was asked with."""
        for one in paths:
            for place, asked in self._places.items() if self.top(one) is not None else ():
                others = [other.argument for other in arguments if other is not one]
                if all(name in asked for name in others):
                    yield {one.argument: place, **{name: asked[name] for name in others}}

    def _rest(self, arguments: list[Parameter], paths: list[Parameter]) -> dict[str, object] | None:
        rest = {one.argument: next(self._called(one), None) for one in arguments if one not in paths}
        return None if None in rest.values() else rest

    def candidates(self, tool: Tool, parameter: Parameter) -> Iterator[object]:
        """Values for one argument: of the list above it, then of fields that are called like it.

        Where arguments are numbered (`handle1`, `handle2`) each takes another value of the same things.
        """
        name, number = _numbered(parameter)
        if number and any(one != parameter and _numbered(one)[0] == name for one in tool.parameters):
            first = next(one for one in tool.parameters if _numbered(one)[0] == name)
            yield from islice(self._candidates(tool, replace(first, name=name), first.name), number - 1, None)
        else:
            yield from self._candidates(tool, parameter, parameter.name)

    def _candidates(self, tool: Tool, parameter: Parameter, place: str) -> Iterator[object]:
        in_path = parameter.location == "path"
        listed = [value for _, value in self._listed(tool, parameter, place)] if in_path else []
        yield from listed[:_FIRST]
        yield from self._called(parameter)
        yield from listed[_FIRST:]
        if in_path and not listed and _anonymous(_above(tool, place)) not in map(_anonymous, self._replies):
            yield from self._of_any_kind(tool, parameter)

    def _of_any_kind(self, tool: Tool, parameter: Parameter) -> Iterator[object]:
        """Identifiers of the things of each list, where nothing says of which kind one is (`/living/{handle}`).

        The kinds that the tool's own words name come first, and of each kind the first things.
        """
        if len(words(parameter.name)) != 1 or not is_identifier(parameter.name):
            return
        spoken = {noun_of(word) for word in words(f"{tool.summary or ''} {tool.description or ''}")}
        kinds: dict[str, list[object]] = {}
        for template, replies in self._replies.items():
            if "{" in template:
                continue
            for _, body in replies:
                values = (item.get(parameter.name) for item in _items(body, "") if isinstance(item, Mapping))
                kinds.setdefault(noun_of_path(template), []).extend(one for one in values if self._fits(one, parameter))
        for noun in sorted(kinds, key=lambda noun: noun not in spoken):
            yield from islice(dict.fromkeys(kinds[noun]), _FIRST)

    def _bound(self, parameter: Parameter) -> list[object]:
        """A number that nothing names: the least, and the second of two bounds (`x1`, `x2`) is above the first."""
        schema = resolve(parameter.schema, self._protocol)
        least = schema.get("minimum")
        if type_of(schema) not in ("integer", "number") or is_identifier(parameter.name):
            return []
        return [max(_numbered(parameter)[1] or 1, least if isinstance(least, int) else 1)]

    def _called(self, parameter: Parameter) -> Iterator[object]:
        parts = words(parameter.name)
        if len(parts) == 1 and is_identifier(parameter.name):
            return  # everything has an `id`: of another thing it is of no use
        yield from self._elsewhere(parameter)
        for name in (parts, tuple(singular(part) for part in parts)):
            yield from (value for value in self._fields.get(name, {}) if self._fits(value, parameter))

    def _elsewhere(self, parameter: Parameter) -> Iterator[object]:
        """What addresses of other operations have in the place of an argument of that name: one of each."""
        for tool, _ in self._linked:
            names = _PARAMETER.findall(self._protocol.tool(tool).path)
            for text in list(self._links.get(tool, {}))[:1] if parameter.name in names else ():
                value = json.loads(text)[names.index(parameter.name)]
                if self._fits(value, parameter):
                    yield value

    def top(self, parameter: Parameter) -> str | None:
        """The top of a tree, for an argument that names a place in one."""
        text = type_of(resolve(parameter.schema, self._protocol)) in ("string", "")
        return "/" if text and _PLACES.intersection(words(parameter.name)[-1:]) else None

    def _listed(
        self, tool: Tool, parameter: Parameter, place: str = ""
    ) -> Iterator[tuple[Mapping[str, object], object]]:
        """What the list above a part of a path holds, each with what that list was asked with."""
        above = _above(tool, place or parameter.name)
        names = {name: position for position, name in enumerate(_PARAMETER.findall(tool.path))}
        for template, replies in self._replies.items():
            if _anonymous(template) != _anonymous(above):
                continue
            own = _PARAMETER.findall(template)
            for given, body in replies:
                renamed = {name: given[own[place]] for name, place in names.items()
                           if place < len(own) and own[place] in given}  # fmt: skip
                for item in _items(body, noun_of(above.rpartition("/")[2])):
                    for value in _names_of(item, parameter):
                        if self._fits(value, parameter):
                            yield renamed, value

    def _fits(self, value: object, parameter: Parameter) -> bool:
        schema = resolve(parameter.schema, self._protocol)
        kinds = schema.get("type")
        told = kinds if isinstance(kinds, list) else [kinds] if kinds else []
        if not told or "string" in told:
            return _usable(value) and not ({"object", "array"} & set(told))
        return isinstance(value, int) and not isinstance(value, bool) and bool({"integer", "number"} & set(told))


def _link_pattern(tool: Tool) -> re.Pattern[str]:
    """Finds the path of a tool at the end of an address; its last variable may hold slashes."""
    parts = _PARAMETER.split(tool.path)
    last = len(parts) // 2 - 1
    text = ""
    for place, part in enumerate(parts):
        variable = place // 2
        text += re.escape(part) if place % 2 == 0 else "(.+)" if variable == last else "([^/]+)"
    return re.compile(f"{text}$")


def _numbered(parameter: Parameter) -> tuple[str, int]:
    """The name of an argument without the number at its end, and that number; 0 where there is none."""
    text = parameter.name.rstrip("0123456789")
    return (text.rstrip("_-"), int(parameter.name[len(text) :])) if text != parameter.name else (parameter.name, 0)


def _above(tool: Tool, place: str) -> str:
    """The path of the list that a part of a path is taken from."""
    return _template(tool.path.partition(f"{{{place}}}")[0])


def _template(path: str) -> str:
    return path.rstrip("/")


def _anonymous(path: str) -> str:
    return _PARAMETER.sub("{}", path)


def _usable(value: object) -> bool:
    return is_value(value) and not (isinstance(value, str) and (len(value) > _LONGEST or "\n" in value))


def _items(body: object, noun: str, depth: int = 0) -> Iterator[object]:
    """The things that a reply lists: items of its lists, or the names that are the keys of an object."""
    if isinstance(body, list):
        yield from body[:_ITEMS]
    elif isinstance(body, Mapping) and depth < 3:
        lists = [part for part in body.values() if isinstance(part, list) and part]
        if len(body) > 1 and all(isinstance(part, list) for part in body.values()):
            yield from list(map(str, body))[:_KEYS]  # a list for each kind: the kinds are what is asked for
        lists.sort(key=len, reverse=True)
        for row in zip_longest(*(items[:_ITEMS] for items in lists), fillvalue=None):
            yield from (item for item in row if item is not None)
        maps = {str(key): part for key, part in body.items() if isinstance(part, Mapping)}
        for key, part in maps.items():
            if noun_of(key) in WRAPPERS | {noun}:
                yield from _items(part, noun, depth + 1)
        if maps and len(maps) == len(body):
            yield from list(maps)[:_KEYS]
        elif depth == 0 and not lists and not maps:  # settings by their names
            yield from list(map(str, body))[:_KEYS]


def _names_of(item: object, parameter: Parameter) -> Iterator[object]:
    """By what an item of a list may be called, the surest first."""
    if _usable(item):
        yield item
    if not isinstance(item, Mapping):
        return
    last = attribute_of(parameter.name) or singular((words(parameter.name) or ("",))[-1])
    keys = [parameter.name, last, *_CALLED]
    folded = {words(str(key)): part for key, part in item.items()}
    for key in dict.fromkeys(keys):
        value = folded.get(words(key))
        if _usable(value):
            yield value
            return
