"""Tabletop: its tests are right, wrong programs fail, and the released checks' holes are closed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from benchmarks.manipulation.environment import ManipulationTest, TestScore
from benchmarks.manipulation.suite import open_environment
from benchmarks.manipulation.tabletop.scene import Placement, Scene
from benchmarks.manipulation.tabletop.table_phrases import Phrases
from benchmarks.manipulation.tabletop.tabletop_environment import Tabletop

EACH = 'for block in parse_obj_name("the blocks"):\n    '
OBJECTS = {
    "red block": [-0.2, -0.3],
    "blue block": [0.0, -0.5],
    "green block": [0.2, -0.7],
    "red bowl": [0.2, -0.4],
    "pink bowl": [-0.1, -0.65],
}


def a_test(kind: str, objects: Mapping[str, Sequence[float]], **values: str) -> ManipulationTest:
    """A test of a kind with objects of its own."""
    return ManipulationTest(kind, kind, (), (), state={"type": kind, "layouts": [objects], "values": values})


def outcome(environment: Tabletop, test: ManipulationTest, program: str, seed: int = 0) -> TestScore:
    """The score of a program that runs in this process, without the sandbox."""
    environment.reset(test, seed)
    functions = environment.objects()[""]
    names = {name: getattr(functions, name) for name in dir(functions) if not name.startswith("_")}
    try:
        exec(program, names)
    except Exception as error:
        environment.error = str(error)
    return environment.score()


@pytest.fixture(scope="module")
def tabletop() -> Iterator[Tabletop]:
    environment = open_environment("tabletop")
    assert isinstance(environment, Tabletop)
    yield environment
    environment.close()


@pytest.fixture(scope="module")
def released() -> Tabletop:
    return Tabletop(compat=True)


@pytest.fixture
def scene() -> Scene:
    scene = Scene()
    scene.lay(OBJECTS)
    return scene


def test_another_seed_lays_the_objects_elsewhere(tabletop: Tabletop) -> None:
    """The same seed lays them in the same places again, and the labels hold of every layout."""
    for test in tabletop.tests:
        layouts = []
        for seed in (0, 1, 2, 1):
            tabletop.reset(test, seed)
            layouts.append(tabletop.scene.places)
            assert outcome(tabletop, test, test.labels[-1], seed).value == 1.0, (test.id, seed)
        assert layouts[1] == layouts[3]
        assert layouts[0] != layouts[1] != layouts[2]


EACH_MOVE = "move = put_first_on_second\ndef put_first_on_second(first, second):\n    "
KEEP = "move, calls = put_first_on_second, []\ndef put_first_on_second(*call):\n    calls.append(call)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Sure, this does it:\n", ""),
        (EACH_MOVE + "point_gripper_to(get_obj_pos(first))\n", ""),
        (EACH_MOVE + "move(first, [0.3, -0.2])\n", ""),
        (EACH_MOVE + "move(first, [0.4, -0.5])\n", ""),
        (KEEP, "for call in calls[:-1]:\n    move(*call)"),
        (KEEP, "for call in calls:\n    move(*call)\nmove(calls[-1][0], [0.29, -0.79])"),
        ("", "raise ValueError('too late')"),
    ],
    ids=["prose", "another function", "one place", "out of reach", "a move left out", "moved away", "an error"],
)
def test_no_such_program_is_right(tabletop: Tabletop, before: str, after: str) -> None:
    """Wrong programs that are made of labels fail on all tests."""
    scored = [test.id for test in tabletop.tests if outcome(tabletop, test, f"{before}{test.labels[0]}\n{after}").value]

    assert scored == []


STACK = 'stack_objects_in_order(["red block", "blue block", "green block"])'
ROW = "for x, block in zip((-0.2, 0.0, 0.2), parse_obj_name('the blocks')):\n    put_first_on_second(block, [x, {y}])"
BLOCKS = {name: point for name, point in OBJECTS.items() if name.endswith("block")}
MATCHES = {
    "red block": [-0.2, -0.3],
    "blue block": [0.0, -0.5],
    "red bowl": [0.2, -0.4],
    "blue bowl": [-0.1, -0.65],
}


@pytest.mark.parametrize(
    ("test", "program"),
    [
        (a_test("SI_4", {"red block": [0, -0.5], "blue bowl": [0.2, -0.5]}), "get_obj_names()"),
        (a_test("UI_1", MATCHES), "for c in ('red', 'blue'):\n    put_first_on_second(c + ' block', c + ' bowl')"),
        (a_test("UI_5", BLOCKS, line="diagonal"), ROW.format(y="-0.7")),
        (a_test("UI_5", BLOCKS, line="vertical"), STACK),
        (
            a_test("SI_6", OBJECTS, extreme="closest to", bowl="red bowl", place="top side"),
            f'{EACH}put_first_on_second(block, parse_position("the top side"))',
        ),
    ],
    ids=["no pair", "same colours", "beside a diagonal", "a stack for a line", "all blocks for one"],
)
def test_holes_of_the_released_checks_are_closed(
    tabletop: Tabletop, released: Tabletop, test: ManipulationTest, program: str
) -> None:
    """What the released check takes for done is not."""
    assert outcome(released, test, program).value == 1.0
    assert outcome(tabletop, test, program).value == 0.0


def test_the_topmost_block_near_a_point_is_picked(scene: Scene) -> None:
    """Blocks lie on what is below them; where no block is within 2.5 cm, or only a bowl, nothing moves."""
    assert scene.move((0.02, -0.5), (0.2, -0.4)) == "blue block"
    assert scene.place("blue block") == Placement(0.2, -0.4, 0.01)
    assert scene.move((-0.2, -0.3), (0.2, -0.4)) == "red block"
    assert scene.place("red block").z == 0.05
    assert scene.move((0.2, -0.4), (0.0, -0.7)) == "red block"
    assert scene.move((-0.1, -0.65), (0.0, -0.5)) == ""
    assert scene.move((0.2, -0.73), (0.0, -0.5)) == ""
    assert scene.place("pink bowl") == Placement(-0.1, -0.65)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ('put_first_on_second("red block", [0.31, -0.5])', "x = 0.31 is out of reach; it must be from -0.3 to 0.3"),
        ('put_first_on_second("red block", [0.0, -0.5, 0.0])', "a point is two numbers, x and y"),
        ('put_first_on_second("gray block", "red bowl")', "there is no 'gray block' on the table; there are red block"),
        ('parse_obj_name("the shiny thing")', "no object is understood by 'the shiny thing'; say it like"),
        ('parse_position("over the rainbow")', "no place is understood by 'over the rainbow'; say it like"),
        ("interpolate_pts_on_line([[0, 0], [1, 1]], 10**8)", "a line needs 1 to 1000 points, not 100000000"),
        ('parse_position("a horizontal line with 100000000 points")', "a line needs 1 to 1000 points, not 100000000"),
        ('parse_obj_name("the fourth block from the left")', "there are only 3 blocks on the table"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(tabletop: Tabletop, program: str, message: str) -> None:
    """The program ends with the error of the function."""
    tabletop.reset(a_test("SI_1", OBJECTS))

    assert message in tabletop.act(program).error


@pytest.mark.parametrize(
    ("phrase", "names"),
    [
        ("the red block", "red block"),
        ("all blocks", ["red block", "blue block", "green block"]),
        ("the blocks and bowls", list(OBJECTS)),
        ("the red and green blocks", ["red block", "green block"]),
        ("the nearest block to the red bowl", "blue block"),
        ("the block that is farthest away from the red bowl", "red block"),
        ("the blocks to the left of the red bowl", ["blue block", "red block"]),
        ("the blocks below the red bowl", ["blue block", "green block"]),
        ("the leftmost block", "red block"),
        ("the 2nd block from the right", "blue block"),
        ("the blocks from right to left", ["green block", "blue block", "red block"]),
        ("all blocks except the red one", ["blue block", "green block"]),
        ("the bowl with the same color as the red block", "red bowl"),
        ("the bowls with a different colour than the red block", ["pink bowl"]),
        ("the red block and the pink bowl", ["red block", "pink bowl"]),
    ],
)
def test_phrases_for_objects(scene: Scene, phrase: str, names: str | list[str]) -> None:
    """A phrase in the singular means one object, one in the plural a list; near ones come first."""
    assert Phrases(scene).objects(phrase) == names


@pytest.mark.parametrize(
    ("phrase", "point"),
    [
        ("the upper left corner", [-0.25, -0.25]),
        ("the middle of the table", [0.0, -0.5]),
        ("the bottom side", [0.0, -0.75]),
        ("the corner closest to the red bowl", [0.25, -0.25]),
        ("10 cm to the left of the red bowl", [0.1, -0.4]),
        ("0.2m below the red bowl", [0.2, -0.6]),
        ("half way between the red block and the blue block", [-0.1, -0.4]),
        ("the pink bowl", [-0.1, -0.65]),
    ],
)
def test_phrases_for_places(scene: Scene, phrase: str, point: list[float]) -> None:
    """A place is a point of two numbers."""
    assert Phrases(scene).position(phrase) == pytest.approx(point)


@pytest.mark.parametrize(
    ("phrase", "points"),
    [
        ("a diagonal line of 3 points", [[-0.25, -0.75], [0.0, -0.5], [0.25, -0.25]]),
        ("a horizontal line with 2 points 20 cm long", [[-0.1, -0.5], [0.1, -0.5]]),
        ("the sides", [[0.0, -0.25], [0.25, -0.5], [0.0, -0.75], [-0.25, -0.5]]),
    ],
)
def test_phrases_for_several_places(scene: Scene, phrase: str, points: list[list[float]]) -> None:
    """Lines, shapes and plurals are lists of points."""
    places = Phrases(scene).position(phrase)

    assert [value for point in places for value in point] == pytest.approx(
        [value for point in points for value in point]
    )


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("is the blue block to the left of the red bowl?", True),
        ("is the blue block right of the red bowl?", False),
        ("how many blocks are there on the table?", 3),
        ("how many blocks are to the left of the red bowl?", 2),
    ],
)
def test_questions(scene: Scene, question: str, reply: Any) -> None:
    """Answers are values that a program goes on with."""
    assert Phrases(scene).answer(question) == reply
