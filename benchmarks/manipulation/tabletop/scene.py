"""A table with blocks and bowls on it, seen from above, without physics.

Lengths are metres; x grows to the right and y to the top. A gripper takes the topmost block near a point and lets it
down at another point, on what is below. Nothing falls, slides or collides: the same moves always have the same result.

Source: Xu et al. (arXiv:2305.16504), appendix A.8; the workspace and the named places are those of its simulator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = [
    "ANCHORS",
    "BLOCK",
    "BOWL_RADIUS",
    "COLOURS",
    "CORNERS",
    "MIDDLE",
    "SIDES",
    "WORKSPACE",
    "Placement",
    "Point",
    "Scene",
    "check_reach",
    "distance",
]

Point = tuple[float, float]

COLOURS = ("blue", "red", "green", "orange", "yellow", "pink", "cyan", "brown")

LEFT, RIGHT, BOTTOM, TOP = -0.25, 0.25, -0.75, -0.25
MIDDLE: Point = (0.0, -0.5)
CORNERS: Mapping[str, Point] = {
    "top left corner": (LEFT, TOP),
    "top right corner": (RIGHT, TOP),
    "bottom left corner": (LEFT, BOTTOM),
    "bottom right corner": (RIGHT, BOTTOM),
}
SIDES: Mapping[str, Point] = {
    "top side": (0.0, TOP),
    "right side": (RIGHT, -0.5),
    "bottom side": (0.0, BOTTOM),
    "left side": (LEFT, -0.5),
}
ANCHORS: Mapping[str, Point] = {**CORNERS, **SIDES, "middle": MIDDLE}

WORKSPACE = ((-0.3, 0.3), (-0.8, -0.2))
"""The lowest and the highest x, then y, of a point that the gripper reaches."""
BLOCK = 0.04
"""The edge of a block."""
BOWL_RADIUS = 0.05
BOWL_FLOOR = 0.01
GRIP = 0.025
"""How far a block may be from the point that it is picked at."""
_ROUNDING = 1e-9


def distance(first: Sequence[float], second: Sequence[float]) -> float:
    """The distance of two points as seen from above."""
    return math.dist(first[:2], second[:2])


@dataclass(frozen=True, slots=True)
class Placement:
    """The centre of an object as seen from above, and the height of its lower side."""

    x: float
    y: float
    z: float = 0.0

    @property
    def point(self) -> Point:
        """The place as seen from above."""
        return self.x, self.y


class Scene:
    """The places of all objects, by names such as `red block` and `blue bowl`, in a fixed order.

    Attributes:
        moves: How often something was to be picked up since the table was laid.
    """

    def __init__(self) -> None:
        self._places: dict[str, Placement] = {}
        self.moves = 0

    def lay(self, objects: Mapping[str, Sequence[float]]) -> None:
        """Clear the table, and lay each object on it at x and y."""
        self._places = {name: Placement(float(point[0]), float(point[1])) for name, point in objects.items()}
        self.moves = 0

    @property
    def places(self) -> Mapping[str, Placement]:
        """A copy of all places."""
        return dict(self._places)

    @property
    def names(self) -> list[str]:
        """All objects."""
        return list(self._places)

    def place(self, name: str) -> Placement:
        """Where an object is. Raises: ValueError: There is no such object."""
        if name not in self._places:
            raise ValueError(f"there is no {name!r} on the table; there are {', '.join(self._places)}")
        return self._places[name]

    def move(self, pick: Sequence[float], to: Sequence[float]) -> str:
        """Take the topmost block near a point, and let it down at another one; bowls stay where they are.

        Returns: The block that was moved; empty where none is near.
        Raises: ValueError: A point is outside of the workspace.
        """
        self.moves += 1
        for point in (pick, to):
            check_reach(point)
        near = [name for name, place in self._places.items() if _is_block(name) and distance(pick, place.point) <= GRIP]
        if not near:
            return ""
        name = max(near, key=lambda block: self._places[block].z)
        x, y = float(to[0]), float(to[1])
        below = [self._top(base, x, y) for base in self._places if base != name]
        self._places[name] = Placement(x, y, round(max([0.0, *below]), 6))
        return name

    def _top(self, name: str, x: float, y: float) -> float:
        """How high a block at a point lies on an object; 0 where it lies beside it."""
        place = self._places[name]
        if not _is_block(name):
            return BOWL_FLOOR if distance((x, y), place.point) <= BOWL_RADIUS else 0.0
        beside = max(abs(x - place.x), abs(y - place.y)) >= BLOCK - _ROUNDING
        return 0.0 if beside else place.z + BLOCK


def _is_block(name: str) -> bool:
    return name.endswith("block")


def check_reach(point: Sequence[float]) -> None:
    """Raises: ValueError: The gripper does not reach the point."""
    if len(point) != 2 or not all(map(math.isfinite, point)):
        raise ValueError(f"a point is two numbers, x and y, not {list(point)}")
    for value, (low, high), axis in zip(point, WORKSPACE, "xy", strict=True):
        if not low - _ROUNDING <= value <= high + _ROUNDING:
            raise ValueError(f"{axis} = {value:.4g} is out of reach; it must be from {low} to {high}")
