"""Our solutions as published answer files: a search as its tree or chain, a program as the chain of its calls.

Function names are the published ones. The training messages begin with the prompt of `--format toolllama`, of the
released file that it names. Then the published preprocessing takes them, and makes of them what the model read.

Source: ToolLLM (arXiv:2307.16789) and its released files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from atc.files import write_json
from benchmarks.methods.formats import toolllama
from benchmarks.toolbench.corpus.queries import ToolQuery
from protocols.documents.tool_records import standard_name
from protocols.private_files import make_private_folder

__all__ = ["published_answer", "published_method", "write_answers"]

_FINISH = "Finish"
_ACCEPTED = json.dumps({"response": "the answer is accepted"})
_GIVEN_UP = json.dumps({"response": "given up"})
_FINISHED_LEVELS = 3
"""Levels of action inputs, that of the answer included, that an answer marks as finished."""


@dataclass(eq=False)
class _Node:
    """A node in the making."""

    kind: str
    text: str
    above: _Node | None = None
    observation: str = ""
    code: int | None = None
    pruned: bool = False
    finished: bool = False
    expand_num: int = 0
    children: list[_Node] = field(default_factory=list)

    def grow(self, kind: str, text: str, observation: str = "", code: int | None = None) -> _Node:
        """Add a child."""
        self.children.append(_Node(kind, text, self, observation, code))
        return self.children[-1]

    def path(self) -> list[_Node]:
        """The nodes from below the root to this one."""
        return [*self.above.path(), self] if self.above is not None else []

    def to_json(self, children: bool = True) -> dict[str, Any]:
        data: dict[str, Any] = {
            "is_terminal": False,
            "pruned": self.pruned,
            "finished": self.finished,
            "depth": len(self.path()),
            "node_type": self.kind,
            "description": self.text,
            "Elo": 1000.0,
        }
        data |= {"observation": self.observation} if self.observation else {}
        data |= {"observation_code": self.code} if self.code is not None else {}
        data |= {"child_count": len(self.children), "expand_num": self.expand_num}
        data |= {"io_state": {}} if self.kind == "Action Input" else {}
        return data | ({"children": [child.to_json() for child in self.children]} if children else {})

    def walk(self) -> Iterator[_Node]:
        yield self
        for child in self.children:
            yield from child.walk()


def published_method(mode: str, tries: int, width: int) -> str:
    """The published name of a search: `CoT@N`, `DFS_woFilter_wW`; `MODE@N` for a mode of ours."""
    return {"react": f"CoT@{tries}", "dfsdt": f"DFS_woFilter_w{width}"}.get(mode, f"{mode}@{tries}")


def write_answers(
    folder: Path, queries: Mapping[str, ToolQuery], mode: str, tries: int, settings: Mapping[str, Any]
) -> int:
    """Write `answers/<query_id>_<method>.json` for each finished task of a run folder; returns how many.

    Args:
        queries: By task id. settings: Those of the search (`atc.options.SearchSettings`), as plain data.
    Raises: UsageError: A file cannot be written.
    """
    method = published_method(mode, tries, int(settings["width"]))
    written = 0
    for name, query in queries.items():
        file = folder / "tasks" / f"{name}.json"
        if file.is_file():
            record = json.loads(file.read_text("utf-8"))
            answer = published_answer(record["solution"], query, mode, tries, settings)
            make_private_folder(folder / "answers")
            write_json(folder / "answers" / f"{query.id}_{method}.json", answer)
            written += 1
    return written


def published_answer(
    solution: Mapping[str, Any], query: ToolQuery, mode: str, tries: int, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The published form of a solution.

    Args:
        solution: As `atc.solution.Solution.to_json` gives it.
        settings: Those of the search, as plain data.
    """
    published = {name.identifier: name.function for name in query.names}
    messages = _messages(solution, published)
    roots = _grow(messages)
    leaf = next((node for root in roots for node in root.walk() if node.code == 3), None)
    given_up = next((node for root in roots for node in root.walk() if node.code == 4), None)
    is_tree = mode == "dfsdt"
    chosen = leaf or (given_up if is_tree else None)
    _mark_finished(leaf)
    path = chosen.path() if chosen is not None else []
    form, _, released = str(settings.get("format", "")).partition(":")
    prompt = toolllama.published_prompt(Path(released)) if form == "toolllama" and released else toolllama.own_prompt()
    functions = [*(toolllama.record_schema(record, prompt) for record in query.records), dict(prompt.finish)]
    generation: dict[str, Any] = {
        "valid_data": chosen is not None,
        "query_count": solution["usage"]["model_calls"],
        "total_tokens": solution["usage"]["prompt_tokens"] + solution["usage"]["completion_tokens"],
        "final_answer": chosen.text if chosen is not None else "",
        "function": functions,
        "chain": [],
        "query": query.text,
    }
    training = _training(path, query, functions, prompt)
    if is_tree:
        generation["finish_type"] = "give_up" if chosen is not None and chosen.code == 4 else "give_answer"
        generation |= {"train_messages": training} if chosen is not None else {}
    else:
        generation["train_messages"] = training
    candidates = [[node.to_json(children=False) for node in path]] if leaf is not None else []
    shared = {"win": leaf is not None, "compare_candidates": candidates, "answer_generation": generation}
    depth = settings["depth"] or (12 if settings["compat"] else None)
    if is_tree:
        root = next((root for root in roots if chosen in list(root.walk())), roots[-1])
        limits = {"single_chain_max_step": depth, "tree_beam_size": settings["width"]}
        limits |= {"max_query_count": settings["max_model_calls"] or None, "answer": 1, "with_filter": False}
        depths = [len(node.path()) for node in root.walk()]
        tree = {"size": len(depths), "max_length": max(depths) + 1, "tree": root.to_json()}
        return {**shared, "tree": tree, "forward_args": limits}
    chains = [list(root.walk())[1:] for root in roots]
    trys = [
        {"chain": [node.to_json(children=False) for node in chain], "win": any(node.code == 3 for node in chain)}
        for chain in chains
    ]
    limits = {"single_chain_max_step": depth, "pass_at": tries, "answer": 1}
    return {**shared, "try_count": len(trys), "trys": trys, "forward_args": limits}


