"""Tabletop as a task: programs that move blocks, judged by where everything lies in the end.

The functions are those of the gripper and the camera, parsers of words, and geometry. The original leaves most of the
parsers and of the geometry to be written by a model when a program needs them. Here they all work: the parsers by
patterns over the scene, so that no second model is asked. Points are lists of x and y, since programs of the sandbox
have no arrays.

The prompts have demonstrations only. A goal lists the objects and has the instruction as a comment, as published; many
programs follow an instruction, so a test has a check, and its labels are examples of programs that meet it.

Source: Xu et al. (arXiv:2305.16504), appendix A.8.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.manipulation.environment import ActionResult, Failure, ManipulationTest, TestScore
from benchmarks.manipulation.function_environment import FunctionEnvironment
from benchmarks.manipulation.tabletop.scene import (
    BLOCK,
    BOWL_RADIUS,
    CORNERS,
    SIDES,
    Placement,
    Point,
    Scene,
    along,
    check_reach,
    distance,
    polygon,
    transformed,
)
from benchmarks.manipulation.tabletop.table_checks import CHECKS, Table
from benchmarks.manipulation.tabletop.table_phrases import Phrases

__all__ = ["Tabletop"]

READS = """
    get_obj_pos get_obj_names get_bbox get_color is_obj_visible denormalize_xy get_corner_name get_side_name
    parse_obj_name parse_position parse_question transform_shape_pts get_obj_positions_np get_all_object_positions_np
    get_box_area get_closest_idx get_closest_point get_farthest_point make_line make_line_by_length
    make_vertical_line_by_length interpolate_line interpolate_pts_on_line make_triangle get_points_from_polygon
    get_total eval_line get_pt_to_the_left get_pt_to_the_top
"""
"""The functions that change nothing."""


class TabletopFunctions:
    """What a program calls, without a name before it."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._phrases = Phrases(scene)

    def put_first_on_second(self, first: str | list[float], second: str | list[float]) -> None:
        """Pick up the block that is first, and place it on what is second. Bowls cannot be moved.

        Args:
            first: The name of a block, or the point to pick at.
            second: The name of a block or a bowl, or the point to place it at.
        """
        self._scene.move(self._where(first), self._where(second))

    def stack_objects_in_order(self, object_names: list[str]) -> None:
        """Place each block on the one before it; the first one stays where it is."""
        for below, name in pairwise(object_names):
            self._scene.move(self._where(name), self._where(below))

    def point_gripper_to(self, position: list[float]) -> None:
        """Move the gripper over a point, without picking anything up."""
        check_reach(position)

    def get_obj_names(self) -> list[str]:
        """The names of all objects on the table."""
        return self._scene.names

    def get_obj_pos(self, obj_name: str) -> list[float]:
        """The x and y of an object, in metres; x grows to the right and y to the top."""
        return list(self._scene.place(obj_name).point)

    def get_obj_positions_np(self, obj_names: list[str]) -> list[list[float]]:
        """The points of several objects, in their order."""
        return [self.get_obj_pos(name) for name in obj_names]

    def get_all_object_positions_np(self) -> list[list[float]]:
        """The points of all objects, in the order of their names."""
        return self.get_obj_positions_np(self._scene.names)

    def get_bbox(self, obj_name: str) -> list[float]:
        """The box around an object: lowest x, lowest y, highest x, highest y."""
        x, y = self.get_obj_pos(obj_name)
        half = BLOCK / 2 if obj_name.endswith("block") else BOWL_RADIUS
        return [x - half, y - half, x + half, y + half]

    def get_box_area(self, box: list[float]) -> float:
        """The area of a box in square metres."""
        return (box[2] - box[0]) * (box[3] - box[1])

    def get_color(self, obj_name: str) -> str:
        """The name of the colour of an object."""
        self._scene.place(obj_name)
        return obj_name.split(" ")[0]

    def is_obj_visible(self, obj_name: str) -> bool:
        """Whether an object of this name is on the table."""
        return obj_name in self._scene.names

    def denormalize_xy(self, pos_normalized: list[float]) -> list[float]:
        """The point for shares of the table: [0, 0] is its bottom left corner and [1, 1] its top right one."""
        (left, bottom), (right, top) = CORNERS["bottom left corner"], CORNERS["top right corner"]
        return [left + (right - left) * pos_normalized[0], bottom + (top - bottom) * pos_normalized[1]]

    def get_corner_name(self, position: list[float]) -> str:
        """The name of the corner that is nearest to a point, such as `top left corner`."""
        return min(CORNERS, key=lambda name: distance(CORNERS[name], position))

    def get_side_name(self, position: list[float]) -> str:
        """The name of the side whose middle is nearest to a point, such as `left side`."""
        return min(SIDES, key=lambda name: distance(SIDES[name], position))

    def parse_obj_name(self, description: str, context: str = "") -> str | list[str]:
        """The name that a phrase in the singular means, or the names that one in the plural means.

        Args:
            description: Such as `the block closest to the red bowl`, `the blocks to the left of the red bowl`.
            context: Not needed.
        """
        return self._phrases.objects(description)

    def parse_position(self, description: str) -> Any:
        """The point that a phrase means; a list of points for lines, shapes and phrases in the plural.

        Args:
            description: Such as `the top left corner`, `10 cm above the red bowl`, `the corners`.
        """
        return self._phrases.position(description)

    def parse_question(self, question: str, context: str = "") -> Any:
        """The answer to a question about the table: how many objects there are, or whether one lies beside another one.

        Args:
            question: Such as `how many blocks are to the left of the red bowl?`.
            context: Not needed.
        """
        return self._phrases.answer(question)

    def transform_shape_pts(self, description: str, shape_pts: list[list[float]]) -> list[list[float]]:
        """Move or scale points.

        Args:
            description: Such as `scale by 1.5`, `move 10 cm to the left`.
            shape_pts: The points.
        """
        return transformed(description, shape_pts)

    def get_closest_idx(self, points: list[list[float]], point: list[float]) -> int:
        """The place in a list of the point that is nearest to a point, from 0."""
        return min(range(len(points)), key=lambda place: distance(points[place], point))

    def get_closest_point(self, points: list[list[float]], point: list[float]) -> list[float]:
        """Of several points, the one nearest to a point."""
        return min(points, key=lambda candidate: distance(candidate, point))

    def get_farthest_point(self, points: list[list[float]], point: list[float]) -> list[float]:
        """Of several points, the one farthest from a point."""
        return max(points, key=lambda candidate: distance(candidate, point))

    def make_line(self, start: list[float], end: list[float]) -> list[list[float]]:
        """A line: its start and its end."""
        return [start, end]

    def make_line_by_length(self, length: float, center: list[float] | None = None) -> list[list[float]]:
        """A horizontal line of a length in metres around a point, by default the middle of the table."""
        x, y = center or self.denormalize_xy([0.5, 0.5])
        return [[x - length / 2, y], [x + length / 2, y]]

    def make_vertical_line_by_length(self, length: float, center: list[float] | None = None) -> list[list[float]]:
        """A vertical line of a length in metres around a point, by default the middle of the table."""
        x, y = center or self.denormalize_xy([0.5, 0.5])
        return [[x, y - length / 2], [x, y + length / 2]]

    def interpolate_line(self, line: list[list[float]], t: float) -> list[float]:
        """The point at a share of a line: 0 is its start and 1 its end."""
        start, end = line
        return [start[0] + (end[0] - start[0]) * t, start[1] + (end[1] - start[1]) * t]

    def interpolate_pts_on_line(self, line: list[list[float]], n: int) -> list[list[float]]:
        """As many points at equal distances on a line, its start and its end among them."""
        return along(line[0], line[-1], n)

    def make_triangle(self, size: float, center: list[float] | None = None) -> list[list[float]]:
        """The corners of a triangle of a width in metres around a point, by default the middle of the table."""
        return polygon(center or self.denormalize_xy([0.5, 0.5]), size, 3)

    def get_points_from_polygon(self, points: list[list[float]]) -> list[list[float]]:
        """The corners of a polygon, each once."""
        return points[:-1] if len(points) > 1 and points[0] == points[-1] else points

    def get_total(self, numbers: list[float]) -> float:
        """The sum of numbers."""
        return sum(numbers)

    def eval_line(self, slope: float, y_intercept: float, x: float) -> float:
        """The y of a line at x."""
        return slope * x + y_intercept

    def get_pt_to_the_left(self, point: list[float], dist: float) -> list[float]:
        """The point that lies a distance in metres to the left of a point."""
        return [point[0] - dist, point[1]]

    def get_pt_to_the_top(self, point: list[float], dist: float) -> list[float]:
        """The point that lies a distance in metres above a point."""
        return [point[0], point[1] + dist]

    def _where(self, target: str | list[float]) -> Point:
        if isinstance(target, str):
            return self._scene.place(target).point
        if len(target) != 2:
            raise ValueError(f"a point is two numbers, x and y, not {target}")
        return target[0], target[1]


