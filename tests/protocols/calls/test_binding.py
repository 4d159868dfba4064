"""A call as a program writes it becomes the request the document asks for, or an error that helps to repair it."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path

import pytest

from protocols import Protocol, ToolError, load
from protocols.calls.binding import bind
from protocols.calls.call_errors import signature
from protocols.calls.path_matching import match
from protocols.calls.serialization import BoundCall
from tests.protocols.documents.samples import sent_json

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATC_HOME", str(tmp_path_factory.getbasetemp() / "atc-home"))


@pytest.fixture
def library() -> Protocol:
    return load(SAMPLES / "library.yaml")


@pytest.fixture
def harbour() -> Protocol:
    return load(SAMPLES / "harbour.swagger.json")


def api(parameters: list[object], path: str = "/things", body: object = None) -> Protocol:
    """An API with one tool, `PUT_…`."""
    operation: dict[str, object] = {"parameters": parameters, "responses": {"200": {"description": ""}}}
    if body is not None:
        operation["requestBody"] = body
    info = {"title": "t", "version": "1"}
    return load({"openapi": "3.1.0", "info": info, "paths": {path: {"put": operation}}})


def put(protocol: Protocol, *args: object, **kwargs: object) -> BoundCall:
    return bind(protocol.tools[0], args, kwargs)


def refusal(protocol: Protocol, tool: str, /, *args: object, **kwargs: object) -> str:
    with pytest.raises(ToolError) as caught:
        bind(protocol.tool(tool), args, kwargs)
    assert caught.value.tool == tool
    assert caught.value.status is None
    return str(caught.value)


def test_arguments_become_path_query_headers_and_cookies(library: Protocol) -> None:
    call = bind(
        library.tool("GET_books"),
        (),
        {
            "q": "war & peace",
            "page": "2",
            "publishedAfter": datetime.date(1990, 5, 17),
            "genre": ["crime", "no"],
            "tag": ("a", "b"),
            "area": {"lat": 59.9, "lon": 10},
            "sort": {"by": "title"},
            "X_Trace_Id": 7,
            "lang": "nb",
            "class_": None,
        },
    )

    assert call.path == "/books"
    assert call.query == (
        ("page", "2"),
        ("q", "war & peace"),
        ("publishedAfter", "1990-05-17"),
        ("genre", "crime,no"),
        ("tag", "a"),
        ("tag", "b"),
        ("area[lat]", "59.9"),
        ("area[lon]", "10"),
        ("sort", '{"by": "title"}'),
    )
    assert call.headers == {"X-Trace-Id": "7", "Accept-Version": "2"}
    assert call.cookies == {"lang": "nb"}
    assert call.content is None
    assert call.arguments["page"] == 2
    assert call.arguments["X_Trace_Id"] == "7"
    assert "class_" not in call.arguments, "None means absent"


def test_path_arguments_may_be_positional_and_are_encoded(library: Protocol) -> None:
    tool = library.tool("PUT_books_bookId_cover_format")

    call = bind(tool, ("a/b ?ü", "png"), {"image": b"\x89PNG"})

    assert call.path == "/books/a%2Fb%20%3F%C3%BC/cover.png"
    assert call.arguments["bookId"] == "a/b ?ü"


@pytest.mark.parametrize("value", [".", "..", ""])
def test_a_path_argument_cannot_lead_to_another_path(library: Protocol, value: str) -> None:
    with pytest.raises(ToolError, match="must not be"):
        bind(library.tool("GET_books_bookId"), (value,), {})


def test_an_unknown_argument_names_the_nearest_valid_one(library: Protocol, harbour: Protocol) -> None:
    assert refusal(library, "GET_books", name="x").startswith(
        "GET_books() got an unexpected keyword argument 'name'; did you mean 'q'? It"
    )
    assert refusal(library, "GET_books", q="x", pages=2).startswith(
        "GET_books() got an unexpected keyword argument 'pages'; did you mean 'page'?"
    )
    assert "did you mean 'publishedAfter'?" in refusal(library, "GET_books", q="x", published_after="2020-01-01")
    assert "did you mean 'shipId'?" in refusal(harbour, "GET_ships_shipId", id=1)
    assert refusal(harbour, "GET_ships", xyz=1) == (
        "GET_ships() got an unexpected keyword argument 'xyz'. It takes: flags, berth, port"
    )


def test_a_missing_argument_shows_the_signature(library: Protocol) -> None:
    for page in (2, None):
        assert refusal(library, "POST_books", page=page) == (
            "POST_books() missing 1 required argument: 'title'. It is called as "
            "POST_books(title, page=None, pages=None, in_print=None)"
        )
    assert "missing 1 required argument: 'bookId'" in refusal(library, "GET_books_bookId", None)


def test_positional_arguments_are_for_the_path_only(library: Protocol) -> None:
    assert "all its arguments need their names" in refusal(library, "GET_books", "war")
    assert "only bookId may go without a name" in refusal(library, "GET_books_bookId", "a", "b")
    assert "got multiple values for argument 'bookId'" in refusal(library, "GET_books_bookId", "a", bookId="b")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"page": "two"}, "'page' must be an integer, not 'two'"),
        ({"page": 1.5}, "'page' must be an integer, not 1.5"),
        ({"page": True}, "'page' must be an integer, not True"),
        ({"page": 0}, "'page' must be at least 1, not 0"),
        ({"page": "51"}, "'page' must be at most 50, not 51"),
        ({"genre": "crmie"}, "'genre' [0] must be one of 'no', 'yes', 'crime', not 'crmie'; did you mean 'crime'?"),
        ({"X_Trace_Id": "a\r\nX-Other: b"}, "'X_Trace_Id' must be one line of text"),
        ({"area": {"lat": "north"}}, "'area' [\"lat\"] must be a number, not 'north'"),
        ({"sort": {"by": object}}, "'sort' holds <class 'object'>, which cannot be sent"),
    ],
)
def test_a_wrong_value_is_refused_before_anything_is_sent(
    library: Protocol, arguments: dict[str, object], message: str
) -> None:
    assert f"GET_books(): argument {message}" in refusal(library, "GET_books", q="x", **arguments)


@pytest.mark.parametrize(
    ("schema", "argument", "expected"),
    [
        ({"type": "integer"}, "123", 123),
        ({"type": "integer"}, 3.0, 3),
        ({"type": "integer"}, Decimal("4"), 4),
        ({"type": "string"}, 123, "123"),
        ({"type": "string"}, True, "true"),
        ({"type": "string"}, ["a", "b"], "a,b"),
        ({"type": "string"}, range(3), "0,1,2"),
        ({"type": "string"}, datetime.datetime(2024, 6, 1, 12), "2024-06-01T12:00:00"),
        ({"type": "number"}, "7.5", 7.5),
        ({"type": "number"}, 8, 8),
        ({"type": "boolean"}, "False", False),
        ({"type": ["integer", "null"]}, "5", 5),
        ({"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["all"]}]}, "all", "all"),
        ({"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["all"]}]}, "5", 5),
        ({"type": "array", "items": {"type": "integer"}}, ["1", 2], [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, "1,2", [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, {3: "x", 4: "y"}.keys(), [3, 4]),
        ({}, {"any": ["thing"]}, {"any": ["thing"]}),
    ],
)
def test_a_value_is_taken_where_its_text_is_what_is_asked_for(
    schema: object, argument: object, expected: object
) -> None:
    protocol = api([{"name": "x", "in": "query", "explode": False, "schema": schema}])

    value = put(protocol, x=argument).arguments["x"]

    assert value == expected
    assert type(value) is type(expected)


def test_properties_of_an_object_body_are_arguments_and_body_passes_a_whole(library: Protocol) -> None:
    tool = library.tool("POST_books")

    call = bind(tool, (), {"title": "Sult", "pages": "134", "in_print": "true"})
    whole = bind(tool, (), {"body": {"title": "Sult"}, "pages": 134})

    assert sent_json(call) == {"title": "Sult", "pages": 134, "in-print": True}
    assert sent_json(whole) == {"title": "Sult", "pages": 134}
    assert whole.arguments == {"pages": 134, "body": {"title": "Sult"}}
    assert call.content == (b'{"title": "Sult", "pages": 134, "in-print": true}', "application/json")
    assert sent_json(bind(library.tool("POST_notes"), (), {"body": ["a", 1]})) == ["a", "1"]
    assert "'title' is a required property" in refusal(library, "POST_books", body={"pages": 3})
    assert "body= must be a dict, not [1]" in refusal(library, "POST_books", body=[1])
    assert "'body' must be a list" in refusal(library, "POST_notes", body="a")


def test_a_value_alone_is_a_list_of_one() -> None:
    """Where the argument takes a list, in the query or in the body; a dict is none."""
    numbers = {"type": "array", "items": {"type": "integer"}}
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": {"ids": numbers}}}}}
    in_query = api([{"name": "ids", "in": "query", "schema": numbers}]).tools[0]
    in_body = api([], body=body).tools[0]

    assert bind(in_query, (), {"ids": 7}).query == (("ids", "7"),)
    assert sent_json(bind(in_body, (), {"ids": "7"})) == {"ids": [7]}
    assert sent_json(bind(in_body, (), {"ids": "[7, 8]"})) == {"ids": [7, 8]}
    with pytest.raises(ToolError, match="must be a list"):
        bind(in_body, (), {"ids": {"id": 7}})


def test_a_property_called_body_is_that_property() -> None:
    note = {
        "type": "object",
        "required": ["body"],
        "properties": {"body": {"type": "string"}, "title": {"type": "string"}},
    }
    protocol = api([], body={"required": True, "content": {"application/json": {"schema": note}}})

    assert sent_json(put(protocol, body="text", title="t")) == {"body": "text", "title": "t"}
    assert sent_json(put(protocol, body={"body": "text"})) == {"body": "text"}, "a dict can only be the whole"


def test_where_a_body_property_has_a_parameters_name_the_argument_fills_the_parameter() -> None:
    ids = {"type": "object", "required": ["ids"], "properties": {"ids": {"type": "array", "items": {"type": "string"}}}}
    parameter = {"name": "ids", "in": "query", "required": True, "schema": {"type": "string"}}

    optional = api([parameter], body={"content": {"application/json": {"schema": ids}}})
    call = put(optional, ids=["a", "b"])
    assert (call.query, call.content) == ((("ids", "a,b"),), None)
    assert signature(optional.tools[0]) == "PUT_things(ids, body_ids=None)"

    whole = put(optional, ids="a", body={"ids": ["b"]})
    assert (whole.query, sent_json(whole)) == ((("ids", "a"),), {"ids": ["b"]})
    both = put(optional, ids="a", body_ids=["b"])
    assert (both.query, sent_json(both)) == ((("ids", "a"),), {"ids": ["b"]})


@pytest.mark.parametrize(
    ("collection_format", "sent"),
    [("csv", b"x=a,b"), ("ssv", b"x=a+b"), ("tsv", b"x=a%09b"), ("pipes", b"x=a%7Cb"), ("multi", b"x=a&x=b")],
)
def test_lists_in_a_swagger_form_are_joined_unless_it_says_multi(collection_format: str, sent: bytes) -> None:
    """By commas, spaces, tabs or bars."""
    field = {"name": "x", "in": "formData", "type": "array", "items": {"type": "string"}}
    parameters = [{**field, "collectionFormat": collection_format}]
    operation = {"parameters": parameters, "responses": {"204": {"description": ""}}}
    info = {"title": "t", "version": "1"}
    document = {"swagger": "2.0", "info": info, "host": "api.test", "paths": {"/f": {"put": operation}}}

    content = bind(load(document).tools[0], (), {"x": ["a", "b"]}).content

    assert content is not None
    assert content[0] == sent


def test_a_required_body_is_sent_even_if_it_is_empty() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    media = {"content": {"application/json": {"schema": schema}}}

    assert put(api([], body={**media, "required": True})).content == (b"{}", "application/json")
    assert put(api([], body=media)).content is None


def test_a_request_finds_its_tool_and_literal_segments_come_first(library: Protocol, harbour: Protocol) -> None:
    matched = match(library, "put", "/books/a%2Fb/cover.png")
    assert matched is not None
    assert (matched[0].name, matched[1]) == ("PUT_books_bookId_cover_format", {"bookId": "a/b", "format": "png"})
    operation = {"responses": {"200": {"description": ""}}}
    item = {"get": operation}
    paths = {"/m/{id}": item, "/m/top": item, "/{kind}/top": item, "/m/{id}.json": item}
    films = load({"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": paths})
    for path, name in {
        "/m/top": "GET_m_top",
        "/m/top/": "GET_m_top",
        "/m/7": "GET_m_id",
        "/x/top": "GET_kind_top",
        "/m/7.json": "GET_m_id_json",
    }.items():
        hit = match(films, "GET", path)
        assert hit is not None
        assert hit[0].name == name
    assert match(films, "POST", "/m/top") is None
    assert match(films, "GET", "/m/7/8") is None
    assert match(harbour, "GET", "/ships?x=1") is not None


def test_what_bind_fills_match_finds_again(library: Protocol) -> None:
    for value in ("plain", "a/b", "100%", "ü ?#&", "a+b"):
        call = bind(library.tool("GET_books_bookId"), (value,), {})
        assert match(library, "GET", call.path) == (call.tool, {"bookId": value})


def test_inside_schemas_that_contain_themselves_values_are_checked_too(harbour: Protocol) -> None:
    tool = harbour.tool("POST_ships")
    fleet = {"name": "a", "kind": "tug", "tugs": [{"name": "b", "kind": "tug", "tugs": [{"name": 7}]}]}

    assert sent_json(bind(tool, (), fleet)) == fleet, "without the definitions it is checked as far as it is known"
    with pytest.raises(ToolError, match=r"argument 'tugs' \[0\]"):
        bind(tool, (), fleet, harbour.definitions)
    good = json.loads(json.dumps(fleet).replace('{"name": 7}', '{"name": "c", "kind": "tug"}'))
    assert sent_json(bind(tool, (), good, harbour.definitions)) == good
