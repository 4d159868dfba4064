"""The programs that the sandbox is measured with do in it what they do in CPython."""

from __future__ import annotations

import contextlib
import io

import pytest

from benchmarks.micro.sandbox import CRUNCH, LOOP, TRIVIAL
from sandbox import Sandbox


@pytest.mark.parametrize("program", [TRIVIAL, LOOP.format(size=1000), CRUNCH.format(size=100)])
def test_measured_programs_print_what_cpython_prints(program: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(program, {"__name__": "__main__"})

    assert Sandbox(None).run(program).stdout == printed.getvalue() != ""
