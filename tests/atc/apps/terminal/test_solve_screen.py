"""`atc solve` on a real pseudo-terminal: wide, narrow, resized, without colours, and without a moving cursor."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path

from tests.atc.apps.terminal.pty_screen import PtyScreen
from tests.atc_command import ATC, QUESTION
from tests.local_api import Answer, LocalAPI, Received, document

WRONG = """film = GET_search_film(query="The Long Tide")["results"][99]
crew = GET_film_film_id_credits(film_id=film["id"])["crew"]
print([person["name"] for person in crew if person["job"] == "Director"][0])
"""
RIGHT = WRONG.replace("[99]", "[0]")
COLOUR = re.compile(rb"\x1b\[(?:\d+;)*(?:3[0-7]|4[0-7]|38|48|9[0-7]|10[0-7])(?:;\d+)*m")


def solve(films: Path, *options: str) -> list[str]:
    return [ATC, "solve", QUESTION, "--api", str(films), "--simulate", "--model", "openai:scripted", *options]


def test_a_revision_is_a_diff_with_the_tool_to_blame(films: Path, endpoint: Callable[..., None]) -> None:
    """On 80x24 without colours: the failing line is marked, and the second program shows what changed and why. No other
    screen is opened, so that the solve can be scrolled back to, over ssh too; the cursor is back."""
    endpoint(WRONG, RIGHT.replace("print(", 'print("\x1b]0;owned\x07", '))
    with PtyScreen(solve(films), env={"NO_COLOR": "1"}) as screen:
        assert screen.finish() == 0
        screen_text = screen.scrolled

    assert any(line.lstrip().startswith("❱ 1 film = GET_search_film") for line in screen_text)
    assert any(line.startswith("program 2 · after GET_search_film: ") for line in screen_text)
    assert '- film = GET_search_film(query="The Long Tide")["results"][99]' in screen_text
    assert '+ film = GET_search_film(query="The Long Tide")["results"][0]' in screen_text
    assert any("data flow: GET_search_film → results[0].id to" in line for line in screen_text)
    assert screen_text.index(next(line for line in screen_text if line.startswith("answer ─"))) < len(screen_text) - 3
    assert any(line.startswith("answered · 1 reflection · 3 calls") for line in screen_text)
    bold = "\x1b[1m␛]0;owned␇".encode()
    assert screen.sent.count(bold) == 1, "the answer is the one line in bold; frames may show the output, too"
    assert b"\x1b]0;owned" not in screen.sent, "what a program prints cannot drive the terminal"
    assert not COLOUR.search(screen.sent)
    assert b"\x1b[?1049h" not in screen.sent and b"\x1b[2J" not in screen.sent
    assert screen.sent.rindex(b"\x1b[?25h") > screen.sent.rindex(b"\x1b[?25l")


def test_a_terminal_that_cannot_move_its_cursor(films: Path, endpoint: Callable[..., None]) -> None:
    """With TERM=dumb there are plain lines, without a single escape sequence."""
    endpoint(WRONG, RIGHT)
    with PtyScreen(solve(films, "-v"), env={"TERM": "dumb"}) as screen:
        assert screen.finish() == 0

    assert b"\x1b" not in screen.sent
    assert b"attempt 2: run ended: ok" in screen.sent
    assert b'    - film = GET_search_film(query="The Long Tide")["results"][99]\r\n' in screen.sent
    assert "    + film" in screen.sent.decode()
    assert "data flow: GET_search_film → results[0].id" in screen.sent.decode()


def test_the_running_line_and_a_smaller_window(endpoint: Callable[..., None], tmp_path: Path) -> None:
    """While a call is under way its line is marked and named; after the window became smaller nothing overflows."""
    assignments = "\n".join(f"number_{line} = {line}" for line in range(1, 40))
    endpoint(f'{assignments}\ncity = GET_cities_city_id("oslo")\nprint(city["name"])\n')
    go_on = threading.Event()

    def reply(request: Received) -> Answer:
        go_on.wait(30)
        return Answer(200, {"id": "oslo", "name": "Oslo"})

    with LocalAPI() as api:
        api.respond("GET", "/cities/oslo", reply)
        (tmp_path / "api.json").write_text(json.dumps(document(api.url)))
        command = [ATC, "solve", "Which city is oslo?", "--api", str(tmp_path / "api.json")]
        command += ["--auth", "bearer:env:TOKEN", "--model", "openai:scripted"]
        with PtyScreen(command, env={"TOKEN": "of-the-test"}) as screen:
            screen.wait("line 40: GET_cities_city_id is called")
            screen.wait('❱ 40 city = GET_cities_city_id("oslo")')
            assert not any("number_1 =" in line for line in screen.lines), "the window follows the line"
            screen.resize(40, 12)
            screen.wait_until(lambda: sum("❱ 40" in line for line in screen.lines) == 1, "one marked line")
            go_on.set()
            assert screen.finish() == 0

    assert "Oslo" in screen.scrolled
    assert b"of-the-test" not in screen.sent


def test_the_question_stands_beside_the_write(endpoint: Callable[..., None], tmp_path: Path) -> None:
    """With `--writes ask` whoever confirms sees what was asked; after a no nothing is sent, and the exit code is 3."""
    endpoint('print(POST_alerts(text="Storm"))')
    with LocalAPI() as api:
        (tmp_path / "api.json").write_text(json.dumps(document(api.url)))
        command = [ATC, "solve", "Warn everybody of the storm", "--api", str(tmp_path / "api.json"), "--writes", "ask"]
        command += ["--auth", "bearer:env:TOKEN", "--model", "openai:scripted"]
        with PtyScreen(command, env={"TOKEN": "of-the-test"}) as screen:
            screen.wait("Enter for no:")
            screen_text = "\n".join(screen.lines)
            screen.press("n\r")
            assert screen.finish() == 3
        assert api.requests == []

    assert 'You asked: "Warn everybody of the storm"' in screen_text
    assert "The program wants to write: POST_alerts" in screen_text and 'text: "Storm"' in screen_text
