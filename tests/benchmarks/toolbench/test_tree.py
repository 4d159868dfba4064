"""What a user sees of a search: its tree on a terminal while it grows and afterwards, in a log, and on a page."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len
from rich.console import Console

from atc import Agent
from atc.apps.cli import main
from atc.apps.tui.lines import LineView
from atc.apps.tui.live import LiveView
from atc.apps.tui.parts import tree_text
from atc.events import Event, ModelProgress, ModelWaiting, NodeChanged, SolveStarted
from atc.models import Progress, Usage
from atc.search_tree import NodeOutcome, SearchNode, SearchStep
from atc.solution import Solution
from docs.pictures import PICTURES, draw
from tests.benchmarks.report_runs import solution as record
from tests.benchmarks.report_runs import task, write_run
from tests.browser import open_browser
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

EVIL = '<script>document.title="owned"</script><img src=x onerror="document.title=1">'
SECRET = "sk-live-4711abcdefgh"
ESCAPE = "\x1b[2J\x1b]0;owned\x07"
CITY = 'Thought: the city first.\nAction: GET_cities(query="Oslo")'
WEATHER = 'Thought: its weather.\nAction: GET_cities_city_id_weather(city_id="osl")'
GIVE_UP = 'Thought: hm.\nAction: give_up(reason="no way on")'
FINISH = 'Thought: yes.\nAction: finish(answer="Yes, it rains")'


def search(api: LocalAPI, mode: str, *messages: str) -> tuple[Solution, list[Event]]:
    """A search by scripted messages, and its events."""
    events: list[Event] = []
    with Agent(api.protocol, ScriptedModel(*messages), mode, on_event=events.append) as agent:
        return agent.solve("Does it rain in Oslo?"), events


def node(number: int, parent: int, outcome: NodeOutcome = "open", **fields: object) -> SearchNode:
    """A message with a call."""
    call = SearchStep("GET_cities", {"query": f"city {number}"}, "", f"observation {number} " + "x" * 500)
    values: dict[str, object] = {"thought": f"thought {number} " + "y" * 300, "steps": (call,), "outcome": outcome}
    return SearchNode(number, parent, **(values | fields))  # type: ignore[arg-type]


def plain(text: str) -> str:
    """What is left for the eye of all that was sent to a terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "")


def terminal(width: int = 80, height: int = 24, *, no_color: bool = False) -> Console:
    """A terminal whose output is kept."""
    return Console(
        file=io.StringIO(),
        force_terminal=True,
        width=width,
        height=height,
        color_system="truecolor",
        no_color=no_color,
        legacy_windows=False,
    )


