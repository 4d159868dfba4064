"""What a request says: its URL, its values by name, and its fingerprint for the journal.

A fingerprint is that of the tool and the request as sent, in whatever style the program wrote it. All that the program
or its document decides counts: two calls that differ in a tenant's cookie or in a language are two. Credentials do not
count, nor what is added on the way.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from protocols.model import Parameter, Tool
from sandbox.body_store import BEGINNING, MEMORY_LIMIT, beginning
from sandbox.egress.egress_rules import CallTarget
from sandbox.egress.stages import PlannedRequest, QueryPairs

__all__ = [
    "FORM",
    "body_value",
    "call_key",
    "grouped",
    "idempotency_header",
    "join_url",
    "media_type",
    "request_arguments",
    "unique_names",
]

FORM = "application/x-www-form-urlencoded"


def join_url(base: str, query: Sequence[tuple[str, str]]) -> str:
    """A URL with its query, as the program wrote it where that is known."""
    written = query.written if isinstance(query, QueryPairs) else None
    if written is None:
        written = urlencode(query, quote_via=quote)
    return f"{base}?{written}" if written else base


def request_arguments(target: CallTarget, planned: PlannedRequest) -> dict[str, object]:
    """The values in a request, by argument name as far as the tool knows it; of a large body, its beginning.

    A name in two places stands for both: `id` and `body id`.
    """
    names: dict[tuple[str, str], str] = {}
    if target.tool is not None:
        names = {(p.location, p.name): p.argument for p in target.tool.arguments}
    arguments: dict[str, object] = dict(target.arguments)

    def add(location: str, values: Mapping[str, object]) -> None:
        for name, value in values.items():
            argument = names.get((location, name), name)
            while argument in arguments:
                argument = f"{location} {argument}"
            arguments[argument] = value

    add("query", grouped(planned.query))
    body = body_value(planned)
    if isinstance(body, dict):
        add("body", body)
    elif planned.body and body is not None:
        add("body", {"body": body})
    return arguments


def body_value(planned: PlannedRequest) -> object:
    """The body of a request: a form or JSON by value, anything else and all that is large by its beginning."""
    content = planned.body or b""
    if content and len(content) <= MEMORY_LIMIT:
        media_type = next((text for name, text in planned.headers.items() if name.lower() == "content-type"), "")
        if media_type.partition(";")[0].strip().lower() == FORM:
            return grouped(parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True))
        with contextlib.suppress(ValueError, RecursionError):
            return _json_value(content)
    text = beginning(content)
    return text if len(content) <= BEGINNING else f"{text}… ({len(content)} bytes)"


def media_type(content_type: str) -> str:
    """A media type with its parameters, but for the encoding that all take anyway."""
    kind, *parameters = (part.strip() for part in content_type.split(";"))
    return "; ".join([kind.lower(), *(text for text in parameters if text.lower() not in ("", "charset=utf-8"))])


def grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, object]:
    """Pairs by name; a repeated name has all its values."""
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name not in values:
            values[name] = value
        elif isinstance(values[name], list):
            values[name] = [*values[name], value]
        else:
            values[name] = [values[name], value]
    return values


def _json_value(content: bytes) -> Any:
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


_OURS = frozenset({"content-length", "content-type", "cookie"})
"""Headers that follow from the body and the cookies, which count themselves."""


_ANY_BYTES = "surrogateescape"
"""Bytes that are no UTF-8 stay apart in a fingerprint."""


def call_key(target: CallTarget, planned: PlannedRequest, hidden: Collection[tuple[str, str]] = ()) -> str:
    """The fingerprint of a call (sha256, in hex), equal for equal calls only.

    Where the path begins counts only for a call without a tool; of the query, only the order of equal names.

    Args:
        hidden: Places of credentials: ("header", "query" or "cookie", name in lower case).
    """
    headers = {name.lower(): value for name, value in planned.headers.items()}
    kind, _, parameters = media_type(headers.get("content-type", "")).partition("; ")
    skipped = {name for place, name in hidden if place == "header"} | _OURS
    if any(wide in headers.get("accept", "") for wide in ("json", "*/*")):  # what is asked for where nobody says
        skipped |= {"accept"}
    if (key := idempotency_header(target.tool)) is not None:
        skipped |= {key.name.lower()}
    pairs = planned.query
    if isinstance(pairs, QueryPairs) and pairs.written is not None:
        pairs = parse_qsl(pairs.written, keep_blank_values=True, errors=_ANY_BYTES)
    query = [[name, value] for name, value in pairs if ("query", name.lower()) not in hidden]
    content = [
        planned.method,
        target.tool.name if target.tool is not None else target.base,
        [unquote(part, errors=_ANY_BYTES) for part in planned.path.split("/")],
        sorted(query, key=lambda pair: pair[0]),
        sorted([name, value] for name, value in headers.items() if name not in skipped),
        sorted([name, value] for name, value in planned.cookies.items() if ("cookie", name.lower()) not in hidden),
        _content(planned.body, kind),
        planned.redirects or planned.writes,
        *([parameters] if parameters else []),  # another charset or boundary makes another body of the same bytes
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _content(body: bytes | None, kind: str) -> list[object]:
    """A body in a form of its own: JSON and forms by what they say, all others (and large ones) by their bytes."""
    if not body:
        return []
    if len(body) <= MEMORY_LIMIT:
        if kind == FORM:
            pairs = parse_qsl(body.decode("utf-8", _ANY_BYTES), keep_blank_values=True, errors=_ANY_BYTES)
            return ["form", sorted(pairs, key=lambda pair: pair[0])]
        try:
            return ["json", _json_value(body)]
        except (ValueError, RecursionError):
            pass
    return ["bytes", kind, hashlib.sha256(body).hexdigest()]


def idempotency_header(tool: Tool | None) -> Parameter | None:
    """The header in which the operation takes an idempotency key, if it documents one."""
    return next((parameter for parameter in tool.parameters if parameter.is_idempotency_key), None) if tool else None
