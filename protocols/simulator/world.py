"""A world of entities that hang together, made on demand and always the same for one protocol and seed.

Every entity has a key, and all it is follows from key, seed and document; nothing depends on which request came first.
There is a base population. What is asked for by an unknown name lives in a neighbourhood of its own (a person, their
works, who else had a part in those): it hangs together, and nobody else's answers change because somebody asked.
Writes change what they say they change.
"""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from string import capwords
from typing import cast
from urllib.parse import quote

from protocols.premises import NOTHING, Name, Premises
from protocols.simulator import vocabulary
from protocols.simulator.dice import Dice
from protocols.simulator.kinds import Blueprint, FieldInfo, Kind, Pair, Relation, label_of, stem_of
from protocols.simulator.shape import Shape, fits
from protocols.simulator.values import is_date, make, mimic, plausible_number, slug
from protocols.simulator.worldfile import EntitySpec, Range
from protocols.words import singular, words

__all__ = ["Edge", "Entity", "World", "coming"]

_BASE = 48
_BESIDE = 24
_MOST_RECORDS = 90
_COUNT_WORDS = frozenset("number of total count num no amount".split())
_ANY = Shape(("value",))
_MEASURED = re.compile(r"\d+(?:\.\d+)?( ?[A-Za-z%]{1,4})")
"""A number with its unit."""
_UNTOLD = EntitySpec()


@dataclass(slots=True, eq=False)
class Entity:
    """One thing in the world; `values` holds what was given to it, `made` what was worked out since.

    `parent` and `ordinal` are set for what exists within another entity, `forced` for works made for their maker.
    `root` is the entity around whose name a neighbourhood is; None for what is in the base population.
    `ends` are the two entities that an entry of a relation joins, by kind. `sent` names the values that a write set;
    a client may have sent what does not fit the answers.
    """

    kind: str
    key: tuple[str, ...]
    values: dict[str, object] = field(default_factory=dict)
    made: dict[str, object] = field(default_factory=dict)
    base: bool = False
    position: int = 0
    parent: Entity | None = None
    root: Entity | None = None
    forced: list[tuple[Pair, Entity, int]] = field(default_factory=list)
    adopted: list[Entity] = field(default_factory=list)
    ends: dict[str, Entity] = field(default_factory=dict)
    memo: dict[object, object] = field(default_factory=dict)
    deleted: bool = False
    sent: set[str] = field(default_factory=set)

    def receive(self, name: str, value: object) -> None:
        """Set a value as a write does."""
        self.values[name] = value
        self.sent.add(name)

    @property
    def around(self) -> Entity | None:
        """Whose neighbourhood it belongs to; None for the base population and what writes created."""
        return None if self.base or self.key[0] == "created" else self.root or self


@dataclass(slots=True, eq=False)
class Edge:
    """A member of a relation: the `target`, and an entity that holds what the list says beside it (role, date)."""

    own: Entity
    target: Entity


