"""Whether a table is as an instruction wants it, for each of the 15 types of instruction.

A block is at a point if it is within 5 cm of it, seen from above. Three of the released checks have holes: without a
block and a bowl of one colour SI_4 holds of any table; UI_1 does not look at colours; and UI_5 takes a diagonal for one
without its absolute value. Nor does any of them but SI_5 look at the blocks that were not to be moved, and UI_5 takes a
stack for a line. Strict checks have none of these holes.

Source: Xu et al. (arXiv:2305.16504), appendix A.8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.manipulation.tabletop.scene import ANCHORS, BLOCK, CORNERS, SIDES, Placement, Point, distance
from benchmarks.manipulation.tabletop.table_phrases import DIRECTIONS, ORDINALS, in_direction

__all__ = ["CHECKS", "Table"]

THRESHOLD = 0.05
"""How far a block may be from where it is to be, in metres."""

_LENGTHS = {"10 cm": 0.1, "0.2 m": 0.2}


@dataclass(frozen=True, slots=True)
class Table:
    """Where all was and is, and the values of an instruction: `block`, `bowl`, `place`, `direction`, …"""

    before: Mapping[str, Placement]
    after: Mapping[str, Placement]
    values: Mapping[str, Any]
    strict: bool = True

    @property
    def blocks(self) -> list[str]:
        """The names of all blocks."""
        return [name for name in self.before if name.endswith("block")]

    @property
    def bowls(self) -> list[str]:
        """The names of all bowls."""
        return [name for name in self.before if name.endswith("bowl")]

    @property
    def anchor(self) -> Point:
        """The corner or side that the instruction names."""
        return ANCHORS[self.values["place"]]

    @property
    def bowl(self) -> Point:
        """The bowl that the instruction names."""
        return self.before[self.values["bowl"]].point

    def at(self, name: str, point: Sequence[float]) -> bool:
        """Whether an object is where it is to be."""
        return distance(self.after[name].point, point) < THRESHOLD

    def all_at(self, names: Iterable[str], point: Sequence[float]) -> bool:
        """Whether all of several objects are at one point."""
        return all(self.at(name, point) for name in names)

    def others_unmoved(self, names: Iterable[str]) -> bool:
        """Whether all blocks but some are where they were."""
        moved = set(names)
        return all(self.at(name, self.before[name].point) for name in self.blocks if name not in moved)

    def only(self, names: Sequence[str], point: Sequence[float]) -> bool:
        """Whether some blocks are at a point and, for a strict check, no other block was moved."""
        return self.all_at(names, point) and (not self.strict or self.others_unmoved(names))

    def distinct(self, points: Mapping[str, Point]) -> bool:
        """Whether each block is at one of several named points, and no two at the same one."""
        nearest = [
            min(points.values(), key=lambda point: distance(point, self.after[name].point)) for name in self.blocks
        ]
        return len(set(nearest)) == len(nearest) and all(map(self.at, self.blocks, nearest))


def _spread(values: Iterable[float]) -> float:
    listed = list(values)
    return max(listed) - min(listed)


def targets(table: Table, kind: str) -> list[str]:
    """The blocks that an instruction of a kind wants moved, from where all was."""
    values, before = table.values, table.before
    match kind:
        case "SI_5":
            return [
                block for block in table.blocks if in_direction(before[block].point, table.bowl, values["direction"])
            ]
        case "SI_6":
            ranked = sorted(table.blocks, key=lambda block: distance(before[block].point, table.bowl))
            return [ranked[0 if values["extreme"].startswith("closest") else -1]]
        case "SI_7":
            x, y = DIRECTIONS[values["direction"]]
            ranked = sorted(table.blocks, key=lambda block: -(before[block].x * x + before[block].y * y))
            return [ranked[ORDINALS.index(values["nth"])]]
        case "SI_0" | "UI_3" | "UI_4":
            return [values["block"]]
        case _:
            return table.blocks


def target_point(table: Table, kind: str) -> Point:
    """Where UI_3 and UI_4 want their block."""
    x, y = table.bowl
    if kind == "UI_3":
        length, step = _LENGTHS[table.values["distance"]], DIRECTIONS[table.values["direction"]]
        return x + step[0] * length, y + step[1] * length
    ranked = sorted(CORNERS.values(), key=lambda corner: distance(corner, table.bowl))
    return ranked[0 if table.values["extreme"].startswith("closest") else -1]


def _on_object(table: Table) -> bool:
    block, base = table.values["block"], table.values["object"]
    if table.after[block].z <= table.after[base].z:
        return False
    return table.at(block, table.after[base].point) and (not table.strict or table.others_unmoved([block]))


def _stacked(table: Table) -> bool:
    places = [table.after[name] for name in table.blocks]
    return _spread(place.x for place in places) < THRESHOLD and _spread(place.y for place in places) < THRESHOLD


def _matching(table: Table) -> bool:
    pairs = [(f"{bowl.removesuffix('bowl')}block", bowl) for bowl in table.bowls]
    pairs = [(block, bowl) for block, bowl in pairs if block in table.after]
    if table.strict and not (pairs and table.others_unmoved(block for block, _ in pairs)):
        return False
    return all(table.at(block, table.after[bowl].point) for block, bowl in pairs)


def _mismatched(table: Table) -> bool:
    if not table.distinct({bowl: table.after[bowl].point for bowl in table.bowls}):
        return False
    return not table.strict or not any(
        table.at(block, table.after[bowl].point) and block.split()[0] == bowl.split()[0]
        for block in table.blocks
        for bowl in table.bowls
    )


def _lined_up(table: Table) -> bool:
    places = [table.after[name] for name in table.blocks]
    points = [place.point for place in places]
    if table.strict and any(distance(a, b) < BLOCK for place, a in enumerate(points) for b in points[:place]):
        return False
    match table.values["line"]:
        case "horizontal":
            return _spread(y for _, y in points) < THRESHOLD
        case "vertical":
            return _spread(x for x, _ in points) < THRESHOLD
        case _:
            rising, falling = [x - y - 0.5 for x, y in points], [x + y + 0.5 for x, y in points]
            size: Callable[[float], float] = abs if table.strict else float
            return any(all(size(gap) < THRESHOLD for gap in gaps) for gaps in (rising, falling))


CHECKS: Mapping[str, Callable[[Table], bool]] = {
    "SI_0": _on_object,
    "SI_1": _stacked,
    "SI_2": lambda table: table.all_at(table.blocks, table.anchor),
    "SI_3": lambda table: table.all_at(table.blocks, table.bowl),
    "SI_4": _matching,
    "SI_5": lambda table: (
        table.all_at(targets(table, "SI_5"), table.anchor) and table.others_unmoved(targets(table, "SI_5"))
    ),
    "SI_6": lambda table: table.only(targets(table, "SI_6"), table.anchor),
    "SI_7": lambda table: table.only(targets(table, "SI_7"), table.anchor),
    "UI_0": lambda table: table.distinct(CORNERS),
    "UI_1": _mismatched,
    "UI_2": lambda table: table.all_at(table.blocks, table.anchor),
    "UI_3": lambda table: table.only(targets(table, "UI_3"), target_point(table, "UI_3")),
    "UI_4": lambda table: table.only(targets(table, "UI_4"), target_point(table, "UI_4")),
    "UI_5": _lined_up,
    "UI_6": lambda table: table.distinct(SIDES),
}
"""What holds of a table where an instruction of each type was followed; SI are seen in demonstrations, UI are not."""
