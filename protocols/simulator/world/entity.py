"""A thing of a simulated world, and its membership in a relation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from protocols.simulator.analysis.world_schema import RelationPair

__all__ = ["Entity", "RelationEdge"]

_NO_ENDS: Mapping[str, Entity] = MappingProxyType({})


@dataclass(slots=True, eq=False)
class Entity:
    """One thing in the world; `values` holds what was given to it, `computed` what was worked out since.

    `parent` and `ordinal` are set for what exists within another entity, `forced` for works made for their maker.
    `root` is the entity around whose name a neighbourhood is; None for what is in the base population.
    `ends` are the two entities that an entry of a relation joins, by kind. `sent` names the values that a write set;
    a client may have sent what does not fit the answers.
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
        """Whose neighbourhood it belongs to; None for the base population and what writes created."""
        return None if self.base or self.key[0] == "created" else self.root or self


@dataclass(slots=True, eq=False)
class RelationEdge:
    """A member of a relation: the `target`, and an entity that holds what the list says beside it (role, date)."""

    own: Entity
    target: Entity
