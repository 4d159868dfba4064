"""The relations of a world: members of lists, parts of wholes, makers and their works."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import cast

from protocols.simulator.analysis.world_schema import RelationPair
from protocols.simulator.world.entity import Entity, RelationEdge, WorldContext
from protocols.text.entities import NO_ENTITIES, NamedEntity
from protocols.text.words import identifier_stem, words

__all__ = ["EntityRelations"]

_PEERS = 24


class EntityRelations:
    """The relations between the entities of a world, computed on demand and changed by writes."""

    def __init__(self, world: WorldContext) -> None:
        self._world = world
        self._schema = world.schema
        self._now = world.now
        self._members: dict[tuple[tuple[str, ...], str, str], list[RelationEdge]] = {}
        self._index: dict[tuple[RelationPair, Entity | None], tuple[int, dict[Entity, list[RelationEdge]]]] = {}
        self._peers_by_root: dict[tuple[Entity, str], list[Entity]] = {}
        self._populated: set[tuple[Entity, str]] = set()
        self._families: dict[RelationPair, dict[int, Entity]] = {}

    def first_related(self, entity: Entity, target: str) -> list[RelationEdge]:
        """The members of the first relation of an entity to a type; random ones if the document has no relation."""
        for relation in self._schema.relations_of(entity.kind, target, many=True):
            return self.related(entity, relation.label, target)
        return self.random_edges(entity, target + "s", target, 1, 3)

    def related(self, entity: Entity, label: str, target: str) -> list[RelationEdge]:
        """The members of a relation after all writes."""
        written = self._members.get((entity.key, f"{entity.kind}.{label}", target))
        edges = written if written is not None else self.initial_edges(entity, label, target)
        return [edge for edge in edges if not edge.target.deleted]

    def is_written(self, entity: Entity, label: str, target: str) -> bool:
        """True if a write changed the members of a relation."""
        return (entity.key, f"{entity.kind}.{label}", target) in self._members

    def rewrite(self, entity: Entity, label: str, target: str, edges: list[RelationEdge]) -> None:
        """Replace the members of a relation."""
        self._members[(entity.key, f"{entity.kind}.{label}", target)] = edges
        self.recount(entity)

    def recount(self, entity: Entity) -> None:
        """Discard the counts of an entity's relations, so that they are computed again."""
        self._world.mark_changed()
        for fields in (entity.values, entity.computed):
            for name in [name for name in fields if self._world.fields.count(entity, name) is not None]:
                del fields[name]

    def member(self, entity: Entity, label: str, target: Entity) -> RelationEdge:
        """A new member of a relation, to be added by `rewrite`."""
        key = ("written", label, entity.kind, *entity.key, "->", target.kind, *target.key)
        return RelationEdge(Entity(f"~{label}", key, ends={target.kind: target}), target)

    def initial_edges(self, entity: Entity, label: str, target: str) -> list[RelationEdge]:
        """The members of a relation before any write."""
        memo = entity.memo.get(("related", label, target))
        if memo is not None:
            return cast("list[RelationEdge]", memo)
        edges, lasting = self._compute_initial_edges(entity, label, target)
        presupposed = self._world.signed_in(entity) or entity.key[0] == "identified"
        if self._world.named_entities is not NO_ENTITIES and presupposed:
            edges = self._with_question_entities(entity, label, target, edges)
        present = {edge.target for edge in edges}
        demanded = [e for e in self._world.demanded.members(entity, label, target, edges) if e not in present]
        if demanded:
            added = [RelationEdge(self.membership(label, entity, member), member) for member in demanded]
            edges = [*edges[:1], *added[:3], *edges[1:], *added[3:]]
        if lasting:
            entity.memo[("related", label, target)] = edges
        return edges

    def _with_question_entities(
        self, user: Entity, label: str, target: str, edges: list[RelationEdge]
    ) -> list[RelationEdge]:
        """A collection of the signed-in user, or of an entity told by its identifier, with those the question names."""
        collections = {relation.target for relation in self._schema.relations_of(user.kind, many=True)}
        present = {edge.target for edge in edges}
        extended = list(edges)
        for entity in self._world.question_entities(target):
            name = entity.memo.get("name")
            kinds = self._world.kinds_beside(name) & collections if isinstance(name, NamedEntity) else set()
            if entity not in present and (not kinds or target in kinds):
                present.add(entity)
                edge = RelationEdge(self.membership(label, user, entity), entity)
                extended.insert(len(present) - len(edges) + 2, edge)
        if not extended and self._world.named_entities.presupposes_items:
            extended = self.random_edges(user, label, target, 3, 6)
        return extended

    def _compute_initial_edges(self, entity: Entity, label: str, target: str) -> tuple[list[RelationEdge], bool]:
        """The members before any write, and whether they are final (works of a maker may grow)."""
        kinds = self._schema.entity_types
        if kinds[target].parent == entity.kind:
            return self.children(entity, target), False
        middle = kinds[target].parent
        if middle and kinds[middle].parent == entity.kind:
            parts = [edge.target for edge in self.children(entity, middle)]
            return [edge for part in parts for edge in self.children(part, target)], True
        if pair_and_role := self._schema.pair_for(entity.kind, label, target):
            pair, is_work = pair_and_role
            if not is_work:
                return self.children(entity, target) if pair.family else self.works(entity, pair), False
            if not pair.family:
                return self.makers(entity, pair), True
            parent = self.parent(entity, pair)
            return [RelationEdge(self.membership(label, entity, parent), parent)] if parent else [], False
        if entity.key[0] == "created":
            return [], True
        local = self._world.entity_type(entity).local
        if local and entity.parent is not None and (edges := self._inherited(entity, label, target)):
            return edges, True
        if self._world.owned_by(kinds[target]):
            return self.children(entity, target), False
        relation = self._schema.relations.get((entity.kind, label, target))
        count = relation.count if relation else 0
        if target != entity.kind and (edges := self._through_pairs(entity, target)):
            rng = self._world.rng(entity, label, target)
            most = min(max(count, 2), 6) if relation and not relation.own_path else 10
            return rng.sample(edges, most), False
        if target == entity.kind:
            return self.random_edges(entity, label, target, 8, 20), True
        if relation and relation.own_path:
            return self.random_edges(entity, label, target, 4, max(min(count, 20), 9)), True
        return self.random_edges(entity, label, target, 1, min(max(count, 2), 4)), True

    def random_edges(self, entity: Entity, label: str, target: str, low: int, high: int) -> list[RelationEdge]:
        rng = self._world.rng(entity, label, target)
        population = [member for member in self._world.base(target) if member is not entity]
        chosen = rng.sample(population, rng.between(low, high))
        return [RelationEdge(self.membership(label, entity, member), member) for member in chosen]

    def _through_pairs(self, entity: Entity, target: str) -> list[RelationEdge]:
        """Members of a one-way relation, taken from pairs: a person is known for their works."""
        edges_by_key: dict[tuple[str, ...], RelationEdge] = {}
        for pair in self._schema.pairs:
            if (pair.maker, pair.work) == (entity.kind, target):
                edges = self.children(entity, target) if pair.family else self.works(entity, pair)
            elif (pair.work, pair.maker) == (entity.kind, target) and not pair.family:
                edges = self.makers(entity, pair)
            else:
                continue
            for edge in edges:
                if edge.target.base or not entity.base:  # a later search by name must not change a response
                    edges_by_key.setdefault(edge.target.key, edge)
        singleton = entity.kind in self._schema.singletons.values()
        return [] if singleton else list(edges_by_key.values())

    def _inherited(self, entity: Entity, label: str, target: str) -> list[RelationEdge]:
        """Members that a part inherits from the whole: the cast of an episode comes from the cast of its show."""
        for whole in entity.ancestors():
            options = [
                r for r in self._schema.relations_of(whole.kind, target, many=True) if self._schema.pair_for(*r.key)
            ]
            if options:
                chosen = next((r for r in options if r.label == label), None)
                chosen = chosen or max(options, key=lambda r: len(self._columns(r.label) & self._columns(label)))
                edges = self.related(whole, chosen.label, target)
                if chosen.label != label:
                    return self._world.rng(entity, label).sample(edges, max(2, len(edges) // 2))
                nested = entity.parent is not None and self._world.entity_type(entity.parent).local
                if self._schema.roles.get(label) or not nested:
                    return edges
                return edges[: max(3, len(edges) - self._world.rng(entity, label).below(3))]
        return []

    def _columns(self, label: str) -> set[str]:
        return {name for row in self._schema.edges.get(label, [])[:20] for name in row}

    def membership(self, label: str, owner: Entity, target: Entity, position: int = 0) -> Entity:
        """The entity with the fields of a membership."""
        kind = self._schema.edge_types.get(label, f"~{label}")
        key = ("entry", label, owner.kind, *owner.key, "->", target.kind, *target.key, str(position))
        return Entity(kind, key, position=position, ends={owner.kind: owner, target.kind: target})

    def linked(self, entity: Entity, label: str, target: str) -> Entity | None:
        """The target of a single link; None if there is none."""
        linked = entity.memo.get(("link", label))
        if isinstance(linked, Entity):
            return linked
        if (demanded := self._world.demanded.link(entity, target)) is not None:
            return demanded
        if entity.ends:
            if target in entity.ends:
                return entity.ends[target]
            ends = [end for kind, end in entity.ends.items() if not self._is_maker(kind)]
            if ends:
                return ends[0]
        family = self._schema.family(entity.kind, target)
        pair, is_work = self._schema.pair_for(entity.kind, label, target) or (family, True)
        if pair and is_work and pair.family:
            return self.parent(entity, pair)
        if around := next((level for level in entity.ancestors() if level.kind == target), None):
            return around
        parts = words(label)
        if self._schema.entity_types[target].local:
            relation = self._schema.relations.get((entity.kind, label, target))
            if parts and parts[0] == "next" and relation and relation.nullable:
                return None
            return self.last_child(entity, target)
        if target == entity.kind and entity.kind in self._schema.entity_types:
            reflexive = set(parts) & {"parent", "previous", "next", "reply", "related"}
            if reflexive and (population := self._world.base(target)):
                return self._world.rng(entity, label).choose(population)
            return entity
        edges = self._through_pairs(entity, target)
        if edges:
            return edges[0].target
        population = self._world.base(target)
        if not population:
            return None
        return self._world.rng(entity, label, target).choose(population)

    def relink(self, entity: Entity, label: str, target: Entity) -> None:
        """Replace the target of a single link."""
        entity.memo[("link", label)] = target
        self._world.mark_changed()

    def _is_maker(self, kind: str) -> bool:
        return any(pair.maker == kind for pair in self._schema.pairs)

    def last_child(self, entity: Entity, target: str = "") -> Entity | None:
        for child in self._schema.entity_types.values():
            if child.parent == entity.kind and (edges := self.children(entity, child.name)):
                last = edges[-1].target
                if child.date:
                    today = self._now.strftime("%Y-%m-%d")
                    dated = [(str(self._world.fields.value(edge.target, child.date)), edge.target) for edge in edges]
                    last = next((member for date, member in reversed(dated) if date <= today), last)
                return last if child.name == target else self.last_child(last, target) or last
        return None

    def parent(self, entity: Entity, pair: RelationPair) -> Entity | None:
        """The one maker of a work of a family: the album of a track."""
        if entity.parent is not None:
            return entity.parent
        if (demanded := self._world.demanded.link(entity, pair.maker)) is not None:
            return demanded
        if entity.base:
            return self._family(pair).get(entity.position)
        if pair.nullable or entity.key[0] == "created" or entity.kind == pair.maker:
            return None
        if pair.maker in self._schema.singletons.values():
            users = self._world.base(pair.maker)
            if not users:
                return None
            if entity.around is self._world.anchor:
                return users[0]
            return self._world.rng(entity, pair.forth).choose(users)
        parent = Entity(pair.maker, ("around", *entity.key), root=entity.around)
        parent.adopted += (entity,)
        for forced, maker, role in entity.forced:
            pairs = [p for p in self._schema.pairs_between(pair.maker, maker.kind) if p.forth == forced.forth]
            parent.forced += tuple((parent_pair, maker, role) for parent_pair in pairs)
        entity.parent = parent
        return self._world.register(parent)

    def _family(self, pair: RelationPair) -> dict[int, Entity]:
        """The makers of the base population, by the position of the work."""
        if pair in self._families:
            return self._families[pair]
        makers = self._world.base(pair.maker)
        members = self._families[pair] = {}
        special = 8 if pair.maker in self._schema.singletons.values() else 0
        counter = 0
        for work in self._world.base(pair.work) if makers else ():
            if pair.nullable and work.position % 3:
                continue
            members[work.position] = makers[0] if counter < special else makers[counter % len(makers)]
            counter += 1
        return members

    def children(self, parent: Entity, kind: str) -> list[RelationEdge]:
        """The entities within an entity, in order: seasons of a show, tracks of an album, reviews of a movie."""
        memo = parent.memo.get(("children", kind))
        if memo is not None:
            return cast("list[RelationEdge]", memo) + self._created_children(parent, kind)
        child_type = self._schema.entity_types[kind]
        pair = self._schema.family(kind, parent.kind)
        children: list[Entity] = list(parent.adopted) if pair else []
        if pair and parent.base:
            children += [work for work in self._world.base(kind) if self._family(pair).get(work.position) is parent]
        elif parent.key[0] != "created" or not pair:
            low, high = (6, 10) if child_type.local or pair else (2, 5)
            if child_type.local and not self._world.entity_type(parent).local:
                low, high = 3, 6
            if parent.key[0] == "created":
                low, high = 0, 0
            for number in range(1, self._world.rng(parent, "children", kind).between(low, high) + 1 - len(children)):
                key = ("child", parent.kind, *parent.key, kind, str(number))
                child = Entity(kind, key, position=number, parent=parent, root=parent.around)
                children.append(self._world.register(child))
        edges = [RelationEdge(self.membership(kind, parent, child, i), child) for i, child in enumerate(children)]
        parent.memo[("children", kind)] = edges
        return edges + self._created_children(parent, kind)

    def _created_children(self, parent: Entity, kind: str) -> list[RelationEdge]:
        added = [entity for entity in self._world.created[kind] if entity.parent is parent]
        return [RelationEdge(self.membership(kind, parent, child), child) for child in added]

    def makers(self, work: Entity, pair: RelationPair) -> list[RelationEdge]:
        """The makers of a work, with their roles."""
        memo = work.memo.get(("makers", pair))
        if memo is not None:
            return cast("list[RelationEdge]", memo)
        label = pair.forth
        if pair.through and not (work.forced and work.parent is None):
            edges = self._parents_makers(work, pair)
        elif work.key[0] == "created":
            edges = []
        else:
            edges = self._choose_makers(work, pair, label)
        work.memo[("makers", pair)] = edges
        return edges

    def _parents_makers(self, work: Entity, pair: RelationPair) -> list[RelationEdge]:
        for family in self._families_through(pair):
            parent = self.parent(work, family)
            pairs = self._schema.pairs_between(parent.kind, pair.maker) if parent else []
            for parent_pair in pairs:
                if parent and parent_pair.forth == pair.forth:
                    makers = [edge.target for edge in self.makers(parent, parent_pair)]
                    return [RelationEdge(self.membership(pair.forth, work, maker), maker) for maker in makers]
        return []

    def _families_through(self, pair: RelationPair) -> list[RelationPair]:
        return [p for p in self._schema.pairs if p.family and (p.work, p.forth) == (pair.work, pair.through)]

    def _choose_makers(self, work: Entity, pair: RelationPair, label: str) -> list[RelationEdge]:
        rng = self._world.rng(work, "makers", label)
        population = self._peers(work, pair.maker)
        forced = [(maker, role) for forced_pair, maker, role in work.forced if forced_pair == pair]
        roles = self._schema.roles.get(label, [])[:9]
        size = len(roles) if roles else rng.between(1, 2) if pair.summary else rng.between(6, 11)
        lead = [population[work.position % len(population)]] if population and work.base and not roles else []
        candidates = [maker for maker in rng.sample(population, size + 1) if maker not in lead]
        chosen = ([maker for maker, _ in forced] or lead) + candidates
        chosen = ([maker for maker, _ in forced] if forced and pair.summary else chosen)[:size]
        if roles and forced:
            maker, role = forced[0]
            rest = [peer for peer in chosen if peer is not maker]
            rest.insert(role % len(roles), maker)
            chosen = rest[:size]
        edges = []
        for i, maker in enumerate(chosen):
            entry = self.membership(label, work, maker, i)
            entry.memo["donation"] = (label, i, roles)
            edges.append(RelationEdge(entry, maker))
        return edges

    def membership_values(
        self, entry: Entity, label: str, position: int, roles: Sequence[dict[str, object]]
    ) -> dict[str, object]:
        values: dict[str, object] = {}
        rows = self._schema.edges.get(label, [])
        rng = self._world.rng(entry, "donor")
        if roles:
            values.update(roles[position % len(roles)])
        elif len(rows) > 5:
            for name, value in rng.choose(rows).items():
                if isinstance(value, str) and value and not identifier_stem(name):
                    values.setdefault(name, value)
        for name in {name for row in rows[:10] for name in row}:
            if words(name)[-1:] and words(name)[-1] in {"order", "position", "index", "rank"}:
                values[name] = position
        return values

    def works(self, maker: Entity, pair: RelationPair) -> list[RelationEdge]:
        """The works of a maker, with their role in each; a maker added by name has works of their own."""
        if pair.through:
            return self._works_through(maker, pair)
        around = maker.around
        if around is not None:
            self._create_works(around, pair.work)
        works = self._world.base(pair.work) if around is None else self._world.neighbours[around, pair.work]
        size, index = self._index.get((pair, around), (-1, {}))
        if size != len(works):
            index = defaultdict(list)
            for work in list(works):
                for edge in self.makers(work, pair):
                    index[edge.target].append(RelationEdge(edge.own, work))
            self._index[pair, around] = len(works), index
        return sorted(index.get(maker, ()), key=_sort_key)

    def _create_works(self, around: Entity, kind: str) -> None:
        """Create all works of a type in a neighbourhood: those of its center, and the parents of its parts."""
        if (around, kind) in self._populated:
            return
        self._populated.add((around, kind))
        if around is self._world.anchor:
            self._world.question_entities(kind)
        for pair in self._schema.pairs:
            if pair.family and pair.maker == kind:
                for part in list(self._world.neighbours[around, pair.work]):
                    self.parent(part, pair)
            elif pair.family and pair.work == kind:
                for whole in list(self._world.neighbours[around, pair.maker]):
                    self.children(whole, kind)
            elif not pair.family and not pair.through and pair.work == kind:
                for maker in self._leaders(around, pair.maker):
                    rng = self._world.rng(maker, "works", pair.back)
                    roles = bool(self._schema.roles.get(pair.forth))
                    for number in range(rng.between(4, 8)):
                        role = (0, 0, 1, 0, 5, 4)[number % 6] if roles else rng.below(2)
                        key = ("work", maker.kind, *maker.key, pair.forth, str(number))
                        self._world.register(Entity(kind, key, forced=((pair, maker, role),), root=around))

    def _leaders(self, around: Entity, kind: str) -> list[Entity]:
        """The entities of a type with works of their own in a neighbourhood."""
        if around is self._world.anchor:
            return [entity for entity in self._world.question_entities(kind) if not entity.base]
        return [around] if around.kind == kind else []

    def _peers(self, entity: Entity, kind: str) -> list[Entity]:
        """The possible partners of an entity: the base population, or only its neighbourhood."""
        around = entity.around
        if around is None or self._world.is_enumeration(self._schema.entity_types[kind]):
            return self._world.base(kind)
        if (around, kind) not in self._peers_by_root:
            keys = [("beside", around.kind, *around.key, str(number)) for number in range(_PEERS)]
            self._peers_by_root[around, kind] = [self._world.register(Entity(kind, key, root=around)) for key in keys]
        return self._peers_by_root[around, kind]

    def _works_through(self, maker: Entity, pair: RelationPair) -> list[RelationEdge]:
        works: list[RelationEdge] = []
        for family in self._families_through(pair)[:1]:
            pairs = [p for p in self._schema.pairs_between(family.maker, maker.kind) if p.forth == pair.forth]
            for edge in (edge for parent_pair in pairs for edge in self.works(maker, parent_pair)):
                children = [child.target for child in self.children(edge.target, pair.work)]
                works += [RelationEdge(self.membership(pair.back, maker, child), child) for child in children]
        return works


def _sort_key(edge: RelationEdge) -> tuple[bool, int, tuple[str, ...]]:
    """The order of works: the base population first, others by key, so that the order of requests does not matter."""
    return (not edge.target.base, edge.target.position if edge.target.base else 0, edge.target.key)