class Tabletop(FunctionEnvironment):
    """15 types of instruction in seven setups each, of which the first 15 tests have one each.

    Each test has three layouts, in which its instruction can be followed and is not followed yet: one for each of the
    paper's three runs, by the seed. Two objects are 15 cm apart or more.

    Under `compat` the checks are the released ones, and an empty program is executable.
    """

    name = "tabletop"
    folder = Path(__file__).parent
    max_tokens = 256
    documents_shown = 0
    stops = ("#", "objects = [")
    reads: Collection[str] = tuple(READS.split())

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self._scene = Scene()
        self._functions = TabletopFunctions(self._scene)
        self._before: Mapping[str, Placement] = {}

    @property
    def scene(self) -> Scene:
        """The table as it is."""
        return self._scene

    def objects(self) -> Any:
        """The functions, which a program calls without a name before them."""
        return {"": self._functions}

    def restore(self, test: ManipulationTest, seed: int) -> None:
        """Lay the table of a test; the seed chooses among its layouts."""
        layouts = test.state["layouts"]
        self._scene.lay(layouts[seed % len(layouts)])
        self._before = self._scene.places

    def act(self, text: str) -> ActionResult:
        """Run the text as a program; one that calls nothing is not executable, but for `compat`."""
        result = super().act(text)
        if not self.compat and not self.error and not result.names:
            self.error = "the program calls no function"
            return ActionResult((), result.observation, self.error)
        return result

    def score(self) -> TestScore:
        """1 if the program ran to its end and everything lies as the instruction wants it, else 0.

        A failure is a wrong API where nothing was to be picked up at all, since many sets of calls reach a goal.
        """
        state = self.test.state
        table = Table(self._before, self._scene.places, state["values"], strict=not self.compat)
        if not self.error and CHECKS[state["type"]](table):
            return TestScore(1.0)
        return TestScore(0.0, self._failure())

    def _failure(self) -> Failure:
        if self.error:
            return "non-executable"
        return "wrong arguments" if self._scene.moves else "wrong API"
