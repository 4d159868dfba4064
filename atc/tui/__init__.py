"""What a user sees of a solve on a terminal. Everything here reads the stream of events and nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atc.events import EventSink

__all__ = ["SolveView", "open_view"]


@dataclass(frozen=True, slots=True)
class SolveView:
    """Where events go to be shown; `answer` says that the answer will be on stdout by that, `pause` leaves the terminal
    to a question for as long as its block lasts."""

    sink: EventSink
    answer: bool
    pause: Callable[[], AbstractContextManager[None]] = nullcontext


@contextmanager
def open_view(*, quiet: bool = False, verbose: bool = False, stdout: bool = True) -> Iterator[SolveView]:
    """Show events until the block ends.

    Live on stdout where that is a terminal and free (`stdout`). Otherwise stdout is left to the answer, and stderr
    shows progress: live on a terminal, as plain lines elsewhere. `quiet` shows nothing.
    """
    if quiet:
        yield SolveView(lambda event: None, answer=False)
        return
    from rich.console import Console

    out, err = Console(), Console(stderr=True)
    on_stdout = stdout and out.is_terminal and sys.stdout.isatty()
    console = out if on_stdout else err
    if console.is_terminal and not console.is_dumb_terminal:
        from atc.tui.live import LiveView

        with LiveView(console, verbose=verbose) as view:
            yield SolveView(view, answer=on_stdout, pause=view.pause)
    else:
        from atc.tui.lines import LineView

        yield SolveView(LineView(lambda line: print(line, file=sys.stderr, flush=True), verbose=verbose), answer=False)
