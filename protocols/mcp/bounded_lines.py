"""The lines of an MCP server as a text encoding: UTF-8 of which each line has a bounded length.

The SDK keeps what a server writes until a line ends, and takes the name of an encoding. This one keeps it instead, in
time that goes with its length, and hands on whole lines. In place of one that is too long stands the failure of the
request that it answers, where its beginning or its end tells which: nothing else waits for it in vain.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import TYPE_CHECKING

from protocols.bounded_bodies import count_values, is_too_much, more_than

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

__all__ = ["BOUNDED_LINES", "MOST_BYTES"]

BOUNDED_LINES = "atc-bounded-lines"
"""The name of the encoding, known once this module is loaded."""

MOST_BYTES = 16 << 20
"""Of a message: as many as a program may get as the body of a reply."""

_END = 500
"""Bytes at both ends of a line in which its id is looked for."""

_VERSION = r'"jsonrpc"\s*:\s*"2\.0"'
_ID_FIRST = re.compile(rf'\s*\{{\s*({_VERSION}\s*,\s*)?"id"\s*:\s*(?P<id>\d+)\s*,')
_ID_LAST = re.compile(rf',\s*"id"\s*:\s*(?P<id>\d+)\s*(,\s*{_VERSION}\s*)?\}}\s*$')


class _Lines(codecs.IncrementalDecoder):
    """What has come of a line."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._parts: list[bytes] = []
        self._size = self._values = 0

    def decode(self, data: Buffer, final: bool = False) -> str:
        """The lines that have ended, with their ends."""
        *ended, rest = bytes(data).split(b"\n")
        texts = []
        for part in ended:
            self._add(part)
            texts.append(self._line())
        self._add(rest)
        return "".join(texts)

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        self._values += count_values(part)
        if not is_too_much(self._size, self._values, MOST_BYTES):
            self._parts.append(part)
        else:  # its two ends
            line = b"".join([*self._parts, part])
            self._parts = [line[:_END], line[max(_END, len(line) - _END) :]]

    def _line(self) -> str:
        """The line, which has ended."""
        text = b"".join(self._parts).decode("utf-8", "replace")
        is_long = is_too_much(self._size, self._values, MOST_BYTES)
        self._parts, self._size, self._values = [], 0, 0
        if not is_long:
            return f"{text}\n"
        match = _ID_FIRST.match(text) or _ID_LAST.search(text)
        error = {"code": -32700, "message": more_than(MOST_BYTES)}
        return json.dumps({"jsonrpc": "2.0", "id": int(match["id"]), "error": error}) + "\n" if match else ""


def _codec(name: str) -> codecs.CodecInfo | None:
    utf_8 = codecs.lookup("utf-8")
    if name.replace("_", "-") != BOUNDED_LINES:
        return None
    return codecs.CodecInfo(utf_8.encode, utf_8.decode, incrementaldecoder=_Lines, name=BOUNDED_LINES)


codecs.register(_codec)
