"""`atc complexity`: the score of Xu et al., on their own examples, on files and beside the errors of runs."""

from __future__ import annotations

import json
import math
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from atc.apps.cli import main
from benchmarks.manipulation import suite
from benchmarks.manipulation.combinations import combination
from benchmarks.manipulation.complexity import Combination, ComplexityTest, complexity, distance, reversed_f1
from benchmarks.manipulation.complexity_sources import named_complexity
from benchmarks.manipulation.environment import GoalAction, ManipulationTest
from benchmarks.manipulation.suite import open_environment
from benchmarks.manipulation.virtualhome.environment import VirtualHome
from benchmarks.report.complexity_tables import published_complexity, recomputed
from benchmarks.report.stats import spearman
from protocols.errors import UsageError
from tests.benchmarks.manipulation.suite_tasks import SUITE
from tests.benchmarks.report_runs import metrics, task, write_run

FIRST, SECOND = tuple("abcd"), tuple("ae")
TESTS = [("t1", tuple("abdef")), ("t2", tuple("ae"))]


def run_complexity(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["complexity", *map(str, arguments)])


def lines(file: Path, *entries: object) -> Path:
    file.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), "utf-8")
    return file


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
    assert published_complexity()["correlation"]["complexity"]["StarCoder"] == 0.7


def test_ranks_of_equal_values() -> None:
    """Equal values share their mean rank; where one side does not vary there is no correlation."""
    assert spearman([1, 1, 2, 3], [5, 5, 6, 7]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 3, 1]) == pytest.approx(-0.8660, abs=1e-4)
    assert spearman([1, 2], [4, 4]) is None


def test_files_of_tests_and_demonstrations(tmp_path: Path) -> None:
    """JSON lines of calls give the score of the paper's example, with the nearest demonstration for each test."""
    tests = lines(tmp_path / "tests.jsonl", *({"id": name, "calls": calls} for name, calls in TESTS))
    shown = tmp_path / "shown.json"
    shown.write_text(json.dumps([{"id": "e1", "tools": FIRST}, {"id": "e2", "program": "a(1)\nprint(e('x'))"}]))
    functions = tmp_path / "functions.txt"
    functions.write_text("\n".join("abcdefghij"))
    options = ("--tests", tests, "--demos", shown, "--functions", functions)
    [scored] = json.loads(run_complexity(*options, "--json").stdout)["tasks"]

    assert scored["score"] == pytest.approx(4.3820, abs=1e-4)
    assert scored["functions"] == [10, 10]
    assert [near["demonstration"] for near in scored["nearest"]] == ["e1", "e2"]
    text = run_complexity(*options).stdout
    assert "4.38" in text
    assert "16.7" in text


def test_the_original_layout(tmp_path: Path) -> None:
    """Labels in `completion`, a folder with a text for each demonstration and one with a file for each function."""
    tests = lines(
        tmp_path / "test.jsonl",
        {"prompt": "Read", "completion": ["Agent.Find(novel)\nAgent.Read(novel)", "Agent.Read(novel)"]},
    )
    examples, functions = tmp_path / "examples", tmp_path / "functions"
    examples.mkdir()
    functions.mkdir()
    (examples / "0_0.txt").write_text("Task: Rest (now)\nAction:\nAgent.Find(bed)\nAgent.LieOn(bed)\n")
    for name in ("Find", "Read", "LieOn", "Sleep"):
        (functions / name).write_text(f"# {name}\nAgent.{name}(object)\n")
    [scored] = json.loads(
        run_complexity("--tests", tests, "--demos", examples, "--functions", functions, "--json").stdout
    )["tasks"]

    [near] = scored["nearest"]
    assert near["demonstration"] == "0_0"
    assert near["distance"] == pytest.approx(2 * math.log(2) + math.log(4))
    assert near["reversed_f1"] == pytest.approx(50)


