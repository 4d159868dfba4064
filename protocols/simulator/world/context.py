"""The interface of a world for its own parts, so that they need not import it."""

from __future__ import annotations

import typing
from datetime import datetime

from protocols.simulator.analysis.world_schema import EntityType, Relation, WorldSchema
from protocols.simulator.world.entity import Entity
from protocols.simulator.world.seeded_rng import SeededRNG
from protocols.text.entities import NamedEntities, NamedEntity

__all__ = ["FieldReader", "WorldContext"]


class FieldReader(typing.Protocol):
    """The field values on which relations depend."""

    def value(self, entity: Entity, name: str) -> object: ...
    def count(self, entity: Entity, name: str) -> int | None: ...


class WorldContext(typing.Protocol):
    """The population of a world and its source of chance; `World` explains the methods."""

    schema: WorldSchema
    seed: int | str
    now: datetime
    named_entities: NamedEntities
    created: dict[str, list[Entity]]
    neighbours: dict[tuple[Entity, str], list[Entity]]
    anchor: Entity
    dependent_types: frozenset[str]

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
    def mark_changed(self, kind: str) -> None: ...
