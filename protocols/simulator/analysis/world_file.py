"""A world file: the little that an API's document cannot say about the things behind it, without any code.

Its form is `world.schema.json`. What it names must be there: `check` compares it with the survey of the protocol. A
message says file, line and key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from protocols.errors import UsageError
from protocols.model import Protocol, Tool

if TYPE_CHECKING:
    from protocols.simulator.analysis.response_shape import ResponseShape
    from protocols.simulator.analysis.world_schema import WorldSchema

__all__ = ["NO_SPEC", "NO_WORLD", "EntitySpec", "NumberRange", "QueryBinding", "WorldFile", "WriteEffect", "read_world"]

_Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NumberRange:
    """Numbers from `low` to `high`; whole ones if both are."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EntitySpec:
    """What a world file says of a kind; None and empty where it says nothing."""

    size: int | None = None
    names: tuple[str, ...] = ()
    pinned: tuple[Mapping[str, object], ...] = ()
    fields: Mapping[str, tuple[object, ...] | NumberRange] = field(default_factory=dict)
    listed: tuple[str, ...] = ()


NO_SPEC = EntitySpec()
"""What a world file says of a kind that it does not name."""


@dataclass(frozen=True, slots=True)
class WriteEffect:
    """One thing that a write does to a collection `owner.label`, or to the field `label` of the state at `owner`.

    `source` is the parameter with the members or the value; without one the value is `value`.
    """

    action: Literal["set", "add", "remove", "append"]
    owner: str
    label: str
    source: str | None = None
    value: object = None


@dataclass(frozen=True, slots=True)
class QueryBinding:
    """What a parameter means: how it is compared with a field, or which part of paging it is."""

    how: Literal["exact", "prefix", "contains", "range", "limit", "offset", "page", "nothing"]
    field: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class WorldFile:
    """A world file, read. `effects` and `queries` are by tool name, `relations` by (owner, label): (target, many)."""

    digest: str = ""
    entities: Mapping[str, EntitySpec] = field(default_factory=dict)
    relations: Mapping[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)
    effects: Mapping[str, tuple[WriteEffect, ...]] = field(default_factory=dict)
    queries: Mapping[str, Mapping[str, QueryBinding]] = field(default_factory=dict)
    file: str = ""
    lines: Mapping[_Place, int] = field(default_factory=dict)

    def fault(self, place: _Place, problem: str) -> UsageError:
        """An error that says file, line and key."""
        line = next((self.lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in self.lines), 1)
        return UsageError(f"{self.file}, line {line}: {' → '.join(place) or 'the file'}: {problem}")

    def check_target(self, owner: str, label: str, known: Collection[str]) -> None:
        """A relation leads to a kind that there is, or to one of the file's own. Raises: UsageError."""
        target, _ = self.relations[owner, label]
        if target not in known and target not in self.entities:
            hint = f"{_near(target, known)}; a new one is named under entities, too"
            raise self.fault(("relations", f"{owner}.{label}"), f"there is no kind {target!r}{hint}")

    def check(self, schema: WorldSchema) -> None:
        """Compare with the survey of the protocol. Raises: UsageError: Something that it names is not there."""
        kinds = schema.entity_types
        for name, spec in self.entities.items():
            place = ("entities", name)
            if name not in kinds:
                raise self.fault(place, f"there is no such kind{_near(name, kinds)}")
            known = kinds[name].all_fields
            for path in (*spec.fields, *(path for values in spec.pinned for path in values)):
                if (
                    path
                    and path.partition(".")[0] not in known
                    and not any(path == p for k, p in schema.places if k == name)
                ):
                    part = "fields" if path in spec.fields else "pinned"
                    raise self.fault((*place, part, path), f"{name} has no such field{_near(path, known)}")
        for owner, label in self.relations:
            key = f"{owner}.{label}"
            if owner not in kinds:
                raise self.fault(("relations", key), f"there is no kind {owner!r}{_near(owner, kinds)}")
            if not any(r.owner == owner and r.label == label for r in schema.relations.values()):
                labels = {r.label for r in schema.relations.values() if r.owner == owner}
                raise self.fault(("relations", key), f"no answer shows {label!r} of {owner}{_near(label, labels)}")
        by_name = {tool.name: tool for tool in schema.protocol.tools}
        for tool, effects in self.effects.items():
            for effect in effects:
                self._check_effect(schema, by_name[tool], effect)
        for tool, bindings in self.queries.items():
            listed = {k for plan in schema.plans if plan.tool.name == tool and plan.shape for k in _listed(plan.shape)}
            for parameter, binding in bindings.items():
                where = ("queries", _operation(by_name[tool]), parameter)
                fields = {name for kind in listed for name in kinds[kind].all_fields}
                if binding.field and binding.field not in fields:
                    raise self.fault(where, f"nothing listed there has {binding.field!r}{_near(binding.field, fields)}")

    def _check_effect(self, schema: WorldSchema, tool: Tool, effect: WriteEffect) -> None:
        place = ("effects", _operation(tool))
        if effect.owner.startswith("/"):
            plan = schema.states.get(effect.owner)
            shown = plan.shape.properties if plan and plan.shape else {}
            if effect.label not in shown:
                raise self.fault(place, f"GET {effect.owner} shows no {effect.label!r}{_near(effect.label, shown)}")
            return
        labels = {r.label for r in schema.relations.values() if r.owner == effect.owner and r.many}
        if effect.label not in labels:
            raise self.fault(place, f"{effect.owner} has no collection {effect.label!r}{_near(effect.label, labels)}")


