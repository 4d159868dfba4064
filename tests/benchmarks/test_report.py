"""`atc report`: reading runs, the figures and their statistics, tables, Markdown, JSON, and the page in a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atc.apps.cli import main
from benchmarks.report.figures import figures
from benchmarks.report.grades import Grades, read_grades
from benchmarks.report.runs import read_run
from benchmarks.report.stats import difference
from tests.benchmarks.report_runs import TOOLS, call, metrics, sample, solution, task, write_run
from tests.browser import open_browser

EVIL = '<script>document.title="owned"</script><img src=x onerror="document.title=1">'


def report(*arguments: object) -> Result:
    """Run `atc report` in this process."""
    return CliRunner(env={"COLUMNS": "160"}).invoke(main, ["report", *map(str, arguments)])


def as_json(*arguments: object) -> dict[str, Any]:
    """What it prints with --json."""
    result = report(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, Path]:
    """A report of three runs: on the terminal, as Markdown, and the file of the page."""
    folder = tmp_path_factory.mktemp("reported")
    files = (folder / "report.md", folder / "page.html")
    result = report(*sample(folder), "--markdown", files[0], "--html", files[1])
    assert result.exit_code == 0, result.output
    return result.stdout, files[0].read_text(), files[1]


def solved_after(reflections: int, success: float = 1.0, **figure_changes: Any) -> dict[str, Any]:
    """Metrics and solution of a task that took so many reflections."""
    attempts = [{"program": f"print({n})\n", "calls": [call(0, TOOLS[0])]} for n in range(reflections + 1)]
    return {
        "metrics": metrics(success=success, reflections=reflections, **figure_changes),
        "solution": solution("Who made Titanic?", attempts, "James Cameron" if success else None),
    }


def test_runs_of_atc_bench_are_reported(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """The user's story: two modes over the same question, where the first program fails, and a report of both."""
    gold = ["GET /search/film"]
    (tmp_path / "tasks.json").write_text(json.dumps([{"query": "Is there a film called Tide?", "solution": gold}]))
    wrong = "```python\nprint(GET_search_film(query='Tide')['nothing'])\n```"
    right = "```python\nprint(GET_search_film(query='Tide')['results'][0]['title'])\n```"
    for mode in ("attribute", "none"):
        endpoint(wrong, right)
        files = ["--tasks", str(tmp_path / "tasks.json"), "--api", str(films), "--out", str(tmp_path / mode)]
        options = ["--simulate", "--model", "openai:scripted", "--mode", mode]
        assert CliRunner().invoke(main, ["bench", "restbench-tmdb", *files, *options]).exit_code == 0
    data = as_json(tmp_path / "attribute", tmp_path / "none", "--html", tmp_path / "page.html")

    assert [run["figures"]["by_reflections"] for run in data["runs"]] == [[0, 1, 1, 1], [0]]
    assert data["pairs"][0]["differences"]["success"]["mean"] == -1
    assert list(data["settings"]) == ["mode"]
    text = (tmp_path / "page.html").read_text()
    assert "Attributed to <code>GET_search_film</code>" in text
    assert "Program after a reflection" in text


# --- reading


