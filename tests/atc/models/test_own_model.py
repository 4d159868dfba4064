"""A model of one's own: a function, or a class with `complete`; what it lacks has a default."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from atc import Agent, Completion, Message
from atc.models.base import ModelRequest, answer, as_model
from atc.models.replay import Recorder, ReplayModel
from protocols import load
from protocols.errors import UsageError
from protocols.samples import sample

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "models.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
PROGRAM = "print(GET_films_top_rated()['films'][0]['title'])"
QUESTION = [Message("user", "What is the best film?")]


def best_film(messages: Sequence[Message]) -> str:
    return PROGRAM


class Bare:
    """As little as there may be."""

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        return Completion(PROGRAM)


@pytest.mark.parametrize("model", [best_film, Bare(), lambda messages: PROGRAM])
def test_a_function_or_a_class_answers(model: Any) -> None:
    """Its name is its own, and each answer is one model call."""
    with Agent(load(sample("cinema")), model, simulate=True) as agent:
        solution = agent.solve("What is the best film?")

    assert (solution.status, solution.standing) == ("answered", "supported")
    assert solution.usage.model_calls == (1 if callable(model) else 0)


def test_what_a_model_lacks_has_a_default(tmp_path: Path) -> None:
    """A name, the end of the answer, and its usage: it is recorded, played and closed as any other."""
    model = as_model(best_film)
    recorded = Recorder(model, tmp_path / "answers.jsonl").complete(QUESTION, stop=["['films']"])
    played = ReplayModel(tmp_path / "answers.jsonl").complete(QUESTION, stop=["['films']"])
    model.close()

    assert (model.name, as_model(Bare()).name) == ("best_film", "Bare")
    assert (recorded.text, recorded.finish) == (played.text, played.finish) == ("print(GET_films_top_rated()", "stop")
    assert answer(as_model(Bare()), ModelRequest(QUESTION)) == Completion(PROGRAM)


def test_what_is_no_model_is_named() -> None:
    """Also what returns no text."""
    with pytest.raises(UsageError, match=r"5 is no model: give a name, a function of messages, or an object with"):
        Agent(load(sample("cinema")), 5, simulate=True)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"<lambda> returned NoneType; a model returns a str or a Completion"):
        as_model(lambda messages: None).complete(QUESTION)  # type: ignore[arg-type,return-value]
    with pytest.raises(UsageError, match=r"Bare is a class: give an object of it, such as Bare\(\)"):
        as_model(Bare)  # type: ignore[arg-type]


def test_the_code_of_the_page_is_right(tmp_path: Path) -> None:
    """Each block of docs/models.md passes `mypy --strict`, and runs from the folder of the checkout."""
    files = [tmp_path / f"block_{number}.py" for number in range(len(BLOCKS))]
    for file, block in zip(files, BLOCKS, strict=True):
        file.write_text(block, "utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *files], cwd=ROOT, capture_output=True, text=True
    )
    program = "import runpy, sys\nfor file in sys.argv[1:]:\n    runpy.run_path(file, run_name='__main__')"
    run = subprocess.run([sys.executable, "-c", program, *files], cwd=ROOT, capture_output=True, text=True)

    assert "Success: no issues found in 3 source files" in checked.stdout, checked.stdout
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("Cinema\n") and run.stdout.endswith("12\n")
