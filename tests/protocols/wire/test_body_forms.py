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


DAY = {**TEXT, "format": "date"}
TIME = {**TEXT, "format": "date-time"}
AT_TEN = "datetime(2024, 5, 1, 10, 30)"
NULLABLE = {name: {"type": "string", "nullable": True} for name in ("owner", "note")} | {"title": TEXT}
KIDS = {"kids": [{"day": "2024-05-01", "kids": [{"day": "2024-05-01"}]}]}


@pytest.mark.parametrize(
    ("properties", "passed", "arrived"),
    [
        # None for a nullable property is null; what was not passed is not sent
        (NULLABLE, "owner=None, title=None", {"owner": None}),
        # A time without a zone is one of UTC, as `--now` is; the document's own example decides against its format
        ({"at": DAY}, f"at={AT_TEN}", {"at": "2024-05-01"}),
        ({"at": TIME}, f"at={AT_TEN}", {"at": "2024-05-01T10:30:00Z"}),
        ({"at": TIME}, "at=datetime(2024, 5, 1).date()", {"at": "2024-05-01T00:00:00Z"}),
        ({"at": TIME}, "at='2024-05-01T10:30:00+02:00'", {"at": "2024-05-01T10:30:00+02:00"}),
        ({"at": {"type": "integer", "format": "unix-time"}}, "at=datetime(2024, 5, 1)", {"at": 1714521600}),
        ({"at": {**TIME, "example": "2019-09-15"}}, "at='2024-05-01'", {"at": "2024-05-01"}),
        ({"at": TEXT}, f"at={AT_TEN}", {"at": "2024-05-01T10:30:00"}),
        # At any depth: in maps, in lists, in objects that hold themselves
        (
            {"days": {"type": "object", "additionalProperties": DAY}, "node": {"$ref": NODE}},
            f"days={{'x': {AT_TEN}}}, node={{'kids': [{{'day': {AT_TEN}, 'kids': [{{'day': {AT_TEN}}}]}}]}}",
            {"days": {"x": "2024-05-01"}, "node": KIDS},
        ),
    ],
)
def test_values_are_sent_in_the_documented_form(
    run: Run, service: Service, properties: object, passed: str, arrived: object
) -> None:
    """Values of Python in a body of JSON."""
    node = {"type": "object", "properties": {"day": DAY, "kids": {"type": "array", "items": {"$ref": NODE}}}}
    paths = writes({"application/json": {"schema": {"type": "object", "properties": properties}}})
    document = {"paths": paths, "components": {"schemas": {"Node": node}}}

    result = run(document, f"from datetime import datetime\nPOST_cards({passed})")

    assert result.exit_code == 0, result.output
    assert json.loads(service.arrived[0].body) == arrived


FORM = {"type": "object", "properties": {"tags": {"type": "array", "items": TEXT}}}
FORMS = {
    **writes({"text/plain": {"schema": {}}}, "/text"),
    **writes({"application/x-www-form-urlencoded": {"schema": FORM}}, "/form"),
    **writes({"application/json": {"schema": {"type": "array", "items": TEXT}}}, "/lists"),
    **writes({"application/json": {"schema": {"type": "number", "nullable": True}}}, "/numbers"),
}


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("POST_text(body={'a': 1})", "POST_text(): body must be a text to be sent as text/plain"),
        ("POST_form(tags=[])", "argument 'tags' is an empty list, which a form cannot say"),
        ("POST_lists()", "missing 1 required argument: 'body'"),
        ("POST_numbers(body=None)", ""),
    ],
)
def test_a_body_is_neither_guessed_nor_made_up(run: Run, service: Service, program: str, message: str) -> None:
    """What a media type cannot say, or what is missing, is refused by name; None is null where the body may be null."""
    result = run(FORMS, program)

    assert (result.exit_code, message in result.stderr) == (int(bool(message)), True), result.output
    assert [request.body for request in service.arrived] == ([] if message else [b"null"])


def test_the_media_type_is_the_one_that_takes_the_arguments(run: Run, service: Service) -> None:
    """A document that allows JSON or a file: a program that passes the file sends the form. A file may have a name."""
    url = {"type": "object", "required": ["url"], "properties": {"url": TEXT}}
    file = {"type": "object", "required": ["file"], "properties": {"file": {**TEXT, "format": "binary"}}}
    document = writes({"application/json": {"schema": url}, "multipart/form-data": {"schema": file}})

    result = run(document, "POST_cards(url='u')\nPOST_cards(file='content')\nPOST_cards(file=('a.csv', b'x'))")

    assert result.exit_code == 0, result.output
    kinds = [request.headers["content-type"].partition(";")[0] for request in service.arrived]
    assert kinds == ["application/json", "multipart/form-data", "multipart/form-data"]
    assert b'filename="file"' in service.arrived[1].body
    assert b'filename="a.csv"' in service.arrived[2].body


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
