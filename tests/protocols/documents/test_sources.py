"""Where documents come from: files, the web, other documents."""

from __future__ import annotations

import contextlib
import functools
import json
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from protocols import ProtocolError, load
from tests.protocols.documents.samples import SAMPLES, document


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder that is served over HTTP."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietFiles, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietFiles(SimpleHTTPRequestHandler):
    """Serves files, and writes nothing about it."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def test_a_document_from_the_web_with_what_it_points_to() -> None:
    with served(SAMPLES) as url:
        protocol = load(f"{url}/library.yaml")

    assert len(protocol.tools) == 8
    assert protocol.tools == load(SAMPLES / "library.yaml").tools


def test_a_relative_server_belongs_to_where_the_document_came_from(tmp_path: Path) -> None:
    (tmp_path / "api.json").write_text(json.dumps(document() | {"servers": [{"url": "/v1"}]}))

    assert load(tmp_path / "api.json").servers[0].url == "/v1"
    with served(tmp_path) as url:
        assert load(f"{url}/api.json").servers[0].url == f"{url}/v1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"openapi": "3.0.0",\n "paths": }', "not valid JSON at line 2, column 11"),
        ("openapi: 3.0.0\npaths:\n  - a\n b: c", "not valid YAML at line 4, column 2"),
        ("<!DOCTYPE html><html></html>", "HTML"),
        ("[]", "holds a list"),
        ("", "holds nothing"),
        ("{}", "neither `openapi`"),
        ('{"openapi": "3.0.0", "paths": {}}', "there are no `paths`"),
        ('{"openapi": "4.0", "paths": {"/a": {}}}', "version '4.0' is not supported"),
        ('{"swagger": "1.2"}', "version '1.2' is not supported"),
        ('{"openapi": "3.0.0", "paths": {"/a": {"get": 5}}}', "no operation in it can be used"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_wrong_document_is_one_clear_error(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / ("api.yaml" if text.startswith("openapi") else "api.json")
    file.write_text(text)

    with pytest.raises(ProtocolError) as caught:
        load(file)

    assert message in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nowhere/api.json", "no such file"),
        (str(SAMPLES), "a folder"),
        ("http://127.0.0.1:1/api.json", "cannot be reached"),
    ],
)
def test_a_document_that_is_not_there_is_one_clear_error(source: str, message: str) -> None:
    with pytest.raises(ProtocolError, match=message):
        load(source)
