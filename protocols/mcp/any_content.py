"""Lets any JSON value through as the structured content of a tool's result.

Before 2026 the protocol allowed objects alone, and the SDK refuses a whole answer for a list in it. Servers send lists,
texts and numbers all the same, so the value is moved to where the SDK looks at nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

__all__ = ["MOVED", "with_any_content"]

MOVED = "atc/structuredContent"
"""The key in `_meta` of a result for structured content that is no object."""


@asynccontextmanager
async def with_any_content(transport: Any) -> AsyncIterator[tuple[Any, Any]]:
    """A transport of the SDK whose results are moved."""
    async with transport as (incoming, outgoing):
        yield _AnyContent(incoming), outgoing


class _AnyContent:
    """A stream of the SDK's messages."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return _moved(await self._stream.__anext__())

    async def receive(self) -> Any:
        """The next message."""
        return _moved(await self._stream.receive())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        return await self._stream.__aexit__(kind, error, trace)


def _moved(item: Any) -> Any:
    """A message; in the result of a tool, structured content that is no object has moved, and content is there."""
    result = getattr(getattr(item, "message", None), "result", None)
    if isinstance(result, dict) and "structuredContent" in result:
        result.setdefault("content", [])
        if not isinstance(result["structuredContent"], dict):
            meta = result.get("_meta")
            result["_meta"] = {**(meta if isinstance(meta, dict) else {}), MOVED: result.pop("structuredContent")}
    return item
