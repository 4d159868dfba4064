"""Show a solve live on a terminal: finished attempts scroll up, the current one moves below them.

The tree of a search by single calls scrolls up whole when its try ends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.rule import Rule
from rich.spinner import Spinner
from rich.text import Text

from atc.apps.tui.attempt import attempt_parts, program_code, revision_reason
from atc.apps.tui.nodes import node_line
from atc.apps.tui.parts import (
    call_row,
    evidence_lines,
    flow_lines,
    indented,
    note_lines,
    progress_text,
    standing_text,
    summary_line,
    tree_text,
)
from atc.apps.tui.plan import plan_lines
from atc.apps.tui.text import format_answer
from atc.events import (
    CallBegan,
    CallMade,
    Event,
    FaultFound,
    ModelProgress,
    ModelWaiting,
    NodeChanged,
    OutputPrinted,
    PlanProposed,
    ProgramWritten,
    RunEnded,
    RunStarted,
    SolveEnded,
    SolveStarted,
)
from atc.fault import Attribution, Fault
from atc.models.base import Progress
from atc.search_tree import SearchNode
from atc.solution import Solution
from protocols.quoting import shorten, visible
from sandbox.records import CallRecord

__all__ = ["LiveView"]

FRAMES = 4
"""Frames a second: each takes the interpreter for a millisecond or two."""

CALLS_SHOWN = 8
OUTPUT_SHOWN = 4
"""Most calls and lines of output in the moving part; all of them are printed after the attempt."""

NODES_SHOWN = 6
"""Messages of a search in the moving part: those that changed last."""


@dataclass(frozen=True, slots=True)
class _CurrentAttempt:
    """The current attempt. It is replaced and never changed, so that the drawing thread needs no lock.

    `pending` are the calls under way, and `line` is that of the call that began last. `before` is the program that this
    one revises, and `reason` says what was wrong with it.
    """

    attempt: int = 0
    doing: str = ""
    progress: Progress | None = None
    program: str = ""
    before: str = ""
    reason: str = ""
    line: int | None = None
    pending: tuple[CallBegan, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    output: str = ""
    since: float = field(default_factory=time.monotonic)

    @property
    def status(self) -> str:
        """What is going on: the model's progress, the calls under way, or the stage."""
        if self.progress is not None:
            return f"the model {progress_text(self.progress)}"
        if not self.pending:
            return self.doing
        newest = self.pending[-1]
        place = "" if newest.line is None else f"line {newest.line}: "
        more = f" and {len(self.pending) - 1} more" if len(self.pending) > 1 else ""
        action = f"{visible(newest.tool)} is called" if newest.tool else "a request is sent"
        return f"{place}{action}{more}"


