"""`atc complexity`: the score of Xu et al., on their own examples, on files and beside the errors of runs."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from atc.apps.cli import main
from benchmarks.manipulation.complexity import combination, complexity, distance, named_complexity, reversed_f1
from benchmarks.report.stats import spearman
from tests.benchmarks.report_runs import metrics, task, write_run


def run_complexity(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["complexity", *map(str, arguments)])


@pytest.mark.parametrize(
    ("test", "demonstration", "expected"),
    [
        ("abdef", "abcd", 7.3778),
        ("abdef", "ae", 8.2940),
        ("ae", "abcd", 5.0752),
        ("ae", "ae", 1.3863),
        ("aab", "ab", 3.6889),
        ("ba", "ab", 2 * math.log(2)),
    ],
)
def test_the_distance(test: str, demonstration: str, expected: float) -> None:
    """The paper's own example of ten functions; a function that is called twice is two calls, their order is free."""
    assert distance(Counter(test), Counter(demonstration), 10) == pytest.approx(expected, abs=1e-4)


def test_the_published_example() -> None:
    """The score, the reversed F1, and the nearest demonstrations."""
    samples = [("e1", tuple("abcd")), ("e2", tuple("ae"))]
    scored = complexity("example", {"t1": [tuple("abdef")], "t2": [tuple("ae")]}, samples, 10)

    assert scored.score == pytest.approx(4.3820, abs=1e-4)
    assert scored.reversed_f1 == pytest.approx(16.6667, abs=1e-4)
    assert [near.demonstration for near in scored.nearest] == ["e1", "e2"]
    assert reversed_f1(Counter("aab"), Counter("ba")) == pytest.approx(20)


def test_the_best_accepted_program_counts() -> None:
    """A test is as near as the nearest of its programs, and one without demonstrations draws all its calls."""
    assert complexity("two", {"t": [tuple("abc"), ("d",)]}, [("e", ("d",))], 10).score == pytest.approx(math.log(2))
    none = complexity("none", {"t": [tuple("ab")]}, [], 10)
    assert none.score == pytest.approx(2 * math.log(10))
    assert none.nearest[0].demonstration == ""


def test_ranks_of_equal_values() -> None:
    """Equal values share their mean rank; where one side does not vary there is no correlation."""
    assert spearman([1, 1, 2, 3], [5, 5, 6, 7]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 3, 1]) == pytest.approx(-0.8660, abs=1e-4)
    assert spearman([1, 2], [4, 4]) is None


def test_a_task_of_the_suite() -> None:
    """Its demonstrations are its own, and all accepted programs of a test count."""
    [scored] = json.loads(run_complexity("manipulation-virtualhome", "--json").stdout)["tasks"]

    assert scored["functions"] == 40
    assert len(scored["nearest"]) == 100
    assert 7 < scored["score"] < 13
    assert scored["nearest"][0]["test"] == "virtualhome-001"


def test_tasks_whose_functions_are_counted_otherwise() -> None:
    """A request is one of 37 with its parameters, the key aside; the shop's score is 0 by definition."""
    shop, requests = named_complexity("manipulation-webshop"), named_complexity("manipulation-weather")

    assert shop.score == 0 and {near.distance for near in shop.nearest} == {0}
    assert requests.functions == 37
    line = "curl 'http://x.org/now?q=a&appid=1' -d '{\"unit\": 1}'"
    assert combination(line, ("now",)) == ("now?q&unit",)


def test_errors_of_runs_beside_the_scores(tmp_path: Path) -> None:
    """With one task the correlation is over its tests; a run of another benchmark or of other files is refused."""
    [scored] = json.loads(run_complexity("manipulation-trip", "--json").stdout)["tasks"]
    near = {entry["test"]: entry["distance"] for entry in scored["nearest"]}
    hard = [name for name, far in near.items() if far > scored["score"]]
    records = [task(name, dataset="trip", metrics=metrics(success=float(name not in hard))) for name in near]
    run = write_run(tmp_path / "run", records, benchmark="manipulation")
    [against] = json.loads(run_complexity("manipulation-trip", "--against", run, "--json").stdout)["against"]

    assert (against["over"], against["points"]) == ("tests", len(near))
    assert against["score"] > 0.7
    assert against["errors"] == {"manipulation-trip": pytest.approx(100 * len(hard) / len(near))}
    original = {"original": {"file": "release", "sha256": "ab" * 32}}
    for settings in ({"benchmark": "tiny"}, {"benchmark": "manipulation", "files": original}):
        other = write_run(tmp_path / str(settings["benchmark"]), records, **settings)
        refused = " ".join(run_complexity("manipulation-trip", "--against", other).stderr.split())
        assert "has no test of manipulation-trip on these files" in refused


def test_several_tasks_beside_a_run(tmp_path: Path) -> None:
    """With several tasks the correlation is over them."""
    records = [
        task("virtualhome-001", dataset="virtualhome", metrics=metrics(success=0.75)),
        task("virtualhome-002", dataset="virtualhome", metrics=metrics(success=0.25)),
        task("trip-001", dataset="trip", metrics=metrics(success=0.0)),
    ]
    run = write_run(tmp_path / "run", records, benchmark="manipulation")
    names = ("manipulation-virtualhome", "manipulation-trip")
    [against] = json.loads(run_complexity(*names, "--against", run, "--json").stdout)["against"]

    assert (against["over"], against["points"], against["score"]) == ("tasks", 2, pytest.approx(1))
    assert against["errors"] == {"manipulation-virtualhome": 50, "manipulation-trip": 100}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name a task (NAME...)."),
        (["nothing"], "there is no 'nothing' to compute a complexity of; there are "),
    ],
)
def test_wrong_use(arguments: list[str], message: str) -> None:
    """What is missing is said."""
    result = run_complexity(*arguments)

    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
