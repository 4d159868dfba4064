"""An entity of a simulated world, its membership in a relation, and the interface of a world for its own parts."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import cast

from protocols.simulator.analysis.world_schema import EntityType, Relation, RelationPair, WorldSchema
from protocols.simulator.world.question_ids import QuestionIdentifier
from protocols.simulator.world.seeded_rng import SeededRNG
from protocols.text.entities import NamedEntities, NamedEntity

__all__ = ["Entity", "FieldReader", "RelationEdge", "WorldContext"]

_NO_ENDS: Mapping[str, Entity] = MappingProxyType({})


@dataclass(slots=True, eq=False)
class Entity:
    """One entity of the world; `values` are assigned, `computed` are derived on demand.

    `parent` and `ordinal` are set for an entity within another, `forced` for a work made for a maker. `root` is the
    center of its neighbourhood; None in the base population. `ends` are the two entities that a membership joins, by
    type. `memo` is what was derived once.
    """

    kind: str
    key: tuple[str, ...]
    values: dict[str, object] = field(default_factory=dict)
    computed: dict[str, object] = field(default_factory=dict)
    position: int = 0
    parent: Entity | None = None
    root: Entity | None = None
    forced: tuple[tuple[RelationPair, Entity, int], ...] = ()
    adopted: tuple[Entity, ...] = ()
    ends: Mapping[str, Entity] = field(default_factory=lambda: _NO_ENDS)
    memo: dict[object, object] = field(default_factory=dict)
    deleted: bool = False

    def receive(self, name: str, value: object) -> None:
        """Set a value as a write does."""
        self.values[name] = value
        self.memo["sent"] = self.sent | {name}

    @property
    def sent(self) -> frozenset[str]:
        """The names of values set by a write; they may not fit the response schema."""
        return cast("frozenset[str]", self.memo.get("sent", frozenset()))

    @property
    def owner(self) -> str:
        """The owner of its fields in `WorldSchema.places`: its type, or the path of a state."""
        return f"{self.kind} {self.key[1]}" if self.key[0] == "state" else self.kind

    @property
    def base(self) -> bool:
        """True if it belongs to the base population."""
        return self.key[0] == "base"

    def ancestors(self) -> Iterator[Entity]:
        """The entities around it, innermost first."""
        if self.parent is not None:
            yield self.parent
            yield from self.parent.ancestors()

    @property
    def around(self) -> Entity | None:
        """The center of its neighbourhood; None for the base population and for created entities."""
        return None if self.base or self.key[0] == "created" else self.root or self


@dataclass(slots=True, eq=False)
class RelationEdge:
    """A member of a relation: the `target`, and an entity with the fields of the membership (role, date)."""

    own: Entity
    target: Entity


class FieldReader(typing.Protocol):
    """The field values on which relations depend."""

    def value(self, entity: Entity, name: str) -> object: ...
    def count(self, entity: Entity, name: str) -> int | None: ...


class DemandedMembers(typing.Protocol):
    """The entities made for a program, as relations see them."""

    def members(self, owner: Entity, label: str, target: str, edges: list[RelationEdge]) -> list[Entity]: ...
    def link(self, entity: Entity, target: str) -> Entity | None: ...
    def length(self, entity: Entity, name: str) -> int: ...
    def is_number(self, entity: Entity, name: str) -> bool: ...


class WorldContext(typing.Protocol):
    """The population of a world and its source of chance; `World` explains the methods."""

    schema: WorldSchema
    seed: int | str
    now: datetime
    named_entities: NamedEntities
    identifiers: tuple[QuestionIdentifier, ...]
    created: dict[str, list[Entity]]
    neighbours: dict[tuple[Entity, str], list[Entity]]
    anchor: Entity
    dependent_types: frozenset[str]

    @property
    def told_texts(self) -> Mapping[str, str]: ...
    @property
    def demanded(self) -> DemandedMembers: ...
    @property
    def fields(self) -> FieldReader: ...
    def rng(self, entity: Entity, *name: object) -> SeededRNG: ...
    def entity_type(self, entity: Entity) -> EntityType: ...
    def base(self, kind: str) -> list[Entity]: ...
    def owned_by(self, kind: EntityType) -> list[Relation]: ...
    def is_enumeration(self, kind: EntityType) -> bool: ...
    def register(self, entity: Entity) -> Entity: ...
    def question_entities(self, kind: str) -> list[Entity]: ...
    def kinds_beside(self, name: NamedEntity) -> set[str]: ...
    def signed_in(self, entity: Entity) -> bool: ...
    def identifies(self, identifier: QuestionIdentifier, kind: EntityType) -> bool: ...
    def mark_changed(self) -> None: ...
    def named_already(self, kind: str, name: str) -> Entity | None: ...
    def give_name(self, entity: Entity, name: str) -> None: ...
