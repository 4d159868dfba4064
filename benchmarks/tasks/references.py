"""The judge of answers: compares them with the claim that a reference program prints.

A reference is a program of our own for one task. It runs in the task's world with the tools as functions and prints one
JSON object: what must hold of the answer, whatever calls led to it.

    {"all": [...]}               each of these values is in the answer; of a list among them, any one
    {"any": [...], "n": 2}       at least n of them are
    {"number": 12}               this number is
    {"yes": true}                the answer says yes (or no)
    {"empty": true}              the answer says that there is nothing
    {"state": true}              the world is as the task wanted it; such a program runs after the solve, in its world

To say what the solve changed, such a program is in two parts with the line `# after` between them: the first one runs
in a fresh world and prints JSON, which the second one finds in `before`.

`others` beside it lists wrong members of the same response field; an answer that holds more than three of them only
lists everything. Where a reference gives none, they are the other texts in the fields of its responses that held what
it claims (`beside`), or any other numbers. `longest` allows an answer of more than 2,000 characters. The criteria are
ours; no paper's figures are made with them.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from protocols.errors import UsageError
from sandbox import Run

__all__ = [
    "Reference",
    "find_reference",
    "is_correct",
    "query_hash",
    "read_claim",
    "references_digest",
    "run_reference",
    "sibling_texts",
]

LONGEST = 2000
"""Characters of an answer, unless the claim says otherwise."""

WRONG = 3
"""Wrong members of a field that an answer may hold."""

FOLDER = Path(__file__).parent.parent / "reference"

_MONTHS = [date(2000, month, 1).strftime("%B").lower() for month in range(1, 13)]
_MODIFIERS = {"n", "others", "longest"}
_NO = re.compile(
    r"\b(no|none|nothing|not|never|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|haven't|false|nobody|empty"
    r"|\[\]|null)(?!\w)|^\s*0\s*$|^\W*$"
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?")
_OBJECT = re.compile(r"\{[^{}]*\}")
_YES = re.compile(r"\b(yes|true|yeah|indeed|is|are|was|were|does|do|did|has|have)\b")


@dataclass(frozen=True, slots=True)
class Reference:
    """The program for a task; `after` says that it looks at the world that the solve left.

    `before` is the program that runs first, in a world in which nothing was done; the other one has what it printed, as
    data, in the variable `before`. Empty where there is none.
    """

    program: str
    after: bool
    before: str = ""


def query_hash(query: str) -> str:
    """A hash that ties a reference to the wording of its task."""
    return hashlib.sha256(query.strip().encode()).hexdigest()[:16]


def find_reference(benchmark: str, query: str, folder: Path | None = None) -> Reference | None:
    """The reference of a task by its wording, if there is one. Its first line is `# HASH`, or `# HASH after`.

    Raises: UsageError: A file begins with another line.
    """
    file = _files((folder or FOLDER) / benchmark).get(query_hash(query))
    if file is None:
        return None
    first, _, program = file.read_text("utf-8").partition("\n")
    if not first.strip().endswith(" after"):
        return Reference(program, False)
    first_part, between, second = program.partition("\n# after\n")
    return Reference(second, True, first_part) if between else Reference(program, True)


def references_digest(benchmark: str) -> str:
    """The SHA-256 of all references of a benchmark."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted((FOLDER / benchmark).glob("*.py")))).hexdigest()


@cache
def _files(folder: Path) -> Mapping[str, Path]:
    """The references in a folder, by the hash of the wording of their tasks."""
    references = {}
    for file in sorted(folder.glob("*.py")):
        first = file.read_text("utf-8").partition("\n")[0].strip()
        head = re.fullmatch(r"# ([0-9a-f]{16})( after)?", first)
        if head is None:
            raise UsageError(f"{file} does not say which task it is for: its first line must be # and its query_hash")
        references[head[1]] = file
    return references


def run_reference(reference: Reference, solved: Callable[[str], Run], fresh: Callable[[str], Run]) -> Run:
    """The run that prints the claim of a reference.

    Args:
        solved: Runs a program in the world that the solve left; `fresh` in one in which nothing was done.
    """
    before = f"before = {json.loads(fresh(reference.before).stdout)!r}\n" if reference.before else ""
    return (solved if reference.after else fresh)(before + reference.program)


def read_claim(printed: str) -> Mapping[str, object]:
    """The claim that a reference program printed. Raises: ValueError: It is none."""
    claim = json.loads(printed.strip().splitlines()[-1]) if printed.strip() else None
    kinds = {"all", "any", "number", "yes", "empty", "state"}
    if not isinstance(claim, dict) or len(kinds & claim.keys()) != 1 or not claim.keys() <= kinds | _MODIFIERS:
        raise ValueError(f"a reference must print one of {', '.join(sorted(kinds))}, not {printed.strip()[-200:]!r}")
    return claim


