"""How the body of a call is written: JSON, forms, multipart, XML, lines, texts and bytes, as the document says."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote_plus
from xml.etree import ElementTree

from protocols.calls.header_values import refuse_separators
from protocols.calls.serialization import Pair, UnwritableError, as_base64, styled_pairs, wire_text
from protocols.media_types import concrete, family, parameter
from protocols.model import SEPARATORS, Body, Encoding, Schema
from protocols.schema_fields import declared_types

__all__ = ["encoded_body"]

_TYPED = Encoding()
_XML_NAME = re.compile(r"[^\W\d][\w.\-]*(:[^\W\d][\w.\-]*)?")
_NO_XML_CHARACTER = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NIL = {"xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance", "xsi:nil": "true"}


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
        charset = parameter(body.media_type, "charset") or "utf-8"
        return _encoded(_xml_document(body, value, charset), body.media_type), body.media_type
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


def _member(schema: Schema, keyword: str) -> Mapping[str, Any]:
    """The object under a keyword; empty where the document has something else there."""
    value = schema.get(keyword)
    return value if isinstance(value, Mapping) else {}


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
    schema: Schema = _member(body.schema, "properties").get(name) or {}
    described = _member(schema, "items") or schema
    for item in value if isinstance(value, list) else [value]:
        media_type = encoding.media_type or str(described.get("contentMediaType") or "")
        if isinstance(item, bytes) or described.get("format") == "binary" or described.get("contentMediaType"):
            content = item if isinstance(item, bytes) else wire_text(item).encode()
            filename = getattr(item, "filename", "") or name
            yield name, (filename, content, concrete(media_type or "application/octet-stream", content))
        elif media_type and family(media_type) == "xml" and isinstance(item, Mapping):
            part = Body(media_type, described, required=False, root=name)
            yield name, (None, _xml_document(part, item), concrete(media_type, b""))
        elif isinstance(item, Mapping | list) or (media_type and family(media_type) == "json"):
            yield name, (None, _json(item), concrete(media_type or "application/json", b""))
        elif media_type:
            yield name, (None, wire_text(item), concrete(media_type, b""))
        else:
            yield name, wire_text(item)


# XML


def _xml_document(body: Body, value: object, charset: str = "UTF-8") -> str:
    """The value as an XML document that is to be encoded so, with the names and wrappers of the keyword `xml`.

    Raises: UnwritableError: XML cannot hold it.
    """
    name = body.root or str(body.schema.get("title") or "root")
    if isinstance(value, list):
        root = _element(name, body.schema, {})
        _add_items(root, name, value, body.schema)
    else:
        root = _filled(name, body.schema, value)
    text = ElementTree.tostring(root, "unicode").replace("\r", "&#13;")  # a parser would read a line feed
    return f'<?xml version="1.0" encoding="{charset.upper()}"?>\n{text}'


def _element(name: str, schema: Schema, attributes: Mapping[str, str]) -> ElementTree.Element:
    """An empty element, with its own name and namespace where the schema gives them."""
    keywords = _member(schema, "xml")
    tag, prefix = str(keywords.get("name") or name), str(keywords.get("prefix") or "")
    if _XML_NAME.fullmatch(tag) is None:
        raise UnwritableError(f"holds the name {tag!r}, which XML does not allow")
    element = ElementTree.Element(f"{prefix}:{tag}" if prefix else tag, dict(attributes))
    if namespace := keywords.get("namespace"):
        element.set(f"xmlns:{prefix}" if prefix else "xmlns", str(namespace))
    return element


def _filled(name: str, schema: Schema, value: object) -> ElementTree.Element:
    """An element with a value that is no list."""
    if value is None:
        return _element(name, schema, _NIL)
    element = _element(name, schema, {})
    if not isinstance(value, Mapping):
        element.text = _xml_text(value)
        return element
    for key, item in value.items():
        part: Schema = _member(schema, "properties").get(key) or {}
        keywords = _member(part, "xml")
        if keywords.get("attribute") is True:
            prefix = f"{keywords['prefix']}:" if keywords.get("prefix") else ""
            element.set(prefix + str(keywords.get("name") or key), _xml_text(item))
        elif isinstance(item, list):
            wrapped = keywords.get("wrapped") is True
            if not item and not wrapped:
                raise UnwritableError("is an empty list, which XML has no form for here; leave it out", key)
            target = _element(key, part, {}) if wrapped else element
            inner = str(keywords.get("name") or key) if wrapped else key
            _add_items(target, inner, item, part)
            if wrapped:
                element.append(target)
        else:
            element.append(_filled(key, part, item))
    return element


def _add_items(parent: ElementTree.Element, name: str, values: list[object], schema: Schema) -> None:
    for item in values:
        if isinstance(item, list):
            raise UnwritableError("holds a list of lists, which XML has no form for")
        parent.append(_filled(name, _member(schema, "items"), item))


def _xml_text(value: object) -> str:
    text = wire_text(value)
    if (character := _NO_XML_CHARACTER.search(text)) is not None:
        raise UnwritableError(f"holds the character {character[0]!r}, which XML does not allow")
    return text
