"""Draw the live view of a solve with one revision as SVG: `python -m atc.tui.screenshot docs/terminal.svg`.

The cinema sample is simulated and the programs are scripted. Two pictures differ only in the times that they show.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
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
crew = GET_films_filmId_credits(filmId=film["filmId"])["crew"]
directors = [person["name"] for person in crew if %s]
print(directors[0])
"""
WRONG_THEN_RIGHT = ('"directed" in person["job"].lower()', 'person["job"] == "Director"')


class _ScriptedModel:
    """A model that writes two programs."""

    name = "scripted"

    def __init__(self) -> None:
        self._conditions = iter(WRONG_THEN_RIGHT)

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        return Completion(PROGRAM % next(self._conditions), Usage(model_calls=1), "stop")

    def close(self) -> None:
        """Nothing to close."""


def draw() -> str:
    """The finished screen as SVG; without `force_interactive=False` the moving part would be recorded as well."""
    console = Console(record=True, file=StringIO(), width=110, force_terminal=True, force_interactive=False)
    with Simulator(load(sample("cinema"))) as simulator, LiveView(console) as view:
        world = simulator.session(query=QUESTION)
        with Agent(simulator.protocol, _ScriptedModel(), simulate=world, on_event=view) as agent:
            agent.solve(QUESTION)
    return console.export_svg(title="atc solve", unique_id="atc")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw(), "utf-8")
