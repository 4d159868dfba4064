"""Lets answers through that the SDK refuses as a whole for a part of them.

Structured content may be any JSON value, and a tool that is listed wrongly does not take the others with it.

Before 2026 the protocol allowed objects alone, and the SDK refuses a whole answer for a list in it. Servers send lists,
texts and numbers all the same, so the value is moved to where the SDK looks at nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Self

__all__ = ["BROKEN", "MOVED", "with_any_content"]

MOVED = "atc/structuredContent"
"""The key in `_meta` of a result for structured content that is no object."""

BROKEN = "atc/brokenTools"
"""The key in `_meta` of a list of tools for those that are no tools: pairs of a name and what is wrong."""

_MOST_REQUESTS = 1000
"""Requests of a server between two of its answers: eight hours of pings, one each 30 s."""

_WITHOUT_START = "2026-07-28"
"""The version of a server that does not say it in reply to `initialize`."""


@asynccontextmanager
async def with_any_content(transport: Any) -> AsyncIterator[tuple[Any, Any]]:
    """A transport of the SDK whose results are moved."""
    async with transport as (incoming, outgoing):
        yield _AnyContent(incoming), outgoing


class _AnyContent:
    """A stream of the SDK's messages."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._version = _WITHOUT_START
        self._requests = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        while self._is_left_out(item := await self._stream.__anext__()):
            pass
        return self._mended(item)

    async def receive(self) -> Any:
        """The next message."""
        while self._is_left_out(item := await self._stream.receive()):
            pass
        return self._mended(item)

    def _is_left_out(self, item: Any) -> bool:
        """True for one of too many requests of the server: each waits in memory until the server reads its answer."""
        message = getattr(item, "message", None)
        is_answer, is_request = not hasattr(message, "method"), hasattr(message, "method") and hasattr(message, "id")
        self._requests = 0 if is_answer else self._requests + is_request
        return is_request and self._requests > _MOST_REQUESTS

    def _mended(self, item: Any) -> Any:
        result = getattr(getattr(item, "message", None), "result", None)
        if isinstance(result, dict):
            self._version = str(result.get("protocolVersion") or self._version)
            if isinstance(meta := result.get("_meta"), dict):  # our keys are ours: a server's own would pass unchecked
                result["_meta"] = {key: value for key, value in meta.items() if key not in (MOVED, BROKEN)}
            _move(result)
            if isinstance(result.get("tools"), list):
                with suppress(ValueError, KeyError):  # of an unknown version, or wrong in more than its tools
                    _leave_broken(result, self._version)
        return item

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        return await self._stream.__aexit__(kind, error, trace)


def _move(result: dict[str, Any]) -> None:
    """In the result of a tool, move structured content that is no object; see that content is there."""
    if "structuredContent" in result:
        result.setdefault("content", [])
        if not isinstance(result["structuredContent"], dict):
            _add_meta(result, MOVED, result.pop("structuredContent"))


def _leave_broken(result: dict[str, Any], version: str) -> None:
    """Take the tools out of a list that the SDK would refuse it for. Raises: ValueError, KeyError: It is no list."""
    from mcp_types.methods import parse_server_result
    from pydantic import ValidationError

    with suppress(ValidationError):
        parse_server_result("tools/list", version, result)
        return
    parse_server_result("tools/list", version, {**result, "tools": []})
    good, broken = [], []
    for tool in result["tools"]:
        try:
            parse_server_result("tools/list", version, {**result, "tools": [tool]})
            good.append(tool)
        except ValidationError as error:
            first = error.errors()[0]
            name = tool.get("name") if isinstance(tool, dict) else None
            place = ".".join(map(str, first["loc"][2:]))
            broken.append([str(name or "without a name"), f"{place or 'it'}: {first['msg']}"])
    result["tools"] = good
    _add_meta(result, BROKEN, broken)


def _add_meta(result: dict[str, Any], key: str, value: object) -> None:
    meta = result.get("_meta")
    result["_meta"] = {**(meta if isinstance(meta, dict) else {}), key: value}
