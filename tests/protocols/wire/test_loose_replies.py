"""Replies that nearly are what the document says: texts like numbers, empty bodies, wide media types, large numbers."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from sandbox.body_forms import read_body
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Service
from tests.protocols.wire.test_reply_bodies import document, reply

TEXT = {"type": "string"}
ROW = {"type": "object", "properties": {"id": {"type": "integer"}}}
NO_JSON = ["7c9e6679-7425", "1999-12-31", "0042", "3.4.5", "23:59", "192.168.7.1", "false alarm", "null and void"]


@pytest.mark.parametrize("body", NO_JSON)
@pytest.mark.parametrize(
    ("media_type", "schema", "method"),
    [("application/json", TEXT, "get"), ("application/json", ROW, "post"), ("application/json", None, "post")],
)
def test_a_text_that_begins_like_json_is_the_text(
    run: Run, body: str, media_type: str, schema: object, method: str
) -> None:
    """An id, a date, a version: where the document has a text, or a write was answered, nothing is cut off."""
    doc = document(media_type, schema, method)

    result = run(doc, f"print(repr({method.upper()}_report()))", handle=reply("application/json", body))

    assert (result.exit_code, result.stdout, result.stderr) == (0, f"{body!r}\n", "")


@pytest.mark.parametrize("body", [*NO_JSON, '{"id": 1}<hr>Notice: y', '{"id": 1}\nNotice: y', '{"id": 1} {"id": 2}'])
@pytest.mark.parametrize("label", ["application/json", "text/html"])
def test_a_documented_object_that_does_not_parse_is_an_error_of_a_read(run: Run, body: str, label: str) -> None:
    """Also if JSON is at its beginning."""
    result = run(document("application/json", ROW), "GET_report()", handle=reply(label, body))

    assert result.exit_code == 1
    assert "GET_report: the reply is not JSON: " in result.stderr


def test_whole_lines_in_the_place_of_a_documented_list_are_one(run: Run) -> None:
    """With a line feed between the values; of a broken last line nothing is left out."""
    bodies = iter(['{"id": 1}\n{"id": 2}\n', '{"id": 1}\n{"id": 2'])
    doc = document("application/json", {"type": "array", "items": ROW})

    result = run(
        doc,
        "print(GET_report())\nGET_report()",
        handle=lambda request: (200, {"Content-Type": "application/json"}, next(bodies)),
    )

    assert (result.exit_code, result.stdout) == (1, "[{'id': 1}, {'id': 2}]\n")
    assert "the reply is not JSON" in result.stderr


def test_lines_need_a_line_between_them() -> None:
    """Values on one line are no sequence, and neither is a single broken one."""
    assert read_body("lines refuse", b"1\n[2]\x1e3\n", None).value == [1, [2], 3]
    assert read_body("lines text", b"1 [2]", None).value == "1 [2]"
    assert read_body("lines text", b'{"id":', None).value == '{"id":'
    broken = read_body("lines text", b'{"id": 1}\n{"id": 2} oops', None)
    assert (broken.value, broken.note is not None) == ([{"id": 1}], True)


@pytest.mark.parametrize(
    ("media_type", "schema", "empty"),
    [
        ("application/x-ndjson", ROW, "[]"),
        ("text/csv", TEXT, "''"),
        ("*/*", TEXT, "''"),
        ("application/pdf", {**TEXT, "format": "binary"}, "b''"),
        ("application/json", ROW, "None"),
        (None, None, "None"),
    ],
)
@pytest.mark.parametrize("label", ["", "text/plain"])
def test_an_empty_body_is_what_the_document_says(
    run: Run, media_type: str | None, schema: object, empty: str, label: str
) -> None:
    """No lines, an empty text, no bytes; nothing where JSON should be."""
    result = run(document(media_type, schema), "print(repr(GET_report()))", handle=reply(label, b""))

    assert (result.exit_code, result.output) == (0, f"{empty}\n")


def test_no_content_stays_none(run: Run) -> None:
    """A 204 has no body, whatever is documented for a 200."""
    doc = document("text/csv", TEXT)

    result = run(doc, "print(GET_report())", handle=lambda request: (204, {}, b""))

    assert (result.exit_code, result.output) == (0, "None\n")


@pytest.mark.parametrize(
    ("media_type", "schema", "label", "body", "shown"),
    [
        ("*/*", ROW, "text/html", '{"id": 3}', "{'id': 3}"),
        ("*/*", {"type": "array", "items": ROW}, "text/plain", '[{"id": 3}]', "[{'id': 3}]"),
        ("*/*", TEXT, "text/plain", "0815", "'0815'"),
        ("*/*", TEXT, "application/json", '"0815"', "'0815'"),
        ("*/*", {**TEXT, "format": "binary"}, "text/plain", "a", "b'a'"),
        ("image/*", {**TEXT, "format": "binary"}, "image/svg+xml", "<svg/>", "b'<svg/>'"),
        ("image/*", None, "image/svg+xml", "<svg/>", "'<svg/>'"),
        ("application/*", ROW, "text/plain", '{"id": 3}', "{'id': 3}"),
    ],
)
def test_the_schema_of_a_wide_media_type_counts_before_the_label(
    run: Run, media_type: str, schema: object, label: str, body: str, shown: str
) -> None:
    """Frameworks document `*/*` for an object and label it by chance."""
    result = run(document(media_type, schema), "print(repr(GET_report()))", handle=reply(label, body))

    assert (result.exit_code, result.output) == (0, f"{shown}\n")


@pytest.mark.parametrize(
    ("body", "problem"),
    [("9" * 6000, "an integer of too many digits"), ("[" * 100_000 + "]" * 100_000, "nested too deeply")],
)
@pytest.mark.parametrize("schema", [ROW, {}])
def test_json_that_cannot_be_read_is_no_text(run: Run, body: str, problem: str, schema: Any) -> None:
    """The message says what is wrong with it."""
    result = run(document("application/json", schema), "GET_report()", handle=reply("application/json", body))

    assert result.exit_code == 1
    assert problem in result.stderr
    assert "not JSON" not in result.stderr


SECRET = "wire-secret-token-2"


@pytest.mark.parametrize(
    ("media_type", "label", "before", "program"),
    [
        ("text/plain", "text/plain; charset=utf-7; charset=utf-8", "", "print(GET_report())"),
        ("application/json", "application/json; charset=utf-8; charset=utf-7", "", "print(GET_report())"),
        ("application/json", "application/json; charset=utf-7; charset=utf-8", "", "print(GET_report())"),
        ("application/xml", "text/plain", '<?xml version="1.0" encoding="utf-7"?>', "print(GET_report())"),
        ("application/xml", "", '<?xml version="1.0" encoding="utf-7"?>', "print(GET_report())"),
        (
            "text/plain",
            "text/plain; charset=utf-8; charset=utf-7",
            "",
            "import requests\nprint(requests.get(BASE + '/report').text)",
        ),
    ],
)
def test_a_secret_is_looked_for_in_the_encoding_that_is_read(
    run: Run,
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    media_type: str,
    label: str,
    before: str,
    program: str,
) -> None:
    """A header that names two charsets, and XML that names its own: a secret in UTF-7 does not reach the program."""
    monkeypatch.setenv("WIRE_TOKEN", SECRET)
    hidden = "".join(f"+{base64.b64encode(sign.encode('utf-16-be')).decode().rstrip('=')}-" for sign in SECRET)
    assert hidden.encode().decode("utf-7") == SECRET

    result = run(
        document(media_type, ROW if "json" in media_type else TEXT),
        program.replace("BASE", repr(service.url)),
        *("--auth", "bearer:env:WIRE_TOKEN"),
        handle=reply(label, f'{before}{{"id": "{hidden}"}}'),
    )

    assert result.exit_code == 0, result.stderr
    assert "id" in result.stdout
    assert SECRET not in result.output


def test_a_reply_that_is_not_packed_as_it_says_is_named(run: Run) -> None:
    """One line, in words."""
    result = run(document(), "GET_report()", handle=lambda request: (200, {"Content-Encoding": "gzip"}, b"no gzip"))

    assert result.exit_code == 6
    assert "the reply is not packed as its Content-Encoding says" in result.stderr
    assert "('" not in result.stderr
