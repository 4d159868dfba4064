"""Paths into JSON values, spelled in one way: as a program subscripts them, or as people read them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

__all__ = ["Step", "readable_path", "subscripts"]

Step = str | int
"""A key of an object, or a place in a list."""


def subscripts(path: Sequence[Step]) -> str:
    """A path as program text: `["results"][0]["id"]`."""
    return "".join(f"[{json.dumps(step, ensure_ascii=False)}]" for step in path)


def readable_path(path: Sequence[Step]) -> str:
    """A path in prose: `crew[3].name`; "its response" for an empty one."""
    text = ""
    for step in path:
        plain = isinstance(step, str) and re.fullmatch(r"\w+", step)
        text += f".{step}" if plain else f"[{json.dumps(step, ensure_ascii=False)}]"
    return text.lstrip(".") or "its response"
