"""A world file: facts about the entities behind an API that its document cannot say.

Its form is `world.schema.json`. `analyze_api` compares it with the protocol. A message says file, line and key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, cast

from protocols.bounded_files import read_bounded
from protocols.errors import UsageError
from protocols.model import Protocol, Tool
from protocols.settings_yaml import SettingsLoader, parse_settings

__all__ = ["NO_WORLD", "EntitySpec", "NumberRange", "QueryBinding", "WorldFile", "WriteEffect", "read_world"]

_Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NumberRange:
    """Numbers from `low` to `high`; integers if both are."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EntitySpec:
    """The part of a world file about one entity type; None and empty for what it leaves open."""

    size: int | None = None
    names: tuple[str, ...] = ()
    pinned: tuple[Mapping[str, object], ...] = ()
    fields: Mapping[str, tuple[object, ...] | NumberRange] = field(default_factory=dict)
    listed: tuple[str, ...] = ()


_NO_SPEC = EntitySpec()


@dataclass(frozen=True, slots=True)
class WriteEffect:
    """One change that a write makes to the collection `owner.label`, or to the field `label` of the state at `owner`.

    `source` is the parameter with the members or the value; without it, the value is `value`.
    """

    action: Literal["set", "add", "remove", "append"]
    owner: str
    label: str
    source: str | None = None
    value: object = None


@dataclass(frozen=True, slots=True)
class QueryBinding:
    """The meaning of a query parameter: a comparison with a field, or a part of paging."""

    how: Literal["exact", "prefix", "contains", "range", "limit", "offset", "page", "nothing"]
    field: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class WorldFile:
    """A parsed world file. `effects` and `queries` are by tool name, `relations` by (owner, label): (target, many)."""

    digest: str = ""
    entities: Mapping[str, EntitySpec] = field(default_factory=dict)
    relations: Mapping[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)
    effects: Mapping[str, tuple[WriteEffect, ...]] = field(default_factory=dict)
    queries: Mapping[str, Mapping[str, QueryBinding]] = field(default_factory=dict)
    file: str = ""
    lines: Mapping[_Place, int] = field(default_factory=dict)

    def fault(self, place: _Place, problem: str) -> UsageError:
        """An error with file, line and key."""
        line = next((self.lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in self.lines), 1)
        return UsageError(f"{self.file}, line {line}: {' → '.join(place) or 'the file'}: {problem}")

    def require(self, place: _Place, name: str, valid_names: Collection[str], problem: str) -> None:
        """Check that a name is one of these. Raises: UsageError: It is none; it tells the problem and the nearest."""
        if name not in valid_names:
            raise self.fault(place, problem + _suggest(name, valid_names))

    def spec(self, kind: str) -> EntitySpec:
        """What the file says of an entity type."""
        return self.entities.get(kind, _NO_SPEC)

    def check_target(self, owner: str, label: str, valid_names: Collection[str]) -> None:
        """Check that a relation leads to a known entity type or to one of the file's own. Raises: UsageError."""
        target, _ = self.relations[owner, label]
        if target not in valid_names and target not in self.entities:
            hint = f"{_suggest(target, valid_names)}; a new one is named under entities, too"
            raise self.fault(("relations", f"{owner}.{label}"), f"there is no kind {target!r}{hint}")


NO_WORLD = WorldFile()


def read_world(file: Path, protocol: Protocol) -> WorldFile:
    """Read a world file for a protocol.

    Raises: UsageError: It is unreadable or malformed, or names an unknown operation or parameter.
    """
    try:
        text = read_bounded(file, 1 << 26)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a text file"
        raise UsageError(f"the world file {file} cannot be read: {reason}") from None
    data, lines = _parsed(text, file)
    bare = WorldFile(file=str(file), lines=lines)
    for violation in _validator().iter_errors(data):
        names = (str(violation.instance),) if "propertyNames" in violation.absolute_schema_path else ()
        raise bare.fault((*map(str, violation.absolute_path), *names), _problem(violation))
    reader = _SectionReader(
        bare,
        {name: section or {} for name, section in data.items()},
        {operation_of(tool): tool for tool in protocol.tools},
    )
    return WorldFile(
        sha256(text.encode()).hexdigest(),
        reader.entities(),
        reader.relations(),
        reader.effects(),
        reader.queries(),
        str(file),
        lines,
    )