def test_a_run_folder_is_read(tmp_path: Path) -> None:
    """Settings, tasks in the order of their files, and the times beside them."""
    run = read_run(write_run(tmp_path / "a", [task("q2"), task("q1")]))

    assert (run.name, run.mode, run.model) == ("a", "attribute", "local:qwen2.5-coder-1.5b")
    assert [record.id for record in run.tasks] == ["q1", "q2"]
    assert run.tasks[0].metrics.cached_tokens == 1500
    assert run.tasks[0].times is not None
    assert run.tasks[0].times.model_seconds == 2.5


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda run: run.rename(run.with_name("other")), "no such folder"),
        (lambda run: (run / "config.json").unlink(), "no config.json"),
        (lambda run: (run / "config.json").write_text("{}"), "config.json: 'benchmark' is a required property"),
        (lambda run: (run / "tasks" / "q1.json").unlink(), "no finished task yet"),
        (lambda run: (run / "tasks" / "q1.json").write_text('{"id": "q'), "q1.json cannot be read"),
        (lambda run: (run / "tasks" / "q1.json").write_bytes(b"\xff"), "q1.json cannot be read"),
        (lambda run: (run / "tasks" / "q1.json").write_text("[]"), "q1.json: [] is not of type 'object'"),
        (
            lambda run: (run / "tasks" / "q1.json").write_text(json.dumps(task("q1", metrics=metrics(path=2)))),
            "q1.json: metrics.path: 2 is greater than the maximum of 1",
        ),
        (lambda run: (run / "times.jsonl").write_text("x\n{}\n"), "times.jsonl, line 1"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, spoil: Any, complaint: str) -> None:
    """Bad input ends with exit code 2 and a line that names the file and what is wrong there."""
    run = write_run(tmp_path / "run", [task("q1")])
    spoil(run)
    result = report(run)

    assert result.exit_code == 2
    assert complaint in result.stderr
    assert "Traceback" not in result.output


def test_runs_are_told_apart_by_their_paths_and_tasks(tmp_path: Path) -> None:
    """As much of the path is shown as tells them apart; without a common task each is shown on its own, unpaired."""
    folders = [write_run(tmp_path / day / "tmdb", [task(f"q-{day}")]) for day in ("monday", "tuesday")]
    data = as_json(*folders)

    assert [run["name"] for run in data["runs"]] == ["monday/tmdb", "tuesday/tmdb"]
    assert ([len(run["tasks"]) for run in data["runs"]], data["pairs"]) == ([1, 1], [])
    assert "no task in common" in data["notes"][0]


# --- figures


def test_means_are_of_known_values(tmp_path: Path) -> None:
    """Success is of all tasks; correctness and false success only where the right answer is known."""
    tasks = [
        task("q1"),
        task("q2", metrics=metrics(correct=False)),
        task("q3", metrics=metrics(correct=None)),
        task("q4", metrics=metrics(success=0.0, answered=False, correct=False, error="wrong tool")),
    ]
    data = as_json(write_run(tmp_path / "run", tasks))
    means = data["runs"][0]["figures"]["means"]

    assert means["success"]["mean"] == 0.75
    assert (means["correct"]["mean"], means["correct"]["n"]) == (pytest.approx(1 / 3), 3)
    assert (means["false_success"]["mean"], means["false_success"]["n"]) == (0.5, 2)
    assert data["runs"][0]["figures"]["tokens_per_solved"] == 4 * 2100 / 3
    assert data["notes"] == ["The right answer is known for 3 of 4 tasks (run)."]


def test_success_by_reflections_comes_from_the_attempts(tmp_path: Path) -> None:
    """Solved after 0, 1 and 3 reflections and never: a quarter more at each of those steps, and no step beyond."""
    tasks = [
        task("q1", **solved_after(0)),
        task("q2", **solved_after(1)),
        task("q3", **solved_after(3)),
        task("q4", **solved_after(3, success=0.0, error="no answer")),
    ]
    run = read_run(write_run(tmp_path / "run", tasks))

    assert figures(run, run.tasks, None).by_reflections == (0.25, 0.5, 0.5, 0.75)
    without = replace(run, config={**run.config, "mode": "none"})
    assert figures(without, run.tasks, None).by_reflections == (0.25,)


def test_an_answer_that_was_doubted_counts_where_it_would_have_been_the_last(tmp_path: Path) -> None:
    """Cut off at once it is the answer; a program that a check held back is none."""
    finished = {"run": {"outcome": "ok", "stdout": "Titanic\n"}, "calls": [call(0, TOOLS[0])]}
    held: dict[str, Any] = {"run": None, "calls": []}
    gold = {"calls": {TOOLS[0]: 1}, "counted": False}
    tasks = [task(name, **solved_after(1), gold=gold) for name in ("q1", "q2")]
    for entry, first in zip(tasks, (finished, held), strict=True):
        entry["solution"]["attempts"][0].update(first)
    run = read_run(write_run(tmp_path / "run", tasks))

    assert figures(run, run.tasks, None).by_reflections == (0.5, 1.0, 1.0, 1.0)
    stepwise = replace(run, config={**run.config, "mode": "react"})
    assert figures(stepwise, run.tasks, None).by_reflections == ()


