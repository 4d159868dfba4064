"""Make the body of a response: walk its shape with the entities of the request at hand."""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

from protocols.bounded import format_checker, validator_class
from protocols.simulator.analysis.response_shape import ResponseShape, fits
from protocols.simulator.analysis.world_schema import GENERIC, ResponsePlan, label_of
from protocols.simulator.http.list_items import ListItems, kinds_in
from protocols.simulator.http.messages import RequestError
from protocols.simulator.http.paging import NEXT_LINKS, Paginator, ResponseFrame, beyond_first
from protocols.simulator.http.writes import WriteHandler
from protocols.simulator.world.entity import Entity, RelationEdge
from protocols.simulator.world.filters import LIMITS, is_paging
from protocols.simulator.world.plausible_values import is_date
from protocols.simulator.world.world import World
from protocols.text.words import singular, words

__all__ = ["ResponseBodies"]

_MAX_CACHED = 8192
"""Bodies that are kept; a page of a list shows the same few entities many times."""
_MOST_NESTED = (None, None, 6, 4, 2, 1)
"""Entities in a list within others, by the number of keys around it; the sizes of nested lists multiply."""
_UNFIT: Any = object()
_CHOOSERS = frozenset("field include select expand column".split())


class ResponseBodies:
    """The response bodies of one world."""

    def __init__(self, world: World, writer: WriteHandler) -> None:
        self.world = world
        self.schema = world.schema
        self._fields = world.fields
        self._relations = world.relations
        self._writer = writer
        self._list_items = ListItems(world, self._shown)
        self._paginator = Paginator(world)
        self._built: dict[tuple[object, ...], object] = {}
        self._with_rows: dict[str, bool] = {}
        self._memberships: dict[tuple[int, str], bool] = {}
        self._rows: dict[tuple[Entity, str], list[Entity]] = {}

    def root(self, shape: ResponseShape, frame: ResponseFrame, created: bool) -> object:
        """The body for a response shape; `created` for a write."""
        if shape.options:
            shape = shape.options[0]
        frame.requested = _requested_fields(frame.values)
        subject = frame.subject
        if shape.is_array:
            edges = self._list_items.items(shape, subject, frame.plan.label, frame, top=True)
            if edges is not None:
                self._paginator.paginate(frame, edges)
                return [self._item(cast("ResponseShape", shape.item), edge, frame) for edge in frame.edges]
            return self._plain_page(shape, self._value_owner(frame), "", frame)
        if not shape.properties:
            if shape.is_object:
                return {}
            return self._fields.value(self._value_owner(frame), frame.plan.label or "value", shape)
        if shape.kind:
            if subject is None or subject.kind != shape.kind:
                chosen = self._list_items.everywhere(shape.kind, frame)
                if not chosen:
                    raise RequestError(404, f"there is no such {shape.kind}")
                subject = chosen[0]
            return self._entity(shape, subject, None, frame)
        return self._container(shape, subject, "", frame, top=True)

    def page_headers(self, frame: ResponseFrame) -> dict[str, str]:
        """The documented headers about the page that `root` has shown."""
        return self._paginator.headers(frame)

    def _value_owner(self, frame: ResponseFrame) -> Entity:
        """The owner of a response's plain fields: the entity in the path or in the query, else a state of that
        query."""
        plan = frame.plan
        if frame.subject is not None:
            return frame.subject
        if (about := self._query_entity(frame)) is not None:
            return about
        steady = any(other.tool.writes and other.tool.path.startswith(plan.tool.path) for other in self.schema.plans)
        arguments = {name: value for name, value in frame.values.items() if not is_paging(name)}
        query = "" if steady else json.dumps(arguments, sort_keys=True)
        return self.world.keyed_entity("~state", "state", plan.tool.path, query)

    def _query_entity(self, frame: ResponseFrame) -> Entity | None:
        """The entity that the query identifies: the place of `/current?place_id=london`."""
        for name, value in frame.values.items():
            kind = self.schema.referenced_type(name) if not isinstance(value, list) else None  # which filters
            if kind is None or kind.local or words(name)[-1] not in {"id", "gid", "uuid", "guid", "ref", "slug"}:
                continue
            entity = self.world.find(kind.name, str(value))
            if entity is None:
                raise RequestError(404, f"{name}: there is no {kind.name.replace('_', ' ')} {value!r}")
            return entity
        return None

    def _state(self, frame: ResponseFrame) -> Entity | None:
        """The state behind a response below a singleton: that of the nearest path with one."""
        plan = frame.plan
        if not plan.root or not plan.tail:
            return None
        path = self._writer.state_path(plan)
        return self.world.keyed_entity("~state", "state", path) if path else None

    def _container(
        self, shape: ResponseShape, owner: Entity | None, label: str, frame: ResponseFrame, top: bool = False
    ) -> object:
        body: dict[str, object] = {}
        rest: list[str] = []
        requested = self._list_items.requested_types(frame)
        requested &= {kind for part in shape.properties.values() for kind in kinds_in(part)}
        state = self._state(frame) if top else None
        for name, part in shape.properties.items():
            inner_label = label_of(name) if singular(label_of(name)) not in GENERIC else label
            kinds = kinds_in(part)
            if top and requested and kinds and not kinds & requested and name not in shape.required | shape.expected:
                continue
            if part.is_array and part.item is not None and part.item_types:
                relation_label = self._label(owner, part, inner_label, frame, top)
                edges = self._list_items.items(part, owner, relation_label, frame, top=top or not owner)
                self._paginator.paginate(frame, edges or [])
                body[name] = [self._item(part.item, edge, frame) for edge in frame.edges]
            elif part.properties and not part.kind and _holds_lists(part):
                body[name] = self._container(part, owner, inner_label, frame)
            elif part.shows_entity:
                body[name] = self._linked(part, owner if state is None else state, name, frame)
            elif state is not None and part.properties and {"uri", "href"} <= set(part.properties):
                body[name] = self._state_context(part, state, name, shape, frame)
            else:
                rest.append(name)
        listed = [name for name in rest if shape.properties[name].item is not None]
        if top and len(listed) == 1 and not any(isinstance(value, list) for value in body.values()):
            holder = state or owner or self._value_owner(frame)
            path = self._numbered_path(holder, shape, listed[0])
            body[listed[0]] = self._plain_page(shape.properties[listed[0]], holder, path, frame)
        for name in (name for name in rest if name not in body):
            part = shape.properties[name]
            is_paging_field, value = self._paginator.value(name, part, frame)
            if is_paging_field:
                if value is not None or part.nullable:
                    body[name] = value
                elif name in shape.required | shape.expected:
                    body[name] = (
                        "" if "string" in part.types else self._fields.value(self._value_owner(frame), name, part)
                    )
                continue
            if part.is_array and part.item is not None and part.item.properties and beyond_first(frame):
                body[name] = []
                continue
            if state is not None and words(name)[-1:] == ("type",) and (kind := self._linked_kind(state, shape, part)):
                body[name] = kind
                continue
            holder = state or owner or self._value_owner(frame)
            body[name] = self._plain(holder, self._numbered_path(holder, shape, name), part, frame)
        return {name: body[name] for name in shape.properties if name in body}

    def _plain_page(self, part: ResponseShape, holder: Entity, name: str, frame: ResponseFrame) -> object:
        """The requested page of a list that is no list of entities, so that totals and pages agree with it."""
        value = self._plain(holder, name, part, frame)
        if not isinstance(value, list):
            return value
        key = (holder, name)
        rows = self._rows.setdefault(key, [])
        rows += [Entity("~row", ("row", f"{at}"), {"id": f"row-{at + 1}"}) for at in range(len(rows), len(value))]
        numbers = {id(row): at for at, row in enumerate(rows)}
        self._paginator.paginate(frame, [RelationEdge(row, row) for row in rows[: len(value)]], plain=True)
        return [value[numbers[id(edge.target)]] for edge in frame.edges]

    def _numbered_path(self, entity: Entity, shape: ResponseShape, name: str) -> str:
        """The path of a field within a plain object, if it holds the number of the entity; else its name."""
        kind = self.schema.entity_types.get(entity.kind)
        path = f"{shape.name}.{name}"
        return path if kind and path in kind.number_fields else name

    def _linked_kind(self, state: Entity, shape: ResponseShape, part: ResponseShape) -> str:
        """The type of the entity in a state that may show several types: that of the currently playing item."""
        for name, inner in shape.properties.items():
            kinds = [option.kind for option in inner.variants() if option.kind]
            linked = state.memo.get(("link", label_of(name)))
            if len(kinds) > 1 and fits(kinds[0], part):
                return linked.kind if isinstance(linked, Entity) else kinds[0]
        return ""

    def _label(self, owner: Entity | None, part: ResponseShape, label: str, frame: ResponseFrame, top: bool) -> str:
        if owner is None:
            return label
        targets = part.item_types
        relations = self.schema.relations
        for candidate in (frame.plan.label, label) if top else (label, frame.plan.label):
            if candidate and any((owner.kind, candidate, target) in relations for target in targets):
                return candidate
        return label or frame.plan.label

    # -- entities --------------------------------------------------------------------------------------------------

    def _item(self, shape: ResponseShape, edge: RelationEdge, frame: ResponseFrame) -> object:
        shape = self._variant(shape, edge.target)
        if shape.main:
            body: dict[str, object] = {}
            for name, part in shape.properties.items():
                if name == shape.main:
                    body[name] = self._entity(self._variant(part, edge.target), edge.target, edge.own, frame)
                elif part.shows_entity:
                    body[name] = self._linked(part, edge.own, name, frame, beside=edge.target)
                elif part.properties and {"type", "href", "uri"} & set(part.properties):
                    body[name] = self._about(self._whole(edge.target), part, frame)
                else:
                    body[name] = self._plain(edge.own, name, part, frame)
            return body
        return self._entity(shape, edge.target, edge.own, frame)

    def _whole(self, entity: Entity) -> Entity:
        """The entity of which another one is a part, such as the album of a track; else the entity itself."""
        families = (pair for pair in self.schema.pairs if pair.family and pair.work == entity.kind)
        return next(filter(None, (self._relations.parent(entity, pair) for pair in families)), entity)

    def _state_context(
        self, part: ResponseShape, state: Entity, name: str, shape: ResponseShape, frame: ResponseFrame
    ) -> object:
        """The context of a state: the entity set by a write, else the parent of its link (an album for a track)."""
        around = state.memo.get(("link", label_of(name)))
        if not isinstance(around, Entity):
            linked = [
                entity
                for key, inner in shape.properties.items()
                for option in inner.variants()
                if option.kind and (entity := self._writer.state_link(state, label_of(key), option.kind, frame.subject))
            ]
            wholes = [whole for entity in linked if (whole := self._whole(entity)) is not entity]
            around = next(iter((*wholes, *linked)), state)
        return self._about(around, part, frame)

    def _about(self, entity: Entity, part: ResponseShape, frame: ResponseFrame) -> object:
        """The fields of an entity that a plain object shows, such as the context of a played item."""
        return {name: self._property(entity, None, name, inner, frame) for name, inner in part.properties.items()}

    def _variant(self, shape: ResponseShape, entity: Entity) -> ResponseShape:
        if not shape.options:
            return shape
        return next((option for option in shape.options if option.kind == entity.kind), shape.options[0])

    def _entity(self, shape: ResponseShape, entity: Entity, own: Entity | None, frame: ResponseFrame) -> object:
        """The body of an entity at a place; cached until a write."""
        if len(self._built) >= _MAX_CACHED:
            self._built.clear()
        date = next((value for name, value in frame.values.items() if words(name)[-1:] == ("date",)), None)
        shape = self._variant(shape, entity)
        beside = own if own is not None and self._shows_membership(shape, entity, own, frame) else None
        subject = frame.subject if self._reads_subject(frame.plan, entity) or frame.requested else frame.subject is None
        key = (id(shape), id(frame.plan), entity, beside, subject, str(date), self.world.version, frame.requested)
        if key not in self._built:
            self._built[key] = self._entity_body(shape, entity, own, frame)
        return self._built[key]

    def _reads_subject(self, plan: ResponsePlan, entity: Entity) -> bool:
        """True if a body may depend on the entity in the path: that one's dated rows stay, others go to today."""
        if entity.kind not in self.schema.entity_types:
            return True
        if plan.tool.name not in self._with_rows:
            summaries = (part for kind in self.schema.entity_types.values() for part in kind.summary.values())
            shapes = (place for part in (plan.shape, *summaries) if part is not None for place in part.walk())
            self._with_rows[plan.tool.name] = any(place.item and place.item.example_objects for place in shapes)
        return self._with_rows[plan.tool.name]

    def _shows_membership(self, shape: ResponseShape, entity: Entity, own: Entity, frame: ResponseFrame) -> bool:
        """True if a body may show fields of the membership `own`, and not those of the entity alone."""
        if own.kind == "~list":  # each list has a blank one
            return False
        kind = self.schema.entity_types.get(entity.kind)
        if kind is None or frame.requested:
            return True
        key = (id(shape), kind.name)
        if key not in self._memberships:
            names = shape.properties.keys() | (kind.summary.keys() if shape.kind not in {"", kind.name} else set())
            self._memberships[key] = not names <= kind.fields.keys() | {kind.id_field}
        return self._memberships[key]

    def _entity_body(self, shape: ResponseShape, entity: Entity, own: Entity | None, frame: ResponseFrame) -> object:
        body: dict[str, object] = {}
        entity_type = self.schema.entity_types.get(entity.kind)
        example_fields = entity_type.example_fields if entity_type and not self.world.demanded.active else frozenset()
        for name, part in shape.properties.items():
            if example_fields and name not in example_fields and name not in shape.required | shape.expected:
                continue
            if label_of(name) in NEXT_LINKS and part.is_scalar and entity_type and name not in entity.values:
                body[name] = None if part.nullable or "string" not in part.types else ""  # an entity has no pages
                continue
            body[name] = self._property(entity, own, name, part, frame)
        for name in sorted({path.partition(".")[0] for path in frame.requested}) if entity_type else ():
            info = entity_type.all_fields.get(name) if entity_type else None
            if info is not None and info.shapes:
                inner = frozenset(path.partition(".")[2] for path in frame.requested if path.startswith(f"{name}."))
                part = shape.properties.get(name) or info.shapes[0]
                body[name] = self._property(entity, own, name, part, replace(frame, requested=inner))
        if entity_type and shape.kind not in {"", entity.kind} and not shape.closed and not entity.ends:
            for name, part in entity_type.summary.items():
                if name not in body and not part.is_object and not part.item_types:
                    body[name] = self._property(entity, own, name, part, frame)
        return body

    def _property(
        self, entity: Entity, own: Entity | None, name: str, part: ResponseShape, frame: ResponseFrame
    ) -> object:
        kind = self.schema.entity_types.get(entity.kind)
        fields = kind.fields if kind else {}
        if not part.is_scalar and (value := self._structure(entity, name, part, frame)) is not _UNFIT:
            return value
        identifies = kind is not None and name == kind.id_field
        holder = entity if own is None or name in fields or name in entity.values or identifies else own
        if holder is not entity and (count := self._fields.count(entity, name)) is not None and fits(count, part):
            return count
        return self._plain(holder, name, part, frame)

    def _structure(self, entity: Entity, name: str, part: ResponseShape, frame: ResponseFrame) -> Any:
        """A list of entities, an entity or an object with such lists; `_UNFIT` for anything else."""
        kind = self.schema.entity_types.get(entity.kind)
        if part.is_array and part.item is not None and part.item_types:
            label = label_of(name)
            edges: list[RelationEdge] = []
            for target in part.item_types:
                if (entity.kind, label, target) in self.schema.relations or entity.kind not in self.schema.entity_types:
                    edges = (
                        self._relations.related(entity, label, target)
                        if kind
                        else self._relations.first_related(entity, target)
                    )
                    if self._relations.is_written(entity, label, target):
                        break
                    if edges and len(part.item_types) > 1 and self.world.rng(entity, label).below(4):
                        break
            most = _MOST_NESTED[min(len(part.path), len(_MOST_NESTED) - 1)]
            return [self._item(part.item, edge, frame) for edge in edges[:most][: part.limit("maxItems")]]
        if part.shows_entity:
            if name in entity.values and entity.values[name] is None and name not in entity.sent:
                return None
            return self._linked(part, entity, name, frame)
        pinned = isinstance(entity.values.get(name), dict)
        if part.properties and _holds_lists(part) and name not in entity.sent and not pinned:
            inner = ResponseFrame(frame.plan, entity, {}, self._fields.link(entity) + "/" + name if kind else frame.url)
            return self._container(part, entity, label_of(name), inner)
        return _UNFIT

    def _shown(self, entity: Entity, name: str) -> object:
        """The value of a field as a list shows it, outside any response."""
        kind = self.world.entity_type(entity)
        shapes = [*([kind.summary[name]] if name in kind.summary else []), *kind.all_fields[name].shapes]
        frame = ResponseFrame(self.schema.plans[0], None, {}, "")
        return self._property(entity, None, name, shapes[0], frame)

    def _linked(
        self, part: ResponseShape, entity: Entity | None, name: str, frame: ResponseFrame, beside: Entity | None = None
    ) -> object:
        label = label_of(name)
        for option in part.variants():
            if not option.kind:
                continue
            if entity is None:
                target: Entity | None = next(iter(self.world.all_entities(option.kind)), None)
            elif entity.kind == "~state":
                target = self._writer.state_link(entity, label, option.kind, frame.subject)
            else:
                target = self._relations.linked(entity, label, option.kind)
            if target is not None:
                return self._entity(option, target, None, frame)
            if part.nullable:
                return None
        fallback = part.variants()[0]
        population = self.world.base(fallback.kind) if fallback.kind else []
        return self._entity(fallback, population[0], None, frame) if population else (None if part.nullable else {})

    # -- plain values ----------------------------------------------------------------------------------------------

    def _plain(self, entity: Entity, name: str, part: ResponseShape, frame: ResponseFrame) -> object:
        """A value that is no entity: a scalar, a list of scalars, or an object of those."""
        last = name.rpartition(".")[2]
        written = entity.values.get(name)
        if (written is None or isinstance(written, (dict, list))) and name in entity.sent:
            written = self._coerced(written, part, entity, name, frame)
            if written is not _UNFIT:
                return written
        if part.options:
            part = part.options[0]
        if part.is_array:
            if isinstance(written, list):
                return written
            kind = self.schema.referenced_type(last) if part.item is not None else None
            kind = kind or self._fields.whose_key(last, part.item)
            if kind is not None and part.item is not None:
                # None of its own type, which could form a circle.
                edges = self._relations.first_related(entity, kind.name) if kind.name != entity.kind else []
                ids = [self._fields.identifier(edge.target) for edge in edges]
                return [value if fits(value, part.item) else str(value) for value in ids]
            return self._plain_list(part, entity, name, frame)
        if part.properties:
            return written if isinstance(written, dict) else self._plain_object(part, entity, name, frame)
        if part.is_object:
            if isinstance(written, dict):
                return written
            return None if part.nullable else {}
        is_argument = entity.kind == "~state" and name not in entity.values and last in frame.values
        if is_argument and fits(frame.values[last], part):
            return frame.values[last]
        return self._fields.value(entity, name, part)

    def _coerced(self, sent: object, part: ResponseShape, entity: Entity, name: str, frame: ResponseFrame) -> Any:
        """A value set by a write, coerced to its place, or `_UNFIT`.

        Missing and invalid required fields are generated; other invalid fields and items are dropped.
        """
        if part.options:
            fitted = [self._coerced(sent, option, entity, name, frame) for option in part.options]
            fitted = sorted((value for value in fitted if value is not _UNFIT), key=lambda value: value != sent)
            return next((value for value in fitted if self._allowed(value, part)), _UNFIT)
        if not isinstance(sent, (dict, list)):
            return sent if fits(sent, part) else _UNFIT
        if isinstance(sent, dict) and part.properties:
            properties = part.properties
            coerced = {
                k: self._coerced(sent[k], properties[k], entity, f"{name}.{k}", frame) for k in properties if k in sent
            }
            extra = {k: value for k, value in sent.items() if k not in properties and not part.closed}
            sent = {k: value for k, value in coerced.items() if value is not _UNFIT} | extra
            missing_keys = [k for k in properties if k in part.required | part.expected and k not in sent]
            if missing_keys:
                generated = cast("dict[str, object]", self._plain_object(part, entity, name, frame))
                sent |= {k: generated[k] for k in missing_keys}
        elif isinstance(sent, list) and part.item is not None:
            item = part.item
            entries = [self._coerced(value, item, entity, f"{name}[{i}]", frame) for i, value in enumerate(sent)]
            sent = [value for value in entries if value is not _UNFIT]
        return sent if self._allowed(sent, part) else _UNFIT

    def _allowed(self, value: object, part: ResponseShape) -> bool:
        """True if an object or list, with all its contents, may stand at a place."""
        validator = validator_class()
        schemas = [self.schema.protocol.standalone(check) for check in part.checks]
        return not schemas or any(
            validator(schema, format_checker=format_checker()).is_valid(value) for schema in schemas
        )

    def _plain_object(
        self,
        part: ResponseShape,
        entity: Entity,
        name: str,
        frame: ResponseFrame,
        example: Mapping[str, object] | None = None,
    ) -> object:
        examples = part.example_objects
        if example is None and examples:
            example = cast("Mapping[str, object]", self.world.rng(entity, name, "donor").choose(examples))
        example = example or {}
        return {
            key: self._plain_property(
                inner, entity, f"{name}.{key}" if name else key, frame, example, has_several=len(examples) >= 4
            )
            for key, inner in part.properties.items()
        }

    def _plain_property(
        self,
        part: ResponseShape,
        entity: Entity,
        path: str,
        frame: ResponseFrame,
        example: Mapping[str, object],
        *,
        has_several: bool,
    ) -> object:
        """One property of a plain object, like that of an example; `has_several` if there are enough examples."""
        key = part.name
        value = example.get(key)
        kind = self.schema.entity_types.get(entity.kind)
        if part.shows_entity:
            return self._linked(part, entity, key, frame)
        if not part.properties and not part.is_array:
            if self._fields.prescribed_values(entity, path) is not None:
                return self._plain(entity, path, part, frame)
            usable = not isinstance(value, (dict, list)) and key in example and path not in entity.values
            usable = usable and not (kind and path in kind.number_fields)
            # Numbers of a single example are no more than a hint.
            if usable and (isinstance(value, (str, bool)) or value is None or has_several) and fits(value, part):
                return value
        if isinstance(value, dict) and part.properties:
            return self._plain_object(part, entity, path, frame, value)
        if isinstance(value, list) and part.is_array:
            return self._plain_list(part, entity, path, frame, value)
        return self._plain(entity, path, part, frame)

    def _plain_list(
        self, part: ResponseShape, entity: Entity, name: str, frame: ResponseFrame, example: list[object] | None = None
    ) -> list[object]:
        if part.item is None:
            return []
        rng = self.world.rng(entity, name, "list")
        values = [value for value in (example if example is not None else part.item.examples) if value is not None]
        prescribed = self._fields.prescribed_values(entity, name)
        if isinstance(prescribed, tuple):
            return list(rng.sample([value for value in prescribed if fits(value, part.item)], 1 + rng.below(3)))
        lengths = sorted(length for length in part.lengths if length)
        typical = min(lengths[len(lengths) // 2], 24) if lengths else 2
        drawn = typical if example is not None or typical <= 1 else rng.between(typical // 2, typical)
        size = len(example) if example is not None else drawn
        for query in (frame.values.get(n) for n in frame.values if label_of(n) in LIMITS):
            if not name and isinstance(query, int):
                size = min(query, max(len(values), size))
        least, most = part.limit("minItems") or 0, part.limit("maxItems")
        size = max(size, least)
        size = min(size, most) if most is not None else size
        if example is None:
            size = max(size, self.world.demanded.length(entity, name))
        if part.item.properties:
            rows = [value for value in values if isinstance(value, dict)]
            if example is None and len(rows) > size:
                begin = rng.below(len(rows) - size + 1)
                rows = rows[begin : begin + size]
            rows = self._to_today(rows, entity, frame)
            return [
                self._plain_object(part.item, entity, f"{name}[{i}]", frame, rows[i % len(rows)] if rows else None)
                for i in range(max(size, 0 if lengths else 1))
            ]
        distinct = dict.fromkeys(value for value in values if not isinstance(value, (dict, list)))
        if scalars := [value for value in distinct if fits(value, part.item)]:
            return rng.sample(scalars, size)
        if part.item.is_object or part.item.is_array:
            return [self._plain(entity, f"{name}[{i}]", part.item, frame) for i in range(size)]
        generated = [self._fields.value(entity, f"{name}[{i}]", part.item) for i in range(size)]
        return list(dict.fromkeys(generated)) if least == 0 else generated

    def _to_today(self, rows: list[dict[str, object]], entity: Entity, frame: ResponseFrame) -> list[dict[str, object]]:
        """Shift a series of dated rows (a forecast) to today or the requested day; dates of existing entities stay."""
        example = next((value for value in rows[0].values() if is_date(value)), None) if rows else None
        if entity is frame.subject or example is None:
            return rows
        try:
            first = datetime.fromisoformat(str(example)[:10])
        except ValueError:
            return rows
        date = next((str(v) for n, v in frame.values.items() if words(n)[-1:] == ("date",) and is_date(v)), "")
        begin = datetime.fromisoformat(date[:10]) if date else self.world.now.replace(tzinfo=None)
        shift = (begin - first).days
        return [{n: _shifted(v, shift) for n, v in row.items()} for row in rows]


def _requested_fields(values: Mapping[str, object]) -> frozenset[str]:
    """The paths in an argument that chooses the fields of a response: `fields=name,owner.email`."""
    chosen = (value for name, value in values.items() if words(name)[-1:] and singular(words(name)[-1]) in _CHOOSERS)
    texts = (text for value in chosen for text in (value if isinstance(value, list) else str(value).split(",")))
    return frozenset(text.strip() for text in texts if isinstance(text, str) and text.strip())


def _shifted(value: object, days: int) -> object:
    if isinstance(value, dict):
        return {name: _shifted(part, days) for name, part in value.items()}
    if not isinstance(value, str) or not is_date(value):
        return value
    with suppress(ValueError, OverflowError):
        return (datetime.fromisoformat(value[:10]) + timedelta(days=days)).strftime("%Y-%m-%d") + value[10:]
    return value


def _holds_lists(part: ResponseShape) -> bool:
    return any(inner.item_types for inner in part.properties.values())
