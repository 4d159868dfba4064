"""The fingerprint of a call: its tool and the request as sent, in whatever style the program wrote it.

Only parts that the service acts on count. Credentials do not, nor headers that differ between equal requests.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from urllib.parse import parse_qsl, unquote

from protocols.model import Parameter, Tool
from sandbox.body_store import MEMORY_LIMIT
from sandbox.egress.egress_rules import CallTarget
from sandbox.egress.pending_call import PlannedRequest
from sandbox.records import SAFE

__all__ = ["call_key", "idempotency_header"]

_VOLATILE = frozenset(
    "accept accept-charset accept-encoding accept-language authorization cache-control content-encoding content-length "
    "content-type cookie date idempotency-key if-modified-since if-none-match pragma referer request-id traceparent "
    "tracestate user-agent x-correlation-id x-idempotency-key x-request-id x-requested-with x-trace-id".split()
)


def call_key(target: CallTarget, planned: PlannedRequest, hidden: Collection[tuple[str, str]] = ()) -> str:
    """The fingerprint of a call (sha256, in hex), equal for equal calls only.

    Where the path begins counts only for a call without a tool; of the query, only the order of equal names.

    Args:
        hidden: Places of credentials: ("header" or "query", name in lower case).
    """
    headers = planned.headers.items()
    kind = next((value for name, value in headers if name.lower() == "content-type"), "")
    skipped = {name for place, name in hidden if place == "header"} | _VOLATILE
    if (key := idempotency_header(target.tool)) is not None:
        skipped |= {key.name.lower()}
    query = [[name, value] for name, value in planned.query if ("query", name.lower()) not in hidden]
    content = [
        planned.method,
        target.tool.name if target.tool is not None else target.base,
        [unquote(part) for part in planned.path.split("/")],
        sorted(query, key=lambda pair: pair[0]),
        sorted([name.lower(), value] for name, value in headers if name.lower() not in skipped),
        _content(planned.body, kind.partition(";")[0].strip().lower()),
        planned.redirects or planned.method not in SAFE,
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