def test_tasks_are_grouped_by_gold_calls_and_by_error(tmp_path: Path) -> None:
    """Seven and more gold calls are one group; only failed tasks have a category."""
    tasks = [
        task("q1", metrics=metrics(gold_calls=1)),
        task("q2", metrics=metrics(gold_calls=7)),
        task("q3", metrics=metrics(gold_calls=12, success=0.0, error="wrong tool")),
        task("q4", metrics=metrics(gold_calls=1, success=0.0)),
    ]
    run_figures = as_json(write_run(tmp_path / "run", tasks))["runs"][0]["figures"]

    assert run_figures["by_gold"] == [
        {"name": "1", "tasks": 2, "solved": 1},
        {"name": "7 or more", "tasks": 2, "solved": 1},
    ]
    assert [(group["name"], group["tasks"]) for group in run_figures["by_error"]] == [
        ("no category", 1),
        ("wrong tool", 1),
    ]


def test_only_shared_tasks_are_compared(tmp_path: Path) -> None:
    """The same id with another question is another task; the report says what it left out."""
    first = write_run(tmp_path / "a", [task("q1"), task("q2"), task("q3")])
    tasks = [task("q1", metrics=metrics(success=0.0)), task("q2", "Who made Alien?"), task("q4")]
    second = write_run(tmp_path / "b", tasks, files={"tasks": {"file": "other.json", "sha256": "ef" * 32}})
    data = as_json(first, second)

    assert [[entry["id"] for entry in run["tasks"]] for run in data["runs"]] == [["q1"], ["q1"]]
    assert data["pairs"][0]["differences"]["success"]["mean"] == -1
    assert data["notes"] == [
        "All figures are of the 1 tasks that every run has (a has 3, b has 3).",
        "The runs are of different task files; a task is the same if dataset, id and query are.",
    ]


# --- statistics


def test_the_paired_test_is_the_sign_test_for_successes() -> None:
    """One task lost and nine gained: p = 2 · (1 + 10) / 2^10, as in a table of the binomial distribution."""
    gap = difference([0.0] * 9 + [1.0] + [1.0] * 20, [1.0] * 9 + [0.0] + [1.0] * 20)

    assert (gap.more, gap.fewer, gap.n) == (9, 1, 30)
    assert gap.p == pytest.approx(22 / 1024)
    assert gap.mean == pytest.approx(8 / 30)
    assert difference([1.0], [1.0]).p == 1


# --- prices


def test_a_model_grades_each_solution_once(tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """The grades are kept, shown as the model's, and asked for again only where the solution is another one."""
    endpoint("Executability: 3\nUtility: 2", "I cannot tell.", "executability: 1, utility: 1")
    tasks = [task("tmdb-q1"), task("tmdb-q2", "Who made Alien?")]
    folder = write_run(tmp_path / "one", tasks)
    judged = (folder, "--judge", "openai:scripted")

    first = as_json(*judged)
    means = first["runs"][0]["figures"]["means"]
    assert (means["executability"]["mean"], means["executability"]["n"], means["utility"]["mean"]) == (3, 1, 2)
    assert any("graded by openai:scripted" in note for note in first["notes"])

    assert as_json(*judged) == first
    assert len(list(folder.glob("rubric/*/tasks/*.json"))) == 2

    (folder / "tasks" / "tmdb-q1.json").write_text(json.dumps(task("tmdb-q1", "Who made Solaris?")))
    means = as_json(*judged)["runs"][0]["figures"]["means"]
    assert (means["executability"]["mean"], means["utility"]["mean"]) == (1, 1)


def test_grades_of_several_judges_are_averaged(tmp_path: Path) -> None:
    """A part that one of them did not grade is the other's."""
    for number, (model, executability) in enumerate((("one", 3), ("two", 2))):
        folder = tmp_path / "rubric" / str(number)
        (folder / "tasks").mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps({"model": model}))
        record = {"solution": "x", "executability": executability, "utility": 1 if number else None}
        (folder / "tasks" / "q.json").write_text(json.dumps(record))

    assert read_grades(tmp_path) == {"x": Grades(("one", "two"), 2.5, 1)}


