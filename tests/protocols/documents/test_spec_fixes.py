"""What is wrong with a document is repaired, left out, or said in one line."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from protocols import ProtocolError, load
from protocols.documents.source import parse
from tests.protocols.documents.samples import SAMPLES, answer_schema, document, properties, query


def test_every_example_of_the_movie_document_agrees_with_its_schema(data: Path) -> None:
    """Also that of a list whose property has no name."""
    protocol = load(data / "restbench" / "tmdb_oas.json")

    answers = [r for tool in protocol.tools for r in tool.responses if r.schema is not None and r.status[0] == "2"]
    judged = [
        Draft202012Validator(dict(protocol.standalone(answer.schema or {}))).is_valid(example)
        for answer in answers
        for example in answer.examples
    ]
    trending = properties(answer_schema(protocol.tool("GET_trending_media_type_time_window")))
    assert (sum(judged), len(judged)) == (54, 54)
    assert list(trending) == ["page", "results", "total_pages", "total_results"]


def test_repair_leaves_a_sound_document_and_its_caller_alone() -> None:
    """A dict is not changed, and what is called `required` or `type` as a property is no keyword."""
    schema = {
        "type": "object",
        "properties": {"required": {"type": "string", "example": "true"}, "type": {"type": "string"}},
    }
    source = document({**schema, "example": {"required": "true", "type": "5"}})
    before = copy.deepcopy(source)

    protocol = load(source)

    assert source == before
    assert protocol.warnings == ()
    assert protocol.tools[0].success is not None
    assert protocol.tools[0].success.examples == ({"required": "true", "type": "5"},)


def test_the_content_of_a_response_may_stand_elsewhere() -> None:
    """All of it, or that of one media type. A reference to nothing leaves an operation without that schema."""
    source = document({"type": "integer"}, body={"type": "integer"})
    (path,) = source["paths"].values()
    elsewhere = {"$ref": "#/components/whole"}
    for place, schema in (
        (elsewhere, {"type": "integer"}),
        ({"application/json": {"$ref": "#/components/whole/application~1json"}}, {"type": "integer"}),
        ({"application/json": {"$ref": "#/components/nowhere"}}, {}),
        (
            {"application/json": {"$ref": "#/components/whole/application~1json"}, "$ref": "#/nowhere"},
            {"type": "integer"},
        ),
    ):
        path["get"]["responses"]["200"]["content"] = path["get"]["requestBody"]["content"] = place
        source["components"] = {"whole": {"application/json": {"schema": {"type": "integer"}}}}

        (tool,) = load(source).tools

        assert tool.success is not None
        assert tool.body is not None
        assert (tool.success.media_type, tool.success.schema) == ("application/json", schema)
        assert tool.body.schema == schema


def test_keywords_of_either_version_mean_what_they_say() -> None:
    """Whatever the version of the document; alternatives exclude nothing, and a wrong keyword is ignored."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"]},
            "b": {"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "number"}]},
            "c": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}]},
            "d": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "nullable": "true"},
            "e": {"type": "string", "enum": ["x"], "nullable": True},
            "title": {"type": "integer", "minimum": "1", "maximum": "high"},
        },
    }
    protocol = load(document(schema, parameters=[{"name": "q", "in": "query"}], summary=7))

    assert properties(answer_schema(protocol.tools[0])) == {
        "a": {"type": ["string", "null"]},
        "b": {"type": ["string", "number"]},
        "c": {"type": ["number", "null"], "exclusiveMinimum": 0},
        "d": {"type": ["number", "null"], "exclusiveMinimum": 0},
        "e": {"type": ["string", "null"], "enum": ["x", None]},
        "title": {"type": "integer", "minimum": 1},
    }
    assert protocol.tools[0].arguments[0].schema == {"type": "string"}
    assert protocol.warnings == (
        "repaired a boolean or number written as a string (2 times)",
        "`maximum: high` is not valid in a schema and was ignored",
    )


def test_a_response_that_cannot_be_used_does_not_cost_its_operation() -> None:
    deep: dict[str, object] = {}
    for _ in range(300):
        deep = {"not": deep}
    responses = {
        "200": {"$ref": "#/components/responses/Nowhere"},
        "404": {"description": "", "content": {"application/json": {"schema": deep}}},
        "500": {"description": "Broken"},
    }
    protocol = load(document(responses=responses))

    assert [response.status for response in protocol.tools[0].responses] == ["500"]
    assert protocol.warnings == (
        "the response 200 of an operation cannot be used: #/components/responses/Nowhere points to nothing",
        "the response 404 of an operation cannot be used: its schemas are nested too deeply",
    )


WRONG_VALUES: tuple[object, ...] = (
    None,
    True,
    -1,
    1.5,
    "",
    "x",
    [],
    [[]],
    ["a", "a"],
    [None],
    {},
    {"a": 1},
    {"$ref": "#/nowhere"},
    {"": {}},
)


