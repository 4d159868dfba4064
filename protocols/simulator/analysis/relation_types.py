"""Find the relations between entity types, and the pairs of relations that are two ends of one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from protocols.simulator.analysis.entity_types import EntityTypes
from protocols.simulator.analysis.response_shape import ResponseShape
from protocols.simulator.analysis.world_schema import (
    GENERIC,
    Relation,
    RelationPair,
    ResponsePlan,
    label_of,
    referenced_type,
    singular_name,
)
from protocols.text.words import identifier_stem, singular, words

__all__ = ["RelationTypes"]


class RelationTypes:
    """The relations between entity types in responses and paths; `relations` is by `Relation.key`."""

    def __init__(self, entity_types: EntityTypes) -> None:
        self.entity_types, self.plans = entity_types.by_name, entity_types.plans
        self.relations: dict[tuple[str, str, str], Relation] = {}
        self._lengths: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        for plan in self.plans:
            if plan.shape is not None and plan.tool.method == "GET":
                for shape in plan.shape.variants():
                    self._relate(plan, shape, "" if shape.kind else plan.subject, shape.kind, "")
        for key, lengths in self._lengths.items():
            if positive := sorted(length for length in lengths if length):
                self.relations[key] = replace(self.relations[key], count=positive[len(positive) // 2])

    def _relate(self, plan: ResponsePlan, shape: ResponseShape, owner: str, inside: str, key: str) -> None:
        holder = inside or owner
        lists = [part for part in shape.properties.values() if part.is_array and part.item] if shape.properties else []
        if shape.is_array and shape.item and not shape.properties:
            self._list(plan, shape, holder, key, bool(inside), alone=True)
            return
        for name, part in shape.properties.items():
            label = label_of(name) if singular(label_of(name)) not in GENERIC else key
            if part.is_array and part.item:
                self._list(plan, part, holder, label, bool(inside), alone=len(lists) == 1)
                continue
            for option in part.variants():
                if option.kind:
                    if holder:
                        self._add(Relation(holder, label_of(name), option.kind, False, nullable=part.nullable))
                    self._relate(plan, option, "", option.kind, "")
                elif option.properties:
                    self._relate(plan, option, owner, inside, label)

    def _list(
        self, plan: ResponsePlan, part: ResponseShape, holder: str, label: str, inside: bool, alone: bool
    ) -> None:
        if part.item is None:
            return
        for option in part.item.variants():
            own_path = bool(plan.tail) and not inside and bool(plan.subject)
            for target in option.core.variants():
                if not target.kind:
                    if target.properties:
                        self._relate(plan, target, "" if inside else holder, holder if inside else "", label)
                    continue
                if holder:
                    own = plan.label if own_path and (alone or not label) else label or plan.label
                    relation = Relation(holder, own, target.kind, True, own_path=own_path)
                    self._add(relation)
                    self._lengths[relation.key].extend(part.lengths)
                elif plan not in self.entity_types[target.kind].global_lists and not inside:
                    self.entity_types[target.kind].global_lists.append(plan)
                self._relate(plan, target, "", target.kind, "")
            siblings = [sibling for name, sibling in option.properties.items() if option.main not in {"", name}]
            for inner in (inner for sibling in siblings for inner in sibling.variants()):
                if inner.properties:
                    self._relate(plan, inner, "", inner.kind, "")

    def _add(self, relation: Relation) -> None:
        existing = self.relations.get(relation.key)
        if existing is None:
            self.relations[relation.key] = relation
        elif (relation.own_path and not existing.own_path) or (relation.nullable and not existing.nullable):
            self.relations[relation.key] = replace(
                existing,
                many=existing.many or relation.many,
                own_path=existing.own_path or relation.own_path,
                nullable=existing.nullable or relation.nullable,
            )

    def references(self) -> None:
        """Add a link for each field that holds the identifier of another entity, such as `customerUuid`."""
        for kind in self.entity_types.values():
            for name, info in kind.fields.items():
                target = referenced_type(name, self.entity_types) if words(name)[-1:] != ("ids",) else None
                if target is None or target is kind or target.local or kind.local or name == kind.id_field:
                    continue
                links = {(r.owner, r.target) for r in self.relations.values() if not r.many}
                stem = "_".join(identifier_stem(name))
                if (kind.name, target.name) not in links and stem in target.aliases:
                    nullable = any(shape.nullable for shape in info.shapes)
                    self._add(Relation(kind.name, stem, target.name, False, nullable=nullable))

    # -- pairs -----------------------------------------------------------------------------------------------------

    def pairs(self) -> list[RelationPair]:
        """The relations that are two ends of one; call it once the fields of all types are known."""
        between: dict[tuple[str, str], list[Relation]] = defaultdict(list)
        for relation in self.relations.values():
            between[relation.owner, relation.target].append(relation)
        places = {name: place for place, name in enumerate(self.entity_types)}
        ends = sorted((places[a], places[b], a, b) for a, b in between if a in places and b in places)
        pairs = [
            pair
            for place, other, first, second in ends
            if place < other and (second, first) in between
            for pair in self._pairs_between(first, second, between[first, second], between[second, first])
        ]
        return [self._inherited(pair, pairs) for pair in pairs]

    def _pairs_between(
        self, first: str, second: str, forth: list[Relation], back: list[Relation]
    ) -> list[RelationPair]:
        if self.entity_types[first].local or self.entity_types[second].local:
            return []
        same_label = [(a, b) for a in forth for b in back if a.label == b.label and a.many and b.many]
        if same_label:
            return [self._pair_lists(a, b) for a, b in same_label]
        for many, single, parent, child in ((forth, back, first, second), (back, forth, second, first)):
            lists = sorted((r for r in many if r.many), key=lambda r: _label_distance(r, child))
            links = sorted((r for r in single if not r.many), key=lambda r: _label_distance(r, parent))
            if lists and links and not [r for r in single if r.many and _label_distance(r, parent) == 0]:
                a, b = lists[0], links[0]
                return [RelationPair(child, b.label, parent, a.label, family=True, nullable=b.nullable)]
        forth_lists = sorted((r for r in forth if r.many), key=lambda r: _label_distance(r, second))
        back_lists = sorted((r for r in back if r.many), key=lambda r: _label_distance(r, first))
        return [self._pair_lists(forth_lists[0], back_lists[0])] if forth_lists and back_lists else []

    def _pair_lists(self, a: Relation, b: Relation) -> RelationPair:
        """Pair two lists of one another; the type with dates and more fields is the work."""
        kinds = [self.entity_types[relation.owner] for relation in (a, b)]
        weights = [(bool(kind.date and kind.date in kind.summary), len(kind.summary)) for kind in kinds]
        if weights[0] < weights[1]:
            a, b = b, a
        summary = a.label in {label_of(name) for name in self.entity_types[a.owner].summary}
        return RelationPair(a.owner, a.label, b.owner, b.label, summary=summary)

    def _inherited(self, pair: RelationPair, pairs: list[RelationPair]) -> RelationPair:
        if pair.family:
            return pair
        ends = {(p.work, p.maker, p.forth) for p in pairs}
        for family in (p for p in pairs if p.family and p.work == pair.work and p.maker != pair.maker):
            if (family.maker, pair.maker, pair.forth) in ends:
                return replace(pair, through=family.forth)
        return pair


def _label_distance(relation: Relation, noun: str) -> int:
    """The distance of a label from the name of its target: `tracks` 0, `top_tracks` 1, `parts` 2."""
    parts = relation.label.split("_")
    if singular(relation.label) == noun or singular_name(parts) == noun:
        return 0
    return 1 if singular(parts[-1]) == noun.rpartition("_")[2] else 2
