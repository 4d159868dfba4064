"""What the live view adds to a solve, on a real pseudo-terminal.

`python -m benchmarks.micro.terminal` solves a question with the view and without it, in turn and in the same process.
The API is simulated, and the model is scripted: its first program fails and its second one answers. It writes its
reply within `--reply` seconds and reports each step, as a local model does; with 0 it answers at once. The time with
the view contains opening and closing it.
"""

from __future__ import annotations

import os
import pty
import random
import statistics
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TextIO

import click
from rich.console import Console

from atc import Agent
from atc.apps.tui.live import LiveView
from atc.events import Event, EventSink
from atc.files import to_json
from atc.models import Completion, Progress, Usage
from atc.models.base import ModelBase, ModelRequest
from benchmarks.micro.frame import Measurement, json_option, print_table, seconds_of
from protocols import load
from protocols.samples import sample
from protocols.simulator import Simulator

__all__ = ["ViewCost", "main", "measure"]

QUESTION = "Who directed The Silent Harbor?"
PROGRAM = """film = GET_films(query="The Silent Harbor")["films"][0]
credits = GET_films_filmId_credits(filmId=film["filmId"])
names = [person["name"] for person in credits["crew"] if %s]
print(names[0])
"""
REPLIES = [PROGRAM % condition for condition in ('"directed" in person["job"].lower()', 'person["job"] == "Director"')]

STEP = 0.02
"""Seconds between two reports of the model."""

RESAMPLES = 2000
PERCENTILES = (0.025, 0.975)


@dataclass(frozen=True, slots=True)
class ViewCost:
    """The medians of solves without and with the view, in seconds, and their ratio with its 95 % interval.

    `processor` is the median of the processor seconds that this process takes more for a solve with the view. Unlike
    the others it depends little on what else the machine does.
    """

    reply: float
    rounds: int
    without: float
    with_view: float
    ratio: float
    low: float
    high: float
    processor: float


class _StreamingModel(ModelBase):
    """Writes the replies in turn, each within some seconds and with reports on the way."""

    name = "streaming"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.count = 0

    def answer(self, request: ModelRequest) -> Completion:
        text = REPLIES[self.count % len(REPLIES)]
        self.count += 1
        steps = round(self._seconds / STEP)
        for step in range(1, steps + 1):
            time.sleep(STEP)
            if request.on_progress is not None:
                request.on_progress(Progress(1000, 1000, text[: len(text) * step // steps], 0.0))
        return Completion(text, Usage(1000, len(text) // 4, 0, 1, self._seconds), "stop")

    def close(self) -> None:
        """Nothing is held."""


def measure(rounds: int, reply: float) -> ViewCost:
    """The cost of the view, by solves in turn; the first of each kind does not count."""
    sink: EventSink = _ignore
    model = _StreamingModel(reply)
    seconds: list[tuple[float, float]] = []
    processor: list[float] = []
    with (
        Simulator(load(sample("cinema"))) as simulator,
        Agent(
            simulator.protocol,
            model,
            simulate=simulator.session(query=QUESTION),
            on_event=lambda event: sink(event),
        ) as agent,
        _terminal() as terminal,
    ):

        def solve() -> None:
            solution = agent.solve(QUESTION)
            if solution.status != "answered" or solution.reflections != 1:
                raise click.ClickException(f"the solve did not go as scripted: {solution!r}")

        def solve_shown() -> None:
            nonlocal sink
            with LiveView(Console(file=terminal, force_terminal=True)) as view:
                sink = view
                try:
                    solve()
                finally:
                    sink = _ignore

        for number in range(rounds + 1):
            if number % 2:  # neither of the two is always the later one
                with_view, without = _seconds_of(solve_shown), _seconds_of(solve)
            else:
                without, with_view = _seconds_of(solve), _seconds_of(solve_shown)
            seconds.append((without[0], with_view[0]))
            processor.append(with_view[1] - without[1])
    return _cost(reply, seconds[1:], statistics.median(processor[1:]))


def _seconds_of(work: Callable[[], None]) -> tuple[float, float]:
    """Wall-clock and processor seconds of some work."""
    before = time.process_time()
    seconds = seconds_of(work)
    return seconds, time.process_time() - before


def _ignore(event: Event) -> None:
    """Show nothing."""


def _cost(reply: float, seconds: Sequence[tuple[float, float]], processor: float) -> ViewCost:
    """The medians and their ratio; the interval is a bootstrap over the pairs."""
    draw = random.Random(0)
    ratios = sorted(_ratio(draw.choices(seconds, k=len(seconds))) for _ in range(RESAMPLES))
    low, high = (ratios[round(share * (RESAMPLES - 1))] for share in PERCENTILES)
    without, with_view = (statistics.median(pair[place] for pair in seconds) for place in (0, 1))
    return ViewCost(reply, len(seconds), without, with_view, with_view / without, low, high, processor)


def _ratio(seconds: Sequence[tuple[float, float]]) -> float:
    without, with_view = (statistics.median(pair[place] for pair in seconds) for place in (0, 1))
    return with_view / without


@contextmanager
def _terminal() -> Iterator[TextIO]:
    """A pseudo-terminal of 80 columns and 24 lines, whose output somebody reads."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, 80))
    reader = threading.Thread(target=_drain, args=(ours,), daemon=True)
    reader.start()
    with open(theirs, "w", encoding="utf-8") as terminal:  # noqa: PTH123 - it is a descriptor
        yield terminal
    reader.join()
    os.close(ours)


def _drain(descriptor: int) -> None:
    with suppress(OSError):  # how Linux says that nobody holds the other end any more
        while os.read(descriptor, 65536):
            pass


@click.command(cls=Measurement)
@click.option("--rounds", type=click.IntRange(min=1), default=20, show_default=True, help="Solves of each kind.")
@click.option(
    "--reply",
    "replies",
    type=click.FloatRange(min=0),
    multiple=True,
    default=(0.0, 0.5, 2.0),
    show_default=True,
    help="Seconds that the model takes for each of its two replies. Repeatable.",
)
@json_option()
def main(rounds: int, replies: tuple[float, ...], as_json: bool) -> None:
    """Print what the live view of `atc solve` adds to a solve."""
    costs = [measure(rounds, reply) for reply in replies]
    if as_json:
        click.echo(to_json([asdict(cost) for cost in costs]), nl=False)
        return
    rows = [
        (
            f"{cost.reply:g} s",
            cost.rounds,
            f"{1000 * cost.without:.0f} ms",
            f"{1000 * cost.with_view:.0f} ms",
            f"{1000 * cost.processor:+.0f} ms",
            f"{100 * (cost.ratio - 1):+.1f} % ({100 * (cost.low - 1):+.1f} to {100 * (cost.high - 1):+.1f})",
        )
        for cost in costs
    ]
    columns = ("a reply takes", "solves", "without the view", "with it", "processor", "added (95 %)")
    print_table(columns, rows, figures_from=1)


if __name__ == "__main__":
    main()
