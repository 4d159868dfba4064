"""JSON Schema in bounded work.

Nested `anyOf`, `uniqueItems` of a long list, or a slow pattern can make one check take forever. Documents and programs
are untrusted, so the steps of a check are counted. A check that takes too many is left to the service.

Python's own engine tries a pattern again and again: `^(a+)+$` outlasts every limit and holds the interpreter meanwhile.
That of pydantic takes time that grows with the text alone. What it does not know, such as looking ahead, is left to the
service as well.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

__all__ = ["StepLimitReached", "bounded", "count_steps", "format_checker", "matches", "validator_class"]

MAX_STEPS = 50_000
"""Schema keywords that one check may evaluate: less than a second of work."""

_MAX_PATTERN = 1000
"""Characters of a pattern; compiling one is up to a second of work."""
_MAX_TEXT = 2000
"""Characters of a text that is matched."""

FORMATS = ("date", "date-time", "email", "ipv4", "ipv6", "regex", "time", "uri", "uuid")

_remaining: ContextVar[list[int] | None] = ContextVar("steps that are left", default=None)


class StepLimitReached(Exception):  # noqa: N818 - never leaves this package
    """A check took too many steps; its result is unknown."""


@contextmanager
def bounded() -> Iterator[None]:
    """Limit the steps of all checks in the block; `count_steps` raises once they are spent."""
    before = _remaining.set([MAX_STEPS])
    try:
        yield
    finally:
        _remaining.reset(before)


def count_steps(steps: int = 1) -> None:
    """Count steps. Raises: StepLimitReached."""
    remaining = _remaining.get()
    if remaining is not None:
        remaining[0] -= steps
        if remaining[0] < 0:
            raise StepLimitReached


_loading = threading.Lock()
"""Held while jsonschema is loaded: two threads that load parts of it at once get one that is not whole."""


def validator_class() -> Any:
    """A validator class for JSON Schema 2020-12 that counts its steps; names of properties are matched with no pattern.

    `SchemaReader` leaves none in a schema that it reads.
    """
    with _loading:
        return _validator_class()


@lru_cache(maxsize=1)
def _validator_class() -> Any:
    from jsonschema import Draft202012Validator  # slow to import, seldom needed
    from jsonschema.validators import extend

    keywords = {name: _counted(name, keyword) for name, keyword in Draft202012Validator.VALIDATORS.items()}
    own = {"pattern": _counted("pattern", _pattern), "uniqueItems": _unique_items}
    return extend(Draft202012Validator, {**keywords, **own})  # type: ignore[no-untyped-call]


@lru_cache(maxsize=1)
def format_checker() -> Any:
    """Checks the formats of texts: always the same ones, whatever other packages are installed that know more."""
    from jsonschema import FormatChecker

    return FormatChecker(FORMATS)


Keyword = Callable[[Any, Any, Any, Any], Any]


def _counted(name: str, keyword: Keyword) -> Keyword:
    def counted(validator: Any, constraint: Any, value: Any, schema: Any) -> Iterator[Any]:
        count_steps(1 + (len(constraint) if name == "enum" else 0))
        yield from keyword(validator, constraint, value, schema) or ()

    return counted


def _pattern(validator: Any, pattern: Any, value: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(value, str) and not matches(str(pattern), value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _unique_items(validator: Any, constraint: Any, value: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if constraint is True and isinstance(value, list):
        texts = {json.dumps(item, sort_keys=True, default=repr) for item in value}
        if len(texts) < len(value):
            yield ValidationError(f"{value!r} has non-unique elements")


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
