"""A reply is what the document says of it, whatever its label: JSON, lines of JSON, XML, text in any charset."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Service


def document(media_type: str | None = None, schema: object = None, method: str = "get") -> dict[str, Any]:
    """One operation, /report, whose success has that media type."""
    media = {} if schema is None else {"schema": schema}
    response = {"description": "OK"} if media_type is None else {"description": "OK", "content": {media_type: media}}
    return {"/report": {method: {"responses": {"200": response}}}}


def reply(content_type: str, body: str | bytes) -> Any:
    """A service that answers everything so."""
    return lambda request: (200, {"Content-Type": content_type} if content_type else {}, body)


ROW = {"type": "object", "properties": {"id": {"type": "integer"}}}


@pytest.mark.parametrize("label", ["text/html; charset=utf-8", "text/plain", "application/octet-stream", ""])
def test_documented_json_is_json_whatever_its_label(run: Run, label: str) -> None:
    """A service that forgets the media type, or has a wrong one, is read all the same."""
    result = run(document("application/json", ROW), 'print(GET_report()["id"])', handle=reply(label, '{"id": 7}'))

    assert (result.exit_code, result.output) == (0, "7\n")


def test_a_page_instead_of_documented_json_is_an_error_of_a_read(run: Run) -> None:
    """A login page with status 200 is no answer; the message says what came."""
    page = reply("text/html", "<!DOCTYPE html><title>Sign in</title>")

    result = run(document("application/json", ROW), "print(GET_report())", handle=page)

    assert result.exit_code == 1
    assert "the reply is a web page instead of JSON: <!DOCTYPE html><title>Sign in</title>" in result.stderr


@pytest.mark.parametrize("label", ["text/html", "text/plain", "application/json", ""])
def test_a_write_that_was_done_is_never_an_error(run: Run, label: str) -> None:
    """A 2xx with the plain word ok has the text as its value, also where JSON is documented or named."""
    doc = document("application/json", {}, "post")

    result = run(doc, "print(POST_report())", handle=reply(label, "ok, done"))

    assert (result.exit_code, result.output) == (0, "ok, done\n")


def test_json_of_a_read_that_does_not_parse_is_an_error(run: Run) -> None:
    """Where both the document and the label promise JSON, half an object is no result."""
    result = run(document("application/json", ROW), "GET_report()", handle=reply("application/json", '{"id": '))

    assert result.exit_code == 1
    assert 'GET_report: the reply is not JSON: {"id":' in result.stderr


def test_documented_text_stays_text_where_json_does_not_fit(run: Run) -> None:
    """A number labelled JSON is the documented text; a JSON string stands for the text in it."""
    bodies = iter(["5", '"five"', "five"])
    doc = document("text/plain", {"type": "string"})

    result = run(
        doc,
        "print([GET_report() for _ in range(3)])",
        handle=lambda request: (200, {"Content-Type": "application/json"}, next(bodies)),
    )

    assert (result.exit_code, result.output) == (0, "['5', 'five', 'five']\n")


@pytest.mark.parametrize(
    "media_type", ["application/x-ndjson", "application/jsonl", "application/x-json-stream", "application/acme+ndjson"]
)
@pytest.mark.parametrize("documented", [True, False])
def test_lines_of_json_are_a_list(run: Run, media_type: str, documented: bool) -> None:
    """Blank lines, which keep a connection open, are no items."""
    doc = document(media_type if documented else None, ROW)

    result = run(
        doc, 'print([row["id"] for row in GET_report()])', handle=reply(media_type, '{"id": 1}\n\n{"id": 2}\r\n')
    )

    assert (result.exit_code, result.output) == (0, "[1, 2]\n")


def test_a_text_sequence_of_json_is_a_list(run: Run) -> None:
    """RFC 7464: each value between a record separator and a line feed, of which some may be inside of it."""
    body = '\x1e{"id":\n 1}\n\x1e{"id": 2}\n\x1e[3]\n'

    result = run(document("application/json-seq"), "print(GET_report())", handle=reply("application/json-seq", body))

    assert (result.exit_code, result.output) == (0, "[{'id': 1}, {'id': 2}, [3]]\n")


@pytest.mark.parametrize("count", [2, 40_000])
def test_a_last_line_that_breaks_off_is_reported(run: Run, count: int) -> None:
    """The items before it are there, in a large reply as well, and a warning says that one is not."""
    body = "".join(f'{{"id": {number}}}\n' for number in range(count)) + '{"id": 99'

    result = run(
        document("application/x-ndjson", ROW), "print(len(GET_report()))", handle=reply("application/x-ndjson", body)
    )

    assert (result.exit_code, result.stdout) == (0, f"{count}\n")
    assert f'the last line of the reply is not whole JSON and was left out: {{"id": 99 ({count} items' in result.stderr


def test_a_broken_line_in_the_middle_is_an_error(run: Run) -> None:
    """What was lost there nobody would notice."""
    body = '{"id": 1}\noops\n{"id": 3}\n'

    result = run(document("application/x-ndjson", ROW), "GET_report()", handle=reply("application/x-ndjson", body))

    assert result.exit_code == 1
    assert "GET_report: the reply is not JSON" in result.stderr


CHARSETS = ["iso-8859-1", "windows-1252", "utf-8", "utf-16", "iso-8859-15"]
ASIAN = ["shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "big5", "euc-kr"]


@pytest.mark.parametrize("charset", [*CHARSETS, *ASIAN])
def test_a_text_is_decoded_by_its_charset(run: Run, charset: str) -> None:
    """As the Content-Type names it; a large text and JSON as well."""
    word = {"euc-kr": "서울", "big5": "東京"}.get(charset, "東京" if charset in ASIAN else "Zoë")
    bodies = iter([word, word * 60_000, json.dumps({"name": word}, ensure_ascii=False)])
    kinds = iter(["text/csv", "text/csv", "application/json"])
    program = "print(GET_report()); text = GET_report(); print(len(text), text[-1]); print(GET_report()['name'])"

    result = run(
        document(),
        program,
        handle=lambda request: (
            200,
            {"Content-Type": f'{next(kinds)}; charset="{charset}"'},
            next(bodies).encode(charset),
        ),
    )

    assert (result.exit_code, result.stdout) == (0, f"{word}\n{len(word) * 60_000} {word[-1]}\n{word}\n"), result.stderr
    assert result.stderr == ""


def test_json_is_utf_8_even_if_a_default_charset_is_named(run: Run) -> None:
    """Servers label everything ISO-8859-1; a byte order mark and UTF-16 are recognised."""
    text = '{"name": "Zoë"}'
    bodies = iter([text.encode(), text.encode("utf-8-sig"), text.encode("utf-16-le"), text.encode("latin-1")])

    result = run(
        document("application/json", {}),
        "for _ in range(4): print(GET_report()['name'])",
        handle=lambda request: (200, {"Content-Type": "application/json; charset=ISO-8859-1"}, next(bodies)),
    )

    assert (result.exit_code, result.output) == (0, "Zoë\n" * 4)


@pytest.mark.parametrize(
    ("label", "body", "shown", "warning"),
    [
        ("text/plain; charset=klingon", "Zoë".encode(), "Zoë", "names the charset 'klingon'"),
        ("text/plain; charset=klingon", b"Zo\xeb", "Zoë", "it was read as ISO-8859-1"),
        ("text/plain", b"Zo\xeb", "Zoë", "the reply is no UTF-8 and names no charset; it was read as ISO-8859-1"),
        ("text/plain; charset=utf-8", b"Zo\xeb!", "Zo\ufffd!", "some bytes of the reply are no utf-8"),
    ],
)
def test_a_charset_that_does_not_fit_is_reported(run: Run, label: str, body: bytes, shown: str, warning: str) -> None:
    """Nothing is lost in silence: one line says how the text was read."""
    result = run(document("text/plain"), "print(GET_report())", handle=reply(label, body))

    assert (result.exit_code, result.stdout) == (0, f"{shown}\n")
    assert warning in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_xml_is_a_text_that_a_program_can_parse(run: Run) -> None:
    """In the encoding of its declaration; xml.etree.ElementTree is there."""
    body = '<?xml version="1.0" encoding="ISO-8859-1"?><list><item id="1">Zoë</item><item id="2"/></list>'
    program = """
        import xml.etree.ElementTree as ET

        root = ET.fromstring(GET_report())
        print(root.tag, [item.get("id") for item in root.findall("item")], root.findtext("item"))
    """

    result = run(document("application/xml", ROW), program, handle=reply("application/xml", body.encode("latin-1")))

    assert (result.exit_code, result.output) == (0, "list ['1', '2'] Zoë\n")


@pytest.mark.parametrize("declared", ['x "ha"', 'x SYSTEM "file:///etc/hostname"', '% p "<!--x-->"'])
def test_xml_with_entities_is_refused(run: Run, declared: str) -> None:
    """Neither the laughs of a billion nor a file of the machine."""
    body = f"<!DOCTYPE a [<!ENTITY {declared}>]><a>text</a>"
    program = """
        from xml.etree import ElementTree as ET

        try:
            ET.fromstring(GET_report())
        except ValueError as error:
            print(error)
    """

    result = run(document("text/xml"), program, handle=reply("text/xml", body))

    assert (result.exit_code, result.output[:45]) == (0, "the XML declares entities, which are refused:")


@pytest.mark.parametrize(
    ("media_types", "accept"),
    [
        (["application/json"], "application/json, */*;q=0.1"),
        (
            ["text/csv", "application/vnd.acme+json; version=2"],
            "application/vnd.acme+json;version=2, text/csv;q=0.8, */*;q=0.1",
        ),
        (["image/png"], "image/png, */*;q=0.1"),
        (["application/x-ndjson; charset=utf-8"], "application/x-ndjson, */*;q=0.1"),
        (["*/*"], "application/json, */*;q=0.5"),
        ([], "application/json, */*;q=0.5"),
    ],
)
def test_a_request_accepts_what_is_documented(run: Run, service: Service, media_types: list[str], accept: str) -> None:
    """JSON before other media types, and anything else last."""
    response = {"description": "OK", "content": {media_type: {} for media_type in media_types}}

    run({"/report": {"get": {"responses": {"200": response}}}}, "GET_report()")

    assert service.arrived[0].headers["accept"] == accept
