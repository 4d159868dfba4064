"""Choose the items of a list: those that match a search or a filter, in the requested order."""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

from protocols.simulator.analysis.response_shape import ResponseShape
from protocols.simulator.analysis.world_file import QueryBinding
from protocols.simulator.analysis.world_schema import EntityType, label_of
from protocols.simulator.http.paging import ResponseFrame
from protocols.simulator.world.entity import Entity, RelationEdge
from protocols.simulator.world.fields import is_upcoming
from protocols.simulator.world.filters import AFFIXES, PATTERN_WORDS, conditions_in, filter_of, is_paging, members_of
from protocols.simulator.world.plausible_values import is_date, leading_number
from protocols.simulator.world.world import World
from protocols.text.words import singular, words

__all__ = ["ListItems", "kinds_in"]

_RATED = ("vote_average", "rating", "average", "score", "stars", "rate")
_POPULAR = ("popularity", "popular", "views", "plays", "likes", "followers", "votes", "vote_count")
_ORDERS = frozenset("sort sort_by order_by sortby orderby".split())
_DIRECTIONS = frozenset("order sort_order direction sort_direction".split())
_DIRECTION_WORDS = frozenset("asc desc ascending descending".split())
_DOCUMENTED_ORDER = re.compile(r"\b(newest|latest|most recent|oldest) first\b", re.IGNORECASE)
"""Made with one document in view. Five recorded benchmarks are as before it, but none of their documents says this."""
_RECENT = frozenset("latest newest new recent now current airing today air playing releases".split())
_MAIL_DATE = re.compile(r"[A-Z][a-z]{2}, \d{2} ")
"""How a date of RFC 2822 begins."""
_OPERATORS = {
    "=": ("exact", True), "IN": ("exact", True), "!=": ("exact", False), "NIN": ("exact", False),
    "~": ("contains", True), "!~": ("contains", False), "^": ("prefix", True), "$": ("suffix", True),
    ">": ("above", True), "<": ("below", True),
}  # fmt: skip
"""The comparison of each operator in the body of a search, and whether it has to hold."""
_LIMITS: Mapping[str, Callable[[Any, Any], bool]] = {
    "from": operator.ge, "to": operator.le, "above": operator.gt, "below": operator.lt,
}  # fmt: skip


