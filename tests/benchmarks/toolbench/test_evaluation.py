"""`atc eval`: its judge and its files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.toolbench.evaluation.evaluate import judge_run
from benchmarks.toolbench.evaluation.results import PASS_COLUMNS, STATUS_COLUMNS, WIN_COLUMNS
from benchmarks.toolbench.evaluation.sources import read_ids
from protocols.errors import UsageError
from tests.benchmarks.toolbench.judging import (
    PUBLISHED,
    SUBSET,
    JudgeServer,
    always,
    answer,
    atc_eval,
    judge,
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
