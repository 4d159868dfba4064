"""Shorten a response to what fits into an observation, so that the next step can still be made from it.

First goes what no next step needs: URLs, empty values and the ends of long texts. Then, of objects in lists, the fields
other than identifiers, names, and those that the question has a word for. The last items go last. Fields and items that
went are told. ToolLLM cuts the whole text instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from protocols.text.prose import estimate
from protocols.text.words import is_identifier, stem, words

__all__ = ["OBSERVATION_TOKENS", "published_observation", "render_value", "truncate"]

_PUBLISHED_LENGTH = 1024

OBSERVATION_TOKENS = 400
"""Tokens of one observation, by `protocols.text.prose.estimate`."""

_TEXT = 160
"""Characters of a text that is kept whole."""
_URL = re.compile(r"(https?:)?//\S+|/\S+\.(jpe?g|png|svg|webp)")
_NAMES = frozenset({"name", "title", "label", "username"})
_DEEPEST = 12


def render_value(value: object, budget: int = OBSERVATION_TOKENS, wanted: Collection[str] = ()) -> str:
    """Render a response in at most `budget` tokens.

    Args:
        wanted: Stems of the question's words; fields of such names are kept.
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    if estimate(text) <= budget:
        return text
    short = _without_noise(value)
    main = _main_fields(short, frozenset(wanted))
    for reduced in (short, main, *(_first_items(main, most) for most in (60, 30, 15, 8, 4, 2, 1))):
        text = json.dumps(reduced, ensure_ascii=False, default=str)
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
        telling = {key: _without_noise(part, depth - 1) for key, part in value.items() if not _is_noise(part)}
        return telling if telling or not value else value
    return value


def _is_noise(value: object) -> bool:
    return value is None or value in ("", [], {}) or (isinstance(value, str) and bool(_URL.fullmatch(value)))


def _main_fields(value: object, wanted: frozenset[str], in_list: bool = False) -> object:
    """A value whose objects in lists have their identifiers, names and wanted fields; the first says what else."""
    if isinstance(value, list):
        items = [_main_fields(item, wanted, True) for item in value]
        later = (
            {key: part for key, part in item.items() if key != "…"} for item in items[1:] if isinstance(item, dict)
        )
        return [*items[:1], *later] if all(isinstance(item, dict) for item in items) else items
    if not isinstance(value, dict):
        return value
    main = {key: part for key, part in value.items() if not in_list or _is_main(str(key), wanted)}
    left = [str(key) for key in value if key not in main]
    reduced = {key: _main_fields(part, wanted, in_list) for key, part in (main or value).items()}
    return {**reduced, "…": f"not shown: {', '.join(left)}"} if main and left else reduced


def _is_main(key: str, wanted: frozenset[str]) -> bool:
    parts = words(key)
    return is_identifier(key) or bool(_NAMES.intersection(parts[-1:])) or bool(wanted & {*map(stem, parts)})


def _first_items(value: object, most: int) -> object:
    """A value with the first items of each list, and the number of the others."""
    if isinstance(value, list):
        items = [_first_items(item, most) for item in value[:most]]
        return [*items, f"… {len(value) - most} more items"] if len(value) > most else items
    return {key: _first_items(part, most) for key, part in value.items()} if isinstance(value, dict) else value


def published_observation(value: object) -> str:
    """Render a response as the published code does: a JSON object, cut at 1,024 characters wherever that is."""
    text = json.dumps({"error": "", "response": value}, ensure_ascii=False, default=str)
    return text if len(text) <= _PUBLISHED_LENGTH else f"{text[:_PUBLISHED_LENGTH]}..."


def truncate(text: str, budget: int = OBSERVATION_TOKENS) -> str:
    """Cut a text to at most `budget` tokens."""
    if estimate(text) <= budget:
        return text
    return f"{text[: 3 * budget - 30].rstrip()}… ({len(text)} characters)"
