"""A reading of what kind of answer a question asks for: a number, a date, or an entity by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from atc.assist.rules.inspection import Inspection
from atc.evidence.answers import Finding
from protocols.text.words import fold, is_identifier, words
from sandbox.records import Source

__all__ = ["wrong_kind"]

_TOLERANCE = 0.01
_NUMERIC = re.compile(r"\d|\b(no|none|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", re.IGNORECASE)
_IDENTIFIER_ENDINGS = frozenset({"id", "ids", "uuid", "guid", "uri"})
"""Last words of identifier names that no person would give as an answer; a code or a number may be one."""


def wrong_kind(inspection: Inspection) -> Finding | None:
    """The question asks for a number, a date or an entity, and the output is of another kind."""
    if inspection.question.yes_or_no:
        return None
    asks, output, printed = inspection.question.asks, inspection.run.stdout, repr(inspection.lines[0][:80])
    for aspect, noun, pattern in (("amount", "number", _NUMERIC), ("date", "date", re.compile(r"\d"))):
        if aspect in asks and not pattern.search(output):
            return Finding("WrongKind", f"the question asks for a {noun}, and the program printed {printed}")
    bare = all(re.fullmatch(r"[\d.,]+", line) for line in inspection.lines)
    if "total" in asks and (bare or "amount" in asks) and (parts := _summands(inspection.lines)):
        message = (
            f"the question asks for one number in all, and the program printed {', '.join(parts)}; print their sum"
        )
        return Finding("WrongKind", message)
    sources = inspection.data_sources
    keys = [next((step for step in reversed(source.path) if isinstance(step, str)), "") for source in sources]
    if sources and "one of" in asks and all(_is_number(inspection.value_of(source)) for source in sources):
        message = f"the question asks which one, and the program printed {printed}; print what it is called, too"
    elif (
        sources
        and asks.isdisjoint({"identifier", "amount"})
        and all(is_identifier(key) and ("name" in asks or words(key)[-1] in _IDENTIFIER_ENDINGS) for key in keys)
        and not all(_reads_as_name(inspection.value_of(source)) for source in sources)
        and any(_has_text(inspection, replace(source, path=source.path[:-1])) for source in sources)
    ):
        message = f"the program printed {printed}, which identifies something; print what the question asks for"
    else:
        return None
    return Finding("WrongKind", message, None, sources[0].call, sources[0].path)


def _summands(lines: Sequence[str]) -> list[str]:
    """The last number of each of several lines; empty where one is the sum of the others, or a line has none."""
    matches = [re.findall(r"\d+(?:\.\d+)?", line.replace(",", ""))[-1:] for line in lines]
    numbers = [match[0] for match in matches if match]
    values = [float(number) for number in numbers]
    whole = any(abs(2 * value - sum(values)) < _TOLERANCE for value in values)
    return numbers if len(values) == len(lines) > 1 and not whole else []


def _reads_as_name(value: object) -> bool:
    """True for a text of letters, such as a person's handle."""
    return isinstance(value, str) and value.replace(" ", "").isalpha()


def _has_text(inspection: Inspection, item: Source) -> bool:
    """True unless an item has nothing to be called by but its identifier: no text, other than dates and fixed words.

    Made from one question, and tried on no other.
    """
    fields = inspection.value_of(item)
    return not isinstance(fields, Mapping) or any(
        isinstance(value, str) and value[:1].isalpha() and fold(value) not in inspection.enum_values
        for key, value in fields.items()
        if not is_identifier(key)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
