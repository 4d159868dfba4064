"""`atc init` at a terminal: a conversation with a default on Enter, and a question that works at its end."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.atc.apps.terminal.pty_screen import PtyScreen
from tests.atc_command import ATC, atc
from tests.local_api import Answer, LocalAPI, Received, document
from tests.shop import TOKEN, serving_shop

PROGRAM = '```python\nprint(GET_customers()["items"][0]["name"])\n```'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder without a file, and a home of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ATC_CONFIG")
    monkeypatch.setenv("ATC_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ATC_MODEL", "openai:scripted")
    return tmp_path


def settings() -> dict[str, Any]:
    """What the written file holds."""
    return tomllib.loads(Path("atc.toml").read_text())


def converse(*answers: tuple[str, str], arguments: tuple[str, ...] = ()) -> tuple[int, str]:
    """The exit code, and all that was on the screen, after each question was answered."""
    with PtyScreen([ATC, "init", *arguments], columns=160, lines=60) as terminal:
        for question, keys in answers:
            terminal.wait(question)
            terminal.press(f"{keys}\r")
        return terminal.finish(), "\n".join(terminal.scrolled)


def test_enter_to_every_question_ends_with_an_answer(
    folder: Path, endpoint: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document in the folder, its server, the token of the environment: the question at the end is answered."""
    endpoint(PROGRAM)
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    with serving_shop(folder):
        code, screen = converse(
            ("Which API document?", ""),
            ("Where is the API?", ""),
            ("Variable with the credential bearerAuth for http://127.0.0.1:", ""),
            ("Which ones?", ""),
            ("Writes (ask, plan, deny) [ask]", ""),
            ("Run it now?", ""),
        )

    assert code == 0, screen
    assert "SHOP_TOKEN is set" in screen
    assert 'next: atc solve "What is the name of the first customer?"' in screen
    assert "Ada Moreau" in screen
    assert settings() == {
        "api": "openapi.yaml",
        "auth": ["bearerAuth:env:SHOP_TOKEN"],
        "model": "openai:scripted",
        "writes": "ask",
    }


def test_other_answers_are_in_the_file(folder: Path) -> None:
    """The address of the API in place of its document, another server, a variable, operations, a plan, deletions."""
    with LocalAPI() as api:
        content = document("https://weather.example/v1")
        api.answer("GET", "/openapi.json", content)
        code, screen = converse(
            ("Which API document? A file, its address, or the address of the API:", api.url.removeprefix("http://")),
            ("Where is the API?", api.url),
            (f"credential token for {api.url} [WEATHER_TOKEN]", "hunter2-is-typed"),
            ("[WEATHER_TOKEN]", "MY_WEATHER"),
            ("Which ones?", "3"),
            ("Which ones?", "1"),
            ("Writes", "plan"),
            ("May programs call it?", "y"),
        )

    assert code == 0, screen
    assert "the secret itself is never typed here" in screen
    assert "MY_WEATHER is not set yet: export MY_WEATHER=" in screen
    assert "numbers from 1 to 2" in screen
    assert 'next: atc solve --simulate "' in screen
    assert settings() == {
        "api": f"{api.url}/openapi.json",
        "base-url": api.url,
        "auth": ["token:env:MY_WEATHER"],
        "model": "openai:scripted",
        "only": ["/cities", "/cities/*"],
        "writes": "plan",
    }


def test_a_document_behind_a_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable with the token is asked for; the file names it, so that later commands read the document, too."""
    monkeypatch.setenv("MY_TOKEN", "nobody-else")
    with LocalAPI() as api:

        def respond(request: Received) -> Answer:
            is_in = request.headers.get("authorization") == "Bearer nobody-else"
            return Answer(200, document(api.url)) if is_in else Answer(401)

        api.respond("GET", "/openapi.json", respond)
        code, screen = converse(
            ("A variable with a token for the document", "MY_TOKEN"),
            ("Where is the API?", ""),
            ("Which ones?", ""),
            ("Writes", "deny"),
            arguments=(f"{api.url}/openapi.json",),
        )
        explained = atc("explain", "What?", "--model", "replay:none")

    assert (code, explained.exit_code) == (0, 0), screen + explained.stderr
    assert settings()["auth"] == ["bearer:env:MY_TOKEN"]
    assert settings()["without"] == ["DELETE"]
    assert "nobody-else" not in screen


def test_ctrl_c_leaves_nothing(folder: Path) -> None:
    """In the middle of the conversation; what was there stays as it was, too."""
    (folder / "openapi.json").write_text(json.dumps(document("https://weather.example/v1")))
    with PtyScreen([ATC, "init"], columns=120) as terminal:
        terminal.wait("Which API document?")
        terminal.press("\x03")
        assert terminal.finish() == 130
    assert not Path("atc.toml").exists()

    Path("atc.toml").write_text("# mine")
    code, screen = converse(("atc.toml exists. Write a new one in its place? [y/N]", ""))
    assert (code, Path("atc.toml").read_text()) == (130, "# mine"), screen


def test_options_without_a_terminal(folder: Path) -> None:
    """Nothing is asked: options say all of it, and the only document of the folder is taken."""
    (folder / "openapi.json").write_text(json.dumps(document("https://weather.example/v1")))
    result = atc("init", "--base-url", "https://w.example/v1", "--auth", "bearer:env:W", "--writes", "deny")

    assert result.exit_code == 0, result.output
    assert settings() == {
        "api": "openapi.json",
        "base-url": "https://w.example/v1",
        "auth": ["bearer:env:W"],
        "model": "openai:scripted",
        "writes": "deny",
        "without": ["DELETE"],
    }
    command = next(line for line in result.stderr.splitlines() if "next: " in line).partition("next: ")[2]
    assert shlex.split(command)[:3] == ["atc", "solve", "--simulate"]
    (folder / "second.json").write_text((folder / "openapi.json").read_text())
    assert "this folder has several: openapi.json, second.json" in atc("init", "--force").stderr


def test_a_service_without_a_document() -> None:
    """The addresses that were tried are in the message."""
    with LocalAPI() as api:
        result = atc("init", api.url)

    assert result.exit_code == 2
    assert f"nor is one at {api.url}/openapi.json" in result.stderr.replace("\n  ", "")
    assert not Path("atc.toml").exists()