def test_broken_grades_are_named(tmp_path: Path) -> None:
    """The folder, and what to do with it."""
    folder = write_run(tmp_path / "one", [task("tmdb-q1")])
    (folder / "rubric" / "abc" / "tasks").mkdir(parents=True)
    (folder / "rubric" / "abc" / "config.json").write_text('{"model": "m"}')
    (folder / "rubric" / "abc" / "tasks" / "tmdb-q1.json").write_text('{"solution": "x"}')
    result = report(folder)
    assert result.exit_code == 2
    assert "holds no grades (KeyError('executability')); remove it" in " ".join(result.stderr.split())


def test_cost_counts_cached_tokens_apart(tmp_path: Path) -> None:
    """500 fresh and 1,500 cached prompt tokens and 100 written ones, at the prices of a million."""
    table = tmp_path / "prices.yaml"
    table.write_text(
        "{currency: EUR, date: 2026-05-01, source: an offer,"
        " models: {'openai:*': {prompt: 1, completion: 1}, 'openai:our-*': {prompt: 2, cached: 1, completion: 10}}}"
    )
    run = write_run(tmp_path / "run", [task("q1")], model="openai:our-model")
    data = as_json(run, "--prices", table)

    assert data["runs"][0]["figures"]["cost"] == pytest.approx((500 * 2 + 1500 * 1 + 100 * 10) / 1e6)
    assert data["prices"] == {"currency": "EUR", "date": "2026-05-01", "source": "an offer"}
    text = " ".join(report(run, "--prices", table).stdout.split())
    assert "openai:our-model: 2 EUR a million prompt tokens, 10 completion tokens (an offer; 2026-05-01)." in text


# --- what is written


def test_the_terminal_shows_all_figures(reported: tuple[str, str, Path]) -> None:
    """One table for each kind of figure, ours labelled so, and nothing published unless it is asked for."""
    text, markdown, page = reported
    for part in ("Success", "Path", "Prec", "false success (ours)", "Figure 5", "Figure 6a", "Figure 6b", "Figure 7"):
        assert part in text
    assert "Paired differences (ours)" in text
    assert "All runs: benchmark restbench-tmdb; model local:qwen2.5-coder-1.5b" in text
    assert "published" not in text

    heads = "| measure | attribute | naive | none |\n| --- | ---: | ---: | ---: |\n| tasks | 30 | 30 | 30 |"
    assert heads in markdown, "the same tables"

    whole = page.read_text()
    assert "default-src 'none'" in whole, "the page loads nothing"
    assert not any(sign in whole for sign in ("<script", "<link", "@import", "url(", "https://", "src="))


def test_published_figures_are_labelled_and_beside_ours(tmp_path: Path) -> None:
    """Each row of the papers carries "published" with its table; ours stand below."""
    text = report(write_run(tmp_path / "mine", [task("q1")]), "--paper").stdout
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in text.splitlines() if "│" in line]

    assert ["published, Table 1", "ATC", "gpt-3.5-turbo", "89.00", "84.71", "83.87"] in rows
    assert ["published, Table 3", "ATC", "GPT-4", "94.00", "92.68", "-"] in rows
    ours = "mine (attribute), 1 tasks, tools 20"
    assert ["ours", ours, "local:qwen2.5-coder-1.5b", "100.00", "100.00", "100.00"] in rows
    assert not any("ToolFlow" in cell or "78.95" in cell for row in rows for cell in row)


