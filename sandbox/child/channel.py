"""The frames that go between a run's parent and its child over one socket pair.

A frame is one byte of kind, the lengths of head and payload (four bytes each, big-endian), a JSON object as head and
raw bytes as payload. What the parent reads was written by a process that ran a stranger's program: it is parsed as
JSON only, never unmarshalled, and its sizes are bounded. This module is loaded in the child too, so it imports little.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["CALL", "DONE", "HEAD_LIMIT", "READY", "REPLY", "REQUEST", "START", "STDERR", "STDOUT"]
__all__ += ["Frames", "OversizeError", "encode", "prefix", "receive", "send", "with_bytes", "without_bytes"]

START, REPLY = b"S", b"A"
"""Parent to child: the program with its settings; the answer to one call."""

READY, CALL, REQUEST, STDOUT, STDERR, DONE = b"R", b"C", b"Q", b"O", b"E", b"D"
"""Child to parent: layers are up; a tool call; a call in the style of `requests`; text; how the program ended."""

PREFIX = 9
HEAD_LIMIT = 1024 * 1024
"""Bytes of a head that the child may send, that is of a tool's arguments or of a form."""

Frame = tuple[bytes, dict[str, object], bytes]


class OversizeError(ValueError):
    """A frame is larger than the child may send."""


def prefix(kind: bytes, head: dict[str, object], size: int) -> bytes:
    """A frame but for its payload of `size` bytes. Raises: TypeError, ValueError: The head is not JSON."""
    text = json.dumps(head).encode() if head else b""
    return kind + len(text).to_bytes(4, "big") + size.to_bytes(4, "big") + text


def encode(kind: bytes, head: dict[str, object], payload: bytes = b"") -> bytes:
    """One frame as bytes. Raises: TypeError, ValueError: The head is not JSON."""
    return prefix(kind, head, len(payload)) + payload


def send(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def receive(descriptor: int) -> Frame:
    """Read one frame from a blocking descriptor. Raises: EOFError: The other end is gone."""
    start = _exactly(descriptor, PREFIX)
    head = _exactly(descriptor, int.from_bytes(start[1:5], "big"))
    payload = _exactly(descriptor, int.from_bytes(start[5:9], "big"))
    return start[:1], json.loads(head) if head else {}, payload


def _exactly(descriptor: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(descriptor, min(size, 1 << 20))
        if not part:
            raise EOFError("the other end of the channel is gone")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def without_bytes(value: object, place: list[object], found: list[tuple[list[object], bytes]]) -> object:
    """A value of a call as JSON: None where it holds bytes, which are added to `found`, each with its place."""
    if isinstance(value, bytes):
        found.append((place, value))
        return None
    if isinstance(value, dict):
        return {key: without_bytes(item, [*place, key], found) for key, item in value.items()}
    if isinstance(value, list):
        return [without_bytes(item, [*place, index], found) for index, item in enumerate(value)]
    return value


def with_bytes(head: dict[str, Any], payload: bytes) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call, with the bytes from the payload in their places.

    Raises: ValueError, KeyError, TypeError: The frame is not one of ours.
    """
    values = list(head["args"]), dict(head["kwargs"])
    start = 0
    for place, size in head["bytes"]:
        if not place or type(size) is not int or not 0 <= size <= len(payload) - start:
            raise ValueError("bytes that are not there")
        holder: Any = values
        for step in place[:-1]:
            holder = _part(holder, step)
        if _part(holder, place[-1]) is not None or holder is values:
            raise ValueError("bytes in the place of something else")
        holder[place[-1]] = payload[start : start + size]
        start += size
    if start != len(payload):
        raise ValueError("bytes without a place")
    return values


def _part(holder: Any, step: object) -> Any:
    if isinstance(holder, (list, tuple)) and not (type(step) is int and 0 <= step < len(holder)):
        raise ValueError("a place that there is not")
    return holder[step]


class Frames:
    """Cuts a stream of bytes from an untrusted writer into frames of at most `limit` bytes of payload each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[Frame, int]]:
        """The frames that are complete now, each with the bytes of its head, read one by one as they are asked for.

        Raises: ValueError: A frame is too large (OversizeError) or is not what we speak.
        """
        self._buffer += data
        while len(self._buffer) >= PREFIX:
            middle = PREFIX + int.from_bytes(self._buffer[1:5], "big")
            end = middle + int.from_bytes(self._buffer[5:9], "big")
            if middle - PREFIX > HEAD_LIMIT or end - middle > self._limit:
                raise OversizeError(f"a message of {end} bytes is too large")
            if len(self._buffer) < end:
                break
            with memoryview(self._buffer) as view:  # a large payload is copied only once
                kind, text, payload = bytes(view[:1]), bytes(view[PREFIX:middle]), bytes(view[middle:end])
            del self._buffer[:end]
            head = json.loads(text) if text else {}
            if not isinstance(head, dict):
                raise ValueError("a message without a JSON object as its head")
            yield (kind, head, payload), len(text)
