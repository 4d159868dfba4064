"""Bodies of httpx responses that end after a number of bytes and values, unpacked: 300 kB of gzip may be a gigabyte.

The functions are response hooks of a client, called with each response before its body is read. All of httpx's ways to
read an unpacked body, and the readers of event streams, go through `iter_bytes` or `aiter_bytes`. httpx and httpx2 have
the same form, so neither is imported here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from sys import maxsize
from typing import Any

__all__ = ["async_bound", "bound", "count_values", "is_too_much", "more_than"]

_MOST_VALUES = 1_000_000
"""Marks of JSON in a body or event; parsing takes up to 330 bytes for each, and records of 5 MB have so many."""

_EVENT_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")


def bound(most: int, of_stream: int, error: type[Exception]) -> Callable[[Any], None]:
    """A hook for a client: reading more of a body raises the error.

    Args:
        most: Bytes of a body, and of an event in a stream of them. of_stream: Bytes of an event stream.
    """

    def hook(response: Any) -> None:
        in_events = _is_event_stream(response) and response.request.method == "POST"  # a question's, no list of models
        read, limit = response.iter_bytes, _Limit(in_events, most, of_stream if in_events else most, error)

        def parts(chunk_size: int | None = None) -> Iterator[bytes]:
            return map(limit.counted, read(chunk_size))

        response.iter_bytes = parts

    return hook


def async_bound(most: int, error: type[Exception], stream_error: type[Exception]) -> Callable[[Any], Awaitable[None]]:
    """The same for an asynchronous client, whose streams stay open: only their events are bounded."""

    async def hook(response: Any) -> None:
        in_events = _is_event_stream(response)
        read, limit = response.aiter_bytes, _Limit(in_events, most, maxsize, stream_error if in_events else error)

        async def parts(chunk_size: int | None = None) -> AsyncIterator[bytes]:
            async with aclosing(read(chunk_size)) as source:
                async for part in source:
                    yield limit.counted(part)

        response.aiter_bytes = parts

    return hook


def _is_event_stream(response: Any) -> bool:
    """Whether a client reads it event by event; others it reads whole, that of an error also."""
    media_type = str(response.headers.get("content-type", "")).lower().partition(";")[0].strip()
    return bool(response.is_success) and media_type == "text/event-stream"


class _Limit:
    """Counts the bytes of a body, and of the event that has not ended, with the marks of its values.

    A stream that is to end has no more events than a body has values: 50 million empty ones took 100 s to read.
    """

    def __init__(self, in_events: bool, most: int, whole: int, error: type[Exception]) -> None:
        self._in_events, self._most, self._most_in_all = in_events, most, whole
        self._error = error
        self._all = self._size = self._values = self._events = 0
        self._end = b""

    def counted(self, part: bytes) -> bytes:
        """The part, counted. Raises: the error of the hook."""
        self._all += len(part)
        rest = part
        if self._in_events:
            text = self._end + part
            self._end = text[-3:]
            self._events += max(map(text.count, _EVENT_ENDS))
            if (end := max(map(text.rfind, _EVENT_ENDS))) >= 0:
                rest, self._size, self._values = text[end:], 0, 0
        self._size += len(rest)
        self._values += count_values(rest)
        if is_too_much(self._size, self._values, self._most):
            raise self._error(more_than(self._most))
        if self._all > self._most_in_all or (self._events > _MOST_VALUES and self._most_in_all < maxsize):
            raise self._error(more_than(self._most_in_all))
        return part


def count_values(part: bytes) -> int:
    """The marks at which texts, objects and lists of JSON begin or end: what it costs to parse goes by them."""
    return sum(map(part.count, (b"{", b"[", b'"')))


def is_too_much(size: int, values: int, most: int) -> bool:
    """True for more bytes, or more marks of values, than are read of a message."""
    return size > most or values > _MOST_VALUES


def more_than(most: int) -> str:
    """The words for it: `it has more than 16 MiB, or than 1,000,000 values`."""
    return f"it has more than {most >> 20} MiB, or than {_MOST_VALUES:,} values"
