"""The field values of entities: identifiers, names, and values derived from other values."""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from math import isfinite
from typing import cast
from urllib.parse import quote

from protocols.simulator.analysis.response_shape import ResponseShape, fits
from protocols.simulator.analysis.world_file import NumberRange
from protocols.simulator.analysis.world_schema import ANY, EntityType, FieldInfo, label_of, slug
from protocols.simulator.world import invented_words
from protocols.simulator.world.entity import Entity, WorldContext
from protocols.simulator.world.plausible_values import UUID_FORM, is_date, make_value, mimic, number
from protocols.simulator.world.relations import EntityRelations
from protocols.simulator.world.seeded_rng import SeededRNG
from protocols.text.words import ID_WORDS, identifier_stem, singular, words

__all__ = ["FieldValues", "is_upcoming"]

_COUNT_WORDS = frozenset("number of total count num no amount".split())
_FOLLOWING = (
    _COUNT_WORDS
    | ID_WORDS
    | frozenset("type kind object href self url link permalink position index name title date".split())
)
"""Words, in the singular, of the fields that follow from others."""
_UPCOMING = frozenset("start begin departure departs due opening".split())
_FEW_IDENTIFIERS = 8
"""Attempts after which an identifier is numbered, because its schema allows few values."""
_MOMENT_FORMS = {"%Y-%m-%dT%H:%M:%S": 19, "%Y-%m-%d": 10, "%Y-%m": 7, "%Y": 4}
"""Forms of a date, the finest first, and their lengths."""
_MEASURED = re.compile(r"\d+(?:\.\d+)?( ?[A-Za-z%]{1,4})")
"""A number with its unit."""


