"""What the printed words tell: nothing at all, that nothing was found, an error, or not what was asked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from atc.diagnosis.provenance import lookup
from atc.fault import Fault, Stage
from atc.program.source import parsed
from atc.verify.findings import Finding, Inspection, leaves
from protocols.text.words import is_identifier, words
from sandbox.records import Run

__all__ = ["error_text", "is_negative", "judge", "nothing_found", "nothing_new", "says_nothing", "wrong_kind"]

_NOTHING = re.compile(
    r"^(\W*|none|null|n/?a|nan|nothing( \w+)*"
    r"|(sorry|unfortunately)\b.*"
    r"|(there (is|are|was|were) )?no (?-i:[a-z])[\w ]*"
    r"|.*\b(not (be )?(found|available)|couldn't find|unknown)"
    r"|.*[:=]\s*(none|null|\[\]|\{\}|''|\"\")?)\W*$",
    re.IGNORECASE,
)
"""A line that says that there is nothing: "[]", "No movies found.", "Director: None"; but not a title, "No Time"."""

_ERROR = re.compile(
    r"^\W*((an? )?(\w*error|exception|failure)( \w+){0,4}(:|$)|(failed|unable|not able) to\b"
    r"|(could not|couldn't|cannot) )",
    re.IGNORECASE,
)
"""A line that says that something went wrong."""

_NO = re.compile(
    r"^\W*(no|not|none|nobody|nothing|never|false|0)\b|.*\b(not|no|isn't|aren't|doesn't|false)\b", re.IGNORECASE
)
"""A line that says no."""

_LONG = 500
"""Characters of a line that are looked at."""

_HOW_MANY = re.compile(r"\bhow (many|much)\b|\bnumber of\b", re.IGNORECASE)
_WHEN = re.compile(r"^\W*when\b|\b(on|in) (which|what) (day(?! of the week)|date|year)\b", re.IGNORECASE)
_IN_ALL = re.compile(r"\b(altogether|combined|in (all|sum|total)|together)\b", re.IGNORECASE)
_CLOSE = 0.01
_WHICH = re.compile(r"(?:^|[.?!,;:]\s*(?:and\s+|also\s+)?)(?:who|which one|which of)\b", re.IGNORECASE)
_COUNTED = re.compile(r"\d|\b(no|none|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", re.IGNORECASE)
_CALLED = re.compile(r"\bwho(se)?\b|\bcalled\b|\bnames?\b", re.IGNORECASE)
_NO_NAME = frozenset({"id", "ids", "uuid", "guid", "uri"})
"""Last words of the names of identifiers that no person would give for an answer; a code or a number one would."""
_NAMED_SO = re.compile(r"\b(ids?|codes?|numbers?|identifiers?|uris?|urls?|links?|keys?|slugs?)\b", re.IGNORECASE)
_MESSAGES = frozenset({"code", "detail", "details", "error", "message", "msg", "reason", "status", "status_message"})
"""Keys of what a service says of itself."""
_SAID = re.compile(r"\b(None|nan)\b(?![^\[{(]*[\]})])")
"""`None` that stands in a sentence and not among the data of an object or a list."""


def judge(program: str, run: Run | None) -> Fault | None:
    """Why a run is no answer; None when it is one."""
    if run is None or not program:
        return Fault("write", "NoProgram", "the answer held no Python program; write one in a code block")
    if run.outcome == "ok":
        if run.stdout.strip():
            return None
        return Fault("answer", "NoOutput", _unprinted(program))
    error = run.error
    kind = error.type if error else "Limit"
    message = error.message if error else f"stopped at the limit of {run.limit}"
    stage: Stage = "policy" if run.outcome == "refused" else "run"
    return Fault(stage, kind, message, error.line if error else None, error.snippet if error else "")


def _unprinted(program: str) -> str:
    """Why a program printed nothing."""
    nodes = ast.walk(parsed(program) or ast.Module([], []))
    prints = [node.lineno for node in nodes if isinstance(node, ast.Name) and node.id == "print"]
    if not prints:
        return "the program ended without printing an answer; print() it"
    lines = f"line{'s' * (len(prints) > 1)} {', '.join(map(str, prints))}"
    return f"the print() on {lines} was never reached: what is looked for was not found; print an answer then, too"


def says_nothing(lines: list[str]) -> bool:
    """Whether each line says that there is nothing."""
    return all(_NOTHING.match(line[:_LONG]) and not _is_data(line) for line in lines)


def _is_data(line: str) -> bool:
    """Whether a line is an object or a list that holds something, though its last value may be None."""
    try:
        value = ast.literal_eval(line)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return isinstance(value, (dict, list)) and any(leaf not in (None, "") for _, leaf in leaves(value))


def is_negative(seen: Inspection) -> bool:
    """Whether an answer says no, none or zero."""
    if not seen.lines or says_nothing(seen.lines):
        return True
    numbers = [one for line in seen.lines for one in re.findall(r"\d+(?:\.\d+)?", line)]
    told = [one for one in numbers if one not in re.findall(r"\d+(?:\.\d+)?", seen.query)]
    if told and all(float(one) == 0 for one in told):
        return True
    return not told and all(_NO.match(line[:_LONG]) for line in seen.lines)


def error_text(seen: Inspection) -> Finding | None:
    """All that was printed sounds like an error."""
    if seen.made_writes or not all(_ERROR.match(line[:_LONG]) and not _is_text(line, seen) for line in seen.lines):
        return None
    shown = seen.lines[0][:80]
    return Finding("ErrorPrinted", f"the program printed {shown!r}, which is an error and no answer; print the data")


def nothing_found(seen: Inspection) -> Finding | None:
    """The program says that there is nothing, or says None in place of a value."""
    if seen.made_writes:
        return None
    if says_nothing(seen.lines) and not any(_is_text(line, seen) for line in seen.lines):
        shown = seen.lines[0][:80]
        return Finding("NothingFound", f"the program printed {shown!r}, but what is asked for exists")
    for line in seen.lines:
        if _SAID.search(line[:_LONG]) and "none" not in words(seen.query):
            empty = [one for one in seen.printed if one.how == "exact" and _value(seen, one.call, one.path) is None]
            if not empty:
                continue
            told = f"the program printed {line[:80]!r}, in which a value is None; print the field that has the value"
            return Finding("NothingFound", told, None, empty[0].call, empty[0].path)
    return None


def nothing_new(seen: Inspection) -> Finding | None:
    """The program says the question's own words again; a thing found without them may be called so, as a show Today."""
    said = words(seen.run.stdout)
    if seen.made_writes or seen.chooses or not set(said) <= set(words(seen.query)):
        return None
    if not any(word.isalpha() for word in said):
        return None
    given = " ".join(str(value) for call in seen.run.calls for value in call.arguments.values()).casefold()
    if all(_is_text(line, seen) and line not in seen.query and line.casefold() not in given for line in seen.lines):
        return None
    shown = seen.lines[0][:80]
    return Finding("NothingNew", f"the program printed {shown!r}, which the question says already")


