"""Programs of Tabletop that are wrong, made of right ones, and how a program fares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.manipulation.environment import ManipulationTest, TestScore
from benchmarks.manipulation.tabletop.tabletop_environment import Tabletop

__all__ = ["equal", "mutants", "outcome"]

_FIRST = """\
move, calls = put_first_on_second, []
def put_first_on_second(first, second):
    x, y = get_obj_pos(second) if isinstance(second, str) else second
    if not calls:
        CHANGE
    calls.append(first)
    move(first, [x, y])
"""
_EACH = "move = put_first_on_second\ndef put_first_on_second(first, second):\n    "
_KEEP = "move, calls = put_first_on_second, []\ndef put_first_on_second(*call):\n    calls.append(call)\n"
_BEFORE: Mapping[str, str] = {
    "a wrong function": _EACH + "point_gripper_to(get_obj_pos(first))\n",
    "arguments exchanged": _EACH + "move(second, first)\n",
    "the first move off in x": _FIRST.replace("CHANGE", "x += 0.07 if x <= 0 else -0.07"),
    "the first move off in y": _FIRST.replace("CHANGE", "y += 0.07 if y <= -0.5 else -0.07"),
    "the first move left out": _FIRST.replace("CHANGE", "return calls.append(first)"),
    "all in a wrong place": _EACH + "move(first, [0.3, -0.2])\n",
    "a block that is not there": _EACH + "move('purple block', second)\n",
    "a place out of reach": _EACH + "move(first, [0.4, -0.5])\n",
    "other blocks": _EACH
    + "blocks = parse_obj_name('the blocks')\n    move((blocks + blocks)[blocks.index(first) + 1], second)\n",
}
_AFTER: Mapping[str, tuple[str, str]] = {
    "the last move left out": (_KEEP, "for call in calls[:-1]:\n    move(*call)"),
    "moved away again": (_KEEP, "for call in calls:\n    move(*call)\nmove(calls[-1][0], [0.29, -0.79])"),
    "the others moved, too": (
        _KEEP,
        "for call in calls:\n    move(*call)\nnames = [first for first, _ in calls]\n"
        "for name in parse_obj_name('the blocks'):\n    if name not in names:\n        move(name, [0.29, -0.79])",
    ),
    "an error at the end": ("", "raise ValueError('too late')"),
}
_MIRRORED = {"left": "right", "right": "left", "top": "bottom", "bottom": "top", "above": "below", "below": "above"}

ALL_BLOCKS = ("SI_1", "SI_2", "SI_3", "UI_0", "UI_1", "UI_2", "UI_5", "UI_6")
"""Types in which no block may stay."""


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


def _mirrored(label: str) -> str:
    return "".join(_MIRRORED.get(word, word) for word in _words(label))


def _words(text: str) -> Iterator[str]:
    word = ""
    for letter in text:
        if letter.isalpha():
            word += letter
            continue
        yield word
        yield letter
        word = ""
    yield word


def mutants(label: str) -> Iterator[tuple[str, str]]:
    """The kind and the text of each wrong program made of a label."""
    yield "nothing", "pass"
    yield "prose", f"Sure, this does it:\n{label}"
    for kind, before in _BEFORE.items():
        yield kind, before + label
    for kind, (before, after) in _AFTER.items():
        yield kind, f"{before}{label}\n{after}"
    if _mirrored(label) != label:
        yield "directions exchanged", _mirrored(label)


def equal(kind: str, test: ManipulationTest) -> bool:
    """Whether a mutant does what the instruction asks for, too."""
    state = test.state
    blocks = [name for name in state["layouts"][0] if name.endswith("block")]
    bowls = [name.split()[0] for name in state["layouts"][0] if name.endswith("bowl")]
    type_, line = state["type"], state["values"].get("line", "")
    match kind:
        case "arguments exchanged":  # a tower of two has no order
            return bool(type_ == "SI_1")
        case "the first move off in x":  # along the line
            return bool(line == "horizontal")
        case "the first move off in y":
            return bool(line == "vertical")
        case "other blocks":  # any order of the blocks will do
            return type_ in ALL_BLOCKS or len(blocks) == 1
        case "the others moved, too":  # there are no others
            matched = type_ == "SI_4" and {name.split()[0] for name in blocks} <= set(bowls)
            return type_ in ALL_BLOCKS or len(blocks) == 1 or matched
        case _:
            return False
