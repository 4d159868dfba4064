"""What a request says: its query and body by value, for fingerprints, plans and records of calls."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import parse_qsl

from sandbox.body_store import BEGINNING, MEMORY_LIMIT, beginning
from sandbox.egress.stages import FORM, PlannedRequest, header

__all__ = ["body_value", "grouped", "json_value", "media_type", "unique_names"]


def body_value(planned: PlannedRequest) -> object:
    """The body of a request: a form or JSON by value, anything else and all that is large by its beginning."""
    content = planned.body or b""
    if content and len(content) <= MEMORY_LIMIT:
        if (header(planned.headers, "content-type") or "").partition(";")[0].strip().lower() == FORM:
            return grouped(parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True))
        with contextlib.suppress(ValueError, RecursionError):
            return json_value(content)
    text = beginning(content)
    return text if len(content) <= BEGINNING else f"{text}… ({len(content)} bytes)"


def media_type(content_type: str) -> str:
    """A media type with its parameters, but for the encoding that all take anyway."""
    kind, *parameters = (part.strip() for part in content_type.split(";"))
    return "; ".join([kind.lower(), *(text for text in parameters if text.lower() not in ("", "charset=utf-8"))])


def grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, object]:
    """Pairs by name; a repeated name has all its values."""
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {name: texts if len(texts) > 1 else texts[0] for name, texts in values.items()}


def json_value(content: bytes) -> Any:
    """What a JSON body says to any service. Raises: ValueError: Services may differ on it; RecursionError."""
    return json.loads(content.decode(), object_pairs_hook=unique_names, parse_float=_exact, parse_constant=_exact)


def _exact(text: str) -> float:
    """A number with a fraction. Raises: ValueError: It has no bounds, or more digits than all services keep."""
    number = float(text)
    try:
        is_same = math.isfinite(number) and Decimal(text) == Decimal(repr(number))
    except InvalidOperation:  # an exponent of 20 digits
        is_same = False
    if not is_same:
        raise ValueError(text)
    return number


def unique_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object. Raises: ValueError: A name is in it twice, and services differ on which one counts."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name is given twice")
    return dict(pairs)
