"""The result of an MCP tool as a value: its structured content, else its text.

A text that is a JSON object or array is parsed: servers without output schemas send their structured content as text.
It also decides where the structured content is no object and says something else, as servers without a clear idea of
the two do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from protocols.functions.remote_function import RemoteCallError
from protocols.mcp.any_content import MOVED
from protocols.quoting import words_of_service

if TYPE_CHECKING:
    import mcp_types as types

__all__ = ["value_of"]


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