class _SectionReader:
    """Reads the sections of a valid world file; refuses operations and parameters that the protocol lacks.

    Args:
        bare: The world file without its sections; it knows the lines.
        tools: Tools by operation, such as `GET /films`.
    """

    def __init__(self, bare: WorldFile, data: Mapping[str, Any], tools: Mapping[str, Tool]) -> None:
        self._bare = bare
        self._data = data
        self._tools = tools

    def _tool(self, operation: str, *place: str) -> Tool:
        self._bare.require((*place, operation), operation, self._tools, f"there is no {operation}")
        return self._tools[operation]

    def _values(self, place: _Place, choice: object) -> tuple[object, ...]:
        """The values of a list, or of the vocabulary of that name."""
        if isinstance(choice, str):
            vocabularies = self._data.get("vocabularies", {})
            self._bare.require(place, choice, vocabularies, f"there is no vocabulary {choice!r}")
            return tuple(vocabularies[choice])
        return tuple(cast("list[object]", choice))

    def entities(self) -> dict[str, EntitySpec]:
        specs = {}
        for name, spec in self._data.get("entities", {}).items():
            place = ("entities", name)
            for operation in spec.get("listed", []):
                self._tool(operation, *place, "listed")
            fields = {
                path: NumberRange(value["from"], value["to"])
                if isinstance(value, dict)
                else self._values((*place, "fields", path), value)
                for path, value in spec.get("fields", {}).items()
            }
            specs[name] = EntitySpec(
                spec.get("size"),
                tuple(map(str, self._values((*place, "names"), spec["names"]))) if "names" in spec else (),
                tuple(value if isinstance(value, dict) else {"": value} for value in spec.get("pinned", [])),
                fields,
                tuple(spec.get("listed", [])),
            )
        return specs

    def relations(self) -> dict[tuple[str, str], tuple[str, bool]]:
        targets = {}
        for key, target in self._data.get("relations", {}).items():
            owner, _, label = key.partition(".")
            targets[owner, label] = (target[0], True) if isinstance(target, list) else (target, False)
        return targets

    def effects(self) -> dict[str, tuple[WriteEffect, ...]]:
        effects = {}
        for operation, entries in self._data.get("effects", {}).items():
            tool = self._tool(operation, "effects")
            if not tool.writes:
                raise self._bare.fault(("effects", operation), "only a write has effects")
            listed = entries if isinstance(entries, list) else [entries]
            effects[tool.name] = tuple(self._effect(operation, tool, entry) for entry in listed)
        return effects

    def _effect(self, operation: str, tool: Tool, entry: Mapping[str, Any]) -> WriteEffect:
        place = ("effects", operation)
        action = next(word for word in ("set", "add", "remove", "append") if word in entry)
        owner, _, label = entry[action].rpartition(".")
        source = entry.get("from")
        if "to" in entry and action != "set":
            raise self._bare.fault(place, f"`{action}` needs `from`, the parameter with the members")
        if action != "set" and owner.startswith("/"):
            raise self._bare.fault(place, f"a field of a state can only be `set`, not `{action}`")
        names = {argument.name for argument in tool.arguments} | {"body"}
        if source is not None:
            self._bare.require(place, source, names, f"there is no parameter {source!r}")
        return WriteEffect(cast("Any", action), owner, label, source, entry.get("to"))

    def queries(self) -> dict[str, dict[str, QueryBinding]]:
        bindings = {}
        for operation, meanings in self._data.get("queries", {}).items():
            tool = self._tool(operation, "queries")
            names = {parameter.name for parameter in tool.parameters}
            for parameter in meanings:
                self._bare.require(("queries", operation, parameter), parameter, names, "no such parameter")
            bindings[tool.name] = {name: QueryBinding(*cast("Any", text.split())) for name, text in meanings.items()}
        return bindings


def operation_of(tool: Tool) -> str:
    """The key of a tool in a world file: `GET /films`."""
    return f"{tool.method} {tool.path}"


def _suggest(word: str, valid_names: Collection[str]) -> str:
    """The end of a message about an unknown word: the nearest valid name, else the first of them."""
    if near := get_close_matches(word, list(valid_names), n=1, cutoff=0.5):
        return f"; is it {near[0]!r}?"
    listed = sorted(valid_names)[:8]
    verb, ellipsis = "is" if len(listed) == 1 else "are", ", …" if len(valid_names) > 8 else ""
    return f"; there {verb} {', '.join(listed)}{ellipsis}" if listed else ""


def _parsed(text: str, file: Path) -> tuple[dict[str, Any], dict[_Place, int]]:
    """The data of a YAML text, and the line of each key."""
    import yaml

    try:
        node = yaml.compose(text, Loader=SettingsLoader)
        data = parse_settings(text) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise UsageError(f"{file}{line}: this is no YAML: {getattr(error, 'problem', error)}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{file}, line 1: a world file is an object with entities, relations, effects or queries")
    lines: dict[_Place, int] = {}

    def walk(node: Any, place: _Place) -> None:
        if isinstance(node, yaml.MappingNode):
            keys: set[str] = set()
            for key, value in node.value:
                name = str(key.value)
                if name in keys:
                    raise UsageError(
                        f"{file}, line {key.start_mark.line + 1}: {' → '.join((*place, name))}: told twice"
                    )
                keys.add(name)
                lines[(*place, name)] = key.start_mark.line + 1
                walk(value, (*place, name))
        elif isinstance(node, yaml.SequenceNode):
            for number, item in enumerate(node.value):
                lines[(*place, str(number))] = item.start_mark.line + 1
                walk(item, (*place, str(number)))

    walk(node, ())
    return data, lines


@lru_cache(maxsize=1)
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(Path(__file__).with_name("world.schema.json").read_text("utf-8")))


def _problem(error: Any) -> str:
    """The violation of the JSON Schema, in words for the author of the file."""
    if error.validator == "additionalProperties":
        valid_keys = sorted(error.schema.get("properties", {}))
        unknown_keys = sorted(set(error.instance) - set(valid_keys))
        return f"{', '.join(unknown_keys)}: not known here; known are {', '.join(valid_keys)}"
    if error.validator == "pattern":
        return f"{error.instance!r} is not written as it must be: {error.schema['description']}"
    if error.validator in {"anyOf", "oneOf"}:
        return f"{error.instance!r} will not do. {error.schema.get('description', '')}".strip()
    return re.sub(r"\s+", " ", error.message)
