"""Tests of one tool, run by the harness into a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from atc.models import Model
from benchmarks.harness.engines import thread_engine
from benchmarks.harness.runner import Runner
from benchmarks.manipulation.environment import Environment, ManipulationTest
from benchmarks.manipulation.suite_run import ManipulationSettings, SuiteEnvironment, SuiteTask
from benchmarks.manipulation.suite_summary import SuiteScorer, TestFigures

__all__ = ["run_suite"]


def run_suite(
    tool: Environment, settings: ManipulationSettings, model: Model, tests: Sequence[ManipulationTest], out: Path
) -> list[TestFigures]:
    """The figures of some tests of a tool."""
    suite = SuiteEnvironment({tool.name: tool}, settings, model)
    runner = Runner(settings, suite, SuiteScorer(), thread_engine(suite))
    return [result.figures for result in runner.run([SuiteTask(tool.name, test) for test in tests], out)]
