"""An entity of a simulated world, and its membership in a relation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from protocols.simulator.analysis.world_schema import RelationPair

__all__ = ["Entity", "RelationEdge"]

_NO_ENDS: Mapping[str, Entity] = MappingProxyType({})


@dataclass(slots=True, eq=False)
class Entity:
    """One entity of the world; `values` are assigned, `computed` are derived on demand.

    `parent` and `ordinal` are set for an entity within another, `forced` for a work made for a maker. `root` is the
    center of its neighbourhood; None in the base population. `ends` are the two entities that a membership joins, by
    type. `sent` names the values set by a write; they may not fit the response schema.
    """

    kind: str
    key: tuple[str, ...]
    values: dict[str, object] = field(default_factory=dict)
    computed: dict[str, object] = field(default_factory=dict)
    base: bool = False
    position: int = 0
    parent: Entity | None = None
    root: Entity | None = None
    forced: tuple[tuple[RelationPair, Entity, int], ...] = ()
    adopted: tuple[Entity, ...] = ()
    ends: Mapping[str, Entity] = field(default_factory=lambda: _NO_ENDS)
    memo: dict[object, object] = field(default_factory=dict)
    deleted: bool = False
    sent: frozenset[str] = frozenset()

    def receive(self, name: str, value: object) -> None:
        """Set a value as a write does."""
        self.values[name] = value
        self.sent |= {name}

    @property
    def around(self) -> Entity | None:
        """The center of its neighbourhood; None for the base population and for created entities."""
        return None if self.base or self.key[0] == "created" else self.root or self


@dataclass(slots=True, eq=False)
class RelationEdge:
    """A member of a relation: the `target`, and an entity with the fields of the membership (role, date)."""

    own: Entity
    target: Entity
