"""Parses a program in this process, which no limit of a run ends: sizes are counted before."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from protocols.errors import ProgramRefused

__all__ = ["FILENAME", "SOURCE_LIMIT", "bounded", "parse_program"]

FILENAME = "<program>"
"""File name in the code objects of a program: tracebacks are recognised by it."""

SOURCE_LIMIT = 100_000
"""Characters a program may have; compiling happens in the host's process, where no limit of a run ends it."""

_LONG_NAME = re.compile(r"(?:\.(?:[ \t\f]|\\\r?\n)*+[^\s.\\,;:=()\[\]{}\"'#]++(?:[ \t\f]|\\\r?\n)*+){300}")
"""A name of so many parts, as `import a.a.a`; the parser copies it for each of them."""

_warning_filters = threading.Lock()


def parse_program(source: str) -> ast.Module:
    """The syntax tree of a program that is not too large to be read in this process.

    Raises:
        ProgramRefused: It is too large, or nested too deeply.
        SyntaxError: It is not Python.
    """
    if len(source) > SOURCE_LIMIT:
        raise ProgramRefused(1, f"a program of {len(source)} characters", f"{SOURCE_LIMIT} is the most")
    if long_name := _LONG_NAME.search(source):
        line = source.count("\n", 0, long_name.start()) + 1
        raise ProgramRefused(line, "a name of more than 300 parts", "split the expression into several statements")
    with bounded():
        return ast.parse(source, FILENAME)


@contextmanager
def bounded() -> Iterator[None]:
    """Turn what ends the compiler into an error of the program. Raises: ProgramRefused, SyntaxError."""
    try:
        with _warning_filters, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning about "\d" belongs to the program, not into our own stderr
            yield
    except (RecursionError, MemoryError):
        raise ProgramRefused(1, "such deep nesting", "split the expression into several statements") from None
    except ValueError as error:  # null bytes, lone surrogates
        raise SyntaxError(str(error)) from None