class ListItems:
    """The items of one world's lists.

    Args:
        shown: The value of a field as responses show it.
    """

    def __init__(self, world: World, shown: Callable[[Entity, str], object]) -> None:
        self._shown = shown
        self.world = world
        self.schema = world.schema
        self._fields = world.fields
        self._relations = world.relations

    def requested_types(self, frame: ResponseFrame) -> set[str]:
        """The types in an enumerated word of the query: `type=album,track`."""
        query = (p.name for p in frame.plan.tool.parameters if p.location == "query")
        values = [frame.values.get(n) for n in query if words(n)[-1:] in {("type",), ("types",), ("kind",)}]
        texts = [word for v in values for word in (v if isinstance(v, list) else str(v or "").split(","))]
        return {kind.name for text in texts if (kind := self.schema.entity_type_named(str(text)))}

    def _requested_instead(self, target: str, frame: ResponseFrame) -> str:
        """The type that the query asks for, where a list of any type shows only fields that it has."""
        fields = self.schema.entity_types[target].all_fields.keys()
        for name in self.requested_types(frame) - {target}:
            if fields <= self.schema.entity_types[name].all_fields.keys():
                return name
        return target

    def items(
        self, part: ResponseShape, owner: Entity | None, label: str, frame: ResponseFrame, top: bool
    ) -> list[RelationEdge] | None:
        """The items of a list, sorted and filtered; None for a list without entities."""
        targets = part.item_types
        if not targets:
            return None
        kind = self.schema.entity_type_named(frame.choice) if frame.choice else None
        if kind is not None and (len(targets) == 1 or kind.name in targets):
            targets = [kind.name]
        if top and len(targets) == 1:
            targets = [self._requested_instead(targets[0], frame)]
        if owner is None:
            entities = [entity for target in targets[:1] for entity in self.everywhere(target, frame)]
            return [RelationEdge(Entity("~list", ("list",)), entity) for entity in entities]
        if top and frame.plan.detail and owner is frame.subject and targets == [owner.kind] and not frame.plan.tail:
            return [RelationEdge(owner, owner)]
        edges: list[RelationEdge] = []
        for target in targets:
            if (owner.kind, label, target) in self.schema.relations or len(targets) == 1:
                edges.extend(self._relations.related(owner, label, target))
                written = self._relations.is_written(owner, label, target)  # what was emptied stays empty
                if len(targets) > 1 and (edges or written) and not frame.choice:
                    break
        if top:
            edges = self._found(owner, label, self._sorted(edges, frame), targets[0], frame)
            matching = set(self._filtered([edge.target for edge in edges], frame))
            edges = [edge for edge in edges if edge.target in matching]
        return edges

    def _found(
        self, owner: Entity, label: str, edges: list[RelationEdge], kind: str, frame: ResponseFrame
    ) -> list[RelationEdge]:
        """The members that a search within an owner finds by name; one of exactly that name exists."""
        text = frame.searched
        if not isinstance(text, str) or not text.strip() or not self.schema.entity_types[kind].title:
            return edges
        if self._is_expression(kind, text):
            return [edge for edge in edges if self._meets_expression(edge.target, text)]
        low = text.strip().casefold()
        hits = [edge for edge in edges if low in self._fields.title(edge.target).casefold()]
        if any(self._fields.title(edge.target).casefold() == low for edge in hits):
            return hits
        entity = self.world.entity_named(kind, text.strip())
        return [RelationEdge(self._relations.membership(label, owner, entity), entity), *hits]

    def everywhere(self, kind: str, frame: ResponseFrame) -> list[Entity]:
        if frame.choice and (named := self.schema.entity_type_named(frame.choice)):
            kind = named.name
        text = frame.searched
        expression = text if isinstance(text, str) and self._is_expression(kind, text) else ""
        if isinstance(text, str) and text.strip() and not expression:
            return self._search(kind, text.strip(), frame)
        if told := self._told_of_others(kind, frame):
            return told
        every = self.world.all_entities(kind)
        entities = self._filtered([e for e in every if not expression or self._meets_expression(e, expression)], frame)
        return [edge.target for edge in self._sorted([RelationEdge(entity, entity) for entity in entities], frame)]

    def _is_expression(self, kind: str, text: str) -> bool:
        """True for conditions on fields in place of a text to search for: `state=open`."""
        conditions = conditions_in(text) if " " not in text.strip() else []
        return bool(conditions) and all(name in self.schema.entity_types[kind].all_fields for name, _, _ in conditions)

    def _told_of_others(self, name: str, frame: ResponseFrame) -> list[Entity]:
        """What is told of others by their identifiers, such as the relationship to each of several accounts."""
        kind = self.schema.entity_types[name]
        identifiers = frame.values.get("id", frame.values.get("ids"))
        if kind.addressed or not kind.id_field or not isinstance(identifiers, list):
            return []
        entities = (self.world.find(name, str(text)) or self.world.adopt(kind, str(text)) for text in identifiers)
        return [entity for entity in entities if entity is not None]

    def _search(self, kind: str, text: str, frame: ResponseFrame) -> list[Entity]:
        text = text.strip("\"' ")
        filters, free = _field_filters(text)
        name = free
        makers: list[Entity] = []
        for word, text_value in filters.items():
            named = self.schema.entity_type_named(word)
            if named is None:
                continue
            if named.name == kind:
                name = text_value
            elif self.schema.pairs_between(kind, named.name):
                makers.append(self.world.entity_named(named.name, text_value))
        binding = self.schema.binding(frame.plan, frame.plan.search)
        if binding is not None and binding.field:
            entities = dict.fromkeys([*self.world.question_entities(kind), *self.world.all_entities(kind)])
            bound = [entity for entity in entities if not entity.deleted and self._meets_binding(entity, binding, text)]
            return self._filtered(bound, frame) or self._filtered([self.world.entity_named(kind, text)], frame)
        if not name and makers:
            return self._works_by(makers, kind)
        name = name or text
        if self.world.named_entities.names and not makers and self.world.named_already(kind, name) is None:
            recalled = self._filtered(self.world.partial_matches(kind, name), frame)
            if recalled:
                return recalled
        first = self.world.entity_named(kind, name, makers)
        results = [first]
        if len(kinds_in(frame.plan.shape)) > 1 and not makers:
            for pair in self.schema.pairs:
                if pair.work == kind and not pair.family and pair.maker in kinds_in(frame.plan.shape):
                    results += self._works_by([self.world.entity_named(pair.maker, name)], kind)
        elif makers:
            results += self._works_by(makers, kind)
        results += self._filtered(self.world.matching(kind, name), frame)
        return list(dict.fromkeys(results))

    def _works_by(self, makers: Sequence[Entity], kind: str) -> list[Entity]:
        works: list[Entity] = []
        for maker in makers:
            for pair in self.schema.pairs_between(kind, maker.kind):
                edges = self._relations.children(maker, kind) if pair.family else self._relations.works(maker, pair)
                works += [edge.target for edge in edges]
        return works

    def _sorted(self, edges: list[RelationEdge], frame: ResponseFrame) -> list[RelationEdge]:
        if not edges:
            return edges
        kind = self.schema.entity_types.get(edges[0].target.kind)
        if kind is None:
            return edges
        plan_words = {w for step in frame.plan.steps if step.role == "literal" for w in words(step.name)}
        if orders := _orders(frame):
            direction = " ".join(_arguments(frame, _DIRECTIONS)).lower()
            for order in reversed(orders):  # the first one counts most, and sorting is stable
                name = re.split(r"[.:\s]|_(?:asc|desc)$", order.lstrip("+-"))[0]
                descending = order.startswith("-") or "desc" in order.lower() or direction.startswith("desc")
                edges = self._by_field(edges, self._order_field(kind, name), descending)
            return edges
        if (documented := _DOCUMENTED_ORDER.search(frame.plan.tool.description)) and kind.date:
            return self._by_field(edges, kind.date, documented[1].lower() != "oldest")
        if frame.plan.search:
            return edges
        today = self.world.now.strftime("%Y-%m-%d")
        if plan_words & {"rated", "best", "rating"}:
            return self._by_field(edges, self._field(kind.fields, _RATED), True)
        if plan_words & {"popular", "trending", "hot", "top", "featured"} and "top" not in kind.fields:
            return self._by_field(edges, self._field(kind.fields, _POPULAR), True)
        if is_upcoming(kind.date):
            return self._by_field(edges, kind.date, False)
        if not kind.date or (frame.subject is not None and not plan_words & {"latest", "recent", "newest"}):
            return edges
        upcoming = bool(plan_words & {"upcoming", "scheduled", "soon"})
        if not upcoming and not plan_words & _RECENT:
            return edges
        timely = [e for e in edges if (str(self._fields.value(e.target, kind.date)) > today) == upcoming]
        return self._by_field(timely or edges, kind.date, not upcoming)

    def _field(self, fields: Mapping[str, object], candidates: Sequence[str]) -> str | None:
        alike = [f for name in candidates for f in fields if name in words(f) and "count" not in words(f)]
        return next((name for name in (*candidates, *alike) if name in fields), None)

    def _by_field(self, edges: list[RelationEdge], name: str | None, descending: bool) -> list[RelationEdge]:
        if name is None:
            return edges
        keyed = [(self._fields.value(edge.target, name), edge) for edge in edges]
        empty = [edge for value, edge in keyed if value is None]
        keyed = [(value, edge) for value, edge in keyed if value is not None]
        numbers = all(isinstance(value, (int, float)) for value, _ in keyed)
        keyed.sort(key=lambda pair: cast("float", pair[0]) if numbers else str(pair[0]), reverse=descending)
        return [*(edge for _, edge in keyed), *empty]

    def _order_field(self, kind: EntityType, name: str) -> str | None:
        """The field that an order names: `start_date`, or `id` for the identifier of its type."""
        exact = next((field for field in kind.fields if label_of(field) == label_of(name)), None)
        if exact is None and label_of(name) == "id":
            return kind.id_field
        order_words = set(words(name))
        return exact or next((field for field in kind.fields if order_words and order_words <= set(words(field))), None)

    def _filtered(self, entities: list[Entity], frame: ResponseFrame) -> list[Entity]:
        """The entities that meet every query parameter named after one of their fields or relations."""
        for parameter in frame.plan.tool.parameters:
            value = frame.values.get(parameter.name)
            if parameter.location != "query" or value in (None, "", []) or not entities:
                continue
            if parameter.name == frame.plan.search:
                continue
            if (binding := self.schema.binding(frame.plan, parameter.name)) is not None:
                entities = [entity for entity in entities if self._meets_binding(entity, binding, value)]
                continue
            if is_paging(parameter.name):
                continue
            kind = self.schema.entity_types[entities[0].kind]
            if label_of(parameter.name) in {"where", "filter"} and isinstance(value, str):
                entities = [entity for entity in entities if self._meets_expression(entity, value)]
                continue
            for name, filter_value in members_of(parameter.name, value):
                met = [entity for entity in entities if self._meets(entity, kind.name, name, filter_value)]
                if not met:
                    met = [entity for entity in entities if self._takes(entity, kind, name, filter_value)]
                entities = met
        if frame.plan.searches:
            entities = [entity for entity in entities if self._meets_body(entity, frame.body)]
        return entities

    def _meets_body(self, entity: Entity, body: Mapping[str, object]) -> bool:
        """True if an entity meets the body of a search: values of its fields, or conditions on them."""
        for name, value in body.items():
            if isinstance(value, dict):
                if "operator" in value and not self._meets_condition(entity, value):
                    return False
            elif (
                value not in (None, "", [])
                and not is_paging(name)
                and not self._meets(entity, entity.kind, name, value)
            ):
                return False
        return True

    def _meets_condition(self, entity: Entity, condition: Mapping[str, object]) -> bool:
        """True if an entity meets a condition `{field, operator, value}`, or a list of them under AND or OR.

        Conditions on fields that the type does not have are met.
        """
        connective, value = str(condition.get("operator")).upper(), condition.get("value")
        if connective in {"AND", "OR"} and isinstance(value, list):
            results = [self._meets_condition(entity, part) for part in value if isinstance(part, dict)]
            return all(results) if connective == "AND" else any(results)
        how, positive = _OPERATORS.get(connective, ("exact", True))
        return self._compares(entity, str(condition.get("field")), how, value, positive)

    def _compares(self, entity: Entity, name: str, how: str, value: object, positive: bool = True) -> bool:
        """True if a field compares with a value; also if the type does not have the field, or no text or number."""
        fields = self.schema.entity_types[entity.kind].all_fields
        own = self._fields.value(entity, name) if name in fields else {}
        return isinstance(own, (list, dict)) or compares(own, how, value) is positive

    def _meets_expression(self, entity: Entity, expression: str) -> bool:
        """True if an entity meets the conditions of a filter such as `Status=="PAID" AND Type=="ACCREC"`."""
        return all(
            self._compares(entity, name, "exact" if how == "other" else how, value, how != "other")
            for name, how, value in conditions_in(expression)
        )

    def _meets_binding(self, entity: Entity, binding: QueryBinding, argument: object) -> bool:
        """True if an entity meets a parameter by its binding in the world file."""
        return self._compares(entity, binding.field, binding.end if binding.how == "range" else binding.how, argument)

    def _meets(self, entity: Entity, kind_name: str, name: str, value: object) -> bool:
        kind = self.schema.entity_types[kind_name]
        parts = words(name)
        if not parts:
            return True
        if parts[-1] in PATTERN_WORDS and isinstance(value, str):
            return self._meets_pattern(entity, kind, parts, value)
        without = parts[0] in {"without", "exclude", "not"}
        core = [p for p in parts if p not in AFFIXES]
        joined = "_".join(core)
        if isinstance(value, list) and parts[-1] in {"id", "ids"} and (not core or singular(joined) in kind.aliases):
            return str(self._fields.identifier(entity)) in map(str, value)
        parameter_filter = filter_of(kind, name, value)
        if not core and parameter_filter is None:
            return True
        limits = parameter_filter is not None and parameter_filter.how != "exact"
        path = next((p for p in kind.number_fields if p.rpartition(".")[2] == name and "." in p), None)
        if path is not None:
            return str(self._fields.value(entity, path)).casefold() == str(value).casefold()
        asks_members = parts[0] in {"with", "without"} or parts[-1] in {"id", "ids"}
        for relation in self.schema.relations_of(kind.name, many=True) if not limits else ():
            names = {relation.label, relation.target, singular(relation.label)}
            if {joined, singular(joined)} & names and (asks_members or relation.label == joined):
                return self._has_related(entity, relation.label, relation.target, value) != without
        if (
            core[-1:] == ["year"]
            and kind.date
            and (len(core) == 1 or set(core[:-1]) & set(words(kind.date)) or core[0] in {"primary", "release"})
        ):
            return str(self._fields.value(entity, kind.date))[:4] == str(value)
        if asks_members and (isinstance(value, list) or name not in kind.fields):
            for relation in self.schema.relations_of(kind.name, many=False):
                if {joined, singular(joined)} & {relation.label, relation.target}:
                    linked = self._relations.linked(entity, relation.label, relation.target)
                    accepted_ids = map(str, value if isinstance(value, list) else [value])
                    return linked is not None and str(self._fields.identifier(linked)) in accepted_ids
        if parameter_filter is None:
            return True
        field_name = parameter_filter.field
        if name == field_name and field_name not in kind.summary and not limits:
            return True
        own_value = self._fields.value(entity, field_name)
        if isinstance(own_value, bool):
            return own_value == value
        if limits:
            return compares(own_value, parameter_filter.how, value)
        accepted = value if isinstance(value, list) else re.split(r"[,|]", str(value))
        if field_name in kind.fields and any(shape.is_array for shape in kind.fields[field_name].shapes):
            return any(compares(text, "exact", accepted) for text in _texts_in(self._shown(entity, field_name)))
        if own_value is None or is_date(own_value) or isinstance(own_value, (list, dict)):
            return True
        return compares(own_value, "exact", accepted)

    def _takes(self, entity: Entity, kind: EntityType, name: str, value: object) -> bool:
        """True if an entity that a program looks for has what it asks for by an identifier or in a list from now on."""
        if entity.key[0] != "demanded" or ("taken", name) in entity.memo:
            return False
        wanted = value[0] if isinstance(value, list) and value else value
        parts = words(name)
        noun, by_id = "_".join(part for part in parts if part not in AFFIXES), not {"id", "ids"}.isdisjoint(parts)
        member = None
        for relation in self.schema.relations_of(kind.name):
            target = self.schema.entity_types[relation.target]
            if {noun, singular(noun)}.isdisjoint({relation.label, singular(relation.label), *target.aliases}):
                continue
            member = self.world.find(target.name, str(wanted))
            if member is None and relation.many and not by_id:
                member = self.world.entity_named(target.name, str(wanted))
            if member is None:
                continue
            if relation.many:
                edges = self._relations.related(entity, relation.label, target.name)
                edges = [*edges, self._relations.member(entity, relation.label, member)]
                self._relations.rewrite(entity, relation.label, target.name, edges)
            else:
                self._relations.relink(entity, relation.label, member)
            entity.computed.pop(name, None)
            entity.memo["taken", name] = member  # once: what was shown stays as it is
            return self._meets(entity, kind.name, name, value)
        field_filter = filter_of(kind, name, wanted) if by_id and member is None else None
        if field_filter is None or field_filter.field in entity.values:
            return False
        info = kind.all_fields.get(field_filter.field)
        lists = info is not None and any(shape.is_array for shape in info.shapes)
        entity.values[field_filter.field] = [wanted] if lists else wanted
        return True

    def _meets_pattern(self, entity: Entity, kind: EntityType, parts: Sequence[str], pattern: str) -> bool:
        """True if a field matches a pattern with `%` or `*` for any text, and `|` between alternatives.

        The parameter is the field with a last word such as `pattern`. A pattern without a wildcard is a part of the
        text, or its start where the parameter says `prefix`. Patterns of unknown fields are met.
        """
        starts = "prefix" in parts or parts[-1].endswith("startswith")
        stem = [part for part in parts if part not in PATTERN_WORDS]
        field_name = next((name for name in kind.fields if list(words(name)) == stem), None)
        if field_name is None and "_".join(stem[:-1]) in kind.aliases:
            field_name = next((name for name in kind.fields if list(words(name)) == stem[-1:]), None)
        if field_name is None:
            return True
        text = str(self._fields.value(entity, field_name)).casefold()
        for part in pattern.casefold().split("|"):
            pieces = [re.escape(piece) for piece in re.split(r"[%*]", part.strip("~"))]
            if re.match(("" if starts else ".*") + ".*".join(pieces), text, re.DOTALL):
                return True
        return False

    def _has_related(self, entity: Entity, label: str, target: str, value: object) -> bool:
        """True if a relation holds entities by identifier or name: all of `1,2`, any of `1|2` or of a list."""
        members = [edge.target for edge in self._relations.related(entity, label, target)]
        present = {str(self._fields.identifier(member)) for member in members}
        present |= {self._fields.title(member).casefold() for member in members}
        listed = [str(text) for text in value] if isinstance(value, list) else re.split(r"[,|]", str(value))
        terms = [text.strip() for text in listed if text.strip()]
        hits = [text in present or text.casefold() in present for text in terms]
        return any(hits) if isinstance(value, list) or "|" in str(value) else all(hits)


