"""What a program may say: ordinary Python runs as in CPython, and no way leads out of the sandbox."""

from __future__ import annotations

import contextlib
import random
import re
import subprocess
import sys

import pytest

from protocols.errors import ProgramRefused
from sandbox import Limits, Sandbox
from sandbox.language.policy import compile_program
from sandbox.provenance.instrument import instrument
from tests.programs import programs

ORDINARY = {**programs("ordinary"), **programs("everyday")}
ESCAPES = {**programs("escapes"), **programs("advisories")}

PREVENTED = re.compile(
    "is not allowed|is private to|cannot change|read-only|has no attribute|cannot import name|No module named|"
    "metaclass|takes 1 argument here|there are no files|unexpected keyword|of the program's own|"
    "must refer to subdirectories|Field names cannot start|takes no arguments|must be a tuple|accepts 0 positional|"
    "is not a field name|cannot copy|Cannot subclass special|which is not allowed|the program's own"
)
"""How the sandbox says no. An escape that fails for any other reason may only be written badly."""


FEW = [f"a{number}" for number in range(30)]
MANY = [f"a{number}" for number in range(400)]
SHUFFLED = random.Random(1).sample(MANY, len(MANY))


def nested(depth: int, statement: str) -> str:
    """Methods of classes in methods of classes."""
    lines = [" " * (2 * d) + f"class A:\n{' ' * (2 * d + 1)}def f(self):\n" for d in range(depth)]
    return "".join(lines) + " " * (2 * depth) + statement


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_python_prints_what_cpython_prints(name: str) -> None:
    """A program that does nothing unusual needs no change to run here."""
    python = subprocess.run(
        [sys.executable, "-I", "-W", "ignore", "-c", ORDINARY[name]], capture_output=True, text=True, check=False
    )

    run = Sandbox(None).run(ORDINARY[name])

    assert run.stdout == python.stdout
    assert run.exit_status == python.returncode, run.error
    assert run.outcome == ("ok" if python.returncode == 0 else "error")


@pytest.mark.parametrize("name", ESCAPES)
def test_no_way_leads_out(name: str) -> None:
    """What reaches for the interpreter is refused, before or at that line, in one clear line."""
    run = Sandbox(None).run(ESCAPES[name])

    assert run.outcome in {"refused", "error"}, run.stdout
    assert run.stdout == ""
    assert run.error is not None
    assert PREVENTED.search(run.error.message), run.error.message
    assert "\n" not in run.error.message


def test_members_of_an_enumeration_are_a_copy() -> None:
    """A comparison of a read-only mapping hands the dict behind it to the other side."""
    run = Sandbox(None).run(
        """
import re
class Taker:
    def __eq__(self, other):
        other["x"] = 1
        return True
re.RegexFlag.__members__ == Taker()
print("x" in re.RegexFlag.__members__, len(re.RegexFlag.__members__) > 5)
"""
    )

    assert run.stdout == "False True\n", run.error


def test_a_refusal_names_line_and_remedy() -> None:
    """The model gets the line, what was found there, and what to write instead; nothing was executed."""
    run = Sandbox(None).run("print('before')\n\nimport subprocess\n")

    assert run.outcome == "refused"
    assert run.stdout == ""
    assert run.error is not None
    assert run.error.type == "ProgramRefused"
    assert run.error.message == (
        "line 3: `import subprocess` is not allowed; no other program can be started; do it in Python"
    )
    assert run.error.snippet == "    1 print('before')\n    2\n--> 3 import subprocess"


def test_a_misspelt_module_is_named() -> None:
    """The nearest module that is there is offered."""
    with pytest.raises(ProgramRefused, match="did you mean datetime"):
        compile_program("import datetim")


@pytest.mark.parametrize("statement", ["async def f(): pass", "type X = int", "def f[T](x: T): pass"])
def test_what_is_refused_by_design_says_so(statement: str) -> None:
    """Newer and asynchronous constructs are refused (or not yet Python) instead of running half."""
    with pytest.raises((ProgramRefused, SyntaxError)):
        compile_program(statement)


@pytest.mark.parametrize("source", ["x = (", "def f(:\n  pass", "print('\0')", "x = '\ud800", "return 1 +"])
def test_what_is_not_python_is_a_syntax_error(source: str) -> None:
    """It ends as an error of the program with its line, not as a crash of ours."""
    run = Sandbox(None).run(source)

    assert run.outcome == "error"
    assert run.error is not None
    assert run.error.type == "SyntaxError"


@pytest.mark.parametrize(
    "source", ["x = " + "(" * 5000 + ")" * 5000, "x = " + "-" * 100_000 + "1", "f" + ".a" * 90_000]
)
def test_absurd_nesting_cannot_hurt_the_host(source: str) -> None:
    """A program that would exhaust the compiler ends as a Run like any other."""
    assert Sandbox(None).run(source).outcome in {"refused", "error"}


