"""Bytes arrive as they were sent and are sent as they are: downloads and uploads, of any size and in any place."""

from __future__ import annotations

import base64
import hashlib
import json
from email.parser import BytesParser
from pathlib import Path
from typing import Any

import pytest

from protocols.documents.loader import load
from sandbox import Sandbox
from sandbox.child.channel import with_bytes
from sandbox.journal.journal import Journal
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Arrived, Service

EVERY = bytes(range(256))
LARGE = EVERY * 4 * 3 * 1024
"""All values of a byte; of 3 MiB."""

TEXT, BINARY, BASE64 = {"type": "string"}, {"type": "string", "format": "binary"}, {"type": "string", "format": "byte"}


def operation(request: Any = None, response: Any = None) -> dict[str, Any]:
    body = {} if request is None else {"requestBody": {"required": True, "content": request}}
    return {**body, "responses": {"200": {"description": "OK", "content": response or {}}}}


def fields(**properties: object) -> dict[str, object]:
    """The schema of an object."""
    return {"schema": {"type": "object", "properties": properties}}


SCAN = fields(scan=BASE64)["schema"]
FORM = fields(file=BINARY, files={"type": "array", "items": BINARY}, title=TEXT)
JSON = fields(title=TEXT, thumbnail=BASE64, pages={"type": "array", "items": SCAN})
FILES = {
    "/file": {"get": operation(response={"image/png": {"schema": BINARY}})},
    "/raw": {"put": operation({"application/octet-stream": {"schema": BINARY}})},
    "/form": {"post": operation({"multipart/form-data": FORM})},
    "/json": {"post": operation({"application/json": JSON})},
    "/search": {"get": {"parameters": [{"name": "q", "in": "query", "schema": TEXT}], **operation()}},
}


