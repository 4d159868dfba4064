"""What a body is by its media type: JSON, lines of JSON, XML, text or bytes, and how such a body is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

__all__ = ["Family", "MediaKind", "concrete", "documented_kind", "essence", "family", "is_binary", "media_kind"]
__all__ += ["parameter"]

MediaKind = Literal["json", "lines", "xml", "text", "bytes", ""]
"""Lines are JSON values one after another; "" says nothing, as `application/vnd.acme` does."""

Family: TypeAlias = Literal["json", "lines", "sequence", "yaml", "form", "multipart", "xml", "text", "binary"]
"""Media types of one family are written in the same way."""

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


_SIGNATURES = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"%PDF": "application/pdf",
    b"PK\x03\x04": "application/zip",
    b"\x1f\x8b": "application/gzip",
    b"OggS": "audio/ogg",
    b"ID3": "audio/mpeg",
}
"""The media type of files that begin so."""


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
    variants = [part for word in ("anyOf", "allOf") for part in cast("list[Any]", schema.get(word) or ())]
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


def family(media_type: str) -> Family:
    """The family of a media type; `*/*` and an empty one are JSON."""
    kind = essence(media_type)
    if kind in ("", "*/*", "application/*"):
        return "json"
    if kind == "application/x-www-form-urlencoded":
        return "form"
    if kind.startswith("multipart/"):
        return "multipart"
    if kind.endswith(("yaml", "+yaml")):
        return "yaml"
    read = media_kind(kind)
    if read == "lines":
        return "sequence" if kind.endswith("json-seq") else "lines"
    return read if read in ("json", "xml", "text") else "binary"


def parameter(media_type: str, name: str) -> str | None:
    """The value of a parameter, as `charset`; None without it."""
    for part in media_type.split(";")[1:]:
        key, _, value = part.partition("=")
        if key.strip().lower() == name:
            return value.strip().strip("\"'") or None
    return None


def concrete(media_type: str, content: bytes) -> str:
    """A media type to send: the first of a list, and instead of a range (`image/*`) what the content begins like."""
    first = media_type.split(",")[0].strip()
    if "*" not in essence(first):
        return first
    start = essence(first).partition("*")[0].rstrip("/")
    candidates = [kind for sign, kind in _SIGNATURES.items() if content.startswith(sign) and kind.startswith(start)]
    return candidates[0] if candidates else "text/plain" if start == "text" else "application/octet-stream"
