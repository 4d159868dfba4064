"""Show a write plan, such that whoever approves it sees all of it: requests, values, and where these come from."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator

from protocols.json_path import Step, readable_path
from protocols.quoting import visible
from sandbox.egress.write_plan import PlannedValue, PlannedWrite, WriteDifference, WritePlan

__all__ = ["MOST", "WIDEST", "difference_lines", "place_text", "plan_lines", "plan_review", "shortened", "unhidden"]

WIDEST = 200
"""Characters of one value that are shown; its name and how long it is are shown in any case."""

MOST = 60
"""Values of a write that are shown."""

_SCREEN = 20
"""Lines after which the requests are listed once more, below the values."""


def plan_lines(plan: WritePlan) -> list[str]:
    """The writes of a plan that nobody has approved yet, with the reads whose answers may change."""
    asked = plan.asked
    count = "1 write" if len(asked) == 1 else f"{len(asked)} writes"
    further = len(plan.writes) - len(asked)
    lines = [f"The program plans {count}" + (f", beside {further} approved before" if further else "") + ":"]
    steps = {write.call: list(_write_lines(write, plan)) for write in asked}
    for read in plan.uncertain_reads:
        name = read.tool or f"{read.method} {read.url}"
        reason = "uncertain: it reads what the writes before it may change, and is read again after them"
        steps[read.call] = [f"   {name}  ({reason})"]
    for call in sorted(steps):
        lines += steps[call]
    if len(lines) > _SCREEN:
        lines += ["In short:", *(_request_line(write) for write in asked)]
    return [unhidden(line) for line in lines]


def plan_review(plan: WritePlan) -> dict[str, object]:
    """The same as data for a page, in which no text holds a character that is not seen.

    `planned` has the new ones, each with its `number`, its `tool`, its `request` in a line, its `values` as name, value
    and origin, and how many `more` are not shown; `reads` has the uncertain reads, and `approved` the number of writes
    that were approved before.
    """
    writes = [
        {
            "number": write.number,
            "tool": unhidden(write.tool),
            "request": unhidden(_request(write)),
            "values": [[unhidden(text) for text in row] for row in _value_rows(write, plan)],
            "more": max(0, len(write.values) - MOST),
        }
        for write in plan.asked
    ]
    reads = [unhidden(read.tool or f"{read.method} {read.url}") for read in plan.uncertain_reads]
    return {"planned": writes, "reads": reads, "approved": len(plan.writes) - len(writes)}


def difference_lines(difference: WriteDifference) -> list[str]:
    """A write that was stopped, value by value against the planned one."""
    lines = [f"stopped before it was sent: {difference.tool}: {difference.method} {difference.url}"]
    if difference.number is None:
        lines.append("  no such write is left in the approved plan")
    elif not difference.values:
        lines.append(f"  it is write {difference.number} of the approved plan, out of its turn")
    for value in difference.values[:MOST]:
        planned = "(none)" if value.planned is None else shortened(value.planned)
        actual = "(none)" if value.actual is None else shortened(value.actual)
        lines.append(f"  {place_text(value.place)}: planned {planned}, actual {actual}")
    return [unhidden(line) for line in lines]


def unhidden(line: str) -> str:
    """A line in which everything is seen: what takes no room, blanks that are none, and letters of another alphabet
    among Latin ones are spelled out."""
    line = _UNSEEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", visible(line.replace("\n", "\\n")))
    return _MIXED.sub(_spelled, line)


def _write_lines(write: PlannedWrite, plan: WritePlan) -> Iterator[str]:
    yield _request_line(write)
    for name, text, origin in _value_rows(write, plan):
        yield f"     {name}: {text}  ({origin})"
    if len(write.values) > MOST:
        yield "     and more values, which are NOT shown here"


def _value_rows(write: PlannedWrite, plan: WritePlan) -> list[tuple[str, str, str]]:
    """Name, value and origin of the values that are shown of a write."""
    return [(place_text(v.place), shortened(v.value), _origin(v, plan)) for v in write.values[:MOST]]


def _request_line(write: PlannedWrite) -> str:
    return f"{write.number}. {write.tool}: {_request(write)}"


def _request(write: PlannedWrite) -> str:
    media_type = "" if write.media_type in _READABLE else f" as {write.media_type}"
    thread = " (of a thread, in any order)" if write.task else ""
    return f"{write.method} {write.url}{media_type}{thread}"


def _origin(value: PlannedValue, plan: WritePlan) -> str:
    """Where a value comes from, in words."""
    place = readable_path(value.path) if value.path else "its answer"
    if value.origin == "write":
        return f"from the answer of write {value.source}: {place}; the value here is made up, the real one is sent"
    if value.origin == "read":
        return f"from call {(value.source or 0) + 1}: {place}" + ("; uncertain" if value.uncertain else "")
    if value.origin == "computed":
        uncertain = "; if it comes out otherwise, the write is stopped" if value.uncertain else ""
        return f"computed from call {(value.source or 0) + 1}: {place}{uncertain}"
    return {"question": "from the question", "program": "of the program", "unknown": "origin unknown"}[value.origin]


def place_text(place: tuple[Step, ...]) -> str:
    """The name of a value: `order.items[0].id`; a name that is no plain one in quotes."""
    text = ""
    for step in place:
        if isinstance(step, int):
            text += f"[{step}]"
            continue
        name = step if _NAME.fullmatch(step) else json.dumps(step, ensure_ascii=False)
        name = name if len(name) <= WIDEST else f"{name[:WIDEST]}…"
        text += f".{name}" if text else name
    return text


def shortened(value: object) -> str:
    """A value as JSON, cut where it is long, with its length then."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= WIDEST else f"{text[:WIDEST]}… ({len(text)} characters)"


def _spelled(word: re.Match[str]) -> str:
    """A word with Latin letters, the others of which may only look like such."""
    letters = [(char, unicodedata.name(char, "").partition(" ")[0]) for char in word[0]]
    others = [(char, script) for char, script in letters if script != "LATIN"]
    is_alike = any(s in _LOOKING_LATIN or unicodedata.normalize("NFKC", char).isascii() for char, s in others)
    if not is_alike or len(others) == len(letters):
        return word[0]
    return "".join(char if script == "LATIN" else f"<U+{ord(char):04X}>" for char, script in letters)


_READABLE = frozenset({"", "application/json", "application/x-www-form-urlencoded"})
"""Media types of bodies whose values say all."""

_NAME = re.compile(r"[A-Za-z_][\w.-]*( [\w.-]+)?", re.ASCII)
_MIXED = re.compile(r"[^\W\d_]{2,}")
_LOOKING_LATIN = frozenset({"CYRILLIC", "GREEK", "COPTIC", "ARMENIAN", "CHEROKEE", "LISU"})
_UNSEEN = re.compile(
    "[\u00a0\u00ad\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u202f\u205f\u2800\u3000\u3164"
    "\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff\u0334-\u0338\u20d0-\u20ff]"  # the last two are drawn over letters
)
