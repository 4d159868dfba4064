"""The families of media types: all types of one family are written, and read, in the same way."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["Family", "concrete", "essence", "family", "parameter"]

Family: TypeAlias = Literal["json", "lines", "sequence", "yaml", "form", "multipart", "xml", "text", "binary"]

_LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"})
_LINES |= {"application/jsonlines", "application/json-lines", "application/x-json-stream", "application/stream+json"}
_LINES |= {"text/x-ndjson", "application/x-jsonl", "text/jsonl"}
_TEXTS = frozenset({"application/javascript", "application/graphql", "application/sql", "application/x-sh"})
_TEXTS |= {"application/ecmascript", "application/x-javascript", "application/rtf", "application/x-sql"}

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
    """The type and subtype, in lower case, without parameters."""
    return media_type.partition(";")[0].strip().lower()


def parameter(media_type: str, name: str) -> str | None:
    """The value of a parameter, as `charset`; None without it."""
    for part in media_type.split(";")[1:]:
        key, _, value = part.partition("=")
        if key.strip().lower() == name:
            return value.strip().strip("\"'") or None
    return None


def family(media_type: str) -> Family:
    """The family of a media type; `*/*` and an empty one are JSON."""
    kind = essence(media_type)
    if kind in _LINES or kind.endswith(("+jsonl", "+ndjson")):
        return "lines"
    if kind == "application/json-seq" or kind.endswith("+json-seq"):
        return "sequence"
    if kind in ("", "*/*", "application/*", "application/json", "text/json", "application/x-json"):
        return "json"
    if kind.endswith("+json"):
        return "json"
    if kind.endswith(("/yaml", "/x-yaml", "/vnd.yaml", "+yaml")):
        return "yaml"
    if kind == "application/x-www-form-urlencoded":
        return "form"
    if kind.startswith("multipart/"):
        return "multipart"
    if kind.endswith(("/xml", "+xml")) and not kind.startswith("image/"):
        return "xml"
    return "text" if kind.startswith("text/") or kind in _TEXTS else "binary"


def concrete(media_type: str, content: bytes) -> str:
    """A media type to send: the first of a list, and instead of a range (`image/*`) what the content begins like."""
    first = media_type.split(",")[0].strip()
    if "*" not in essence(first):
        return first
    start = essence(first).partition("*")[0].rstrip("/")
    candidates = [kind for sign, kind in _SIGNATURES.items() if content.startswith(sign) and kind.startswith(start)]
    return candidates[0] if candidates else "text/plain" if start == "text" else "application/octet-stream"
