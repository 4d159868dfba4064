"""Draw the views of solves as SVG: `python docs/pictures.py`.

`doubtful.svg` has an answer with a finding against it, `tree.svg` the tree of a search, and `tui.svg` a stored solution
with one revision in `atc tui`.
The cinema sample is simulated and the model is scripted. Pictures of the same solve differ only in times.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from textual.widgets import TabPane

from atc.agent import Agent
from atc.apps.tui.browser import SolutionBrowser
from atc.apps.tui.live import LiveView
from atc.events import EventSink
from atc.files import write_json, write_text
from atc.models.base import Completion, Message, Usage
from atc.solution import Solution
from protocols import load
from protocols.samples import sample
from protocols.simulator import Simulator

__all__ = ["draw", "draw_browser", "solved"]

QUESTION = "Who directed The Silent Harbor?"
PROGRAM = """film = GET_films(query="The Silent Harbor")["films"][0]
credits = GET_films_filmId_credits(filmId=film["filmId"])
names = [person["name"] for person in credits[%s]
print(names[0])
"""
REPAIRED = ('"crew"] if "directed" in person["job"].lower()', '"crew"] if person["job"] == "Director"')
DOUBTFUL = ('"cast"]',)

SEARCH = (
    """Thought: The best films are listed; it may be one of them.
Action: GET_films_top_rated()""",
    """Thought: I try the number that a first film would have.
Action: GET_films_filmId_credits(filmId=1)""",
    """Thought: That number was a guess.
Action: give_up(reason="the identifier has to come from a reply")""",
    """Thought: None of these films has the title of the question.
Action: give_up(reason="the film is not among the best rated")""",
    """Thought: I look the title up.
Action: GET_films(query="The Silent Harbor")""",
    """Thought: Its credits name the crew.
Action: GET_films_filmId_credits(filmId=41)""",
    """Thought: One of the crew has the job Director.
Action: finish(answer="Lucia Ferrand")""",
)
"""The messages of a search: one branch is given up, the next one answers."""


@dataclass(frozen=True, slots=True)
class _Picture:
    """What is drawn: a mode, and the messages of the model in it."""

    mode: str
    messages: Sequence[str]


class _ScriptedModel:
    """A model that writes the given messages in turn."""

    name = "scripted"

    def __init__(self, messages: Sequence[str]) -> None:
        self._messages = iter(messages)

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        return Completion(next(self._messages), Usage(model_calls=1), "stop")

    def close(self) -> None:
        """Nothing to close."""


PICTURES: Mapping[str, _Picture] = {
    "tui.svg": _Picture("attribute", [PROGRAM % selection for selection in REPAIRED]),
    "doubtful.svg": _Picture("attribute", [PROGRAM % selection for selection in DOUBTFUL]),
    "tree.svg": _Picture("dfsdt", SEARCH),
}


def draw(mode: str, messages: Sequence[str]) -> str:
    """The finished screen as SVG, of a solve in a mode by a model that writes these messages.

    Without `force_interactive=False` the moving part would be recorded as well.
    """
    console = Console(record=True, file=StringIO(), width=110, force_terminal=True, force_interactive=False)
    with LiveView(console) as view:
        solved(mode, messages, view)
    return console.export_svg(title="atc solve", unique_id="atc")


def solved(mode: str, messages: Sequence[str], on_event: EventSink = lambda event: None) -> Solution:
    """The solution of the question in a mode by a model that writes these messages."""
    with Simulator(load(sample("cinema"))) as simulator:
        world = simulator.session(query=QUESTION)
        with Agent(
            simulator.protocol, _ScriptedModel(messages), mode, simulate=world, profile="small", on_event=on_event
        ) as agent:
            return agent.solve(QUESTION)


def draw_browser(picture: _Picture) -> str:
    """The attempts of a stored solution in `atc tui`, as SVG."""

    async def drawn(place: Path) -> str:
        app = SolutionBrowser(place)
        async with app.run_test(size=(110, 24)) as pilot:
            while not app.screen.query(TabPane):
                await pilot.pause(0.05)
            await pilot.press("2")
            await pilot.pause(0.2)
            return app.export_screenshot(title="atc tui")

    with TemporaryDirectory() as folder:
        file = Path(folder) / "solution.json"
        write_json(file, solved(picture.mode, picture.messages).to_json())
        return asyncio.run(drawn(file))


if __name__ == "__main__":
    docs = Path(__file__).parent
    for name, picture in PICTURES.items():
        browsed = name == "tui.svg"
        write_text(docs / name, draw_browser(picture) if browsed else draw(picture.mode, picture.messages))
