"""The tests: types of instruction, each with seven setups, and layouts in which an instruction can be followed.

What a test asks for, and its objects, follow from one seed; where the objects lie follows from the seed of a run.

Source: Xu et al. (arXiv:2305.16504), appendix A.8.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from benchmarks.manipulation.environment import ManipulationTest
from benchmarks.manipulation.function_environment import called_functions
from benchmarks.manipulation.tabletop.scene import ANCHORS, COLOURS, CORNERS, SIDES, WORKSPACE, Placement, distance
from benchmarks.manipulation.tabletop.shapes import along
from benchmarks.manipulation.tabletop.table_checks import CHECKS, Table, target_point, targets

__all__ = ["SETUPS", "called", "goal_text", "layout", "make_tests"]

SETUPS = 7
"""Tests of each type."""
SEED = 29
"""The seed of what the tests ask for."""

APART = 0.15
"""The least distance of two objects at the start."""
_CLEAR = 0.07
_MARGIN = 0.03
_FOLDER = Path(__file__).parent
_Objects = Mapping[str, Sequence[float]]


@cache
def _types() -> Mapping[str, Mapping[str, Any]]:
    data: Mapping[str, Mapping[str, Any]] = yaml.safe_load((_FOLDER / "instructions.yaml").read_text("utf-8"))["types"]
    return data


def goal_text(names: Sequence[str], instruction: str) -> str:
    """A goal in the published form: the objects on the table, and the instruction as a comment."""
    return f"objects = {list(names)}\n# {instruction}"


def called(program: str, functions: Sequence[str]) -> tuple[str, ...]:
    """The functions of the environment that a program calls, as often as its calls are written."""
    return tuple(name for name in called_functions(program) if name in functions)


def make_tests(functions: Sequence[str]) -> tuple[ManipulationTest, ...]:
    """The 105 tests: one of each type, then another one of each; the first 15 have all types.

    Args:
        functions: The names of the environment's functions.
    """
    return tuple(_make_test(kind, number, functions) for number in range(SETUPS) for kind in _types())


def _make_test(kind: str, number: int, functions: Sequence[str]) -> ManipulationTest:
    entry, id = _types()[kind], f"{kind}-{number + 1}"
    draw = random.Random(f"{SEED} {id}")
    while True:
        blocks, bowls = _objects(kind, number, draw)
        names = [*blocks, *bowls]
        draw.shuffle(names)
        values = _values(entry.get("values", {}), number, draw, blocks, bowls)
        try:
            objects = layout(id, kind, names, values)
            break
        except ValueError:  # such as a point that is out of reach wherever the bowl lies
            continue
    instruction = entry["instructions"][number % len(entry["instructions"])].format(**values)
    labels = tuple(label.strip().format(**values) for label in entry["labels"])
    state = {"type": kind, "values": values, "objects": objects}
    names_called = tuple(called(label, functions) for label in labels)
    return ManipulationTest(id, goal_text(names, instruction), labels, names_called, state=state)


def _count(bounds: Sequence[int], number: int) -> int:
    low, high = bounds
    return low + number % (high - low + 1)


def _objects(kind: str, number: int, draw: random.Random) -> tuple[list[str], list[str]]:
    """Names of blocks and bowls; where the instruction is on their colours, some have the same."""
    entry = _types()[kind]
    colours = draw.sample(COLOURS, _count(entry["blocks"], number))
    others = [colour for colour in COLOURS if colour not in colours]
    bowls = draw.sample(COLOURS, _count(entry["bowls"], number // 2))
    if kind in ("SI_4", "UI_1"):
        shared = 4 if kind == "UI_1" else 2 + number % 3
        bowls = [*draw.sample(colours, shared), *draw.sample(others, 4 - shared)]
    return [f"{colour} block" for colour in colours], [f"{colour} bowl" for colour in bowls]


def _values(
    pools: Mapping[str, Any], number: int, draw: random.Random, blocks: Sequence[str], bowls: Sequence[str]
) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, pool in pools.items():
        if pool == "scene":
            bases = {"block": blocks, "bowl": bowls}.get(name, [*blocks, *bowls])
            values[name] = draw.choice([base for base in bases if base != values.get("block")])
        elif isinstance(pool[0], str):
            values[name] = draw.choice(pool)
        else:
            values |= pool[number % len(pool)]
    return values


def layout(
    id: str, kind: str, names: Sequence[str], values: Mapping[str, str], seed: int = 0
) -> dict[str, list[float]]:
    """Where the objects of a test lie; the instruction can be followed, and is not followed yet.

    Raises: ValueError: No layout was found.
    """
    draw = random.Random(f"{id} {seed}")
    for _ in range(2000):
        objects = _scattered(names, draw)
        if objects and _suits(kind, objects, values):
            return objects
    raise ValueError(f"{id}: there is no layout in which {kind} can be followed with {values}")


def _scattered(names: Sequence[str], draw: random.Random) -> dict[str, list[float]]:
    """Random points away from one another and from the sides; nothing where they do not all fit."""
    objects: dict[str, list[float]] = {}
    for name in names:
        for _ in range(40):
            point = [round(draw.uniform(-0.2, 0.2), 3), round(draw.uniform(-0.7, -0.3), 3)]
            clear = all(distance(point, other) >= APART for other in objects.values())
            if clear and all(distance(point, side) >= _CLEAR for side in SIDES.values()):
                objects[name] = point
                break
        else:
            return {}
    return objects


def _suits(kind: str, objects: _Objects, values: Mapping[str, str]) -> bool:
    places = {name: Placement(*point) for name, point in objects.items()}
    table = Table(places, places, values)
    return not CHECKS[kind](table) and _can_be_followed(kind, table)


def _apart(values: Sequence[float], margin: float = _MARGIN) -> bool:
    return all(second - first >= margin for first, second in pairwise(sorted(values)))


def _some_beside(table: Table) -> bool:
    """Some blocks lie in the direction and some do not, all of them clearly."""
    axis = int(table.values["direction"] in ("top", "bottom"))
    gaps = [abs(table.before[block].point[axis] - table.bowl[axis]) for block in table.blocks]
    return min(gaps) >= _MARGIN and 0 < len(targets(table, "SI_5")) < len(table.blocks)


def _extreme_is_clear(table: Table) -> bool:
    gaps = sorted(distance(table.before[block].point, table.bowl) for block in table.blocks)
    return _apart(gaps[:2]) and _apart(gaps[-2:])


def _order_is_clear(table: Table) -> bool:
    axis = int(table.values["direction"] in ("top", "bottom"))
    return _apart([table.before[block].point[axis] for block in table.blocks])


def _target_is_free(table: Table) -> bool:
    point = target_point(table, "UI_3")
    in_reach = all(low <= value <= high for value, (low, high) in zip(point, WORKSPACE, strict=True))
    return in_reach and all(distance(point, place.point) >= _CLEAR for place in table.before.values())


def _corner_is_clear(table: Table) -> bool:
    return _apart([distance(corner, table.bowl) for corner in CORNERS.values()], 0.05)


def _lines_are_free(table: Table) -> bool:
    """No block lies on a diagonal, nor where one is likely to be placed in a line."""
    points = [place.point for place in table.before.values()]
    lined = list(_likely_points(len(points)))
    return all(
        min(abs(x - y - 0.5), abs(x + y + 0.5)) > _CLEAR and all(distance((x, y), point) >= 0.05 for point in lined)
        for x, y in points
    )


def _likely_points(count: int) -> Iterator[list[float]]:
    for start in ("left side", "bottom side", "bottom left corner", "top left corner"):
        x, y = ANCHORS[start]
        yield from along((x, y), (-x, -1 - y), count)


def _can_be_followed(kind: str, table: Table) -> bool:
    condition = _CONDITIONS.get(kind)
    return condition is None or condition(table)


_CONDITIONS: Mapping[str, Callable[[Table], bool]] = {
    "SI_5": _some_beside,
    "SI_6": _extreme_is_clear,
    "SI_7": _order_is_clear,
    "UI_3": _target_is_free,
    "UI_4": _corner_is_clear,
    "UI_5": _lines_are_free,
}
