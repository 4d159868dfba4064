"""Finds out whether a write was done whose reply never came: the item that a PUT, PATCH or DELETE writes shows it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from protocols.json_path import Step
from protocols.model import Protocol, Tool
from sandbox.body_store import MEMORY_LIMIT
from sandbox.egress.answer import cleaned, parse_body
from sandbox.egress.send import Sender
from sandbox.egress.stages import Bound, BrokerReply, LimitExceeded, NoAnswerError, TooLargeError, header
from sandbox.egress.write_plan import leaves_of

__all__ = ["UNKNOWN", "outcome_of_write"]

UNKNOWN = "a call like this was sent before and its outcome is unknown; it was not sent again"


def outcome_of_write(
    bound: Bound, protocol: Protocol | None, sender: Sender
) -> BrokerReply | Literal["not done", "unknown"]:
    """Find out by a read whether an earlier write like this call was done.

    Returns: The reply of a write that was done. Raises: LimitExceeded.
    """
    planned, tool = bound.planned, _read_operation(protocol, bound.target.tool)
    if tool is None:
        return "unknown"
    read = replace(planned, method="GET", query=(), headers={"Accept": "application/json"}, body=None)
    context, recorder = sender.context, sender.context.recorder
    try:
        recorder.attempted(bound.call)
        response = sender.send_once(context.signer.sign(bound.target._replace(tool=tool), read), read)
    except (NoAnswerError, TooLargeError):
        return "unknown"
    except LimitExceeded as error:
        recorder.finish(bound.call, str(error))
        raise
    response, body = cleaned(response, MEMORY_LIMIT, context)
    form, (parsed, _, _) = parse_body(tool, "GET", response.status, response.headers, body)
    outcome = _write_outcome(planned.method, planned.body, response.status, parsed)
    if outcome != "done":
        return outcome
    if planned.method == "DELETE":
        record = recorder.finish(bound.call, status=204, response=None, replayed=True)
        return BrokerReply(record, bound.url, reason="OK")
    record = recorder.finish(bound.call, status=200, response=parsed, replayed=True)
    headers = {"Content-Type": header(response.headers, "content-type") or ""}
    return BrokerReply(
        record, bound.url, reason="OK", headers=headers, body=body, encoding=response.encoding, form=form
    )


_VARIABLE = re.compile(r"\{[^{}]*\}")


def _read_operation(protocol: Protocol | None, tool: Tool | None) -> Tool | None:
    """The operation that reads the item which a PUT, PATCH or DELETE writes, with no argument but the item's path."""
    if protocol is None or tool is None or tool.envelope or tool.method not in ("PUT", "PATCH", "DELETE"):
        return None
    if not tool.path.endswith("}"):
        return None
    path = _VARIABLE.sub("{}", tool.path)
    for candidate in protocol.apis[tool.namespace].tools:
        if candidate.method == "GET" and _VARIABLE.sub("{}", candidate.path) == path:
            needs = [p for p in candidate.parameters if p.required and p.location != "path"]
            return None if needs else candidate
    return None


def _write_outcome(
    method: str, sent: bytes | None, status: int, item: object
) -> Literal["done", "not done", "unknown"]:
    """Tell from a read of the same path, its status and parsed body, whether a write with a body was done.

    Where the read leaves a doubt, nothing is concluded.
    """
    if status in (404, 410):
        return "done" if method == "DELETE" else "not done"
    if not 200 <= status < 300:
        return "unknown"
    if method == "DELETE":
        return "not done"
    try:
        expected = json.loads(sent or b"")
    except (ValueError, RecursionError):
        return "unknown"
    if not isinstance(expected, dict) or not _texts(expected):
        return "unknown"
    held = next((candidate for candidate in _objects(item) if expected.keys() <= candidate.keys()), None)
    if held is None:
        return "unknown"
    return "done" if _texts(expected).items() <= _texts(held).items() else "not done"


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    if isinstance(value, Mapping):
        yield value
        yield from (item for item in value.values() if isinstance(item, Mapping))


def _texts(value: object) -> dict[tuple[Step, ...], str]:
    """Every scalar by its place, as text: services answer 3 for "3", and 3.0 for 3."""
    return {
        place: str(int(leaf)) if isinstance(leaf, float) and leaf.is_integer() else str(leaf)
        for place, leaf in leaves_of(value)
        if not isinstance(leaf, dict | list)
    }
