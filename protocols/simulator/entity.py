"""A thing of a simulated world, and its membership in a relation."""

from __future__ import annotations

from dataclasses import dataclass, field

from protocols.simulator.blueprint import Pair

__all__ = ["Edge", "Entity"]


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
