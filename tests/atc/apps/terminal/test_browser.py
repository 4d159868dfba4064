"""`atc tui`: what somebody finds in a folder of solutions and runs, and what a solution shows when it is opened."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, TabPane

from atc.apps.tui.browser import SolutionBrowser
from atc.apps.tui.detail import CallTree
from atc.files import write_json
from atc.solution import Solution
from docs.pictures import PICTURES, solved
from tests.atc.apps.terminal.pty_screen import PtyScreen
from tests.atc_command import ATC, atc

EVIL = "\x1b[2J[red]Who?[/red] [@click=app.quit]quit[/]"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def repaired() -> Solution:
    """A solve with one revision."""
    picture = PICTURES["tui.svg"]
    return solved(picture.mode, picture.messages)


@pytest.fixture(scope="session")
def search() -> Solution:
    """A search with two branches."""
    picture = PICTURES["tree.svg"]
    return solved(picture.mode, picture.messages)


@pytest.fixture
def folder(tmp_path: Path, repaired: Solution, search: Solution) -> Path:
    """A solution of `atc solve --out`, a run with a task, settings, and a file that a kill cut off."""
    (tmp_path / "run" / "tasks").mkdir(parents=True)
    write_json(tmp_path / "answer.json", repaired.to_json())
    write_json(tmp_path / "run" / "config.json", {"benchmark": "tiny"})
    task = {**json.loads(json.dumps(search.to_json())), "query": "Which film is it?"}
    del task["seconds"]
    write_json(tmp_path / "run" / "tasks" / "t1.json", {"id": "t1", "metrics": {}, "solution": task})
    (tmp_path / "broken.json").write_text((tmp_path / "answer.json").read_text()[:200])
    return tmp_path


async def loaded(pilot: Pilot[None]) -> list[list[str]]:
    """The rows of the list when all files are read."""
    app = pilot.app
    assert isinstance(app, SolutionBrowser)
    while app.loading_files:
        await pilot.pause(0.02)
    await pilot.pause()
    return rows(app)


def rows(app: SolutionBrowser) -> list[list[str]]:
    table = app.query_one(DataTable)
    return [[str(cell) for cell in table.get_row_at(place)] for place in range(table.row_count)]


async def opened(pilot: Pilot[None]) -> None:
    """Open the row at the cursor."""
    await pilot.press("enter")
    await panes(pilot)


async def panes(pilot: Pilot[None]) -> None:
    while not pilot.app.screen.query(TabPane):
        await pilot.pause(0.02)
    await pilot.pause()


def shown(pilot: Pilot[None]) -> str:
    """All that is on the screen."""
    app = pilot.app
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


@pytest.mark.anyio
async def test_a_folder_is_listed(folder: Path) -> None:
    """Solutions and tasks of runs with their figures; damaged files with the reason; settings are no solutions. Words
    of question, status, standing or file choose rows; `s` sorts by the next column; escape ends the filter."""
    app = SolutionBrowser(folder)
    async with app.run_test(size=(80, 24)) as pilot:
        listed = await loaded(pilot)
        while "q Quit" not in shown(pilot):  # the footer is drawn a moment later
            await pilot.pause(0.02)
        screen = shown(pilot)
        await pilot.press("slash", *"answered t1")
        while app.filter_words != "answered t1":
            await pilot.pause(0.02)
        filtered = rows(app)
        await pilot.press("escape")
        while app.filter_words:
            await pilot.pause(0.02)
        unfiltered = rows(app)
        await pilot.press("s")
        await pilot.pause()
        by_question = rows(app)

    assert [row[:5] for row in listed] == [
        ["Who directed The Silent Harbor?", "answered", "supported", "2", "4"],
        [listed[1][0], "damaged", "", "", ""],
        ["Which film is it?", "answered", "supported", "3", "4"],
    ]
    assert listed[1][0].startswith("is no JSON: ")
    assert "2 solutions · by file · 1 damaged · other JSON files: 1" in screen
    assert "answer.json" in screen, "the file at the cursor"
    assert "⏎ Open  q Quit  / Filter  s Sort" in screen
    assert max(map(len, screen.splitlines())) <= 80
    assert ([row[0] for row in filtered], unfiltered) == (["Which film is it?"], listed)
    assert [row[0][:9] for row in by_question] == ["is no JSO", "Which fil", "Who direc"]


@pytest.mark.anyio
async def test_an_opened_solution(folder: Path) -> None:
    """Answer, evidence, data flow and figures first; then attempts with the faulty line, the diff and the tool to
    blame; then calls with their responses folded, of which each level is opened with enter."""
    async with SolutionBrowser(folder).run_test(size=(100, 40)) as pilot:
        await loaded(pilot)
        await opened(pilot)
        answer = shown(pilot)
        await pilot.press("2")
        await pilot.pause()
        attempts = shown(pilot)
        await pilot.press("3")
        await pilot.pause()
        folded = shown(pilot)
        tree = pilot.app.screen.query_one(CallTree)
        await pilot.press("down", "enter")
        await pilot.pause()
        for label in ("response", "films", "[0]"):
            node = next(node for node in tree._tree_nodes.values() if str(node.label).startswith(label))
            node.expand()
            await pilot.pause()
        unfolded = shown(pilot)
        await pilot.press("escape")
        await pilot.pause()
        back = shown(pilot)

    assert "supported: nothing was found that speaks against it" in answer
    assert "rests on: GET_films_filmId_credits → crew[0].name" in answer
    assert "data flow: GET_films → films[0].filmId to GET_films_filmId_credits(filmId)" in answer
    assert "answered · 1 reflection · 4 calls (2 replayed)" in answer
    assert "❱ 4 print(names[0])" in attempts
    assert "✗ line 4: IndexError: list index out of range" in attempts
    assert 'to blame: GET_films_filmId_credits at ["crew"]' in attempts
    assert '+ names = [person["name"] for person in credits["crew"] if person["job"] == "Director"]' in attempts
    assert "program 2 · after GET_films_filmId_credits: what failed came from its response" in attempts
    assert 'GET_films(query="The Silent Harbor")  line 1' in folded
    assert "filmId" not in folded.replace("GET_films_filmId_credits(filmId=", "")
    assert "filmId: 41" in unfolded
    assert "2 solutions" in back


@pytest.mark.anyio
async def test_a_damaged_file_says_why(folder: Path) -> None:
    """Opening one shows the reason and what to do, and the list is still there behind it."""
    write_json(folder / "aaa.json", {"query": "q", "status": "answered", "attempts": [{"program": 1}]})
    async with SolutionBrowser(folder).run_test(size=(80, 24)) as pilot:
        await loaded(pilot)
        await pilot.press("enter")
        while "Write the file anew" not in shown(pilot):
            await pilot.pause(0.02)
        screen = "".join(shown(pilot).split())
        await pilot.press("escape")
        await pilot.pause()
        assert "solutions" in shown(pilot)

    assert "aaa.jsonisdamaged:" in screen


@pytest.mark.anyio
async def test_nothing_from_a_file_drives_the_terminal(tmp_path: Path, repaired: Solution) -> None:
    """Escape sequences and markup in a question, an answer, a reply or a file name are shown as text."""
    run = repaired.attempts[-1].run
    assert run is not None
    call = replace(run.calls[0], response={EVIL: [EVIL]}, error=EVIL, arguments={"query": EVIL})
    attempt = replace(repaired.attempts[-1], run=replace(run, calls=(call, *run.calls[1:]), stdout=EVIL))
    solution = replace(repaired, query=EVIL, answer=EVIL, attempts=(attempt,), warnings=(EVIL,), message=EVIL)
    write_json(tmp_path / "[red]a.json", solution.to_json())
    write_json(tmp_path / "[red]b.json", {"query": EVIL, "attempts": EVIL})
    async with SolutionBrowser(tmp_path).run_test(size=(110, 40)) as pilot:
        await loaded(pilot)
        screens = [shown(pilot)]
        await opened(pilot)
        screens.append(shown(pilot))
        for key in ("2", "3"):
            await pilot.press(key)
            await pilot.pause()
            screens.append(shown(pilot))
        tree = pilot.app.screen.query_one(CallTree)
        for _ in range(4):
            for node in list(tree._tree_nodes.values()):
                node.expand()
            await pilot.pause()
        screens.append(shown(pilot))

    assert all("␛[2J[red]Who?[/red]" in screen for screen in screens)
    assert "[red]a.json" in screens[0]
    assert not any("\x1b" in screen for screen in screens)


def test_without_a_terminal_it_says_so(tmp_path: Path) -> None:
    """Where nothing can be drawn the command ends with 2 and names another one."""
    result = atc("tui", tmp_path)

    assert result.exit_code == 2
    assert "atc tui needs a terminal that can move its cursor; elsewhere `atc trace FILE`" in result.stderr


def test_on_a_real_terminal(folder: Path) -> None:
    """On 80x24 without colours: the row at the cursor is seen, a solution is opened and left, q ends with 0."""
    with PtyScreen([ATC, "tui", str(folder)], env={"NO_COLOR": "1"}) as screen:
        screen.wait("2 solutions · by file")
        screen.wait("answer.json")
        assert any("Who directed" in text for text in screen.reversed)
        screen.press("\r")
        screen.wait("rests on: GET_films_filmId_credits")
        screen.press("2")
        screen.wait("❱ 4 print(names[0])")
        screen.resize(60, 20)
        screen.wait_until(lambda: any("q Quit" in line for line in screen.lines[-1:]), "the footer")
        screen.press("\x1b")
        screen.wait("2 solutions · by file")
        screen.press("q")
        assert screen.finish() == 0

    assert screen.sent.rindex(b"\x1b[?1049l") > screen.sent.rindex(b"\x1b[?1049h"), "the screen before is back"
