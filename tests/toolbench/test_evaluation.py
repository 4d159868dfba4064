"""`atc eval`: conversion, pass rate, win rate, their files, and what happens when a judge fails."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atc.cli import main
from benchmarks.toolbench.evaluation.convert import convert
from benchmarks.toolbench.evaluation.evaluate import compare_runs, judge_run
from benchmarks.toolbench.evaluation.human import agreement, kappa, read_labels
from benchmarks.toolbench.evaluation.judged import JudgedAnswer, read_converted
from benchmarks.toolbench.evaluation.pass_rate import COMBINED, JudgedQuery, Repetition, flip_coins, majority
from benchmarks.toolbench.evaluation.published import PASS_COLUMNS, STATUS_COLUMNS, WIN_COLUMNS
from benchmarks.toolbench.evaluation.results import compared_summary, judged_summary
from benchmarks.toolbench.evaluation.sources import JudgedRun, open_answers, read_ids
from benchmarks.toolbench.evaluation.win_rate import WinEdition
from protocols.errors import UsageError
from tests.toolbench.judging import (
    FUNCTIONS,
    JudgeServer,
    always,
    answer,
    call,
    finish,
    judge,
    record,
    result,
    serving,
    write_answers,
)

SUBSET = "G1_instruction"


@pytest.fixture
def examples(data: Path) -> Path:
    """StableToolBench's published samples."""
    folder = data / "stabletoolbench" / "data_example"
    if not folder.is_dir():
        pytest.skip("no StableToolBench samples")
    return folder


@pytest.fixture
def endpoint_judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    """A judge behind HTTP, asked as `openai:judge`; it calls everything solved until `decide` is set anew."""
    with serving(JudgeServer(always("Solved"))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield server


def run(*answers: JudgedAnswer, method: str = "mine") -> JudgedRun:
    """Answers as a run."""
    return JudgedRun(method, SUBSET, {entry.query_id: entry for entry in answers})


def atc_eval(*arguments: object) -> Result:
    """Run `atc eval` in this process."""
    return CliRunner(env={"COLUMNS": "140"}).invoke(main, ["eval", *map(str, arguments)])


def summary(folder: Path) -> dict[str, Any]:
    """What an evaluation left."""
    return dict(json.loads((folder / "summary.json").read_text()))


def table(file: Path) -> list[dict[str, str]]:
    """A published result table."""
    return list(csv.DictReader(io.StringIO(file.read_text("utf-8"), newline=""), delimiter="\t"))


# Conversion


def test_a_valid_answer_is_its_last_training_messages() -> None:
    """Calls join their results, a thought alone is a message, a thought beside a call and retries are left out."""
    messages = [
        {**call("search_for_films", '{"title": "Tide"}'), "content": "I search."},
        result("search_for_films", ["Tide"]),
        {"role": "user", "content": "Try something else.", "valid": False},
        {"role": "assistant", "function_call": None, "content": "Now I know."},
        call("Finish", finish("Tom")),
    ]
    converted = convert("7", record("Who made Tide?", messages, finish("Tom")), "CoT@1")

    assert [call.name for call in converted.calls] == ["search_for_films", "Finish"]
    assert converted.calls[0].response == '{"error": "", "response": ["Tide"]}'
    assert converted.calls[1].response == ""
    assert converted.total_steps == 5
    assert converted.text == "Tom"
    assert json.loads(json.dumps(converted.to_json()))["answer"]["answer_details"][0]["role"] == "system"


def test_parallel_tool_calls_get_their_results_by_id() -> None:
    """The later dialect: several calls in a message, results in any order."""
    calls = [
        {"id": "a", "type": "function", "function": {"name": "search_for_films", "arguments": '{"title": "A"}'}},
        {"id": "b", "type": "function", "function": {"name": "credits_for_films", "arguments": '{"id": 1}'}},
    ]
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "b", "name": "credits_for_films", "content": "B"},
        {"role": "tool", "tool_call_id": "a", "name": "search_for_films", "content": "A"},
        call("Finish", finish("Tom")),
    ]
    functions = [{"type": "function", "function": function} for function in FUNCTIONS]
    entry = record("Who?", messages, finish("Tom"))
    entry["answer_generation"]["function"] = functions
    converted = convert("7", entry, "CoT@1")

    assert [(call.name, call.response) for call in converted.calls[:2]] == [
        ("search_for_films", "A"),
        ("credits_for_films", "B"),
    ]
    assert converted.tool_names == ["search_for_films", "credits_for_films", "Finish"]
    assert converted.invents_no_tool


def test_an_invalid_answer_is_one_walk_through_its_tree() -> None:
    """It has no final answer; which walk is taken depends on the query alone, not on the order of files."""
    leaves = [
        {
            "node_type": "Action",
            "description": "search_for_films",
            "children": [
                {"node_type": "Action Input", "description": f'{{"title": "{n}"}}', "observation": "[]", "children": []}
            ],
        }
        for n in range(4)
    ]
    root = {"node_type": "Action Input", "description": "", "children": [*leaves]}
    generation = {"valid_data": False, "final_answer": "", "function": FUNCTIONS, "query": "Who?"}
    data = {"tree": {"tree": root}, "answer_generation": generation}
    walks = {query_id: convert(query_id, data, "DFS") for query_id in map(str, range(30))}

    assert all(walk.total_steps == 3 and not walk.finished and walk.gave_up for walk in walks.values())
    assert convert("3", data, "DFS").to_json() == walks["3"].to_json()
    assert len({walk.calls[0].arguments for walk in walks.values()}) == 4


