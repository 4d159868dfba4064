"""The right program of a task, from our reference: it makes the calls that are needed, and prints the answer."""

from __future__ import annotations

import os
from collections.abc import Mapping

from atc.agent import SIMULATED_NOW
from benchmarks.run.agent_environment import AgentEnvironment
from benchmarks.run.run_settings import RunSettings
from benchmarks.tasks.datasets import Dataset
from benchmarks.tasks.references import FOLDER, find_reference
from benchmarks.tasks.task_files import Task
from protocols.errors import ATCError

__all__ = ["SOLVED", "claimed_answer", "right_program", "simulated_settings"]

SOLVED = FOLDER / "solved"
"""A program for each task whose reference looks at what a solve changed; it does that and nothing else."""


def right_program(environment: AgentEnvironment, task: Task) -> str | None:
    """The whole reference program of a task, with the answer printed in place of the claim.

    None without one, and where the reference only looks at what a solve changed and no program makes that change.

    Raises: ATCError: The reference does not run to its end.
    """
    reference = find_reference(environment.settings.benchmark, task.query)
    if reference is None:
        return None
    if reference.after:
        file = SOLVED / environment.settings.benchmark / f"{task.id}.py"
        return file.read_text("utf-8").strip() if file.is_file() else None
    with environment.world(task) as world:
        run = world.run(reference.program)
        if run.error is not None:
            raise ATCError(f"the reference of {task.id} fails: {run.error.message}")
        return _printing_answer(reference.program, environment.claim(reference, task, world)).strip()


def _printing_answer(program: str, claim: Mapping[str, object]) -> str:
    """A reference that prints an answer in place of its claim, where the claim is its last line."""
    head, printed, tail = program.rstrip().rpartition("print(json.dumps(")
    if not printed or not tail.endswith("))"):
        return program
    print_lines = {
        "all": 'print(*claim["all"], sep="; ")',
        "any": f'print(*claim["any"][:{claim.get("n", 1)}], sep="; ")',
        "number": 'print(claim["number"])',
        "yes": 'print("Yes, it is." if claim["yes"] else "No.")',
        "empty": 'print("Nothing was found.")',
    }
    return f"{head}claim = {tail[:-2]}\n{next(line for kind, line in print_lines.items() if kind in claim)}"


def claimed_answer(claim: Mapping[str, object]) -> str:
    """The shortest answer that meets a claim."""
    for kind in ("all", "any"):
        if isinstance(values := claim.get(kind), list):
            least = claim.get("n", 1)
            chosen = values if kind == "all" else values[: least if isinstance(least, int) else 1]
            return "; ".join(str(value[0] if isinstance(value, list) else value) for value in chosen)
    if "number" in claim:
        return f"{claim['number']}"
    return "Nothing was found." if claim.get("empty") else "Yes, it is." if claim.get("yes") else "No."


def simulated_settings(dataset: Dataset) -> RunSettings:
    """The settings of a run over simulated services with known answers; no model is asked."""
    return RunSettings(
        benchmark=dataset.benchmark,
        model=f"replay:{os.devnull}",
        mode="none",
        max_reflections=3,
        candidates=dataset.candidates,
        seed=0,
        now=SIMULATED_NOW.isoformat(),
        api="simulated",
        files=dataset.files,
    )
