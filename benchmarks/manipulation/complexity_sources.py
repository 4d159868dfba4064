"""What the API-complexity score is computed from: the tests and demonstrations of a task of the suite."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from benchmarks.manipulation.complexity import Combination, Complexity, ComplexityTest, combination, complexity
from benchmarks.manipulation.original import open_original, original_digest
from benchmarks.manipulation.suite import TASKS
from benchmarks.report.published import published
from benchmarks.report.runs import RunFolder
from protocols.errors import UsageError

__all__ = ["PREFIX", "named_complexity", "run_errors"]

_SUITE = "manipulation"
PREFIX = f"{_SUITE}-"
"""Before the name of a task of the suite."""


def named_complexity(name: str, files: Path | None = None) -> Complexity:
    """The complexity of a task of the suite.

    Args:
        files: Tests, demonstrations and functions of the task, in the original layout.
    Raises: UsageError: There is no such name, or a file that it needs is not there or in another form.
    """
    task = name.removeprefix(PREFIX)
    if task == name or task not in TASKS:
        names = ", ".join(f"{PREFIX}{task}" for task in TASKS)
        raise UsageError(f"there is no {name!r} to compute a complexity of; there are {names}")
    data = published("complexity")
    with closing(open_original(task, files)) as environment:
        functions = data["options"].get(environment.name, len(environment.functions))
        combinations = [
            Combination(f"{place}: {pair.goal.strip().splitlines()[0]}", combination(pair.action, pair.names))
            for place, pair in enumerate(environment.demonstrations, 1)
        ]
        tests = [
            ComplexityTest(
                f"{environment.name}-{test.id}",
                tuple(map(combination, test.labels, test.names)),
                functions,
                combinations,
            )
            for test in environment.tests
        ]
        demonstrated = {call for entry in combinations for call in entry.calls}
        covered = environment.name in data["covered"] and {f.name for f in environment.functions} <= demonstrated
    scored = complexity(name, tests)
    if covered:
        nearest = tuple(replace(near, distance=0.0) for near in scored.nearest)
        scored = replace(scored, score=0.0, nearest=nearest)
    return replace(scored, original=original_digest(files)["sha256"]) if files else scored


def run_errors(run: RunFolder, task: Complexity) -> dict[str, float]:
    """The error in percent, by test, of those tests of a task that a run has; none of a run on other files."""
    ids = {near.test for near in task.nearest}
    if (run.config.get("files") or {}).get("original", {}).get("sha256", "") != task.original:
        return {}
    if run.config["benchmark"] != _SUITE:
        return {}
    return {record.id: 100 * (1 - record.metrics.success) for record in run.tasks if record.id in ids}
