"""A terminal of 40 columns: what a command says there has every word of what it says on a wide one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.atc.apps.terminal.pty_screen import PtyScreen
from tests.atc_command import ATC, QUESTION, RIGHT, WRONG

BORDERS = str.maketrans("", "", "─━│┃┏┳┓┡╇┩└┴┘ ")


def on_terminal(command: list[str], columns: int) -> tuple[int, str]:
    """The exit code of a command on a terminal that wide, and what it leaves on the screen, without blanks."""
    with PtyScreen(command, columns=columns, lines=20) as screen:
        code = screen.finish()
        return code, "".join("".join(line.translate(BORDERS).split()) for line in screen.scrolled)


@pytest.mark.parametrize("words", [["doctor"], ["explain", QUESTION, "--api", "FILMS"], ["--help"], ["model", "list"]])
def test_nothing_is_cut(films: Path, words: list[str]) -> None:
    """Tables break words rather than shorten them."""
    command = [ATC, *(str(films) if word == "FILMS" else word for word in words)]
    (code, narrow), (_, wide) = on_terminal(command, 40), on_terminal(command, 160)

    assert code == 0
    assert sorted(narrow) == sorted(wide)  # cells of a table that are wrapped stand in another order


def test_a_solve_is_followed_and_answered(films: Path, endpoint: Callable[..., None]) -> None:
    """The failing program, the tool to blame, what changed, the answer with its figures."""
    endpoint(WRONG, RIGHT)
    command = [ATC, "solve", QUESTION, "--api", str(films), "--simulate", "--model", "openai:scripted"]
    code, text = on_terminal(command, 40)

    assert code == 0
    changed = '+film=GET_search_film(query="TheLongTide")["results"][0]'
    heading, cause = "program2·afterGET_search_film:whatfailed", "(whatfailedcamefromitsresponse)"
    parts = (heading, cause, changed, "answered·1reflection")
    assert [part for part in parts if part not in text] == []
