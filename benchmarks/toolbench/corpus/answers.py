"""Answer files: one search for one query, of both methods (trees and chains) and both dialects.

A reader counts and follows nodes; what is judged is made in `benchmarks.toolbench.evaluation.convert`.

Source: ToolLLM (arXiv:2307.16789) and its released files; the later dialect has `tool_calls` and parallel calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from protocols.errors import UsageError
from protocols.json_path import readable_path

__all__ = ["ANSWER_CODE", "Answer", "AnswerNode", "read_answer", "read_response_schemas"]

ANSWER_CODE = 3
"""The `observation_code` of an accepted answer; `is_terminal` is false in every released file."""

_NODE = {
    "type": "object",
    "required": ["node_type", "description"],
    "properties": {
        "node_type": {"enum": ["Thought", "Action", "Action Input"]},
        "description": {"type": "string"},
        "observation": {"type": "string"},
        "observation_code": {"type": ["integer", "null"]},
        "pruned": {"type": "boolean"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    },
}
_MESSAGE = {
    "type": "object",
    "properties": {
        "function_call": {"type": ["object", "null"]},
        "tool_calls": {
            "type": ["array", "null"],
            "items": {
                "type": "object",
                "required": ["function"],
                "properties": {"function": {"type": "object"}},
            },
        },
    },
}
_VALIDATOR = Draft202012Validator(
    {
        "$defs": {"node": _NODE, "message": _MESSAGE},
        "type": "object",
        "required": ["answer_generation"],
        "anyOf": [{"required": ["tree"]}, {"required": ["trys"]}],
        "properties": {
            "win": {"type": "boolean"},
            "tree": {"type": "object", "required": ["tree"], "properties": {"tree": {"$ref": "#/$defs/node"}}},
            "trys": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["chain"],
                    "properties": {"chain": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                },
            },
            "answer_generation": {
                "type": "object",
                "required": ["valid_data", "query", "function"],
                "properties": {
                    "valid_data": {"type": "boolean"},
                    "function": {"type": "array", "items": {"type": "object"}},
                    "train_messages": {
                        "type": "array",
                        "items": {"type": "array", "items": {"$ref": "#/$defs/message"}},
                    },
                },
            },
        },
    }
)


@dataclass(frozen=True, slots=True)
class AnswerNode:
    """A node: a thought, the name of a called function, or its arguments with what came of them."""

    kind: Literal["Thought", "Action", "Action Input"]
    text: str
    observation: str
    code: int | None
    pruned: bool
    children: tuple[AnswerNode, ...]

    def walk(self) -> Iterator[AnswerNode]:
        """This node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class Answer:
    """One answer file.

    Args:
        method: "dfs" for a tree, "cot" for chains.
        finish: "give_answer", "give_up", or None where there is neither. (The released `finish_type` of an invalid tree
            says `give_answer`; a chain has none.)
        roots: The root of a tree, whose node counts; or the first node of each chain, the others below it.
        train_messages: A list of messages for each training step; empty for an invalid answer.
        functions: The schemas that the model was shown, without the wrapper of the later dialect; `Finish` last.
    """

    query: str
    method: Literal["dfs", "cot"]
    win: bool
    valid: bool
    finish: Literal["give_answer", "give_up"] | None
    final_answer: str
    roots: tuple[AnswerNode, ...]
    train_messages: tuple[Sequence[Mapping[str, Any]], ...]
    functions: tuple[Mapping[str, Any], ...]
    size_given: int | None

    @cached_property
    def nodes(self) -> tuple[AnswerNode, ...]:
        """All nodes."""
        return tuple(node for root in self.roots for node in root.walk())

    @property
    def calls(self) -> list[str]:
        """The names of the functions that were called in all branches, `Finish` left out."""
        return [node.text for node in self.nodes if node.kind == "Action" and node.text != "Finish"]

    @property
    def trace(self) -> list[str]:
        """The functions that were called on the chosen path, `Finish` left out; empty without training messages."""
        return [name for name in _called(self.train_messages[-1]) if name != "Finish"] if self.train_messages else []

    @property
    def training_instances(self) -> int:
        """The training steps: the lists of messages whose last one calls a function."""
        return sum(bool(messages) and bool(_called(messages[-1:])) for messages in self.train_messages)


def read_answer(file: Path) -> Answer:
    """Read one answer file. Raises: UsageError: It is none, or half-written; the message has the JSON path."""
    try:
        data = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{file} cannot be read: {error}; where it is half-written, remove it and have the query answered again"
        ) from None
    try:
        problem = best_match(_VALIDATOR.iter_errors(data))
    except RecursionError:
        raise UsageError(f"{file}: its tree is nested too deeply") from None
    if problem is not None:
        raise UsageError(f"{file}: {readable_path(tuple(problem.absolute_path))}: {problem.message[:200]}")
    generation = data["answer_generation"]
    final = generation.get("final_answer")
    final = final if isinstance(final, str) else json.dumps(final, ensure_ascii=False) if final else ""
    query = generation["query"]
    trees = [data["tree"]["tree"]] if "tree" in data else [_chained(entry["chain"]) for entry in data["trys"]]
    given_up = "give_up_and_restart" in final
    return Answer(
        query=str(query[0]) if isinstance(query, list) and query else str(query),
        method="dfs" if "tree" in data else "cot",
        win=bool(data.get("win")),
        valid=generation["valid_data"],
        finish=None if not generation["valid_data"] else "give_up" if given_up else "give_answer",
        final_answer=final,
        roots=tuple(_node(tree) for tree in trees if tree is not None),
        train_messages=tuple(generation.get("train_messages") or ()) if generation["valid_data"] else (),
        functions=tuple(entry.get("function", entry) for entry in generation["function"]),
        size_given=data["tree"].get("size") if "tree" in data else None,
    )


def _chained(nodes: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """A chain as a tree whose nodes have one child each."""
    tree: Mapping[str, Any] | None = None
    for node in reversed(nodes):
        tree = {**node, "children": [tree] if tree else []}
    return tree


def _node(data: Mapping[str, Any]) -> AnswerNode:
    return AnswerNode(
        data["node_type"],
        data["description"],
        data.get("observation", ""),
        data.get("observation_code"),
        bool(data.get("pruned")),
        tuple(map(_node, data.get("children", ()))),
    )


def _called(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """The functions that the assistant calls in some messages, in either dialect."""
    names: list[str] = []
    for message in messages:
        if message.get("role") != "assistant":
            continue
        if called := message.get("function_call"):
            names.append(str(called.get("name")))
        names += [str(entry["function"].get("name")) for entry in message.get("tool_calls") or ()]
    return names


def read_response_schemas(file: Path) -> dict[str, Mapping[str, Any]]:
    """The key schemas of a tool's responses by API name: the keys to keep, with type names as leaves.

    Released files may be empty, or list nothing; that is no schema. Raises: UsageError.
    """
    try:
        text = file.read_text("utf-8")
        data = json.loads(text) if text.strip() else {}
        listed = data.get("api_list") or []
        return {str(entry["name"]): entry["schema"] for entry in listed if isinstance(entry.get("schema"), Mapping)}
    except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"{file} holds no response schemas: {type(error).__name__} {error}") from None
