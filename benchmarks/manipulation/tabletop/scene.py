"""A table with blocks and bowls on it, seen from above, without physics; points on lines and shapes.

Lengths are metres; x grows to the right and y to the top. A gripper takes the topmost block near a point and lets it
down at another point, on what is below. Nothing falls, slides or collides: the same moves always have the same result.

Source: Xu et al. (arXiv:2305.16504), appendix A.8; the workspace and the named places are those of its simulator.
"""

from __future__ import annotations

import math
import re
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
    "Placement",
    "Point",
    "Scene",
    "along",
    "check_reach",
    "distance",
    "polygon",
    "transformed",
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

_MOST_POINTS = 1000
_NUMBER = r"(\d+(?:\.\d+)?)"


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


def along(start: Sequence[float], end: Sequence[float], count: int) -> list[list[float]]:
    """Points at equal distances from start to end, both included; one point is the middle.

    Raises: ValueError: The count is not positive, or too great.
    """
    if not 1 <= count <= _MOST_POINTS:
        raise ValueError(f"a line needs 1 to {_MOST_POINTS} points, not {count}")
    if count == 1:
        return [[(start[0] + end[0]) / 2, (start[1] + end[1]) / 2]]
    shares = [number / (count - 1) for number in range(count)]
    return [[start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share] for share in shares]


def polygon(centre: Sequence[float], size: float, corners: int) -> list[list[float]]:
    """The corners of a regular polygon, from the top on clockwise; a square stands on a side. `size` is its width."""
    turn = math.pi / 4 if corners == 4 else 0.0
    radius = size / math.sqrt(2) if corners == 4 else size / 2
    angles = [turn + 2 * math.pi * number / corners for number in range(corners)]
    return [[centre[0] + radius * math.sin(angle), centre[1] + radius * math.cos(angle)] for angle in angles]


def transformed(text: str, points: Sequence[Sequence[float]]) -> list[list[float]]:
    """Points moved, or scaled about their centre, as a phrase says.

    Args:
        text: `move 10 cm to the left`, `scale by 1.5`, `twice as large`.
    Raises: ValueError: The phrase is not understood.
    """
    words = text.lower()
    centre = [sum(point[axis] for point in points) / max(len(points), 1) for axis in (0, 1)]
    match = re.search(rf"{_NUMBER} ?(cm|m)\b.*\b(left|right|up|top|above|down|bottom|below)\b", words)
    if match:
        length = float(match[1]) * (0.01 if match[2] == "cm" else 1.0)
        x = {"left": -length, "right": length}.get(match[3], 0.0)
        y = 0.0 if x else (length if match[3] in ("up", "top", "above") else -length)
        return [[point[0] + x, point[1] + y] for point in points]
    factor = _factor(words)
    if factor is None:
        raise ValueError(f"{text!r} is not understood; say it like: scale by 1.5, or: move 10 cm to the left")
    return [
        [middle + (value - middle) * factor for value, middle in zip(point, centre, strict=True)] for point in points
    ]


def _factor(words: str) -> float | None:
    for word, factor in (("half", 0.5), ("twice", 2.0), ("double", 2.0)):
        if word in words:
            return factor
    match = re.search(rf"(?:scale\w*|by|times|bigger|larger)\D*{_NUMBER}|{_NUMBER} ?(?:x|times)", words)
    return float(match[1] or match[2]) if match else None
