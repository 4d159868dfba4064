"""One harness for all benchmarks: Task, Environment, Scorer, Runner.

A benchmark brings tasks, an environment that runs an episode of each, and a scorer of what came of it (`parts`). The
runner (`runner`) does the rest, and is the only one that resumes: a file for each finished task, workers, repeats,
halves, `summary.json`. `registry` lists the benchmarks.
"""

from __future__ import annotations

from benchmarks.harness.parts import Identified, Outcome, Scorer, TaskEnvironment

__all__ = ["Identified", "Outcome", "Scorer", "TaskEnvironment"]
