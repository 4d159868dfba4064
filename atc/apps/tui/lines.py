"""Show a solve as plain lines, one per event: for logs, pipes, and terminals that cannot move the cursor."""

from __future__ import annotations

from collections.abc import Callable

from atc.apps.tui.attempt import revision_lines
from atc.apps.tui.nodes import end_text, node_line
from atc.apps.tui.parts import (
    attribution_text,
    call_text,
    diff_lines,
    evidence_lines,
    fault_text,
    flow_lines,
    note_lines,
    progress_text,
    standing_text,
    summary_line,
)
from atc.apps.tui.plan import plan_lines
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
from atc.search_tree import SearchNode
from protocols.quoting import visible

__all__ = ["LineView"]


_SLOW_SECONDS = 3.0
"""Seconds of reading that get a line."""


class LineView:
    """A reader of events that hands finished lines to `write`.

    A long prompt gets one line with the time that reading it will take. A message of a search gets a line when it was
    followed, and another one when its branch is left. `verbose` adds the programs (a revision as a
    diff), their output, all tool names, what the answer rests on, and the data flow.
    """

    def __init__(self, write: Callable[[str], None], *, verbose: bool = False) -> None:
        self._write = write
        self._verbose = verbose
        self._waiting_solve = ""
        self._programs: dict[str, str] = {}
        self._faulty: dict[str, str] = {}
        self._nodes: dict[tuple[str, int], SearchNode] = {}

    def __call__(self, event: Event) -> None:
        for line in self._lines(event):
            self._write(line)

    def _lines(self, event: Event) -> list[str]:
        match event:
            case SolveStarted(query, tools):
                names = f": {', '.join(tools)}" if self._verbose else ""
                return [f"query: {visible(query)}", f"tools: {len(tools)} shown to the model{visible(names)}"]
            case ModelWaiting(attempt):
                self._waiting_solve = event.solve or "?"
                return [f"attempt {attempt}: the model writes"]
            case ModelProgress(attempt, progress):
                if self._waiting_solve != (event.solve or "?") or progress.seconds_left is None:
                    return []
                self._waiting_solve = ""
                return (
                    [f"attempt {attempt}: {progress_text(progress)}"] if progress.seconds_left > _SLOW_SECONDS else []
                )
            case ProgramWritten(attempt, program, usage, diff):
                length = program.rstrip("\n").count("\n") + 1
                head = f"attempt {attempt}: {length} lines, {usage.completion_tokens:,} tokens, {usage.seconds:.1f} s"
                changes = [f"attempt {attempt}: {line}" for line in diff_lines(diff)]
                return [*(changes or [head]), *self._program_lines(event.solve, program)]
            case RunStarted() | CallBegan():
                return []
            case CallMade(attempt, call):
                return [f"attempt {attempt}: {call_text(call)}"]
            case OutputPrinted(_, _, text):
                return _indented(text) if self._verbose else []
            case NodeChanged(node):
                return self._node_lines(event.solve, node)
            case RunEnded(attempt, run):
                return [f"attempt {attempt}: run ended: {run.outcome}, {run.resources.wall:.2f} s"]
            case PlanProposed(attempt, plan, asks):  # who is asked is shown the plan with the question
                return [] if asks else [f"attempt {attempt}: {line}" for line in plan_lines(plan)]
            case FaultFound(attempt, fault, attribution):
                self._faulty[event.solve] = self._programs.pop(event.solve, "")
                lines = [fault_text(fault), *_indented(fault.snippet), attribution_text(attribution)]
                return [f"attempt {attempt}: {lines[0]}", *filter(None, lines[1:])]
            case SolveEnded(solution):
                standing = standing_text(solution)
                evidence = [*evidence_lines(solution), *flow_lines(solution)] if self._verbose else []
                stood = [standing.plain] if standing else []
                return [*note_lines(solution), *stood, *evidence, summary_line(solution)]

    def _program_lines(self, solve: str, program: str) -> list[str]:
        """With `verbose` the program, or its diff to the one that it revises."""
        self._programs[solve] = program
        before = self._faulty.pop(solve, "")
        if not self._verbose:
            return []
        return [f"    {line}" for line in revision_lines(before, program)] if before else _indented(program)

    def _node_lines(self, solve: str, node: SearchNode) -> list[str]:
        """A new message, or what became of one."""
        before = self._nodes.get((solve, node.id))
        self._nodes[solve, node.id] = node
        if before is not None and node.outcome == before.outcome:
            return []
        text = node_line(node) if before is None else end_text(node)
        after = f" after {node.parent}" if before is None and node.parent else ""
        trial = f"try {node.trial}, " if node.trial > 1 else ""
        return [f"{trial}message {node.id}{after}: {text}".rstrip(": ")] if text or before is None else []


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in visible(text).rstrip("\n").split("\n")] if text.strip() else []