@pytest.mark.parametrize(
    "source",
    [
        "x = f'" + "{1}" * 12_000 + "'",
        "f'" + "{a:{b}}" * 3_500 + "'",
        "lambda: 0\n" * 3_000,
        "def f(): a\n" * 3_000,
        "[x for x in y]\n" * 3_000,
        "f(" + ",".join(f"a{number}=1" for number in range(9_000)) + ")",
        "match a:\n" + " case A(b): 0\n" * 3_000,
        "x.y = z\n" * 8_000,
        "1\n" * 25_000,
        "x = [" + "1," * 49_000 + "]",
        "1\n" * 400_000,
        "".join(" " * depth + "try:\n" + " " * depth + " 1\n" + " " * depth + "finally:\n" for depth in range(20))
        + " " * 20
        + "f()\n",
        "def f():\n try:\n" + "  if x: return 1\n" * 3000 + " finally:\n" + "  g(1, 2)\n" * 20,
        "match a:\n case [" + ",".join(f"a{number}" for number in range(9_000)) + "]: 0",
        "match a:\n case [" + ", ".join(MANY) + "] | [" + ", ".join(SHUFFLED) + "]: 0",
        "import a" + ".a" * 45_000,
        "import a" + " .\\\n a" * 15_000,
        "from a" + ".·a" * 30_000 + " import b",
        nested(45, "a;" * 5_000 + "a"),
        nested(45, "[" + "1," * 9_000 + "]"),
        "def f():\n global " + ",".join(f"a{number}" for number in range(12_000)) + "\n " + "lambda: 0;" * 1_900 + "0",
    ],
)
def test_what_would_compile_for_long_is_refused(source: str) -> None:
    """It is done in the host, where no limit of a run ends it. The slowest of 90 kinds of program of 100,000
    characters took 0.9 s (one f-string of 33,000 fields); of what is compiled, none took more than 0.2 s."""
    with pytest.raises(ProgramRefused, match="is not allowed; "):
        compile_program(source)


@pytest.mark.parametrize(
    "source",
    [
        "if x: 0\n" + "elif x: 0\n" * 220 + "else:\n " + "f();" * 1600 + "0",
        "".join(" " * depth + "if x:\n" for depth in range(90)) + " " * 90 + "f();" * 1900 + "0",
        "(" * 80 + "a," * 3500 + ")" + ",)" * 79 + "=x",
    ],
)
def test_what_lies_deep_is_not_rewritten(source: str) -> None:
    """The second run is rewritten in the host, by passes that look at all that is in a branch or a target."""
    with pytest.raises(ProgramRefused, match="such deep nesting"):
        compile_program(source, instrument)


@pytest.mark.parametrize(
    "source",
    [
        "[" + ",".join(hex((2**61 - 1) * number) for number in range(1, 4600)) + "]",
        "0x" + "f" * 66_000 + "//0x" + "e" * 33_000,
        "class A(metaclass=0x" + "f" * 90_000 + "): 0",
        "b'a' " * 19_000,
        "if x: 0\n" + "elif x: 0\n" * 4900,
        "x = " + "a if b else " * 900 + "c",
        "def f():\n with " + "a," * 17 + "a:\n" + "  if x: return 1\n" * 3500,
        "match x:\n case [" + ",".join(FEW) + ",[" + "1," * 5000 + "]]: 0",
        "".join("[" * 60 + ending + "\n" for ending in ("]" * 60, "x y", "{a:", "for", "(a:=")),
        "match a:\n case " + "(" * 60 + "1a",
        "# -*- coding: utf-7 -*-\n+AGkAbQBwAG8AcgB0ACAAbwBz-",
        "import json\x0c\x00import os",
    ],
)
def test_other_ways_to_make_compiling_long_come_to_an_end(source: str) -> None:
    """Numbers that hash alike, long division, many exits, brackets that the parser tries again and again, encodings."""
    with contextlib.suppress(ProgramRefused, SyntaxError):
        compile_program(source)


def test_what_is_refused_is_shown_shortly() -> None:
    """A name of 90,000 characters does not become part of a prompt."""
    for source in ("x.__" + "a" * 90_000 + "__", "from " + "." * 90_000 + " import x", "import " + "a" * 90_000):
        with pytest.raises(ProgramRefused) as refused:
            compile_program(source)
        assert len(str(refused.value)) < 1000


INNER = "   try:\n    g()\n   finally:\n    h()\n"
ROWS = "".join(f"    {{'id': {number}, 'name': 'n{number}', 'tags': [1, 2]}},\n" for number in range(1000))


@pytest.mark.parametrize(
    "source",
    [
        "match x:\n case [" + ",".join(FEW) + "] | (" + ",".join(FEW) + ", _): 0",
        f"def f(x):\n for one in x:\n  try:\n   if one: return one\n   if x: continue\n  finally:\n{INNER}",
        f"rows = [\n{ROWS}]\nprint(len(rows))",
    ],
    ids=["names in a pattern", "finally", "a table of a thousand rows"],
)
def test_what_is_ordinary_is_compiled(source: str) -> None:
    """As many names as a row of a table has columns may be bound, also by each of several alternatives."""
    assert compile_program(source)


def test_a_changed_module_is_whole_again_in_the_next_run() -> None:
    """What a program does to objects it can reach ends with its process."""
    sandbox = Sandbox(None, limits=Limits(wall=10))

    sandbox.run("import string, html\nhtml.escape.evil = 1\n")

    assert sandbox.run("import html\nprint(hasattr(html.escape, 'evil'))").stdout == "False\n"