def sent(console: Console) -> str:
    """All that was sent to a terminal."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def drawn(nodes: Sequence[SearchNode], width: int = 80) -> str:
    """The whole tree as a terminal of this width shows it."""
    console = terminal(width)
    console.print(tree_text(nodes))
    return plain(sent(console))


def moving(events: Sequence[Event], width: int = 80, height: int = 24) -> list[str]:
    """The lines of the moving part after these events."""
    console = terminal(width, height)
    view = LiveView(console)
    for event in events:
        view(event)
    with console.capture() as capture:
        console.print(view.moving())
    return plain(capture.get()).splitlines()


def live(events: Sequence[Event], *, no_color: bool = False) -> str:
    """All that the live view sends to a terminal of 80 by 24."""
    console = terminal(no_color=no_color)
    with LiveView(console) as view:
        for event in events:
            view(event)
    return sent(console)


def lines(events: Sequence[Event], *, verbose: bool = False) -> list[str]:
    """What a log has of it."""
    written: list[str] = []
    view = LineView(written.append, verbose=verbose)
    for event in events:
        view(event)
    return written


# --- a real search on a terminal


def test_a_search_ends_as_its_tree(weather: LocalAPI) -> None:
    """Thoughts, calls, observations, the branch that was given up and why, the answer; then the figures."""
    _, events = search(weather, "dfsdt", CITY, GIVE_UP, WEATHER, FINISH)
    screen = plain(live(events))
    tree = screen[screen.rindex("search · ") :]

    assert "the city first." in tree
    assert 'GET_cities(query="Oslo")' in tree
    assert '→ {"results": [{"id": "osl"' in tree
    assert "↩ gave up: no way on" in tree
    assert "✓ answer: Yes, it rains" in tree
    assert tree.index("gave up") < tree.index("✓ answer") < tree.index("answered · ")
    assert "program 1" not in screen


def test_each_try_is_a_tree(weather: LocalAPI) -> None:
    """In MODE@N the tries are numbered, on the screen and in the log."""
    solution, events = search(weather, "dfsdt@2", CITY, GIVE_UP, GIVE_UP, WEATHER, FINISH)
    text, screen = drawn(solution.tree), plain(live(events))
    last = solution.tree[-1]

    assert (last.trial, last.outcome) == (2, "answer")
    assert "try 1 · " in text and "try 2 · " in text
    assert screen.index("✗ GaveUp") < screen.rindex("try 2 · ")
    assert any(line.startswith(f"try 2, message {last.id}") for line in lines(events))


def test_the_log_has_a_line_for_a_message_and_one_for_its_end(weather: LocalAPI) -> None:
    """Messages come in their order, and a branch that is left says so where it happened."""
    _, events = search(weather, "dfsdt", CITY, GIVE_UP, WEATHER, FINISH)
    written = [line for line in lines(events) if line.startswith("message")]

    assert written[0].startswith('message 1: the city first. · GET_cities(query="Oslo") → {"results"')
    assert written[1] == "message 2 after 1: hm. · ↩ gave up: no way on"
    assert written[2].startswith("message 1: ⊘ abandoned: ")
    assert written[-1].endswith("✓ answer: Yes, it rains")
    numbers = [int(line.split()[1].rstrip(":")) for line in written]
    assert sorted(set(numbers)) == list(dict.fromkeys(number for number in numbers if numbers))


# --- any tree on any terminal


def deep(count: int) -> list[SearchNode]:
    """A path on which each message has a sibling that was given up."""
    nodes = []
    for number in range(count):
        parent = 2 * number - 1 if number else 0
        nodes.append(node(2 * number + 1, parent))
        nodes.append(node(2 * number + 2, parent, "give_up", why=f"reason {number}", steps=()))
    return nodes


def chain(count: int) -> list[SearchNode]:
    """A path without a fork."""
    return [node(number, number - 1) for number in range(1, count + 1)]


def wide(count: int) -> list[SearchNode]:
    """Many branches at the question."""
    return [node(number, 0, "abandoned") for number in range(1, count)] + [node(count, 0)]


SHAPES = [deep(100), chain(200), wide(200), [*deep(6), *(node(20 + n, 11, "depth") for n in range(30))]]


@pytest.mark.parametrize("nodes", SHAPES)
@pytest.mark.parametrize(("width", "height"), [(80, 24), (20, 5), (200, 60)])
def test_the_moving_tree_fits(nodes: list[SearchNode], width: int, height: int) -> None:
    """Whatever the search is like, its moving part is never larger than the terminal, and has the last message."""
    waiting: list[Event] = [ModelWaiting(9), ModelProgress(9, Progress(9, 9, "Thought: a\nAction: b\n" * 9, 0.0))]
    current = [entry for entry in nodes if entry.outcome == "open"][-1]
    events: list[Event] = [*map(NodeChanged, nodes), NodeChanged(current), *waiting]
    screen = moving(events, width, height)

    assert len(screen) <= height
    assert max(map(cell_len, screen)) <= width
    assert any(line.startswith(f"{current.id} ") for line in screen)


@pytest.mark.parametrize("nodes", SHAPES)
@pytest.mark.parametrize("width", [20, 80])
def test_the_whole_tree_fits_the_width(nodes: list[SearchNode], width: int) -> None:
    """A finished tree of any depth is no wider than the terminal, and has all messages."""
    text = drawn(nodes, width)

    assert max(map(cell_len, text.splitlines())) <= width
    starts = re.findall(r"^(?:after \d+:\s)?(\d+)\s", text, re.MULTILINE)
    assert {entry.id for entry in nodes} <= set(map(int, starts))


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        ("give_up", "↩ gave up: the reason"),
        ("depth", "⇥ too deep: the reason"),
        ("limit", "■ limit: the reason"),
        ("error", "✗ error: the reason"),
        ("abandoned", "⊘ abandoned: the reason"),
    ],
)
def test_an_end_needs_no_colour(outcome: NodeOutcome, text: str) -> None:
    """A sign, a word and the reason, with or without colour; without it, no escape sequence sets one."""
    ended = [node(1, 0, outcome, why="the reason")]
    codes = re.findall(r"\x1b\[([0-9;]*)m", live([*map(NodeChanged, ended)], no_color=True))

    assert text in " ".join(drawn(ended).split())
    assert any(text in line for line in lines([*map(NodeChanged, ended)]))
    assert not [code for code in codes for part in code.split(";") if part and 30 <= int(part) <= 107]


def test_nothing_from_outside_drives_the_terminal() -> None:
    """Escape sequences of a model or an API arrive as signs, and markup is text."""
    call = SearchStep(f"GET{ESCAPE}", {f"a{ESCAPE}": ESCAPE}, ESCAPE, f"[red]{ESCAPE}", code=6)
    evil = node(1, 0, "give_up", thought=f"[bold]{ESCAPE}", steps=(call,), why=ESCAPE, correction=ESCAPE)
    events: list[Event] = [SolveStarted("q", ()), NodeChanged(evil), NodeChanged(evil.left("error", ESCAPE))]
    screen = live(events)

    assert "\x1b[2J" not in screen and "\x1b]0" not in screen and "\x07" not in screen
    assert "[bold]␛[2J" in plain(screen) and "✗ [red]␛[2J" in " ".join(plain(screen).split())
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", "".join(lines(events)))


def test_the_picture_in_the_documents_can_be_drawn_again() -> None:
    """`python docs/pictures.py` makes it from a real search over the cinema sample."""
    picture = PICTURES["tree.svg"]
    text = draw(picture.mode, picture.messages).replace("&#160;", " ")

    assert text.startswith("<svg")
    assert "gave up: " in text
    assert "answer: Lucia Ferrand" in text


# --- the page of a report


def write_page(folder: Path, tree: object) -> Result:
    """Report a run with one task, whose solution has this tree."""
    solved = {**record("Does it rain?", [{"program": "", "calls": []}], "Yes"), "tree": tree}
    run = write_run(folder / "run", [task("q1", solution=solved)])
    return CliRunner().invoke(main, ["report", str(run), "--html", str(folder / "page.html")])


def page(folder: Path, tree: object) -> str:
    """The page of such a report."""
    result = write_page(folder, tree)
    assert result.exit_code == 0, result.output
    return (folder / "page.html").read_text("utf-8")


class Balance(HTMLParser):
    """The elements that are open: each is closed where it was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "input"):
            self.open.append(tag)
            self.depth = max(self.depth, self.open.count("ul"))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_has_the_tree_of_a_search(weather: LocalAPI, tmp_path: Path) -> None:
    """Each message can be opened: its call, the whole observation, what was told of its siblings, and its end."""
    solution, _ = search(weather, "dfsdt", CITY, GIVE_UP, WEATHER, FINISH)
    text = html.unescape(page(tmp_path, solution.to_json()["tree"]))

    assert "Search: 4 messages" in text
    assert text.count('<details class="tree">') == 1
    assert '{"results": [{"id": "osl", "name": "Oslo", "population": 717710}]}' in text
    assert "↩ gave up: no way on" in text and "✓ answer: Yes, it rains" in text
    assert "The model was told of earlier tries:" in text
    assert text.index("the city first.") < text.index("↩ gave up") < text.index("its weather.") < text.index("✓ answer")