def test_requests_count_with_their_parameters(tmp_path: Path) -> None:
    """Of a curl line, method, path and names of parameters are the function; numbers in the path and values are not."""

    def curl(address: str, method: str = "GET") -> dict[str, str]:
        return {"completion": f"curl -X {method} 'https://example.org/{address}'"}

    tests = lines(
        tmp_path / "tests.jsonl",
        curl("now?q=oslo&lang=no"),
        curl("now?q=oslo&mode=xml"),
        curl("marks/12", "DELETE"),
        curl("marks", "DELETE"),
    )
    shown = lines(tmp_path / "shown.jsonl", curl("now?lang=en&q=new+york"), curl("marks/977", "DELETE"))
    [scored] = json.loads(run_complexity("--tests", tests, "--demos", shown, "--json").stdout)["tasks"]

    assert [near["reversed_f1"] for near in scored["nearest"]] == [0, 100, 0, 100]
    assert scored["functions"] == [4, 4]


def test_requests_are_read_as_curl_reads_them(tmp_path: Path) -> None:
    """However the method is written; data without one is posted."""
    address = "https://example.org/marks"
    tests = lines(
        tmp_path / "tests.jsonl",
        {"completion": f"curl -XDELETE '{address}/5'"},
        {"completion": f'curl --request "DELETE" "{address}/5"'},
        {"completion": f"curl '{address}' -d '{{\"id\": 5}}'"},
    )
    demonstrations = lines(
        tmp_path / "shown.jsonl",
        {"completion": f"curl -X DELETE '{address}/7'"},
        {"completion": f"curl -X POST '{address}' -d '{{\"id\": 7}}'"},
    )
    [scored] = json.loads(run_complexity("--tests", tests, "--demos", demonstrations, "--json").stdout)["tasks"]

    assert [near["reversed_f1"] for near in scored["nearest"]] == [0, 0, 0]


def test_functions_have_the_names_of_their_files(tmp_path: Path) -> None:
    """A dot may be part of a name, a suffix of a text is none."""
    functions = tmp_path / "functions"
    functions.mkdir()
    for name in ("API.search", "API.set_location", "API.sort.txt", ".hidden"):
        (functions / name).write_text("# Something.\n")
    tests = lines(tmp_path / "tests.jsonl", {"completion": "API.set_location('x')\nAPI.search()\nAPI.sort()"})
    demonstrations = lines(tmp_path / "shown.jsonl", {"completion": "API.search()"})
    result = run_complexity("--tests", tests, "--demos", demonstrations, "--functions", functions, "--json")
    [scored] = json.loads(result.stdout)["tasks"]

    assert scored["functions"] == [3, 3]


def test_worked_examples_of_a_benchmark() -> None:
    """The demonstrations of a benchmark are the sketches that each prompt shows; --demos takes their place."""
    [scored] = json.loads(run_complexity("tiny", "--json").stdout)["tasks"]
    nearest = {near["test"]: near for near in scored["nearest"]}

    assert len(nearest) == 24
    assert nearest["museum-1"]["distance"] == pytest.approx(math.log(2))
    assert nearest["museum-1"]["demonstration"] == "sketch 1 for museum-1"


def test_a_task_of_the_suite() -> None:
    """Its demonstrations are its own, all accepted programs of a test count, and training samples may stand in."""
    [scored] = json.loads(run_complexity("manipulation-virtualhome", "--json").stdout)["tasks"]
    sampled = run_complexity("manipulation-virtualhome", "--samples", 512)

    assert scored["functions"] == [40, 40]
    assert len(scored["nearest"]) == 100
    assert 7 < scored["score"] < 13
    assert scored["nearest"][0]["test"] == "virtualhome-001"
    assert "12.3" in sampled.stdout
    assert "samples" in sampled.stdout