def sibling_texts(claim: Mapping[str, object], responses: Iterable[tuple[str, object]]) -> list[str]:
    """The other texts in the fields of responses, each with the name of its tool, in which claimed texts stand."""
    claimed = {
        _normalize(value) for name in ("all", "any") for value in _flatten(claim.get(name)) if isinstance(value, str)
    }
    fields: dict[tuple[object, ...], dict[str, str]] = {}
    for tool, response in responses:
        for path, text in _texts(response, (tool,)):
            fields.setdefault(path, {})[_normalize(text)] = text
    siblings = {plain: text for texts in fields.values() if claimed & texts.keys() for plain, text in texts.items()}
    return sorted(text for plain, text in siblings.items() if plain not in claimed)


def _flatten(value: object) -> Iterator[object]:
    if isinstance(value, list):
        for part in value:
            yield from _flatten(part)
    else:
        yield value


def _texts(value: object, path: tuple[object, ...]) -> Iterator[tuple[tuple[object, ...], str]]:
    """The texts in a response, each with the keys that lead to it; the items of a list are in the same place."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _texts(part, (*path, name))
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part, path)
    elif isinstance(value, str):
        yield path, value


def is_correct(answer: str, claim: Mapping[str, object]) -> bool:
    """True if an answer is right by a claim (see the head of this module)."""
    if "state" in claim:
        return bool(claim["state"])
    longest = claim.get("longest", LONGEST)
    if (isinstance(longest, int) and len(answer) > longest) or not answer.strip():
        return False
    text = _normalize(answer)
    wrong_values = claim.get("others", [])
    if isinstance(wrong_values, list) and sum(_states(text, value) for value in wrong_values) > WRONG:
        return False
    if "all" in claim:
        return all(_states(text, value) for value in _values(claim["all"]))
    if "any" in claim:
        least = claim.get("n", 1)
        return sum(_states(text, value) for value in _values(claim["any"])) >= (least if isinstance(least, int) else 1)
    if "number" in claim:
        numbers = set(_NUMBER.findall(_DATE.sub(" ", text)))
        wrong = sum(not _states(number, claim["number"]) for number in numbers)
        return _states(text, claim["number"]) and (wrong <= WRONG or "others" in claim)
    while text != (text := _OBJECT.sub(" x ", text)):  # what an object says is not what the answer says
        pass
    no = _NO.search(text) is not None
    if "empty" in claim:
        return no is bool(claim["empty"])
    return not no and (_YES.search(text) is not None) if claim["yes"] else no


def _values(values: object) -> list[object]:
    return values if isinstance(values, list) else [values]


def _states(text: str, value: object) -> bool:
    """True if a normalized text has a value as whole words or numbers; of a list, any value."""
    if isinstance(value, list):
        return any(_states(text, option) for option in value)
    if isinstance(value, bool) or value is None:
        return re.search(rf"\b{str(value).lower()}\b", text) is not None
    if isinstance(value, (int, float)):
        numbers = map(float, _NUMBER.findall(text))
        return any(
            abs(number - value) <= 0.005 * max(1.0, abs(value)) * (isinstance(value, float)) for number in numbers
        )
    phrase = _normalize(str(value))
    return bool(phrase) and re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None


def _normalize(text: str) -> str:
    """Without case, accents, thousands separators and odd spaces; dates as 2024-06-01, moments as 2024-06-01 06:30."""
    text = "".join(part for part in unicodedata.normalize("NFKD", text) if not unicodedata.combining(part)).casefold()
    text = re.sub(r"[\u2018\u2019]", "'", text)
    text = re.sub(r"[\u2010-\u2015]", "-", text)
    text = re.sub(r"(?<=\d)[,\u00a0\u202f'](?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(\d{4}-\d\d-\d\d)t00:00(?::00(?:\.0+)?)?(?:z|\+00:00)?", r"\1", text)
    text = re.sub(r"(\d{4}-\d\d-\d\d)t(\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(?:z|\+00:00)?", r"\1 \2", text)
    month = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
    text = re.sub(rf"\b({month})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b", lambda m: _date(m[3], m[1], m[2]), text)
    text = re.sub(
        rf"\b(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({month})\.?,? (\d{{4}})\b", lambda m: _date(m[3], m[2], m[1]), text
    )
    return " ".join(text.split())


def _date(year: str, month: str, day: str) -> str:
    number = next(place for place, name in enumerate(_MONTHS, 1) if name.startswith(month[:3]))
    try:
        return date(int(year), number, int(day)).isoformat()
    except ValueError:
        return f"{day} {month} {year}"
