"""What an MCP server sends, before and after the SDK reads it: lines of a bounded length, odd answers, and results.

The SDK keeps what a server writes until a line ends, and takes the name of an encoding. The encoding here keeps it
instead, in time that goes with its length, and hands on whole lines. In place of one that is too long stands the
failure of the request that it answers, where its beginning or its end tells which: nothing else waits for it in vain.

The SDK also refuses a whole answer for a part of it: for structured content that is no object, as it was demanded
before 2026, and for a tool that is listed wrongly. Both are moved to where it looks at nothing.

Of a result the structured content counts, else its text. A text that is a JSON object or array is parsed: servers
without output schemas send their structured content as text. It also decides where the structured content is no object
and says something else, as servers without a clear idea of the two do.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from protocols.bounded_bodies import count_values, is_too_much, more_than
from protocols.functions.host_function import RemoteCallError
from protocols.quoting import words_of_service

if TYPE_CHECKING:
    import mcp_types as types
    from _typeshed import ReadableBuffer as Buffer

__all__ = ["BOUNDED_LINES", "BROKEN", "MOST_BYTES", "MOVED", "value_of", "with_any_content"]

BOUNDED_LINES = "atc-bounded-lines"
"""The name of the encoding, known once this module is loaded."""

MOST_BYTES = 16 << 20
"""Of a message: as many as a program may get as the body of a reply."""

_END = 500
"""Bytes at both ends of a line in which its id is looked for."""

_VERSION = r'"jsonrpc"\s*:\s*"2\.0"'
_ID_FIRST = re.compile(rf'\s*\{{\s*({_VERSION}\s*,\s*)?"id"\s*:\s*(?P<id>\d+)\s*,')
_ID_LAST = re.compile(rf',\s*"id"\s*:\s*(?P<id>\d+)\s*(,\s*{_VERSION}\s*)?\}}\s*$')

MOVED = "atc/structuredContent"
"""The key in `_meta` of a result for structured content that is no object."""

BROKEN = "atc/brokenTools"
"""The key in `_meta` of a list of tools for those that are no tools: pairs of a name and what is wrong."""

_MOST_REQUESTS = 1000
"""Requests of a server between two of its answers: eight hours of pings, one each 30 s."""

_WITHOUT_START = "2026-07-28"
"""The version of a server that does not say it in reply to `initialize`."""


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


def value_of(result: types.CallToolResult) -> object:
    """The value of a result; None if it has no content.

    Several parts are one text, in lines. What is no text is named in brackets, as in `[image image/png, 512 bytes]`.
    Raises: RemoteCallError: The tool says that it failed; the message is its text.
    """
    texts = list(_texts(result.content))
    structured = (result.meta or {}).get(MOVED, result.structured_content)
    if result.is_error:
        quotation = words_of_service("\n".join(texts) or _reason(structured))
        raise RemoteCallError(quotation or "the tool failed and gives no reason", 400)
    if not texts or (isinstance(structured, dict) and structured):
        return structured
    text = texts[0] if len(texts) == 1 else ""
    if text.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            value = json.loads(text)
            return structured if structured == [value] else value
    if structured is None or isinstance(structured, str | dict):
        return None if structured is None and text == "null" else "\n".join(texts)
    return structured


def _reason(structured: object) -> str:
    """What a failure says without a text; empty if nothing."""
    if structured is None or structured in ("", {}, []):
        return ""
    return structured if isinstance(structured, str) else json.dumps(structured, ensure_ascii=False)


def _texts(content: Sequence[types.ContentBlock]) -> Iterator[str]:
    import mcp_types as types

    for part in content:
        if isinstance(part, types.TextContent):
            yield part.text
        elif isinstance(part, types.ImageContent | types.AudioContent):
            size = len(part.data) * 3 // 4 - part.data[-2:].count("=")
            yield f"[{part.type} {part.mime_type}, {size} bytes]"
        elif isinstance(part, types.EmbeddedResource) and isinstance(part.resource, types.TextResourceContents):
            yield part.resource.text
        elif isinstance(part, types.EmbeddedResource):
            yield f"[resource {part.resource.uri}]"
        elif isinstance(part, types.ResourceLink):
            yield f"[resource {part.uri}]"
        else:
            yield f"[{part.type}]"
