"""A reply is what the document says of it, whatever its label: JSON, lines of JSON, XML, text in any charset."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from sandbox.body_forms import read_body
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Handler, Service


def document(media_type: str | None = None, schema: object = None, method: str = "get") -> dict[str, Any]:
    """One operation, /report, whose success has that media type."""
    media = {} if schema is None else {"schema": schema}
    response = {"description": "OK"} if media_type is None else {"description": "OK", "content": {media_type: media}}
    return {"/report": {method: {"responses": {"200": response}}}}


def reply(content_type: str, body: str | bytes) -> Any:
    """A service that answers everything so."""
    return lambda request: (200, {"Content-Type": content_type} if content_type else {}, body)


def documents(operations: Sequence[tuple[str | None, object, str]]) -> dict[str, Any]:
    """The operations /r0, /r1, …, each of a media type, a schema and a method."""
    return {f"/r{number}": document(*operation)["/report"] for number, operation in enumerate(operations)}


def each(replies: Sequence[tuple[str, str | bytes]]) -> Handler:
    """A service that answers these operations in their order."""
    return lambda request: reply(*replies[int(request.path[2:])])(request)


JSON, LINES = "application/json", "application/x-ndjson"
TEXT = {"type": "string"}
FILE = {**TEXT, "format": "binary"}
ROW = {"type": "object", "properties": {"id": {"type": "integer"}}}
ROWS = {"type": "array", "items": ROW}
ANY_LABEL = ["text/html; charset=utf-8", "text/plain", "application/octet-stream", ""]
NO_JSON = ["7c9e6679-7425", "1999-12-31", "0042", "3.4.5", "false alarm"]
OFFICE = "vnd.openxmlformats-officedocument.x"
ZOE = '{"name": "Zoë"}'
SEQUENCE = '\x1e{"id":\n 1}\n\x1e{"id": 2}\n\x1e[3]\n'

REPLIES: list[tuple[str | None, object, str, str, str | bytes, str]] = [
    # A service that forgets the media type of its JSON, or has a wrong one; a 2xx of a write is never an error.
    *((JSON, ROW, "get", label, '{"id": 7}', "{'id': 7}") for label in ANY_LABEL),
    *((JSON, {}, "post", label, "ok, done", "'ok, done'") for label in ("text/html", "text/plain", "", JSON)),
    # Where the document has a text, or a write was answered, an id, a date or a version is not cut off.
    *((JSON, TEXT, "get", JSON, text, repr(text)) for text in NO_JSON),
    *((JSON, schema, "post", JSON, text, repr(text)) for schema, text in product((ROW, None), NO_JSON)),
    *(("text/plain", TEXT, "get", JSON, text, f"'{text.strip(chr(34))}'") for text in ("5", '"five"', "five")),
    # Lines of JSON are a list, blank ones no items; so is a text sequence (RFC 7464), and lines in place of a list.
    *(
        (
            media_type if documented else None,
            ROW,
            "get",
            media_type,
            '{"id": 1}\n\n{"id": 2}\r\n',
            "[{'id': 1}, {'id': 2}]",
        )
        for media_type in (LINES, "application/jsonl", "application/x-json-stream", "application/acme+ndjson")
        for documented in (True, False)
    ),
    ("application/json-seq", None, "get", "application/json-seq", SEQUENCE, "[{'id': 1}, {'id': 2}, [3]]"),
    (JSON, ROWS, "get", JSON, '{"id": 1}\n{"id": 2}\n', "[{'id': 1}, {'id': 2}]"),
    # JSON is UTF-8 even if a default charset is named; a byte order mark and UTF-16 are recognised.
    *(
        (JSON, {}, "get", f"{JSON}; charset=ISO-8859-1", ZOE.encode(encoding), "{'name': 'Zoë'}")
        for encoding in ("utf-8", "utf-8-sig", "utf-16-le", "latin-1")
    ),
    # An empty body is no lines, an empty text, no bytes; nothing where JSON should be.
    *(
        (media_type, schema, "get", label, b"", empty)
        for label in ("", "text/plain")
        for media_type, schema, empty in (
            (LINES, ROW, "[]"),
            ("text/csv", TEXT, "''"),
            ("*/*", TEXT, "''"),
            ("application/pdf", FILE, "b''"),
            (JSON, ROW, "None"),
            (None, None, "None"),
        )
    ),
    # Frameworks document `*/*` for an object and label it by chance: the schema counts before the label.
    ("*/*", ROW, "get", "text/html", '{"id": 3}', "{'id': 3}"),
    ("*/*", ROWS, "get", "text/plain", '[{"id": 3}]', "[{'id': 3}]"),
    ("*/*", TEXT, "get", "text/plain", "0815", "'0815'"),
    ("*/*", TEXT, "get", JSON, '"0815"', "'0815'"),
    ("*/*", FILE, "get", "text/plain", "a", "b'a'"),
    ("image/*", FILE, "get", "image/svg+xml", "<svg/>", "b'<svg/>'"),
    ("image/*", None, "get", "image/svg+xml", "<svg/>", "'<svg/>'"),
    ("application/*", ROW, "get", "text/plain", '{"id": 3}', "{'id': 3}"),
    # Where the document is silent the label tells bytes, also if they are ASCII; another type is text if it can be.
    *((None, None, "get", f"application/{kind}", "%PDF-1.7", "b'%PDF-1.7'") for kind in ("pdf", "zip", OFFICE)),
    (None, None, "get", "audio/mpeg", "%PDF-1.7", "b'%PDF-1.7'"),
    (None, None, "get", "application/x-acme", b"hello", "'hello'"),
    (None, None, "get", "application/x-acme", b"\x89\xff", "b'\\x89\\xff'"),
]


def test_a_reply_is_what_the_document_says(run: Run) -> None:
    """The media type and schema of the document decide, then the label, then the bytes."""
    calls = [f"print(repr({method.upper()}_r{number}()))" for number, (_, _, method, *_) in enumerate(REPLIES)]
    replies = [(label, body) for _, _, _, label, body, _ in REPLIES]

    result = run(documents([row[:3] for row in REPLIES]), "\n".join(calls), "--max-calls", "200", handle=each(replies))

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [printed for *_, printed in REPLIES]


BROKEN = [*NO_JSON, '{"id": ', '{"id": 1}<hr>Notice: y', '{"id": 1}\nNotice: y', '{"id": 1} {"id": 2}']
PAGE = "<!DOCTYPE html><title>Sign in</title>"


ERRORS: list[tuple[str, object, str, str, str]] = [
    (JSON, ROW, "text/html", PAGE, f"the reply is a web page instead of JSON: {PAGE}"),
    *((JSON, ROW, *pair, "the reply is not JSON: ") for pair in product((JSON, "text/html"), BROKEN)),
    (LINES, ROW, LINES, '{"id": 1}\noops\n{"id": 3}\n', "the reply is not JSON"),
    (JSON, ROWS, JSON, '{"id": 1}\n{"id": 2', "the reply is not JSON"),
    *((JSON, schema, JSON, "9" * 6000, "an integer of too many digits") for schema in (ROW, {})),
    *((JSON, schema, JSON, "[" * 100_000 + "]" * 100_000, "nested too deeply") for schema in (ROW, {})),
]


def test_what_is_not_documented_json_is_an_error_of_a_read(run: Run) -> None:
    """A login page with status 200, half an object, JSON only at the beginning: the message says what came."""
    attempt = "try:\n    GET_r{}()\nexcept ToolError as error:\n    print(repr(str(error)))\n"
    calls = "".join(map(attempt.format, range(len(ERRORS))))
    paths = documents([(media_type, schema, "get") for media_type, schema, *_ in ERRORS])
    result = run(paths, calls, handle=each([(label, body) for _, _, label, body, _ in ERRORS]))

    assert result.exit_code == 0, result.stderr
    for line, (*_, message) in zip(result.stdout.splitlines(), ERRORS, strict=True):
        assert message in line
        assert ("not JSON" in line) == ("not JSON" in message)


def test_lines_need_a_line_between_them() -> None:
    """Values on one line are no sequence, and neither is a single broken one."""
    assert read_body("lines refuse", b"1\n[2]\x1e3\n", None).value == [1, [2], 3]
    assert read_body("lines text", b"1 [2]", None).value == "1 [2]"
    assert read_body("lines text", b'{"id":', None).value == '{"id":'
    broken = read_body("lines text", b'{"id": 1}\n{"id": 2} oops', None)
    assert (broken.value, broken.note is not None) == ([{"id": 1}], True)


@pytest.mark.parametrize("count", [2, 40_000])
def test_a_last_line_that_breaks_off_is_reported(run: Run, count: int) -> None:
    """The items before it are there, in a large reply as well, and a warning says that one is not."""
    body = "".join(f'{{"id": {number}}}\n' for number in range(count)) + '{"id": 99'

    result = run(
        document("application/x-ndjson", ROW), "print(len(GET_report()))", handle=reply("application/x-ndjson", body)
    )

    assert (result.exit_code, result.stdout) == (0, f"{count}\n")
    assert f'the last line of the reply is not whole JSON and was left out: {{"id": 99 ({count} items' in result.stderr


CHARSETS = ["iso-8859-1", "windows-1252", "utf-16"]
ASIAN = ["shift_jis", "iso-2022-jp", "gb18030", "euc-kr"]


@pytest.mark.parametrize("charset", [*CHARSETS, *ASIAN])
def test_a_text_is_decoded_by_its_charset(run: Run, charset: str) -> None:
    """As the Content-Type names it; a large text and JSON as well."""
    word = {"euc-kr": "서울"}.get(charset, "東京" if charset in ASIAN else "Zoë")
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
