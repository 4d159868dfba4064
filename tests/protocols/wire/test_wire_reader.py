"""The reader of requests itself: the examples of the OpenAPI specification."""

from __future__ import annotations

import pytest

from tests.protocols.wire.service import Arrived
from tests.protocols.wire.wire_reader import read_request

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
    document = {"paths": {template: {"post": {"parameters": [parameter]}}}}
    path, _, query = target.partition("?")

    values = read_request(document, template, Arrived("POST", path or "/", query, {}, b"", ""))

    assert values[location, "color"] == value
