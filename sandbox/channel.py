"""The frames that go between a run's parent and its child over one socket pair.

A frame is one byte of kind, the lengths of head and payload (four bytes each, big-endian), a JSON object as head and
raw bytes as payload. What the parent reads was written by a process that ran a stranger's program: it is parsed as
JSON only, never unmarshalled, and its sizes are bounded. This module is loaded in the child too, so it imports little.
"""

from __future__ import annotations

import json
import os

__all__ = [
    "CALL",
    "DONE",
    "READY",
    "REPLY",
    "REQUEST",
    "START",
    "STDERR",
    "STDOUT",
    "Frames",
    "encode",
    "receive",
    "send",
]

START, REPLY = b"S", b"A"
"""Parent to child: the program with its settings; the answer to one call."""

READY, CALL, REQUEST, STDOUT, STDERR, DONE = b"R", b"C", b"Q", b"O", b"E", b"D"
"""Child to parent: layers are up; a tool call; a call in the style of `requests`; text; how the program ended."""

PREFIX = 9
Frame = tuple[bytes, dict[str, object], bytes]


def encode(kind: bytes, head: dict[str, object], payload: bytes = b"") -> bytes:
    """One frame as bytes. Raises: TypeError, ValueError: The head is not JSON."""
    text = json.dumps(head).encode() if head else b""
    return kind + len(text).to_bytes(4, "big") + len(payload).to_bytes(4, "big") + text + payload


def send(descriptor: int, data: bytes) -> None:
    """Write all of a frame to a blocking descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def receive(descriptor: int) -> Frame:
    """Read one frame from a blocking descriptor. Raises: EOFError: The other end is gone."""
    prefix = _exactly(descriptor, PREFIX)
    head = _exactly(descriptor, int.from_bytes(prefix[1:5], "big"))
    payload = _exactly(descriptor, int.from_bytes(prefix[5:9], "big"))
    return prefix[:1], json.loads(head) if head else {}, payload


def _exactly(descriptor: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(descriptor, min(size, 1 << 20))
        if not part:
            raise EOFError("the other end of the channel is gone")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class Frames:
    """Cuts a stream of bytes from an untrusted writer into frames of at most `limit` bytes each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are complete now. Raises: ValueError: A frame is too large or is not what we speak."""
        self._buffer += data
        frames: list[Frame] = []
        while len(self._buffer) >= PREFIX:
            middle = PREFIX + int.from_bytes(self._buffer[1:5], "big")
            end = middle + int.from_bytes(self._buffer[5:9], "big")
            if end > self._limit:
                raise ValueError(f"a message of {end} bytes is larger than the {self._limit} allowed")
            if len(self._buffer) < end:
                break
            head = json.loads(bytes(self._buffer[PREFIX:middle])) if middle > PREFIX else {}
            if not isinstance(head, dict):
                raise ValueError("a message without a JSON object as its head")
            frames.append((bytes(self._buffer[:1]), head, bytes(self._buffer[middle:end])))
            del self._buffer[:end]
        return frames
