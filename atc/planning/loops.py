"""Loops of a plan sketch: what follows from one item is done for each that the question means."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from atc.language.question import Question
from atc.planning.step_writer import quoted
from protocols.model import Protocol
from protocols.text.words import SIZES, is_identifier, noun_of, words

__all__ = ["FINDS", "is_assigned", "looped", "return_words"]

FINDS = re.compile(r'(\w+) = (\w+\(.*?\))((?:\["[^"]+"\])*)\[0\]')
"""A line that takes the first item of a call: the variable, the call, and the path in its response."""
_ASSIGNS_CALL = re.compile(r"(\w+) = ([A-Z]+_\w+)\(")


def looped(lines: list[str], question: Question, protocol: Protocol) -> list[str]:
    """A sketch without duplicate lines, in a loop where the question is about several items."""
    return _in_loop(_with_distinct_variables(_without_duplicates(lines)), question, protocol)


def _without_duplicates(lines: list[str]) -> list[str]:
    """The lines without those that give another variable the value of an earlier one."""
    set_to: dict[str, str] = {}
    for line in lines:
        set_to.setdefault(line.partition(" = ")[2] or line, line)
    read = [line for line in lines if _is_read(line.partition(" = ")[0], lines)]
    return [line for line in lines if line in read or set_to[line.partition(" = ")[2] or line] == line]


def _with_distinct_variables(lines: list[str]) -> list[str]:
    """The lines, with a longer name for each variable that several lines set and none reads."""
    setters = [_ASSIGNS_CALL.match(line) for line in lines]
    times = Counter(setter[1] for setter in setters if setter)
    taken = set(times)
    renamed = []
    for line, setter in zip(lines, setters, strict=True):
        if setter and times[setter[1]] > 1 and not _is_read(setter[1], lines):
            name_words = [word for word in return_words(setter[2]) if not is_identifier(word)]
            name = "_".join(name_words[-2:])
            if name not in taken:
                taken.add(name)
                line = f"{name}{line[len(setter[1]) :]}"
        renamed.append(line)
    return renamed


def _is_read(variable: str, lines: Iterable[str]) -> bool:
    return any(re.search(rf"\b{variable}\[| in {variable}\]", line) for line in lines)


def is_assigned(call: str, lines: Iterable[str]) -> bool:
    """True if another line sets a variable to this call."""
    return any(line.endswith(f" = {call}") for line in lines)


def _in_loop(lines: list[str], question: Question, protocol: Protocol) -> list[str]:
    """The lines of a sketch, in a loop where the question is about several items of one of its lists.

    Where the question asks for their number, the sketch ends with the list.
    """
    for place, line in enumerate(lines):
        if (finder := FINDS.fullmatch(line)) is not None and question.how_many(_list_noun(finder[3]) or finder[1]):
            return [*lines[:place], f"{finder[1]}s = {finder[2]}{finder[3]}"]
    finder = FINDS.fullmatch(lines[0])
    if finder is None or len(lines) < 2:
        return lines
    variable, call, inside = finder.groups()
    several = question.qualifiers(variable)
    searched = quoted(several[0]) if several else '"…"'
    if len(names := several if len(several) > 1 else question.joined_names) > 1 and searched in call:
        listed_names = ", ".join(quoted(name) for name in names)
        search = call.replace(searched, "name")
        inner = [f"    {line}" for line in lines[1:]]
        return [f"for name in [{listed_names}]:", f"    {variable} = {search}{inside}[0]", *inner]
    for place, line in enumerate(lines[:-1]):
        if (finder := FINDS.fullmatch(line)) is not None:
            variable, call, inside = finder.groups()
            if (count := max(question.count_of(variable), question.count_of(_list_noun(inside)))) > 1:
                inner = [f"    {line}" for line in lines[place + 1 :]]
                sized_call = _with_page_size(call, count, protocol)
                return [*lines[:place], f"for {variable} in {sized_call}{inside}[:{count}]:", *inner]
    return lines


def _with_page_size(call: str, count: int, protocol: Protocol) -> str:
    """A call that asks for `count` items, where its default would return fewer."""
    for parameter in protocol.tool(call.partition("(")[0]).arguments:
        default = parameter.schema.get("default")
        is_size = not SIZES.isdisjoint(words(parameter.argument)[-1:])
        if not is_size or not isinstance(default, int) or f"{parameter.argument}=" in call:
            continue
        comma = "" if call.endswith("()") else ", "
        return f"{call[:-1]}{comma}{parameter.argument}={count})" if default < count else call
    return call


def _list_noun(inside: str) -> str:
    """The noun of a list at the end of a path, as in `["parcels"]`."""
    return noun_of(inside.rpartition("[")[2].strip('"]'))


def return_words(name: str) -> list[str]:
    """The words of a tool's name that say what it returns."""
    returned = " ".join(name.split("_")[1:]).partition(" by ")[0]
    return [word for word in words(returned) if word.isidentifier()]
