"""Runs of `atc bench` over the films API with a scripted model, for the tests of the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from atc.agent import SIMULATED_NOW
from atc.apps.cli import main
from benchmarks.run.agent_environment import RunSettings
from benchmarks.tasks.datasets import Dataset

__all__ = [
    *("BOTH", "CREDITS", "LATEST", "SEARCH", "SEARCH_ONLY", "TASKS"),
    *("bench", "command", "record", "settings", "summary", "write"),
]

SEARCH, CREDITS, LATEST = "GET_search_film", "GET_film_film_id_credits", "GET_film_latest"
BOTH = """```python
film = GET_search_film(query="The Long Tide")["results"][0]
print(GET_film_film_id_credits(film_id=film["id"])["crew"][0]["name"])
```"""
SEARCH_ONLY = '```python\nprint(GET_search_film(query="Tide")["results"][0]["title"])\n```'
TASKS = [
    {"query": "Who made The Long Tide?", "solution": ["GET /search/film", "GET /film/{film_id}/credits"]},
    {"query": "Who made the very best film?", "solution": ["GET /search/film", "GET /film/{film_id}/credits"]},
    {"query": "Is there a film called Tide?", "solution": ["GET /search/film"]},
]


def write(folder: Path, tasks: object) -> Path:
    """A task file."""
    file = folder / "tasks.json"
    file.write_text(json.dumps(tasks))
    return file


def command(films: Path, tasks: Path, out: Path, *options: str) -> list[str]:
    """The arguments of a run against the simulated API with the scripted model."""
    files = ["--tasks", str(tasks), "--api", str(films), "--out", str(out)]
    return ["bench", "restbench-tmdb", *files, "--simulate", "--model", "openai:scripted", *options]


def bench(films: Path, tasks: Path, out: Path, *options: str) -> Result:
    """Run it in this process."""
    return CliRunner().invoke(main, command(films, tasks, out, *options))


def summary(out: Path) -> dict[str, object]:
    """The figures of a finished run."""
    return dict(json.loads((out / "summary.json").read_text()))


def record(out: Path, task: str = "tmdb-0") -> dict[str, Any]:
    """The file of a finished task."""
    return dict(json.loads((out / "tasks" / f"{task}.json").read_text()))


def settings(dataset: Dataset, model: str = "openai:scripted") -> RunSettings:
    """Those of a run over simulated services, with all tools and without reflections."""
    now = SIMULATED_NOW.isoformat()
    return RunSettings(dataset.benchmark, model, "attribute", 0, "all", 0, now, "simulated", dataset.files)