def test_markup_in_a_tree_is_text_on_the_page(tmp_path: Path) -> None:
    """Everything that a model or an API wrote is escaped; what would turn text round is spelled out."""
    call = {"name": EVIL, "arguments": {EVIL: EVIL}, "text": EVIL, "observation": EVIL, "code": 6}
    words = dict.fromkeys(("thought", "correction", "tried", "why"), EVIL + "\u202e\x1b")
    ends = [
        {"id": n, "parent": 0, "steps": [call], "outcome": end, **words} for n, end in ((1, "open"), (2, "give_up"))
    ]
    text = page(tmp_path, ends)

    assert "<script" not in text and "<img" not in text
    assert "&lt;script&gt;" in text
    assert "&lt;U+202E&gt;␛" in text


@pytest.mark.parametrize("nodes", SHAPES)
def test_a_tree_of_any_depth_is_a_sound_page(nodes: list[SearchNode], tmp_path: Path) -> None:
    """All messages are there, forks are nested twelve levels deep at most, and all elements are closed."""
    solved = Solution("q", "answered", "a", (), (), Usage(), {"total": 1.0}, {}, tree=tuple(nodes))
    text = page(tmp_path, json.loads(json.dumps(solved.to_json()["tree"])))
    balance = Balance()
    balance.feed(text)

    assert balance.open == []
    assert balance.depth <= 12
    numbers = [int(number) for number in re.findall(r"<summary><b>(\d+)</b>", text)]
    assert sorted(numbers) == sorted(entry.id for entry in nodes)


