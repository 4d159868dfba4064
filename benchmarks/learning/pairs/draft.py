"""A pair in the making: the statements so far, the values in the question, and chance."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from benchmarks.learning.pairs.code import print_program, statements
from protocols.text.words import words

__all__ = ["Draft", "NoQuestion", "QuestionPair"]


Option = TypeVar("Option")


class NoQuestion(Exception):  # noqa: N818
    """Nothing can be asked this way; another draft is begun."""


@dataclass(frozen=True, slots=True)
class QuestionPair:
    """A question with its program; `values` are the names and values in the question, `tools` the calls in order."""

    question: str
    program: str
    values: tuple[str, ...]
    tools: tuple[str, ...]
    writes: bool = False


@dataclass
class Draft:
    """A program that grows, statement by statement."""

    rng: Random
    body: list[ast.stmt] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    def variable(self, name: str) -> str:
        """A variable that is not taken yet, called like something."""
        base = "_".join(words(name)[-2:]) or "item"
        base = base if base.isidentifier() and not keyword.iskeyword(base) and base not in _TAKEN else f"{base}_item"
        number = next(n for n in range(1, 99) if (f"{base}{n}" if n > 1 else base) not in self.taken)
        variable = f"{base}{number}" if number > 1 else base
        self.taken.add(variable)
        return variable

    def let(self, name: str, value: ast.expr) -> str:
        """Set a new variable."""
        variable = self.variable(name)
        self.body += statements("NAME = VALUE", NAME=variable, VALUE=value)
        return variable

    def add(self, pattern: str, **parts: ast.expr | str) -> None:
        """Add the statements of a pattern."""
        self.body += statements(pattern, **parts)

    @contextmanager
    def loop(self, item: str, items: ast.expr) -> Iterator[None]:
        """What is added inside is the body of a loop."""
        outer, self.body = self.body, []
        try:
            yield
        finally:
            loop = ast.For(ast.Name(item), items, self.body, [])
            self.body = [*outer, loop]

    def value(self, text: object) -> str:
        """Note a value that the question says."""
        self.values.append(str(text))
        return str(text)

    def pair(self, question: str, writes: bool = False) -> QuestionPair:
        """The finished pair."""
        return QuestionPair(question, print_program(self.body), tuple(self.values), tuple(self.tools), writes)

    def chance(self, share: float) -> bool:
        """True in a share of cases."""
        return self.rng.random() < share

    def choose(self, options: Sequence[Option]) -> Option:
        """One of some options. Raises: NoQuestion: There are none."""
        if not options:
            raise NoQuestion
        return self.rng.choice(options)


_TAKEN = frozenset(
    {"print", "max", "min", "len", "list", "sorted", "next", "set", "type", "id", "sum", "object", "item"}
)
