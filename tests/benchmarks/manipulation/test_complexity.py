"""`atc complexity`: the score of Xu et al., on their own examples, on files and beside the errors of runs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from atc.apps.cli import main
from benchmarks.manipulation.complexity import (
    Combination,
    ComplexityTest,
    combination,
    complexity,
    distance,
    reversed_f1,
)
from benchmarks.manipulation.complexity_sources import named_complexity
from benchmarks.report.complexity_tables import recomputed
from benchmarks.report.published import published
from benchmarks.report.stats import spearman
from tests.benchmarks.report_runs import metrics, task, write_run

FIRST, SECOND = tuple("abcd"), tuple("ae")
TESTS = [("t1", tuple("abdef")), ("t2", tuple("ae"))]


def run_complexity(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["complexity", *map(str, arguments)])


def test_the_published_example() -> None:
    """The paper's own example of ten functions: each distance, the score, and the reversed F1."""
    assert distance(TESTS[0][1], FIRST, 10) == pytest.approx(7.3778, abs=1e-4)
    assert distance(TESTS[0][1], SECOND, 10) == pytest.approx(8.2940, abs=1e-4)
    assert distance(TESTS[1][1], FIRST, 10) == pytest.approx(5.0752, abs=1e-4)
    assert distance(TESTS[1][1], SECOND, 10) == pytest.approx(1.3863, abs=1e-4)
    shown = [Combination("e1", FIRST), Combination("e2", SECOND)]
    scored = complexity("example", [ComplexityTest(name, (calls,), 10, shown) for name, calls in TESTS])

    assert scored.score == pytest.approx(4.3820, abs=1e-4)
    assert scored.reversed_f1 == pytest.approx(16.6667, abs=1e-4)
    assert [near.demonstration for near in scored.nearest] == ["e1", "e2"]


def test_calls_are_counted_and_their_order_is_not() -> None:
    """A function that is called twice is two calls."""
    assert distance("aab", "ab", 10) == pytest.approx(3.6889, abs=1e-4)
    assert distance("ba", "ab", 10) == distance("ab", "ba", 10) == pytest.approx(2 * math.log(2))
    assert reversed_f1("aab", "ba") == pytest.approx(20)


def test_the_best_accepted_program_counts() -> None:
    """A test is as near as the nearest of its programs, and one without demonstrations draws all its calls."""
    two = ComplexityTest("t", (("a", "b", "c"), ("d",)), 10, [Combination("e", ("d",))])
    none = ComplexityTest("t", (("a", "b"),), 10, [])

    assert complexity("two", [two]).score == pytest.approx(math.log(2))
    assert complexity("none", [none]).score == pytest.approx(2 * math.log(10))
    assert complexity("none", [none]).nearest[0].demonstration == ""


def test_published_correlations() -> None:
    """Worked out from the published rows, they are the published ones but for one, which is 0.9 and not 0.7."""
    figures = {model: round(value, 4) for model, value in recomputed().items() if value is not None}

    assert figures == {"GPT-4": 0.2, "LLaMA-30b": 1.0, "CodeGen-16B": 1.0, "StarCoder": 0.9}
    assert published("complexity")["correlation"]["complexity"]["StarCoder"] == 0.7


def test_ranks_of_equal_values() -> None:
    """Equal values share their mean rank; where one side does not vary there is no correlation."""
    assert spearman([1, 1, 2, 3], [5, 5, 6, 7]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 3, 1]) == pytest.approx(-0.8660, abs=1e-4)
    assert spearman([1, 2], [4, 4]) is None


def test_a_task_of_the_suite() -> None:
    """Its demonstrations are its own, and all accepted programs of a test count."""
    [scored] = json.loads(run_complexity("manipulation-virtualhome", "--json").stdout)["tasks"]

    assert scored["functions"] == [40, 40]
    assert len(scored["nearest"]) == 100
    assert 7 < scored["score"] < 13
    assert scored["nearest"][0]["test"] == "virtualhome-001"


def test_tasks_whose_functions_are_counted_otherwise() -> None:
    """A request is one of 37 with its parameters, the key aside; the shop's score is 0 by definition."""
    shop, requests = named_complexity("manipulation-webshop"), named_complexity("manipulation-weather")

    assert shop.score == 0 and {near.distance for near in shop.nearest} == {0}
    assert requests.functions == (37, 37)
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
