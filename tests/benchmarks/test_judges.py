"""`atc report --judge A --judge B`: how far two judges agree on the solutions of runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from sklearn.metrics import cohen_kappa_score

from atc.apps.cli import main
from benchmarks.report.stats import cohens_kappa
from tests.benchmarks.report_runs import task, write_run

FIRST = [3, 3, 2, 1, 3, 2, 2, 1]
SECOND = [3, 2, 2, 1, 3, 2, 3, 3]


def test_kappa_is_that_of_the_library() -> None:
    """Cohen's kappa as scikit-learn has it; undefined where chance alone agrees in full, or nothing was graded."""
    pairs = list(zip(FIRST, SECOND, strict=True))
    assert cohens_kappa(pairs) == pytest.approx(cohen_kappa_score(FIRST, SECOND))
    assert [cohens_kappa(labels) for labels in ([(1, 1), (2, 2)], [(1, 2), (2, 1)], [(3, 3)], [])] == [
        1,
        -1,
        None,
        None,
    ]


def test_two_judges_are_compared(tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """Each judge grades each solution once; the table and the JSON have their agreement on both parts of the rubric."""
    questions = ["Who made Alien?", "Who made Solaris?", "Who made Stalker?", "Who made Duel?"]
    tasks = [task(f"tmdb-q{number}", question) for number, question in enumerate(questions)]
    folder = write_run(tmp_path / "one", tasks)
    first = ["executability 3, utility 3", "executability 3, utility 1", "executability 1, utility 2", "I cannot tell."]
    second = ["executability 3, utility 3", "executability 1, utility 1", "executability 1, utility 2", first[0]]
    endpoint(*first, *second)
    command = ["report", str(folder), "--judge", "openai:one", "--judge", "openai:two"]
    result = CliRunner().invoke(main, [*command, "--json"])

    assert result.exit_code == 0, result.output
    rows = {row["measure"]: row for row in json.loads(result.stdout)["judges"]}
    assert len(list(folder.glob("rubric/*/tasks/*.json"))) == 8
    assert (rows["executability"]["solutions"], rows["executability"]["same"]) == (3, pytest.approx(2 / 3))
    assert rows["executability"]["kappa"] == pytest.approx(cohen_kappa_score([3, 3, 1], [3, 1, 1]))
    assert rows["utility"]["kappa"] == 1

    shown = CliRunner().invoke(main, [*command, "--markdown", str(tmp_path / "report.md")])
    assert len(list(folder.glob("rubric/*/tasks/*.json"))) == 8
    assert "Agreement of the judges" in shown.output
    assert "| openai:one | openai:two | utility | 3 | 100.0 % | 1.00 |" in (tmp_path / "report.md").read_text()
