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
from protocols.calls.binding import bind, signature
from protocols.documents import openapi
from protocols.documents.source import DocumentSet, parse
from protocols.documents.spec_fixes import repair
from tests.protocols.documents.samples import INFO, SAMPLES, answer_schema, properties


def example_agreement(document: dict[str, object]) -> tuple[int, int]:
    """The number of 2xx response examples that match their schema, and of all."""
    protocol = openapi.protocol(document, DocumentSet(document, ""), "")
    valid = [
        Draft202012Validator(dict(protocol.standalone(response.schema))).is_valid(example)
        for tool in protocol.tools
        for response in tool.responses
        if response.schema is not None and response.status.startswith("2")
        for example in response.examples
    ]
    return sum(valid), len(valid)


def test_repair_makes_every_example_of_the_movie_document_agree_with_its_schema(data: Path) -> None:
    raw = json.loads((data / "restbench" / "tmdb_oas.json").read_text())

    repaired, warnings = repair(raw)

    assert example_agreement(raw) == (50, 54)
    assert example_agreement(repaired) == (54, 54)
    assert any("4 `oneOf`" in warning for warning in warnings)
    assert any("1 empty property names" in warning for warning in warnings)
    trending = properties(answer_schema(load(raw).tool("GET_trending_media_type_time_window")))
    assert list(trending) == ["page", "results", "total_pages", "total_results"]


def test_strings_that_stand_for_numbers_and_switches_are_one_counted_warning(data: Path) -> None:
    protocol = load(data / "restbench" / "spotify_oas.json")

    search = protocol.tool("GET_search")
    limit, kinds = search.argument("limit"), search.argument("type")
    assert limit is not None
    assert kinds is not None
    assert (limit.schema["maximum"], limit.schema["default"], limit.required) == (50, 20, False)
    assert (kinds.explode, kinds.required) == (False, True)
    assert len([warning for warning in protocol.warnings if "written as strings" in warning]) == 1
    playlist = protocol.tool("POST_users_user_id_playlists").body
    assert playlist is not None
    assert playlist.example == {"name": "New Playlist", "description": "New playlist description", "public": False}


def test_known_defects_are_repaired_and_counted_and_what_cannot_be_called_is_left_out() -> None:
    protocol = load(SAMPLES / "broken.json")

    assert [signature(tool) for tool in protocol.tools] == [
        "GET_soups_id(id, size, hot=None, salt=None)",
        "POST_salads(body=None)",
        "PUT_salads(leaf=None)",
        "DELETE_salads()",
    ]
    warnings = "\n".join(protocol.warnings)
    for kind in (
        "6 booleans or numbers written as strings",
        "2 types in another spelling",
        "2 `oneOf` with overlapping primitive types",
        "1 empty property names",
        "1 keys beside a `$ref`",
        "1 path parameters that are not declared",
        "1 defaults that their own schema forbids",
        "#/components/schemas/Nowhere points to nothing, and was read as any value",
        "`type: leafy` is not valid in a schema and was ignored",
    ):
        assert warnings.count(kind) == 1, kind
    file = SAMPLES / "broken.json"
    assert f"left out {file}#/paths/~1salads/get: parameter 'leaf': `in` must be" in warnings
    soup = answer_schema(protocol.tool("GET_soups_id"))
    assert properties(soup)["bowl"]["description"] == "What is in it"
    assert properties(soup)["weight"] == {"type": ["number", "null"]}
    assert soup["required"] == ["notes"]
    salt = protocol.tool("GET_soups_id").argument("salt")
    assert salt is not None
    assert salt.schema["type"] == "number"


def test_repair_leaves_a_sound_document_and_its_caller_alone() -> None:
    """A dict is not changed, and what is called `required` or `type` as a property is no keyword."""
    schema = {
        "type": "object",
        "properties": {"required": {"type": "string", "example": "true"}, "type": {"type": "string"}},
    }
    content = {"application/json": {"schema": schema, "example": {"required": "true", "type": "5"}}}
    document = {
        "openapi": "3.0.3",
        "info": INFO,
        "paths": {"/a": {"get": {"responses": {"200": {"description": "", "content": content}}}}},
    }
    before = copy.deepcopy(document)

    protocol = load(document)

    assert document == before
    assert protocol.warnings == ()
    assert protocol.tools[0].success is not None
    assert protocol.tools[0].success.examples == ({"required": "true", "type": "5"},)


def test_newer_keywords_in_an_older_document_mean_what_they_say() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"]},
            "b": {"type": ["string", "integer"]},
            "c": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}]},
            "title": {"type": "integer", "minimum": "1"},
        },
    }
    answer = {"description": "", "headers": {"X-A": {}}, "content": {"application/json": {"schema": schema}}}
    paths = {"/a": {"get": {"parameters": [{"name": "q", "in": "query"}], "responses": {"200": answer}}}}

    protocol = load({"openapi": "3.0.3", "info": INFO, "paths": paths})

    assert properties(answer_schema(protocol.tools[0])) == {
        "a": {"type": ["string", "null"]},
        "b": {"type": ["string", "integer"]},
        "c": {"type": ["number", "null"], "exclusiveMinimum": 0},
        "title": {"type": "integer", "minimum": 1},
    }
    assert protocol.tools[0].arguments[0].schema == {"type": "string"}
    assert sorted(warning.split(maxsplit=2)[1] for warning in protocol.warnings) == ["1", "2", "4"]