def parts(request: Arrived) -> list[tuple[str, bytes]]:
    """Names and contents of the parts of a multipart form."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    inside: Any = BytesParser().parsebytes(head + request.body).get_payload()
    return [(part.get_param("name", header="content-disposition"), part.get_payload(decode=True)) for part in inside]


@pytest.mark.parametrize("content", [EVERY, LARGE], ids=["small", "large"])
def test_a_download_is_uploaded_again_unchanged(run: Run, service: Service, content: bytes) -> None:
    """Of every byte and of 3 MiB: the same SHA-256, by functions and by `requests`."""
    program = f"""
        import hashlib, io, requests
        data = GET_file()
        print(type(data).__name__, len(data), hashlib.sha256(data).hexdigest())
        PUT_raw(body=data)
        PUT_raw(body=bytearray(data))
        PUT_raw(body=io.BytesIO(data))
        print(requests.get("{service.url}/file").content == data)
        requests.put("{service.url}/raw", data=data)
    """

    def handle(request: Arrived) -> Any:
        return 200, {"Content-Type": "image/png"}, content if request.method == "GET" else b""

    result = run(FILES, program, handle=handle)

    assert (result.exit_code, result.output) == (
        0,
        f"bytes {len(content)} {hashlib.sha256(content).hexdigest()}\nTrue\n",
    )
    assert [request.body == content for request in service.arrived if request.method == "PUT"] == [True] * 4


def test_files_of_a_form_are_sent_as_they_are(run: Run, service: Service) -> None:
    """One, and several in a list; a text beside them stays one, also if the program has it as bytes."""
    program = """
        every = bytes(range(256))
        POST_form(file=every, files=[every, b"text", every * 2], title=b"Zo\\xc3\\xab")
        POST_form(body={"file": every})
    """

    result = run(FILES, program)

    assert result.exit_code == 0, result.stderr
    assert [(name, content.replace(b"\r\n", b"\n")) for name, content in parts(service.arrived[0])] == [
        (name, content.replace(b"\r\n", b"\n"))
        for name, content in [
            ("file", EVERY),
            ("files", EVERY),
            ("files", b"text"),
            ("files", EVERY * 2),
            ("title", "Zoë".encode()),
        ]
    ]
    assert EVERY + EVERY in service.arrived[0].body
    assert EVERY in service.arrived[1].body


def test_bytes_in_json_are_base64(run: Run, service: Service) -> None:
    """Where the document has base64; what is base64 already is not encoded again. Nested values, too."""
    program = """
        import base64
        POST_json(title=b"A", thumbnail=b"\\xff\\x00", pages=[{"scan": b"\\xfe"}, {"scan": base64.b64encode(b"\\xfe")}])
    """

    result = run(FILES, program)

    assert result.exit_code == 0, result.stderr
    scan = base64.b64encode(b"\xfe").decode()
    expected = {"title": "A", "thumbnail": "/wA=", "pages": [{"scan": scan}, {"scan": scan}]}
    assert json.loads(service.arrived[0].body) == expected


@pytest.mark.parametrize(
    ("call", "argument"), [("GET_search(q=b'\\xff')", "q"), ("POST_json(title=b'\\xff')", "title")]
)
def test_bytes_in_the_place_of_a_text_are_refused_by_name(run: Run, service: Service, call: str, argument: str) -> None:
    """They are no UTF-8, and so no text; nothing is sent."""
    result = run(FILES, call)

    assert result.exit_code == 1
    assert f"argument '{argument}' takes a text, and holds bytes that are no UTF-8" in result.stderr
    assert service.arrived == []


PROGRAM = """
data = GET_file()
PUT_raw(body=data)
print(len(data), data[:2])
"""


def test_the_record_of_a_call_with_bytes_is_json(service: Service, tmp_path: Path) -> None:
    """It has their number and digest; a resumed run replays the reply and repeats no write; sources are found."""
    protocol = load({"openapi": "3.0.3", "info": {"title": "F", "version": "1"}, "paths": FILES})
    service.handle = lambda request: (200, {"Content-Type": "image/png"}, EVERY if request.method == "GET" else b"")
    described = f"<256 bytes, sha256 {hashlib.sha256(EVERY).hexdigest()}>"

    with Journal(tmp_path / "journal") as journal:
        sandbox = Sandbox(protocol, base_url=service.url, journal=journal)
        first, second = sandbox.run(PROGRAM), sandbox.run(PROGRAM + "print('again')")

    assert first.stdout == "256 b'\\x00\\x01'\n"
    assert second.stdout == "256 b'\\x00\\x01'\nagain\n"
    assert [call.replayed for call in second.calls] == [True, True]
    assert [(call.response, call.arguments) for call in first.calls] == [(described, {}), (None, {"body": described})]
    assert [(call.response, call.arguments) for call in second.calls] == [(described, {}), (None, {"body": described})]
    assert first.provenance is not None
    assert [(source.call, source.path) for source in first.provenance.arguments[1]["body"]] == [(0, ())]
    assert len(service.arrived) == 2


def test_a_frame_with_bytes_in_no_place_is_refused() -> None:
    """The child may have been taken over: what it says of the places of bytes is checked."""
    good = {
        "args": [None],
        "kwargs": {"file": {"parts": [None, 1]}},
        "bytes": [[[0, 0], 2], [[1, "file", "parts", 0], 1]],
    }

    assert with_bytes(good, b"abc") == ([b"ab"], {"file": {"parts": [b"c", 1]}})
    for places in (
        [[[0, 0], 4]],
        [[[0, 0], -1]],
        [[[0, 5], 3]],
        [[[], 3]],
        [[[1], 3]],
        [[[1, "file", "parts", 1], 3]],
        [[[0, 0], 2]],
        [[[1, "none"], 3]],
    ):
        head = {"args": [None], "kwargs": {"file": {"parts": [None, 1]}}, "bytes": places}
        with pytest.raises((ValueError, KeyError, TypeError)):
            with_bytes(head, b"abc")
