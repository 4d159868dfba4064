"""A model is asked whether answers are correct, and its belief is compared with what the references say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.micro.self_evaluation import Belief, figures_of, main, messages_for
from benchmarks.report.runs import read_run
from tests.benchmarks.report_runs import call, metrics, solution, task, write_run

RIGHT_PROGRAM = 'print(GET_search_movie(query="Titanic")["results"][0]["release_date"])\n'
WRONG_PROGRAM = 'print(GET_search_movie(query="Titanic")["results"][0]["id"])\n'
QUERY = "When was Titanic released?"


def run_folder(folder: Path) -> Path:
    """A right answer, a wrong one, one that no reference tells, and a task without an answer."""
    film = {"results": [{"id": 597, "title": "Titanic", "release_date": "1997-12-19"} for _ in range(5)]}
    calls = [call(0, "GET_search_movie", response=film)]
    right = solution(QUERY, [{"program": RIGHT_PROGRAM, "calls": calls}], "1997-12-19")
    wrong = solution(QUERY, [{"program": WRONG_PROGRAM, "calls": calls}], "597")
    tasks = [
        task("right", QUERY, solution=right, metrics=metrics(correct=True, standing="supported")),
        task("wrong", QUERY, solution=wrong, metrics=metrics(correct=False, standing="doubtful")),
        task("untold", QUERY, solution=right, metrics=metrics(correct=None)),
        task("silent", QUERY, solution=solution(QUERY, [], None), metrics=metrics(correct=False, answered=False)),
    ]
    return write_run(folder, tasks)


def test_the_model_sees_question_program_calls_and_the_beginnings_of_replies(tmp_path: Path) -> None:
    records = {record.id: record for record in read_run(run_folder(tmp_path / "run")).tasks}
    system, user = messages_for(records["right"])

    assert system.role == "system"
    assert user.content.startswith(f"Question: {QUERY}\n\nProgram:\n{RIGHT_PROGRAM}")
    assert "GET_search_movie(query='Titanic') -> 200 {\"results\"" in user.content
    assert 1 < user.content.count("1997-12-19") < 6  # some of the five items, and the answer
    assert user.content.endswith("Reply with Yes or No.")


def test_doubted_answers_are_counted_in_each_group() -> None:
    """Of two wrong answers one is below the limit; without a wrong one there is no area."""
    beliefs = [
        Belief("a", True, "supported", False, 0.9),
        Belief("b", True, "supported", False, 0.5),
        Belief("c", False, "doubtful", False, 0.4),
        Belief("d", False, "doubtful", True, 0.7),
    ]
    figures = figures_of(beliefs, 0.6)

    assert figures["all"] == {"right": 2, "wrong": 2, "auroc": 0.75, "right_doubted": 1, "wrong_doubted": 1}
    assert figures["reads"]["auroc"] == 1
    assert figures["supported"] == {"right": 2, "wrong": 0, "auroc": None, "right_doubted": 1, "wrong_doubted": 0}
    assert "right_doubted" not in figures_of(beliefs, None)["all"]


@pytest.mark.model
@pytest.mark.openvino
def test_the_local_model_believes_the_right_answer_more(tmp_path: Path) -> None:
    """A date and a number, for a question that asks for a date; what has no reference is left out."""
    result = CliRunner().invoke(main, [str(run_folder(tmp_path / "run")), "--json"])

    assert result.exit_code == 0, result.stderr
    figures = json.loads(result.stdout)["figures"]
    assert (figures["all"]["right"], figures["all"]["wrong"], figures["all"]["auroc"]) == (1, 1, 1)


def test_only_a_model_that_tells_probabilities_is_asked(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, [str(run_folder(tmp_path / "run")), "--model", "openai:nobody"])

    assert result.exit_code == 1
    assert "openvino:" in result.stderr
