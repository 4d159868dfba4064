"""How the values of a call are written in its headers and cookies, by the styles of OpenAPI.

A header has no percent-encoding, and so no way to say an item that holds a separator: nothing is sent then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from protocols.calls.serialization import UnwritableError, wire_text, wire_texts
from protocols.model import SEPARATORS, Parameter

__all__ = ["cookie_values", "joined_value", "refuse_separators"]

_IN_COOKIE = "!#$'()*+-./:<=>?@[]^_`{|}~"
"""Characters that stand in the value of a cookie as they are (RFC 6265), but for the percent sign and `&`."""

_COOKIE_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


def joined_value(parameter: Parameter, value: object) -> str:
    """The value of a header, where nothing is percent-encoded. Raises: UnwritableError."""
    text = json.dumps(value) if parameter.style == "json" else _listed(parameter, value, wire_texts(value))
    if any(char < " " or char == "\x7f" for char in text.replace("\t", "")):
        raise UnwritableError("must be one line of text, without control characters")
    if text != text.strip():
        raise UnwritableError("must not begin or end with a space in a header")
    if not text.isascii():
        odd = next(char for char in text if not char.isascii())
        raise UnwritableError(f"holds {odd!r}, and a header has ASCII characters alone")
    return text


def cookie_values(parameter: Parameter, value: object) -> dict[str, str]:
    """The cookies of a parameter, percent-encoded where a cookie cannot have a character as it is.

    It is one, or one for each member of an exploded object. Raises: UnwritableError.
    """
    if parameter.style == "json":
        return {parameter.name: _cookie_text(json.dumps(value, ensure_ascii=False))}
    if isinstance(value, Mapping) and value and parameter.explode:
        if (unnamed := next((key for key in value if _COOKIE_NAME.fullmatch(str(key)) is None), None)) is not None:
            raise UnwritableError(f"holds {unnamed!r}, which is no name of a cookie")
        return {str(key): _cookie_text(wire_text(item)) for key, item in value.items()}
    if isinstance(value, list) and value and parameter.explode:
        return {parameter.name: f"&{parameter.name}=".join(_cookie_text(wire_text(item)) for item in value)}
    return {parameter.name: _listed(parameter, value, [_cookie_text(text) for text in wire_texts(value)])}


def _cookie_text(text: str) -> str:
    return quote(text, safe=_IN_COOKIE)


def _listed(parameter: Parameter, value: object, texts: list[str]) -> str:
    """Texts with their separators. Raises: UnwritableError: There are none, or one holds a separator."""
    if not isinstance(value, list | Mapping):
        return texts[0]
    if not value or texts == [""]:
        raise UnwritableError("is empty, which cannot be sent; leave it out")
    separator = SEPARATORS.get(parameter.style, ",")
    exploded = isinstance(value, Mapping) and parameter.explode
    refuse_separators(texts, separator + "=" * exploded)
    if exploded:
        texts = [f"{key}={text}" for key, text in zip(texts[::2], texts[1::2], strict=True)]
    return separator.join(texts)


def refuse_separators(texts: Iterable[str], separators: str) -> None:
    """Raises: UnwritableError: A text holds one of the separators."""
    for separator in separators:
        if any(separator in text for text in texts):
            raise UnwritableError(f"holds {separator!r}, which separates the items")
