"""A document that is written to hold up whoever reads it ends in a message; its calls are checked in time."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from protocols import Protocol, load
from protocols.calls.binding import bind
from protocols.errors import ProtocolError, ToolError
from tests.local_api import LocalAPI
from tests.protocols.documents.samples import document, sent_json

YAML = (
    "openapi: 3.0.3\ninfo: {title: t, version: '1'}\nservers: [{url: 'http://h.example'}]\n"
    "paths: {/a: {get: {responses: {'200': {description: x}}}}}\n"
)


def written(place: Path, text: str | dict[str, Any]) -> Path:
    place.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
    return place


def laughs(value: str, again: str) -> str:
    return YAML + f"x-0: &a0 {value}\n" + "".join(f"x-{n}: &a{n} {again.format(n - 1)}\n" for n in range(1, 30))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (laughs("[x, x]", "[*a{0}, *a{0}]"), "aliases stand for more than"),
        (laughs("{a: 1}", "{{<<: [*a{0}, *a{0}]}}"), "more than 50000 keys"),
        (YAML + "x-0: &a [*a]\n", "stands for what it is in"),
        (YAML.replace("{description: x}", "&r {description: x, content: {a/b: {schema: {not: *r}}}}"), "it is in"),
        (YAML + "x-0: " + "[" * 5000 + "]" * 5000, "recursion depth"),
        (json.dumps(document())[:-1] + ', "x-0": ' + "1" * 5000 + "}", "digits"),
        (json.dumps(document())[:-1] + ', "x-0": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        (json.dumps(document(body=0)).replace(": 0", ": " + '{"not":' * 300 + "{}" + "}" * 300), "nested too deeply"),
    ],
    ids=["laughs", "merges", "cycle", "schema in itself", "deep YAML", "long number", "deep JSON", "deep schema"],
)
def test_what_cannot_be_written_out_is_no_document(tmp_path: Path, text: str, message: str) -> None:
    """Aliases of aliases, cycles, absurd depth and numbers: one message, soon."""
    with pytest.raises(ProtocolError, match=message):
        load(written(tmp_path / "a.yaml", text))


@pytest.mark.parametrize(
    "hostile",
    [
        document(parameters=[{"name": f"p{n}", "in": "query", "schema": {"type": "string"}} for n in range(3000)]),
        {**document(), "tags": [{"name": f"t{n}"} for n in range(4000)]},
        document(body={"type": "object", "required": [[n] if n % 2 else {"a": n} for n in range(4000)]}),
    ],
    ids=["parameters", "tags", "required"],
)
def test_long_lists_are_compared_in_linear_work(tmp_path: Path, hostile: dict[str, Any]) -> None:
    """The rules of OpenAPI ask that no two items are the same."""
    try:
        load(written(tmp_path / "a.json", hostile))
    except ProtocolError as error:
        assert "no operation in it can be used" in str(error)


@pytest.mark.parametrize("kind", ["endless", "waiting", "folder"])
def test_a_reference_leads_to_files_only(tmp_path: Path, kind: str) -> None:
    """No device that gives data without end, no pipe that nobody writes to."""
    place = {"endless": Path("/dev/zero"), "waiting": tmp_path / "pipe", "folder": tmp_path}[kind]
    if kind == "waiting":
        os.mkfifo(place)

    with pytest.raises(ProtocolError, match="may point to files only"):
        load(written(tmp_path / "a.json", document(requestBody={"$ref": place.as_uri()})))


def test_a_document_from_the_web_points_to_no_file() -> None:
    with LocalAPI() as api:
        api.answer("GET", "/a.json", document(requestBody={"$ref": "file:///etc/passwd"}))

        with pytest.raises(ProtocolError, match="may not point to a local file"):
            load(f"{api.url}/a.json")


def test_few_further_documents_are_read() -> None:
    """Each is asked for once, however often it is pointed to and whether or not it is there."""
    with LocalAPI() as api:
        examples = {f"e{n}": {"$ref": f"{api.url}/{n % 300}"} for n in range(600)}
        content = {"application/json": {"examples": examples}}
        api.answer("GET", "/a.json", document(responses={"200": {"description": "Good.", "content": content}}))

        load(f"{api.url}/a.json")

        assert len(api.requests) <= 201


NUMBERS = [[number] for number in range(10_000)]


def chain(kind: str) -> Protocol:
    """A schema that leads to one and the same part along a million ways."""
    schemas: dict[str, Any] = {
        f"S{n}": {kind: [{"$ref": f"#/components/schemas/S{n + 1}"}] * 2, "minProperties": 1} for n in range(20)
    }
    schemas["S20"] = {"type": "object", "required": ["q"], "properties": {"q": {"type": "integer"}}}
    body = {"type": "object", "minProperties": 1, "properties": {"v": {"$ref": "#/components/schemas/S0"}}}
    return load(document(body=body, schemas=schemas, place="post /a"))


def of_value(schema: dict[str, Any], **more: Any) -> Protocol:
    """A body with a value of a schema; `minProperties` has it checked as a whole."""
    return load(document(body={"minProperties": 1, "properties": {"v": schema}, **more}, place="post /a"))


@pytest.mark.parametrize(
    ("protocol", "value"),
    [
        (lambda: chain("anyOf"), {"v": {"q": "x"}}),
        (lambda: chain("oneOf"), {"v": {"q": 1}}),
        (
            lambda: of_value({"type": "array", "uniqueItems": True}),
            {"v": [[n] if n % 2 else {"a": n} for n in range(40_000)]},
        ),
        (lambda: of_value({"items": {"not": {"enum": NUMBERS}}}), {"v": [[-1]] * 10_000}),
        (lambda: of_value({"pattern": "^a*1*a*b$", "not": {}}), {"v": "a" * 2000}),
        (lambda: of_value({}, patternProperties={"a*a*b": {}}), {"a" * 50_000: 1}),
        (lambda: of_value({"type": "integer"}), {"v": "1" * 5000}),
    ],
    ids=["anyOf", "oneOf that fits", "unique", "enum", "pattern", "names", "number"],
)
def test_an_argument_is_checked_in_time(protocol: Any, value: object) -> None:
    """Where it takes too many steps, the service says what it makes of the value."""
    tools = protocol()
    try:
        bind(tools.tool("POST_a"), (), {"body": value}, tools.definitions)
    except ToolError as error:
        assert len(str(error)) < 10_000


def test_an_ordinary_schema_is_still_held_against_values() -> None:
    """Counting steps changes nothing for a value of a sane size."""
    items = {"type": "array", "uniqueItems": True, "items": {"anyOf": [{"type": "integer"}, {"const": "x"}]}}
    tool = of_value(items, type="object").tool("POST_a")

    assert sent_json(bind(tool, (), {"v": [1, "x"]})) == {"v": [1, "x"]}
    mistakes: list[object] = [[1, 1], [{}], [1, "y"]]
    for wrong in mistakes:
        with pytest.raises(ToolError):
            bind(tool, (), {"v": wrong})
