"""What a body is by its media type: JSON, lines of JSON, XML, text or bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, cast

__all__ = ["MediaKind", "documented_kind", "essence", "is_binary", "media_kind"]

MediaKind = Literal["json", "lines", "xml", "text", "bytes", ""]
"""Lines are JSON values one after another; "" says nothing, as `application/vnd.acme` does."""

_LINES = re.compile(r"ndjson|jsonl\b|json-?lines|json-seq|json-stream|stream\+json")
_TEXTS = re.compile(
    r"(application/|.*\+)(x-)?(www-form-urlencoded|yaml|toml|sql|graphql|csv|(java|ecma)script|jwt|pem-file|sh|tex)"
)
_BYTES = re.compile(
    r"(image|audio|video|font|model)/.*"
    r"|.*\+(zip|gzip|cbor|der|protobuf|parquet)"
    r"|application/(x-)?(octet-stream|binary|download|force-download|pdf|zip|gzip|tar|gtar|7z-compressed|bzip2?|xz|zstd"
    r"|msword|wasm|protobuf|grpc|msgpack|cbor|avro|sqlite3|java-archive|pkcs.*|zip-compressed|vnd\.(ms-|openxmlformats"
    r"|oasis\.opendocument|sqlite3|apache\.(parquet|arrow)|android\.package|rar|google\.protobuf|msgpack).*)"
)


def essence(media_type: str) -> str:
    """A media type in lower case, without its parameters."""
    return media_type.partition(";")[0].strip().lower()


def media_kind(media_type: str) -> MediaKind:
    """The kind of a body with this media type."""
    kind = essence(media_type)
    if _LINES.search(kind):
        return "lines"
    if "json" in kind:
        return "json"
    if kind.endswith(("/xml", "+xml")) or kind.startswith("application/xml-"):
        return "xml"
    if kind.startswith("text/") or _TEXTS.fullmatch(kind):
        return "text"
    return "bytes" if _BYTES.fullmatch(kind) else ""


def is_binary(schema: object) -> bool:
    """True if a schema describes raw bytes, and no text that stands for them."""
    if not isinstance(schema, Mapping) or "contentEncoding" in schema:
        return False
    variants = [part for word in ("anyOf", "oneOf", "allOf") for part in cast("list[Any]", schema.get(word) or ())]
    content = schema.get("contentMediaType")
    named = schema.get("format") == "binary" or (isinstance(content, str) and media_kind(content) == "bytes")
    return named or any(map(is_binary, variants))


def documented_kind(media_type: str, schema: Mapping[str, object] | None) -> MediaKind:
    """The kind of a body that is documented so: a schema of an object is one of JSON, whatever the media type."""
    kind = media_kind(media_type)
    if schema is not None and kind != "lines" and is_binary(schema):
        return "bytes"
    types = (schema or {}).get("type")
    if kind in ("text", "") and types in ("object", "array", "integer", "number", "boolean"):
        return "json"
    return "text" if not kind and types == "string" else kind