def test_a_wrong_keyword_is_ignored_even_in_a_property_called_title() -> None:
    content = {"application/json": {"schema": {"properties": {"title": {"type": "integer", "minimum": "low"}}}}}
    answer = {"200": {"description": "", "content": content}}
    paths = {"/a": {"get": {"responses": answer}, "put": {"summary": 7, "responses": {"200": {"description": ""}}}}}

    protocol = load({"openapi": "3.0.3", "info": INFO, "paths": paths})

    assert [tool.name for tool in protocol.tools] == ["GET_a", "PUT_a"]
    assert properties(answer_schema(protocol.tools[0])) == {"title": {"type": "integer"}}
    assert protocol.warnings == ("`minimum: low` is not valid in a schema and was ignored",)


def test_a_response_that_cannot_be_used_does_not_cost_its_operation() -> None:
    deep: dict[str, object] = {}
    for _ in range(300):
        deep = {"not": deep}
    responses = {
        "200": {"$ref": "#/components/responses/Nowhere"},
        "404": {"description": "", "content": {"application/json": {"schema": deep}}},
        "500": {"description": "Broken"},
    }
    protocol = load({"openapi": "3.0.3", "info": INFO, "paths": {"/a": {"get": {"responses": responses}}}})

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
    document = parse((SAMPLES / sample).read_bytes(), sample)
    dice = random.Random(0)
    for _ in range(400):
        broken = changed(document, dice)
        try:
            protocol = load(broken) if isinstance(broken, dict) else None
        except ProtocolError:
            continue
        for tool in protocol.tools if protocol else ():
            for schema in (*(p.schema for p in tool.parameters), *(r.schema for r in tool.responses if r.schema)):
                Draft202012Validator.check_schema(schema)


def test_a_word_beside_a_date_format_is_not_its_only_value() -> None:
    """`now`, and any date: no value could be both."""
    when = {"type": "string", "format": "date-time", "enum": ["now"]}
    fixed = {"type": "string", "format": "date", "enum": ["2024-06-01", "2024-07-01"]}
    parameters = [{"name": name, "in": "query", "schema": schema} for name, schema in (("a", when), ("b", fixed))]
    paths = {"/a": {"get": {"parameters": parameters, "responses": {"200": {"description": ""}}}}}

    tool = load({"openapi": "3.0.3", "info": INFO, "paths": paths}).tools[0]

    assert "enum" not in tool.arguments[0].schema
    assert tool.arguments[1].schema["enum"] == fixed["enum"]
    assert bind(tool, (), {"a": "2026-12-05T08:00:00Z"}).query == (("a", "2026-12-05T08:00:00Z"),)


def test_a_parameter_with_a_type_of_its_own_gets_a_schema() -> None:
    parameters = [{"name": "n", "in": "query", "type": "integer", "maximum": 5}]
    paths = {"/a": {"get": {"parameters": parameters, "responses": {"200": {"description": ""}}}}}

    protocol = load({"openapi": "3.0.3", "info": INFO, "paths": paths})

    assert protocol.tools[0].arguments[0].schema == {"type": "integer", "maximum": 5}
    assert protocol.warnings == (
        "repaired 1 parameters with a type and no schema, first at #/paths/~1a/get/parameters/0",
    )


def test_values_listed_beside_an_array_are_those_of_its_items() -> None:
    """Where none of them is an array itself: else no list of them could be given."""
    schema = {"type": "array", "enum": ["near", "far"], "items": {"type": "string"}}
    pairs = {"type": "array", "enum": [["near"], ["near", "far"]], "items": {"type": "string"}}
    parameters = [{"name": name, "in": "query", "schema": held} for name, held in (("ways", schema), ("both", pairs))]
    document = {
        "openapi": "3.0.3",
        "info": {"title": "t", "version": "1"},
        "paths": {"/a": {"get": {"parameters": parameters, "responses": {"200": {"description": "OK"}}}}},
    }

    protocol = load(document)
    directions, mixed = protocol.tools[0].arguments

    assert directions.schema == {"type": "array", "items": {"type": "string", "enum": ["near", "far"]}}
    assert mixed.schema == pairs
    assert protocol.warnings == (
        "repaired 1 `enum` of an array whose values are no arrays (moved to its items), "
        "first at #/paths/~1a/get/parameters/0/schema",
    )


def test_a_keyword_that_json_schema_forbids_is_ignored_in_3_1_and_in_other_files(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("minimum: lots")
    answer = {"responses": {"200": {"description": ""}}}
    paths = {
        "/inner": {"get": {"parameters": [{"name": "x", "in": "query", "schema": {"minLength": {}}}], **answer}},
        "/outer": {"get": {"parameters": [{"name": "x", "in": "query", "schema": {"$ref": "other.yaml"}}], **answer}},
    }
    (tmp_path / "api.json").write_text(json.dumps({"openapi": "3.1.0", "info": INFO, "paths": paths}))

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
    parameter = {"name": "state", "in": "query", "schema": {"type": "string"}, "description": description}
    paths = {"/it": {"get": {"parameters": [parameter], "responses": {}}}}

    protocol = load({"openapi": "3.0.3", "info": {"title": "It", "version": "1"}, "paths": paths})

    assert protocol.tools[0].arguments[0].schema.get("enum") == values
    assert any("from its description" in warning for warning in protocol.warnings) == (values is not None)


def test_an_example_that_is_none_of_the_listed_values_tells_that_there_are_others() -> None:
    schema = {"type": "string", "example": "three"}
    parameter = {"name": "state", "in": "query", "schema": schema, "description": "`one` or `two`"}
    paths = {"/it": {"get": {"parameters": [parameter], "responses": {}}}}

    [argument] = load({"openapi": "3.0.3", "info": {"title": "It", "version": "1"}, "paths": paths}).tools[0].arguments

    assert "enum" not in argument.schema
