"""The forms in which people write functions and classes: hints, docstrings, results, and files."""

from __future__ import annotations

import collections.abc
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import Enum, StrEnum
from typing import Annotated, Literal, NamedTuple

import pydantic
import pytest

from protocols import Protocol
from protocols.functions.host_function import read_docstring
from sandbox import Run, Sandbox


def run(program: str, *functions: object) -> Run:
    """Run a program over functions."""
    with Sandbox(Protocol.from_functions(functions)) as sandbox:
        return sandbox.run(program)


class Planet(Enum):
    EARTH = (5.9, 6.3)
    MARS = (0.6, 3.3)


class Quarter(Enum):
    SPRING = date(2026, 4, 1)
    AUTUMN = date(2026, 10, 1)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


def nearest() -> Planet:
    """The nearest planet."""
    return Planet.MARS


def mass(planet: Planet) -> float:
    """The mass of a planet."""
    return float(planet.value[0])


def sales(quarter: Quarter, colour: Literal[Colour.RED, 5]) -> str:
    """The sales of a quarter."""
    return f"{quarter.name} {colour!r}"


def test_a_choice_is_made_by_json_values() -> None:
    """Also of dates and tuples, and of members that a Literal has; what a function returns is an argument again."""
    result = run('print(mass(nearest()), sales("2026-10-01", "red"), sales("2026-04-01", 5))', nearest, mass, sales)

    assert result.stdout == "0.6 AUTUMN <Colour.RED: 'red'> SPRING 5\n", result.error
    refused = run('sales("2026-01-01", "red")', sales).error
    assert refused is not None and "must be one of '2026-04-01', '2026-10-01', not '2026-01-01'" in refused.message
    tool = Protocol.from_functions([sales]).tool("sales")
    assert json.dumps([argument.schema["enum"] for argument in tool.arguments])
    assert tool.function is not None
    assert tool.function.typed_call == "sales(quarter: Literal['2026-04-01', '2026-10-01'], colour: Literal['red', 5])"


@dataclass
class Animal:
    """An animal."""

    name: str


@dataclass
class Dog(Animal):
    """A dog."""

    tail: float = 1.0


def upper(names: list[str]) -> Iterable[str]:
    """The names in capitals."""
    return map(str.upper, names)


def keys() -> collections.abc.Collection[str]:
    """The keys."""
    return {"a": 1, "b": 2}.keys()


def adopt(name: str) -> Animal:
    """Adopt an animal."""
    return Dog(name)


def test_results_are_what_their_hints_allow() -> None:
    """An iterator and a view are lists, and an instance of a subclass one of the class that the hint names."""
    result = run('print(upper(["a"]), keys(), adopt("Rex"))', upper, keys, adopt)

    assert result.stdout == "['A'] ['a', 'b'] Animal(name='Rex')\n", result.error


class Spot(NamedTuple):
    """A place on a map."""

    x: int
    y: int = 0


ORIGIN = Spot(0, 0)


@dataclass
class Line:
    """A line on a map."""

    end: Spot
    start: Spot = ORIGIN


def length(line: Line) -> int:
    """The length of a line."""
    return abs(line.end.x - line.start.x) + abs(line.end.y - line.start.y)


def middle(spots: list[Spot]) -> Spot:
    """The spot in the middle."""
    return spots[len(spots) // 2]


def test_a_named_tuple_is_a_tuple() -> None:
    """It can be unpacked and indexed, a list of its values is one, and the host has the default that is one."""
    program = (
        "x, y = middle([[1, 2], Spot(3, 4), [5, 6]])\nspot = Spot(7)\nprint(x, y, spot[0], len(spot), list(spot))\n"
    )
    result = run(f"{program}print(length(Line(Spot(1, 2))), length(Line([4, 4], start=spot)))", length, middle)

    assert result.stdout == "3 4 7 2 [7, 0]\n3 7\n", result.error
    made = Protocol.from_functions([length]).tool("Line").function
    assert made is not None and made.typed_call == "Line(end: Spot, start: Spot = Spot(x=0, y=0))"


class LateError(BaseException):
    """An error that is no Exception."""


class SilentError(Exception):
    """An error whose message fails."""

    def __str__(self) -> str:
        raise ValueError


def fail(kind: str) -> None:
    """Fail."""
    raise {"late": LateError, "silent": SilentError}[kind]("no time")


def test_every_exception_of_a_function_can_be_caught() -> None:
    """One that is no Exception, and one that has no message, are errors of the call, which is in the record."""
    program = """
for kind in ("late", "silent"):
    try:
        fail(kind)
    except Exception as error:
        print(type(error).__name__, error)
"""
    result = run(program, fail)

    assert result.stdout == "LateError no time\nSilentError an exception without a message\n", result.error
    assert [call.status for call in result.calls] == [400, 400]


GOOGLE = """Book a room.

It is kept for an hour.

Args:
    room: Number of the room,
        as on its door.
    *guests (str): Their names.
Keyword Args:
    late: Whether they come late.
Returns: The price.
Raises: ValueError: It is taken."""

SPHINX = """Book a room.

It is kept for an hour.

:param room: Number of the room,
    as on its door.
:type room: str
:param str guests: Their names.
:returns: The price.
:raises ValueError: It is taken.
"""


@pytest.mark.parametrize("text", [GOOGLE, SPHINX])
def test_docstrings_of_two_styles_are_read(text: str) -> None:
    """What they say of types and exceptions is no part of a description."""
    read = read_docstring(text)

    assert (read.summary, read.description) == ("Book a room.", "Book a room.\n\nIt is kept for an hour.")
    assert dict(read.arguments) == {"room": "Number of the room, as on its door.", "guests": "Their names."}
    assert read.returns == "The price."


class Bill(pydantic.BaseModel):
    """A bill."""

    number: int = pydantic.Field(description="as printed on it")


def pay(bill: Annotated[Bill | None, "what is paid"] = None, on: Annotated[str, "as 2024-01-31"] | None = None) -> None:
    """Pay a bill."""


def pay_later(
    bill: Annotated[Bill | None, "what is paid later"] = None, on: Annotated[str, "as 2024-01-31"] | None = None
) -> None:
    """Pay a bill."""


def test_hints_describe_what_may_be_left_out() -> None:
    """Also a value class, and a field of a model; another description is another protocol."""
    protocol = Protocol.from_functions({"pay": pay})

    assert [argument.description for argument in protocol.tool("pay").arguments] == ["what is paid", "as 2024-01-31"]
    assert [argument.description for argument in protocol.tool("Bill").arguments] == ["as printed on it"]
    assert protocol.digest == Protocol.from_functions({"pay": pay}).digest
    assert protocol.digest != Protocol.from_functions({"pay": pay_later}).digest
