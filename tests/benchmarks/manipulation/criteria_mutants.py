"""Programs of Home Search and Trip Booking that are wrong, made of right ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

Mutate = Callable[[list[str]], list[str]]


def _criterion(lines: list[str]) -> int:
    """The place of the last call before the search that no default stands in for."""
    return next(place for place in range(len(lines) - 2, 1, -1) if lines[place] != "API.set_num_rooms(1)")


def _replaced(lines: list[str], place: int, line: str) -> list[str]:
    return [*lines[:place], line, *lines[place + 1 :]]


def _without(lines: list[str], place: int) -> list[str]:
    return [*lines[:place], *lines[place + 1 :]]


def _changed_argument(lines: list[str]) -> list[str]:
    place = _criterion(lines)
    call, argument = re.fullmatch(r"([\w.]+)\((.*)\)", lines[place]).groups()  # type: ignore[union-attr]
    changes = {"[": '["House", "Condo", "Townhouse", "House"]', "L": 'Loc("Atlantis")', "D": "Date(1, 31, 1999)"}
    changed = changes.get(argument[0], '"Suite"' if argument[0] == '"' else f"{argument}1")
    return _replaced(lines, place, f"{call}({changed})")


def _is_trip(lines: list[str]) -> bool:
    return any("booking_type" in line for line in lines)


def _changed_function(lines: list[str]) -> list[str]:
    """One criterion becomes another one, with the same argument."""
    place = _criterion(lines)
    call, argument = re.fullmatch(r"API\.(\w+)\((.*)\)", lines[place]).groups()  # type: ignore[union-attr]
    function = {"L": "set_origin", "D": "set_checkin_date", "[": "search", '"': "set_num_adults"}.get(argument[0])
    if function in (None, call):
        numbers = ("set_num_adults", "set_num_children") if _is_trip(lines) else ("set_num_beds", "set_num_garages")
        function = numbers[call == numbers[0]]
    return _replaced(lines, place, f"API.{function}({argument})")


def _one_more(lines: list[str]) -> list[str]:
    """A criterion that the goal does not name, or another value of one that it names."""
    return [*lines[:-1], "API.set_num_children(9)" if _is_trip(lines) else "API.set_num_balconies(9)", lines[-1]]


MUTANTS: Mapping[str, Mutate] = {
    "no search": lambda lines: lines[:-1],
    "no first call": lambda lines: lines[1:],
    "a criterion left out": lambda lines: _without(lines, _criterion(lines)),
    "first calls exchanged": lambda lines: [lines[1], lines[0], *lines[2:]],
    "search first": lambda lines: [lines[-1], *lines[:-1]],
    "a criterion after the search": lambda lines: [*_without(lines, _criterion(lines)), lines[_criterion(lines)]],
    "a wrong argument": _changed_argument,
    "a wrong function": _changed_function,
    "a function that is none": lambda lines: _replaced(lines, _criterion(lines), "API.set_view(3)"),
    "one criterion too many": _one_more,
    "no object": lambda lines: [line.replace("API.", "") for line in lines],
    "nothing": lambda lines: [],
}


def mutants(label: str) -> Iterator[tuple[str, str]]:
    """The kind and the text of each wrong program made of a label."""
    lines = label.splitlines()
    for kind, mutate in MUTANTS.items():
        yield kind, "\n".join(mutate(lines))
