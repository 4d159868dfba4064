"""VirtualHome: activities written as calls of an agent, grounded by lists of objects and compared with programs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.manipulation.environment import TestScore
from benchmarks.manipulation.virtualhome.virtual_home import VirtualHome, ground, likeness
from sandbox import Sandbox

HOME = VirtualHome()
WAKING = next(test for test in HOME.tests if test.goal.startswith("Wash your face"))


def scored(text: str, number: int = 0, home: VirtualHome = HOME) -> TestScore:
    """The score of an answer to a test."""
    home.reset(home.tests[number])
    home.act(text)
    return home.score()


def _swapped(lines: list[str]) -> list[str]:
    return [lines[1], lines[0], *lines[2:]]


MUTANTS: dict[str, Callable[[list[str]], list[str]]] = {
    "a line twice": lambda lines: [*lines, lines[-1]],
    "two lines the other way round": _swapped,
    "another function": lambda lines: [*lines[:-1], "Agent.WakeUp()" if "Sleep" in lines[-1] else "Agent.Sleep()"],
    "an object that there is not": lambda lines: ["Agent.Find(unicorn)", *lines[1:]],
    "a function that there is not": lambda lines: ["Agent.Fly()", *lines[1:]],
    "prose around": lambda lines: ["Here is the plan:", *lines],
    "in a fence": lambda lines: ["```python", *lines, "```"],
    "nothing": lambda lines: [],
}


@pytest.mark.parametrize("kind", MUTANTS)
def test_no_mutant_scores_full_marks(kind: str) -> None:
    """Of no kind of mistake a program has full marks, unless it is another accepted program."""
    left_out = 0
    for number, test in enumerate(HOME.tests):
        mutant = "\n".join(MUTANTS[kind](test.labels[0].splitlines()))
        if mutant in test.labels:
            left_out += 1
            continue
        score = scored(mutant, number)
        assert score.value < 1
        assert score.failure
    assert left_out <= 1


def test_a_step_that_may_be_left_out_is_no_mistake() -> None:
    """A program without an optional step, or with either of two, is accepted like the whole one."""
    number = HOME.tests.index(WAKING)
    whole = WAKING.labels[0]
    without = whole.replace("Agent.Grab(towel)\n", "")

    assert without != whole
    assert without in WAKING.labels
    assert scored(without, number).value == 1


def test_likeness_is_the_longest_common_subsequence() -> None:
    """Of five lines and four, three of them common in their order: 3/5; a bad line counts as a line."""
    assert likeness(list("acdef"), list("abcd")) == pytest.approx(0.6)
    assert likeness([], list("abcd")) == 0
    lines = HOME.tests[0].labels[0].splitlines()
    score = scored("\n".join(["Agent.Find(unicorn)", *lines]))
    assert score.value == pytest.approx(len(lines) / (len(lines) + 1))
    assert score.details == {"executable": 0.0, "empty": 0.0}


def test_lines_are_grounded() -> None:
    """Numbers, quotes, semicolons and blanks do not count, and nothing after the next task does."""
    text = " 1. Agent.Find('novel');\n\n12. Agent.Put(novel,  table)\nTask: Rest\nAgent.Sleep()"

    assert [(line.text, line.error) for line in ground(text)] == [
        ("Agent.Find(novel)", ""),
        ("Agent.Put(novel, table)", ""),
    ]
    assert ground("Agent.Put(novel)")[0].error == "Agent.Put takes 2 objects, not 1"
    assert ground("Agent.Sleep(bed)")[0].error == "Agent.Sleep takes 0 objects, not 1"
    assert ground("Agent.Find(bathrom_cabinet)")[0].error.endswith("it takes bathroom_cabinet, kitchen_cabinet")
    assert ground("agent.Find(novel)")[0].error == "there is no function agent.Find"
    assert ground("x = Agent.Find(novel)")[0].error


def test_an_empty_answer() -> None:
    """It is not executable; the released evaluator takes it as executable, and so does compat."""
    assert scored("") == TestScore(0.0, "non-executable", {"executable": 0.0, "empty": 1.0})
    released = {"executable": 1.0, "empty": 1.0, "executable LCS": 0.0}
    assert scored("\n", home=VirtualHome(compat=True)) == TestScore(0.0, "wrong API", released)


def test_programs_make_the_lines() -> None:
    """In a program the objects are texts, and the calls made are compared; a wrong object raises and is kept."""
    with Sandbox(HOME.protocol()) as sandbox:
        for number in (0, 40, 99):
            HOME.reset(HOME.tests[number])
            assert sandbox.run(HOME.tests[number].programs[-1]).outcome == "ok"
            assert HOME.score().value == 1
        HOME.reset(HOME.tests[0])
        error = sandbox.run('Agent.WalkTo("sink")\nAgent.Find("bathrom_cabinet")').error

    assert error is not None
    assert (error.type, error.line) == ("ValueError", 2)
    assert "takes no object 'bathrom_cabinet'; it takes bathroom_cabinet" in error.message
    assert HOME.score().failure == "non-executable"
    assert HOME.score().value > 0
