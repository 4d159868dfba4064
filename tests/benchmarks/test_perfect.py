"""A record of answers that are right in every mode, made from our references, plays back through `atc bench`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from atc.modes import modes
from benchmarks.run.oracle import chained_program, record_answers
from benchmarks.tasks.datasets import open_dataset
from sandbox.records import CallRecord


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("perfect") / "answers.jsonl"
    dataset = open_dataset("tiny", None, ())
    assert record_answers(replace(dataset, tasks=dataset.tasks[:5]), file, lambda text: len(text.split())) == 5
    return file


@pytest.mark.parametrize("mode", [mode for mode in modes() if mode != "plan"])
def test_each_mode_solves_what_the_references_solve(recorded: Path, mode: str, tmp_path: Path) -> None:
    """Four reads and a write; each mode makes the gold calls and answers right."""
    model = f"replay:{recorded}"
    result = CliRunner().invoke(
        main, ["bench", "tiny", "--limit", "5", "--mode", mode, "--model", model, "--out", str(tmp_path), "--json"]
    )

    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert (summary["success"], summary["correct"]) == (100.0, 100.0)
    assert summary["prompt_tokens"] > 0


def test_a_program_prints_the_answer_and_not_the_claim(recorded: Path) -> None:
    """What the modes of programs write ends with what an answer needs."""
    texts = [json.loads(line)["text"] for line in recorded.read_text().splitlines()]

    assert not any("json.dumps({" in text for text in texts)
    assert any('print(claim["number"])' in text or 'print(*claim["all"], sep="; ")' in text for text in texts)


def test_a_program_of_calls_takes_identifiers_from_the_replies_before() -> None:
    """What the question says stays as it is, even where a reply says the same."""
    response = {"results": [{"id": 7, "name": "Up"}, {"id": 9, "name": "Up"}]}
    calls = [
        CallRecord(0, "GET_search", "GET", "/search", {"query": "Up"}, 1, 200, 1.0, 1, "function", response),
        CallRecord(1, "GET_film", "GET", "/film/9", {"film_id": 9, "title": "Up"}, 2, 200, 1.0, 1, "function", {}),
        CallRecord(2, "GET_film", "GET", "/film/8", {"film_id": 8}, 3, 200, 1.0, 1, "function", {}),
    ]

    assert chained_program(calls).splitlines()[::2] == [
        "reply0 = GET_search(query='Up')",
        'reply1 = GET_film(film_id=reply0["results"][1]["id"], title=\'Up\')',
        "reply2 = GET_film(film_id=8)",
    ]
