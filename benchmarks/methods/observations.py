"""Shorten a response to what fits into an observation, so that the next step can still be made from it.

First goes what no next step needs: URLs, empty values and the ends of long texts. Then, of objects in lists, what they
hold in objects and lists of their own, and then their fields other than identifiers, names, and those that the question
has a word for. The last items go next, and what lies deep goes last. Fields and items that went are told, and `page_of`
has them: any part of the response by its path, a page at a time. ToolLLM cuts the whole text instead.

`read_reply` is the action that shows such a part. It costs a message like any other action. No call of the API is made,
so it is not on the path of the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping

from atc.models.base import FunctionSpec
from benchmarks.methods.actions import Action
from protocols.json_path import nodes
from protocols.quoting import estimate, json_text
from protocols.text.words import is_identifier, stem, words

__all__ = [
    "OBSERVATION_TOKENS",
    "page_of",
    "part_of",
    "published_observation",
    "read_reply",
    "reader_name",
    "reader_spec",
    "render_value",
    "shortened_note",
    "truncate",
]

_PUBLISHED_LENGTH = 1024

OBSERVATION_TOKENS = 400
"""Tokens of one observation, by `protocols.quoting.estimate`."""

_TEXT = 160
"""Characters of a text that is kept whole."""
_SHORT = 40
"""Characters of a text that counts as a field like a number: dates, states, places."""
_URL = re.compile(r"(https?:)?//\S+|/\S+\.(jpe?g|png|svg|webp)")
_NAMES = frozenset({"name", "title", "label", "username"})
_DEEPEST = 12
_STEP = re.compile(
    r"""\.?(?:(?P<key>[^.\[\]"'*]+)|\[(?:(?P<place>-?\d+)|(?P<quote>["'])(?P<quoted>.*?)(?P=quote))\]|(?P<all>\[\*?\]|\*))"""
)

_READER = "read_reply"
_ARGUMENTS = ("path", "page", "reply")


def render_value(value: object, budget: int = OBSERVATION_TOKENS, wanted: Collection[str] = ()) -> str:
    """Render a response in at most `budget` tokens.

    Args:
        wanted: Stems of the question's words; fields of such names are kept.
    """
    text = json_text(value)
    if estimate(text) <= budget:
        return text
    short = _without_noise(value) or value
    flat, main = (_main_fields(short, frozenset(wanted), scalars=scalars) for scalars in (True, False))
    fewer = [_first_items(main, most) for most in (60, 30, 15, 8, 4, 2, 1)]
    outlines = [_without_noise(_first_items(main, most), depth) for most, depth in ((4, 3), (1, 3), (1, 2), (1, 1))]
    for reduced in (short, flat, main, *fewer, *outlines):
        text = json_text(reduced)
        if estimate(text) <= budget:
            return text
    return truncate(text, budget)


def _without_noise(value: object, depth: int = _DEEPEST) -> object:
    """A value without URLs and empty values, its long texts cut."""
    if isinstance(value, str) and len(value) > _TEXT:
        return f"{value[:_TEXT]}… ({len(value):,} characters)"
    if isinstance(value, list | dict) and not depth:
        return f"… {len(value)} {'items' if isinstance(value, list) else 'fields'}"
    if isinstance(value, list):
        return [_without_noise(item, depth - 1) for item in value]
    if isinstance(value, dict):
        parts = {key: _without_noise(part, depth - 1) for key, part in value.items() if not _is_noise(part)}
        return {key: part for key, part in parts.items() if not _is_noise(part)}
    return value


def _is_noise(value: object) -> bool:
    return value is None or value in ("", [], {}) or (isinstance(value, str) and bool(_URL.fullmatch(value)))


def _main_fields(value: object, wanted: frozenset[str], in_list: bool = False, *, scalars: bool) -> object:
    """A value whose objects in lists have their identifiers, names and wanted fields; the first says what else.

    Args:
        scalars: They have all fields that are numbers and short texts, too.
    """
    if isinstance(value, list):
        items = [_main_fields(item, wanted, True, scalars=scalars) for item in value]
        return [*items[:1], *map(_without_notes, items[1:])]
    if not isinstance(value, dict):
        return value
    main = {
        key: part
        for key, part in value.items()
        if not in_list
        or key == _naming_field(value)
        or is_identifier(str(key))
        or _is_wanted(str(key), wanted)
        or _has_wanted(part, wanted)
        or (scalars and _is_short(part))
    }
    left = [str(key) for key in value if key not in main]
    reduced = {key: _main_fields(part, wanted, in_list, scalars=scalars) for key, part in (main or value).items()}
    return {**reduced, "…": f"not shown: {', '.join(left)}"} if main and left else reduced


def _without_notes(value: object) -> object:
    """A value without what is said of left out fields, where the first item of its list says it."""
    if isinstance(value, list):
        return [_without_notes(item) for item in value]
    return (
        {key: _without_notes(part) for key, part in value.items() if key != "…"} if isinstance(value, dict) else value
    )


def _naming_field(value: Mapping[str, object]) -> str | None:
    """The field that tells an object from the others: its name, else its first short one where it has no identifier."""
    if name := next((key for key in value if not _NAMES.isdisjoint(words(str(key))[-1:])), None):
        return name
    has_identifier = any(is_identifier(str(key)) for key in value)
    return None if has_identifier else next((key for key, part in value.items() if _is_short(part)), None)


def _is_wanted(key: str, wanted: frozenset[str]) -> bool:
    return not wanted.isdisjoint(map(stem, words(key)))


def _has_wanted(value: object, wanted: frozenset[str]) -> bool:
    """True if an object or a list has a wanted field, at any depth."""
    fields = (step for path, _ in nodes(value) for step in path[-1:])
    return bool(wanted) and any(isinstance(step, str) and _is_wanted(step, wanted) for step in fields)


def _is_short(value: object) -> bool:
    return not isinstance(value, list | dict) and len(str(value)) <= _SHORT


def _first_items(value: object, most: int) -> object:
    """A value with the first items of each list, and the number of the others."""
    if isinstance(value, list):
        items = [_first_items(item, most) for item in value[:most]]
        return [*items, f"… {len(value) - most} more items"] if len(value) > most else items
    return {key: _first_items(part, most) for key, part in value.items()} if isinstance(value, dict) else value


def part_of(value: object, path: str) -> object:
    """The part of a value at a path such as `items[3].price` or `["a.b"]`; `items[*].price` is the price of each item.

    Raises: ValueError: There is no such part; the message says how far the path leads, and what is there.
    """
    position = 0
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            raise ValueError(f"{path!r} is no path; write it like items[3].price or items[*].price")
        before, position = path[:position], step.end()
        if step["all"]:
            if not isinstance(value, list):
                raise ValueError(f"{before or 'the reply'} is no list, but {_sort(value)}")
            return [_part_or_none(item, path[position:]) for item in value]
        try:
            value = value[int(step["place"]) if step["place"] else step["key"] or step["quoted"]]  # type: ignore[index]
        except (LookupError, TypeError):
            raise ValueError(f"there is no {path[:position]}; {before or 'the reply'} is {_sort(value)}") from None
    return value


def _part_or_none(item: object, path: str) -> object:
    try:
        return part_of(item, path)
    except ValueError:
        return None


def _sort(value: object) -> str:
    """What a value is, in a few words."""
    if isinstance(value, dict):
        return truncate(f"an object with {', '.join(map(str, value)) or 'no fields'}", 100)
    if isinstance(value, list):
        return f"a list of {len(value)} items"
    return f"the value {truncate(json_text(value), 20)}"


def page_of(value: object, page: int, budget: int = OBSERVATION_TOKENS, wanted: Collection[str] = ()) -> str:
    """A page of a value: as many items of a list, fields of an object or characters of a text as fit.

    Nothing but items of a list is shortened, as in `render_value`, and what alone is larger than a page.

    Raises: ValueError: There is no such page; the message says how many there are.
    """
    text = json_text(value)
    pages = [text] if estimate(text) <= budget else list(_pages(value, budget, wanted))
    if not 1 <= page <= len(pages):
        inside = f"; this is {_sort(value)}: name one as path" if isinstance(value, dict) else ""
        raise ValueError(f"there is no page {page}; there are {len(pages)}{inside}")
    return pages[page - 1] if len(pages) == 1 else f"Page {page} of {len(pages)}: {pages[page - 1]}"


def _pages(value: object, budget: int, wanted: Collection[str]) -> Iterator[str]:
    """The pages of a value that is larger than one."""
    if not isinstance(value, list | dict):
        text, length = str(value), 3 * budget
        for start in range(0, len(text), length):
            yield json_text(text[start : start + length])
        return
    if isinstance(value, list):
        reduced = _main_fields(_without_noise(value), frozenset(wanted), scalars=True)
        assert isinstance(reduced, list)
        entries, opening, closing = [render_value(item, budget, wanted) for item in reduced], "[", "]"
    else:
        fields = {json_text(str(key)): part for key, part in value.items()}
        entries = [f"{key}: {render_value(part, budget, wanted)}" for key, part in fields.items()]
        opening, closing = "{", "}"
    rows: list[str] = []
    for entry in entries:
        if rows and estimate(", ".join([*rows, entry])) > budget:
            yield f"{opening}{', '.join(rows)}{closing}"
            rows = []
        rows.append(entry)
    yield f"{opening}{', '.join(rows)}{closing}"


def reader_name(names: Collection[str]) -> str:
    """The name of the action, which none of these functions has."""
    name = _READER
    while name in names:
        name += "_"
    return name


def reader_spec(name: str) -> FunctionSpec:
    """The action as a function that an endpoint is offered."""
    properties = {
        "path": {"type": "string", "description": "Such as items[3] or items[*].price; without it the whole reply."},
        "page": {"type": "integer", "description": "From 1, where the part is longer than a page."},
        "reply": {"type": "integer", "description": "The number of its call, from 1; without it the last reply."},
    }
    description = "Show a part of a reply that was shortened. No call of the API is made."
    return FunctionSpec(name, description, {"type": "object", "properties": properties})


def shortened_note(name: str, call: int) -> str:
    """What stands below an observation that was shortened; `call` is its `CallRecord.index`."""
    return f"(Shortened. {name}(reply={call + 1}, path=…, page=…) shows the rest.)"


def read_reply(action: Action, replies: Mapping[int, object], latest: int, budget: int, wanted: Collection[str]) -> str:
    """What the action shows, or why it shows nothing.

    Args: as `page_of` has them, and
        replies: Values by `CallRecord.index`. latest: The number of the last call that has one, from 1.
    """
    arguments = {**dict(zip(_ARGUMENTS, action.positional, strict=False)), **action.arguments}
    path, page, reply = (
        arguments.get(name) or default for name, default in zip(_ARGUMENTS, ("", 1, latest), strict=True)
    )
    try:
        if unknown := arguments.keys() - {*_ARGUMENTS}:
            raise ValueError(
                f"there is no argument {', '.join(sorted(unknown))}; the arguments are {', '.join(_ARGUMENTS)}"
            )
        number, page_number = (_whole(text, name) for text, name in ((reply, "reply"), (page, "page")))
        if not replies:
            raise ValueError("no call has a reply yet")
        if number - 1 not in replies:
            numbers = ", ".join(str(call + 1) for call in sorted(replies))
            raise ValueError(f"call {number} has no reply; these have one: {numbers}")
        part = part_of(replies[number - 1], str(path).removeprefix("$"))
        return page_of(part, page_number, budget, wanted)
    except ValueError as error:
        return truncate(f"Error: {error}", budget)


def _whole(value: object, name: str) -> int:
    """A whole number, be it a text. Raises: ValueError: It is none."""
    try:
        return int(str(value))
    except ValueError:
        raise ValueError(f"{name} is a whole number, not {value!r}") from None


def published_observation(value: object) -> str:
    """Render a response as the published code does: a JSON object, cut at 1,024 characters wherever that is."""
    text = json.dumps({"error": "", "response": value}, ensure_ascii=False, default=str)
    return text if len(text) <= _PUBLISHED_LENGTH else f"{text[:_PUBLISHED_LENGTH]}..."


def truncate(text: str, budget: int = OBSERVATION_TOKENS) -> str:
    """Cut a text to at most `budget` tokens."""
    if estimate(text) <= budget:
        return text
    return f"{text[: max(0, 3 * budget - 30)].rstrip()}… ({len(text)} characters)"