def test_files_as_they_are_have_a_row_of_their_own(tmp_path: Path) -> None:
    """The same tasks with the required tools that their file lacks, and without: the rows say which is which. Text that
    would be markup is escaped, also in the name of a folder."""
    whole = write_run(tmp_path / "a|<b>", [task("q1")], candidates="listed and required")
    as_listed = write_run(tmp_path / "as-listed", [task("q1", metrics=metrics(success=0))], candidates="listed")
    report(whole, as_listed, "--paper", "--markdown", tmp_path / "report.md")

    rows = [line for line in (tmp_path / "report.md").read_text("utf-8").splitlines() if line.startswith("| ours |")]
    assert "a\\|\\<b\\> (attribute), 1 tasks, tools listed and required" in rows[0]
    assert "as-listed (attribute), 1 tasks, tools listed |" in rows[1]


# --- the page


def evil_run(folder: Path) -> Path:
    """A run in which everything that comes from outside is markup."""
    calls = [call(0, EVIL, arguments={"q": EVIL}, response={EVIL: EVIL}), call(1, EVIL, status=422, error=EVIL)]
    attempt = {"program": f"print({EVIL!r})", "calls": calls}
    solved = solution(EVIL, [{**attempt}, {**attempt}], EVIL)
    solved["attempts"][0]["fault"]["message"] = EVIL
    solved["attempts"][0]["attribution"] |= {"tool": EVIL, "path": EVIL, "evidence": [EVIL]}
    entry = task("q1", EVIL, solution=solved, gold={"calls": {EVIL: 1}}, metrics=metrics(success=0.0, error=EVIL))
    return write_run(folder, [entry], model=EVIL, mode=EVIL, benchmark=EVIL)


def test_markup_from_outside_is_text_on_the_page(tmp_path: Path) -> None:
    """Questions, programs, answers, responses and settings are escaped; what would turn text round is spelled out."""
    file = tmp_path / "page.html"
    report(evil_run(tmp_path / "run"), "--html", file, "--paper")
    text = file.read_text()

    assert "<script" not in text
    assert "<img" not in text
    assert "&lt;script&gt;" in text
    (tmp_path / "two").mkdir()
    write_run(tmp_path / "two" / "run", [task("q1", "a\u202eb\x1b\ud800")])
    report(tmp_path / "two" / "run", "--html", file)
    assert "a&lt;U+202E&gt;b␛&lt;U+D800&gt;" in file.read_text()


@pytest.mark.browser
def test_the_page_in_a_browser(reported: tuple[str, str, Path]) -> None:
    """Plots are drawn; a click on a cell shows a task's programs, calls, reflections and answer; another closes it."""
    with open_browser() as browser:
        browser.open(reported[2])

        assert browser.count("figure svg") == 2
        assert browser.run("return [...document.querySelectorAll('figure svg')].every(s => s.getBBox().width > 300)")
        assert browser.count(".matrix tbody tr") == 30
        assert browser.count(".matrix .cell") == 90
        assert not browser.shown("#t0-r0")
        browser.click("a.cell[href='#t0-r0']")
        assert browser.shown("#t0-r0")
        section = browser.text("#t0-r0")
        assert all(
            part in section for part in ("tmdb-q00", "Answer", "First program", "GET_search_movie", "Gold calls")
        )
        browser.click("#t0-r0 nav a[href='#t0-r1']")
        assert not browser.shown("#t0-r0")
        assert "Program after a reflection" in browser.text("#t0-r1")
        assert "Attributed to GET_search_movie" in browser.text("#t0-r1")
        browser.click("#t0-r1 .close")
        assert browser.count(".solution:target") == 0
        browser.click("#differ")
        rows = "[...document.querySelectorAll('.matrix tbody tr')]"
        assert 0 < browser.run(f"return {rows}.filter(row => row.offsetHeight).length") < 30
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        assert browser.logged() == []


@pytest.mark.browser
def test_markup_from_outside_does_nothing_in_a_browser(tmp_path: Path) -> None:
    """The title stays ours, and no element came out of the text."""
    file = tmp_path / "page.html"
    report(evil_run(tmp_path / "run"), "--html", file)
    with open_browser() as browser:
        browser.open(file)
        browser.click(".cell")

        assert browser.count("script, img") == 0
        assert EVIL in browser.text(".solution:target .question")
        assert EVIL in browser.text(".solution:target .answer")
        assert browser.run("return document.title").startswith("atc report")
        assert browser.logged() == []
