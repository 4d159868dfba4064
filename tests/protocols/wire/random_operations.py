"""Random documents, and arguments that are valid for their operations: every style, location and media type."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.protocols.wire.wire_reader import Place

__all__ = ["RandomDocument", "RandomOperation", "random_document"]

Schema = dict[str, Any]

NAMES = ["name", "filter[name]", "StartTime<", "a.b", "X-Thing", "body", "$top", "from", "ids[]", "größe", "user id"]
PLAIN = ["Oslo", "a", "true", "null", "5", "-1", "2024-02-29", "x" * 60, "~user_1-a.b"]
ODD = [
    "a b",
    "Zürich",
    "漢字",
    "🎉",
    "a&b=c",
    "1+1",
    "100%",
    "%41",
    "a/b",
    "what?",
    "#1",
    "a;b",
    "a,b",
    "a|b",
    '"q"',
    "<b>",
]
ODD += ["it's", "back\\slash", "a:b@c", "(x)", "{y}", "a[0]", " padded ", "*", "$&!", "a=b", "..a", "tab\there"]
LINES = ["two\nlines", "carriage\r\nreturn", "]]>", "\u2028"]


@dataclass(slots=True)
class RandomOperation:
    """An operation and a call of it: `passed` by place; `risks` says why a style may not be able to write a value."""

    method: str
    path: str
    passed: dict[Place, object] = field(default_factory=dict)
    risks: dict[Place, str] = field(default_factory=dict)
    raw: set[Place] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class RandomDocument:
    """A document and a call of each of its operations."""

    document: dict[str, Any]
    operations: list[RandomOperation]


def random_document(seed: int, version: str, operations: int) -> RandomDocument:
    """A document of `operations` operations; equal seeds give equal documents."""
    maker = _Maker(random.Random(f"{seed} {version}"), version)
    made = [maker.operation(index) for index in range(operations)]
    info = {"title": f"Random {seed}", "version": "1"}
    return RandomDocument({"openapi": version, "info": info, "paths": maker.paths}, made)


class _Maker:
    def __init__(self, rng: random.Random, version: str) -> None:
        self.rng, self.version = rng, version
        self.paths: dict[str, Any] = {}

    def operation(self, index: int) -> RandomOperation:
        rng = self.rng
        method = rng.choice(["get", "delete", "post", "put", "patch", "post"])
        call = RandomOperation(method, f"/op{index}")
        operation: dict[str, Any] = {"operationId": f"op{index}", "responses": {"200": {"description": "done"}}}
        parameters = []
        for number in range(rng.randint(0 if method in ("post", "put", "patch") else 1, 4)):
            location = rng.choice(["path", "query", "query", "header", "cookie"])
            parameter = self.parameter(call, location, number)
            parameters.append(parameter)
            if location == "path":
                call.path += f"/{{{parameter['name']}}}" + rng.choice(["", "/sub", "/x:go"])
        if parameters and rng.random() < 0.1:
            self.twin(call, parameters)
        if method in ("post", "put", "patch"):
            self.body(call, operation, parameters)
        operation["parameters"] = rng.sample(parameters, len(parameters))
        self.paths[call.path] = {method: operation}
        return call

    def twin(self, call: RandomOperation, parameters: list[Schema]) -> None:
        """A header with the name of a parameter elsewhere, where the name may be a header's."""
        name = parameters[0]["name"]
        if parameters[0]["in"] != "header" and set(name) <= set(string.ascii_letters + string.digits + "-_"):
            twin = {"name": name, "in": "header", "required": True, "schema": {"type": "integer"}}
            parameters.append(twin)
            call.passed["header", name] = self.rng.randint(-9, 9)

    # --- parameters ---

    def name(self, location: str, number: int) -> str:
        if location == "query":
            base = self.rng.choice(NAMES)
            return f"{base}{number}" if "[" not in base else base.replace("[", f"{number}[")
        if location == "path":
            return self.rng.choice(["id", "a.b", "a-b", "user_id", "body"]) + str(number)
        return self.rng.choice(["X-Thing", "id", "x_y", "body"]) + str(number)

    def parameter(self, call: RandomOperation, location: str, number: int) -> Schema:
        name = self.name(location, number)
        place = (location, name)
        parameter: Schema = {"name": name, "in": location}
        if location == "path" or self.rng.random() < 0.4:
            parameter["required"] = True
        if self.rng.random() < 0.1:
            schema, value = self.json_schema(2)
            parameter["content"] = {"application/json": {"schema": schema}}
            call.risks |= {place: "control characters in JSON in a header"} if location in ("header",) else {}
            call.passed[place] = value
            return parameter
        kind, style, explode = self.rng.choice(_STYLES[location])
        if style != ("form" if location in ("query", "cookie") else "simple") or self.rng.random() < 0.5:
            parameter["style"] = style
        if explode != (style == "form") or self.rng.random() < 0.5:
            parameter["explode"] = explode
        schema, value = self.writable(location, style, explode, lambda: self.styled(kind, style, number))
        parameter["schema"] = schema
        if location == "query" and style == "form" and kind != "object" and self.rng.random() < 0.15:
            parameter["allowReserved"] = True
            call.raw.add(place)
        risk = _risk(location, style, explode, value)
        call.risks |= {place: risk} if risk else {}
        call.passed[place] = value
        return parameter

    def writable(
        self, location: str, style: str, explode: bool, make: Callable[[], tuple[Schema, object]]
    ) -> tuple[Schema, object]:
        """A schema and a value, mostly one that the style can write."""
        schema, value = make()
        while _risk(location, style, explode, value) and self.rng.random() < 0.95:
            schema, value = make()
        return schema, value

    def styled(self, kind: str, style: str, number: int) -> tuple[Schema, object]:
        """A schema and a value; now and then one that few styles can write."""
        rng = self.rng
        if kind == "scalar":
            return self.scalar()
        rare = rng.random()
        if kind == "array":
            items, make = self.scalar_kind()
            size = 0 if rare < 0.02 else rng.randint(1, 4)
            return {"type": "array", "items": items}, [make() for _ in range(size)]
        properties: Schema = {}
        value: dict[str, object] = {}
        for index in range(rng.randint(1, 4)):
            key = rng.choice(["R", "name", "is_on", "é", "a b", "max-size", "x.y"]) + f"{number}{index}"
            if style == "deepObject" and rng.random() < 0.25:
                properties[key], item = self.nested()
            else:
                properties[key], make = self.scalar_kind()
                item = make()
            if rng.random() < 0.85 or index == 0:
                value[key] = item
        if rare < 0.02:
            value = {}
        return {"type": "object", "properties": properties}, value

    def nested(self) -> tuple[Schema, object]:
        items, make = self.scalar_kind()
        if self.rng.random() < 0.5:
            return {"type": "array", "items": items}, [make() for _ in range(self.rng.randint(1, 3))]
        schema = {"type": "object", "properties": {"in": items, "deep": {"type": "object", "properties": {"x": items}}}}
        return schema, {"in": make(), "deep": {"x": make()}}

    # --- values ---

    def scalar(self) -> tuple[Schema, object]:
        schema, make = self.scalar_kind()
        return schema, make()

    def scalar_kind(self) -> tuple[Schema, Callable[[], object]]:
        """A schema of a scalar and what makes values of it."""
        rng = self.rng
        kinds: list[tuple[Schema, Callable[[], object]]] = [
            ({"type": "string"}, self.text),
            ({"type": "string"}, self.text),
            ({"type": "string"}, self.text),
            ({"type": "string", "enum": ["a b", "c,d", "e"]}, lambda: rng.choice(["a b", "c,d", "e"])),
            ({"type": "string", "format": "date"}, lambda: f"20{rng.randint(10, 30)}-0{rng.randint(1, 9)}-11"),
            ({"type": "string", "format": "date-time"}, lambda: f"2024-01-0{rng.randint(1, 9)}T10:00:00+02:00"),
            ({"type": "integer"}, lambda: rng.choice([0, -1, 7, 10**15, -(2**63), 2**64 + 1, rng.randint(-99, 99)])),
            ({"type": "number"}, lambda: rng.choice([0.5, -1.25, 1e22, 1e-7, 3, rng.uniform(-10, 10)])),
            ({"type": "boolean"}, lambda: rng.random() < 0.5),
        ]
        schema, make = rng.choice(kinds)
        if rng.random() < 0.1 and "enum" not in schema:
            schema = self.nullable(schema)
        return schema, make

    def nullable(self, schema: Schema) -> Schema:
        if self.version.startswith("3.1"):
            return {**schema, "type": [schema["type"], "null"]}
        return {**schema, "nullable": True}

    def text(self) -> str:
        rng = self.rng
        share = rng.random()
        if share < 0.02:
            return ""
        if share < 0.5:
            return rng.choice(PLAIN)
        if share < 0.9:
            return rng.choice(ODD)
        return "".join(rng.choice("abc ÄŁ1-_.~!'()*:@$+;") for _ in range(rng.randint(1, 12)))

    def json_schema(self, depth: int) -> tuple[Schema, Any]:
        """A schema of any JSON and a value of it."""
        rng = self.rng
        kind = rng.choice(["scalar", "scalar", "array", "object"]) if depth else "scalar"
        if kind == "array":
            schema, _ = self.json_schema(0)
            return {"type": "array", "items": {}}, [self.json_schema(depth - 1)[1] for _ in range(rng.randint(0, 3))]
        if kind == "object":
            return self.json_object(depth - 1)
        schema, make = self.scalar_kind()
        value = make()
        if schema["type"] == "string" and "format" not in schema and "enum" not in schema and rng.random() < 0.2:
            value = rng.choice(LINES)
        return schema, value

    def json_object(self, depth: int) -> tuple[Schema, dict[str, object]]:
        properties, value = {}, {}
        for index in range(self.rng.randint(1, 4)):
            key = self.rng.choice([*NAMES, "id", "é", "a", "x_y"]) + str(index)
            properties[key], item = self.json_schema(depth)
            if self.rng.random() < 0.15 and "enum" not in properties[key] and "type" in properties[key]:
                if isinstance(properties[key]["type"], str):
                    properties[key] = self.nullable(properties[key])
                item = None
            if self.rng.random() < 0.85:
                value[key] = item
        return {"type": "object", "properties": properties}, value

    # --- bodies ---

    def body(self, call: RandomOperation, operation: dict[str, Any], parameters: list[Schema]) -> None:
        media_type, make = self.rng.choice(_BODIES)
        media, value = make(self)
        operation["requestBody"] = {"content": {media_type: media}, "required": self.rng.random() < 0.5}
        self.pass_body(call, media, value, parameters, media_type)

    def pass_body(
        self, call: RandomOperation, media: Schema, value: object, parameters: list[Schema], media_type: str
    ) -> None:
        """Pass an object by its properties or whole, everything else whole."""
        properties = media["schema"].get("properties") or {}
        if isinstance(value, dict) and value and properties:
            if parameters and "json" in media_type and self.rng.random() < 0.1:  # of the name of a parameter
                twin = parameters[0]["name"]
                properties[twin], value[twin] = {"type": "string"}, "twin"
            if self.rng.random() < 0.7:
                call.passed |= {("body", name): item for name, item in value.items()}
                self.body_risks(call, media_type, media, value)
                return
        call.passed["body", ""] = value
        self.body_risks(call, media_type, media, value)

    def body_risks(self, call: RandomOperation, media_type: str, media: Schema, value: object) -> None:
        if "form" in media_type and isinstance(value, dict):
            for name, item in value.items():
                hints = (media.get("encoding") or {}).get(name) or {}
                style = hints.get("style", "form")
                if "contentType" in hints or (isinstance(item, dict) and not hints):
                    continue
                risk = _risk("form", style, hints.get("explode", style == "form"), item)
                call.risks |= {("body", name): risk} if risk else {}
        if media_type.endswith("xml") and isinstance(value, dict):
            for name, item in value.items():
                if item == [] and not (media["schema"]["properties"][name].get("xml") or {}).get("wrapped"):
                    call.risks["body", name] = "an empty list that is not wrapped"

    def json_body(self) -> tuple[Schema, object]:
        schema, value = self.json_object(2) if self.rng.random() < 0.7 else self.json_schema(3)
        return {"schema": schema}, value

    def merge_patch(self) -> tuple[Schema, object]:
        schema, value = self.json_object(1)
        for name, inner in schema["properties"].items():
            if isinstance(inner.get("type"), str) and "enum" not in inner:
                schema["properties"][name], value[name] = self.nullable(inner), None
        return {"schema": schema}, value

    def json_patch(self) -> tuple[Schema, object]:
        operation = {
            "type": "object",
            "properties": {"op": {"type": "string"}, "path": {"type": "string"}, "value": {}},
        }
        value = [{"op": "add", "path": "/a~1b", "value": self.json_schema(1)[1]}, {"op": "remove", "path": "/c"}]
        return {"schema": {"type": "array", "items": operation}}, value

    def lines(self) -> tuple[Schema, object]:
        value = [self.json_object(1)[1] for _ in range(self.rng.randint(1, 3))]
        return {"schema": {"type": "array", "items": {"type": "object"}}}, value

    def binary(self) -> tuple[Schema, object]:
        schema = {} if self.version.startswith("3.1") else {"type": "string", "format": "binary"}
        return {"schema": schema}, self.rng.randbytes(200) + bytes(range(256))

    def plain_text(self) -> tuple[Schema, object]:
        return {"schema": {"type": "string"}}, self.rng.choice([*ODD, *LINES, *PLAIN])

    def form(self) -> tuple[Schema, object]:
        """A URL-encoded form whose first field has an encoding."""
        rng = self.rng
        kind, hints = rng.choice(_ENCODINGS)
        properties, value = {}, {}
        style = hints.get("style", "form")
        make = partial(self.styled, kind, style, 0)
        properties["f0"], value["f0"] = self.writable("form", style, hints.get("explode", style == "form"), make)
        for number in range(1, rng.randint(1, 4)):
            name = f"{rng.choice(NAMES)}{number}"
            properties[name], value[name] = self.scalar()
        encoding = {"encoding": {"f0": hints}} if hints else {}
        return {"schema": {"type": "object", "properties": properties}, **encoding}, value

    def multipart(self) -> tuple[Schema, object]:
        """A multipart form: a file, and fields of other kinds."""
        rng = self.rng
        binary: Schema = {"type": "string", "format": "binary"}
        if self.version.startswith("3.1") and rng.random() < 0.5:
            binary = {"contentMediaType": "application/octet-stream"}
        choices: list[tuple[Schema, Callable[[], object], str]] = [
            (binary, lambda: rng.randbytes(50) + bytes(range(256)), "file"),
            ({"type": "array", "items": binary}, lambda: [rng.randbytes(40), b"\r\n--\r\n", b""], "files"),
            (*self.fixed(self.json_object(1)), "object"),
            (*self.fixed(self.scalar()), "scalar"),
            (*self.fixed(self.styled("array", "form", 0)), "array"),
            (*self.fixed(({"type": "array", "items": {"type": "object"}}, [{"a": 1}, {"b": "é"}])), "objects"),
        ]
        properties, value, encoding = {}, {}, {}
        picks = rng.sample(choices, rng.randint(1, 3))
        for number, (schema, make, label) in enumerate(picks):
            name = f"{rng.choice([*NAMES, 'file', 'meta'])}{number}"
            properties[name], value[name] = schema, make()
            if rng.random() < 0.3:
                kind = {"file": "image/png, image/jpeg", "files": "text/csv", "object": "application/vnd.x+json"}
                if label in kind:
                    encoding[name] = {"contentType": kind[label]}
        media: Schema = {"schema": {"type": "object", "properties": properties}}
        media |= {"encoding": encoding} if encoding else {}
        return media, value

    @staticmethod
    def fixed(made: tuple[Schema, object]) -> tuple[Schema, Callable[[], object]]:
        return made[0], lambda: made[1]

    def xml(self) -> tuple[Schema, object]:
        """An object as XML; each property by another part of the object `xml`."""
        rng = self.rng
        string, number = {"type": "string"}, {"type": "integer"}
        texts = [text for text in [*ODD, *PLAIN, *LINES] if "\t" not in text and "\r" not in text]
        wrapped = {"type": "array", "items": {**string, "xml": {"name": "tag"}}, "xml": {"wrapped": True}}
        choices: dict[str, tuple[Schema, object]] = {
            "plain": (string, rng.choice(texts)),
            "renamed": ({**string, "xml": {"name": "otherName"}}, rng.choice(texts)),
            "id": ({**number, "xml": {"attribute": True}}, rng.randint(-9, 9)),
            "key": ({**string, "xml": {"attribute": True, "name": "the-key"}}, rng.choice(ODD[:-1])),
            "tags": (wrapped, [rng.choice(texts) for _ in range(rng.randint(0, 3))]),
            "items": ({"type": "array", "items": number}, [1] * rng.randint(0 if rng.random() < 0.1 else 1, 3)),
            "book": ({"type": "array", "items": {**string, "xml": {"name": "aBook"}}}, ["x", "y & z"]),
            "spaced": ({**string, "xml": {"namespace": "http://example.com/ns", "prefix": "ex"}}, rng.choice(texts)),
            "inner": ({"type": "object", "properties": {"on": {"type": "boolean"}}}, {"on": True}),
        }
        names = rng.sample(list(choices), rng.randint(1, 5))
        root: Schema = {"name": "thing"} | (
            {"namespace": "http://example.com/r", "prefix": "r"} if rng.random() < 0.3 else {}
        )
        schema = {"type": "object", "properties": {name: choices[name][0] for name in names}, "xml": root}
        return {"schema": schema}, {name: choices[name][1] for name in names}


