"""A secret where --auth or --header wants its source is not repeated, whichever way it was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from atc import Agent
from protocols.calls.auth import credential
from protocols.calls.header_option import header_of
from protocols.errors import ATCError
from tests.atc_command import atc
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

SECRET = "sk-live-Hidden123"
WRONG_AUTH = [
    SECRET,
    f"bearer:{SECRET}",
    f"bearer {SECRET}",
    f"Bearer: {SECRET}",
    f"bearer:env:{SECRET}",
    f"bearer:env:{SECRET.replace('-', '_')}",
    f"bearer:keyring:{SECRET}",
    f"{SECRET}:env:TOKEN",
    f"{SECRET}=bearer:env:TOKEN",
    f"header:X-Key:{SECRET}:env:TOKEN",
    f"header:X-Key:{SECRET}",
    f"query:{SECRET}",
    f"basic:ann:{SECRET}",
]
WRONG_HEADERS = [SECRET, f"X-Key {SECRET}", f"Authorization: Bearer {SECRET}", f"Host: {SECRET}", f"{SECRET}=X-Key:1"]
WRONG = [*(("auth", text) for text in WRONG_AUTH), *(("header", text) for text in WRONG_HEADERS)]
WORDS = [
    ["--auth", "bearer:", SECRET],
    ["--auth", "Bearer", SECRET, "Who?"],
    ["--auht", SECRET],
    ["--auths", SECRET],
    [f"--auth-{SECRET}"],
    [f"--auth:{SECRET}"],
    ["--header", "X-Key:", SECRET],
    [f"--headers=X-Key:{SECRET}"],
]


def hidden(text: str) -> bool:
    """Whether a text has nothing of the secret."""
    return "Hidden123" not in text


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, films: Path) -> list[str]:
    """The words of a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text("print(1)")
    return ["run", "program.py", "--api", str(films)]


@pytest.mark.parametrize(("option", "text"), WRONG)
def test_on_the_command_line_in_the_environment_and_in_a_file(
    program: list[str], monkeypatch: pytest.MonkeyPatch, option: str, text: str
) -> None:
    """Exit code 2 each time, and a message without it."""
    typed = atc(*program, f"--{option}", text)
    Path("atc.toml").write_text(f"[run]\n{option} = [{text!r}]\n")
    monkeypatch.setenv("ATC_CONFIG", "atc.toml")
    from_file = atc(*program)
    monkeypatch.delenv("ATC_CONFIG")
    Path("atc.toml").unlink()
    monkeypatch.setenv(f"ATC_RUN_{option.upper()}", text)
    from_environment = atc(*program)

    for result in (typed, from_file, from_environment):
        assert (result.exit_code, hidden(result.output + result.stderr)) == (2, True), result.stderr


@pytest.mark.parametrize("words", WORDS)
def test_words_that_the_shell_took_apart(program: list[str], words: list[str]) -> None:
    """A blank in the value, or an option that is spelled wrongly."""
    result = atc(*program, *words)

    assert (result.exit_code, hidden(result.output + result.stderr)) == (2, True), result.stderr


@pytest.mark.parametrize(("option", "text"), WRONG)
def test_in_python(option: str, text: str) -> None:
    """Neither in the message, nor in what it was raised from."""
    with LocalAPI() as api, pytest.raises(ATCError) as raised:
        (credential if option == "auth" else header_of)(text, api.protocol)
    assert hidden(f"{raised.value}{raised.value.__cause__}")


def test_an_agent_says_no_more() -> None:
    """The options of an agent are read by the same functions."""
    with LocalAPI() as api, pytest.raises(ATCError) as raised:
        Agent(api.protocol, ScriptedModel("print(1)"), auth=[f"bearer:{SECRET}"])
    assert hidden(str(raised.value))
