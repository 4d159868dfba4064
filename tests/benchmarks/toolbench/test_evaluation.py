"""`atc eval`: its judge, its files, and answers of every form that become converted answers, as published."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.toolbench.evaluation.evaluate import judge_run
from benchmarks.toolbench.evaluation.judged import read_converted
from benchmarks.toolbench.evaluation.results import PASS_COLUMNS, STATUS_COLUMNS, WIN_COLUMNS
from benchmarks.toolbench.evaluation.sources import convert, open_answers, read_ids
from protocols.errors import UsageError
from tests.benchmarks.toolbench.judging import (
    FUNCTIONS,
    PUBLISHED,
    SUBSET,
    JudgeServer,
    always,
    answer,
    atc_eval,
    call,
    finish,
    judge,
    record,
    result,
    run,
    summary,
    table,
    write_answers,
)
from tests.local_api import LocalAPI


@pytest.fixture
def endpoint_judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    """A judge behind HTTP, asked as `openai:judge`; it calls everything solved until `decide` is set anew."""
    server = JudgeServer(always("Solved"))
    with LocalAPI() as api:
        api.respond("POST", "/chat/completions", server.reply)
        monkeypatch.setenv("OPENAI_BASE_URL", api.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield server


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


# Files


@PUBLISHED
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


@PUBLISHED
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
    assert figures["times"] == 4


def test_bad_usage_is_told(tmp_path: Path) -> None:
    """No judge, two runs of one name, ids of another subset, a file that is none."""
    file = write_answers(tmp_path / "mine", [answer("1")])
    out = ("--out", tmp_path / "out")
    (tmp_path / "ids.json").write_text("[99]")
    (tmp_path / "none.json").write_text("[]")
    judged = ("--judge", "openai:judge", *out)

    assert "Missing option '--judge'" in atc_eval("pass-rate", file, *out).stderr
    assert "both are called 'mine'" in atc_eval("win-rate", file, file, *judged).stderr
    assert "none of the ids" in atc_eval("pass-rate", file, *judged, "--ids", tmp_path / "ids.json").stderr
    assert "is no converted answer file" in atc_eval("pass-rate", tmp_path / "none.json", *judged).stderr
    with pytest.raises(UsageError, match="holds no query ids"):
        read_ids(tmp_path / "none.json")


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


def test_long_answers_are_read(tmp_path: Path) -> None:
    """Each message is nested in the one before it: 300 calls are no problem, more than can be written is told."""
    assert len(read_converted(write_answers(tmp_path, [answer("1", calls=300)]))["1"].calls) == 301
    with pytest.raises(UsageError, match="too many messages"):
        write_answers(tmp_path, [answer("1", calls=5000)])


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
    assert "2_CoT@1.json is no answer of" in atc_eval("convert", tmp_path, "--out", tmp_path / "out.json").stderr

    (tmp_path / "2_CoT@1.json").unlink()
    (tmp_path / "1_DFS_woFilter_w2.json").write_text(json.dumps(good))
    assert "choose one by --method" in atc_eval("convert", tmp_path, "--out", tmp_path / "out.json").stderr
    assert atc_eval("convert", tmp_path, "--method", "CoT@1", "--out", tmp_path / "out.json").exit_code == 0
    assert read_converted(tmp_path / "out.json")["1"].method == "CoT@1"

    (tmp_path / "empty").mkdir()
    assert "holds no answer" in atc_eval("convert", tmp_path / "empty", "--out", tmp_path / "out.json").stderr


@PUBLISHED
@pytest.mark.parametrize("method", ["virtual_chatgpt_cot", "virtual_chatgpt_dfs"])
def test_published_answers_become_the_published_conversion(examples: Path, tmp_path: Path, method: str) -> None:
    """Field by field, for both methods; and the reader takes the published file."""
    out = tmp_path / "out.json"
    assert atc_eval("convert", examples / "answer" / method / SUBSET, "--out", out).exit_code == 0
    published = examples / "model_predictions_converted" / method / f"{SUBSET}.json"

    assert json.loads(out.read_text()) == json.loads(published.read_text())
    assert {key: entry.to_json() for key, entry in read_converted(published).items()} == json.loads(out.read_text())


def test_a_run_of_atc_bench_is_judged_as_it_is(tmp_path: Path) -> None:
    """Its `answers/` are taken, under the name of its task file."""
    (tmp_path / "config.json").write_text(json.dumps({"files": {"tasks": {"file": "G2_category.json"}}}))
    (tmp_path / "answers").mkdir()
    entry = record("Who?", [call("Finish", finish("Ann"))], finish("Ann"))
    (tmp_path / "answers" / "12_CoT@1.json").write_text(json.dumps(entry))
    opened = open_answers(tmp_path)

    assert (opened.subset, opened.answers["12"].text) == ("G2_category", "Ann")
