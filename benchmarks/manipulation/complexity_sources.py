"""What the API-complexity score is computed from: the tests and demonstrations of a task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness.registry import BENCHMARKS
from benchmarks.manipulation.combinations import combination
from benchmarks.manipulation.complexity import Combination, Complexity, ComplexityTest, complexity
from benchmarks.manipulation.function_environment import called_functions
from benchmarks.manipulation.original import open_original, original_digest
from benchmarks.manipulation.suite import TASKS
from benchmarks.report.published import published
from benchmarks.report.runs import RunFolder
from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.task_files import Task
from protocols.errors import UsageError

if TYPE_CHECKING:
    from atc import Agent

__all__ = ["SUITE", "Watch", "named_complexity", "names", "run_errors"]

SUITE = "manipulation"
"""The benchmark whose tasks are named `manipulation-TASK`."""

Watch = Callable[[Sequence[Task]], Iterable[Task]]
"""Goes through tasks, and may show how far it is."""


def names() -> tuple[str, ...]:
    """The names that a complexity can be asked of."""
    return (*(f"{SUITE}-{task}" for task in TASKS), *(name for name, benchmark in BENCHMARKS.items() if benchmark.apis))


def named_complexity(name: str, watch: Watch = iter, files: Path | None = None) -> Complexity:
    """The complexity of a task of the suite, or of a benchmark with the worked examples that its prompts show.

    Args:
        files: Tests, demonstrations and functions of a task of the suite, in the original layout.
    Raises: UsageError: There is no such name, or a file that it needs is not there or in another form.
    """
    if name not in names():
        raise UsageError(f"there is no {name!r} to compute a complexity of; there are {', '.join(names())}")
    if name.startswith(f"{SUITE}-"):
        return _suite_complexity(name, files)
    if files:
        raise UsageError(f"{name} has no original files; --files is for {SUITE}-TASK")
    from atc import Agent

    dataset = open_dataset(name, None, ())
    agents = {
        domain: Agent(protocol, "openai:nobody", profile="small") for domain, protocol in dataset.protocols.items()
    }
    return complexity(
        name,
        [
            ComplexityTest(
                task.id,
                (tuple(task.gold.needed.elements()),),
                len(dataset.protocols[task.domain].tools),
                _worked_examples(agents[task.domain], task),
            )
            for task in watch(dataset.tasks)
        ],
    )


def run_errors(run: RunFolder, task: Complexity) -> dict[str, float]:
    """The error in percent, by test, of those tests of a task that a run has; none of a run on other files."""
    ids = {near.test for near in task.nearest}
    if (run.config.get("files") or {}).get("original", {}).get("sha256", "") != task.original:
        return {}
    benchmark = SUITE if task.name.startswith(f"{SUITE}-") else task.name
    if run.config["benchmark"] != benchmark:
        return {}
    return {record.id: 100 * (1 - record.metrics.success) for record in run.tasks if record.id in ids}


def _suite_complexity(name: str, files: Path | None) -> Complexity:
    data = published("complexity")
    with closing(open_original(name.removeprefix(f"{SUITE}-"), files)) as environment:
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


def _worked_examples(agent: Agent, task: Task) -> list[Combination]:
    """The sketches of plans in the first prompt of a task, by the tools that they call."""
    from atc.assist.small import plans_of
    from atc.program.sketch import sketch

    opened = agent.opening(task.query, tools=task.candidates or None, today="2024-06-01")
    offered = set(opened.tools)
    return [
        Combination(
            f"sketch {place} for {task.id}",
            tuple(name for name in called_functions(sketch(plan)) if name in offered),
        )
        for place, plan in enumerate(plans_of(opened.query, opened), 1)
    ]
