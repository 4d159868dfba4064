"""Shorten a response to what fits into an observation, with marks for the omitted parts.

Values are shortened inside, so that the result is still a list or an object; ToolLLM cuts the whole text instead.
"""

from __future__ import annotations

import json

from protocols.render import estimate

__all__ = ["OBSERVATION_TOKENS", "published_observation", "render_value", "truncate"]

_PUBLISHED_LENGTH = 1024

OBSERVATION_TOKENS = 400
"""Tokens of one observation, by `protocols.render.estimate`."""

_LIMITS = ((100, 1000, 9), (20, 400, 6), (10, 200, 5), (5, 120, 4), (3, 80, 4), (2, 60, 3), (1, 40, 3))
"""Items of a list, characters of a text and levels, from generous to strict."""


def render_value(value: object, budget: int = OBSERVATION_TOKENS) -> str:
    """Render a response in at most `budget` tokens."""
    text = ""
    for items, characters, depth in _LIMITS:
        text = json.dumps(_abridge(value, items, characters, depth), ensure_ascii=False, default=str)
        if estimate(text) <= budget:
            return text
    return truncate(text, budget)


def published_observation(value: object) -> str:
    """Render a response as the published code does: a JSON object, cut at 1,024 characters wherever that is."""
    text = json.dumps({"error": "", "response": value}, ensure_ascii=False, default=str)
    return text if len(text) <= _PUBLISHED_LENGTH else f"{text[:_PUBLISHED_LENGTH]}..."


def truncate(text: str, budget: int = OBSERVATION_TOKENS) -> str:
    """Cut a text to at most `budget` tokens."""
    if estimate(text) <= budget:
        return text
    return f"{text[: 3 * budget - 30].rstrip()}… ({len(text)} characters)"


def _abridge(value: object, items: int, characters: int, depth: int) -> object:
    if isinstance(value, str) and len(value) > characters:
        return f"{value[:characters]}…"
    if isinstance(value, (list, dict)) and value and depth == 0:
        return f"… {len(value)} {'items' if isinstance(value, list) else 'keys'}"
    if isinstance(value, list):
        shortened: list[object] = [_abridge(item, items, characters, depth - 1) for item in value[:items]]
        return [*shortened, f"… {len(value) - items} more"] if len(value) > items else shortened
    if isinstance(value, dict):
        return {name: _abridge(item, items, characters, depth - 1) for name, item in value.items()}
    return value
