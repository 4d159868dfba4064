"""Draw the live view of solves as SVG: `python -m atc.tui.screenshot docs`.

`terminal.svg` has one revision, and `doubtful.svg` an answer that the model insists on. The cinema sample is simulated
and the programs are scripted. Two pictures of the same solve differ only in the times that they show.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path

from rich.console import Console

from atc.agent import Agent
from atc.models.base import Completion, Message, Usage
from atc.tui.live import LiveView
from protocols import load
from protocols.samples import sample
from protocols.simulator import Simulator

__all__ = ["draw"]

QUESTION = "Who directed The Silent Harbor?"
PROGRAM = """film = GET_films(query="The Silent Harbor")["films"][0]
credits = GET_films_filmId_credits(filmId=film["filmId"])
names = [person["name"] for person in credits[%s]
print(names[0])
"""
REPAIRED = ('"crew"] if "directed" in person["job"].lower()', '"crew"] if person["job"] == "Director"')
DOUBTFUL = ('"cast"]', '"cast"] if person["name"]')
PICTURES: Mapping[str, tuple[str, ...]] = {"terminal.svg": REPAIRED, "doubtful.svg": DOUBTFUL}


class _ScriptedModel:
    """A model that writes two programs."""

    name = "scripted"

    def __init__(self, selections: Sequence[str]) -> None:
        self._selections = iter(selections)

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        return Completion(PROGRAM % next(self._selections), Usage(model_calls=1), "stop")

    def close(self) -> None:
        """Nothing to close."""


def draw(selections: Sequence[str]) -> str:
    """The finished screen as SVG, for programs with these selections.

    Without `force_interactive=False` the moving part would be recorded as well.
    """
    console = Console(record=True, file=StringIO(), width=110, force_terminal=True, force_interactive=False)
    with Simulator(load(sample("cinema"))) as simulator, LiveView(console) as view:
        world = simulator.session(query=QUESTION)
        with Agent(simulator.protocol, _ScriptedModel(selections), simulate=world, on_event=view) as agent:
            agent.solve(QUESTION)
    return console.export_svg(title="atc solve", unique_id="atc")


if __name__ == "__main__":
    for picture, programs in PICTURES.items():
        (Path(sys.argv[1]) / picture).write_text(draw(programs), "utf-8")
