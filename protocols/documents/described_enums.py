"""The values of an argument that only its description lists: `**track**, **context** or **off**.`

A small model writes `single` there. With the values in the schema it sees them, and is held to them before a run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from protocols.schema_fields import type_of

__all__ = ["with_described_enum"]

_MARKED_WORD = r"(?:\*\*|`|\"|')([A-Za-z][\w-]*)(?:\*\*|`|\"|')"
_VALUES_ONLY = re.compile(
    rf"(?:one of:?\s*|either\s+)?{_MARKED_WORD}(?:,?\s+or\s+{_MARKED_WORD}|\s*,\s*{_MARKED_WORD})+\s*(?:[.;<\n]|$)",
    re.I,
)
"""A description that starts with only the values."""
_LIST_INTRODUCTION = re.compile(
    r"\b(?:accepted|allowed|permitted|possible|supported|valid)\s+(?:choices|options|types|values)(?:\s+are)?\s*:?",
    re.I,
)
_LIST_END = re.compile(r"\bdefaults?\b|\be\.g\.|\bexamples?\b|\bsuch as\b|\n\s*\n", re.I)
"""The start of further text about the values."""
_JOINED_LIST = re.compile(r"\b(?:comma|pipe|space)[\s-]*separated\b|\bseparated by\b|\blist of\b", re.I)


def with_described_enum(schema: Mapping[str, Any], description: str) -> Mapping[str, Any]:
    """The schema of a string argument, with the values in its description as `enum`.

    Unchanged if the schema constrains the values itself, or if an example or the default is not among them.
    """
    if type_of(schema) != "string" or not {"const", "enum", "format", "pattern"}.isdisjoint(schema):
        return schema
    values = _listed_values(description)
    sample_values = [schema[key] for key in ("default", "example") if key in schema] + list(
        schema.get("examples") or ()
    )
    if len(values) < 2 or not set(values).issuperset(map(str, sample_values)):
        return schema
    return {**schema, "enum": values}


def _listed_values(description: str) -> list[str]:
    if _JOINED_LIST.search(description):
        return []
    if alone := _VALUES_ONLY.match(description):
        listed = alone[0]
    elif valid := _LIST_INTRODUCTION.search(description):
        listed = _LIST_END.split(description[valid.end() :])[0]
    else:
        return []
    return list(dict.fromkeys(re.findall(_MARKED_WORD, listed)))