def changed(value: Any, dice: random.Random) -> Any:
    """A copy with one value, at any depth, replaced by a wrong one."""
    if isinstance(value, dict | list) and value and dice.random() < 0.9:
        copied = copy.copy(value)
        key = dice.choice(list(copied)) if isinstance(copied, dict) else dice.randrange(len(copied))
        copied[key] = changed(copied[key], dice)
        return copied
    return dice.choice(WRONG_VALUES)


@pytest.mark.parametrize("sample", ["library.yaml", "broken.json", "harbour.swagger.json", "tram.tools.json"])
def test_a_document_with_any_value_wrong_is_read_or_refused(sample: str) -> None:
    """Whatever can be read gives valid schemas; all else is one message."""
    content = parse((SAMPLES / sample).read_bytes(), sample)
    dice = random.Random(0)
    checked: set[str] = set()
    for _ in range(200):
        broken = changed(content, dice)
        try:
            protocol = load(broken) if isinstance(broken, dict) else None
        except ProtocolError:
            continue
        for tool in protocol.tools if protocol else ():
            for schema in (*(p.schema for p in tool.parameters), *(r.schema for r in tool.responses if r.schema)):
                if (text := json.dumps(schema)) not in checked:
                    Draft202012Validator.check_schema(schema)
                    checked.add(text)


@pytest.mark.parametrize(
    ("parameter", "schema", "warning"),
    [
        (
            {"schema": {"type": "string", "format": "date-time", "enum": ["now"]}},
            {"type": "string", "format": "date-time"},
            "dropped an `enum` beside a date format that none of its values has",
        ),
        ({"schema": {"type": "string", "format": "date", "enum": ["2024-06-01", "now"]}}, ..., ""),
        ({"type": "integer", "maximum": 5}, {"type": "integer", "maximum": 5}, "a parameter with a type and no schema"),
        (
            {"schema": {"type": "array", "enum": ["near", "far"], "items": {"type": "string"}}},
            {"type": "array", "items": {"type": "string", "enum": ["near", "far"]}},
            "repaired an `enum` of an array whose values are no arrays: it was moved to the items",
        ),
        ({"schema": {"type": "array", "enum": [["near"], ["near", "far"]], "items": {"type": "string"}}}, ..., ""),
    ],
)
def test_a_keyword_that_no_value_could_meet_is_repaired(parameter: dict[str, Any], schema: Any, warning: str) -> None:
    protocol = load(document(parameters=[{"name": "n", "in": "query", **parameter}]))

    assert protocol.tools[0].arguments[0].schema == (parameter["schema"] if schema is ... else schema)
    assert len(protocol.warnings) == bool(warning)
    assert warning in "".join(protocol.warnings)


def test_a_keyword_that_json_schema_forbids_is_ignored_in_other_files_too(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("minimum: lots")
    described = document(**query("x", {"minLength": {}}))
    described["paths"]["/outer"] = document(**query("x", {"$ref": "other.yaml"}))["paths"]["/a"]
    (tmp_path / "api.json").write_text(json.dumps(described))

    protocol = load(tmp_path / "api.json")

    assert [tool.arguments[0].schema for tool in protocol.tools] == [{}, {}]
    assert [warning.partition(" is ")[0] for warning in protocol.warnings] == ["`minLength: {}`", "`minimum: lots`"]


@pytest.mark.parametrize(
    ("description", "values"),
    [
        ("**track**, **context** or **off**.<br/> **track** repeats it.", ["track", "context", "off"]),
        ("One of: `asc`, `desc`", ["asc", "desc"]),
        ("Over what time. Valid values: `long` (years), `short` (weeks). Default: `long`", ["long", "short"]),
        ("How to sort. Allowed values are 'up' and 'down'.", ["up", "down"]),
        ("A comma-separated list. Valid values are `album` and `single`.", None),
        ('What to eat with it: a dish ("steak") or an ingredient ("salmon").', None),
        ("The `id` of the film, such as `tt1` or `tt2`.", None),
        ("`AND` and `OR` join several.", None),
    ],
)
def test_values_that_only_a_description_lists_are_all_that_is_taken(description: str, values: list[str] | None) -> None:
    parameter = query("state", {"type": "string"}, description=description)
    protocol = load(document(**parameter))

    assert protocol.tools[0].arguments[0].schema.get("enum") == values
    assert any("from its description" in warning for warning in protocol.warnings) == (values is not None)


def test_an_example_that_is_none_of_the_listed_values_tells_that_there_are_others() -> None:
    parameter = query("state", {"type": "string", "example": "three"}, description="`one` or `two`")

    assert "enum" not in load(document(**parameter)).tools[0].arguments[0].schema
