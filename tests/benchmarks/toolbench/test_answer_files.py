"""Answer files of ToolBench: written from our solutions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.toolbench.corpus.answer_files import published_answer, published_method
from benchmarks.toolbench.corpus.queries import read_queries
from benchmarks.toolbench.evaluation.sources import convert

SETTINGS = {"width": 2, "depth": None, "compat": False, "max_model_calls": 20}
CALL = {"name": "tide_for_harbour", "arguments": {"port": "ESB"}, "text": '{"port": "ESB"}', "observation": "{}"}


def query_file(folder: Path) -> Path:
    record: dict[str, object] = {"category_name": "Weather", "tool_name": "Harbour", "api_name": "Tide"}
    parameters = [{"name": "port", "type": "STRING", "description": "", "default": "ESB"}]
    record |= {
        "method": "GET",
        "api_description": "Tides",
        "required_parameters": parameters,
        "optional_parameters": [],
    }
    file = folder / "queries.json"
    query = {
        "query": "When is high water?",
        "query_id": 7,
        "api_list": [record],
        "relevant APIs": [["Harbour", "Tide"]],
    }
    file.write_text(json.dumps([query]), "utf-8")
    return file


def solution(tree: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    usage = {"model_calls": 3, "prompt_tokens": 100, "completion_tokens": 10}
    return {"tree": tree, "usage": usage, "calls": [], "answer": None, **more}


def message(id: int, parent: int, outcome: str, *steps: dict[str, Any], thought: str = "t") -> dict[str, Any]:
    return {"id": id, "parent": parent, "trial": 1, "thought": thought, "steps": list(steps), "outcome": outcome}


def test_a_search_is_written_as_its_published_tree(tmp_path: Path) -> None:
    """Three nodes a message, the branch that was given up included; what is written is read with the same counts."""
    query = read_queries(query_file(tmp_path))[0]
    finish = {"name": "finish", "arguments": {"answer": "At noon."}, "text": "", "observation": "", "code": 3}
    give_up = {"name": "give_up", "arguments": {"reason": "no"}, "text": "", "observation": "", "code": 4}
    call = {**CALL, "code": 0}
    tree = [message(1, 0, "open", call), message(2, 1, "give_up", give_up), message(3, 1, "answer", finish)]
    data = published_answer(solution(tree, answer="At noon."), query, "dfsdt", 1, SETTINGS)
    file = tmp_path / "7_DFS_woFilter_w2.json"
    file.write_text(json.dumps(data), "utf-8")
    read, generation = json.loads(file.read_text("utf-8")), data["answer_generation"]

    assert (read["tree"]["size"], read["tree"]["max_length"], len(generation["train_messages"])) == (10, 7, 2)
    assert (data["win"], generation["valid_data"], generation["finish_type"]) == (True, True, "give_answer")
    assert json.loads(generation["final_answer"])["final_answer"] == "At noon."
    converted = convert("7", data, "DFS_woFilter_w2")
    assert converted.total_steps == 4


def test_a_program_is_written_as_the_chain_of_its_calls(tmp_path: Path) -> None:
    """The calls of the last attempt, then Finish with the answer; without an answer the chain has lost."""
    query = read_queries(query_file(tmp_path))[0]
    calls = [{"tool": "tide_for_harbour", "arguments": {"port": "ESB"}, "response": {"at": "noon"}, "error": None}]
    data = published_answer(solution([], calls=calls, answer="noon"), query, "attribute", 1, SETTINGS)
    lost = published_answer(solution([], calls=calls), query, "attribute", 1, SETTINGS)

    assert [entry["description"] for entry in data["trys"][0]["chain"]][::2] == ["tide_for_harbour", "Finish"]
    assert [published_method(mode, 3, 2) for mode in ("react", "dfsdt")] == [
        "CoT@3",
        "DFS_woFilter_w2",
    ]
    assert (data["win"], lost["win"], lost["answer_generation"]["valid_data"]) == (True, False, False)
    assert data["answer_generation"]["function"][0]["name"] == "tide_for_harbour"
