"""A world of related entities, made on demand and the same for one protocol and seed.

Every entity has a key; its values follow from key, seed and document, not from the order of requests. There is a base
population. An entity found by an unknown name lives in a neighbourhood of its own: its works, and the other makers of
those. No other response changes because of it. A write changes only its documented effects.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from string import capwords

from protocols.simulator.analysis.world_schema import EntityType, Relation, WorldSchema
from protocols.simulator.demand import Demand
from protocols.simulator.world import invented_words
from protocols.simulator.world.demanded_entities import DemandedEntities
from protocols.simulator.world.entity import Entity
from protocols.simulator.world.fields import FieldValues
from protocols.simulator.world.plausible_values import UUID_FORM
from protocols.simulator.world.question_ids import QuestionIdentifier
from protocols.simulator.world.relations import EntityRelations
from protocols.simulator.world.seeded_rng import SeededRNG
from protocols.text.entities import NO_ENTITIES, NamedEntities, NamedEntity

__all__ = ["World"]

_MOST = 2_400
"""Entities of a type that belongs to one that belongs to another, and so on."""
_BASE = 48
_MOST_RECORDS = 90


class World:
    """The data behind one simulated API. Not thread-safe: the caller holds a lock.

    Args:
        now: The moment that counts as today.
        open: Accept every identifier as that of an existing entity, because it comes from a real service.
        named_entities: The names in a question. An entity of each name exists in every type, those that belong together
            share a neighbourhood, and the collections of the signed-in user hold them.
        identifiers: The identifiers in a question. An entity of each exists in the type that stands beside it, and in
            any type that is asked for it.
    """

    def __init__(
        self,
        schema: WorldSchema,
        seed: int | str,
        now: datetime,
        *,
        open: bool = False,
        named_entities: NamedEntities = NO_ENTITIES,
        identifiers: tuple[QuestionIdentifier, ...] = (),
    ) -> None:
        self.schema = schema
        self.open = open
        self.named_entities = named_entities
        self.identifiers = identifiers
        self.seed = seed
        self.now = now
        self.version = 0
        self.created: dict[str, list[Entity]] = defaultdict(list)
        self._base: dict[str, list[Entity]] = {}
        self._all: dict[str, list[Entity]] = {}
        self._names: dict[str, tuple[int, dict[str, Entity]]] = {}
        self.neighbours: dict[tuple[Entity, str], list[Entity]] = defaultdict(list)
        self._question_entities: dict[str, dict[str, Entity]] = {}
        self.anchor = Entity("~premises", ("premises",))
        self._materialized: set[str] = set()
        self._creation_counts: Counter[tuple[str, ...]] = Counter()
        self._keyed_entities: dict[tuple[str, ...], Entity] = {}
        self._edge_types = frozenset(schema.edge_types.values())
        texts = (*(name.text for name in named_entities.names), *(identifier.text for identifier in identifiers))
        self.told_texts = {text.casefold(): text for text in texts}
        self.demanded = DemandedEntities(self)
        self.relations = EntityRelations(self)
        self.fields = FieldValues(self, self.relations)
        self.dependent_types = self._edge_types | {
            kind.name for kind in schema.entity_types.values() if kind.local or self.owned_by(kind)
        }

    # -- the population -----------------------------------------------------------------------------------------------

    def rng(self, entity: Entity, *name: object) -> SeededRNG:
        """The randomness of one aspect of one entity."""
        if "rng" not in entity.memo:
            whose = (self.schema.protocol.digest, self.seed, entity.kind, *entity.key, "|")
            entity.memo["rng"] = "\x1f".join(map(str, whose))
        return SeededRNG(entity.memo["rng"], *name)

    def entity_type(self, entity: Entity) -> EntityType:
        """The type of an entity; an empty one for memberships and states."""
        return self.schema.entity_types.get(entity.kind) or EntityType(entity.kind)

    def base(self, kind: str) -> list[Entity]:
        """The base population of a type."""
        if kind not in self._base:
            self._base[kind] = self._populate(self.schema.entity_types[kind])
            self._all[kind] = [*self._base[kind], *self._all.get(kind, [])]
            for entity in self._base[kind]:  # all at once, so that who gets a number first is always the same
                self.fields.identifier(entity)
            self.question_entities(kind)
        return self._base[kind]

    def owned_by(self, kind: EntityType) -> list[Relation]:
        """The relations that alone show a type with an address of its own; its entities exist within their owners."""
        if kind.global_lists or kind.addressed_by_name:
            return []
        if any(pair.work == kind.name or pair.maker == kind.name for pair in self.schema.pairs):
            return []
        if kind.name in self.schema.singletons.values():
            return []
        owners = [r for r in self.schema.relations.values() if r.target == kind.name and r.owner != kind.name]
        back = {named.name for name in kind.all_fields if (named := self.schema.referenced_type(name))}
        tied = kind.addressed or any(relation.owner in back for relation in owners)
        return owners if owners and tied and all(relation.own_path for relation in owners) else []

    def is_enumeration(self, kind: EntityType) -> bool:
        """True if a type is a closed list in the document, such as genres."""
        return len(kind.all_fields) <= 3 and len(kind.records) >= 4 and not kind.addressed

    def _populate(self, kind: EntityType) -> list[Entity]:
        if kind.name in self.dependent_types:
            return []
        start = SeededRNG(self.schema.protocol.digest, self.seed, "population", kind.name)
        spec = self.schema.world_file.spec(kind.name)
        records = start.sample(kind.records, _MOST_RECORDS)
        records.sort(key=lambda record: kind.title not in record)
        if spec.pinned:
            records[:0] = [{n or kind.title: value for n, value in pin.items()} for pin in spec.pinned]
        size = len(records) if self.is_enumeration(kind) else max(_BASE, len(records) + 24)
        for pair in self.schema.pairs:
            if pair.work != kind.name:
                continue
            if pair.family and not pair.nullable:
                users = pair.maker in self.schema.singletons.values()
                size = max(size, _BASE if users or not kind.title else min(7 * len(self.base(pair.maker)), _MOST))
            elif not pair.family and not pair.through:
                size = max(size, 2 * _BASE)
        if spec.size is not None:
            size = max(spec.size, len(spec.pinned))
        return [
            Entity(kind.name, ("base", str(i)), dict(records[i]) if i < len(records) else {}, position=i)
            for i in range(size)
        ]

    def register(self, entity: Entity) -> Entity:
        if entity.kind in self.schema.entity_types:
            self.base(entity.kind)
            self._all[entity.kind].append(entity)
            if (around := entity.around) is not None:
                self.neighbours[around, entity.kind].append(entity)
        return entity

    def all_entities(self, kind: str) -> list[Entity]:
        """All entities of a type for a list: the base population and those created by writes."""
        entities = [*self.base(kind), *self.created[kind]]
        beside = [entity for entity in self.question_entities(kind) if not entity.base]
        entities[2:2] = dict.fromkeys((*self.demanded.entities[kind], *beside))  # on the first page
        return [entity for entity in (*entities, *self.demanded.others[kind]) if not entity.deleted]

    def keyed_entity(self, kind: str, *key: str) -> Entity:
        """The entity of exactly that key, such as the signed-in user or the state of a player."""
        whole = (kind, *key)
        if whole not in self._keyed_entities:
            user = self.base(kind)[:1] if key[:1] == ("singleton",) else []
            values = self.demanded.state_values(key[1]) if key[:1] == ("state",) else {}
            self._keyed_entities[whole] = user[0] if user else Entity(kind, key, values)
        return self._keyed_entities[whole]

    def find(self, kind: str, identifier: str, name: str = "") -> Entity | None:
        """The entity with that identifier, or None; `name` is that of the argument, which may mean another key."""
        entity_type = self.schema.entity_types[kind]
        entity = self._find_identified(entity_type, identifier)
        key = entity_type.key_field(name) if name and entity is None else entity_type.id_field
        if key != entity_type.id_field:
            keyed = (e for e in self._all[kind] if not e.deleted and str(self.fields.value(e, key)) == identifier)
            entity = next(keyed, None)
        if entity is None and entity_type.addressed_by_name and not _is_key(identifier):
            return self.entity_named(kind, identifier)
        if entity is None and kind not in self._materialized:
            self._materialize(entity_type)
            entity = self._find_identified(entity_type, identifier)
        named_texts = {identified.text for identified in self.identifiers}
        if entity is None and identifier in named_texts and not self.demanded.is_elsewhere(identifier):
            entity = self._identified_entity(entity_type, identifier)
        if entity is None and self.open:
            entity = self.adopt(entity_type, identifier)
        return entity if entity and not entity.deleted else None

    def _find_identified(self, kind: EntityType, identifier: str) -> Entity | None:
        self.base(kind.name)
        for entity in self._all[kind.name]:
            if kind.id_field not in entity.memo:
                self.fields.identifier(entity)
        return self.fields.by_identifier[kind.name].get(identifier)

    def _materialize(self, kind: EntityType) -> None:
        """Create all entities of a type that lists would show, for a request that names one before any list did."""
        self._materialized.add(kind.name)
        labels = {label for label, name in self.schema.edge_types.items() if name == kind.name}
        for relation in list(self.schema.relations.values()):
            if not relation.many or self.schema.entity_types[relation.owner].local:
                continue
            if relation.label in labels or (relation.target == kind.name and kind.name in self.dependent_types):
                for owner in (*self.base(relation.owner), *self.question_entities(relation.owner)):
                    for edge in self.relations.related(owner, relation.label, relation.target):
                        if edge.own.kind == kind.name:
                            self.fields.identifier(edge.own)
        reached = [entity for name in self.schema.entity_types for entity in self.question_entities(name)]
        for _ in range(2):
            reached = [neighbour for entity in reached for neighbour in self._adjacent(entity)]

    def _adjacent(self, entity: Entity) -> list[Entity]:
        adjacent: list[Entity] = []
        for relation in self.schema.relations_of(entity.kind, many=True):
            if not entity.base:
                edges = self.relations.related(entity, relation.label, relation.target)
                for edge in edges:
                    if edge.own.kind in self.schema.entity_types:
                        self.fields.identifier(edge.own)
                adjacent += [edge.target for edge in edges if not edge.target.base]
        for pair in self.schema.pairs:
            if pair.family and pair.work == entity.kind and not entity.base:
                parent = self.relations.parent(entity, pair)
                adjacent += [parent] if parent is not None and not parent.base else []
        return list(dict.fromkeys(adjacent))

    def satisfy(self, demands: Sequence[Demand]) -> None:
        """Hold what a program demands, too; what was shown stays as it is."""
        self.demanded.satisfy(demands)
        self.mark_changed()

    # -- the entities of a question -----------------------------------------------------------------------------------

    def question_entities(self, kind: str) -> list[Entity]:
        """The entities of a type with the names in a question, in its order."""
        if kind not in self._question_entities:
            entity_type = self.schema.entity_types[kind]
            self._question_entities[kind] = {}
            if entity_type.is_named and not entity_type.local and kind not in self._edge_types:
                for name in self.named_entities.names:
                    self._add_question_entity(entity_type, name)
            if self.identifiers and not entity_type.local and kind not in self._edge_types:
                for identifier in self.identifiers:
                    if not self.identifies(identifier, entity_type) or self.demanded.is_elsewhere(identifier.text):
                        continue
                    if (entity := self._identified_entity(entity_type, identifier.text)) is not None:
                        self._question_entities[kind].setdefault(identifier.text.casefold(), entity)
        return list(self._question_entities[kind].values())

    def identifies(self, identifier: QuestionIdentifier, kind: EntityType) -> bool:
        """True if an identifier of the question names an entity of a type: by the words beside it, or its prefix.

        A code without such words may be the number of any type with numbers.
        """
        nouns = (*identifier.beside, identifier.prefix)
        named = next(filter(None, (self.schema.entity_type_named(noun) for noun in nouns if noun)), None)
        if named is None and identifier.prefix:
            kinds = self.schema.entity_types.values()
            named = next((other for other in kinds if other.name.startswith(identifier.prefix)), None)
        types = self.schema.entity_types
        pinned = {name for name in self.schema.world_file.entities if self._pinned(types[name], identifier.text)}
        if named is None and pinned:
            return kind.name in pinned
        if named is None:
            return identifier.is_code and bool(kind.number_fields)
        return named is kind

    def _identified_entity(self, kind: EntityType, text: str) -> Entity | None:
        """The entity with an identifier or number of the question; None if the type can have no such one."""
        if (entity := self.fields.by_identifier[kind.name].get(text)) is not None:
            return entity
        for place in self._pinned(kind, text)[:1]:
            return self.base(kind.name)[place]
        whole = (kind.name, "identified", text)
        if whole not in self._keyed_entities:
            values = self.fields.identifying_values(kind, text)
            if not values:
                return None
            entity = Entity(kind.name, whole[1:], values, root=self.anchor)
            self._keyed_entities[whole] = self.register(entity)
            self.fields.identifier(entity)
            self.fields.by_identifier[kind.name].setdefault(text, entity)
        return self._keyed_entities[whole]

    def _pinned(self, kind: EntityType, text: str) -> list[int]:
        """The places of the entities with a number that the world file pins."""
        pins = enumerate(self.schema.world_file.spec(kind.name).pinned)
        return [place for place, values in pins if self._has_number(kind, values, text)]

    def _has_number(self, kind: EntityType, values: Mapping[str, object], text: str) -> bool:
        """True if values hold the number or the identifier of an entity; a number may stand in an object."""
        for path in (kind.id_field, *kind.number_fields):
            outer, _, inner = path.rpartition(".")
            held = values.get(outer)
            if values.get(path) == text or (isinstance(held, Mapping) and held.get(inner) == text):
                return True
        return False

    def _add_question_entity(self, kind: EntityType, name: NamedEntity) -> None:
        question_entities = self._question_entities[kind.name]
        existing = self._by_name(kind.name).get(name.text.casefold())
        if existing is not None and (self.fields.title(existing) == name.text or name.text.islower()):
            question_entities[name.text.casefold()] = existing
            return
        texts = [name.text]
        if name.prefix:
            rng = SeededRNG(self.schema.protocol.digest, self.seed, "prefixed", kind.name, name.text)
            texts += [f"{name.text} {noun}" for noun in invented_words.nouns(rng, 4)]
        for text in texts:
            entity = Entity(kind.name, ("named", text), kind.named(text), root=self.anchor)
            entity.memo["name"] = name
            question_entities[text.casefold()] = self._keyed_entities[kind.name, "named", text] = self.register(entity)
            if text is name.text and not name.prefix:
                self._assign_makers(entity, name)

    def _assign_makers(self, work: Entity, name: NamedEntity) -> None:
        """Give a work the makers that the question names."""
        names = self.named_entities.names
        makers = [maker_name for maker_name in names if maker_name.maker and not name.maker]
        if name.work:
            makers += [maker_name for maker_name in names if not maker_name.work and not maker_name.maker]
        for pair in self.schema.pairs:
            if pair.work != work.kind or pair.through or pair.maker == work.kind:
                continue
            self.question_entities(pair.maker)
            for maker_name in makers:
                maker = self._question_entities[pair.maker].get(maker_name.text.casefold())
                if maker is None or maker.base or maker_name.text in name.text:
                    continue
                if not pair.family:
                    work.forced += ((pair, maker, len(work.forced)),)
                elif work.parent is None and maker.kind not in self.schema.singletons.values():
                    work.parent = maker
                    maker.adopted += (work,)

    def kinds_beside(self, name: NamedEntity) -> set[str]:
        """The types in the words beside a name."""
        return {kind.name for word in name.beside if (kind := self.schema.entity_type_named(word))}

    def current_entity(self, kind: str) -> Entity | None:
        """The entity of a type that the question speaks of as current, such as the device that is playing."""
        if not self.named_entities.words & {"playing", "active", "now", "current", "currently"}:
            return None
        for entity in self.question_entities(kind):
            name = entity.memo.get("name")
            if isinstance(name, NamedEntity) and kind in self.kinds_beside(name):
                return entity
        return None

    def signed_in(self, entity: Entity) -> bool:
        """True if an entity is the signed-in user."""
        return entity.base and entity.position == 0 and entity.kind in self.schema.singletons.values()

    # -- who is meant by an identifier or a name ----------------------------------------------------------------------

    def adopt(self, kind: EntityType, identifier: str) -> Entity | None:
        """A new entity with an identifier from outside; None if identifiers are numbers and this is none."""
        base = self.base(kind.name)
        numbers = bool(base) and isinstance(self.fields.identifier(base[0]), int)
        if numbers and not identifier.isdecimal():
            return None
        entity = self.create(kind.name, identifier)
        entity.values[kind.id_field] = int(identifier) if numbers else identifier
        self.fields.identifier(entity)
        return entity

    def child_at(self, parent: Entity, kind: str, ordinal: str) -> Entity | None:
        """The child of that number, such as season 2 of a show."""
        children = [edge.target for edge in self.relations.children(parent, kind)]
        return next((child for child in children if str(child.position) == ordinal), None)

    def entity_named(self, kind: str, name: str, makers: Sequence[Entity] = ()) -> Entity:
        """The entity of exactly that name, created if it does not exist.

        Args:
            makers: Entities that must be its parent or makers.
        """
        self.question_entities(kind)
        low = name.casefold()
        existing = self._by_name(kind).get(low) or self._question_entities[kind].get(low)
        if existing and all(self._is_made_by(existing, maker) for maker in makers):
            return existing
        if self.schema.entity_types[kind].uses_slugs and (name.islower() or name.isupper()):
            name = capwords(name)  # one link, one thing: `london` is London
        key = ("named", name, *(f"{maker.kind}:{self.fields.identifier(maker)}" for maker in makers))
        whole = (kind, *key)
        if whole in self._keyed_entities:
            return self._keyed_entities[whole]
        entity = Entity(kind, key)
        for maker in makers:
            for pair in self.schema.pairs_between(kind, maker.kind):
                if pair.family:
                    entity.parent = maker
                else:
                    entity.forced += ((pair, maker, 0),)
        title = self.schema.entity_types[kind].title
        if title:
            entity.values[title] = name
        self._keyed_entities[whole] = entity
        return self.register(entity)

    def named_already(self, kind: str, name: str) -> Entity | None:
        """The entity of a name, if there is one: of the question, or of the base population."""
        self.question_entities(kind)
        low = name.casefold()
        return self._question_entities[kind].get(low) or self._by_name(kind).get(low)

    def give_name(self, entity: Entity, name: str) -> None:
        """Let an entity be found by a name, as those of a question are."""
        self._question_entities[entity.kind].setdefault(name.casefold(), entity)

    def _is_made_by(self, work: Entity, maker: Entity) -> bool:
        for pair in self.schema.pairs_between(work.kind, maker.kind):
            if pair.family and self.relations.parent(work, pair) is maker:
                return True
            if not pair.family and any(edge.target is maker for edge in self.relations.makers(work, pair)):
                return True
        return False

    def matching(self, kind: str, text: str) -> list[Entity]:
        """Entities of the base population whose name contains a text, in their order."""
        low = text.casefold()
        entities = dict.fromkeys([*self.question_entities(kind), *self.all_entities(kind)])
        return [entity for entity in entities if not entity.deleted and low in self.fields.title(entity).casefold()]

    def partial_matches(self, kind: str, text: str) -> list[Entity]:
        """The entities for a text that is no name itself but holds a name of the question, or a part of one.

        For `Mojito Jay Chou`, the album comes before one called like its singer, and the singer comes first among
        artists.
        """
        whole = self.matching(kind, text)
        low = f" {text.casefold()} "
        contained = [
            e
            for e in self.question_entities(kind)
            if re.search(rf"\W{re.escape(self.fields.title(e).casefold())}\W", low)
        ]
        makes = any(pair.maker == kind for pair in self.schema.pairs)

        def rank(entity: Entity) -> tuple[bool, bool, int]:
            name = entity.memo.get("name")
            is_maker = isinstance(name, NamedEntity) and name.maker
            return not entity.forced, makes and not is_maker, -len(self.fields.title(entity))

        return list(dict.fromkeys([*whole, *sorted(contained, key=rank)]))

    def _by_name(self, kind: str) -> dict[str, Entity]:
        """The entities of a type by name; read again after each write, which may rename."""
        self.base(kind)
        version, names = self._names.get(kind, (-1, {}))
        if version != self.version:
            names = {}
            for entity in (*self._base[kind], *self.created[kind]):
                if not entity.deleted:
                    names.setdefault(self.fields.title(entity).casefold(), entity)
            self._names[kind] = (self.version, names)
        return names

    # -- writes -------------------------------------------------------------------------------------------------------

    def mark_changed(self) -> None:
        """Note that a write changed an entity, or the set of them."""
        self.version += 1

    def create(self, kind: str, *content: str) -> Entity:
        """Add an entity, as a write does.

        Args:
            content: The body that was sent, so that two concurrent writes create the same two entities in either order.
        """
        self.mark_changed()
        self._creation_counts[kind, *content] += 1
        entity = Entity(kind, ("created", *content, str(self._creation_counts[kind, *content])))
        self.created[kind].append(entity)
        return self.register(entity)


def _is_key(text: str) -> bool:
    """True for a number or a UUID, which are nobody's name."""
    return text.isdecimal() or UUID_FORM.fullmatch(text) is not None
