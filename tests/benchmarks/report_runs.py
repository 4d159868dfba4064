"""Makes run folders as `atc bench` writes them, for the tests of `atc report`: nothing is solved."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["call", "metrics", "sample", "solution", "task", "write_run"]

TOOLS = ("GET_search_movie", "GET_movie_movie_id_credits", "GET_person_person_id", "GET_movie_popular", "GET_trending")


def call(index: int, tool: str, status: int = 200, **fields: Any) -> dict[str, Any]:
    """A recorded call."""
    return {
        "index": index,
        "tool": tool,
        "method": "GET",
        "url": f"http://127.0.0.1/{tool.lower()}",
        "arguments": {"query": "Titanic"},
        "line": index + 1,
        "status": status,
        "attempts": 1,
        "style": "function",
        "response": {"results": [{"id": 597, "title": "Titanic"}]},
        "error": None if status < 400 else "422: query is missing",
        **fields,
    }


def solution(query: str, attempts: Sequence[Mapping[str, Any]], answer: str | None) -> dict[str, Any]:
    """A solution's JSON: `attempts` have a program and calls; all but an answered last one failed."""
    listed = []
    for position, attempt in enumerate(attempts):
        succeeded = position == len(attempts) - 1 and answer is not None
        tool = attempt["calls"][-1]["tool"] if attempt["calls"] else None
        fault = {
            "stage": "run",
            "type": "KeyError",
            "message": "'director'",
            "line": 3,
            "snippet": "> film['director']",
        }
        blamed: dict[str, object] = {"tool": tool, "call": 0, "path": "crew[3]", "how": "data", "evidence": []}
        listed.append(
            {
                "run": {
                    "stdout": f"{answer}\n" if succeeded else "",
                    "stderr": "",
                    "outcome": "ok" if succeeded else "error",
                },
                "stage": "done" if succeeded else "run",
                "fault": None if succeeded else fault,
                "attribution": None if succeeded else blamed,
                **attempt,
            }
        )
    last = listed[-1] if listed else {"program": "", "calls": []}
    return {
        "query": query,
        "status": "failed" if answer is None else "answered",
        "answer": answer,
        "message": "" if answer is not None else "KeyError: 'director'",
        "program": last["program"],
        "calls": last["calls"],
        "attempts": listed,
        "reflections": max(len(listed) - 1, 0),
        "warnings": [],
    }


def metrics(**changes: Any) -> dict[str, Any]:
    """The figures of a task that went well, but for `more`."""
    return {
        "success": 1.0,
        "path": 1.0,
        "precision": 1.0,
        "success_any": 1.0,
        "correct": True,
        "answered": True,
        "prompt_tokens": 2000,
        "completion_tokens": 100,
        "cached_tokens": 1500,
        "status": "answered",
        "model_calls": 1,
        "tool_calls": 2,
        "reflections": 0,
        "gold_calls": 2,
        "error": None,
        **changes,
    }


def task(name: str, query: str = "Who made Titanic?", **fields: Any) -> dict[str, Any]:
    """A task file's content; `metrics` and `solution` may be given."""
    program = f"film = {TOOLS[0]}(query='Titanic')['results'][0]\nprint(film['title'])\n"
    return {
        "id": name,
        "dataset": "tmdb",
        "query": query,
        "gold": {"calls": {TOOLS[0]: 1, TOOLS[1]: 1}, "counted": False},
        "candidates": list(TOOLS),
        "metrics": metrics(),
        "solution": solution(query, [{"program": program, "calls": [call(0, TOOLS[0])]}], "Titanic"),
        **fields,
    }


def write_run(folder: Path, tasks: Sequence[Mapping[str, Any]], times: bool = True, **config: Any) -> Path:
    """Write a run folder; `config` replaces settings."""
    (folder / "tasks").mkdir(parents=True)
    settings = {
        "benchmark": "restbench-tmdb",
        "model": "local:qwen2.5-coder-1.5b",
        "mode": "attribute",
        "max_reflections": 3,
        "candidates": "20",
        "seed": 0,
        "now": "2026-01-15T12:00:00+00:00",
        "api": "simulated",
        "files": {
            "tasks": {"file": "tmdb.json", "sha256": "cd" * 32},
            "tmdb": {"file": "tmdb_oas.json", "sha256": "ab" * 32},
        },
        **config,
    }
    (folder / "config.json").write_text(json.dumps(settings))
    for entry in tasks:
        (folder / "tasks" / f"{entry['id']}.json").write_text(json.dumps(entry))
    if times:
        lines = [
            {"id": entry["id"], "seconds": 3.0 + n % 5, "model_seconds": 2.5, "run_seconds": 0.5}
            for n, entry in enumerate(tasks)
        ]
        (folder / "times.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def sample(folder: Path, count: int = 30, modes: Sequence[str] = ("attribute", "naive", "none")) -> list[Path]:
    """A run for each mode over the same tasks, of which each mode leaves another quarter unsolved."""
    folders = []
    for place, mode in enumerate(modes):
        tasks = [_varied(number, number + place, mode) for number in range(count)]
        folders.append(write_run(folder / mode, tasks, mode=mode, max_reflections=0 if mode == "none" else 3))
    return folders


def _varied(number: int, turn: int, mode: str) -> dict[str, Any]:
    """One task with its figures; `turn` decides what becomes of it."""
    tools = [TOOLS[place % len(TOOLS)] for place in range((1, 2, 3, 7)[number % 4])]
    solved = turn % 4 != 0
    answered = solved or number % 8 == 0
    reflections = 0 if mode == "none" else turn % 3 if solved else 3
    attempts = []
    for attempt in range(reflections + 1):
        last = solved and attempt == reflections
        calls = [call(place, tool, 200 if last or place else 422) for place, tool in enumerate(tools)]
        attempts.append({"program": f"# attempt {attempt + 1}\nprint({tools[0]}(query='Titanic'))\n", "calls": calls})
    figures = metrics(
        success=float(solved),
        path=float(solved) or 0.5,
        success_any=float(solved),
        correct=None if number % 10 == 0 else solved,
        answered=answered,
        prompt_tokens=(reflections + 1) * (1800 + 50 * number),
        model_calls=reflections + 1,
        tool_calls=(reflections + 1) * len(tools),
        reflections=reflections,
        gold_calls=len(tools),
        error=None if solved else "gold calls missing" if answered else ("data", "no answer")[number % 2],
    )
    return task(
        f"tmdb-q{number:02d}",
        f"Who directed film {number}?",
        gold={"calls": dict.fromkeys(tools, 1), "counted": False},
        metrics=figures,
        solution=solution("", attempts, "Titanic (1997), directed by James Cameron" if answered else None),
    )
