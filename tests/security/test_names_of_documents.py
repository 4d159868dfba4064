"""A variable whose name the words of a document make up is not signed in with unless the user names it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from tests.atc_command import atc
from tests.json_server import JSONHandler, listening

SECRET = "ghp_of-the-user-4821"


class Stranger(JSONHandler):
    """The server of a document; `sent` are the credentials that came."""

    sent: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        self.sent.append(self.headers["Authorization"])
        self.reply({"id": 1})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A document whose title makes up the name of a variable that is set; gives its server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ATC_CONFIG", raising=False)
    monkeypatch.setenv("ATC_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    Stranger.sent.clear()
    (tmp_path / "program.py").write_text("print(GET_me()['id'])")
    with listening(Stranger) as url:
        scheme = {"token": {"type": "http", "scheme": "bearer"}}
        responses = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}
        document = {
            "openapi": "3.0.3",
            "info": {"title": "github", "version": "1"},
            "servers": [{"url": url}],
            "components": {"securitySchemes": scheme},
            "security": [{"token": []}],
            "paths": {"/me": {"get": {"responses": responses}}},
        }
        (tmp_path / "openapi.json").write_text(json.dumps(document))
        yield url


def test_a_title_is_no_consent(folder: str) -> None:
    """The next command sent the user's token to the document's server; now the file signs in with nothing."""
    result = atc("init")
    run = atc("run", "program.py")

    assert f"which variable's value may {folder} get? Repeat this command with --force --auth token:env:VAR" in (
        result.stderr
    )
    assert "auth" not in tomllib.loads(Path("atc.toml").read_text())
    assert SECRET not in str(Stranger.sent) and "signs in" not in run.stderr


def test_a_name_of_the_user_is_one(folder: str) -> None:
    """It is in the file, which needs no further word."""
    assert atc("init", "--auth", "token:env:GITHUB_TOKEN").exit_code == 0
    run = atc("run", "program.py")

    assert (run.stdout, Stranger.sent) == ("1\n", [f"Bearer {SECRET}"])
    assert f"signs in with …:env:GITHUB_TOKEN at {folder}" in run.stderr


def test_a_line_that_somebody_takes_out_of_its_comment_is_not_trusted(folder: str) -> None:
    """The file then does more than the user agreed to."""
    atc("init")
    file = Path("atc.toml")
    file.write_text(file.read_text().replace('# auth = ["token:env:GITHUB', 'auth = ["token:env:GITHUB'))
    run = atc("run", "program.py")

    assert (run.exit_code, Stranger.sent) == (2, [])
    assert "has not been trusted with that" in run.stderr
