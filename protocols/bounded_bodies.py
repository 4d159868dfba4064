"""Bodies of httpx responses that end after a number of bytes, unpacked: 300 kB of gzip may be a gigabyte.

The functions are response hooks of a client, called with each response before its body is read. All of httpx's ways to
read an unpacked body, and the readers of event streams, go through `iter_bytes` or `aiter_bytes`. httpx and httpx2 have
the same form, so neither is imported here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Any

__all__ = ["async_bound", "bound", "more_than"]


def bound(most: int, of_stream: int, error: type[Exception]) -> Callable[[Any], None]:
    """A hook for a client: reading more of a body raises the error.

    Args:
        most: Bytes of a body, and of a line of an event stream. of_stream: Bytes of an event stream.
    """

    def hook(response: Any) -> None:
        read, limit = response.iter_bytes, _Limit(of_stream if _is_event_stream(response) else most, most, error)

        def parts(chunk_size: int | None = None) -> Iterator[bytes]:
            return map(limit.counted, read(chunk_size))

        response.iter_bytes = parts

    return hook


def async_bound(most: int, error: type[Exception]) -> Callable[[Any], Awaitable[None]]:
    """The same for an asynchronous client, whose reader of event streams has a bound of its own."""

    async def hook(response: Any) -> None:
        if _is_event_stream(response):
            return
        read, limit = response.aiter_bytes, _Limit(most, most, error)

        async def parts(chunk_size: int | None = None) -> AsyncIterator[bytes]:
            async with aclosing(read(chunk_size)) as source:
                async for part in source:
                    yield limit.counted(part)

        response.aiter_bytes = parts

    return hook


def _is_event_stream(response: Any) -> bool:
    return str(response.headers.get("content-type", "")).lower().startswith("text/event-stream")


class _Limit:
    """Counts the bytes of a body, and those of the line that has not ended."""

    def __init__(self, whole: int, line: int, error: type[Exception]) -> None:
        self._limits = whole, line
        self._error = error
        self._size = self._line = 0

    def counted(self, part: bytes) -> bytes:
        """The part, counted. Raises: the error of the hook."""
        self._size += len(part)
        self._line = self._line + len(part) if b"\n" not in part else len(part) - part.rindex(b"\n")
        for size, limit in zip((self._size, self._line), self._limits, strict=True):
            if size > limit:
                raise self._error(more_than(limit))
        return part


def more_than(most: int) -> str:
    """The words for a body, or a line of one, that has more bytes: `it has more than 16 MiB`."""
    return f"it has more than {most >> 20} MiB"
