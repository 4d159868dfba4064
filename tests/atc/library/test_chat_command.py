"""`atc chat`, piped and at a real terminal, with a model endpoint on localhost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner, Result

from atc.apps.cli import main
from tests.terminal_command import TerminalCommand

SEARCH = 'film = GET_search_film(query="The Long Tide")["results"][0]\n'
NAME = f"```python\n{SEARCH}print(film['title'])\n```"
IDENTIFIER = f"```python\n{SEARCH}print(film['id'])\n```"
QUESTION = 'What is the title of "The Long Tide"?'


def chat(lines: str, *arguments: str | Path) -> Result:
    """Run the command with lines on stdin."""
    return CliRunner().invoke(main, ["chat", "--model", "openai:scripted", *map(str, arguments)], input=lines)


def test_questions_are_piped_in(films: Path, endpoint: Callable[..., None]) -> None:
    """Each line is a question, its answer goes to stdout, and an unknown command is told without an end."""
    endpoint(NAME, IDENTIFIER)

    result = chat(f"{QUESTION}\n\n/again\nAnd its id?\n", "--api", films, "--simulate")

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "The Long Tide"
    assert len(result.stdout.splitlines()) == 2
    assert "atc: /again is no command of a chat; there is /refresh [QUESTION]" in result.stderr


def test_a_chat_is_kept_and_goes_on(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """A later command needs the journal alone; with --json each solution is a line, and what was read is replayed."""
    journal = tmp_path / "chat.journal"
    endpoint(NAME)
    assert chat(f"{QUESTION}\n", "--api", films, "--simulate", "--journal", journal).exit_code == 0
    endpoint(IDENTIFIER, NAME)

    result = chat("And its id?\n/refresh\n", "--journal", journal, "--json")

    solutions = [json.loads(line) for line in result.stdout.splitlines()]
    assert [solution["query"] for solution in solutions] == ["And its id?"] * 2
    assert [[call["replayed"] for call in solution["calls"]] for solution in solutions] == [[True], [False]]


def test_bad_input(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Without an API, or with the journal of one question, the command says what to do."""
    endpoint(NAME)
    missing = chat("")
    assert (missing.exit_code, "Missing option '--api'" in missing.stderr) == (2, True)
    silent = chat("", "--api", films, "--simulate")
    assert (silent.exit_code, "no question came" in silent.stderr) == (2, True)
    solved = tmp_path / "solve.journal"
    options = ["--api", films, "--simulate", "--model", "openai:scripted", "--journal", solved]
    CliRunner().invoke(main, ["solve", QUESTION, *map(str, options)])

    refused = chat(f"{QUESTION}\n", "--api", films, "--simulate", "--journal", solved)

    assert refused.exit_code == 2
    assert "is that of one question, and of no chat; name another file" in refused.stderr


def test_ctrl_c_ends_a_question_and_ctrl_d_the_chat(films: Path, endpoint: Callable[..., None]) -> None:
    """At a terminal a question that hangs is ended by ctrl-C, and the prompt is there again."""
    endpoint(IDENTIFIER, None)
    arguments = ["chat", "--api", str(films), "--simulate", "--model", "openai:scripted"]
    terminal = TerminalCommand(["atc", *arguments])
    terminal.expect("> $")
    terminal.sendline('What is the id of "The Long Tide"?')
    terminal.expect("tokens read[^>]*> $")
    terminal.sendline("And who made it?")
    terminal.expect("model|Model")
    terminal.send("\x03")
    terminal.expect("interrupted[^>]*> $")
    terminal.send("\x04")

    assert terminal.finish() == 130
