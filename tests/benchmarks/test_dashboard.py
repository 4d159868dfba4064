"""What somebody sees of a benchmark run while it goes on."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from benchmarks.harness.run_folders import Dashboard
from benchmarks.harness.runner import Finished
from benchmarks.report.summary import MetricsScorer, TaskResult
from benchmarks.tasks.metrics import Metrics


def finished(number: int, success: float) -> Finished[TaskResult]:
    """A task that was solved or not."""
    metrics = Metrics(success, 0.5, 1, 1, answered=True, status="answered", prompt_tokens=1000, completion_tokens=20)
    return Finished(f"task-{number}", {}, 1.5, TaskResult(metrics, 1.5))


def watched(console: Console) -> list[Finished[TaskResult]]:
    """A run of two tasks."""
    return Dashboard(2, console, MetricsScorer()).collect([finished(3, 0.0), finished(0, 1.0)])


@pytest.mark.parametrize("width", [120, 40])
def test_the_dashboard_of_a_run(width: int) -> None:
    """Tasks done, success so far and tokens; never wider than the terminal."""
    sent = io.StringIO()
    assert len(watched(Console(file=sent, force_terminal=True, width=width, height=24, no_color=True))) == 2
    screen = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sent.getvalue()).replace("\r", "\n")
    last = screen[screen.rindex("2/2") :]

    assert max(map(len, last.splitlines())) <= width
    assert "Success 50" in last or width == 40
    assert "Path 50.0 %" in last or width == 40


def test_without_a_terminal_each_task_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A log has a line for each task."""
    watched(Console(file=io.StringIO(), width=80))

    assert capsys.readouterr().err.splitlines() == [
        "atc: 1/2 task task-3: answered, success 0 path 0.50, 1.5 s",
        "atc: 2/2 task task-0: answered, success 1 path 0.50, 1.5 s",
    ]
