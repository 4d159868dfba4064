"""Check the printed words: nothing at all, "nothing found", an error, or an answer of the wrong kind."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from atc.assist.rules.findings import Inspection
from atc.evidence.finding import Finding
from atc.evidence.traced_run import lists_in
from atc.program.choices import choices
from protocols.json_path import leaves
from protocols.text.words import is_identifier, words
from sandbox.records import Source

__all__ = ["error_text", "is_empty_answer", "is_negative", "nothing_found", "nothing_new", "wrong_kind"]

_EMPTY_LINE = re.compile(
    r"^(\W*|none|null|n/?a|nan|nothing( \w+)*"
    r"|(sorry|unfortunately)\b.*"
    r"|(there (is|are|was|were) )?no (?-i:[a-z]|[A-Z]{2}\b)[\w ]*"
    r"|.*\b(not (be )?(found|available)|couldn't find|unknown)"
    r"|.*[:=]\s*(none|null|\[\]|\{\}|''|\"\")?)\W*$",
    re.IGNORECASE,
)
"""A line without a result: "[]", "No movies found.", "Director: None"; but not a title, "No Time"."""

_ERROR_LINE = re.compile(
    r"^\W*((an? )?(\w*error|exception|failure)( \w+){0,4}(:|$)|(failed|unable|not able) to\b"
    r"|(could not|couldn't|cannot) )",
    re.IGNORECASE,
)
"""A line that reports an error."""

_NEGATIVE_LINE = re.compile(
    r"^\W*(no|not|none|nobody|nothing|never|false|0)\b|.*\b(not|no|isn't|aren't|doesn't|false)\b", re.IGNORECASE
)
"""A negative line."""

_MAX_LINE = 500
"""Characters of a line that are matched."""

_TOLERANCE = 0.01
_NUMERIC = re.compile(r"\d|\b(no|none|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", re.IGNORECASE)
_IDENTIFIER_ENDINGS = frozenset({"id", "ids", "uuid", "guid", "uri"})
"""Last words of identifier names that no person would give as an answer; a code or a number may be one."""
_META_KEYS = frozenset({"code", "detail", "details", "error", "message", "msg", "reason", "status", "status_message"})
"""Keys of a service's messages about itself."""
_NONE_IN_TEXT = re.compile(r"\b(None|nan)\b(?![^\[{(]*[\]})])")
"""`None` in a sentence, not among the data of an object or a list."""


def is_empty_answer(lines: list[str]) -> bool:
    """True if each line reports that there is no result."""
    return all(_EMPTY_LINE.match(line[:_MAX_LINE]) and not _is_data(line) for line in lines)


def _is_data(line: str) -> bool:
    """True if a line is an object or list with a value, even if its last value is None."""
    try:
        value = ast.literal_eval(line)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return isinstance(value, (dict, list)) and any(leaf not in (None, "") for _, leaf in leaves(value))


def is_negative(inspection: Inspection) -> bool:
    """True if the answer is no, none or zero."""
    if not inspection.lines or is_empty_answer(inspection.lines):
        return True
    numbers = [number for line in inspection.lines for number in re.findall(r"\d+(?:\.\d+)?", line)]
    own_numbers = [number for number in numbers if number not in inspection.question.numbers]
    if own_numbers and all(float(number) == 0 for number in own_numbers):
        return True
    return not own_numbers and all(_NEGATIVE_LINE.match(line[:_MAX_LINE]) for line in inspection.lines)


def error_text(inspection: Inspection) -> Finding | None:
    """The whole output sounds like an error."""
    lines = inspection.lines
    if not all(_ERROR_LINE.match(line[:_MAX_LINE]) and not _is_text(line, inspection) for line in lines):
        return None
    message = f"the program printed {_beginning(inspection)}, which is an error and no answer; print the data"
    return Finding("ErrorPrinted", message)


def nothing_found(inspection: Inspection) -> Finding | None:
    """The output reports no result, or None in place of a value."""
    empty_answer = is_empty_answer(inspection.lines) and not any(
        _is_text(line, inspection) for line in inspection.lines
    )
    if empty_answer and not _is_empty_selection(inspection):
        message = f"the program printed {_beginning(inspection)}, but what is asked for exists"
        return Finding("NothingFound", message)
    line = next((line for line in inspection.lines if _NONE_IN_TEXT.search(line[:_MAX_LINE])), None)
    missing = [source for source in _exact_sources(inspection) if inspection.value_of(source) is None]
    if line is None or not missing or "none" in inspection.question.words:
        return None
    message = f"the program printed {line[:80]!r}, in which a value is None; print the field that has the value"
    return Finding("NothingFound", message, None, missing[0].call, missing[0].path)


def _is_empty_selection(inspection: Inspection) -> bool:
    """True if the question asks which of several meet a condition, and the program looked at several that do not."""
    if not inspection.question.asks_for_several:
        return False
    return any(choice.kind == "filter" for choice in choices(inspection.program)) and any(
        len(items) > 1 for call in inspection.good_calls for _, items, _ in lists_in(inspection.response(call))
    )


def nothing_new(inspection: Inspection) -> Finding | None:
    """The output repeats words of the question.

    An entity found without those words may be named so, as a show called Today.
    """
    printed_words, question = words(inspection.run.stdout), inspection.question
    if question.offers_choice or not set(question.words).issuperset(printed_words):
        return None
    sent_text = " ".join(str(value) for _, _, value, _ in inspection.all_arguments).casefold()
    if not any(word.isalpha() for word in printed_words) or all(
        _is_text(line, inspection) and line not in question.text and line.casefold() not in sent_text
        for line in inspection.lines
    ):
        return None
    return Finding("NothingNew", f"the program printed {_beginning(inspection)}, which the question says already")


def wrong_kind(inspection: Inspection) -> Finding | None:
    """The question asks for a number, a date or an entity, and the output is of another kind."""
    if inspection.question.yes_or_no:
        return None
    asks, output, printed = inspection.question.asks, inspection.run.stdout, _beginning(inspection)
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
    ):
        message = f"the program printed {printed}, which identifies something; print what the question asks for"
    else:
        return None
    return Finding("WrongKind", message, None, sources[0].call, sources[0].path)


def _beginning(inspection: Inspection) -> str:
    """The first printed line, quoted and not too long."""
    return repr(inspection.lines[0][:80])


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


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(line: str, inspection: Inspection) -> bool:
    """True if a line is a text of a response (a song called Unknown), and no message of the service."""
    data = [source for source in _exact_sources(inspection) if _META_KEYS.isdisjoint(map(str, source.path[-1:]))]
    values = map(inspection.value_of, data)
    return line.strip() in {value.strip() for value in values if isinstance(value, str)}


def _exact_sources(inspection: Inspection) -> list[Source]:
    """The sources of the values that were printed as they are."""
    return [source for source in inspection.printed_sources if source.how == "exact"]