@pytest.mark.parametrize("name", SUITE)
def test_demonstrations_from_a_file_are_read_as_its_own(name: str, tmp_path: Path) -> None:
    """A task's own demonstrations in a file give its score again; so do lists of what they call."""
    with closing(open_environment(name)) as environment:
        demonstrations = environment.demonstrations
        texts = lines(tmp_path / "texts.jsonl", *({"action": pair.action} for pair in demonstrations))
        counted = [combination(pair.action, pair.names) for pair in demonstrations]
        listed = lines(tmp_path / "lists.jsonl", *({"calls": calls} for calls in counted))
    own = named_complexity(f"manipulation-{name}")

    assert named_complexity(f"manipulation-{name}", texts).score == pytest.approx(own.score)
    assert named_complexity(f"manipulation-{name}", listed).score == pytest.approx(own.score)


def test_requests_are_listed_with_their_parameters(tmp_path: Path) -> None:
    """By these the tests count them, so a name alone would never match; training data have them."""
    bare = lines(tmp_path / "bare.jsonl", {"calls": ["GET /data/2.5/weather"]})
    samples = tmp_path / "samples.jsonl"
    arguments = ["train", "data", "--from-task", "weather", "--count", "40", "--out", str(samples)]
    assert CliRunner().invoke(main, arguments).exit_code == 0

    with pytest.raises(UsageError, match=r"bare\.jsonl, entry 1: 'GET /data/2\.5/weather' has no parameters, .*\?"):
        named_complexity("manipulation-weather", bare)
    sampled = named_complexity("manipulation-weather", samples=40).score
    assert named_complexity("manipulation-weather", samples).score == pytest.approx(sampled)


def test_the_shop_is_covered_by_examples_of_all_its_functions(tmp_path: Path) -> None:
    """Its score is 0 by definition only where the demonstrations have them all."""
    search = lines(tmp_path / "search.jsonl", {"calls": ["search"]})
    both = lines(tmp_path / "both.jsonl", {"calls": ["search", "click"]})

    assert named_complexity("manipulation-webshop", search).score > 1
    assert named_complexity("manipulation-webshop", both).score == 0


def test_a_text_of_a_program_is_no_call(tmp_path: Path) -> None:
    """Words before a bracket in a text, such as a formula, are no functions."""
    tests = lines(tmp_path / "tests.jsonl", {"action": "worksheet.update('A5', '=SUM(A1:A4)', raw=False)"})
    demonstrations = lines(tmp_path / "demonstrations.jsonl", {"action": "worksheet.update('A5', 'x')"})
    [scored] = json.loads(run_complexity("--tests", tests, "--demos", demonstrations, "--json").stdout)["tasks"]

    assert scored["score"] == pytest.approx(math.log(2))
    assert scored["functions"] == [1, 1]


class Shop(VirtualHome):
    """A task that is covered by definition."""

    name = "webshop"


class Requests(VirtualHome):
    """A task whose actions are requests."""

    name = "weather"
    demonstrations = (GoalAction("Warm?", "curl 'http://x.org/now?q=a&appid=1'", ("now",)),)
    tests = (
        ManipulationTest("1", "Wet?", ("curl 'http://x.org/now?q=b&appid=2'",), (("now",),)),
        ManipulationTest("2", "Wet?", ("curl 'http://x.org/now?q=b' -d '{\"unit\": 1}'",), (("now",),)),
    )


@pytest.fixture
def two_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite has the shop and the requests."""
    places = {"webshop": f"{__name__}:Shop", "weather": f"{__name__}:Requests"}
    monkeypatch.setattr(suite, "TASKS", places)
    monkeypatch.setattr("benchmarks.manipulation.complexity_sources.TASKS", places)


@pytest.mark.usefixtures("two_tasks")
def test_tasks_whose_functions_are_counted_otherwise() -> None:
    """A request is one of 37 with its parameters, the key aside; the shop's score is 0 by definition."""
    shop, requests = named_complexity("manipulation-webshop"), named_complexity("manipulation-weather")

    assert shop.score == 0 and {near.distance for near in shop.nearest} == {0}
    assert requests.functions == (37, 37)
    assert [near.distance for near in requests.nearest] == pytest.approx([0.693, 0.693 + math.log(37)], abs=1e-3)


