"""What a program passes is sent: bodies of every documented form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from xml.etree import ElementTree

import pytest

from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Service

OK = {"200": {"description": "ok"}}
TEXT = {"type": "string"}
NODE = "#/components/schemas/Node"


def writes(content: Mapping[str, object], path: str = "/cards", **more: object) -> dict[str, object]:
    """The paths of a document with one POST, whose body is `content`."""
    operation = {"requestBody": {"required": True, "content": content}, "responses": OK, **more}
    return {path: {"post": operation}}


def test_null_clears_a_nullable_property(run: Run, service: Service) -> None:
    """`None` for a nullable property of a body is sent as null; what was not passed is not sent."""
    properties = {name: {"type": "string", "nullable": True} for name in ("owner", "note")} | {"title": TEXT}
    document = writes({"application/json": {"schema": {"type": "object", "properties": properties}}})

    result = run(document, "POST_cards(owner=None, title=None)")

    assert result.exit_code == 0, result.output
    assert json.loads(service.arrived[0].body) == {"owner": None}


def test_forms_have_brackets_where_the_document_asks_for_them(run: Run, service: Service) -> None:
    """Objects and lists with deepObject are written with their whole path, and without an encoding as JSON."""
    line = {"type": "object", "properties": {"sku": TEXT, "count": {"type": "integer"}}}
    schema = {
        "type": "object",
        "properties": {
            "labels": {"type": "object", "additionalProperties": TEXT},
            "lines": {"type": "array", "items": line},
            "expand": {"type": "array", "items": TEXT},
            "plain": {"type": "object"},
        },
    }
    deep = {"style": "deepObject", "explode": True}
    encoding = {"labels": deep, "lines": deep, "expand": deep}
    document = writes({"application/x-www-form-urlencoded": {"schema": schema, "encoding": encoding}})

    arguments = "labels={'a': '1'}, lines=[{'sku': 'x', 'count': 2}, {'sku': 'y'}], expand=['z'], plain={'k': 1}"
    result = run(document, f"POST_cards({arguments})")

    assert result.exit_code == 0, result.output
    assert service.arrived[0].body.decode() == (
        "labels%5Ba%5D=1&lines%5B0%5D%5Bsku%5D=x&lines%5B0%5D%5Bcount%5D=2&lines%5B1%5D%5Bsku%5D=y"
        "&expand%5B%5D=z&plain=%7B%22k%22%3A+1%7D"
    )


def test_what_a_media_type_cannot_say_is_refused_by_name(run: Run, service: Service) -> None:
    """A dict for a text, an empty list in a form: the argument is named, and nothing is sent."""
    form = {"type": "object", "properties": {"tags": {"type": "array", "items": TEXT}}}
    documents = writes({"text/plain": {"schema": {}}}, "/text")
    documents |= writes({"application/x-www-form-urlencoded": {"schema": form}}, "/form")

    text = run(documents, "POST_text(body={'a': 1})")
    empty = run(documents, "POST_form(tags=[])")

    assert (text.exit_code, empty.exit_code) == (1, 1)
    assert "POST_text(): body must be a text to be sent as text/plain" in text.stderr
    assert "argument 'tags' is an empty list, which a form cannot say" in empty.stderr
    assert service.arrived == []


def test_the_media_type_is_the_one_that_takes_the_arguments(run: Run, service: Service) -> None:
    """A document that allows JSON or a file: a program that passes the file sends the form."""
    url = {"type": "object", "required": ["url"], "properties": {"url": TEXT}}
    file = {"type": "object", "required": ["file"], "properties": {"file": {**TEXT, "format": "binary"}}}
    document = writes({"application/json": {"schema": url}, "multipart/form-data": {"schema": file}})

    result = run(document, "POST_cards(url='u')\nPOST_cards(file='content')")

    assert result.exit_code == 0, result.output
    kinds = [request.headers["content-type"].partition(";")[0] for request in service.arrived]
    assert kinds == ["application/json", "multipart/form-data"]


@pytest.mark.parametrize(
    ("schema", "passed", "arrived"),
    [
        ({**TEXT, "format": "date"}, "datetime(2024, 5, 1, 10, 30)", "2024-05-01"),
        ({**TEXT, "format": "date-time"}, "datetime(2024, 5, 1, 10, 30)", "2024-05-01T10:30:00Z"),
        ({**TEXT, "format": "date-time"}, "datetime(2024, 5, 1).date()", "2024-05-01T00:00:00Z"),
        ({**TEXT, "format": "date-time"}, "'2024-05-01T10:30:00+02:00'", "2024-05-01T10:30:00+02:00"),
        ({"type": "integer", "format": "unix-time"}, "datetime(2024, 5, 1)", 1714521600),
        ({**TEXT, "format": "date-time", "example": "2019-09-15"}, "'2024-05-01'", "2024-05-01"),
        (TEXT, "datetime(2024, 5, 1, 10, 30)", "2024-05-01T10:30:00"),
    ],
)
def test_times_are_sent_in_the_documented_form(
    run: Run, service: Service, schema: dict[str, object], passed: str, arrived: object
) -> None:
    """A time without a zone is one of UTC, as `--now` is."""
    document = writes({"application/json": {"schema": {"type": "object", "properties": {"at": schema}}}})

    result = run(document, f"from datetime import datetime\nPOST_cards(at={passed})")

    assert result.exit_code == 0, result.output
    assert json.loads(service.arrived[0].body) == {"at": arrived}


def test_a_body_that_must_be_there_is_not_made_up(run: Run, service: Service) -> None:
    """A required list that is missing is refused, and None is null where the body may be null."""
    lists = writes({"application/json": {"schema": {"type": "array", "items": TEXT}}}, "/lists")
    numbers = writes({"application/json": {"schema": {"type": "number", "nullable": True}}}, "/numbers")

    missing = run({**lists, **numbers}, "POST_lists()")
    null = run({**lists, **numbers}, "POST_numbers(body=None)")

    assert "missing 1 required argument: 'body'" in missing.stderr
    assert null.exit_code == 0, null.output
    assert [request.body for request in service.arrived] == [b"null"]


def test_files_may_have_a_name_of_their_own(run: Run, service: Service) -> None:
    """`("a.csv", b"…")`, as `requests` takes it; without one a file has the name of its field."""
    schema = {"type": "object", "properties": {"file": {**TEXT, "format": "binary"}}}
    document = writes({"multipart/form-data": {"schema": schema}})

    result = run(document, "POST_cards(file=('a.csv', b'x'))\nPOST_cards(file=b'x')")

    assert result.exit_code == 0, result.output
    assert b'filename="a.csv"' in service.arrived[0].body
    assert b'filename="file"' in service.arrived[1].body


def test_values_are_converted_at_any_depth(run: Run, service: Service) -> None:
    """In maps, in lists of alternatives and in objects that hold themselves."""
    day = {**TEXT, "format": "date"}
    node = {"type": "object", "properties": {"day": day, "kids": {"type": "array", "items": {"$ref": NODE}}}}
    schema = {
        "type": "object",
        "properties": {"days": {"type": "object", "additionalProperties": day}, "node": {"$ref": NODE}},
    }
    paths = writes({"application/json": {"schema": schema}})
    document = {"paths": paths, "components": {"schemas": {"Node": node}}}
    program = """
    from datetime import datetime
    at = datetime(2024, 5, 1, 10)
    POST_cards(days={"x": at}, node={"kids": [{"day": at, "kids": [{"day": at}]}]})
    """

    result = run(document, program)

    assert result.exit_code == 0, result.output
    kid = {"day": "2024-05-01", "kids": [{"day": "2024-05-01"}]}
    assert json.loads(service.arrived[0].body) == {"days": {"x": "2024-05-01"}, "node": {"kids": [kid]}}


def test_a_charset_in_the_media_type_is_that_of_the_bytes(run: Run, service: Service) -> None:
    """Also for JSON and XML; what it does not have is refused."""
    schema = {"type": "object", "properties": {"name": TEXT}}
    xml = writes({"application/xml; charset=iso-8859-1": {"schema": schema}}, "/xml")
    utf_16 = writes({"application/json; charset=utf-16": {"schema": schema}}, "/json")

    result = run({**xml, **utf_16}, "POST_xml(name='Zoë')\nPOST_json(name='Zoë')\nPOST_xml(name='東')")

    assert "cannot be written in iso-8859-1" in result.stderr
    assert ElementTree.fromstring(service.arrived[0].body).findtext("name") == "Zoë"
    assert json.loads(service.arrived[1].body.decode("utf-16")) == {"name": "Zoë"}
    assert len(service.arrived) == 2
