"""Regular expressions of a document, matched in time that grows with the text alone.

Python's own engine tries again and again: `^(a+)+$` outlasts every limit and holds the interpreter meanwhile. That of
pydantic does not. What it does not know, such as looking ahead, is left to the service.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

__all__ = ["matches"]

_MAX_PATTERN = 1000
"""Characters of a pattern; compiling one is up to a second of work."""
_MAX_TEXT = 2000
"""Characters of a text that is matched."""


def matches(pattern: str, text: str) -> bool:
    """True if a text matches a pattern; true as well where that cannot be told."""
    if len(pattern) > _MAX_PATTERN or len(text) > _MAX_TEXT:
        return True
    compiled = _compiled(pattern)
    return compiled is None or compiled.isinstance_python(text)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    """The pattern as a validator of pydantic; None for one that its engine does not take, or only with much memory."""
    from pydantic_core import SchemaError, SchemaValidator, core_schema  # takes a tenth of a second

    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except (SchemaError, ValueError):
        return None
