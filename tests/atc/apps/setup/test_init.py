"""`atc init`: a first `atc.toml` for a document, a URL or functions, and what to do next."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.atc_command import atc


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder without a file, and a home of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ATC_CONFIG")
    monkeypatch.setenv("ATC_HOME", str(tmp_path / "home"))
    return tmp_path


def document(**parts: Any) -> dict[str, Any]:
    """An OpenAPI document with one operation."""
    operation = {"summary": "Count.", "responses": {"200": {"description": "ok"}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Order Desk\n\u001b[31m", "version": "1"},
        "paths": {"/count": {"get": operation}},
        **parts,
    }


def settings() -> dict[str, Any]:
    """What the written file holds."""
    return tomllib.loads(Path("atc.toml").read_text())


def test_a_question_needs_no_option_afterwards(films: Path, endpoint: Callable[..., None]) -> None:
    """`atc init` and a question: the API is in the file; --simulate needs no credential."""
    endpoint("```python\nprint(len(GET_film_latest()) > 0)\n```")
    result = atc("init", films)

    assert result.exit_code == 0
    assert "Repeat this command with --force --auth token:env:VARIABLE" in result.stderr
    assert 'next: atc solve --simulate "What is the ' in result.stderr
    assert settings() == {"api": str(films), "model": "local:qwen2.5-coder-1.5b"}
    solved = atc("solve", "Is there a film?", "--simulate", "--model", "openai:scripted")
    assert (solved.exit_code, solved.stdout) == (0, "True\n"), solved.stderr


def test_what_the_file_asks_of_the_environment_is_said(films: Path) -> None:
    """The credential is named and not yet there; the user, who had the file written, is not asked to trust it."""
    named = atc("init", films, "--auth", "token:env:FILMS_TOKEN")
    result = atc("solve", "Is there a film?", "--model", "replay:none")

    assert "export FILMS_TOKEN=…" in named.stderr
    assert "atc.toml: signs in with …:env:FILMS_TOKEN at https://films.test" in result.stderr
    assert "the environment variable FILMS_TOKEN is not set" in result.stderr


def test_a_file_is_not_overwritten(films: Path) -> None:
    """With --force it is."""
    Path("atc.toml").write_text("# mine")

    result = atc("init", films)
    assert (result.exit_code, Path("atc.toml").read_text()) == (2, "# mine")
    assert "atc.toml exists; edit it, or overwrite it with --force" in result.stderr
    assert atc("init", films, "--force").exit_code == 0
    assert "api" in settings()


@pytest.mark.parametrize(
    ("servers", "address"), [([], "https://HOST"), ([{"url": "/v1"}], "https://HOST/v1")], ids=["none", "relative"]
)
def test_a_document_without_a_server(servers: list[dict[str, str]], address: str) -> None:
    """The place for the address is in the file, and it is said that something is to be filled in."""
    Path("openapi.json").write_text(json.dumps(document(servers=servers)))
    result = atc("init", "openapi.json")

    assert result.exit_code == 0
    assert "put its address into atc.toml as base-url, or rehearse: --simulate" in result.stderr
    assert f'# base-url = "{address}"' in Path("atc.toml").read_text()
    assert settings()["api"] == "openapi.json"
    assert atc("run", "-", "--simulate").exit_code == 0


def test_security_schemes_become_lines(folder: Path) -> None:
    """All of them are comments, what a tool needs in one; variables are named after the API and the kind."""
    schemes = {
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "user": {"type": "http", "scheme": "basic"},
        "other": {"type": "apiKey", "in": "query", "name": "key"},
    }
    parts = document(components={"securitySchemes": schemes}, security=[{"key": [], "user": []}, {"other": []}])
    (folder / "openapi.json").write_text(json.dumps(parts))
    assert atc("init", "openapi.json").exit_code == 0

    text = (folder / "atc.toml").read_text()
    assert '# auth = ["key:env:ORDER_DESK_31M_API_KEY", "user:env:ORDER_DESK_31M_USER_PASSWORD"]' in text
    assert '# auth = ["other:env:ORDER_DESK_31M_API_KEY_2"]' in text
    assert "\u001b" not in text


def test_a_document_at_an_address(replies: Callable[..., str]) -> None:
    """A URL is kept as it is; one with a password is refused."""
    url = replies(200, "application/json", json.dumps(document(servers=[{"url": "https://api.example"}])))

    assert atc("init", f"{url}/openapi.json").exit_code == 0
    assert settings()["api"] == f"{url}/openapi.json"
    assert "if not at https://api.example" in Path("atc.toml").read_text()
    result = atc("init", "http://me:hunter2@127.0.0.1/openapi.json", "--force")
    assert (result.exit_code, "hunter2" in result.output) == (2, False)


def test_a_document_that_cannot_be_read() -> None:
    """The loader's error, and no file."""
    Path("notes.txt").write_text("no document")

    assert "missing.yaml: no such file" in atc("init", "missing.yaml").stderr
    assert "not an API document" in atc("init", "notes.txt").stderr
    assert not Path("atc.toml").exists()


def test_deletions_are_left_out_unless_they_are_wanted() -> None:
    """Where nobody can be asked, the answer is no, and that is said; an option says otherwise."""
    parts = document(servers=[{"url": "https://api.example/v2"}])
    parts["paths"]["/count"]["delete"] = {"summary": "Reset.", "responses": {"204": {"description": "ok"}}}
    Path("openapi.json").write_text(json.dumps(parts))

    result = atc("init", "openapi.json")
    assert '1 operation of the API that can delete something is left out: without = ["DELETE"]' in result.stderr
    assert settings()["without"] == ["DELETE"]
    assert '# base-url = "https://HOST/v2"' in Path("atc.toml").read_text()
    Path("program.py").write_text("DELETE_count()")
    assert "it was left out by --without DELETE" in atc("run", "program.py", "--simulate").stderr
    atc("init", "openapi.json", "--force", "--deletions")
    assert "without" not in settings()
    assert atc("run", "program.py", "--simulate").exit_code == 0


@pytest.mark.parametrize(
    "options",
    [
        ("--auth", "tram-secret-77"),
        ("--auth", "bearer:tram-secret-77"),
        ("--auth", "Bearer tram-secret-77"),
        ("--auth", "basic:ann:tram-secret-77"),
        ("--auth", "bearer:env:tram-secret-77"),
        ("--auth", "beerer:env:TOKEN"),
        ("--base-url", "nohost"),
        ("--base-url", "https://ann:tram-secret-77@host.example"),
    ],
)
def test_nothing_is_written_that_would_be_refused_later(films: Path, options: tuple[str, str]) -> None:
    """Least of all a secret: the file is checked as the next command checks it, before it is there."""
    result = atc("init", films, *options)

    assert result.exit_code == 2
    assert options[0] in result.stderr or "auth takes KIND:SOURCE" in result.stderr or "base URL" in result.stderr
    assert "tram-secret-77" not in result.output
    assert not Path("atc.toml").exists()