class World:
    """The data behind one simulated API. Not thread-safe: the caller holds a lock.

    Args:
        now: The moment that counts as today.
        open: Whether whatever is named by an identifier exists: it is the identifier of a real service's thing.
        premises: What must be there from the start: what is called by the names exists in every kind, those of them
            that belong together share a neighbourhood, and they are in the collections of the signed-in user.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        seed: int | str,
        now: datetime,
        *,
        open: bool = False,
        premises: Premises = NOTHING,
    ) -> None:
        self.blueprint = blueprint
        self._open = open
        self.premises = premises
        self.seed = seed
        self.now = now
        self.version = 0
        self.changes: Counter[str] = Counter()
        self.created: dict[str, list[Entity]] = defaultdict(list)
        self._base: dict[str, list[Entity]] = {}
        self._all: dict[str, list[Entity]] = {}
        self._ids: dict[str, dict[str, Entity]] = defaultdict(dict)
        self._names: dict[str, tuple[int, dict[str, Entity]]] = {}
        self._members: dict[tuple[tuple[str, ...], str, str], list[Edge]] = {}
        self._index: dict[tuple[Pair, Entity | None], tuple[int, dict[Entity, list[Edge]]]] = {}
        self._neighbours: dict[tuple[Entity, str], list[Entity]] = defaultdict(list)
        self._beside_of: dict[tuple[Entity, str], list[Entity]] = {}
        self._spawned: set[tuple[Entity, str]] = set()
        self._planted: dict[str, dict[str, Entity]] = {}
        self._anchor = Entity("~premises", ("premises",))
        self._unfolded: set[str] = set()
        self._repeated: Counter[tuple[str, ...]] = Counter()
        self._things: dict[tuple[str, ...], Entity] = {}
        self._named_base: dict[str, list[str]] = {}
        self._slugged: dict[str, bool] = {}
        self._families: dict[Pair, dict[int, Entity]] = {}
        self._edge_kinds = frozenset(blueprint.edge_kinds.values())
        self.baseless = self._edge_kinds | {
            kind.name for kind in blueprint.kinds.values() if kind.local or self._owned_by(kind)
        }

    # -- the population --------------------------------------------------------------------------------------------

    def dice(self, entity: Entity, *name: object) -> Dice:
        """The chance of one aspect of one entity."""
        return Dice(self.blueprint.protocol.digest, self.seed, entity.kind, *entity.key, "|", *name)

    def kind(self, entity: Entity) -> Kind:
        """What kind of thing an entity is; a bare one for entries of relations and states."""
        return self.blueprint.kinds.get(entity.kind) or Kind(entity.kind)

    def base(self, kind: str) -> list[Entity]:
        """The population that a kind has before anybody asks."""
        if kind not in self._base:
            self._base[kind] = self._populate(self.blueprint.kinds[kind])
            self._all[kind] = [*self._base[kind], *self._all.get(kind, [])]
            for entity in self._base[kind]:  # all at once, so that who gets a number first is always the same
                self.identity(entity)
            self.planted(kind)
        return self._base[kind]

    def _owned_by(self, kind: Kind) -> list[Relation]:
        """The relations that alone show a kind that has an address of its own: its entities exist within those."""
        if kind.global_lists or kind.by_name:
            return []
        if any(pair.work == kind.name or pair.maker == kind.name for pair in self.blueprint.pairs):
            return []
        if kind.name in self.blueprint.singletons.values():
            return []
        owners = [r for r in self.blueprint.relations.values() if r.target == kind.name and r.owner != kind.name]
        back = {named.name for name in kind.all_fields if (named := self.blueprint.kind_named("_".join(stem_of(name))))}
        tied = kind.addressed or any(relation.owner in back for relation in owners)
        return owners if owners and tied and all(relation.own_path for relation in owners) else []

    def _closed(self, kind: Kind) -> bool:
        """Whether a kind is a vocabulary, all words of which the document shows: genres, say."""
        return len(kind.all_fields) <= 3 and len(kind.records) >= 4 and not kind.addressed

    def _populate(self, kind: Kind) -> list[Entity]:
        if kind.name in self.baseless:
            return []
        start = Dice(self.blueprint.protocol.digest, self.seed, "population", kind.name)
        spec = self.blueprint.world.entities.get(kind.name, _UNTOLD)
        records = start.some(kind.records, _MOST_RECORDS)
        records.sort(key=lambda record: kind.title not in record)
        if spec.pinned:
            records[:0] = [{n or kind.title: value for n, value in pin.items()} for pin in spec.pinned]
        size = max(_BASE, len(records) + 24)
        if self._closed(kind):
            size = len(records)
        for pair in self.blueprint.pairs:
            if pair.family and pair.work == kind.name and not pair.nullable:
                size = max(
                    size, _BASE if pair.maker in self.blueprint.singletons.values() else 7 * len(self.base(pair.maker))
                )
            elif not pair.family and not pair.through and pair.work == kind.name:
                size = max(size, 2 * _BASE)
        if spec.size is not None:
            size = max(spec.size, len(spec.pinned))
        return [
            Entity(kind.name, ("base", str(i)), dict(records[i]) if i < len(records) else {}, base=True, position=i)
            for i in range(size)
        ]

    def _enlist(self, entity: Entity) -> Entity:
        if entity.kind in self.blueprint.kinds:
            self.base(entity.kind)
            self._all[entity.kind].append(entity)
            if (around := entity.around) is not None:
                self._neighbours[around, entity.kind].append(entity)
        return entity

    def everything(self, kind: str) -> list[Entity]:
        """What a list of all entities of a kind shows: the base population and what was created by writes."""
        entities = [*self.base(kind), *self.created[kind]]
        if not self.blueprint.kinds[kind].searchable:
            entities[2:2] = [entity for entity in self.planted(kind) if not entity.base]  # on the first page
        return [entity for entity in entities if not entity.deleted]

    def thing(self, kind: str, *key: str) -> Entity:
        """The entity of that very key, such as the signed-in user or the state of a player."""
        whole = (kind, *key)
        if whole not in self._things:
            if key[:1] == ("singleton",) and self.base(kind):
                self._things[whole] = self.base(kind)[0]
            else:
                self._things[whole] = Entity(kind, key)
        return self._things[whole]

    def find(self, kind: str, identity: str) -> Entity | None:
        """The entity with that identifier, or None."""
        known = self.blueprint.kinds[kind]
        if known.by_name:
            return self.named(kind, identity)
        found = self._identified(known, identity)
        if found is None and kind not in self._unfolded:
            self._unfold(known)
            found = self._identified(known, identity)
        if found is None and self._open:
            found = self._taken_in(known, identity)
        return found if found and not found.deleted else None

    def _identified(self, kind: Kind, identity: str) -> Entity | None:
        self.base(kind.name)
        for entity in self._all[kind.name]:
            if kind.identity not in entity.memo:
                self.identity(entity)
        return self._ids[kind.name].get(identity)

    def _unfold(self, kind: Kind) -> None:
        """Bring out all entities of a kind that lists would show, for somebody who names one before any list did."""
        self._unfolded.add(kind.name)
        labels = {label for label, name in self.blueprint.edge_kinds.items() if name == kind.name}
        for relation in list(self.blueprint.relations.values()):
            if not relation.many or self.blueprint.kinds[relation.owner].local:
                continue
            if relation.label in labels or (relation.target == kind.name and kind.name in self.baseless):
                for owner in (*self.base(relation.owner), *self.planted(relation.owner)):
                    for edge in self.related(owner, relation.label, relation.target):
                        if edge.own.kind == kind.name:
                            self.identity(edge.own)
        reached = [entity for name in self.blueprint.kinds for entity in self.planted(name)]
        for _ in range(2):
            reached = [other for entity in reached for other in self._next_to(entity)]

    def _next_to(self, entity: Entity) -> list[Entity]:
        found: list[Entity] = []
        for relation in list(self.blueprint.relations.values()):
            if relation.owner == entity.kind and relation.many and not entity.base:
                edges = self.related(entity, relation.label, relation.target)
                for edge in edges:
                    if edge.own.kind in self.blueprint.kinds:
                        self.identity(edge.own)
                found += [edge.target for edge in edges if not edge.target.base]
        for pair in self.blueprint.pairs:
            if pair.family and pair.work == entity.kind and not entity.base:
                parent = self.parent(entity, pair)
                found += [parent] if parent is not None and not parent.base else []
        return list(dict.fromkeys(found))

    # -- the premises of a question --------------------------------------------------------------------------------

    def planted(self, kind: str) -> list[Entity]:
        """The entities of a kind that bear the names of a question, in its order."""
        if kind not in self._planted:
            known = self.blueprint.kinds[kind]
            self._planted[kind] = {}
            if known.title and not known.local and kind not in self._edge_kinds:
                for name in self.premises.names:
                    self._plant(known, name)
        return list(self._planted[kind].values())

    def _plant(self, kind: Kind, name: Name) -> None:
        planted = self._planted[kind.name]
        known = self._known(kind.name).get(name.text.casefold())
        if known is not None:
            planted[name.text.casefold()] = known
            return
        texts = [name.text]
        if name.prefix:
            dice = Dice(self.blueprint.protocol.digest, self.seed, "prefixed", kind.name, name.text)
            texts += [f"{name.text} {noun}" for noun in vocabulary.nouns(dice, 4)]
        for text in texts:
            entity = Entity(kind.name, ("named", text), {kind.title: text}, root=self._anchor)
            entity.memo["name"] = name
            planted[text.casefold()] = self._things[kind.name, "named", text] = self._enlist(entity)
            if text is name.text and not name.prefix:
                self._credit(entity, name)

    def _credit(self, work: Entity, name: Name) -> None:
        """Let a work belong to those whom the question speaks of as its makers."""
        others = self.premises.names
        makers = [other for other in others if other.maker and not name.maker]
        if name.work:
            makers += [other for other in others if not other.work and not other.maker]
        for pair in self.blueprint.pairs:
            if pair.work != work.kind or pair.through or pair.maker == work.kind:
                continue
            self.planted(pair.maker)
            for other in makers:
                maker = self._planted[pair.maker].get(other.text.casefold())
                if maker is None or maker.base or other.text in name.text:
                    continue
                if not pair.family:
                    work.forced.append((pair, maker, len(work.forced)))
                elif work.parent is None and maker.kind not in self.blueprint.singletons.values():
                    work.parent = maker
                    maker.adopted.append(work)

    def _presumed(self, user: Entity, label: str, target: str, edges: list[Edge]) -> list[Edge]:
        """A collection of the signed-in user with what the question presupposes in it."""
        collections = {r.target for r in self.blueprint.relations.values() if r.owner == user.kind and r.many}
        have = {edge.target for edge in edges}
        found = list(edges)
        for entity in self.planted(target):
            name = entity.memo.get("name")
            said = self._said(name) & collections if isinstance(name, Name) else set()
            if entity not in have and (not said or target in said):
                have.add(entity)
                found.insert(len(have) - len(edges) + 2, Edge(self._entry(label, user, entity), entity))
        if not found and self.premises.presuming:
            found = self._choice(user, label, target, 3, 6)
        return found

    def _said(self, name: Name) -> set[str]:
        """The kinds that the words beside a name speak of."""
        return {kind.name for word in name.beside if (kind := self.blueprint.kind_named(word))}

    def meant(self, kind: str) -> Entity | None:
        """The entity that the question speaks of as one of a kind that something is about at this moment."""
        if not self.premises.words & {"playing", "active", "now", "current", "currently"}:
            return None
        named = (
            e for e in self.planted(kind) if isinstance(name := e.memo.get("name"), Name) and kind in self._said(name)
        )
        return next(named, None)

    def signed_in(self, entity: Entity) -> bool:
        """Whether an entity is the user whom requests come from."""
        return entity.base and entity.position == 0 and entity.kind in self.blueprint.singletons.values()

    def _taken_in(self, kind: Kind, identity: str) -> Entity | None:
        """A new entity with an identifier from outside; None where identifiers are numbers and this is none."""
        base = self.base(kind.name)
        numbers = bool(base) and isinstance(self.identity(base[0]), int)
        if numbers and not identity.isdecimal():
            return None
        entity = self.create(kind.name, identity)
        entity.values[kind.identity] = int(identity) if numbers else identity
        self.identity(entity)
        return entity

    def within(self, parent: Entity, kind: str, ordinal: str) -> Entity | None:
        """The child of that number, such as season 2 of a show."""
        for edge in self.children(parent, kind):
            if str(edge.target.position) == ordinal:
                return edge.target
        return None

    def named(
        self, kind: str, name: str, makers: Sequence[Entity] = (), fixed: dict[str, object] | None = None
    ) -> Entity:
        """The entity of exactly that name, which exists from now on if it did not.

        Args:
            makers: Entities it must belong to or be made by.
            fixed: Values that it must have.
        """
        self.planted(kind)
        low = name.casefold()
        known = self._known(kind).get(low) or self._planted[kind].get(low)
        wanted = fixed or {}
        if known and all(self.value(known, k) == v for k, v in wanted.items()) and self._made_by(known, makers):
            return known
        if self._slugs(self.blueprint.kinds[kind]) and (name.islower() or name.isupper()):
            name = capwords(name)  # one link, one thing: `london` is London
        key = (
            "named",
            name,
            *(f"{m.kind}:{self.identity(m)}" for m in makers),
            *(f"{k}={v}" for k, v in wanted.items()),
        )
        whole = (kind, *key)
        if whole in self._things:
            return self._things[whole]
        entity = Entity(kind, key, dict(wanted))
        for maker in makers:
            for pair in self.blueprint.pairs:
                if pair.work == kind and pair.maker == maker.kind:
                    if pair.family:
                        entity.parent = maker
                    else:
                        entity.forced.append((pair, maker, 0))
        title = self.blueprint.kinds[kind].title
        if title:
            entity.values[title] = name
        self._things[whole] = entity
        return self._enlist(entity)

    def knows(self, kind: str, name: str) -> bool:
        """Whether something is called exactly so, before anybody asks for it."""
        low = name.casefold()
        return low in self._known(kind) or low in self._planted[kind]

    def _made_by(self, work: Entity, makers: Sequence[Entity]) -> bool:
        """Whether somebody known is among those who made a work, or is what it is a part of; for all of `makers`."""
        for maker in makers:
            for pair in self.blueprint.pairs:
                if (pair.work, pair.maker) != (work.kind, maker.kind):
                    continue
                if pair.family and self.parent(work, pair) is maker:
                    break
                if not pair.family and any(edge.target is maker for edge in self.makers(work, pair)):
                    break
            else:
                return False
        return True

    def matching(self, kind: str, text: str) -> list[Entity]:
        """Entities of the base population whose name contains a text, in their order."""
        low = text.casefold()
        entities = dict.fromkeys([*self.planted(kind), *self.everything(kind)])
        return [entity for entity in entities if not entity.deleted and low in self.title(entity).casefold()]

    def recalled(self, kind: str, text: str) -> list[Entity]:
        """What a text may mean that is no name itself but holds names of the question, or a part of one.

        `Mojito Jay Chou` is the album before it is one that is called like its singer, and the singer among artists.
        """
        whole = self.matching(kind, text)
        low = f" {text.casefold()} "
        held = [e for e in self.planted(kind) if re.search(rf"\W{re.escape(self.title(e).casefold())}\W", low)]
        made = {pair.maker for pair in self.blueprint.pairs}
        held.sort(key=lambda e: (not e.forced, kind in made and not self._makes(e), -len(self.title(e))))
        return list(dict.fromkeys([*whole, *held]))

    def _makes(self, entity: Entity) -> bool:
        name = entity.memo.get("name")
        return isinstance(name, Name) and name.maker

    def _known(self, kind: str) -> dict[str, Entity]:
        """Who is called what, of those that everybody knows; read anew after each write, which may rename."""
        self.base(kind)
        version, names = self._names.get(kind, (-1, {}))
        if version != self.version:
            names = {}
            for entity in (*self._base[kind], *self.created[kind]):
                if entity.deleted:
                    continue
                names.setdefault(self.title(entity).casefold(), entity)
            self._names[kind] = (self.version, names)
        return names

    def changed(self, kind: str) -> None:
        """Note that a write changed something about an entity of a kind, or which of them there are."""
        self.version += 1
        self.changes[kind] += 1

    def create(self, kind: str, *content: str) -> Entity:
        """Add an entity, as a write does.

        Args:
            content: What was sent, so that two writes at the same time make the same two things in either order.
        """
        self.changed(kind)
        self._repeated[kind, *content] += 1
        entity = Entity(kind, ("created", *content, str(self._repeated[kind, *content])))
        self.created[kind].append(entity)
        return self._enlist(entity)

    # -- values ----------------------------------------------------------------------------------------------------

    def identity(self, entity: Entity) -> object:
        """The identifier of an entity; from now on it is found by it."""
        kind = self.kind(entity)
        if kind.identity in entity.memo:
            return entity.memo[kind.identity]
        value = entity.values.get(kind.identity)
        taken = self._ids[entity.kind]
        attempt = 0
        while value is None or (str(value) in taken and taken[str(value)] is not entity):
            value = self._new_identity(entity, kind, attempt)
            attempt += 1
        entity.memo[kind.identity] = entity.values[kind.identity] = value
        taken[str(value)] = entity
        return value

    def _new_identity(self, entity: Entity, kind: Kind, attempt: int) -> object:
        dice = self.dice(entity, "identity", attempt)
        info = kind.all_fields.get(kind.identity) or FieldInfo(kind.identity)
        shape = next((shape for shape in info.shapes if shape.types), _ANY)
        shown = shape.those_that_fit(kind.ids)
        numbers = [value for value in shown if isinstance(value, int)]
        if numbers or (not shown and "integer" in shape.types):
            return dice.between(1_000, max([9_999_999, *(n + 1 for n in numbers)]))
        texts = [value for value in shown if isinstance(value, str)]
        if texts and self._slugs(kind):
            made = slug(self.title(entity)) or "x"
            if not entity.base and entity.key[0] not in {"named", "created"}:
                made += f"-{dice.below(16**4):04x}"  # whoever comes first must not get the better name
            return made if attempt == 0 else f"{made}-{attempt + 1}"
        if not texts and not any("format" in check for check in shape.checks):
            texts = [
                v for k in self.blueprint.kinds.values() for v in k.ids if isinstance(v, str) and re.search(r"\d", v)
            ]
        if texts:
            return mimic(texts[0] if len(texts[0]) > 5 else texts[0] + "00000", dice)
        return make(kind.identity, shape, (), dice, self.now)

    def _slugs(self, kind: Kind) -> bool:
        """Whether a kind's identifiers are its names as they stand in links."""
        if kind.name not in self._slugged:
            texts = [value for value in kind.ids if isinstance(value, str)]
            names = {slug(str(value)) for value in (kind.fields[kind.title].examples if kind.title else ())}
            self._slugged[kind.name] = any(text in names for text in texts)
        return self._slugged[kind.name]

    def title(self, entity: Entity) -> str:
        """What an entity is called; its identifier where the API gives it no name."""
        name = self.kind(entity).title
        return str(self.value(entity, name)) if name else str(self.identity(entity))

    def value(self, entity: Entity, name: str, shape: Shape | None = None) -> object:
        """The value of a field, the same in every view that can show it.

        Args:
            name: The field; a path with dots for what lies within a plain object of the entity.
            shape: Where it will stand; a value that may not stand there is replaced by one that may.
        """
        if (donation := entity.memo.pop("donation", None)) is not None:
            entity.values.update(self._donation(entity, *cast("tuple[str, int, list[dict[str, object]]]", donation)))
        if name in entity.values:
            value = entity.values[name]
        else:
            if name not in entity.made:
                entity.made[name] = self._compute(entity, name, self._usual(entity, name) or shape)
            value = entity.made[name]
        if shape is None or fits(value, shape):
            return value
        if isinstance(value, (int, str, float)) and not isinstance(value, bool):
            for turned in (str(value), _as_int(value), _as_float(value)):
                if turned is not None and fits(turned, shape):
                    return turned
        if is_date(value) and fits(str(value)[:10], shape):
            return str(value)[:10]
        dice = self.dice(entity, f"{name}@{sorted(shape.types)}")
        return make(name.rpartition(".")[2], shape, self._info(entity, name).examples, dice, self.now)

    def _usual(self, entity: Entity, name: str) -> Shape | None:
        """Where a field stands first of all; its value is made for there, whichever view of it is asked for first."""
        place = entity.kind
        if entity.key[:1] == ("state",):
            place = f"{entity.kind} {entity.key[1]}"
        return self.blueprint.places.get((place, re.sub(r"\[\d+\]", "[]", name)))

    def _info(self, entity: Entity, name: str) -> FieldInfo:
        kind = self.kind(entity)
        info = kind.all_fields.get(name)
        last = name.rpartition(".")[2]
        if info is None or not info.filled:
            return self.blueprint.fields.get(last) or info or FieldInfo(last)
        return info

    def _compute(self, entity: Entity, name: str, shape: Shape | None) -> object:
        kind = self.kind(entity)
        dice = self.dice(entity, name)
        if name == kind.identity and entity.kind in self.blueprint.kinds:
            return self.identity(entity)
        if name == kind.title:
            return self._new_name(entity, kind, dice)
        if (told := self.told(entity, name)) is not None:
            return self._drawn(told, dice, self._info(entity, name).examples)
        known = self._derived(entity, kind, name, shape)
        if known is not None:
            return known
        info = self._info(entity, name)
        where = shape or next(iter(info.shapes), _ANY)
        own = kind.all_fields.get(name)
        pool: Sequence[object] = info.examples
        if "." in name or "[" in name:
            pool = where.examples
        elif own is not None and where.types <= {"integer", "number", "null"}:
            pool = own.examples if own.examples or not plausible_number(name) else ()
        elif entity.kind not in self.blueprint.kinds and where.examples and entity.key[:1] == ("state",):
            pool = where.examples
        if name == kind.date:
            return self._new_date(entity, kind, [v for v in pool if isinstance(v, str)], where)
        last = re.sub(r"\[\d+\]", "", name).rpartition(".")[2]
        if "." in name and where.nullable and not pool and set(words(last)) & {"href", "url", "link"}:
            return None
        return make(last, where, pool, dice, self.now)

    def telling(self, kind: str) -> bool:
        """Whether the world file gives values of any field of a kind."""
        return bool(self.blueprint.world.entities.get(kind, _UNTOLD).fields)

    def told(self, entity: Entity, name: str) -> tuple[object, ...] | Range | None:
        """The values that the world file gives for a field, if it does."""
        fields = self.blueprint.world.entities.get(entity.kind, _UNTOLD).fields
        return fields.get(re.sub(r"\[\d+\]", "", name)) if fields else None

    def _drawn(self, told: tuple[object, ...] | Range, dice: Dice, examples: Sequence[object]) -> object:
        """One of some values, or a number within a range, with its unit where the examples have one: "12 g"."""
        if not isinstance(told, Range):
            return dice.choose(told)
        units = {found[1] for one in examples if isinstance(one, str) and (found := _MEASURED.fullmatch(one))}
        unit = units.pop() if len(units) == 1 else ""
        if float(told.low).is_integer() and float(told.high).is_integer():
            number: float = dice.between(int(told.low), int(told.high))
        else:
            number = round(told.low + (told.high - told.low) * dice.part(), 2)
        return f"{number}{unit}" if unit else number

    def _new_name(self, entity: Entity, kind: Kind, dice: Dice) -> object:
        examples = [str(v) for v in kind.fields[kind.title].examples if v] if kind.title in kind.fields else []
        if entity.parent is not None and kind.local:
            word = f"{kind.name.replace('_', ' ').title()} {entity.position}"
            numbered = any(re.fullmatch(rf"{kind.name.split('_')[-1]} \d+", text.lower()) for text in examples)
            return word if numbered or not examples else vocabulary.title(dice)
        if entity.base:
            return self._base_names(kind, examples)[entity.position]
        if told := self.blueprint.world.entities.get(kind.name, _UNTOLD).names:
            return dice.choose(told)
        return vocabulary.made_up_name(kind.name, dice)

    def _base_names(self, kind: Kind, examples: Sequence[str]) -> list[str]:
        """A name of its own for each of the base population: first those that the document shows elsewhere."""
        if kind.name not in self._named_base:
            given = [str(entity.values.get(kind.title) or "") for entity in self.base(kind.name)]
            recorded = {record.get(kind.title) for record in kind.records}
            told = self.blueprint.world.entities.get(kind.name, _UNTOLD).names
            start = Dice(self.blueprint.protocol.digest, self.seed, "names", kind.name)
            unused = [name for name in dict.fromkeys(start.some(told, len(told)) or examples) if name not in recorded]
            taken = {*given, *unused}
            for position in range(len(given)):
                attempt = 0
                while not given[position] and unused:
                    given[position] = unused.pop(0)
                while not given[position]:
                    dice = Dice(self.blueprint.protocol.digest, self.seed, "name", kind.name, position, attempt)
                    made = vocabulary.made_up_name(kind.name, dice)
                    attempt += 1
                    if made not in taken or attempt > 8:
                        given[position] = made
                        taken.add(made)
            self._named_base[kind.name] = given
        return self._named_base[kind.name]

    def _new_date(self, entity: Entity, kind: Kind, shown: list[str], shape: Shape) -> object:
        dice = self.dice(entity, "date")
        if entity.parent is not None and kind.local:
            date_name = self.kind(entity.parent).date
            begun = _parse(self.value(entity.parent, date_name)) if date_name else None
            step = 364 if not self.kind(entity.parent).local else 7
            moment = (begun or self.now.replace(tzinfo=None)) + timedelta(days=step * (max(entity.position, 1) - 1))
        elif coming(kind.date):
            moment = self.now.replace(tzinfo=None, minute=0, second=0, microsecond=0) + timedelta(
                hours=dice.between(5, 240)
            )
        elif entity.base and (chance := dice.below(10)) < 5:
            days = dice.between(1, 120) if chance < 2 else -dice.between(0, 45)
            moment = self.now.replace(tzinfo=None) + timedelta(days=days)
        else:
            childish = any(other.parent == kind.name for other in self.blueprint.kinds.values())
            moment = self.now.replace(tzinfo=None) - timedelta(days=dice.between(2600 if childish else 40, 9000))
        example = next((text for text in shown if text), "")
        for text in (
            moment.strftime("%Y-%m-%dT%H:%M:%S"),
            moment.strftime("%Y-%m-%d"),
            moment.strftime("%Y-%m"),
            moment.strftime("%Y"),
        ):
            if ((not example and len(text) <= 10) or len(text) == len(example)) and fits(text, shape):
                return text
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if "T" in example else moment.strftime("%Y-%m-%d")

    def _derived(self, entity: Entity, kind: Kind, name: str, shape: Shape | None) -> object:
        """What a field must be because of what else is known; None where nothing says."""
        parts = words(name)
        if not parts or ("." in name and not shape):
            return None
        info = kind.all_fields.get(name)
        if parts[-1] in {"type", "kind", "object"}:
            pool: dict[str, object] = {v.casefold(): v for v in (info.examples if info else ()) if isinstance(v, str)}
            for part in info.shapes if info else ():
                for check in part.checks:
                    pool.update({str(v).casefold(): v for v in cast("list[object]", check.get("enum") or [])})
            about = (
                entity
                if parts == (parts[-1],) or entity.kind in pool
                else entity.parent or next(iter(entity.ends.values()), entity)
            )
            names = [about.kind, *self.kind(about).aliases]
            for alias in names:
                if alias in pool:
                    return pool[alias]
            if parts == ("type",) and not pool and info and entity.kind in self.blueprint.kinds:
                return entity.kind
            if entity.ends and (label := entity.key[1]) in pool:
                return pool[label]
            if about is not entity and not isinstance(shape, type(None)) and fits(about.kind, shape):
                return about.kind
        for before, after in self._template(name, kind):
            return f"{before}{self.identity(entity)}{after}"
        if parts[-1] in {"homepage", "website"} and kind.title and len({*(info.examples if info else ())}) < 8:
            return f"https://www.{slug(self.title(entity)) or 'home'}.example"
        if entity.kind in self.blueprint.kinds and (link := self._address(entity, name, info, shape)) is not None:
            return link
        if (count := self._count(entity, kind, name)) is not None:
            return count
        if (ordinal := self._ordinal(entity, kind, name)) is not None:
            return ordinal
        if (reference := self._reference(entity, kind, name)) is not None:
            return reference
        if kind.title and parts[-1] in {"name", "title"} and parts[0] in {"original", "localized", "full", "display"}:
            return self.title(entity)
        if (
            name not in kind.fields
            and parts in {("name",), ("title",)}
            and kind.title
            and entity.kind in self.blueprint.kinds
        ):
            return self.title(entity)
        if kind.date and parts[0] == "last" and parts[-1] == "date" and name != kind.date:
            latest = self._last_child(entity)
            if latest is not None:
                return self.value(latest, self.kind(latest).date)
        if kind.date and parts[-1] == "precision":
            return {4: "year", 7: "month"}.get(len(str(self.value(entity, kind.date))), "day")
        if kind.date and name not in kind.fields and parts[-1] == "date":
            return self.value(entity, kind.date)
        return None

    def _address(self, entity: Entity, name: str, info: FieldInfo | None, shape: Shape | None) -> str | None:
        """What a link of an entity says: its own address, that of one of its lists, or a page about it."""
        around, _, last = re.sub(r"\[\d+\]", "", name).rpartition(".")
        parts = words(last)
        if shape is not None and "string" not in shape.types:
            return None
        if last in {"href", "self"}:
            if not around:
                return self.link(entity)
            known = any(
                r.owner == entity.kind and r.label == label_of(around) for r in self.blueprint.relations.values()
            )
            return f"{self.link(entity)}/{around}" if known else None
        linking = words(around)[-1:] and singular(words(around)[-1]) in {"url", "link"}
        if linking or (parts[-1] in {"url", "permalink"} and len(parts) <= 2 and not (info and any(info.examples))):
            if shape is not None and (any(shape.examples) or (shape.nullable and not linking)):
                return None
            servers = self.blueprint.protocol.servers
            host = re.sub(r"^https?://(api\.|www\.)?([^/]+).*$", r"\2", servers[0].url) if servers else "example.com"
            host = host if "." in host else "example.com"
            return (
                f"https://www.{host}/{entity.kind}/{self.identity(entity)}"
                if parts[-1] not in {"image", "preview"}
                else None
            )
        return None

    def _template(self, name: str, kind: Kind) -> list[tuple[str, str]]:
        known = self.blueprint.templates.get(name.rpartition(".")[2], [])
        for owner, before, after in known:
            if owner == kind.name:
                return [(before, after)]
        for owner, before, after in known:
            pattern = rf"(?<![A-Za-z]){re.escape(owner)}(?![A-Za-z])"
            if re.search(pattern, before) and kind.name in self.blueprint.kinds:
                return [(re.sub(pattern, kind.name, before), after)]
        return []

    def link(self, entity: Entity) -> str:
        """The address of an entity in the API's documented terms."""
        kind = self.kind(entity)
        servers = self.blueprint.protocol.servers
        root = servers[0].url if servers else ""
        if kind.detail is None:
            for plan in self.blueprint.plans:
                place = next(
                    (i for i, step in enumerate(plan.steps) if step.what == "entity" and step.kind == kind.name), 0
                )
                if place and all(step.what == "literal" for step in plan.steps[:place]):
                    start = "/".join(step.name for step in plan.steps[:place])
                    return f"{root}/{start}/{quote(str(self.identity(entity)), safe='')}"
            return f"{root}/{kind.name}s/{quote(str(self.identity(entity)), safe='')}"
        path = kind.detail.tool.path
        chain = entity
        for step in reversed(kind.detail.steps):
            if step.what == "entity":
                value = chain.position if self.kind(chain).local else self.identity(chain)
                path = path.replace(f"{{{step.name}}}", quote(str(value), safe=""))
                chain = chain.parent or chain
        return root + path

    def count(self, entity: Entity, name: str) -> int | None:
        """The number that a field such as episode_count must tell; None for other fields."""
        return self._count(entity, self.kind(entity), name)

    def _count(self, entity: Entity, kind: Kind, name: str) -> int | None:
        parts = words(name.rpartition(".")[2])
        rest = [part for part in parts if part not in _COUNT_WORDS]
        holder = label_of(name.rpartition(".")[0]) if "." in name else ""
        if not set(parts) & _COUNT_WORDS or (parts[-1] in {"number", "no"}):
            return None
        if not rest and not holder:
            return None
        noun = singular(rest[-1]) if rest else singular(holder.rpartition("_")[2])
        mine = [r for r in self.blueprint.relations.values() if r.owner == kind.name and r.many]
        exact = "_".join([*rest[:-1], noun])
        mine.sort(key=lambda r: "_".join([*r.label.split("_")[:-1], singular(r.label.rpartition("_")[2])]) != exact)
        for relation in mine:
            if noun in {relation.target, singular(relation.label), singular(relation.label.rpartition("_")[2])}:
                return len(self.related(entity, relation.label, relation.target))
        for child in self.blueprint.kinds.values():
            if child.parent == kind.name:
                for grandchild in self.blueprint.kinds.values():
                    if grandchild.parent == child.name and grandchild.name == noun:
                        return sum(len(self.children(e.target, noun)) for e in self.children(entity, child.name))
        return None

    def _ordinal(self, entity: Entity, kind: Kind, name: str) -> int | None:
        level: Entity | None = entity
        while level is not None and self.kind(level).local:
            if self.kind(level).ordinal == name:
                return level.position
            level = level.parent
        parts = words(name)
        if len(parts) == 2 and parts[0] in kind.aliases and parts[1] in {"number", "position", "index"}:
            for pair in self.blueprint.pairs:
                if pair.family and pair.work == kind.name and (parent := self.parent(entity, pair)):
                    siblings = [edge.target for edge in self.children(parent, kind.name)]
                    return siblings.index(entity) + 1 if entity in siblings else 1
        return None

    def _reference(self, entity: Entity, kind: Kind, name: str) -> object:
        parts, stem = words(name), stem_of(name)
        if not stem:
            if entity.parent is not None and not kind.local and len(parts) == 2 and parts[1] in {"title", "name"}:
                return self.title(entity.parent) if parts[0] not in kind.aliases else None
            return None
        if parts[-1] not in {"id", "ids", "uuid", "guid", "ref", "slug", "key"}:
            return None
        target = self.blueprint.kind_named("_".join(stem))
        many = parts[-1] == "ids"
        if target is None:
            level = entity.parent
            while level is not None and level.parent is not None and self.kind(level).local:
                level = level.parent
            return (
                self.identity(level)
                if (level is not None and name not in kind.fields) or (level and self._numbered(name, kind))
                else None
            )
        if target.name in entity.ends:
            return self.identity(entity.ends[target.name])
        if target.name == entity.kind:
            return self.identity(entity) if not many else None
        level = entity.parent
        while level is not None:
            if level.kind == target.name:
                return self.identity(level)
            level = level.parent
        if many:
            return [self.identity(edge.target) for edge in self.about(entity, target.name)]
        one = self.one(entity, "_".join(stem), target.name)
        return self.identity(one) if one else None

    def _numbered(self, name: str, kind: Kind) -> bool:
        """Whether a field of something that exists within another holds whole numbers, as identifiers of that are."""
        info = kind.all_fields.get(name)
        whole = bool(info) and all(isinstance(value, int) for value in (info.examples if info else ()))
        return whole and name != kind.identity and (kind.local or kind.name in self.baseless)

    # -- relations -------------------------------------------------------------------------------------------------

    def about(self, entity: Entity, target: str) -> list[Edge]:
        """The members of the first relation of an entity to a kind; one is made up where the document has none."""
        for relation in self.blueprint.relations.values():
            if relation.owner == entity.kind and relation.target == target and relation.many:
                return self.related(entity, relation.label, target)
        return self._choice(entity, target + "s", target, 1, 3)

    def related(self, entity: Entity, label: str, target: str) -> list[Edge]:
        """The members of a relation, as they are after all writes."""
        written = self._members.get((entity.key, f"{entity.kind}.{label}", target))
        edges = written if written is not None else self.natural(entity, label, target)
        return [edge for edge in edges if not edge.target.deleted]

    def rewrite(self, entity: Entity, label: str, target: str, edges: list[Edge]) -> None:
        """Let a relation have these members from now on."""
        self._members[(entity.key, f"{entity.kind}.{label}", target)] = edges
        self.recount(entity)

    def recount(self, entity: Entity) -> None:
        """Let fields that count the members of an entity's relations be worked out anew."""
        self.changed(entity.kind)
        for known in (entity.values, entity.made):
            for name in [name for name in known if self.count(entity, name) is not None]:
                del known[name]

    def member(self, entity: Entity, label: str, target: Entity) -> Edge:
        """A new member of a relation, to be put in by `rewrite`."""
        key = ("written", label, entity.kind, *entity.key, "->", target.kind, *target.key)
        return Edge(Entity(f"~{label}", key, ends={target.kind: target}), target)

    def natural(self, entity: Entity, label: str, target: str) -> list[Edge]:
        """The members of a relation before any write."""
        memo = entity.memo.get(("related", label, target))
        if memo is not None:
            return cast("list[Edge]", memo)
        edges, lasting = self._natural_edges(entity, label, target)
        if self.premises is not NOTHING and self.signed_in(entity):
            edges = self._presumed(entity, label, target, edges)
        if lasting:
            entity.memo[("related", label, target)] = edges
        return edges

    def _natural_edges(self, entity: Entity, label: str, target: str) -> tuple[list[Edge], bool]:
        """The members before any write, and whether they stay so (works of a maker may grow)."""
        kinds = self.blueprint.kinds
        if kinds[target].parent == entity.kind:
            return self.children(entity, target), False
        middle = kinds[target].parent
        if middle and kinds[middle].parent == entity.kind:
            parts = [edge.target for edge in self.children(entity, middle)]
            return [edge for part in parts for edge in self.children(part, target)], True
        if found := self.blueprint.pair_for(entity.kind, label, target):
            pair, is_work = found
            if pair.family:
                parent = self.parent(entity, pair) if is_work else None
                return (
                    [Edge(self._entry(label, entity, parent), parent)] if parent else []
                ) if is_work else self.children(entity, target), False
            return (self.makers(entity, pair), True) if is_work else (self.works(entity, pair), False)
        kind = self.kind(entity)
        if entity.key[0] == "created":
            return [], True
        if kind.local and entity.parent is not None and (edges := self._inherited(entity, label, target)):
            return edges, True
        if self._owned_by(kinds[target]):
            return self.children(entity, target), False
        relation = self.blueprint.relations.get((entity.kind, label, target))
        count = relation.count if relation else 0
        if target != entity.kind and (edges := self._through_pairs(entity, target)):
            dice = self.dice(entity, label, target)
            most = min(max(count, 2), 6) if relation and not relation.own_path else 10
            return dice.some(edges, most), False
        if target == entity.kind:
            return self._choice(entity, label, target, 8, 20), True
        if relation and relation.own_path:
            return self._choice(entity, label, target, 4, max(min(count, 20), 9)), True
        return self._choice(entity, label, target, 1, min(max(count, 2), 4)), True

    def _choice(self, entity: Entity, label: str, target: str, low: int, high: int) -> list[Edge]:
        dice = self.dice(entity, label, target)
        others = [other for other in self.base(target) if other is not entity]
        chosen = dice.some(others, dice.between(low, high))
        return [Edge(self._entry(label, entity, other), other) for other in chosen]

    def _through_pairs(self, entity: Entity, target: str) -> list[Edge]:
        """Members of a relation that has no other end of its own, from those that have: a person is known for works."""
        found: dict[tuple[str, ...], Edge] = {}
        for pair in self.blueprint.pairs:
            if (pair.maker, pair.work) == (entity.kind, target):
                edges = self.children(entity, target) if pair.family else self.works(entity, pair)
            elif (pair.work, pair.maker) == (entity.kind, target) and not pair.family:
                edges = self.makers(entity, pair)
            else:
                continue
            for edge in edges:
                if edge.target.base or not entity.base:  # what is asked for by name later must not change what is shown
                    found.setdefault(edge.target.key, edge)
        singleton = entity.kind in self.blueprint.singletons.values()
        return [] if singleton else list(found.values())

    def _inherited(self, entity: Entity, label: str, target: str) -> list[Edge]:
        """Members that a part takes from the whole: the cast of an episode comes from the cast of its show."""
        whole = entity.parent
        while whole is not None:
            options = [
                r
                for r in self.blueprint.relations.values()
                if r.owner == whole.kind and r.target == target and r.many and self.blueprint.pair_for(*r.key)
            ]
            if options:
                chosen = next((r for r in options if r.label == label), None)
                chosen = chosen or max(options, key=lambda r: len(self._columns(r.label) & self._columns(label)))
                edges = self.related(whole, chosen.label, target)
                if chosen.label != label:
                    return self.dice(entity, label).some(edges, max(2, len(edges) // 2))
                if self.blueprint.roles.get(label) or not self.kind(entity.parent).local if entity.parent else True:
                    return edges
                return edges[: max(3, len(edges) - self.dice(entity, label).below(3))]
            whole = whole.parent
        return []

    def _columns(self, label: str) -> set[str]:
        return {name for donor in self.blueprint.edges.get(label, [])[:20] for name in donor}

    def _entry(self, label: str, owner: Entity, target: Entity | None, position: int = 0) -> Entity:
        """The entity that holds what a list says of a membership."""
        kind = self.blueprint.edge_kinds.get(label, f"~{label}")
        key = (
            "entry",
            label,
            owner.kind,
            *owner.key,
            "->",
            target.kind if target else "",
            *(target.key if target else ()),
            str(position),
        )
        ends = {owner.kind: owner, **({target.kind: target} if target else {})}
        return Entity(kind, key, position=position, ends=ends)

    def one(self, entity: Entity, label: str, target: str) -> Entity | None:
        """The single entity that a link names; None where there is none."""
        linked = entity.memo.get(("link", label))
        if isinstance(linked, Entity):
            return linked
        if entity.ends:
            if target in entity.ends:
                return entity.ends[target]
            others = [end for kind, end in entity.ends.items() if not self._is_maker(kind)]
            if others:
                return others[0]
        pair = self.blueprint.pair_for(entity.kind, label, target)
        if pair is None:
            pair = next(
                ((p, True) for p in self.blueprint.pairs if p.family and (p.work, p.maker) == (entity.kind, target)),
                None,
            )
        if pair and pair[1] and pair[0].family:
            return self.parent(entity, pair[0])
        level = entity.parent
        while level is not None:
            if level.kind == target:
                return level
            level = level.parent
        parts = words(label)
        if self.blueprint.kinds[target].local:
            relation = self.blueprint.relations.get((entity.kind, label, target))
            if parts and parts[0] == "next" and relation and relation.nullable:
                return None
            return self._last_child(entity, target)
        if target == entity.kind and entity.kind in self.blueprint.kinds:
            if set(parts) & {"parent", "previous", "next", "reply", "related"}:
                return self.dice(entity, label).choose(self.base(target)) if self.base(target) else entity
            return entity
        edges = self._through_pairs(entity, target)
        if edges:
            return edges[0].target
        population = self.base(target)
        if not population:
            return None
        return self.dice(entity, label, target).choose(population)

    def relink(self, entity: Entity, label: str, target: Entity) -> None:
        """Let a single link name another entity from now on."""
        entity.memo[("link", label)] = target
        self.changed(entity.kind)

    def _is_maker(self, kind: str) -> bool:
        return any(pair.maker == kind for pair in self.blueprint.pairs)

    def _last_child(self, entity: Entity, target: str = "") -> Entity | None:
        for child in self.blueprint.kinds.values():
            if child.parent == entity.kind and (edges := self.children(entity, child.name)):
                past = [
                    e.target
                    for e in edges
                    if not child.date or str(self.value(e.target, child.date)) <= self.now.strftime("%Y-%m-%d")
                ]
                last = (past or [edge.target for edge in edges])[-1]
                return last if child.name == target else self._last_child(last, target) or last
        return None

    def parent(self, entity: Entity, pair: Pair) -> Entity | None:
        """The one maker of a work of a family: the album of a track."""
        if entity.parent is not None:
            return entity.parent
        if entity.base:
            members = self._family_of(pair)
            return members.get(entity.position)
        if pair.nullable or entity.key[0] == "created" or entity.kind == pair.maker:
            return None
        if pair.maker in self.blueprint.singletons.values():
            users = self.base(pair.maker)
            return users[0] if entity.around is self._anchor else self.dice(entity, pair.forth).choose(users)
        parent = Entity(pair.maker, ("around", *entity.key), root=entity.around)
        parent.adopted.append(entity)
        for forced, maker, role in entity.forced:
            for other in self.blueprint.pairs:
                if other.work == pair.maker and other.maker == maker.kind and other.forth == forced.forth:
                    parent.forced.append((other, maker, role))
        entity.parent = parent
        return self._enlist(parent)

    def _family(self, pair: Pair) -> dict[int, Entity]:
        """Which base entity belongs to which: position of the work -> its maker."""
        makers = self.base(pair.maker)
        members: dict[int, Entity] = {}
        special = 8 if pair.maker in self.blueprint.singletons.values() else 0
        counter = 0
        for work in self.base(pair.work):
            if pair.nullable and work.position % 3:
                continue
            members[work.position] = makers[0] if counter < special else makers[counter % len(makers)]
            counter += 1
        return members

    def children(self, parent: Entity, kind: str) -> list[Edge]:
        """What exists within an entity: seasons of a show, tracks of an album, reviews of a movie; in order."""
        memo = parent.memo.get(("children", kind))
        if memo is not None:
            return cast("list[Edge]", memo) + self._added(parent, kind)
        known = self.blueprint.kinds[kind]
        pair = next((p for p in self.blueprint.pairs if p.family and (p.maker, p.work) == (parent.kind, kind)), None)
        found: list[Entity] = list(parent.adopted) if pair else []
        if pair and parent.base:
            found += [work for work in self.base(kind) if self._family_of(pair).get(work.position) is parent]
        elif parent.key[0] != "created" or not pair:
            low, high = (
                (3, 6) if known.local and not self.kind(parent).local else (6, 10) if known.local or pair else (2, 5)
            )
            if parent.key[0] == "created":
                low, high = 0, 0
            for number in range(1, self.dice(parent, "children", kind).between(low, high) + 1 - len(found)):
                key = ("child", parent.kind, *parent.key, kind, str(number))
                child = Entity(kind, key, position=number, parent=parent, root=parent.around)
                found.append(self._enlist(child))
        edges = [Edge(self._entry(kind, parent, child, i), child) for i, child in enumerate(found)]
        parent.memo[("children", kind)] = edges
        return edges + self._added(parent, kind)

    def _added(self, parent: Entity, kind: str) -> list[Edge]:
        added = [entity for entity in self.created[kind] if entity.parent is parent]
        return [Edge(self._entry(kind, parent, child), child) for child in added]

    def _family_of(self, pair: Pair) -> dict[int, Entity]:
        if pair not in self._families:
            self._families[pair] = self._family(pair)
        return self._families[pair]

    def makers(self, work: Entity, pair: Pair) -> list[Edge]:
        """Who made a work, with their roles."""
        memo = work.memo.get(("makers", pair))
        if memo is not None:
            return cast("list[Edge]", memo)
        label = pair.forth
        if pair.through and not (work.forced and work.parent is None):
            edges = self._parents_makers(work, pair)
        elif work.key[0] == "created":
            edges = []
        else:
            edges = self._cast(work, pair, label)
        work.memo[("makers", pair)] = edges
        return edges

    def _parents_makers(self, work: Entity, pair: Pair) -> list[Edge]:
        for family in self.blueprint.pairs:
            if family.family and family.work == work.kind and family.forth == pair.through:
                parent = self.parent(work, family)
                for other in self.blueprint.pairs:
                    if parent is not None and (other.work, other.maker, other.forth) == (
                        parent.kind,
                        pair.maker,
                        pair.forth,
                    ):
                        made = self.makers(parent, other)
                        return [Edge(self._entry(pair.forth, work, edge.target), edge.target) for edge in made]
        return []

    def _cast(self, work: Entity, pair: Pair, label: str) -> list[Edge]:
        dice = self.dice(work, "makers", label)
        population = self._beside(work, pair.maker)
        forced = [(maker, role) for wanted, maker, role in work.forced if wanted == pair]
        roles = self.blueprint.roles.get(label, [])[:9]
        if roles:
            size = len(roles)
        elif pair.summary:
            size = dice.between(1, 2)
        else:
            size = dice.between(6, 11)
        lead = [population[work.position % len(population)]] if work.base and not roles else []
        others = [other for other in dice.some(population, size + 1) if other not in lead]
        chosen = ([maker for maker, _ in forced] or lead) + others
        if forced and pair.summary:
            chosen = [maker for maker, _ in forced]
        chosen = chosen[:size] if len(chosen) > size else chosen
        if roles and forced:
            maker, role = forced[0]
            rest = [other for other in chosen if other is not maker]
            rest.insert(role % len(roles), maker)
            chosen = rest[:size]
        edges = []
        for i, maker in enumerate(chosen):
            entry = self._entry(label, work, maker, i)
            entry.memo["donation"] = (label, i, roles)
            edges.append(Edge(entry, maker))
        return edges

    def _donation(
        self, entry: Entity, label: str, position: int, roles: Sequence[dict[str, object]]
    ) -> dict[str, object]:
        given: dict[str, object] = {}
        donors = self.blueprint.edges.get(label, [])
        dice = self.dice(entry, "donor")
        if roles:
            given.update(roles[position % len(roles)])
        elif len(donors) > 5:
            for name, value in dice.choose(donors).items():
                if isinstance(value, str) and value and not stem_of(name):
                    given.setdefault(name, value)
        for name in {name for donor in donors[:10] for name in donor}:
            if words(name)[-1:] and words(name)[-1] in {"order", "position", "index", "rank"}:
                given[name] = position
        return given

    def works(self, maker: Entity, pair: Pair) -> list[Edge]:
        """What somebody made, with the role in each; a maker who was asked for by name has works of their own."""
        if pair.through:
            return self._works_through(maker, pair)
        around = maker.around
        if around is not None:
            self._spawn(around, pair.work)
        works = self.base(pair.work) if around is None else self._neighbours[around, pair.work]
        size, index = self._index.get((pair, around), (-1, {}))
        if size != len(works):
            index = defaultdict(list)
            for work in list(works):
                for edge in self.makers(work, pair):
                    index[edge.target].append(Edge(edge.own, work))
            self._index[pair, around] = len(works), index
        return sorted(index.get(maker, ()), key=_place)

    def _spawn(self, around: Entity, kind: str) -> None:
        """Make all there is of a kind of works in a neighbourhood: those of who it is around, and what parts need."""
        if (around, kind) in self._spawned:
            return
        self._spawned.add((around, kind))
        if around is self._anchor:
            self.planted(kind)
        for pair in self.blueprint.pairs:
            if pair.family and pair.maker == kind:
                for part in list(self._neighbours[around, pair.work]):
                    self.parent(part, pair)
            elif pair.family and pair.work == kind:
                for whole in list(self._neighbours[around, pair.maker]):
                    self.children(whole, kind)
            elif not pair.family and not pair.through and pair.work == kind:
                for maker in self._leaders(around, pair.maker):
                    dice = self.dice(maker, "works", pair.back)
                    roles = bool(self.blueprint.roles.get(pair.forth))
                    for number in range(dice.between(4, 8)):
                        role = (0, 0, 1, 0, 5, 4)[number % 6] if roles else dice.below(2)
                        key = ("work", maker.kind, *maker.key, pair.forth, str(number))
                        self._enlist(Entity(kind, key, forced=[(pair, maker, role)], root=around))

    def _leaders(self, around: Entity, kind: str) -> list[Entity]:
        """Who of a kind has works of their own in a neighbourhood."""
        if around is self._anchor:
            return [entity for entity in self.planted(kind) if not entity.base]
        return [around] if around.kind == kind else []

    def _beside(self, entity: Entity, kind: str) -> list[Entity]:
        """Those of a kind with whom an entity may have to do: the population, or who is in its neighbourhood alone."""
        around = entity.around
        if around is None or self._closed(self.blueprint.kinds[kind]):
            return self.base(kind)
        if (around, kind) not in self._beside_of:
            keys = [("beside", around.kind, *around.key, str(number)) for number in range(_BESIDE)]
            self._beside_of[around, kind] = [self._enlist(Entity(kind, key, root=around)) for key in keys]
        return self._beside_of[around, kind]

    def _works_through(self, maker: Entity, pair: Pair) -> list[Edge]:
        family = next(
            (p for p in self.blueprint.pairs if p.family and p.work == pair.work and p.forth == pair.through), None
        )
        if family is None:
            return []
        found: list[Edge] = []
        for other in self.blueprint.pairs:
            if (other.work, other.maker, other.forth) == (family.maker, maker.kind, pair.forth):
                for edge in self.works(maker, other):
                    children = [child.target for child in self.children(edge.target, pair.work)]
                    found += [Edge(self._entry(pair.back, maker, child), child) for child in children]
        return found


def coming(name: str) -> bool:
    """Whether a date is about what is still to come, as a start or a departure is."""
    return bool(words(name)) and singular(words(name)[0]) in {
        "start",
        "begin",
        "departure",
        "departs",
        "due",
        "opening",
    }


def _place(edge: Edge) -> tuple[bool, int, tuple[str, ...]]:
    """Where a work stands among those of its maker: the base population first, others by key, not by when they came."""
    return (not edge.target.base, edge.target.position if edge.target.base else 0, edge.target.key)


def _as_int(value: object) -> int | None:
    try:
        return int(float(cast("str", value)))
    except (TypeError, ValueError):
        return None


def _as_float(value: object) -> float | None:
    try:
        return float(cast("str", value))
    except (TypeError, ValueError):
        return None


def _parse(value: object) -> datetime | None:
    text = str(value)
    for form, size in (("%Y-%m-%dT%H:%M:%S", 19), ("%Y-%m-%d", 10), ("%Y-%m", 7), ("%Y", 4)):
        try:
            return datetime.strptime(text[:size], form)
        except ValueError:
            continue
    return None