def wrong_kind(seen: Inspection) -> Finding | None:
    """A question for a number is answered without one, one for a day without a date, one for a thing with a number."""
    if seen.made_writes or seen.yes_or_no:
        return None
    shown = seen.lines[0][:80]
    if _HOW_MANY.search(seen.query) and not _COUNTED.search(seen.run.stdout):
        return Finding("WrongKind", f"the question asks for a number, and the program printed {shown!r}")
    if _WHEN.search(seen.query) and not re.search(r"\d", seen.run.stdout):
        return Finding("WrongKind", f"the question asks for a date, and the program printed {shown!r}")
    bare = all(re.fullmatch(r"[\d.,]+", line) for line in seen.lines)
    if _IN_ALL.search(seen.query) and (bare or _HOW_MANY.search(seen.query)) and (parts := _parts(seen.lines)):
        told = f"the question asks for one number in all, and the program printed {', '.join(parts)}; print their sum"
        return Finding("WrongKind", told)
    exact = [source for source in seen.printed if source.how != "decided"]
    values = [_value(seen, source.call, source.path) for source in exact]
    if values and _WHICH.search(seen.query) and all(_is_number(value) for value in values):
        told = f"the question asks which one, and the program printed {shown!r}; print what it is called, too"
        return Finding("WrongKind", told, None, exact[0].call, exact[0].path)
    if not exact or _NAMED_SO.search(seen.query) or _HOW_MANY.search(seen.query):
        return None
    keys = [next((step for step in reversed(source.path) if isinstance(step, str)), "") for source in exact]
    called = _CALLED.search(seen.query) is not None
    if not all(is_identifier(key) and (called or words(key)[-1] in _NO_NAME) for key in keys):
        return None
    told = f"the program printed {shown!r}, which identifies something; print what the question asks for"
    return Finding("WrongKind", told, None, exact[0].call, exact[0].path)


def _parts(lines: Sequence[str]) -> list[str]:
    """The numbers of several lines, the last of each; none where one is the sum of the others, or lines have none."""
    found = [re.findall(r"\d+(?:\.\d+)?", line.replace(",", ""))[-1:] for line in lines]
    numbers = [one[0] for one in found if one]
    values = [float(number) for number in numbers]
    whole = any(abs(2 * value - sum(values)) < _CLOSE for value in values)
    return numbers if len(values) == len(lines) > 1 and not whole else []


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(line: str, seen: Inspection) -> bool:
    """Whether a line is a text of a reply, whatever it sounds like: a song may be called Unknown. A message is none."""
    exact = [one for one in seen.printed if one.how == "exact" and not _MESSAGES.intersection(map(str, one.path[-1:]))]
    values = [_value(seen, one.call, one.path) for one in exact]
    return line.strip() in {value.strip() for value in values if isinstance(value, str)}


def _value(seen: Inspection, call: int, path: tuple[str | int, ...]) -> object:
    return lookup(seen.run.calls[call].response, path)
