"""The fingerprint of a call: its tool and the request as sent, in whatever style the program wrote it.

Only parts that the service acts on count. Credentials do not, nor headers that differ between equal requests.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from urllib.parse import parse_qsl, unquote

from protocols.model import Parameter, Tool
from sandbox.body_store import MEMORY_LIMIT

__all__ = ["SAFE", "call_key", "idempotency_header"]

SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""Methods of reads; every other one is a write."""

_VOLATILE = frozenset(
    "accept accept-charset accept-encoding accept-language authorization cache-control content-encoding content-length "
    "content-type cookie date idempotency-key if-modified-since if-none-match pragma referer request-id traceparent "
    "tracestate user-agent x-correlation-id x-idempotency-key x-request-id x-requested-with x-trace-id".split()
)


def call_key(
    method: str,
    tool: Tool | None,
    base: str,
    path: str,
    query: Sequence[tuple[str, str]],
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    redirects: bool = True,
    hidden: Collection[tuple[str, str]] = (),
) -> str:
    """The fingerprint of a call (sha256, in hex), equal for equal calls only.

    Args:
        base: Where the path begins; it counts only for a call without a tool.
        path: Percent-encoded. query: Pairs, not encoded; only the order of equal names counts.
        redirects: Whether they are followed, where that changes what a read gives.
        hidden: Places of credentials: ("header" or "query", name in lower case).
    """
    kind = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
    skipped = {name for place, name in hidden if place == "header"} | _VOLATILE
    if (key := idempotency_header(tool)) is not None:
        skipped |= {key.name.lower()}
    content = [
        method,
        tool.name if tool is not None else base,
        [unquote(part) for part in path.split("/")],
        sorted(
            ([name, value] for name, value in query if ("query", name.lower()) not in hidden), key=lambda pair: pair[0]
        ),
        sorted([name.lower(), value] for name, value in headers.items() if name.lower() not in skipped),
        _content(body, kind.partition(";")[0].strip().lower()),
        redirects or method not in SAFE,
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _content(body: bytes | None, kind: str) -> list[object]:
    """A body in a form of its own: JSON and forms by what they say, all others (and large ones) by their bytes."""
    if not body:
        return []
    if len(body) <= MEMORY_LIMIT:
        if kind == "application/x-www-form-urlencoded":
            pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
            return ["form", sorted(pairs, key=lambda pair: pair[0])]
        try:
            return ["json", json.loads(body)]
        except (ValueError, RecursionError):
            pass
    return ["bytes", hashlib.sha256(body).hexdigest()]


def idempotency_header(tool: Tool | None) -> Parameter | None:
    """The header in which the operation takes an idempotency key, if it documents one."""
    for parameter in tool.parameters if tool is not None else ():
        name = parameter.name.lower().replace("_", "-")
        description = f"{parameter.description} {parameter.schema.get('description', '')}".lower()
        is_key_header = name in ("idempotency-key", "x-idempotency-key")
        if parameter.location == "header" and (
            is_key_header or (name == "x-request-id" and "idempoten" in description)
        ):
            return parameter
    return None
