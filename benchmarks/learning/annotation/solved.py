"""A solved query as it is exported: the calls behind its answer, each with the thought before it and what was read.

Calls that never left (unknown functions, arguments that fit no parameter, repetitions) are left out: a model would
learn to write them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.methods.observations import render_value, truncate
from benchmarks.toolbench.corpus.queries import ToolQuery

__all__ = ["SolvedCall", "SolvedQuery", "is_solvable", "solved_query"]


@dataclass(frozen=True, slots=True)
class SolvedCall:
    """A call on the way to the answer; `observation` is what the model reads of its reply.

    `name` is that of programs, `arguments` are by argument name.
    """

    name: str
    arguments: Mapping[str, Any]
    thought: str
    observation: str
    good: bool


@dataclass(frozen=True, slots=True)
class SolvedQuery:
    """A query with its answer, and the calls behind it in their order.

    `program` is what the model wrote; of a search it is a line for each call. `thought` is the last one, before the
    answer.
    """

    query: ToolQuery
    answer: str
    calls: tuple[SolvedCall, ...]
    thought: str
    program: str


def solved_query(solution: Mapping[str, Any], query: ToolQuery) -> SolvedQuery | None:
    """Read a solution, as `atc.solution.Solution.to_json` gives it. Without an answer there is nothing to export."""
    if solution["answer"] is None:
        return None
    thoughts, observations, last = _read_path(solution["tree"])
    made = [call for call in solution["calls"] if call["tool"] is not None and _is_made(call, solution["calls"])]
    calls = tuple(
        SolvedCall(
            call["tool"],
            call["arguments"],
            thoughts.get(call["index"], ""),
            observations.get(call["index"]) or _observation(call),
            call["error"] is None and (call["status"] or 0) // 100 == 2,
        )
        for call in made
    )
    return SolvedQuery(query, solution["answer"], calls, last, solution["program"])


def _is_made(call: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> bool:
    """True of a call that was sent, or answered as it was in a branch or program that was left.

    One that only repeats a call of this path is none.
    """
    earlier = calls[: calls.index(call)]
    repeats = any((before["tool"], before["arguments"]) == (call["tool"], call["arguments"]) for before in earlier)
    return call["attempts"] > 0 or (bool(call.get("replayed")) and not repeats)


def is_solvable(solved: SolvedQuery) -> bool:
    """The rule for a passed solution: an API that the query is about was called with success (any, where none is)."""
    relevant = solved.query.gold or [name.identifier for name in solved.query.names]
    return any(call.good and call.name in relevant for call in solved.calls)


def _read_path(tree: Sequence[Mapping[str, Any]]) -> tuple[dict[int, str], dict[int, str], str]:
    """Thoughts and observations by index of the call, and the last thought, on the path to the answer of a search."""
    nodes = {node["id"]: node for node in tree}
    leaf = next((node for node in reversed(tree) if node["outcome"] == "answer"), None)
    path: list[Mapping[str, Any]] = []
    while leaf is not None:
        path.append(leaf)
        leaf = nodes.get(leaf["parent"])
    thoughts: dict[int, str] = {}
    observations: dict[int, str] = {}
    thought = ""
    for node in reversed(path):
        thought = node["thought"] if not node["correction"] else ""
        for step in node["steps"]:
            if step["call"] is not None:
                thoughts[step["call"]] = thought
                observations[step["call"]] = step["observation"]
                thought = ""
    return thoughts, observations, thought


def _observation(call: Mapping[str, Any]) -> str:
    """What a model would read of a call that a program made."""
    if call["error"] is not None:
        return truncate(f"Error: {call['error']}")
    return render_value(call["response"])