class FieldValues:
    """The values of all fields of all entities of a world, computed on demand."""

    def __init__(self, world: WorldContext, relations: EntityRelations) -> None:
        self._world = world
        self._relations = relations
        self._schema = world.schema
        self._now = world.now
        self._undocumented: dict[str, FieldInfo] = {}  # a pool of values must live as long as what is cached of it
        self._ordinals = {kind.ordinal for kind in self._schema.entity_types.values()}
        self.by_identifier: dict[str, dict[str, Entity]] = defaultdict(dict)
        """By kind, the entities whose identifier was told, by that."""
        self._names_by_type: dict[str, list[str]] = {}
        self._named_after = lru_cache(8192)(world.schema.named_after)

    def identifier(self, entity: Entity) -> object:
        """The identifier of an entity; registers the entity under it."""
        kind = self._world.entity_type(entity)
        if kind.id_field in entity.memo:
            return entity.memo[kind.id_field]
        value, taken, attempt = entity.values.get(kind.id_field), self.by_identifier[entity.kind], 0
        while value is None or taken.get(str(value), entity) is not entity:
            value = self._new_identifier(entity, kind, attempt)
            if attempt >= _FEW_IDENTIFIERS:
                position = len(taken) + attempt - _FEW_IDENTIFIERS
                value = f"{value}{position}" if isinstance(value, str) else 10_000 + position
            attempt += 1
        entity.memo[kind.id_field] = entity.values[kind.id_field] = value
        taken[str(value)] = entity
        return value

    def _new_identifier(self, entity: Entity, kind: EntityType, attempt: int) -> object:
        rng = self._world.rng(entity, "identity", attempt)
        shape, highest, texts = kind.identifier_form
        if highest:
            return rng.between(1_000, highest)
        if texts and kind.uses_slugs:
            text = slug(self.title(entity)) or "x"
            if not entity.base and entity.key[0] not in {"named", "created"}:
                text += f"-{rng.below(16**4):04x}"  # whoever comes first must not get the better name
            return text if attempt == 0 else f"{text}-{attempt + 1}"
        if not texts and not any("format" in check for check in shape.checks):
            ids = [value for other in self._schema.entity_types.values() for value in other.ids]
            texts = [value for value in ids if isinstance(value, str) and re.fullmatch(r"\S*\d\S*", value)]
        place = kind.summary.get(kind.id_field) or shape
        if texts:
            text = mimic(texts[0] if len(texts[0]) > 5 else texts[0] + "00000", rng)
            if fits(text, place) or not fits(texts[0], place):
                return text
        return make_value(kind.id_field, place, (), rng, self._now)

    def identifying_values(self, kind: EntityType, text: str) -> dict[str, object]:
        """The values of an entity that a text identifies: its number or code where it has one, else its identifier.

        Returns: Empty if no such field takes the text. A text that cannot be the identifier is the name.
        """
        numbers = [] if text.isdecimal() or UUID_FORM.fullmatch(text) else kind.number_fields
        if numbers:
            return {numbers[0]: text}
        shape, highest, _ = kind.identifier_form
        value: object = int(text) if highest and text.isdecimal() else text
        if not (highest and isinstance(value, str)) and fits(value, shape):
            return {kind.id_field: value}
        return {kind.title: text} if kind.title and not text.isdecimal() and "_" in text else {}

    def title(self, entity: Entity) -> str:
        """The name of an entity; its identifier where the API gives it no name."""
        name = self._world.entity_type(entity).title
        return str(self.value(entity, name)) if name else str(self.identifier(entity))

    def value(self, entity: Entity, name: str, shape: ResponseShape | None = None) -> object:
        """The value of a field, the same in every view.

        Args:
            name: The field; a dotted path for a value within a plain object.
            shape: The place of the value; a value that does not fit there is replaced.
        """
        if (membership := entity.memo.pop("donation", None)) is not None:
            entity.values.update(
                self._relations.membership_values(entity, *cast("tuple[str, int, list[dict[str, object]]]", membership))
            )
        if name in entity.values:
            value = entity.values[name]
        else:
            if name not in entity.computed:
                entity.computed[name] = self._compute(entity, name, self._canonical_shape(entity, name) or shape)
            value = entity.computed[name]
        if shape is None or fits(value, shape):
            return value
        if isinstance(value, (int, str, float)) and not isinstance(value, bool):
            converted = number(value)
            whole = int(converted) if converted is not None and isfinite(converted) else None
            for other in (str(value), whole, converted):
                if other is not None and fits(other, shape):
                    return other
        if is_date(value) and fits(str(value)[:10], shape):
            return str(value)[:10]
        rng = self._world.rng(entity, f"{name}@{sorted(shape.types)}")
        return make_value(name.rpartition(".")[2], shape, self._info(entity, name).examples, rng, self._now)

    def _canonical_shape(self, entity: Entity, name: str) -> ResponseShape | None:
        """The main place of a field; its value is made for there, whichever view asks first."""
        return self._schema.places.get((entity.owner, re.sub(r"\[\d+\]", "[]", name) if "[" in name else name))

    def _info(self, entity: Entity, name: str) -> FieldInfo:
        kind = self._world.entity_type(entity)
        info = kind.all_fields.get(name)
        last = name.rpartition(".")[2]
        if info is None or not info.filled:
            return self._schema.fields.get(last) or info or self._undocumented.setdefault(last, FieldInfo(last))
        return info

    def _compute(self, entity: Entity, name: str, shape: ResponseShape | None) -> object:
        kind = self._world.entity_type(entity)
        rng = self._world.rng(entity, name)
        if name == kind.id_field and entity.kind in self._schema.entity_types:
            return self.identifier(entity)
        if name == kind.title:
            return self._new_name(entity, kind, rng)
        if (prescribed := self.prescribed_values(entity, name)) is not None:
            return self._draw_prescribed(prescribed, rng, self._info(entity, name).examples)
        derived = self._derived(entity, kind, name, shape)
        if derived is not None:
            return derived
        info = self._info(entity, name)
        where = shape or next(iter(info.shapes), ANY)
        own = kind.all_fields.get(name)
        pool: Sequence[object] = info.examples
        if "." in name or "[" in name:
            pool = where.examples
        elif own is not None and where.types <= {"integer", "number", "null"}:
            pool = own.examples
        elif entity.kind not in self._schema.entity_types and where.examples and entity.key[:1] == ("state",):
            pool = where.examples
        if not pool and where.types <= {"string", "null"} and self._world.demanded.is_number(entity, name):
            return str(rng.between(1, 9999))
        if name == kind.date:
            return self._new_date(entity, kind, [v for v in pool if isinstance(v, str)], where)
        last = _unnumbered(name).rpartition(".")[2]
        if "." in name and where.nullable and not pool and set(words(last)) & {"href", "url", "link"}:
            return None
        return make_value(last, where, pool, rng, self._now)

    def prescribed_values(self, entity: Entity, name: str) -> tuple[object, ...] | NumberRange | None:
        """The values of a field from the world file, if any."""
        fields = self._schema.world_file.spec(entity.kind).fields
        return fields.get(_unnumbered(name)) if fields else None

    def _draw_prescribed(
        self, values: tuple[object, ...] | NumberRange, rng: SeededRNG, examples: Sequence[object]
    ) -> object:
        """Draw a value or a number of a range, with the unit of the examples: "12 g"."""
        if not isinstance(values, NumberRange):
            return rng.choose(values)
        units = {
            match[1] for example in examples if isinstance(example, str) and (match := _MEASURED.fullmatch(example))
        }
        unit = units.pop() if len(units) == 1 else ""
        if float(values.low).is_integer() and float(values.high).is_integer():
            drawn: float = rng.between(int(values.low), int(values.high))
        else:
            drawn = round(values.low + (values.high - values.low) * rng.fraction(), 2)
        return f"{drawn}{unit}" if unit else drawn

    def _new_name(self, entity: Entity, kind: EntityType, rng: SeededRNG) -> object:
        examples = [str(v) for v in kind.fields[kind.title].examples if v] if kind.title in kind.fields else []
        if entity.parent is not None and kind.local:
            word = f"{kind.name.replace('_', ' ').title()} {entity.position}"
            numbered = any(re.fullmatch(rf"{kind.name.split('_')[-1]} \d+", text.lower()) for text in examples)
            return word if numbered or not examples else invented_words.title(rng)
        if entity.base:
            return self._base_names(kind, examples)[entity.position]
        if names := self._schema.world_file.spec(kind.name).names:
            return rng.choose(names)
        return invented_words.invent_name(kind.name, rng)

    def _base_names(self, kind: EntityType, examples: Sequence[str]) -> list[str]:
        """A unique name for each entity of the base population: documented names first."""
        if kind.name not in self._names_by_type:
            names = [str(entity.values.get(kind.title) or "") for entity in self._world.base(kind.name)]
            recorded = {record.get(kind.title) for record in kind.records}
            prescribed = self._schema.world_file.spec(kind.name).names
            start = SeededRNG(self._schema.protocol.digest, self._world.seed, "names", kind.name)
            documented = dict.fromkeys(start.sample(prescribed, len(prescribed)) or examples)
            unused = [name for name in documented if name not in recorded]
            taken = {*names, *unused}
            for position in range(len(names)):
                attempt = 0
                while not names[position] and unused:
                    names[position] = unused.pop(0)
                while not names[position]:
                    source = (self._schema.protocol.digest, self._world.seed, "name", kind.name, position, attempt)
                    name = invented_words.invent_name(kind.name, SeededRNG(*source))
                    attempt += 1
                    if name not in taken or attempt > 8:
                        names[position] = name
                        taken.add(name)
            self._names_by_type[kind.name] = names
        return self._names_by_type[kind.name]

    def _new_date(self, entity: Entity, kind: EntityType, examples: list[str], shape: ResponseShape) -> object:
        rng = self._world.rng(entity, "date")
        if entity.parent is not None and kind.local:
            date_name = self._world.entity_type(entity.parent).date
            begun = _parse(self.value(entity.parent, date_name)) if date_name else None
            step = 364 if not self._world.entity_type(entity.parent).local else 7
            moment = (begun or self._now.replace(tzinfo=None)) + timedelta(days=step * (max(entity.position, 1) - 1))
        elif is_upcoming(kind.date):
            moment = self._now.replace(tzinfo=None, minute=0, second=0, microsecond=0) + timedelta(
                hours=rng.between(5, 240)
            )
        elif entity.base and (chance := rng.below(10)) < 5:
            days = rng.between(1, 120) if chance < 2 else -rng.between(0, 45)
            moment = self._now.replace(tzinfo=None) + timedelta(days=days)
        else:
            childish = any(child_type.parent == kind.name for child_type in self._schema.entity_types.values())
            moment = self._now.replace(tzinfo=None) - timedelta(days=rng.between(2600 if childish else 40, 9000))
        timed = words(kind.date)[-1] in {"at", "timestamp"} and not any("format" in check for check in shape.checks)
        example = next((text for text in examples if text), "2024-01-01T00:00:00Z" if timed else "")
        for form in _MOMENT_FORMS:
            text = moment.strftime(form)
            if ((not example and len(text) <= 10) or len(text) == len(example)) and fits(text, shape):
                return text
        whole = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
        return whole if "T" in example or (not example and fits(whole, shape)) else moment.strftime("%Y-%m-%d")

    def _derived(self, entity: Entity, kind: EntityType, name: str, shape: ResponseShape | None) -> object:
        """The value of a field that follows from other values; None if nothing determines it."""
        parts = words(name)
        if not parts or ("." in name and not shape):
            return None
        following = _may_follow(name) or self._named_after(name) is not None
        if not (following or name.rpartition(".")[2] in self._schema.templates or name in self._ordinals):
            return None
        info = kind.all_fields.get(name)
        documented = "." in name and shape is not None and bool(shape.examples)
        if parts[-1] in {"type", "kind", "object"} and not documented:
            pool = info.by_folded_text if info else {}
            about = entity
            if len(parts) > 1 and entity.kind not in pool:
                about = entity.parent or next(iter(entity.ends.values()), entity)
            for alias in (about.kind, *self._world.entity_type(about).aliases):
                if alias in pool:
                    return pool[alias]
            if parts == ("type",) and not pool and info and entity.kind in self._schema.entity_types:
                return entity.kind
            if entity.ends and (label := entity.key[1]) in pool:
                return pool[label]
            if about is not entity and shape is not None and fits(about.kind, shape):
                return about.kind
        if template := self._template(name, kind):
            return f"{template[0]}{self.identifier(entity)}{template[1]}"
        if entity.kind in self._schema.entity_types and (link := self._address(entity, name, info, shape)) is not None:
            return link
        if (count := self.count(entity, name)) is not None:
            return count
        counted = (
            entity.base and not kind.local and shape is not None and {"integer"} <= shape.types <= {"integer", "null"}
        )
        if counted and parts[-1] == "number" and len(parts) > 1 and kind.own_words.issuperset(parts[:-1]):
            return entity.position + 1
        if (ordinal := self._ordinal(entity, kind, name)) is not None:
            return ordinal
        if (reference := self._reference(entity, kind, name, shape)) is not None:
            return reference
        if kind.title and parts[-1] in {"name", "title"} and parts[0] in {"original", "localized", "full", "display"}:
            return self.title(entity)
        named = kind.title and entity.kind in self._schema.entity_types
        if named and name not in kind.fields and parts in {("name",), ("title",)}:
            return self.title(entity)
        if kind.date and parts[0] == "last" and parts[-1] == "date" and name != kind.date:
            latest = self._relations.last_child(entity)
            if latest is not None:
                return self.value(latest, self._world.entity_type(latest).date)
        return None

    def _address(self, entity: Entity, name: str, info: FieldInfo | None, shape: ResponseShape | None) -> str | None:
        """The value of a link: the entity's own address, that of one of its lists, or a page about it."""
        around, _, last = _unnumbered(name).rpartition(".")
        parts = words(last) or ("",)
        if shape is not None and "string" not in shape.types:
            return None
        if last in {"href", "self"}:
            if not around:
                return self.link(entity)
            lists = self._schema.relations_of(entity.kind, label=label_of(around))
            return f"{self.link(entity)}/{around}" if lists else None
        linking = words(around)[-1:] and singular(words(around)[-1]) in {"url", "link"}
        if linking or (parts[-1] in {"url", "permalink"} and len(parts) <= 2 and not (info and any(info.examples))):
            if shape is not None and (any(shape.examples) or (shape.nullable and not linking)):
                return None
            servers = self._schema.protocol.servers
            host = re.sub(r"^https?://(api\.|www\.)?([^/]+).*$", r"\2", servers[0].url) if servers else "example.com"
            host = host if "." in host else "example.com"
            if parts[-1] not in {"image", "preview"}:
                return f"https://www.{host}/{entity.kind}/{self.identifier(entity)}"
        return None

    def _template(self, name: str, kind: EntityType) -> tuple[str, str] | None:
        templates = self._schema.templates.get(name.rpartition(".")[2], [])
        for owner, before, after in templates:
            if owner == kind.name:
                return before, after
        for owner, before, after in templates:
            pattern = rf"(?<![A-Za-z]){re.escape(owner)}(?![A-Za-z])"
            if re.search(pattern, before) and kind.name in self._schema.entity_types:
                return re.sub(pattern, kind.name, before), after
        return None

    def link(self, entity: Entity) -> str:
        """The address of an entity under the documented server."""
        kind = self._world.entity_type(entity)
        servers = self._schema.protocol.servers
        root = servers[0].url if servers else ""
        if kind.detail is None:
            for plan in self._schema.plans:
                stands = [step.role == "entity" and step.kind == kind.name for step in plan.steps]
                place = stands.index(True) if any(stands) else 0
                if place and all(step.role == "literal" for step in plan.steps[:place]):
                    start = "/".join(step.name for step in plan.steps[:place])
                    return f"{root}/{start}/{quote(str(self.identifier(entity)), safe='')}"
            return f"{root}/{kind.name}s/{quote(str(self.identifier(entity)), safe='')}"
        path = kind.detail.tool.path
        chain = entity
        for step in reversed(kind.detail.steps):
            if step.role == "entity":
                value = chain.position if self._world.entity_type(chain).local else self.identifier(chain)
                path = path.replace(f"{{{step.name}}}", quote(str(value), safe=""))
                chain = chain.parent or chain
        return root + path

    def count(self, entity: Entity, name: str) -> int | None:
        """The value of a counting field such as episode_count; None for other fields."""
        kind = self._world.entity_type(entity)
        parts = words(name.rpartition(".")[2])
        rest = [part for part in parts if part not in _COUNT_WORDS]
        holder = label_of(name.rpartition(".")[0]) if "." in name else ""
        if not set(parts) & _COUNT_WORDS or (parts[-1] in {"number", "no"}):
            return None
        if not rest and not holder:
            return None
        noun = singular(rest[-1]) if rest else singular(holder.rpartition("_")[2])
        lists = self._schema.relations_of(kind.name, many=True)
        exact = "_".join([*rest[:-1], noun])
        lists.sort(key=lambda r: "_".join([*r.label.split("_")[:-1], singular(r.label.rpartition("_")[2])]) != exact)
        for relation in lists:
            if noun in {relation.target, singular(relation.label), singular(relation.label.rpartition("_")[2])}:
                return len(self._relations.related(entity, relation.label, relation.target))
        return None

    def _ordinal(self, entity: Entity, kind: EntityType, name: str) -> int | None:
        for level in (entity, *entity.ancestors()):
            if not self._world.entity_type(level).local:
                break
            if self._world.entity_type(level).ordinal == name:
                return level.position
        parts = words(name)
        if len(parts) == 2 and parts[0] in kind.aliases and parts[1] in {"number", "position", "index"}:
            for pair in self._schema.pairs:
                if pair.family and pair.work == kind.name and (parent := self._relations.parent(entity, pair)):
                    siblings = [edge.target for edge in self._relations.children(parent, kind.name)]
                    return siblings.index(entity) + 1 if entity in siblings else 1
        return None

    def _reference(self, entity: Entity, kind: EntityType, name: str, shape: ResponseShape | None) -> object:
        parts, stem = words(name), identifier_stem(name)
        if not stem and (held := self.whose_key(name, shape)) is not None and held.name != entity.kind:
            linked = self._relations.linked(entity, held.name, held.name)
            return self.identifier(linked) if linked is not None else None
        if not stem:
            if entity.parent is not None and not kind.local and len(parts) == 2 and parts[1] in {"title", "name"}:
                return self.title(entity.parent) if parts[0] not in kind.aliases else None
            return None
        if parts[-1] not in {"id", "ids", "gid", "uuid", "guid", "ref", "slug", "key"}:
            return None
        target = self._schema.referenced_type(name)
        many = parts[-1] == "ids"
        if target is None:
            whole = entity.parent
            while whole is not None and whole.parent is not None and self._world.entity_type(whole).local:
                whole = whole.parent
            return self.identifier(whole) if whole is not None and name not in kind.fields else None
        if target.name in entity.ends:
            return self.identifier(entity.ends[target.name])
        if target.name == entity.kind:
            return self.identifier(entity) if not many else None
        for level in entity.ancestors():
            if level.kind == target.name:
                return self.identifier(level)
        if many:
            return [self.identifier(edge.target) for edge in self._relations.first_related(entity, target.name)]
        linked_entity = self._relations.linked(entity, "_".join(stem), target.name)
        if linked_entity is None:
            return None
        key = target.key_field(name)
        return self.identifier(linked_entity) if key == target.id_field else self.value(linked_entity, key)

    def whose_key(self, name: str, shape: ResponseShape | None) -> EntityType | None:
        """The type whose identifier is in a field that is named after it alone: a number under `document`."""
        target = self._named_after(name) if shape is not None else None
        if target is None or shape is None or not target.addressed:
            return None
        form = target.identifier_form[0]
        types = shape.types - {"null"}
        is_key = types == {"integer"} or any(check.get("format") == "uuid" for check in shape.checks)
        return target if is_key and types == form.types - {"null"} else None


def is_upcoming(name: str) -> bool:
    """True if a date field is about the future, such as a start or a departure."""
    return bool(words(name)) and singular(words(name)[0]) in _UPCOMING


@lru_cache(maxsize=8192)
def _may_follow(name: str) -> bool:
    """True if a field may follow from other values by the words of its name; most do not, and are not asked further."""
    return not _FOLLOWING.isdisjoint(map(singular, words(name)))


def _unnumbered(path: str) -> str:
    """A path without the numbers of items: `lines.price` of `lines[0].price`."""
    return re.sub(r"\[\d+\]", "", path) if "[" in path else path


def _parse(value: object) -> datetime | None:
    for form, size in _MOMENT_FORMS.items():
        with suppress(ValueError):
            return datetime.strptime(str(value)[:size], form)
    return None