def _messages(solution: Mapping[str, Any], published: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """The messages of a solution, their `calls` as name, arguments, result and code.

    Of a program each call of the last attempt is one, and so is its answer.
    """
    if solution["tree"]:
        return [{**node, "calls": [_call_of(step, published) for step in node["steps"]]} for node in solution["tree"]]
    calls = [
        (
            published.get(call["tool"], str(call["tool"])),
            json.dumps(call["arguments"], ensure_ascii=False),
            json.dumps({"error": call["error"] or "", "response": call["response"]}, ensure_ascii=False, default=str),
            0 if call["error"] is None else 12,
        )
        for call in solution["calls"]
    ]
    if solution["answer"] is not None:
        calls.append((_FINISH, _finish_text("give_answer", solution["answer"]), _ACCEPTED, 3))
    empty = {"trial": 1, "thought": "", "outcome": ""}
    return [{**empty, "id": number, "parent": number - 1, "calls": [call]} for number, call in enumerate(calls, 1)]


def _call_of(step: Mapping[str, Any], published: Mapping[str, str]) -> tuple[str, str, str, int]:
    arguments = step["arguments"]
    if step["code"] == 3:
        answer = arguments.get("answer") or arguments.get("final_answer")
        return _FINISH, _finish_text("give_answer", answer), _ACCEPTED, 3
    if step["code"] == 4:
        return _FINISH, _finish_text("give_up_and_restart"), _GIVEN_UP, 4
    return published.get(step["name"], step["name"]), step["text"], step["observation"], step["code"]


def _finish_text(kind: str, answer: object = None) -> str:
    data = {"return_type": kind} | ({"final_answer": answer} if answer is not None else {})
    return json.dumps(data, ensure_ascii=False)


def _grow(messages: Sequence[Mapping[str, Any]]) -> list[_Node]:
    """The root of each try, with the nodes of its messages below it."""
    roots: dict[int, _Node] = {}
    ends: dict[int, _Node] = {}
    for message in messages:
        root = roots.setdefault(message["trial"], _Node("Action Input", ""))
        end = ends.get(message["parent"], root)
        if message["thought"] or not message["calls"]:
            end = end.grow("Thought", message["thought"])
        for name, arguments, observation, code in message["calls"]:
            end = end.grow("Action", name).grow("Action Input", arguments, observation, code)
        end.expand_num = message["id"]
        end.pruned = message["outcome"] in ("give_up", "depth", "error", "limit")
        ends[message["id"]] = end
    return list(roots.values()) or [_Node("Action Input", "")]


def _mark_finished(leaf: _Node | None) -> None:
    """Mark the nodes of an answer from its end up to the third action input."""
    levels = 0
    for node in reversed(leaf.path()) if leaf is not None else ():
        levels += node.kind == "Action Input"
        node.finished = levels <= _FINISHED_LEVELS


def _training(
    path: Sequence[_Node], query: ToolQuery, functions: Sequence[Mapping[str, Any]], prompt: toolllama.ToolLlamaPrompt
) -> list[list[dict[str, Any]]]:
    """A list of messages for each call of a path: all that went before it, and the call."""
    tools = dict.fromkeys((standard_name(name.tool) for name in query.names), "")
    opening = toolllama.begin(
        query.text, functions, tools, replace(prompt, system=prompt.answer_system or prompt.system)
    )
    history: list[dict[str, Any]] = [{"role": message.role, "content": message.content} for message in opening]
    lists = []
    thought, name = "", ""
    for node in path:
        if node.kind == "Thought":
            thought = node.text
        elif node.kind == "Action":
            name = node.text
        else:
            call = {"name": name, "arguments": node.text}
            history.append({"role": "assistant", "content": thought, "function_call": call})
            lists.append(list(history))
            history.append({"role": "function", "name": name, "content": node.observation})
            thought = ""
    return lists