_BODIES: list[tuple[str, Callable[[_Maker], tuple[Schema, object]]]] = [
    ("application/json", _Maker.json_body),
    ("application/json", _Maker.json_body),
    ("application/vnd.example.v1+json", _Maker.json_body),
    ("application/merge-patch+json", _Maker.merge_patch),
    ("application/json-patch+json", _Maker.json_patch),
    ("application/x-www-form-urlencoded", _Maker.form),
    ("application/x-www-form-urlencoded", _Maker.form),
    ("application/x-www-form-urlencoded", _Maker.form),
    ("multipart/form-data", _Maker.multipart),
    ("multipart/form-data", _Maker.multipart),
    ("multipart/form-data", _Maker.multipart),
    ("application/octet-stream", _Maker.binary),
    ("image/png", _Maker.binary),
    ("text/plain", _Maker.plain_text),
    ("application/xml", _Maker.xml),
    ("text/xml", _Maker.xml),
    ("application/x-ndjson", _Maker.lines),
    ("application/jsonl", _Maker.lines),
]

_BOTH = (False, True)
_STYLES: Mapping[str, list[tuple[str, str, bool]]] = {
    "path": [
        (kind, style, explode)
        for kind in ("scalar", "array", "object")
        for style in ("simple", "label", "matrix")
        for explode in _BOTH
    ],
    "query": [(kind, "form", explode) for kind in ("scalar", "array", "object") for explode in _BOTH]
    + [("array", style, explode) for style in ("spaceDelimited", "pipeDelimited") for explode in _BOTH]
    + [("object", "spaceDelimited", False), ("object", "pipeDelimited", False), ("object", "deepObject", True)] * 2,
    "header": [(kind, "simple", explode) for kind in ("scalar", "array", "object") for explode in _BOTH],
    "cookie": [
        ("scalar", "form", True),
        ("scalar", "form", False),
        ("array", "form", False),
        ("object", "form", False),
        ("array", "form", True),
        ("object", "form", True),
    ],
}
_ENCODINGS: list[tuple[str, Schema]] = [
    *((kind, {}) for kind in ("scalar", "array", "object")),
    *((kind, {"style": "form", "explode": explode}) for kind in ("array", "object") for explode in _BOTH),
    *(
        ("array", {"style": style, "explode": explode})
        for style in ("spaceDelimited", "pipeDelimited")
        for explode in _BOTH
    ),
    ("object", {"style": "deepObject", "explode": True}),
    ("object", {"contentType": "application/json"}),
]

