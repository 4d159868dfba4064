"""`atc eval convert`: answers of every form become converted answers, as published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.toolbench.evaluation.judged import read_converted
from benchmarks.toolbench.evaluation.sources import convert, open_answers
from protocols.errors import UsageError
from tests.benchmarks.toolbench.judging import (
    FUNCTIONS,
    PUBLISHED,
    SUBSET,
    answer,
    atc_eval,
    call,
    finish,
    record,
    result,
    write_answers,
)


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
