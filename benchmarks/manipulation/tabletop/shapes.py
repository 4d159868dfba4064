"""Points on lines and shapes, each a list of x and y."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

__all__ = ["along", "polygon", "transformed"]

_MOST_POINTS = 1000
_NUMBER = r"(\d+(?:\.\d+)?)"


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
