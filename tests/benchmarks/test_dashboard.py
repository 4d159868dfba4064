"""What somebody sees of a benchmark run while it goes on."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from benchmarks.harness.dashboard import Dashboard
from benchmarks.harness.runner import Finished
from benchmarks.report.summary import MetricsScorer, TaskResult
from benchmarks.tasks.metrics import Metrics


def finished(
    number: int, success: float, *faults: tuple[str | None, str], earlier: bool = False
) -> Finished[TaskResult]:
    """A task with these faults, each of a tool."""
    attempts = [
        {"fault": {"type": "KeyError", "message": message}, "attribution": {"tool": tool} if tool else None}
        for tool, message in faults
    ]
    metrics = Metrics(success, 0.5, 1, 1, answered=True, status="answered", prompt_tokens=1000, completion_tokens=20)
    record = {"solution": {"attempts": attempts}}
    return Finished(f"task-{number}", record, 1.5, TaskResult(metrics, 1.5), earlier)


def watched(console: Console) -> list[Finished[TaskResult]]:
    """A run of four tasks, one of which was solved before."""
    results = [
        finished(3, 0.0, earlier=True),
        finished(0, 1.0),
        finished(1, 0.0, ("GET_films", "'id'\n more"), ("GET_films", "'uid'")),
        finished(2, 1.0, (None, "\x1b[2J")),
    ]
    return Dashboard(4, console, MetricsScorer()).collect(results)


@pytest.mark.parametrize("width", [80, 40])
def test_the_dashboard_of_a_run(width: int) -> None:
    """Tasks done, success so far, speed, tokens, and the last fault of each tool; never wider than the terminal."""
    sent = io.StringIO()
    assert len(watched(Console(file=sent, force_terminal=True, width=width, height=24, no_color=True))) == 4
    screen = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sent.getvalue()).replace("\r", "")
    last = screen[screen.rindex("4/4") :]

    assert "Success 50.0 %  Path 50.0 %  answered" in last
    assert "tasks a minute · 4" in last
    assert max(len(line) for line in last.splitlines()) <= width
    if width == 80:
        assert "4,000 tokens read, 80 written · 1 from before" in last
        assert re.search(r"1 +\(the program itself\) +task-2 +KeyError: ␛\[2J", last)
        assert re.search(r"2 +GET_films +task-1 +KeyError: 'uid'", last)


def test_without_a_terminal_each_task_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A log has a line for each task."""
    watched(Console(file=io.StringIO(), width=80))

    assert capsys.readouterr().err.splitlines() == [
        "atc: 1/4 task task-3: answered, success 0 path 0.50, 1.5 s",
        "atc: 2/4 task task-0: answered, success 1 path 0.50, 1.5 s",
        "atc: 3/4 task task-1: answered, success 0 path 0.50, 1.5 s",
        "atc: 4/4 task task-2: answered, success 1 path 0.50, 1.5 s",
    ]
