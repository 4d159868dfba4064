"""Bodies in XML, with the names, attributes and wrappers that the `xml` keyword of OpenAPI gives them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

from protocols.calls.serialization import UnwritableError, wire_text
from protocols.model import Body, Schema

__all__ = ["xml_document"]

_NAME = re.compile(r"[^\W\d][\w.\-]*(:[^\W\d][\w.\-]*)?")
_NO_CHARACTER = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NIL = {"xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance", "xsi:nil": "true"}


def xml_document(body: Body, value: object, charset: str = "UTF-8") -> str:
    """The value as an XML document that is to be encoded so. Raises: UnwritableError: XML cannot hold it."""
    name = body.root or str(body.schema.get("title") or "root")
    items = body.schema.get("items")
    if isinstance(value, list):
        root = _element(name, body.schema, {})
        _add_items(root, name, value, items if isinstance(items, Mapping) else {})
    else:
        root = _filled(name, body.schema, value)
    text = ElementTree.tostring(root, "unicode").replace("\r", "&#13;")  # a parser would read a line feed
    return f'<?xml version="1.0" encoding="{charset.upper()}"?>\n{text}'


def _keywords(schema: Schema) -> Mapping[str, object]:
    keywords = schema.get("xml")
    return keywords if isinstance(keywords, Mapping) else {}


def _element(name: str, schema: Schema, attributes: Mapping[str, str]) -> ElementTree.Element:
    """An empty element, with its own name and namespace where the schema gives them."""
    keywords = _keywords(schema)
    tag, prefix = str(keywords.get("name") or name), str(keywords.get("prefix") or "")
    if _NAME.fullmatch(tag) is None:
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
        element.text = _text(value)
        return element
    properties = schema.get("properties")
    described = properties if isinstance(properties, Mapping) else {}
    for key, item in value.items():
        part: Schema = described.get(key) or {}
        keywords = _keywords(part)
        if keywords.get("attribute") is True:
            prefix = f"{keywords['prefix']}:" if keywords.get("prefix") else ""
            element.set(prefix + str(keywords.get("name") or key), _text(item))
        elif isinstance(item, list):
            items = part.get("items")
            wrapped = keywords.get("wrapped") is True
            if not item and not wrapped:
                raise UnwritableError("is an empty list, which XML has no form for here; leave it out", key)
            target = _element(key, part, {}) if wrapped else element
            inner = str(keywords.get("name") or key) if wrapped else key
            _add_items(target, inner, item, items if isinstance(items, Mapping) else {})
            if wrapped:
                element.append(target)
        else:
            element.append(_filled(key, part, item))
    return element


def _add_items(parent: ElementTree.Element, name: str, values: list[object], schema: Schema) -> None:
    for item in values:
        if isinstance(item, list):
            raise UnwritableError("holds a list of lists, which XML has no form for")
        parent.append(_filled(name, schema, item))


def _text(value: object) -> str:
    text = wire_text(value)
    if (character := _NO_CHARACTER.search(text)) is not None:
        raise UnwritableError(f"holds the character {character[0]!r}, which XML does not allow")
    return text
