"""Solved queries as training data, in two forms: the calls behind an answer, each with the thought before it.

Calls that never left (unknown functions, arguments that fit no parameter, repetitions) are left out: a model would
learn to write them. `toolllama` is the form of ToolLLaMA: a conversation for each step, in the text form of its
weights. `program` is a triple of query, APIs and program, with the prompt that our agent begins with. `atc train sft`
reads both.

Source: ToolLLM (arXiv:2307.16789) and its released files for the conversations.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from atc import Agent
from atc.prompting import PREFILL, Offer
from benchmarks.methods.formats import toolllama
from benchmarks.methods.observations import render_value, truncate
from benchmarks.toolbench.corpus.answer_files import published_answer
from benchmarks.toolbench.corpus.queries import ToolQuery, query_protocol
from protocols.documents.tool_records import standard_name
from protocols.model import Protocol

__all__ = ["EXPORTS", "ExportForm", "export", "is_solvable", "published_steps", "solved_query"]

ExportForm = Literal["toolllama", "program"]
EXPORTS: tuple[ExportForm, ...] = ("toolllama", "program")
FINISH = "Finish"
"""The function that ends a conversation in ToolLLaMA's form."""
_FROM = {"tool": "function"}
"""The roles that conversations have other names for."""


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


def export(solved: SolvedQuery, form: ExportForm, agent: Callable[[Protocol], Agent]) -> Iterator[dict[str, Any]]:
    """The lines of a solved query.

    Args:
        agent: Makes an agent for a protocol; functions come in its order, and the form `program` has its first prompt.
    """
    protocol = query_protocol(solved.query)
    with agent(protocol) as solver:
        opening = solver.opening(solved.query.text, [tool.name for tool in protocol.tools])
        # The order in which a model is offered them: the likeliest first.
        names = list(dict.fromkeys([*opening.ranked, *opening.tools]))
        if form == "toolllama":
            yield from _steps(solved, protocol, names)
        else:
            yield _triple(solved, opening)


def _steps(solved: SolvedQuery, protocol: Protocol, tools: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A line for each message of the assistant, with all that went before it."""
    names = {name: name for name in tools}
    functions = toolllama.function_schemas(protocol, names)
    opening = toolllama.begin(solved.query.text, functions, toolllama.tool_descriptions(protocol, names))
    history = [{"role": message.role, "content": message.content} for message in opening]
    finish = {"return_type": "give_answer", "final_answer": solved.answer}
    steps = [(call.thought, call.name, call.arguments, call.observation) for call in solved.calls]
    for thought, name, arguments, observation in [*steps, (solved.thought, FINISH, finish, "")]:
        written = json.dumps(dict(arguments), ensure_ascii=False, default=str)
        history.append({"role": "assistant", "content": toolllama.write_message(thought, name, written)})
        yield _row(solved.query, history)
        history.append({"role": "tool", "content": observation})


def published_steps(
    solution: Mapping[str, Any], query: ToolQuery, mode: str, tries: int, settings: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """A line for each message on the path to the answer, as a model read it under `--compat`.

    Args:
        solution: As `atc.solution.Solution.to_json` gives it.
        settings: Those of the search, as plain data; their format is `toolllama:FILE`.
    """
    answer = published_answer(solution, query, mode, tries, settings)["answer_generation"]
    prompt = toolllama.published_prompt(Path(settings["format"].partition(":")[2]))
    tools = dict.fromkeys((standard_name(name.tool) for name in query.names), "")
    opening = [{"role": "system", "content": toolllama.system_text(prompt, answer["function"], tools)}]
    for messages in answer.get("train_messages", ()):
        turns = [
            {**turn, "content": toolllama.write_message(turn["content"], call["name"], call["arguments"])}
            if (call := turn.get("function_call"))
            else turn
            for turn in messages[1:]
        ]
        yield _row(query, [*opening, *turns])


def _row(query: ToolQuery, turns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A line whose last turn is the message to learn."""
    conversation = [{"from": _FROM.get(turn["role"], turn["role"]), "value": turn["content"]} for turn in turns]
    number = len(turns) - 1
    return {"id": f"Step {number}: {query.text}", "query_id": query.id, "conversations": conversation}


def _triple(solved: SolvedQuery, opening: Offer) -> dict[str, Any]:
    """A line for the program; its messages are the agent's first prompt, and the program as a model writes it."""
    messages = [{"role": message.role, "content": message.content} for message in opening.messages()]
    program = solved.program.rstrip()
    return {
        "query_id": solved.query.id,
        "query": solved.query.text,
        "protocol": [dict(record) for record in solved.query.records],
        "program": program,
        "answer": solved.answer,
        "calls": len(solved.calls),
        "messages": [*messages, {"role": "assistant", "content": f"{PREFILL}{program}\n```"}],
    }
