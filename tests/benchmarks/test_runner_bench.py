"""The benchmark of the runner plays back tasks that are all answered, and counts them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from benchmarks.micro.runner import measure
from benchmarks.tasks.datasets import open_dataset


def test_the_runner_is_measured_beside_the_programs_alone(tmp_path: Path) -> None:
    dataset = open_dataset("tiny", None, ())

    rates = measure(replace(dataset, tasks=dataset.tasks[:3]), tmp_path, seconds=0.01)

    assert list(rates) == ["alone", "runner x 1", "runner x 2"]
    assert all(rate > 0 for rate in rates.values())
    solved = [json.loads(file.read_text())["metrics"] for file in tmp_path.glob("2-0/tasks/*.json")]
    assert [entry["success"] for entry in solved] == [1.0, 1.0, 1.0]
