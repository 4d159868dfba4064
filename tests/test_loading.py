"""Documents of every dialect become protocols; what is wrong with them is repaired, left out, or said in one line."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from protocols import Protocol, ProtocolError, Tool, ToolError, load
from protocols.calls.binding import bind, signature
from protocols.documents import openapi
from protocols.documents.source import DocumentSet, parse
from protocols.documents.spec_fixes import repair
from protocols.naming import argument_name, fold, tool_name, unique

SAMPLES = Path(__file__).parent / "samples"
INFO = {"title": "t", "version": "1"}


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATC_HOME", str(tmp_path_factory.getbasetemp() / "atc-home"))


def answer_schema(tool: Tool) -> dict[str, object]:
    assert tool.success is not None
    assert tool.success.schema is not None
    return dict(tool.success.schema)


def properties(schema: object) -> dict[str, dict[str, object]]:
    assert isinstance(schema, dict)
    by_name = schema["properties"]
    assert isinstance(by_name, dict)
    return by_name


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


def test_yaml_of_openapi_3_1_with_relative_and_cyclic_references() -> None:
    protocol = load(SAMPLES / "library.yaml")

    assert protocol.title == "Town library"
    assert protocol.version == "2024-06-01", "a date in YAML stays text"
    assert [server.url for server in protocol.servers] == ["https://oslo.library.example:8443/v2"]
    assert [tool.name for tool in protocol.tools] == [
        "GET_books",
        "POST_books",
        "GET_books_bookId",
        "PUT_books_bookId_cover_format",
        "POST_loans",
        "PUT_notes",
        "POST_notes",
        "GET_shelves_shelf",
    ]
    shelf = answer_schema(protocol.tool("GET_shelves_shelf"))
    assert properties(shelf)["above"] == {"$ref": "#/$defs/Shelf"}
    assert set(protocol.definitions) == {"Book", "Shelf"}
    missing = protocol.tool("GET_books_bookId").responses[1]
    assert (missing.status, missing.description) == ("404", "Nothing of that kind")


def test_a_schema_that_contains_itself_can_be_validated_with_the_definitions() -> None:
    protocol = load(SAMPLES / "library.yaml")
    book = protocol.tool("GET_books_bookId")

    validator = Draft202012Validator(dict(protocol.standalone(answer_schema(book))))

    good = {"id": "1", "title": "Sult", "author": {"name": "Hamsun", "wrote": [{"id": "1", "title": "Sult"}]}}
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "author": {"wrote": [{"id": "1"}]}}), "the inner book has no title"


def test_parts_of_all_of_are_one_object_and_shared_wherever_they_are_used() -> None:
    protocol = load(SAMPLES / "library.yaml")

    book = answer_schema(protocol.tool("GET_books_bookId"))
    assert book["required"] == ["id", "title"]
    assert list(properties(book)) == ["id", "added", "title", "author", "sequel", "rating"]
    assert "allOf" not in book
    assert properties(book)["author"]["description"] == "Who wrote it", "a key beside a $ref wins"
    assert answer_schema(protocol.tool("GET_books"))["items"] is protocol.definitions["Book"]


def test_an_operations_parameters_override_those_of_its_path_and_follow_signature_order() -> None:
    books = load(SAMPLES / "library.yaml").tool("GET_books")

    assert signature(books) == (
        "GET_books(q, page=None, publishedAfter=None, genre=None, tag=None, area=None, sort=None, X_Trace_Id=None, "
        "lang=None, class_=None)"
    )
    page = books.argument("page")
    assert page is not None
    assert (page.description, page.schema["maximum"]) == ("Overrides the shared one", 50)
    genre = books.argument("genre")
    assert genre is not None
    assert genre.schema["items"] == {"enum": ["no", "yes", "crime"]}, "`no` is a word in YAML 1.2"


def test_a_parameter_that_signs_the_request_in_is_no_argument_of_a_program() -> None:
    books = load(SAMPLES / "library.yaml").tool("GET_books")

    assert "api_key" not in {parameter.name for parameter in books.parameters}


def test_bodies_give_their_properties_as_arguments() -> None:
    protocol = load(SAMPLES / "library.yaml")

    assert signature(protocol.tool("POST_books")) == "POST_books(title, page=None, pages=None, in_print=None)"
    pages = protocol.tool("POST_books").argument("pages")
    assert pages is not None
    assert pages.schema == {"type": ["integer", "null"]}
    assert signature(protocol.tool("POST_loans")) == "POST_loans(book, days, notes=None)"
    assert signature(protocol.tool("POST_notes")) == "POST_notes(body)"
    assert signature(protocol.tool("PUT_notes")) == "PUT_notes(body=None)"
    cover = protocol.tool("PUT_books_bookId_cover_format")
    assert signature(cover) == "PUT_books_bookId_cover_format(bookId, format, image, caption=None)"
    image = cover.argument("image")
    assert image is not None
    assert image.location == "body"
    assert next(p for p in cover.arguments if p.argument == "format").location == "path", "the parameter comes first"


def test_every_kind_of_sign_in() -> None:
    protocol = load(SAMPLES / "library.yaml")

    kinds = {scheme.name: (scheme.kind, scheme.location, scheme.parameter) for scheme in protocol.security_schemes}
    assert kinds == {
        "key": ("apiKey", "query", "api_key"),
        "signature": ("apiKey", "header", "X-Signature"),
        "session": ("apiKey", "cookie", "SESSION"),
        "login": ("basic", "header", "Authorization"),
        "bearer": ("bearer", "header", "Authorization"),
        "oauth": ("oauth2", "header", "Authorization"),
        "id": ("oauth2", "header", "Authorization"),
    }
    assert protocol.tool("GET_books").security == (("key",), ("session", "signature"))
    assert protocol.tool("POST_books").security == ()
    assert protocol.tool("PUT_books_bookId_cover_format").security == (("login",), ("bearer",), ("oauth",), ())


def test_swagger_2_is_read_like_the_newer_ones() -> None:
    protocol = load(SAMPLES / "harbour.swagger.json")

    assert [server.url for server in protocol.servers] == ["https://harbour.example/api", "http://harbour.example/api"]
    assert [scheme.kind for scheme in protocol.security_schemes] == ["basic", "apiKey", "oauth2"]
    assert [signature(tool) for tool in protocol.tools] == [
        "GET_ships(flags=None, berth=None, port=None)",
        "POST_ships(kind, name, draught=None, tugs=None)",
        "GET_ships_shipId(shipId)",
        "POST_ships_shipId_papers(shipId, scan, pages=None)",
    ]
    ships = protocol.tool("GET_ships")
    assert [(p.style, p.explode) for p in ships.arguments] == [
        ("pipeDelimited", False),
        ("form", True),
        ("form", False),
    ]
    assert ships.success is not None
    assert ships.success.examples == ([{"kind": "schooner", "name": "Fram"}],)
    assert ships.success.headers == {"X-Count": {"type": "integer"}}
    ship = answer_schema(protocol.tool("GET_ships_shipId"))
    assert properties(ship)["draught"] == {"type": ["number", "null"], "exclusiveMinimum": 0}
    assert properties(ship)["name"] == {"type": "string", "examples": ["Fram"]}
    papers = protocol.tool("POST_ships_shipId_papers").body
    assert papers is not None
    assert (papers.media_type, papers.required) == ("multipart/form-data", True)
    assert protocol.tool("GET_ships_shipId").responses[1].description == "No such ship"
    assert protocol.warnings == ()


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


def test_alternatives_are_written_short_only_where_they_mean_the_same() -> None:
    alternatives = {
        "number": {"anyOf": [{"type": "integer"}, {"type": "number"}]},
        "word": {"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]},
        "maybe": {"anyOf": [{"$ref": "#/components/schemas/Thing"}, {"type": "null"}], "description": "d"},
        "either": {"oneOf": [{"type": "object", "required": ["x"]}, {"type": "object", "required": ["y"]}]},
    }
    content = {"application/json": {"schema": {"type": "object", "properties": alternatives}}}
    object_schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    protocol = load(
        {
            "openapi": "3.1.0",
            "info": INFO,
            "paths": {"/a": {"get": {"responses": {"200": {"description": "", "content": content}}}}},
            "components": {"schemas": {"Thing": object_schema}},
        }
    )

    by_name = properties(answer_schema(protocol.tools[0]))
    assert by_name["number"] == {"type": "number"}
    assert by_name["word"] == {"enum": ["a", "b"]}
    assert by_name["maybe"] == {**object_schema, "type": ["object", "null"], "description": "d"}
    assert by_name["either"] == alternatives["either"]


def test_a_body_of_several_shapes_gives_all_their_properties_as_arguments() -> None:
    """Required is what every shape requires; a mixture that fits none of them is refused."""
    card = {"type": "object", "required": ["amount", "card"], "properties": {"card": {"type": "string"}}}
    cash = {"type": "object", "required": ["amount", "coins"], "properties": {"coins": {"type": "boolean"}}}
    schema = {"properties": {"amount": {"type": "number"}}, "oneOf": [card, cash]}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    paths = {"/pay": {"post": {"requestBody": body, "responses": {"204": {"description": ""}}}}}
    pay = load({"openapi": "3.0.3", "info": INFO, "paths": paths}).tools[0]

    assert signature(pay) == "POST_pay(amount, card=None, coins=None)"
    assert bind(pay, (), {"amount": 3, "coins": "true"}).body == {"amount": 3, "coins": True}
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
    content = {"application/json": {"schema": schema}}
    document = {
        "openapi": "3.1.0",
        "info": INFO,
        "paths": {"/a": {"get": {"responses": {"200": {"description": "", "content": content}}}}},
        "components": {"schemas": {"Base": base, "Closed": closed}},
    }

    assert answer_schema(load(document).tools[0]) == {
        "type": "object",
        "properties": {"id": {"type": "integer", "minimum": 1}, "tag": {"type": "string"}, "name": {"type": "string"}},
        "required": ["id", "name"],
        "examples": [{"id": 1, "name": "a"}],
    }


def test_examples_may_be_kept_elsewhere() -> None:
    properties = {"n": {"type": "integer", "minimum": "1"}}
    media = {
        "schema": {"type": "object", "properties": properties},
        "examples": {"one": {"$ref": "#/components/examples/One"}, "gone": {"$ref": "#/components/examples/Gone"}},
    }
    document = {
        "openapi": "3.0.3",
        "info": INFO,
        "paths": {"/a": {"get": {"responses": {"200": {"description": "", "content": {"application/json": media}}}}}},
        "components": {"examples": {"One": {"value": {"n": "7"}}}},
    }
    before = copy.deepcopy(document)

    success = load(document).tools[0].success

    assert success is not None
    assert success.examples == ({"n": 7},), "a document that writes numbers as strings does so in examples too"
    assert document == before


def test_a_path_may_be_kept_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "soup.yaml").write_text(
        """
parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
get: {responses: {200: {description: A soup, content: {application/json: {schema: {$ref: "./bowl.yaml"}}}}}}
"""
    )
    (tmp_path / "bowl.yaml").write_text("type: object\nproperties: {litres: {type: float}}")
    (tmp_path / "api.yaml").write_text(
        "openapi: 3.0.3\ninfo: {title: t, version: 1}\npaths: {'/soups/{id}': {$ref: soup.yaml}}"
    )

    protocol = load(tmp_path / "api.yaml")

    assert signature(protocol.tool("GET_soups_id")) == "GET_soups_id(id)"
    assert properties(answer_schema(protocol.tools[0])) == {"litres": {"type": "number"}}


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


def test_a_newer_document_is_read_as_far_as_its_older_form_goes() -> None:
    answer = {"responses": {"200": {"description": ""}}}
    new = {"get": answer, "query": answer, "additionalOperations": {"COPY": answer}}

    protocol = load({"openapi": "3.2.0", "info": INFO, "paths": {"/a": new}})

    assert [tool.name for tool in protocol.tools] == ["GET_a"]
    assert protocol.warnings == ("OpenAPI 3.2 is read as far as 3.1 goes",)


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
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}
    paths = {"/s": {"get": {"responses": {"200": {"description": "", "content": content}}}}}
    protocol = load({"openapi": "3.0.3", "info": INFO, "paths": paths, "components": {"schemas": schemas}})

    validator = Draft202012Validator(dict(protocol.standalone(answer_schema(protocol.tools[0]))))
    for bottom, valid in ((1, True), ("one", False)):
        value: dict[str, object] = {"v": bottom}
        for _ in range(60):
            value = {"v": 1, "next": value}
        assert validator.is_valid(value) is valid


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


def test_equal_names_are_told_apart_and_stay_what_they_are() -> None:
    assert unique(["a", "b", "a", "a_2", "a"]) == ["a", "b", "a_3", "a_2", "a_4"]
    operation = {"responses": {"200": {"description": ""}}}
    paths = {"/a/b": {"get": operation}, "/a-b": {"get": operation}}
    protocol: Protocol = load({"openapi": "3.0.3", "info": INFO, "paths": paths})
    assert [tool.name for tool in protocol.tools] == ["GET_a_b", "GET_a_b_2"]


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