def test_older_files_hold_calls_as_text(tmp_path: Path) -> None:
    """A tool message may be the text of a Python dictionary."""
    file = write_answers(tmp_path, [answer("1")])
    data = json.loads(file.read_text())
    node = data["1"]["answer"]["answer_details"][0]["next"][0]["next"][0]
    node["message"] = str(node["message"])
    file.write_text(json.dumps(data))

    assert read_converted(file)["1"].calls[0].name == "search_for_films"
    node["message"] = "{not python"
    file.write_text(json.dumps(data))
    with pytest.raises(UsageError, match=r"query 1: answer\.answer_details: a tool message holds no call"):
        read_converted(file)


def test_long_answers_are_read(tmp_path: Path) -> None:
    """Each message is nested in the one before it: 300 calls are no problem, more than can be written is told."""
    assert len(read_converted(write_answers(tmp_path, [answer("1", calls=300)]))["1"].calls) == 301
    with pytest.raises(UsageError, match="too many messages"):
        write_answers(tmp_path, [answer("1", calls=5000)])


def test_malformed_converted_answers_are_named(tmp_path: Path) -> None:
    """With the query and the number of the message."""
    file = write_answers(tmp_path, [answer("1")])
    data = json.loads(file.read_text())
    data["1"]["answer"]["answer_details"][0]["next"][0]["role"] = "robot"
    file.write_text(json.dumps(data))

    with pytest.raises(UsageError, match=r"query 1, message 2 of answer\.answer_details: role: 'robot'"):
        read_converted(file)


def test_bad_answers_are_named(tmp_path: Path) -> None:
    """A half-written file, a tree that is none, two methods in one folder, a folder of nothing."""
    good = record("Who?", [call("Finish", finish("Tom"))], finish("Tom"))
    (tmp_path / "1_CoT@1.json").write_text(json.dumps(good))
    (tmp_path / "2_CoT@1.json").write_text(json.dumps(good)[:-40])
    result = atc_eval("convert", tmp_path, "--out", tmp_path / "out.json")
    assert result.exit_code == 2
    assert "2_CoT@1.json cannot be read" in result.stderr
    assert "have the query answered again" in result.stderr

    generation = {"valid_data": False, "final_answer": "", "function": [], "query": "Who?"}
    tree = {"node_type": "Action Input", "description": "", "children": [{"node_type": "Robot"}]}
    (tmp_path / "2_CoT@1.json").write_text(json.dumps({"answer_generation": generation, "tree": {"tree": tree}}))
    assert "2_CoT@1.json: tree.tree.children[0]" in atc_eval("convert", tmp_path, "--out", tmp_path / "out.json").stderr

    (tmp_path / "2_CoT@1.json").unlink()
    (tmp_path / "1_DFS_woFilter_w2.json").write_text(json.dumps(good))
    assert "choose one by --method" in atc_eval("convert", tmp_path, "--out", tmp_path / "out.json").stderr
    assert atc_eval("convert", tmp_path, "--method", "CoT@1", "--out", tmp_path / "out.json").exit_code == 0
    assert read_converted(tmp_path / "out.json")["1"].method == "CoT@1"

    (tmp_path / "empty").mkdir()
    assert "holds no answer" in atc_eval("convert", tmp_path / "empty", "--out", tmp_path / "out.json").stderr


@pytest.mark.parametrize("method", ["virtual_chatgpt_cot", "virtual_chatgpt_dfs"])
def test_published_answers_become_the_published_conversion(examples: Path, tmp_path: Path, method: str) -> None:
    """Field by field, for both methods; and the reader takes the published file."""
    out = tmp_path / "out.json"
    assert atc_eval("convert", examples / "answer" / method / SUBSET, "--out", out).exit_code == 0
    published = examples / "model_predictions_converted" / method / f"{SUBSET}.json"

    assert json.loads(out.read_text()) == json.loads(published.read_text())
    assert {key: entry.to_json() for key, entry in read_converted(published).items()} == json.loads(out.read_text())


