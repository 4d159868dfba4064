"""What a program passes is what a service reads: every style of the specification, and texts that need encoding."""

from __future__ import annotations

import json
from collections.abc import Callable
from email.parser import BytesParser
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, unquote
from xml.etree import ElementTree

import pytest

from protocols import load
from sandbox import Broker
from tests.protocols.wire.service import Arrived, Service

COLOURS = ["blue", "black", "brown"]
RGB = {"R": 100, "G": 200, "B": 150}
TEXT = {"type": "string"}
ARRAY = {"type": "array", "items": TEXT}
OBJECT = {"type": "object", "properties": {key: {"type": "integer"} for key in RGB}}
ODD = ["a b", "Zürich", "漢字", "🎉", "a&b=c", "1+1", "100%", "%41", "a/b", "what?", "#1", "a;b", "a,b", "a|b", '"q"']
ODD += ["<b>", "it's", "back\\slash", "a:b@c", "(x)", "{y}", "a[0]", " padded ", "*", "$&!", "a=b", "..a", "tab\there"]
ODD += ["true", "null", "5", "-1", "two\nlines", "]]>", "\u2028"]


def call(service: Service, path: str, operation: dict[str, Any], **passed: object) -> Arrived:
    """The request of one POST with these arguments."""
    paths = {path: {"post": {**operation, "responses": {"200": {"description": "OK"}}}}}
    protocol = load({"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths})
    broker = Broker(protocol, base_url=service.url)
    try:
        broker.call(protocol.tools[0].name, (), passed)
    finally:
        broker.close()
    return service.arrived[-1]


@pytest.mark.parametrize(
    ("location", "style", "explode", "target", "value"),
    [
        ("path", "simple", False, "/blue,black,brown", COLOURS),
        ("path", "simple", True, "/R=100,G=200,B=150", RGB),
        ("path", "label", False, "/.blue,black,brown", COLOURS),
        ("path", "label", True, "/.blue.black.brown", COLOURS),
        ("path", "label", True, "/.R=100.G=200.B=150", RGB),
        ("path", "matrix", False, "/;color=blue,black,brown", COLOURS),
        ("path", "matrix", True, "/;color=blue;color=black;color=brown", COLOURS),
        ("path", "matrix", False, "/;color=R,100,G,200,B,150", RGB),
        ("path", "matrix", True, "/;R=100;G=200;B=150", RGB),
        ("query", "form", False, "/?color=blue,black,brown", COLOURS),
        ("query", "form", True, "/?color=blue&color=black&color=brown", COLOURS),
        ("query", "form", False, "/?color=R,100,G,200,B,150", RGB),
        ("query", "form", True, "/?R=100&G=200&B=150", RGB),
        ("query", "spaceDelimited", False, "/?color=blue%20black%20brown", COLOURS),
        ("query", "pipeDelimited", False, "/?color=blue%7Cblack%7Cbrown", COLOURS),
        ("query", "pipeDelimited", False, "/?color=R%7C100%7CG%7C200%7CB%7C150", RGB),
        ("query", "deepObject", True, "/?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150", RGB),
        ("query", "form", False, "/?color=a%2Cb,c%26d", ["a,b", "c&d"]),
        ("query", "form", True, "/?color=a%20b&color=c%26d", ["a b", "c&d"]),
        ("query", "pipeDelimited", True, "/?color=a&color=b", ["a", "b"]),
        ("query", "deepObject", True, "/?color%5Ba%5D%5Bgte%5D=1", {"a": {"gte": 1}}),
        ("query", "deepObject", True, "/?color%5Ba%5D%5B%5D=x&color%5Ba%5D%5B%5D=y", {"a": ["x", "y"]}),
        ("header", "simple", False, "blue,black,brown", COLOURS),
        ("header", "simple", True, "R=100,G=200,B=150", RGB),
        ("cookie", "form", False, "blue,black,brown", COLOURS),
    ],
)
def test_examples_of_the_specification(
    service: Service, location: str, style: str, explode: bool, target: str, value: object
) -> None:
    """Each style is written as the table of the OpenAPI specification has it; an encoded comma belongs to its item."""
    schema = ARRAY if isinstance(value, list) else OBJECT
    parameter = {"name": "color", "in": location, "style": style, "explode": explode, "schema": schema}
    path = "/{color}" if location == "path" else "/"

    arrived = call(service, path, {"parameters": [{**parameter, "required": True}]}, color=value)

    cookie = SimpleCookie(arrived.headers.get("cookie", ""))
    written = {"header": arrived.headers.get("color"), "cookie": "".join(morsel.value for morsel in cookie.values())}
    assert written.get(location, arrived.line.removeprefix("POST ")) == target


def form_parts(request: Arrived) -> dict[str, str]:
    """The fields of a multipart form, as the library email reads them."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    parts: Any = BytesParser().parsebytes(head + request.body).get_payload()
    return {
        part.get_param("name", header="content-disposition"): part.get_payload(decode=True).decode() for part in parts
    }


READERS: dict[str, Callable[[Arrived], object]] = {
    "application/json": lambda request: json.loads(request.body),
    "application/x-www-form-urlencoded": lambda request: dict(parse_qsl(request.body.decode("ascii"), True)),
    "multipart/form-data": form_parts,
    "application/xml": lambda request: {part.tag: part.text for part in ElementTree.fromstring(request.body)},
}


@pytest.mark.parametrize("media_type", READERS)
def test_a_body_holds_what_was_passed(service: Service, media_type: str) -> None:
    """Signs of other languages, separators and what looks like a number: read by libraries that wrote none of it."""
    texts = {f"t{place}": text for place, text in enumerate(ODD)}
    schema = {"type": "object", "properties": dict.fromkeys(texts, TEXT)}
    body = {"required": True, "content": {media_type: {"schema": schema}}}

    arrived = call(service, "/texts", {"requestBody": body}, **texts)

    assert READERS[media_type](arrived) == texts


def test_a_query_and_a_path_hold_what_was_passed(service: Service) -> None:
    """One by one in the path and together in the query, as the standard library reads both; reserved signs may stay."""
    names = [f"t{place}" for place in range(len(ODD))]
    query = [{"name": name, "in": "query", "schema": TEXT} for name in names]
    arrived = call(service, "/texts", {"parameters": query}, **dict(zip(names, ODD, strict=True)))
    assert dict(parse_qsl(arrived.query)) == dict(zip(names, ODD, strict=True))

    reserved = {"name": "q", "in": "query", "schema": TEXT, "allowReserved": True}
    assert call(service, "/texts", {"parameters": [reserved]}, q="a/b?c:d&e").query == "q=a/b?c:d%26e"

    part = {"name": "text", "in": "path", "required": True, "schema": TEXT}
    for text in ODD:
        arrived = call(service, "/texts/{text}/end", {"parameters": [part]}, text=text)
        assert unquote(arrived.path) == f"/texts/{text}/end"
        assert arrived.path.count("/") == 3, "a slash within it is encoded"