_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|"}


def _risk(location: str, style: str, explode: bool, value: object) -> str:
    """Why the style may not be able to write the value so that it can be read; "" if it can."""
    texts = list(_texts(value))
    if isinstance(value, list | dict):
        if not value or _has_empty(value):
            return "an empty list or object"
        if isinstance(value, dict) and any(isinstance(item, list | dict) for item in value.values()):
            return "" if style == "deepObject" else "a value inside a value"
        separator = "." if style == "label" else _SEPARATORS.get(style, ",")
        unescaped = location in ("header", "cookie") or style in _SEPARATORS or (style == "label" and explode)
        joined = not explode or style in ("simple", "label")
        marks = separator + "=" * (explode and isinstance(value, dict))
        if joined and unescaped and any(mark in text for text in texts for mark in marks):
            return "a separator inside an item"
        if joined and texts == [""]:
            return "a list of one empty text"
        if location == "cookie" and explode:
            return "an exploded cookie"
    if location == "path" and (not all(texts) or {".", ".."} & set(texts)):
        return "an empty segment of a path"
    if style == "label" and texts[0].startswith(";"):
        return "a label that some services read as a step between folders"
    if location == "header" and any(
        text != text.strip() or not text.isascii() or not text.isprintable() for text in texts
    ):
        return "a header that is not plain ASCII"
    if location == "cookie" and not all(texts):
        return "an empty cookie"
    if location == "header" and not all(texts):
        return "an empty header"
    return ""


def _texts(value: object) -> list[str]:
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *_texts(item))]
    return [str(value)]


def _has_empty(value: object) -> bool:
    if isinstance(value, dict):
        return not value or any(_has_empty(item) for item in value.values())
    return value == []
