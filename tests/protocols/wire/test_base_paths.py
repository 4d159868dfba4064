"""A base URL without a path gets the one that the document's server has; any other is taken as it is written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Service

GET = {"responses": {"200": {"description": "Good."}}}
PATHS = {"/boats": {"get": GET}}


@pytest.mark.parametrize(
    ("document", "end", "sent"),
    [
        ({"servers": [{"url": "/harbour"}]}, "", "/harbour/boats"),
        ({"servers": [{"url": "harbour/v1/"}]}, "", "/harbour/v1/boats"),
        ({"servers": [{"url": "https://boats.example/v2"}, {"url": "/other"}]}, "", "/v2/boats"),
        ({"servers": [{"url": "https://boats.example"}]}, "", "/boats"),
        ({"swagger": "2.0", "basePath": "/api/v1"}, "", "/api/v1/boats"),
        ({"swagger": "2.0", "host": "boats.example", "basePath": "/api"}, "", "/api/boats"),
        ({"servers": [{"url": "/harbour"}]}, "/", "/boats"),
        ({"servers": [{"url": "/harbour"}]}, "/mine", "/mine/boats"),
        ({"servers": [{"url": "/harbour"}]}, "/harbour/", "/harbour/boats"),
        ({}, "", "/boats"),
    ],
)
def test_the_path_of_the_server(run: Run, service: Service, document: dict[str, Any], end: str, sent: str) -> None:
    """An origin alone gets it; a slash at the end says that there is none."""
    result = run({**document, "paths": PATHS}, "GET_boats()", "--base-url", f"{service.url}{end}", "-v")

    assert result.exit_code == 0, result.stderr
    assert service.lines == [f"GET {sent}"]
    assert ("gets the path of the document's server" in result.stderr) == (not end and sent != "/boats")


def test_requests_reach_it_under_the_same_url(run: Run, service: Service) -> None:
    """A program that writes the URL itself writes the whole."""
    document = {"servers": [{"url": "/harbour"}], "paths": PATHS}
    program = f'import requests\nprint(requests.get("{service.url}/harbour/boats").status_code)'

    assert run(document, program).stdout == "200\n"
    assert "is no operation of this API" in run(document, program.replace("/harbour/boats", "/boats")).stderr


def test_a_key_without_its_prefix_is_told_at_a_401(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The description of the key says how it begins; the value itself is not shown."""
    monkeypatch.setenv("BOAT_KEY", "s3cret-value")
    scheme = {"type": "apiKey", "in": "header", "name": "Authorization", "description": 'Required prefix "Token"'}
    document = {
        "paths": {"/boats": {"get": {**GET, "security": [{"key": []}]}}},
        "components": {"securitySchemes": {"key": scheme}},
    }
    service.handle = lambda request: (401, {}, {"detail": "Invalid token header."})
    options = ("--auth", "key:env:BOAT_KEY")

    result = run(document, "GET_boats()", *options)
    assert 'the document says that the value begins with "Token "' in result.stderr
    assert "s3cret" not in result.output
    monkeypatch.setenv("BOAT_KEY", "Token s3cret-value")
    assert "begins with" not in run(document, "GET_boats()", *options).stderr
