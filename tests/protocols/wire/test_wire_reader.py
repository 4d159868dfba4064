"""The reader of requests itself: the examples of the OpenAPI specification, and requests that are wrong."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.micro.wire_reader import Received, WireReader

COLOURS = ["blue", "black", "brown"]
RGB = {"R": 100, "G": 200, "B": 150}
ARRAY = {"type": "array", "items": {"type": "string"}}
OBJECT = {"type": "object", "properties": {key: {"type": "integer"} for key in RGB}}

EXAMPLES = [
    ("path", "simple", False, "/blue,black,brown", COLOURS),
    ("path", "simple", True, "/R=100,G=200,B=150", RGB),
    ("path", "label", False, "/.blue,black,brown", COLOURS),
    ("path", "label", True, "/.blue.black.brown", COLOURS),
    ("path", "label", True, "/.R=100.G=200.B=150", RGB),
    ("path", "matrix", False, "/;color=blue,black,brown", COLOURS),
    ("path", "matrix", True, "/;color=blue;color=black;color=brown", COLOURS),
    ("path", "matrix", False, "/;color=R,100,G,200,B,150", RGB),
    ("path", "matrix", True, "/;R=100;G=200;B=150", RGB),
    ("query", "form", False, "?color=blue,black,brown", COLOURS),
    ("query", "form", True, "?color=blue&color=black&color=brown", COLOURS),
    ("query", "form", False, "?color=R,100,G,200,B,150", RGB),
    ("query", "form", True, "?R=100&G=200&B=150", RGB),
    ("query", "spaceDelimited", False, "?color=blue%20black%20brown", COLOURS),
    ("query", "pipeDelimited", False, "?color=blue%7Cblack%7Cbrown", COLOURS),
    ("query", "pipeDelimited", False, "?color=R|100|G|200|B|150", RGB),
    ("query", "deepObject", True, "?color%5BR%5D=100&color[G]=200&color[B]=150", RGB),
    ("query", "form", False, "?color=a%2Cb,c%26d", ["a,b", "c&d"]),
]


@pytest.mark.parametrize(("location", "style", "explode", "target", "value"), EXAMPLES)
def test_examples_of_the_specification(location: str, style: str, explode: bool, target: str, value: object) -> None:
    """Each style is read as the table of the OpenAPI specification has it; an encoded comma belongs to its item."""
    schema = ARRAY if isinstance(value, list) else OBJECT
    parameter = {"name": "color", "in": location, "style": style, "explode": explode, "schema": schema}
    template = "/{color}" if location == "path" else "/"
    reading = _read(template, {"parameters": [parameter]}, target if location == "path" else f"/{target}")

    assert (reading.values, reading.problems) == ({(location, "color"): value}, [])


@pytest.mark.parametrize(
    ("content", "content_type", "body"),
    [
        ("application/json", "text/plain", b"{}"),
        ("application/json", "application/json", b"{'a': 1}"),
        ("application/x-www-form-urlencoded", "application/x-www-form-urlencoded", b"b=1"),
        ("application/xml", "application/xml", b"<other><a>1</a></other>"),
        ("application/xml", "application/xml", b"<thing><b>1</b></thing>"),
        (
            "multipart/form-data",
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="o"\r\n\r\n{}\r\n--x--\r\n',
        ),
    ],
)
def test_what_the_document_does_not_allow_is_a_problem(content: str, content_type: str, body: bytes) -> None:
    """Another media type, text that is no JSON, unknown fields and elements, JSON in a part that does not say so."""
    properties = {"a": {"type": "integer"}, "o": {"type": "object", "properties": {"p": {}}}}
    schema = {"type": "object", "properties": properties, "additionalProperties": False, "xml": {"name": "thing"}}
    reading = _read("/", {"requestBody": {"content": {content: {"schema": schema}}}}, "/", content_type, body)

    assert len(reading.problems) == 1


def test_an_undocumented_query_is_a_problem() -> None:
    """What no parameter of the document takes is named."""
    assert _read("/", {}, "/?a=1").problems == ["query a: undocumented"]


def _read(template: str, operation: dict[str, Any], target: str, content_type: str = "", body: bytes = b"") -> Any:
    document = {"openapi": "3.0.3", "paths": {template: {"post": operation}}}
    headers = {"content-type": content_type} if content_type else {}
    return WireReader(document, template, "post").read(Received("POST", target, headers, body))