NO_WORLD = WorldFile()


def read_world(file: Path, protocol: Protocol) -> WorldFile:
    """Read a world file for a protocol.

    Raises: UsageError: It cannot be read, is not of the form, or names an operation or parameter that is not there.
    """
    try:
        text = file.read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a text file"
        raise UsageError(f"the world file {file} cannot be read: {reason}") from None
    data, lines = _parsed(text, file)
    bare = WorldFile(file=str(file), lines=lines)
    for wrong in _validator().iter_errors(data):
        named = (str(wrong.instance),) if "propertyNames" in wrong.absolute_schema_path else ()
        raise bare.fault((*map(str, wrong.absolute_path), *named), _problem(wrong))
    lists = cast("dict[str, list[object]]", data.get("vocabularies") or {})
    tools = {_operation(tool): tool for tool in protocol.tools}

    def tool_of(section: str, operation: str, *more: str) -> Tool:
        if operation not in tools:
            raise bare.fault((section, operation, *more), f"there is no {operation}{_near(operation, tools)}")
        return tools[operation]

    def words(place: _Place, choice: object) -> tuple[object, ...]:
        if isinstance(choice, str):
            if choice not in lists:
                raise bare.fault(place, f"there is no vocabulary {choice!r}{_near(choice, lists)}")
            return tuple(lists[choice])
        return tuple(cast("list[object]", choice))

    entities = {}
    for name, spec in _section(data, "entities").items():
        place = ("entities", name)
        for operation in spec.get("listed", []):
            tool_of("entities", operation) if operation in tools else tool_of("entities", name, "listed", operation)
        fields = {
            path: NumberRange(value["from"], value["to"])
            if isinstance(value, dict)
            else words((*place, "fields", path), value)
            for path, value in spec.get("fields", {}).items()
        }
        entities[name] = EntitySpec(
            spec.get("size"),
            tuple(map(str, words((*place, "names"), spec["names"]))) if "names" in spec else (),
            tuple(value if isinstance(value, dict) else {"": value} for value in spec.get("pinned", [])),
            fields,
            tuple(spec.get("listed", [])),
        )
    relations = {}
    for key, target in _section(data, "relations").items():
        owner, _, label = key.partition(".")
        relations[owner, label] = (target[0], True) if isinstance(target, list) else (target, False)
    effects = {}
    for operation, told in _section(data, "effects").items():
        tool = tool_of("effects", operation)
        if not tool.writes:
            raise bare.fault(("effects", operation), "only a write has effects")
        effects[tool.name] = tuple(
            _effect(bare, operation, tool, one) for one in (told if isinstance(told, list) else [told])
        )
    queries = {}
    for operation, bound in _section(data, "queries").items():
        tool = tool_of("queries", operation)
        names = {parameter.name for parameter in tool.parameters}
        for parameter in bound:
            if parameter not in names:
                raise bare.fault(("queries", operation, parameter), f"no such parameter{_near(parameter, names)}")
        queries[tool.name] = {parameter: _binding(meaning) for parameter, meaning in bound.items()}
    digest = sha256(text.encode()).hexdigest()
    return WorldFile(digest, entities, relations, effects, queries, str(file), lines)


