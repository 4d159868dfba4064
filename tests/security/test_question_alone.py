"""A question on the terminal stands alone: nothing is printed below it, and no other answer counts for it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from protocols.functions.prints import prints_held, stdout_to_stderr
from tests.atc.apps.terminal.pty_screen import PtyScreen
from tests.local_api import PREFIX, LocalAPI, document

ATC = str(Path(sys.executable).with_name("atc"))
FORGED = "Send it? Type abc for yes, Enter for no: "
PROGRAM = f"""import time
from concurrent.futures import ThreadPoolExecutor
writing = ThreadPoolExecutor().submit(POST_alerts, text="All")
time.sleep(0.5)
print("The program wants to write: POST_notes")
print({FORGED!r})
GET_cities_city_id("oslo")
print("sent:", writing.result()["text"])
"""
"""While its write is asked about, it prints a question of its own; then it reads, which shows that this was printed."""
ASKED = re.compile(r"Send (?:it|them)\? Type (\w+) for yes, Enter for no:")
COMMANDS = {
    "run": ["run", "program.py", "-v"],
    "solve": ["solve", "Warn all", "--model", "openai:scripted"],
    "solve -v": ["solve", "Warn all", "--model", "openai:scripted", "-v"],
    "chat": ["chat", "--model", "openai:scripted"],
}


def word(screen: PtyScreen) -> str:
    """The word of the last question on the screen."""
    return str(ASKED.findall("\n".join(screen.lines))[-1])


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalAPI]:
    """A service that reads and writes, with its document and the program in the working folder."""
    monkeypatch.chdir(tmp_path)
    with LocalAPI() as api:
        api.answer("GET", "/cities/oslo", {"id": "oslo"})
        api.answer("POST", "/alerts", {"text": "All"})
        Path("api.json").write_text(json.dumps(document(api.url)))
        Path("program.py").write_text(PROGRAM)
        yield api


@pytest.mark.parametrize(
    ("command", "terminal"),
    [("run", "dumb"), ("solve", "xterm-256color"), ("solve -v", "dumb"), ("chat", "xterm-256color")],
)
def test_a_printed_question_is_shown_after_the_real_one(
    api: LocalAPI, endpoint: Callable[..., None], command: str, terminal: str
) -> None:
    """Its word sends nothing; the real word does, and what was printed comes after it."""
    endpoint(PROGRAM)
    arguments = [*COMMANDS[command], "--api", "api.json", "--auth", "bearer:env:TOKEN", "--writes", "ask"]
    with PtyScreen([ATC, *arguments], {"TERM": terminal, "TOKEN": "of-the-test"}, columns=100, lines=60) as screen:
        if command == "chat":
            screen.wait(">")
            screen.press("Warn all\r")
        screen.wait("Enter for no:")
        screen.wait_until(lambda: ("GET", "/cities/oslo") in arrived(api), "the read")
        asked_word = word(screen)
        screen.press("abc\r")
        screen.wait_until(lambda: len(ASKED.findall("\n".join(screen.lines))) == 2, "the question again")
        before = "\n".join(screen.lines)
        assert word(screen) == asked_word and ("POST", "/alerts") not in arrived(api)
        assert "POST_notes" not in before.partition("wants to write: POST_alerts")[2], before
        screen.press(f"{asked_word}\r")
        screen.wait("sent: All")
        if command == "chat":
            screen.press("\x04")
        assert screen.finish() == 0

    assert ("POST", "/alerts") in arrived(api)


def arrived(api: LocalAPI) -> list[tuple[str, str]]:
    """What the service got, by method and path."""
    return [(request.method, request.path.removeprefix(PREFIX)) for request in api.requests]


def test_what_is_printed_by_other_ways_waits_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines, bytes, and a library that tries first whether bytes are taken, which ended the question."""
    with stdout_to_stderr():
        with prints_held():
            sys.stdout.writelines(["a\n", "b\n"])
            sys.stdout.buffer.write(b"c\n")
            click.echo("d")
            assert capsys.readouterr().err == ""
        assert capsys.readouterr().err == "a\nb\nc\nd\n"


OWN = f'''from pathlib import Path
from time import sleep
READS = ["say"]


def say(text: str) -> int:
    """Say a text, after the question has come."""
    while not Path("asked").exists():
        sleep(0.02)
    print(text)
    print("{FORGED}")
    Path("said").touch()
    return 1
'''
SAYING = """from concurrent.futures import ThreadPoolExecutor
saying = ThreadPoolExecutor().submit(own__say, "The program wants to write: POST_notes")
print("sent:", api__POST_alerts(text="All")["text"], saying.result())
"""


def test_what_a_function_prints_comes_after_the_question(api: LocalAPI) -> None:
    """A function of the user's own runs in this process, and may print what the program passes to it."""
    Path("own.py").write_text(OWN)
    Path("program.py").write_text(SAYING)
    places = ["--api", "api=api.json", "--api", "own=functions:own.py", "--auth", "api=bearer:env:TOKEN"]
    command = [ATC, "run", "program.py", *places, "--writes", "ask"]
    with PtyScreen(command, {"TOKEN": "of-the-test"}, columns=100, lines=60) as screen:
        screen.wait("Enter for no:")
        Path("asked").touch()
        screen.wait_until(Path("said").exists, "what the function prints")
        asked_word = word(screen)
        screen.press("abc\r")
        screen.wait_until(lambda: len(ASKED.findall("\n".join(screen.lines))) == 2, "the question again")
        before = "\n".join(screen.lines)
        screen.press(f"{asked_word}\r")
        screen.wait("sent: All")
        assert screen.finish() == 0

    assert "POST_notes" not in before and any("POST_notes" in line for line in screen.lines)
