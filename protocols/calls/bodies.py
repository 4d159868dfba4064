"""How the body of a call is written: JSON, forms, multipart, XML, lines, texts and bytes, as the document says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote_plus

from protocols.calls.serialization import Pair, UnwritableError, as_base64, refuse_separators, styled_pairs, wire_text
from protocols.media_types import concrete, family, is_binary, parameter
from protocols.model import SEPARATORS, Body, Encoding, Schema
from protocols.schema_fields import declared_types

__all__ = ["encoded_body"]

_TYPED = Encoding()


class NamedFile(bytes):
    """The content of a file with a name of its own."""

    filename: str = ""


def named_files(value: Any, schema: Schema) -> Any:
    """The value with `("name.csv", b"…")`, as `requests` takes it, as one file where the schema asks for files."""
    items = schema.get("items")
    if isinstance(value, list) and is_binary(items):
        return named_files(value, items) if _is_named(value) else [named_files(item, items) for item in value]  # type: ignore[arg-type]
    if not (_is_named(value) and is_binary(schema)):
        return value
    file = NamedFile(value[1])
    file.filename = value[0]
    return file


def _is_named(value: object) -> bool:
    return isinstance(value, list) and [type(part) for part in value] == [str, bytes]


def encoded_body(body: Body, value: object) -> tuple[bytes, str]:
    """The bytes of a body and its Content-Type; equal values give equal bytes.

    Raises: UnwritableError: The media type has no form for the value.
    """
    kind = family(body.media_type)
    if kind == "multipart":
        if not isinstance(value, Mapping):
            raise UnwritableError(f"must be a dict of parts to be sent as {body.media_type}")
        return _multipart(body, value)
    if isinstance(value, bytes) and kind != "json":
        return value, concrete(body.media_type, value)
    if isinstance(value, str) and kind != "json":
        content = _encoded(value, body.media_type)
        return content, concrete(body.media_type, content)
    if kind == "form" and isinstance(value, Mapping):
        return "&".join(_form_pairs(body, value)).encode("ascii"), body.media_type
    if kind == "xml":
        from protocols.calls.xml_bodies import xml_document

        charset = parameter(body.media_type, "charset") or "utf-8"
        return _encoded(xml_document(body, value, charset), body.media_type), body.media_type
    if kind in ("lines", "sequence") and isinstance(value, list):
        start = "\x1e" if kind == "sequence" else ""
        return _encoded("".join(f"{start}{_json(item)}\n" for item in value), body.media_type), body.media_type
    structured = {"object", "array"} & set(declared_types(body.schema))
    if kind in ("json", "yaml") or (structured and kind in ("text", "binary")):
        return _encoded(_json(value), body.media_type), body.media_type
    if kind == "text" and not isinstance(value, list | Mapping):
        return _encoded(wire_text(value), body.media_type), body.media_type
    types_by_kind = {"lines": "a list", "sequence": "a list", "form": "a dict", "text": "a text"}
    raise UnwritableError(f"must be {types_by_kind.get(kind, 'bytes or a text')} to be sent as {body.media_type}")


def _encoded(text: str, media_type: str) -> bytes:
    """A text in the charset of its media type. Raises: UnwritableError: It cannot be written in it."""
    charset = parameter(media_type, "charset") or "utf-8"
    try:
        return text.encode(charset)
    except (UnicodeEncodeError, LookupError):
        raise UnwritableError(f"cannot be written in {charset}") from None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=as_base64)


def _form_pairs(body: Body, value: Mapping[str, Any]) -> Iterator[str]:
    """The pairs of a form, encoded. Raises: UnwritableError."""
    for name, item in value.items():
        encoding = body.encoding.get(name, _TYPED)
        _refuse_null(name, item)
        if encoding.style:
            for pair in _styled(name, item, encoding):
                yield f"{quote_plus(pair.name)}={pair.written.replace('%20', '+')}"
            continue
        if item == []:
            raise UnwritableError("is an empty list, which a form cannot say; leave it out", name)
        as_json = bool(encoding.media_type) and family(encoding.media_type) == "json"
        for part in item if isinstance(item, list) else [item]:
            text = _json(part) if as_json else part if isinstance(part, bytes) else wire_text(part)
            yield f"{quote_plus(name)}={quote_plus(text)}"


def _refuse_null(name: str, value: object) -> None:
    if value is None:
        raise UnwritableError("is None, which a form cannot say; leave it out, or pass an empty text", name)


def _styled(name: str, item: object, encoding: Encoding, in_parts: bool = False) -> list[Pair]:
    try:
        if in_parts and isinstance(item, list) and not encoding.explode:  # nothing in a part is percent-encoded
            refuse_separators(map(wire_text, item), SEPARATORS.get(encoding.style, ","))
        return list(styled_pairs(name, item, encoding.style, encoding.explode))
    except UnwritableError as error:
        raise UnwritableError(str(error), name) from None


def _multipart(body: Body, value: Mapping[str, Any]) -> tuple[bytes, str]:
    from urllib3.filepost import encode_multipart_formdata

    fields = [part for name, item in value.items() for part in _parts(body, name, item)]
    boundary = hashlib.sha256(repr(fields).encode()).hexdigest()[:32]
    content, content_type = encode_multipart_formdata(fields, boundary)
    return content, content_type.replace("multipart/form-data", body.media_type.partition(";")[0].strip(), 1)


def _parts(body: Body, name: str, value: Any) -> Iterator[Any]:
    """The parts of a field: one for each item of a list. Raises: UnwritableError."""
    encoding = body.encoding.get(name, _TYPED)
    _refuse_null(name, value)
    if encoding.style and not encoding.media_type:
        yield from ((pair.name, pair.text) for pair in _styled(name, value, encoding, in_parts=True))
        return
    if value == []:
        raise UnwritableError("is an empty list, which a form cannot say; leave it out", name)
    properties = body.schema.get("properties")
    schema: Schema = properties.get(name) or {} if isinstance(properties, Mapping) else {}
    items = schema.get("items")
    described = items if isinstance(items, Mapping) else schema
    for item in value if isinstance(value, list) else [value]:
        media_type = encoding.media_type or str(described.get("contentMediaType") or "")
        is_file = (
            isinstance(item, bytes) or described.get("format") == "binary" or bool(described.get("contentMediaType"))
        )
        if is_file:
            content = item if isinstance(item, bytes) else wire_text(item).encode()
            filename = getattr(item, "filename", "") or name
            yield name, (filename, content, concrete(media_type or "application/octet-stream", content))
        elif media_type and family(media_type) == "xml" and isinstance(item, Mapping):
            from protocols.calls.xml_bodies import xml_document

            part = Body(media_type, described, required=False, root=name)
            yield name, (None, xml_document(part, item), concrete(media_type, b""))
        elif isinstance(item, Mapping | list) or (media_type and family(media_type) == "json"):
            yield name, (None, _json(item), concrete(media_type or "application/json", b""))
        elif media_type:
            yield name, (None, wire_text(item), concrete(media_type, b""))
        else:
            yield name, wire_text(item)
