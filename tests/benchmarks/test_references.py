"""References say what must hold, in the world of their task: not too little, and nothing that only words would meet.

`reference/solved` has a program for each task whose answer is a change of the world, which does that and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from benchmarks.run.agent_environment import AgentEnvironment
from benchmarks.tasks.datasets import Dataset, open_dataset
from benchmarks.tasks.references import FOLDER, Reference, find_reference, is_correct
from benchmarks.tasks.task_files import Task
from benchmarks.worlds import find_worlds
from tests.benchmarks.bench_runs import settings

SOLVED = FOLDER / "solved"
SPLITS = {
    "restbench-tmdb": ("toolflow/tmdb.candidates.dev.json", ["tmdb=restbench/tmdb_oas.json"]),
    "restbench-spotify": ("toolflow/spotify.candidates.dev.json", ["spotify=restbench/spotify_oas.json"]),
    "toolflow": ("toolflow/toolflow.dev.json", [f"{name}=toolflow/{name}.tools.json" for name in ("food", "weather")]),
}
"""Development splits, and their documents, in the data folder."""


@cache
def dataset(name: str, data: Path | None = None) -> Dataset:
    """The shipped benchmark, or a development split under the data folder."""
    if data is None:
        return open_dataset(name, None, ())
    tasks, documents = SPLITS[name]
    return open_dataset(name, data / tasks, [document.replace("=", f"={data}/") for document in documents])


@contextmanager
def working(data: Dataset) -> Iterator[AgentEnvironment]:
    """What solves its tasks, with a model that is not asked."""
    with closing(AgentEnvironment(settings(data), data, worlds=find_worlds(data.protocols))) as runner:
        yield runner


def check(name: str, runner: AgentEnvironment, task: Task) -> str:
    """What is wrong with the reference of a task; empty if it is right."""
    reference = find_reference(name, task.query)
    if reference is None:
        return "there is none"
    with runner.world(task) as idle:
        claim = runner.claim(reference, task, idle)
    if "state" in claim:
        return check_state(name, runner, task, reference, idle=bool(claim["state"]))
    if is_correct("", claim) or is_correct("done", claim):
        return f"{claim} is met by no answer at all"
    if not is_correct(claimed_answer(claim), claim):
        return f"{claim} is not met by {claimed_answer(claim)}"
    return ""


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


def check_state(name: str, runner: AgentEnvironment, task: Task, reference: Reference, *, idle: bool) -> str:
    """The same of one that looks at the world: wrong when nothing was done, right when the task was."""
    if idle and task.id not in IDLE:
        return "the world is as it should be though nothing was done"
    with runner.world(task) as solved:
        run = solved.run((SOLVED / name / f"{task.id}.py").read_text("utf-8"))
        if run.error is not None:
            return f"the program that solves it fails: {run.error.message}"
        claim = runner.claim(reference, task, solved)
    return "" if claim["state"] else "the task was done, and the reference denies it"


IDLE = {
    "spotify-12": "the album is saved where the question's names are in the user's library from the start",
    "spotify-14": "whose music is playing may not be followed",
    "spotify-28": "another device may be playing",
}
"""Tasks that have nothing to change in some worlds; there a solve that does no harm is right."""


def wrong(name: str, data: Dataset) -> dict[str, str]:
    """What is wrong with the references of a benchmark, by task."""
    with working(data) as runner:
        problems = {task.id: check(name, runner, task) for task in data.tasks}
    return {task: problem for task, problem in problems.items() if problem}


@pytest.fixture(autouse=True)
def _no_model(endpoint: Callable[..., None]) -> None:
    endpoint("")


def test_references_of_the_shipped_benchmark() -> None:
    """Each runs in the world of its task and wants something that an answer must say, or a solve must change."""
    assert wrong("tiny", dataset("tiny")) == {}


@pytest.mark.parametrize("name", SPLITS)
def test_references_of_the_development_splits(data: Path, name: str) -> None:
    """The same of every task of RestBench and ToolFlow that is for development."""
    assert wrong(name, dataset(name, data)) == {}
    assert {file.stem for file in (FOLDER / name).iterdir()} == {task.id for task in dataset(name, data).tasks}


def test_the_shipped_tasks_need_one_to_ten_calls() -> None:
    """24 tasks of two APIs, some with writes, each with a reference; and no reference is left over."""
    data = dataset("tiny")
    names = {task.id for task in data.tasks}

    assert (len(names), set(data.protocols)) == (24, {"museum", "parcels"})
    assert {task.gold.needed.total() for task in data.tasks} == set(range(1, 11))
    assert sum(not tool.startswith("GET") for task in data.tasks for tool in task.gold.calls) == 7
    assert {file.stem for file in (FOLDER / "tiny").iterdir()} == names


def test_bench_tiny_runs_anywhere(
    endpoint: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without data, without --simulate: the calls of two tasks are made and their answers are compared."""
    monkeypatch.setenv("ATC_DATA", str(tmp_path))
    endpoint(
        '```python\nprint(GET_rooms_room_code(room_code="W2")["floor"])\n```',
        '```python\nprint(GET_me_favourites()["artworks"][0]["title"])\n```',
    )
    arguments = ["bench", "tiny", "--limit", "2", "--model", "openai:scripted", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, arguments)

    assert result.exit_code == 0, result.stderr
    assert "answers right (ours)" in result.stdout
    assert "50.0 %" in result.stdout