def test_errors_of_runs_beside_the_scores(tmp_path: Path) -> None:
    """With one task the correlation is over its tests; a run of another benchmark is refused. A page has the plot."""
    [scored] = json.loads(run_complexity("tiny", "--json").stdout)["tasks"]
    near = {entry["test"]: entry["distance"] for entry in scored["nearest"]}
    hard = [name for name, far in near.items() if far > 5]
    records = [task(name, metrics=metrics(success=float(name not in hard))) for name in near]
    run = write_run(tmp_path / "run", records, benchmark="tiny")
    page = tmp_path / "page.html"
    result = run_complexity("tiny", "--against", run, "--html", page, "--json")
    [against] = json.loads(result.stdout)["against"]

    assert against["over"] == "tests"
    assert against["points"] == 24
    assert against["score"] > 0.7
    assert against["errors"] == {"tiny": pytest.approx(100 * len(hard) / 24)}
    assert "Errors over API complexity" in page.read_text("utf-8")


@pytest.mark.usefixtures("two_tasks")
def test_several_tasks_beside_a_run(tmp_path: Path) -> None:
    """With several tasks the correlation is over them; a run without one of them is refused where it has none."""
    records = [
        task("webshop-001", dataset="webshop", metrics=metrics(success=0.75)),
        task("webshop-002", dataset="webshop", metrics=metrics(success=0.25)),
        task("weather-1", dataset="weather", metrics=metrics(success=0.0)),
    ]
    run = write_run(tmp_path / "run", records, benchmark="manipulation")
    names = ("manipulation-webshop", "manipulation-weather")
    [against] = json.loads(run_complexity(*names, "--against", run, "--json").stdout)["against"]

    assert (against["over"], against["points"], against["score"]) == ("tasks", 2, pytest.approx(1))
    assert against["errors"] == {"manipulation-webshop": 50, "manipulation-weather": 100}
    result = run_complexity("tiny", "--against", run)
    assert result.exit_code == 2
    assert "has no test of tiny" in " ".join(result.stderr.split())
    original = {"original": {"file": "release", "sha256": "ab" * 32}}
    release = write_run(tmp_path / "release", records, benchmark="manipulation", files=original)
    refused = " ".join(run_complexity(*names, "--against", release).stderr.split())
    assert "has no test of manipulation-webshop, manipulation-weather on these files" in refused
    assert "with --files the files that it was made with" in refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": 1, "calls": []}', "tests.jsonl, line 1: it calls no function"),
        ('{"id": 1, "calls": ["a"]}\n{"completion": ["so be it"]}', "tests.jsonl, line 2: it calls no function that"),
        ('{"id": 1, "calls": ["x"]}', "tests.jsonl, line 1: 'x' is no function; is the list of functions complete?"),
        ('{"id": 1}', "tests.jsonl, line 1: no calls; an entry has `calls`"),
        ("[1]", "tests.jsonl, entry 1: an entry is an object"),
        ('{"id": 1, "calls": ["a"]}\n{"id": 2, "ca', "tests.jsonl, line 2: no JSON"),
        ("", "tests.jsonl is empty"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, content: str, message: str) -> None:
    """An entry that cannot be used is named with its place."""
    tests = tmp_path / "tests.jsonl"
    tests.write_text(content + "\n")
    shown = lines(tmp_path / "shown.jsonl", {"calls": ["a"]})
    functions = tmp_path / "functions.json"
    functions.write_text('["a", "b"]')
    result = run_complexity("--tests", tests, "--demos", shown, "--functions", functions)

    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name a task (NAME...), or give --tests and --demos."),
        (["nothing"], "there is no 'nothing' to compute a complexity of; there are "),
        (["tiny", "--html", "x.html"], "--html draws the errors of runs"),
        (["tiny", "--samples", "5"], "tiny has no training samples"),
    ],
)
def test_wrong_use(arguments: list[str], message: str) -> None:
    """What is missing is said."""
    result = run_complexity(*arguments)

    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