class LiveView:
    """A reader of events and a context manager; it draws on the console while its block runs."""

    def __init__(self, console: Console, *, verbose: bool = False) -> None:
        self._console = console
        self._verbose = verbose
        self._turn = _CurrentAttempt()
        self._nodes: dict[int, SearchNode] = {}
        self._faulty = self._reason = ""
        self._tokens = 0
        # Calls end in threads of their own. Frames are drawn under the lock, too: those of Live's own thread may come
        # between the rendering of a print and its writing, which erases lines that were printed for good.
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._live = Live(console=console, get_renderable=self.moving, auto_refresh=False, transient=True)

    def __enter__(self) -> LiveView:
        self._live.start()
        threading.Thread(target=self._draw, name="frames", daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        with self._lock:
            self._finish_search()
            self._finish_attempt()
            self._live.stop()

    def _draw(self) -> None:
        while not self._ended.wait(1 / FRAMES):
            with self._lock:
                if self._live.is_started:
                    self._live.refresh()

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case SolveStarted(query, tools):
                names = Text(f"{len(tools)} tools: {visible(', '.join(tools))}", style="dim")
                self._show(Text(visible(query), style="bold"), names if self._verbose else _one_line(names))
            case ModelWaiting(attempt):
                self._finish_attempt()
                self._turn = _CurrentAttempt(attempt, "asking the model")
            case ModelProgress(_, progress):
                self._turn = replace(self._turn, progress=progress)
            case ProgramWritten(attempt, program, usage, diff):
                doing = "the call runs" if self._nodes else "the program runs"
                reason = "changed without the model" if diff else self._reason
                self._tokens += usage.prompt_tokens + usage.completion_tokens
                self._turn = _CurrentAttempt(attempt, doing, program=program, before=self._faulty, reason=reason)
                self._faulty = self._reason = ""
            case RunStarted():  # a program that is run once more, for its planned writes, makes its calls anew
                self._turn = replace(self._turn, calls=(), pending=(), output="")
            case CallBegan(_, _, _, line):
                pending = (*self._turn.pending, event)
                self._turn = replace(self._turn, line=line or self._turn.line, pending=pending)
            case CallMade(_, call):
                pending = tuple(begun for begun in self._turn.pending if begun.index != call.index)
                self._turn = replace(self._turn, calls=(*self._turn.calls, call), pending=pending)
            case OutputPrinted(_, _, text):
                self._turn = replace(self._turn, output=self._turn.output + text)
            case NodeChanged(node):
                self._grow(node)
            case RunEnded():
                self._turn = replace(self._turn, doing="looking at how it went", pending=())
            case PlanProposed(_, plan, asks) if not asks:  # who is asked is shown the plan with the question
                self._show(*map(Text, plan_lines(plan)))
            case FaultFound(_, fault, attribution):
                self._finish_search()
                self._finish_attempt(fault, attribution)
            case SolveEnded(solution):
                self._finish_search()
                self._finish_attempt()
                self._show_end(solution)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Leave the terminal alone while the block runs."""
        with self._lock:
            self._live.stop()
        try:
            yield
        finally:
            with self._lock:
                self._live.start()

    def moving(self) -> RenderableType:
        """The part that is redrawn continuously; never taller than the terminal."""
        turn = self._turn
        nodes = list(self._nodes.values())[-max(min(NODES_SHOWN, self._console.height - 3 - len(turn.calls)), 1) :]
        if not turn.doing:
            return Text()
        seconds = time.monotonic() - turn.since
        tokens = f" · {self._tokens:,} tokens so far" if self._tokens else ""
        status = shorten(f"{turn.status} · {seconds:.0f} s{tokens}", max(self._console.width - 2, 1))
        parts: list[RenderableType] = [Spinner("dots", Text(status, style="cyan"))]
        output = turn.output.rstrip("\n").split("\n")[-OUTPUT_SHOWN:] if turn.output.strip() else []
        calls = turn.calls[-CALLS_SHOWN:]
        parts += [_one_line(Text(f"{node.id} {node_line(node)}")) for node in nodes]
        if turn.program and not nodes:
            room = max(self._console.height - len(output) - len(calls) - 4, 3)
            first = max((turn.line or 1) - room + 2, 1)
            parts.append(program_code(turn.program, turn.line, lines=(first, first + room - 1)))
        elif turn.progress is not None and turn.progress.reasoning and not turn.progress.text.strip():
            rows = max(self._console.height - 6 - len(nodes), 1)
            lines = Text(visible(turn.progress.reasoning), style="dim").wrap(self._console, self._console.width)
            parts += lines[-rows:]
        elif turn.progress is not None and turn.progress.text.strip() and not nodes:
            end = visible(turn.progress.text).rstrip("\n").count("\n") + 1
            parts.append(program_code(turn.progress.text, lines=(max(end - self._console.height + 5, 1), end)))
        parts += [_one_line(call_row(call)) for call in calls]
        parts += [_one_line(Text(visible(line), style="dim")) for line in output]
        return Group(*parts)

    def _grow(self, node: SearchNode) -> None:
        """Take a message into the tree, which then has its calls."""
        if any(earlier.trial != node.trial for earlier in self._nodes.values()):
            self._finish_search()
        self._nodes = {id: earlier for id, earlier in self._nodes.items() if id != node.id} | {node.id: node}
        self._turn = _CurrentAttempt(self._turn.attempt, "searching")

    def _finish_search(self) -> None:
        """Print the tree of a try for good."""
        nodes, self._nodes = self._nodes, {}
        if nodes:
            self._show(tree_text([nodes[id] for id in sorted(nodes)]))

    def _finish_attempt(self, fault: Fault | None = None, attribution: Attribution | None = None) -> None:
        """Print the current attempt for good, with its fault."""
        current, self._turn = self._turn, _CurrentAttempt()
        self._show(
            *attempt_parts(
                current.attempt,
                current.program,
                current.calls,
                current.output,
                fault,
                attribution,
                before=current.before,
                reason=current.reason,
            )
        )
        if fault:
            self._faulty, self._reason = current.program, revision_reason(attribution)

    def _show_end(self, solution: Solution) -> None:
        parts: list[RenderableType] = []
        if solution.answer is not None:
            parts.append(Rule(Text("answer"), style="green", align="left"))
            parts.append(Text(visible(format_answer(solution.answer)), style="bold"))
        parts += [Text(line, style="italic") for line in note_lines(solution)]
        if (standing := standing_text(solution)) is not None:
            parts.append(standing)
        facts = [*evidence_lines(solution), *flow_lines(solution)]
        parts += [indented(line, "dim") for line in facts]
        self._show(*parts, Text(summary_line(solution), style="dim"))

    def _show(self, *parts: RenderableType) -> None:
        """Print above the moving part, which is redrawn once for all of them."""
        if parts:
            self._console.print(Group(*parts), highlight=False)


def _one_line(text: Text) -> RenderableType:
    """A text, cut at the terminal's edge. (A console joins bare texts that it prints, and loses their line ends.)"""
    text.no_wrap, text.overflow = True, "ellipsis"
    return Group(text)