def compares(own: object, how: str, value: object) -> bool:
    """True if a value compares with another one, or with one of a list of them.

    Args:
        how: exact, prefix, suffix or contains (of texts, in any case of letters), from, to, above or below. What begins
            with a number is compared as a number, dates and other texts as texts.
    """
    if how in _LIMITS:
        if isinstance(own, str) and _MAIL_DATE.match(own):
            with suppress(ValueError):
                own = parsedate_to_datetime(own).strftime("%Y-%m-%dT%H:%M:%SZ")
        value = value[0] if isinstance(value, list) and value else value
        own_number, limit = leading_number(own), leading_number(value)
        if own is None:
            return False
        if isinstance(own, (int, float)) and is_date(value):
            limit = datetime.fromisoformat(str(value)).replace(tzinfo=UTC).timestamp()
        if is_date(own) or own_number is None or limit is None:
            return _LIMITS[how](str(own), str(value))
        return _LIMITS[how](own_number, limit)
    text = str(own).casefold()
    texts = tuple(str(part).strip().casefold() for part in (value if isinstance(value, list) else [value]))
    if how == "contains":
        return any(part in text for part in texts)
    return text in texts if how == "exact" else text.startswith(texts) if how == "prefix" else text.endswith(texts)


def _texts_in(value: object) -> set[str]:
    """The scalars in a list and in its objects, as texts."""
    entries = value if isinstance(value, list) else []
    scalars = [part for entry in entries for part in (entry.values() if isinstance(entry, dict) else [entry])]
    return {str(part) for part in scalars if not isinstance(part, (dict, list))}


