"""Bodies of httpx responses that end after a number of bytes, unpacked: 300 kB of gzip may be a gigabyte.

The functions are response hooks of a client, called with each response before its body is read. All of httpx's ways to
read an unpacked body, and the readers of event streams, go through `iter_bytes` or `aiter_bytes`. httpx and httpx2 have
the same form, so neither is imported here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Any

__all__ = ["async_bound", "bound"]

_MIB = 1 << 20


def bound(most: int, of_stream: int, error: type[Exception]) -> Callable[[Any], None]:
    """A hook for a client: reading more of a body raises the error.

    Args:
        most: Bytes of a body, and of a line of an event stream. of_stream: Bytes of an event stream.
    """

    def hook(response: Any) -> None:
        read, limit = response.iter_bytes, _Limit(response, most, of_stream, error)

        def parts(chunk_size: int | None = None) -> Iterator[bytes]:
            return map(limit.counted, read(chunk_size))

        response.iter_bytes = parts

    return hook


def async_bound(most: int, of_stream: int, error: type[Exception]) -> Callable[[Any], Awaitable[None]]:
    """The same for an asynchronous client."""

    async def hook(response: Any) -> None:
        read, limit = response.aiter_bytes, _Limit(response, most, of_stream, error)

        async def parts(chunk_size: int | None = None) -> AsyncIterator[bytes]:
            async with aclosing(read(chunk_size)) as source:
                async for part in source:
                    yield limit.counted(part)

        response.aiter_bytes = parts

    return hook


class _Limit:
    """Counts the bytes of a body, and those of the line that has not ended."""

    def __init__(self, response: Any, most: int, of_stream: int, error: type[Exception]) -> None:
        self._line_limit = most
        media_type = str(response.headers.get("content-type", "")).lower()
        self._limit = of_stream if media_type.startswith("text/event-stream") else most
        self._error = error
        self._size = self._line = 0

    def counted(self, part: bytes) -> bytes:
        """The part, counted. Raises: the error of the hook."""
        self._size += len(part)
        self._line = self._line + len(part) if b"\n" not in part else len(part) - part.rindex(b"\n")
        for size, limit, what in ((self._size, self._limit, "it"), (self._line, self._line_limit, "a line of it")):
            if size > limit:
                raise self._error(f"{what} has more than {limit // _MIB} MiB")
        return part
