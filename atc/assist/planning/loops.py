"""Loops of a plan: what follows from one item is done for each that the question means."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from atc.assist.language.question import Question
from atc.program.plan import (
    PLACEHOLDER,
    Call,
    Each,
    Items,
    Literal,
    Path,
    Plan,
    Ref,
    Statement,
    Step,
    mapped,
    parts,
    reads,
)
from protocols.model import Protocol, Tool
from protocols.text.words import SIZES, is_identifier, noun_of, words

__all__ = ["looped", "return_words"]


def looped(steps: Sequence[Step], question: Question, protocol: Protocol) -> Plan:
    """The plan of some steps without duplicates, in a loop where the question is about several items."""
    steps = _with_distinct_variables(list(_without_duplicates(steps)), protocol)
    return Plan(_in_loop(steps, question, protocol))


def _without_duplicates(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps without those that give another variable the value of an earlier one, or only make its call."""
    set_to: dict[object, Step] = {}
    for step in sorted(steps, key=lambda step: not step.variable):
        set_to.setdefault(step.value, step)
    read = _read(steps)
    return (step for step in steps if step.variable in read or set_to[step.value] == step)


def _with_distinct_variables(steps: list[Step], protocol: Protocol) -> list[Step]:
    """The steps, with a longer name for each variable that several calls set and no step reads."""
    times = Counter(step.variable for step in steps if step.variable and isinstance(step.value, Call))
    read, taken = _read(steps), set(times)
    for place, step in enumerate(steps):
        if isinstance(step.value, Call) and times[step.variable] > 1 and step.variable not in read:
            name_words = [word for word in return_words(protocol.tool(step.value.tool)) if not is_identifier(word)]
            name = "_".join(name_words[-2:])
            if name and name not in taken:
                taken.add(name)
                steps[place] = replace(step, variable=name)
    return steps


def _read(steps: Sequence[Step]) -> frozenset[str]:
    return frozenset().union(*(reads(step.value) for step in steps))


def _in_loop(steps: list[Step], question: Question, protocol: Protocol) -> tuple[Statement, ...]:
    """The steps, in a loop where the question is about several items of one of their lists.

    Where the question asks for their number, or which of all they are, the plan ends with the list.
    """
    finders = [(place, step.variable, items) for place, step in enumerate(steps) if (items := step.first_of)]
    for place, variable, items in finders:
        nouns = (_list_noun(items.path) or variable, variable)
        if question.how_many(nouns[0]) or (not items.arguments and any(map(question.which, nouns))):
            return *steps[:place], Step(f"{variable}s", items)
    if not finders or finders[0][0] or len(steps) < 2:
        return tuple(steps)
    _, variable, items = finders[0]
    several = question.qualifiers(variable)
    searched = Literal(several[0]) if several else PLACEHOLDER
    names = several if len(several) > 1 else question.joined_names
    if len(names) > 1 and searched in parts(items):
        search = mapped(steps[0].value, lambda part: Ref("name") if part == searched else part)
        return (Each("name", Items(tuple(map(Literal, names))), (Step(variable, search), *steps[1:])),)
    for place, variable, items in finders:
        count = max(question.count_of(variable), question.count_of(_list_noun(items.path)))
        if count > 1 and place < len(steps) - 1:
            loop = Each(variable, _with_page_size(items, count, protocol), tuple(steps[place + 1 :]), count)
            return *steps[:place], loop
    return tuple(steps)


def _with_page_size(call: Call, count: int, protocol: Protocol) -> Call:
    """A call that asks for `count` items, where its default would return fewer."""
    for parameter in protocol.tool(call.tool).arguments:
        default = parameter.schema.get("default")
        is_size = not SIZES.isdisjoint(words(parameter.argument)[-1:])
        if is_size and isinstance(default, int) and call.argument(parameter.argument) is None:
            return call.with_argument(parameter.argument, Literal(count)) if default < count else call
    return call


def _list_noun(path: Path) -> str:
    """The noun of a list at the end of a path, as in `["parcels"]`."""
    return noun_of(str(path[-1])) if path else ""


def return_words(tool: Tool) -> list[str]:
    """The words of a tool's name that say what it returns; of its path, where it is not named by its method."""
    name_parts = tool.local_name.split("_")
    if name_parts[0] == tool.method:
        returned = " ".join(name_parts[1:])
    else:
        segments = [segment for segment in tool.path.split("/") if segment and "{" not in segment]
        returned = segments[-1].replace("_", " ") if segments else tool.local_name.replace("_", " ")
        returned = re.sub(r"^get\b\s*", "", returned, flags=re.IGNORECASE) or returned
    return [word for word in words(returned.partition(" by ")[0]) if word.isidentifier()]
