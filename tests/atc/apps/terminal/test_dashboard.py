"""What somebody sees of a benchmark run while it goes on."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence

import pytest
from rich.console import Console

from benchmarks.run.dashboard import Dashboard
from benchmarks.run.runner import SolvedTask, TaskResult
from benchmarks.tasks.metrics import Gold, Metrics
from benchmarks.tasks.task_files import Task

TASKS = [(Task(number, f"task-{number}", "q", Gold({})), ()) for number in range(4)]


def solved_task(task: Task, success: float, *faults: tuple[str | None, str]) -> SolvedTask:
    """A task with these faults, each of a tool."""
    attempts = [
        {"fault": {"type": "KeyError", "message": message}, "attribution": {"tool": tool} if tool else None}
        for tool, message in faults
    ]
    metrics = Metrics(success, 0.5, 1, 1, answered=True, status="answered", prompt_tokens=1000, completion_tokens=20)
    return SolvedTask(task, TaskResult(task.id, metrics, 1.5), {"solution": {"attempts": attempts}}, {})


def engine(tasks: Sequence[tuple[Task, tuple[str, ...]]]) -> Iterator[SolvedTask]:
    yield solved_task(tasks[0][0], 1.0)
    yield solved_task(tasks[1][0], 0.0, ("GET_films", "'id'\n more"), ("GET_films", "'uid'"))
    yield solved_task(tasks[2][0], 1.0, (None, "\x1b[2J"))


def watched(console: Console) -> list[TaskResult]:
    """A run of four tasks, one of which was solved before."""
    dashboard = Dashboard(4, console)
    solve = dashboard.watched(engine)

    def results() -> Iterator[TaskResult]:
        yield solved_task(TASKS[3][0], 0.0).result
        for done in solve(TASKS[:3]):
            yield done.result

    return dashboard.collect(results())


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
