"""Documents of every dialect become protocols: references, parameters, bodies, sign-ins, names."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from protocols import ToolError, load
from protocols.calls.binding import bind
from protocols.calls.call_errors import signature
from protocols.naming import argument_name, fold, tool_name
from tests.protocols.documents.samples import INFO, answer_schema, document, properties, sent_json


@pytest.mark.parametrize(("name", "count"), [("tmdb", 54), ("spotify", 40)])
def test_real_documents_keep_all_their_tools_under_the_papers_names(data: Path, name: str, count: int) -> None:
    """Every gold path of RestBench names a tool, and nothing is left out."""
    protocol = load(data / "restbench" / f"{name}_oas.json")

    gold = {
        line for task in json.loads((data / "restbench" / f"{name}.dev.json").read_text()) for line in task["solution"]
    }
    documented_names = {tool_name(tool.method, tool.path) for tool in protocol.tools}

    assert len(protocol.tools) == count
    assert documented_names == {tool.name for tool in protocol.tools}
    assert {tool_name(*line.split()) for line in gold} - documented_names <= {
        "GET_track_id"
    }  # the benchmark's own slip
    assert not [warning for warning in protocol.warnings if "left out" in warning]


def test_alternatives_are_written_short_only_where_they_mean_the_same() -> None:
    alternatives: dict[str, Any] = {
        "number": {"anyOf": [{"type": "integer"}, {"type": "number"}]},
        "word": {"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]},
        "maybe": {"anyOf": [{"$ref": "#/components/schemas/Thing"}, {"type": "null"}], "description": "d"},
        "either": {"oneOf": [{"type": "object", "required": ["x"]}, {"type": "object", "required": ["y"]}]},
    }
    object_schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    protocol = load(document({"type": "object", "properties": alternatives}, schemas={"Thing": object_schema}))

    by_name = properties(answer_schema(protocol.tools[0]))
    assert by_name["number"] == {"type": "number"}
    assert by_name["word"] == {"enum": ["a", "b"]}
    assert by_name["maybe"] == {**object_schema, "type": ["object", "null"], "description": "d"}
    assert by_name["either"] == {"anyOf": alternatives["either"]["oneOf"]}


def test_a_body_of_several_shapes_gives_all_their_properties_as_arguments() -> None:
    """Required is what every shape requires; a mixture that fits none of them is refused."""
    card = {"type": "object", "required": ["amount", "card"], "properties": {"card": {"type": "string"}}}
    cash = {"type": "object", "required": ["amount", "coins"], "properties": {"coins": {"type": "boolean"}}}
    schema = {"properties": {"amount": {"type": "number"}}, "oneOf": [card, cash]}
    pay = load(document(body=schema, place="post /pay")).tools[0]

    assert signature(pay) == "POST_pay(amount, card=None, coins=None)"
    assert sent_json(bind(pay, (), {"amount": 3, "coins": "true"})) == {"amount": 3, "coins": True}
    with pytest.raises(ToolError, match="the body is not what the schema asks for"):
        bind(pay, (), {"amount": 3})


def test_what_stands_beside_a_reference_counts_too() -> None:
    """`$ref`, `allOf` and properties together are one object; the example of a part is no example of the whole."""
    base = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}, "example": {"id": 1}}
    closed = {"type": "object", "additionalProperties": False, "properties": {"tag": {"type": "string"}}}
    schema = {
        "$ref": "#/components/schemas/Base",
        "allOf": [{"$ref": "#/components/schemas/Closed"}],
        "properties": {"id": {"minimum": 1}, "name": {"type": "string"}},
        "required": ["name"],
        "examples": [{"id": 1, "name": "a"}],
    }
    described = document(schema, schemas={"Base": base, "Closed": closed})

    assert answer_schema(load(described).tools[0]) == {
        "type": "object",
        "properties": {"id": {"type": "integer", "minimum": 1}, "tag": {"type": "string"}, "name": {"type": "string"}},
        "required": ["id", "name"],
        "examples": [{"id": 1, "name": "a"}],
    }


def test_examples_may_be_kept_elsewhere() -> None:
    described = document({"type": "object", "properties": {"n": {"type": "integer", "minimum": "1"}}})
    media = described["paths"]["/a"]["get"]["responses"]["200"]["content"]["application/json"]
    media["examples"] = {name: {"$ref": f"#/components/examples/{name}"} for name in ("One", "Gone")}
    described["components"]["examples"] = {"One": {"value": {"n": "7"}}}
    before = copy.deepcopy(described)

    success = load(described).tools[0].success

    assert success is not None
    assert success.examples == ({"n": 7},), "a document that writes numbers as strings does so in examples too"
    assert described == before


def test_a_newer_document_is_read_as_far_as_its_older_form_goes() -> None:
    answer = {"responses": {"200": {"description": ""}}}
    new = {"get": answer, "query": answer, "additionalOperations": {"COPY": answer}}

    protocol = load({"openapi": "3.2.0", "info": INFO, "paths": {"/a": new}})

    assert [tool.name for tool in protocol.tools] == ["GET_a"]
    assert protocol.warnings[0] == "OpenAPI 3.2 is read as far as 3.1 goes"
    reasons = [(operation.title, operation.reason) for operation in protocol.left_out]
    assert reasons == [
        ("QUERY /a (QUERY_a)", "calls with the method QUERY are not supported"),
        ("COPY /a (COPY_a)", "calls with the method COPY are not supported"),
    ]


def test_an_operation_that_stands_twice_is_one_tool() -> None:
    described = document()
    described["paths"]["a"] = described["paths"]["/a"]

    protocol = load(described)

    assert [tool.name for tool in protocol.tools] == ["GET_a"]
    assert [operation.reason for operation in protocol.left_out] == ["the document has GET /a twice"]


def test_many_schemas_that_lead_to_one_another_stay_readable() -> None:
    """Reading does not nest as deep as the document does, and values are still checked all the way down."""
    count = 300
    schemas = {
        f"S{index}": {
            "type": "object",
            "required": ["v"],
            "properties": {"v": {"type": "integer"}, "next": {"$ref": f"#/components/schemas/S{(index + 1) % count}"}},
        }
        for index in range(count)
    }
    protocol = load(document({"$ref": "#/components/schemas/S0"}, schemas=schemas))

    validator = Draft202012Validator(dict(protocol.standalone(answer_schema(protocol.tools[0]))))
    for bottom, valid in ((1, True), ("one", False)):
        value: dict[str, object] = {"v": bottom}
        for _ in range(60):
            value = {"v": 1, "next": value}
        assert validator.is_valid(value) is valid


def test_names_fold_as_the_papers_write_them() -> None:
    assert tool_name("get", "/search/person") == "GET_search_person"
    assert tool_name("GET", "/person/{person_id}/movie_credits") == "GET_person_person_id_movie_credits"
    assert tool_name("post", "/me/player/queue") == "POST_me_player_queue"
    assert tool_name("get", "/") == "GET"
    assert argument_name("vote_average.gte") == "vote_average_gte"
    assert argument_name("class") == "class_"
    assert argument_name("X-RapidAPI-Host") == "X_RapidAPI_Host"
    assert argument_name("_links") == "links"
    assert argument_name("2fa") == "n2fa"
    assert fold("größe²·日本") == "größe2_日本"
    for odd in ("x²", "a\u2028b", "ﬁ-le", "", "$", "e\u0301"):
        assert argument_name(odd).isidentifier()
