"""`atc bench --learned`: the agent sees a document that was learned by calls; service and scores stay as they are."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atc.apps.cli import main
from atc.models.replay import Recorder
from benchmarks.harness.registry import SHIPPED
from benchmarks.run.agent_environment import AgentEnvironment
from benchmarks.tasks.datasets import Dataset, open_dataset, with_learned
from benchmarks.tasks.task_files import candidate_tools
from tests.benchmarks.bench_runs import settings
from tests.scripted import ScriptedModel

PROGRAMS = (
    'print(GET_rooms_room_code(room_code="W2")["floor"])',
    'print(GET_me_favourites()["total"])',
    'found = GET_exhibitions(q="Made by Hand")["exhibitions"][0]\n'
    'print(GET_exhibitions_exhibition_id(exhibition_id=found["exhibition_id"])["curator"])',
)
"""Right ones for the first tasks, which are all of the museum."""
TASKS = len(PROGRAMS)
Documents = dict[str, Any]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """What `atc probe` learned of a museum that says `step_free` where the benchmark's says `wheelchair`."""
    folder = tmp_path_factory.mktemp("museum")
    text = (SHIPPED / "tiny" / "museum.yaml").read_text("utf-8").replace("wheelchair", "step_free")
    (folder / "museum.yaml").write_text(text, "utf-8")
    files = [str(folder / name) for name in ("museum.yaml", "learned.json")]
    probed = CliRunner().invoke(main, ["probe", files[0], "--blind", "--simulate", "-o", files[1]])
    assert probed.exit_code == 0, probed.output
    return dict(json.loads((folder / "learned.json").read_text()))


def written(document: Documents, folder: Path, edit: Callable[[Documents], object] = lambda paths: None) -> Path:
    """A document in a file, after an edit of its paths."""
    new = copy.deepcopy(document)
    edit(new["paths"])
    file = folder / "museum.learned.json"
    file.write_text(json.dumps(new))
    return file


def record(dataset: Dataset, file: Path) -> list[str]:
    """Solve the first tasks with right programs, record the answers, and give the prompts."""
    prompts = []
    with closing(AgentEnvironment(settings(dataset), dataset)) as runner:
        for task, program in zip(dataset.tasks, PROGRAMS, strict=False):
            names = candidate_tools(task, dataset.protocols[task.domain])
            model = ScriptedModel(program)
            runner.model = Recorder(model, file)
            runner.solve(task, names)
            prompts.append("\n".join(message.content for message in model.asked[0]))
    return prompts


def bench(out: Path, *options: str) -> Result:
    """Run the first tasks."""
    return CliRunner().invoke(main, ["bench", "tiny", "--limit", str(TASKS), "--out", str(out), "--json", *options])


def test_the_agent_goes_by_what_was_learned_and_is_scored_as_ever(document: Documents, tmp_path: Path) -> None:
    """The prompt has the keys that were observed and none that only the documentation has. The service is that of the
    benchmark, tools have their names, and references look at it by its own document."""
    learned, answers, out = written(document, tmp_path), tmp_path / "answers.jsonl", tmp_path / "out"
    prompts = record(with_learned(open_dataset("tiny", None, ()), [f"museum={learned}"]), answers)
    result = bench(out, "--learned", f"museum={learned}", "--model", f"replay:{answers}")

    assert result.exit_code == 0, result.stderr
    assert "step_free" in prompts[0]
    assert "wheelchair" not in "".join(prompts)
    summary = json.loads(result.stdout)
    assert [summary[name] for name in ("tasks", "success", "path", "correct")] == [TASKS, 100.0, 100.0, 100.0]
    for file in (out / "tasks").iterdir():
        task = json.loads(file.read_text())
        assert {call["tool"] for call in task["solution"]["calls"]} == set(task["gold"]["calls"])
    room = json.loads((out / "tasks" / "museum-1.json").read_text())["solution"]
    assert room["calls"][0]["response"].keys() == {"room_code", "name", "floor", "wheelchair"}
    assert room["versions"]["protocol"] == hashlib.sha256(learned.read_bytes()).hexdigest()
    assert "--learned names no document of parcels" in result.stderr


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        (lambda paths: paths.pop("/artists"), "lacks tools that tasks offer: GET_artists"),
        (lambda paths: paths["/artists"]["get"]["parameters"].clear(), "GET_artists does not have the service's arg"),
        (lambda paths: paths.update({"/artists/": paths.pop("/artists")}), "GET_artists is GET /artists/ there"),
    ],
)
def test_a_document_that_cannot_stand_for_the_other_is_told(
    document: Documents, tmp_path: Path, edit: Callable[[Documents], object], complaint: str
) -> None:
    """Before anything is run or written; with what is wrong and where."""
    file = written(document, tmp_path, edit)
    result = bench(tmp_path / "out", "--learned", f"museum={file}", "--model", "openai:none")

    assert result.exit_code == 2
    assert complaint in result.stderr
    assert str(file) in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--learned", "museum=nowhere.json"], "nowhere.json: no such file"),
        (["--learned", "nowhere.json"], "the tasks are of museum, parcels: write --learned museum=nowhere.json"),
        (["--learned", "zoo=nowhere.json"], "--learned zoo=nowhere.json: the tasks are of museum, parcels"),
        (["--learned", "museum=a.json", "--learned", "museum=b.json"], "--learned names two documents for museum"),
        (["--learned", "museum=a.json", "--base-url", "http://127.0.0.1:9"], "--learned needs --simulate"),
    ],
)
def test_options_that_make_no_sense_are_told(tmp_path: Path, options: list[str], complaint: str) -> None:
    result = bench(tmp_path / "out", *options, "--model", "openai:none")

    assert (result.exit_code, complaint in result.stderr) == (2, True), result.stderr
