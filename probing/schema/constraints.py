"""What is known of a tool's arguments from how its calls went: one that has to be given although the document does not
say so, the values that it takes, what an answer takes for one that was not given, and how many items a page has.

All of it comes with its evidence, and none of it is a guess of a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from protocols.model import Parameter, Schema, Tool
from protocols.text.words import SIZES, words

__all__ = ["Constraint", "Seen", "constraints"]

_NEEDED = re.compile(
    r"\b(required|missing|must be (?:given|provided|set|present)|mandatory|cannot be (?:empty|blank))\b"
)
_CHOICE = re.compile(r"\b(?:one of|allowed values are|valid (?:values|options) are|permitted:|either)[:\s]+(.+)", re.I)
_VALUE = re.compile(r"[\w.:+/-]+")
_REFUSED = (400, 422)
_PAGING = SIZES | {"offset", "page", "skip", "start"}
"""Words of arguments of which an answer says what it took."""
_TOTALS = frozenset({"total", "totalresults", "totalcount", "totalitems", "count"})


@dataclass(frozen=True, slots=True)
class Seen:
    """A call of a tool: what it was given, and how it was answered; `told` is why that is no answer, empty if it is."""

    arguments: Mapping[str, object]
    status: int | None
    body: object
    told: str


@dataclass(frozen=True, slots=True)
class Constraint:
    """Something that holds of an argument, or of the pages of a list (then `argument` is None).

    required: it has to be given; values: it takes these; default: what is taken where it is not given; page_size: so
    many items come at once. `evidence` says what it was seen by.
    """

    kind: Literal["required", "values", "default", "page_size"]
    argument: str | None
    value: object
    evidence: str

    def to_json(self) -> dict[str, object]:
        """Plain data; the keys are part of the interface."""
        return asdict(self)


def constraints(tool: Tool, calls: Sequence[Seen]) -> list[Constraint]:
    """What calls of a tool say that its document does not."""
    good = [call for call in calls if call.status is not None and call.status < 300 and not call.told]
    refused = [call for call in calls if call.status in _REFUSED]
    found: list[Constraint] = []
    for one in tool.arguments:
        found += _required(one, good, refused)
        found += _values(one, refused)
        found += _default(one, good)
    return found + list(_page(tool, good))


def _required(one: Parameter, good: Sequence[Seen], refused: Sequence[Seen]) -> Iterator[Constraint]:
    """An argument without which no call went well: one that was refused said so, or went well as soon as it had it."""
    if one.required or any(one.argument not in call.arguments for call in good):
        return
    for call in refused:
        if one.argument in call.arguments:
            continue
        said = _mentions(call.told, one) and _NEEDED.search(call.told.lower()) is not None
        if said or any(dict(other.arguments) == {**call.arguments, **_of(one, other)} for other in good):
            yield Constraint("required", one.argument, True, f"{call.status} without it: {call.told}")
            return


def _of(one: Parameter, call: Seen) -> Mapping[str, object]:
    return {one.argument: call.arguments[one.argument]}


def _values(one: Parameter, refused: Sequence[Seen]) -> Iterator[Constraint]:
    """The values that the refusal of another one lists."""
    if "enum" in one.schema or "enum" in _items(one.schema):
        return
    for call in refused:
        listed = _CHOICE.search(call.told)
        if one.argument not in call.arguments or listed is None or not _mentions(call.told[: listed.start()], one):
            continue
        values = [value for value in _VALUE.findall(listed[1]) if value not in ("and", "or")]
        values = [value.rstrip(".:") for value in values]
        if len(values) > 1 and str(call.arguments[one.argument]) not in values:
            yield Constraint("values", one.argument, values, f"{call.status}: {call.told}")
            return


def _items(schema: Schema) -> Schema:
    items = schema.get("items")
    return items if isinstance(items, Mapping) else {}


def _default(one: Parameter, good: Sequence[Seen]) -> Iterator[Constraint]:
    """What answers say they took, under the argument's own name, where it was not given.

    Of an argument that is not about pages it has to be seen first that they do say it.
    """
    if one.required or "default" in one.schema:
        return
    bodies = [(call.arguments.get(one.argument), call.body) for call in good if isinstance(call.body, Mapping)]
    echoed = [(given, body[one.name]) for given, body in bodies if isinstance(body.get(one.name), str | int | float)]
    told = [value for given, value in echoed if given is None]
    repeats = [given == value for given, value in echoed if given is not None]
    same = all(value == told[0] for value in told)
    if told and same and all(repeats) and (repeats or _PAGING.intersection(words(one.name))):
        answers = f"{len(told)} answers without it say" if len(told) > 1 else "an answer without it says"
        yield Constraint("default", one.argument, told[0], f"{answers} {told[0]!r}")


def _page(tool: Tool, good: Sequence[Seen]) -> Iterator[Constraint]:
    """How many items come at once where nobody says how many, seen by an answer that tells of more than it has."""
    sizes = [one.argument for one in tool.arguments if SIZES.intersection(words(one.name))]
    full = []
    for call in good:
        if not isinstance(call.body, Mapping) or any(name in call.arguments for name in sizes):
            continue
        lists = [len(part) for part in call.body.values() if isinstance(part, list)]
        totals = [part for key, part in call.body.items() if "".join(words(str(key))) in _TOTALS]
        if len(lists) == 1 and len(totals) == 1 and isinstance(totals[0], int) and 0 < lists[0] < totals[0]:
            full.append((lists[0], totals[0]))
    if full and len({count for count, _ in full}) == 1:
        yield Constraint("page_size", None, full[0][0], f"{full[0][0]} of {full[0][1]} items came")


def _mentions(text: str, one: Parameter) -> bool:
    """Whether a text names an argument."""
    return re.search(rf"(?<!\w){re.escape(one.name.lower())}(?!\w)", text.lower()) is not None