def _effect(world: WorldFile, operation: str, tool: Tool, told: Mapping[str, Any]) -> WriteEffect:
    what = next(word for word in ("set", "add", "remove", "append") if word in told)
    owner, _, label = told[what].rpartition(".")
    source = told.get("from")
    if "to" in told and what != "set":
        raise world.fault(("effects", operation), f"`{what}` needs `from`, the parameter with the members")
    if what != "set" and owner.startswith("/"):
        raise world.fault(("effects", operation), f"a field of a state can only be `set`, not `{what}`")
    names = {argument.name for argument in tool.arguments} | {"body"}
    if source is not None and source not in names:
        raise world.fault(("effects", operation), f"there is no parameter {source!r}{_near(source, names)}")
    return WriteEffect(cast("Any", what), owner, label, source, told.get("to"))


def _binding(meaning: str) -> QueryBinding:
    how, *more = meaning.split()
    return QueryBinding(cast("Any", how), *more)


def _operation(tool: Tool) -> str:
    return f"{tool.method} {tool.path}"


def _listed(shape: ResponseShape) -> Iterator[str]:
    """The kinds in the lists of an answer."""
    for part in (shape, *shape.properties.values()):
        for option in part.item.variants() if part.item else ():
            core = option.properties[option.main] if option.main else option
            yield from (inner.kind for inner in core.variants() if inner.kind)


def _section(data: Mapping[str, object], name: str) -> dict[str, Any]:
    return cast("dict[str, Any]", data.get(name) or {})


def _near(word: str, known: Any) -> str:
    """What may have been meant."""
    near = get_close_matches(word, list(known), n=1, cutoff=0.5)
    if near:
        return f"; is it {near[0]!r}?"
    some = sorted(known)[:8]
    return (
        f"; there {'is' if len(some) == 1 else 'are'} {', '.join(some)}{', …' if len(known) > 8 else ''}"
        if some
        else ""
    )


def _parsed(text: str, file: Path) -> tuple[dict[str, Any], dict[_Place, int]]:
    """The data of a YAML text, and the line of each key."""
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise UsageError(f"{file}{line}: this is no YAML: {getattr(error, 'problem', error)}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{file}, line 1: a world file is an object with entities, relations, effects or queries")
    lines: dict[_Place, int] = {}

    def walk(node: Any, place: _Place) -> None:
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in node.value:
                name = str(key.value)
                if name in seen:
                    raise UsageError(
                        f"{file}, line {key.start_mark.line + 1}: {' → '.join((*place, name))}: told twice"
                    )
                seen.add(name)
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
    """What the schema has against a value, in words for who wrote it."""
    if error.validator == "additionalProperties":
        known = sorted(error.schema.get("properties", {}))
        unknown = sorted(set(error.instance) - set(known))
        return f"{', '.join(unknown)}: not known here; known are {', '.join(known)}"
    if error.validator == "pattern":
        pattern = error.schema["pattern"]
        return f"{error.instance!r} is not written as it must be: {_FORMS.get(pattern[:6], pattern)}"
    if error.validator in {"anyOf", "oneOf"}:
        about = error.schema.get("description") or ""
        return f"{error.instance!r} will not do. {about}".strip()
    return re.sub(r"\s+", " ", error.message)


_FORMS = {
    "^((exa": "exact FIELD, prefix FIELD, contains FIELD, range FIELD from (or to), limit, offset, page or nothing",
    "^(GET|": "METHOD /path, as in the document",
    "^[a-z0": "KIND.LABEL",
    "^(/\\S*": "KIND.LABEL, or /path.FIELD",
}