def test_a_secret_is_in_no_drawing(weather: LocalAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An API that sends the credentials back, in a good reply or an error, does not put them on screen or page."""
    monkeypatch.setenv("WEATHER_TOKEN", SECRET)
    weather.answer("GET", "/cities", {"results": [{"id": "osl", "name": f"Bearer {SECRET}"}]})
    weather.answer("GET", "/cities/osl/weather", {"error": f"the token {SECRET} is not allowed"}, status=403)
    events: list[Event] = []
    model = ScriptedModel(CITY, WEATHER, FINISH)
    with Agent(weather.protocol, model, "react", auth=["bearer:env:WEATHER_TOKEN"], on_event=events.append) as agent:
        solution = agent.solve("Does it rain in Oslo?")
    shown = [live(events), "\n".join(lines(events, verbose=True)), page(tmp_path, solution.to_json()["tree"])]

    assert [step.code for entry in solution.tree for step in entry.steps] == [0, 7, 3]
    assert weather.requests[0].headers["authorization"].endswith(SECRET)
    assert not any(SECRET in text for text in shown)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [({"outcome": "lost"}, "outcome"), ({"id": "1"}, "id"), ({"steps": [{}]}, "steps"), ({"parent": None}, "parent")],
)
def test_a_malformed_tree_is_named(change: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    """The file and the place in it, instead of half a page."""
    result = write_page(tmp_path, [{"id": 1, "parent": 0, "thought": "", "steps": [], "outcome": "open", **change}])

    assert result.exit_code == 2
    assert "q1.json: " in result.stderr and f"solution.tree[0].{complaint}" in result.stderr
    assert not (tmp_path / "page.html").exists()


@pytest.mark.browser
def test_the_tree_opens_in_a_browser(weather: LocalAPI, tmp_path: Path) -> None:
    """Without a script: the tree opens, then a message in it; nothing is wider than the page."""
    solution, _ = search(weather, "dfsdt", CITY, GIVE_UP, WEATHER, FINISH)
    page(tmp_path, solution.to_json()["tree"])
    with open_browser() as browser:
        browser.open(tmp_path / "page.html")
        browser.click("a.cell[href='#t0-r0']")

        assert "the city first." not in browser.text("#t0-r0")
        browser.click("#t0-r0 .tree > summary")
        assert "the city first." in browser.text("#t0-r0")
        assert "717710" not in browser.text("#t0-r0")
        browser.click("#t0-r0 .tree li details > summary")
        assert "717710" in browser.text("#t0-r0")
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        assert browser.logged() == []