def _arguments(frame: ResponseFrame, labels: frozenset[str]) -> list[str]:
    """The texts of the first argument under one of these labels; empty without one."""
    sent = {**frame.values, **frame.body} if frame.plan.searches else frame.values
    value = next((value for name, value in sent.items() if label_of(name) in labels and value), [])
    return [str(part) for part in value] if isinstance(value, list) else [str(value)]


def _orders(frame: ResponseFrame) -> list[str]:
    """The fields to sort by, with their directions: `-start_date`, `name desc`; several in a list or by commas."""
    orders = _arguments(frame, _ORDERS) or [
        text for text in _arguments(frame, frozenset({"order"})) if text.lower() not in _DIRECTION_WORDS
    ]
    return [order.strip() for text in orders for order in text.split(",") if order.strip()]


def kinds_in(part: ResponseShape | None) -> set[str]:
    """The entity types that a part of a response lists or shows directly."""
    if part is None:
        return set()
    if part.is_array and part.item is not None:
        return set(part.item_types)
    if part.kind:
        return {part.kind}
    return {kind for inner in part.properties.values() for kind in kinds_in(inner)}


def _field_filters(text: str) -> tuple[dict[str, str], str]:
    """Split a search text such as `album:Mojito artist:"Jay Chou" live` into its filters and the free rest."""
    pattern = r'\b([A-Za-z_]+):\s*("[^"]*"|\'[^\']*\'|.+?)(?=\s+[A-Za-z_]+:|$)'
    filters = {name.lower(): value.strip("\"' ") for name, value in re.findall(pattern, text)}
    return filters, re.sub(pattern, "", text).strip()