def test_a_run_of_atc_bench_is_judged_as_it_is(tmp_path: Path) -> None:
    """`answers/` in the published form is taken; without it the tasks, named after their queries."""
    calls = [{"tool": "GET_films", "arguments": {"title": "Tide"}, "status": 200, "response": ["Tide"]}]
    calls.append({"tool": "GET_credits", "arguments": {}, "status": 404, "response": None})
    solution = {"answer": "Tom", "attempts": [{"calls": calls}]}
    task = {"id": "q12", "query": "Who?", "candidates": ["GET_films", "GET_credits"], "solution": solution}
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "q12.json").write_text(json.dumps(task))
    config = {"mode": "react", "files": {"tasks": {"file": "G2_category.json"}}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    opened = open_answers(tmp_path)

    assert (opened.subset, list(opened.answers), opened.answers["12"].text) == ("G2_category", ["12"], "Tom")
    assert opened.answers["12"].method == "react"
    assert [call.name for call in opened.answers["12"].calls] == ["GET_films", "GET_credits", "Finish"]
    assert '"error": "status 404"' in opened.answers["12"].calls[1].response

    (tmp_path / "answers").mkdir()
    entry = record("Who?", [call("Finish", finish("Ann"))], finish("Ann"))
    (tmp_path / "answers" / "12_CoT@1.json").write_text(json.dumps(entry))
    assert open_answers(tmp_path).answers["12"].text == "Ann"


# Pass rate


@pytest.mark.parametrize(("status", "task"), COMBINED)
def test_the_published_table_of_statuses(tmp_path: Path, status: str, task: str) -> None:
    """Every pair of answer status and task status has the published label."""
    (query,) = judge_run(run(answer("1")), ["1"], judge(tmp_path, always(status, task)), "2", 1)
    passed = status == "Solved" or task == "Unsolvable"
    failed = status == "Unsolved" and task == "Solvable"

    assert query.label == ("Passed" if passed else "Failed" if failed else "Unsure")
    assert query.repetitions[0].solved == status
    # Who solved it is not asked whether it can be solved.
    assert query.repetitions[0].solvable == ("Solvable" if status == "Solved" else task)


def test_without_finish_nobody_is_asked(tmp_path: Path) -> None:
    """An answer whose last call is not Finish has failed; one that gives up is asked only for its task."""
    strict = judge(tmp_path, lambda prompt: "Verdict: Unsolvable")
    (cut, gave_up) = judge_run(run(answer("1", ending=False), answer("2", text="")), ["1", "2"], strict, "2", 1)

    assert (cut.label, cut.repetitions[0].solvable) == ("Failed", "Solvable")
    assert (gave_up.repetitions[0].solved, gave_up.label) == ("Unsolved", "Passed")
    assert strict.asked == 1


def test_an_unsure_answer_is_judged_by_its_calls(tmp_path: Path) -> None:
    """The second question shows the calls, the first only the answer."""
    prompts: list[str] = []

    def decide(prompt: str) -> str:
        prompts.append(prompt)
        return "Verdict: Solved" if "<calls>" in prompt else "Verdict: Unsure"

    (query,) = judge_run(run(answer("1")), ["1"], judge(tmp_path, decide), "2", 1)

    assert query.label == "Passed"
    assert ["search_for_films" in prompt for prompt in prompts] == [False, True]


def labelled(*labels: str, query_id: str = "1") -> JudgedQuery:
    """A query with these labels."""
    return JudgedQuery(query_id, answer(query_id), tuple(Repetition("Solved", "Solvable", label) for label in labels))


def test_the_majority_decides_and_a_tie_is_a_tie() -> None:
    """A tie and an unsure answer count a half, and are counted."""
    queries = [
        labelled("Passed", "Passed", "Failed", "Unsure"),
        labelled("Passed", "Failed", "Passed", "Failed"),
        labelled("Unsure", "Unsure", "Unsure", "Failed"),
        JudgedQuery("4", None),
    ]
    figures = judged_summary(queries, compat=False)

    assert [query.label for query in queries] == ["Passed", "Tie", "Unsure", "Missing"]
    assert (figures["rate"], figures["n"]) == ((1 + 0.5 + 0.5) / 4, 4)
    assert (figures["ties"], figures["unsure"], figures["missing"]) == (1, 1, 1)
    assert figures["unfinished"] == 0
    assert figures["low"] <= figures["rate"] <= figures["high"]
    assert majority([]) == "Missing"


def test_compat_a_tie_is_a_pass() -> None:
    """As published, in the printed rate."""
    assert judged_summary([labelled("Passed", "Failed")], compat=True)["rate"] == 1


def test_compat_a_missing_answer_is_not_penalised() -> None:
    """As published, the rate is over the labelled queries."""
    queries = [labelled("Passed"), JudgedQuery("2", None)]

    assert judged_summary(queries, compat=True)["rate"] == 1
    assert judged_summary(queries, compat=False)["rate"] == 0.5


def test_compat_a_seeded_coin_decides_unsure() -> None:
    """As published, but the same each time."""
    queries = [labelled("Unsure", query_id=str(number)) for number in range(200)]
    flipped = [query.label for query in flip_coins(queries)]

    assert set(flipped) == {"Passed", "Failed"}
    assert 70 < flipped.count("Passed") < 130
    assert flipped == [query.label for query in flip_coins(queries)]


def test_sopr_is_the_mean_of_the_repetitions(tmp_path: Path) -> None:
    """Unsure counts a half, no majority; the deviation is that of the repetitions."""
    replies = iter(["Unsure", "Unsure", "Solved", "Unsolved"])
    decide = judge(tmp_path, lambda prompt: f"Verdict: {next(replies)}")
    queries = list(judge_run(run(answer("1")), ["1", "2"], decide, "sopr", 3))
    figures = judged_summary(queries, compat=False)

    assert queries[0].scores == [0.5, 1.0, 0.0]
    assert figures["rate"] == 0.25
    assert figures["spread"]["rates"] == [0.25, 0.5, 0.0]
    assert figures["spread"]["std"] == pytest.approx(0.2041, abs=1e-4)
    assert judged_summary(queries, compat=True)["rate"] == 0.5


def test_compat_sopr_counts_an_unread_judgement_as_nothing(tmp_path: Path) -> None:
    """As a judgement that failed in the published code; else it is unsure."""
    nonsense = judge(tmp_path, lambda prompt: "I like films.")
    (strict,) = judge_run(run(answer("1")), ["1"], nonsense, "sopr", 1)
    (published,) = judge_run(run(answer("1")), ["1"], nonsense, "sopr", 1, compat=True)

    assert (strict.score, published.score) == (0.5, 0.0)


def test_fac_shows_query_and_answer_alone(tmp_path: Path) -> None:
    """Neither calls nor functions; the answer is taken out of the arguments of Finish."""
    prompts: list[str] = []

    def decide(prompt: str) -> str:
        prompts.append(prompt)
        return "Fine.\nVerdict: Solved"

    queries = list(
        judge_run(run(answer("1", "Tom"), answer("2", "")), ["1", "2", "3"], judge(tmp_path, decide), "fac", 1)
    )

    assert [query.score for query in queries] == [1.0, 0.0, 0.0]
    assert len(prompts) == 1
    assert "<final_answer>\nTom\n</final_answer>" in prompts[0]
    assert "search_for_films" not in prompts[0]


def test_compat_fac_reads_any_reply_and_shows_raw_arguments(tmp_path: Path) -> None:
    """As published: the word alone decides, `unsolved` first, and a missing answer ends it."""
    prompts: list[str] = []

    def decide(prompt: str) -> str:
        prompts.append(prompt)
        return "This is not unsolved." if "Tide 1?" in prompt else "SOLVED, I think"

    published = judge(tmp_path, decide, compat=True)
    queries = list(judge_run(run(answer("1"), answer("2")), ["1", "2"], published, "fac", 1, compat=True))

    assert [query.score for query in queries] == [0.0, 1.0]
    assert '"return_type": "give_answer"' in prompts[0]
    with pytest.raises(UsageError, match="no answer to query 3"):
        list(judge_run(run(answer("1")), ["1", "3"], published, "fac", 1, compat=True))


def test_edition_1_is_a_rule(tmp_path: Path) -> None:
    """Finish with an answer that is no refusal; no judge, no verdicts."""
    answers = [
        answer("1"),
        answer("2", "I'm sorry, with these functions I cannot tell."),
        answer("3", ""),
        answer("4", ending=False),
        answer("5", "Sorry for the delay: Tom made it."),
    ]
    file = write_answers(tmp_path / "mine", answers)
    assert atc_eval("pass-rate", file, "--edition", "1", "--out", tmp_path / "out").exit_code == 0

    assert [row["pass_rate_label"] for row in table(tmp_path / "out" / f"{SUBSET}_mine.csv")] == [
        "passed",
        "failed",
        "failed",
        "failed",
        "passed",
    ]
    assert summary(tmp_path / "out")["rate"] == 0.4
    assert not (tmp_path / "out" / "verdicts.jsonl").exists()


# The judge


def replying(text: str) -> Callable[[str], str]:
    """A judge that always writes the same."""
    return lambda prompt: text


def test_a_reply_without_a_verdict_is_asked_for_once_more(tmp_path: Path) -> None:
    """The second reply counts; without one the verdict is Unsure, and counted as unparsed."""
    replies = iter(["It is solved.", "**Verdict:** solved"])
    (query,) = judge_run(run(answer("1")), ["1"], judge(tmp_path / "a", lambda prompt: next(replies)), "sopr", 1)
    assert (query.label, query.unparsed) == ("Solved", 0)

    for nonsense in ("", "Verdict: Maybe", "Verdict: Solved\nVerdict: Unsolved", "Verdict: Solved|Unsure|Unsolved"):
        folder = tmp_path / f"nonsense-{len(nonsense)}"
        (query,) = judge_run(run(answer("1")), ["1"], judge(folder, replying(nonsense)), "sopr", 1)
        assert (query.label, query.unparsed) == ("Unsure", 2), nonsense  # both questions on the status


def test_a_judge_that_answers_nonsense_is_doubted(endpoint_judge: JudgeServer, tmp_path: Path) -> None:
    """The evaluation ends, its rate is a half, and a warning tells how many replies cannot be read."""
    endpoint_judge.decide = replying("I like films.")
    file = write_answers(tmp_path / "mine", [answer("1"), answer("2", calls=0)])
    shown = atc_eval("pass-rate", file, "--judge", "openai:judge", "--times", 1, "--out", tmp_path / "out")
    figures = summary(tmp_path / "out")

    assert shown.exit_code == 0
    assert "warning: 6 replies of the judge cannot be read" in shown.stderr
    assert (figures["rate"], figures["unsure"], figures["unparsed"]) == (0.5, 2, 6)


def test_verdicts_are_asked_once_for_each_judge_and_text(tmp_path: Path) -> None:
    """The same again costs nothing, more repetitions cost the new ones; another judge or answer starts anew."""

    def asked(name: str, times: int, text: str = "Tom") -> int:
        strict = judge(tmp_path, always("Solved"), name)
        list(judge_run(run(answer("1", text)), ["1"], strict, "2", times))
        return strict.asked

    assert [asked("a", 2), asked("a", 2), asked("a", 3), asked("b", 2), asked("a", 2, "Ann")] == [2, 0, 1, 2, 2]
    lines = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
    assert {line["judge"] for line in lines} == {"a", "b"}
    assert {"query_id", "answers", "prompt_sha256", "repetition", "verdict", "reason"} <= set(lines[0])


def test_a_broken_verdict_file_is_named(tmp_path: Path) -> None:
    """A half-written last line is passed over, a foreign line is an error with its place."""
    strict = judge(tmp_path, always("Solved"))
    list(judge_run(run(answer("1")), ["1"], strict, "2", 2))
    file = tmp_path / "verdicts.jsonl"
    file.write_text(file.read_text() + '{"question": "ans')
    again = judge(tmp_path, always("Solved"))
    list(judge_run(run(answer("1")), ["1"], again, "2", 2))
    assert again.asked == 0

    file.write_text('{"film": 1}\n')
    with pytest.raises(UsageError, match=r"line 1: this is no verdict; delete the line"):
        judge(tmp_path, always("Solved"))


def test_a_judge_that_dies_in_the_middle(endpoint_judge: JudgeServer, tmp_path: Path) -> None:
    """What it judged stays; the same command asks only the rest and ends as if nothing had been."""
    file = write_answers(tmp_path / "mine", [answer(str(number)) for number in range(6)])
    command = ("pass-rate", file, "--judge", "openai:judge", "--times", 2, "--out", tmp_path / "out")
    solved = always("Solved")
    endpoint_judge.decide = lambda prompt: None if len(endpoint_judge.prompts) == 5 else solved(prompt)
    failed = atc_eval(*command)
    assert failed.exit_code == 5
    assert not (tmp_path / "out" / "summary.json").exists()

    endpoint_judge.decide = solved
    assert atc_eval(*command, "--workers", 3).exit_code == 0
    assert len(endpoint_judge.prompts) == 12
    assert summary(tmp_path / "out")["rate"] == 1
    assert atc_eval(*command).exit_code == 0
    assert len(endpoint_judge.prompts) == 12


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_keeps_the_verdicts(endpoint_judge: JudgeServer, tmp_path: Path, workers: int) -> None:
    """A real process is interrupted; the same command goes on."""
    file = write_answers(tmp_path / "mine", [answer(str(number)) for number in range(8)])
    solved, out = always("Solved"), tmp_path / "out"

    def slowly(prompt: str) -> str:
        time.sleep(0.1 if len(endpoint_judge.prompts) < 3 else 2)
        return solved(prompt)

    endpoint_judge.decide = slowly
    command = [
        sys.executable,
        "-c",
        "from atc.cli import main; main()",
        "eval",
        "pass-rate",
        str(file),
        "--judge",
        "openai:judge",
    ]
    process = subprocess.Popen(
        [*command, "--times", "1", "--out", str(out)], stderr=subprocess.PIPE, env={**os.environ}
    )
    deadline = time.monotonic() + 40
    while len(endpoint_judge.prompts) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    stored = len((out / "verdicts.jsonl").read_text().splitlines())
    assert stored >= 3

    endpoint_judge.decide = solved
    endpoint_judge.prompts.clear()
    assert atc_eval("pass-rate", file, "--judge", "openai:judge", "--times", 1, "--out", out).exit_code == 0
    assert len(endpoint_judge.prompts) == 8 - stored


def test_recorded_replies_judge_again_without_the_judge(endpoint_judge: JudgeServer, tmp_path: Path) -> None:
    """`--record` and then `--judge replay:FILE` give the same figures."""
    file = write_answers(tmp_path / "mine", [answer("1"), answer("2", "Sorry.")])
    endpoint_judge.decide = lambda prompt: always("Unsolved" if "Sorry" in prompt else "Solved")(prompt)
    replies = tmp_path / "replies.jsonl"
    first = atc_eval(
        "pass-rate", file, "--judge", "openai:judge", "--record", replies, "--out", tmp_path / "a", "--json"
    )
    asked = len(endpoint_judge.prompts)
    second = atc_eval("pass-rate", file, "--judge", f"replay:{replies}", "--out", tmp_path / "b", "--json")

    names = ("rate", "low", "high", "n", "ties", "unsure", "missing", "prompt_sha256", "spread")
    assert first.exit_code == second.exit_code == 0, second.output
    assert [json.loads(first.stdout)[name] for name in names] == [json.loads(second.stdout)[name] for name in names]
    assert len(endpoint_judge.prompts) == asked


# Win rate


def by_hash(biased: float) -> Callable[[str], str]:
    """A judge without sense: its verdict depends on the whole prompt, in a share of the cases on the order alone."""

    def decide(prompt: str) -> str:
        draw = random.Random(prompt)
        if "<second>" in prompt:
            word = "First" if draw.random() < biased else draw.choice(["First", "Second", "Tie", "nonsense"])
        elif "<functions>" in prompt:
            word = draw.choice(["Solvable", "Unsure", "Unsolvable"])
        else:
            word = draw.choice(["Solved", "Unsure", "Unsolved"])
        return f"Verdict: {word}"

    return decide


@pytest.mark.parametrize("edition", ["1", "2", "sowr"])
@pytest.mark.parametrize("seed", range(6))
def test_swapping_the_methods_swaps_the_result(tmp_path: Path, edition: WinEdition, seed: int) -> None:
    """For any judge, in every edition: no verdict changes, none is asked anew, and the rates add up to one."""
    draw = random.Random(seed)

    def some(method: str) -> JudgedRun:
        texts = ["", "Tom", "Ann", "Sorry, I cannot tell."]
        made = [
            answer(str(number), draw.choice(texts), draw.randrange(4), draw.random() < 0.9)
            for number in range(12)
            if draw.random() < 0.9
        ]
        return run(*made, method=method)

    first, second = some("first"), some("second")
    ids = [str(number) for number in range(12)]
    forth = list(compare_runs(first, second, ids, judge(tmp_path, by_hash(seed / 6)), edition, 3))
    swapped = judge(tmp_path, by_hash(seed / 6))
    back = list(compare_runs(second, first, ids, swapped, edition, 3))

    mirrored = {"reference": "candidate", "candidate": "reference", "tie": "tie"}
    assert [mirrored[query.winner] for query in forth] == [query.winner for query in back]
    assert swapped.asked == 0
    assert compared_summary(forth, False)["rate"] + compared_summary(back, False)["rate"] == pytest.approx(1)


def compared(
    folder: Path, decide: Callable[[str], str], edition: WinEdition = "2", compat: bool = False, **answers: Any
) -> Any:
    """One pair, compared once."""
    pair = [run(*(entry,) if entry else (), method=name) for name, entry in answers.items()]
    return next(compare_runs(pair[0], pair[1], ["1"], judge(folder, decide, compat=compat), edition, 1, compat))


def test_a_judge_that_prefers_a_place_decides_nothing(tmp_path: Path) -> None:
    """Both orders are asked, and a disagreement is a tie that is counted."""
    query = compared(tmp_path, always("Solved", better="First"), a=answer("1", "Tom"), b=answer("1", "Ann"))

    assert (query.winner, query.rounds[0].rule) == ("tie", "the orders disagree")
    assert compared_summary([query], False)["disagreed"] == 1


def test_what_decides_before_the_judge_is_asked_to_compare(tmp_path: Path) -> None:
    """A missing answer loses, a passed one beats a failed one, a solved one an unsure one; the same answers tie."""

    def decide(prompt: str) -> str:
        assert "<second>" not in prompt
        status = "Solved" if "Tom" in prompt else "Unsure" if "Perhaps" in prompt else "Unsolved"
        return always(status, "Unsure")(prompt)

    tom, ann, perhaps = (answer("1", text) for text in ("Tom", "Ann", "Perhaps"))
    cases = [(None, ann, "candidate"), (ann, None, "reference"), (None, None, "tie"), (ann, tom, "candidate")]
    cases += [(tom, perhaps, "reference"), (perhaps, ann, "reference"), (tom, tom, "tie")]
    for number, (first, second, winner) in enumerate(cases):
        assert compared(tmp_path / str(number), decide, a=first, b=second).winner == winner, number


def test_edition_1_prefers_fewer_steps_and_then_more_work(tmp_path: Path) -> None:
    """Both solved: fewer steps. Both failed: successful calls, different functions, few steps."""
    short, long = answer("1", "Tom", calls=1), answer("1", "Tom", calls=3)
    assert compared(tmp_path / "a", always("Solved"), "1", a=short, b=long).rounds[0].rule == "fewer steps"
    assert compared(tmp_path / "a", always("Solved"), "1", a=short, b=long).winner == "reference"
    assert compared(tmp_path / "b", always("Unsolved"), "1", a=short, b=long).winner == "candidate"
    nothing = answer("1", "", calls=3)
    assert compared(tmp_path / "c", always("Solved"), "1", a=nothing, b=short).rounds[0].rule == "only one answer"
    better = always("Solved", better="Second")
    even = compared(tmp_path / "d", better, "1", a=answer("1", "Tom"), b=answer("1", "Ann"))
    assert even.rounds[0].rule == "the orders disagree"


def test_sowr_takes_a_solved_answer_over_an_unsolved_one(tmp_path: Path) -> None:
    """Nobody is asked to compare; as published the pair is judged from scratch, with the same end."""
    tom, ann = answer("1", "Tom"), answer("1", "Ann")
    decide = always("Solved")

    def by_text(prompt: str) -> str:
        return decide(prompt) if "Tom" in prompt else "Verdict: Unsolved"

    for compat in (False, True):
        query = compared(tmp_path / str(compat), by_text, "sowr", compat, a=ann, b=tom)
        assert (query.winner, query.rounds[0].rule) == ("candidate", "only one Solved")


def test_compat_statuses_are_not_shuffled_with_the_answers(tmp_path: Path) -> None:
    """The published defect: of a solved and an unsolved answer with the same label either may win."""

    def decide(prompt: str) -> str:
        return always("Solved" if "Tom" in prompt else "Unsolved", "Unsolvable")(prompt)

    ids = [str(number) for number in range(400)]
    solved = run(*(answer(key, "Tom") for key in ids), method="a")
    unsolved = run(*(answer(key, "Ann") for key in ids), method="b")
    published = list(compare_runs(solved, unsolved, ids, judge(tmp_path, decide, compat=True), "2", 1, compat=True))
    strict = list(compare_runs(solved, unsolved, ids, judge(tmp_path, decide), "2", 1))

    assert 160 < sum(query.winner == "reference" for query in published) < 240
    assert all(query.winner == "reference" for query in strict)


def test_compat_one_order_is_asked_and_lots_decide_the_rest(tmp_path: Path) -> None:
    """As published: no ties; a judge that prefers a place wins for whoever was drawn there."""
    ids = [str(number) for number in range(60)]
    first, second = (run(*(answer(key, text) for key in ids), method=text) for text in ("Tom", "Ann"))
    for better in ("First", "Tie"):
        strict = judge(tmp_path / better, always("Solved", better=better), compat=True)
        winners = [query.winner for query in compare_runs(first, second, ids, strict, "2", 1, compat=True)]
        assert set(winners) == {"reference", "candidate"}
        assert 15 < winners.count("reference") < 45
        assert strict.asked == 3 * len(ids)  # two statuses and one comparison each


def test_compat_edition_1_lets_the_judge_count(tmp_path: Path) -> None:
    """The score of failed answers rests on counts that the judge takes from the calls."""

    def decide(prompt: str) -> str:
        if "Count in the calls" in prompt:
            return "Counts: 9 succeeded, 1 different" if "Tide 1" in prompt else "Counts: 0 succeeded, 0 different"
        return "Verdict: Unsolved"

    query = compared(tmp_path, decide, "1", True, a=answer("1", "Tom", calls=1), b=answer("1", "Tom", calls=2))
    assert (query.winner, query.rounds[0].rule) == ("candidate", "better score")


# Files


def test_status_files_have_the_published_columns(examples: Path, endpoint_judge: JudgeServer, tmp_path: Path) -> None:
    """All fields but the verdicts are those of the published result files, keys and columns in their order."""
    method = "virtual_chatgpt_cot"
    file = examples / "model_predictions_converted" / method / f"{SUBSET}.json"
    arguments = ("pass-rate", file, "--judge", "openai:judge", "--edition", "sopr", "--out", tmp_path)
    assert atc_eval(*arguments).exit_code == 0
    name = f"{SUBSET}_{method}"
    published = json.loads((examples / "pass_rate_results" / method / f"{name}.json").read_text())
    ours = json.loads((tmp_path / f"{name}.json").read_text())

    assert {key: list(entry) for key, entry in ours.items()} == {key: list(entry) for key, entry in published.items()}
    assert [{**entry, "is_solved": sorted(entry["is_solved"].items())} for _, entry in sorted(ours.items())] == [
        {**entry, "is_solved": sorted(entry["is_solved"].items())} for _, entry in sorted(published.items())
    ]
    theirs = table(examples / "pass_rate_results" / method / f"{name}.csv")
    rows = table(tmp_path / f"{name}.csv")
    assert tuple(rows[0]) == tuple(theirs[0]) == STATUS_COLUMNS
    for row, their_row in zip(*(sorted(part, key=lambda row: row["query_id"]) for part in (rows, theirs)), strict=True):
        assert {**row, "is_solved": ""} == {**their_row, "is_solved": ""}
    assert summary(tmp_path)["rate"] == pytest.approx(2 / 3)  # 588 has no Finish


def test_preference_files_have_the_published_columns(
    examples: Path, endpoint_judge: JudgeServer, tmp_path: Path
) -> None:
    """The same fields as in the published comparison of the two samples; with this judge also the same winners."""
    files = [
        examples / "model_predictions_converted" / f"virtual_chatgpt_{name}" / f"{SUBSET}.json"
        for name in ("cot", "dfs")
    ]

    def decide(prompt: str) -> str:
        if "<second>" not in prompt:
            return "Verdict: Solved"
        # The answer that is in the conversion of the tree search, wherever it stands.
        trees = ("Popular sites for the search query", "Grandmaster Chess Tactics and Analysis channel")
        second = prompt.split("<second>")[1]
        return f"Verdict: {'Second' if any(text in second for text in trees) else 'First'}"

    endpoint_judge.decide = decide
    command = ("win-rate", *files, "--judge", "openai:judge", "--edition", "sowr", "--times", 3, "--out", tmp_path)
    assert atc_eval(*command).exit_code == 0
    name = f"{SUBSET}_virtual_chatgpt_cot_virtual_chatgpt_dfs"
    published = json.loads((examples / "preference_results" / f"{name}.json").read_text())
    ours = json.loads((tmp_path / f"{name}.json").read_text())
    rows, theirs = table(tmp_path / f"{name}.csv"), table(examples / "preference_results" / f"{name}.csv")

    assert {key: list(entry) for key, entry in ours.items()} == {key: list(entry) for key, entry in published.items()}
    assert tuple(rows[0]) == tuple(theirs[0]) == WIN_COLUMNS
    assert sorted(map(str, rows)) == sorted(map(str, theirs))
    assert summary(tmp_path)["rate"] == 1


def test_pass_files_hold_counts_and_labels(endpoint_judge: JudgeServer, tmp_path: Path) -> None:
    """ToolBench's form, separated by TAB; what is missing has no entry there but counts in the summary."""
    file = write_answers(tmp_path / "mine", [answer("1"), answer("2", calls=0)])
    (tmp_path / "ids.json").write_text(json.dumps({"1": 0, "2": 0, "3": 0}))
    out = tmp_path / "out"
    command = ("pass-rate", file, "--judge", "openai:judge", "--ids", tmp_path / "ids.json", "--out", out)
    shown = atc_eval(*command)
    entry = json.loads((out / f"{SUBSET}_mine.json").read_text())

    assert shown.exit_code == 0
    assert "66.7 %" in shown.stdout
    assert list(entry) == ["1", "2"]
    assert entry["1"]["passed"] == 4
    assert entry["1"]["task_solvable"] == "TaskStatus.Solvable"
    assert entry["1"]["not_hallucinate"] is True
    rows = table(out / f"{SUBSET}_mine.csv")
    assert tuple(rows[0]) == PASS_COLUMNS
    assert (out / f"{SUBSET}_mine.csv").read_bytes().count(b"\r\n") == 3
    figures = summary(out)
    assert (figures["rate"], figures["n"], figures["missing"]) == (pytest.approx(2 / 3), 3, 1)
    assert figures["judge"] == "openai:judge"
    manifest = json.loads((out / "manifest.json").read_text())
    assert set(manifest["prompts"]) == {"answer_status", "steps_status", "solvability", "again"}
    assert manifest["times"] == 4


def test_the_leaderboard_keeps_a_line_for_each_method_and_judge(endpoint_judge: JudgeServer, tmp_path: Path) -> None:
    """A second subset is a column of the same line, a repetition changes nothing, another judge is another line."""
    out = tmp_path / "out"
    one = write_answers(tmp_path / "mine", [answer("1"), answer("2", ending=False)])
    two = write_answers(tmp_path / "mine", [answer("1")], "G1_tool")
    for file, name in ((one, "a"), (two, "a"), (one, "a"), (one, "b")):
        assert atc_eval("pass-rate", file, "--judge", f"openai:{name}", "--out", out).exit_code == 0
    lines = list(csv.DictReader((out / "leaderboard.csv").open()))

    assert [(line["Method"], line["Judge"], line["PassRate"]) for line in lines] == [
        ("mine", "openai:a", "0.7500"),
        ("mine", "openai:b", "0.5000"),
    ]
    assert lines[0]["G1_tool_PassRate"] == "1.0000"
    assert lines[0]["StdError"] == f"{0.5 / 2**0.5 / 2:.4f}"
    assert lines[1]["G1_tool_PassRate"] == ""


def test_verdicts_of_another_folder_are_used(endpoint_judge: JudgeServer, tmp_path: Path) -> None:
    """After both pass rates only the comparisons are asked."""
    files = [write_answers(tmp_path / name, [answer("1", name)]) for name in ("Tom", "Ann")]
    for file in files:
        assert (
            atc_eval("pass-rate", file, "--judge", "openai:judge", "--out", tmp_path / file.parent.name).exit_code == 0
        )
    asked = len(endpoint_judge.prompts)
    stored = [option for file in files for option in ("--verdicts", file.parent / "verdicts.jsonl")]
    shown = atc_eval("win-rate", *files, "--judge", "openai:judge", "--out", tmp_path / "pair", *stored)

    assert shown.exit_code == 0, shown.output
    assert len(endpoint_judge.prompts) - asked == 2 * 4
    assert "ties" in shown.stdout


def test_bad_usage_is_told(tmp_path: Path) -> None:
    """No judge, a judge for a rule, two runs of one name, ids of another subset, a file that is none."""
    file = write_answers(tmp_path / "mine", [answer("1")])
    out = ("--out", tmp_path / "out")
    (tmp_path / "ids.json").write_text("[99]")
    (tmp_path / "none.json").write_text("[]")
    judged = ("--judge", "openai:judge", *out)

    assert "Missing option '--judge'" in atc_eval("pass-rate", file, *out).stderr
    assert "is a rule" in atc_eval("pass-rate", file, "--edition", "1", *judged).stderr
    assert "both are called 'mine'" in atc_eval("win-rate", file, file, *judged).stderr
    assert "none of the ids" in atc_eval("pass-rate", file, *judged, "--ids", tmp_path / "ids.json").stderr
    assert "is no converted answer file" in atc_eval("pass-rate", tmp_path / "none.json", *judged).stderr
    with pytest.raises(UsageError, match="holds no query ids"):
        read_ids(tmp_path / "none.json")


# People


def test_agreement_as_in_the_papers_appendix() -> None:
    """Hand-made: a tie among people gives half a point; the variance is within each query."""
    judged = {"1": ["Passed"] * 4, "2": ["Passed", "Failed", "Failed", "Failed"], "3": ["Passed", "Passed"]}
    people = {"1": ["Passed", "Passed", "Failed"], "2": ["Failed"], "3": ["Passed", "Failed"], "4": ["Passed"]}
    compared_labels = agreement(judged, people)

    assert compared_labels.n == 3
    assert compared_labels.agreement == pytest.approx((1 + 0.75 + 0.5) / 3)
    assert compared_labels.people == pytest.approx((2 / 3 + 1 + 0.5) / 3)
    assert compared_labels.bias == pytest.approx((0 + 0 + 0.5) / 3)
    assert compared_labels.variance == pytest.approx((0 + 0.1875 + 0) / 3)
    assert compared_labels.kappa == 1
    assert agreement({"1": ["Passed"]}, {}).agreement is None


def test_kappa_of_two_raters() -> None:
    """A textbook case, and the cases where there is none."""
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15

    assert kappa(pairs) == pytest.approx(0.4)
    assert kappa([]) is None
    assert kappa([("yes", "yes")]) is None


def test_labels_of_people_are_read_in_three_forms(endpoint_judge: JudgeServer, tmp_path: Path) -> None:
    """JSON, a table with a row a person, the published preference table; a wrong word is named."""
    (tmp_path / "a.json").write_text('{"1": ["passed", "failed"], "2": "unsure"}')
    (tmp_path / "a.csv").write_text("query_id,label\n1,Passed\n1,failed\n")
    (tmp_path / "win.csv").write_text("query_id\tpreference_label\n1\t2\n2\t3\n")
    (tmp_path / "bad.json").write_text('{"1": "good"}')

    assert read_labels(tmp_path / "a.json", "pass") == {"1": ["Passed", "Failed"], "2": ["Unsure"]}
    assert read_labels(tmp_path / "a.csv", "pass") == {"1": ["Passed", "Failed"]}
    assert read_labels(tmp_path / "win.csv", "win") == {"1": ["candidate"], "2": ["tie"]}
    with pytest.raises(UsageError, match="query 1: 'good' is no label"):
        read_labels(tmp_path / "bad.json", "pass")

    file = write_answers(tmp_path / "mine", [answer("1"), answer("2")])
    command = ("pass-rate", file, "--judge", "openai:judge", "--edition", "sopr", "--out", tmp_path / "out")
    shown = atc_eval(*command, "--human", tmp_path / "a.json")
    assert "agreement of judge and people" in shown.stdout
    assert summary(tmp_path / "out")["human"]["agreement"] == 0.25


def test_the_published_tables_stand_beside_ours(endpoint_judge: JudgeServer, tmp_path: Path) -> None:
    """`atc report --paper --eval DIR`: our rate in the column of its subset, with the judge's name."""
    file = write_answers(tmp_path / "mine", [answer("1"), answer("2", ending=False)])
    out = tmp_path / "out"
    assert atc_eval("pass-rate", file, "--judge", "openai:judge", "--out", out).exit_code == 0
    shown = CliRunner(env={"COLUMNS": "220"}).invoke(main, ["report", "--paper", "--eval", str(out)])
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in shown.stdout.splitlines() if "│" in line]

    assert ["published", "ChatGPT DFSDT", "54.5/60.5", "65/62", "60.5/57.3", "75/72", "71.5/64.8", "62/69"] in [
        row[:8] for row in rows
    ]
    assert [row[1:3] for row in rows if row[0] == "ours"] == [["mine (judge openai:judge, 2 queries)", "50.0/-"]]
    refused = CliRunner().invoke(main, ["report", "--paper", "--eval", str(tmp_path)])
    assert refused.exit_code == 2
    assert "name a folder that `atc eval --out` wrote" in refused.stderr
