"""What is judged: the answers of a run, of a folder or of a converted file, under the names of a method and a subset.

Answer files of both search methods and both dialects are converted. A valid answer is its last list of training
messages. An invalid one has none: of a chain method one of its tries is taken, of a tree one walk from the root to a
leaf, drawn by the query id alone, so that the order of files is no matter.
Source: the published conversion; there one global generator draws for all files.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.toolbench.evaluation.judged import FINISH, JudgedAnswer, by_id, chain, read_converted
from protocols.bounded_files import read_whole
from protocols.errors import UsageError

__all__ = ["JudgedRun", "convert", "open_answers", "read_ids"]

_FORMS = "name a folder of `atc bench toolbench --out`, a folder of answers, or a file of `atc eval convert`"
_SEED = 42

_Message = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """The answers of one method to one subset, by query id."""

    method: str
    subset: str
    answers: Mapping[str, JudgedAnswer]


def open_answers(source: Path, method: str | None = None) -> JudgedRun:
    """Read what `source` holds: a run's `answers/`, a folder of answer files, or a converted file.

    The method is called after the folder, of a converted file after the folder that it is in; the subset after the
    task file of the run, or after the converted file.
    Raises: UsageError: There is nothing to judge, or a file is malformed.
    """
    if source.is_file():
        return JudgedRun(source.resolve().parent.name or "answers", source.stem, read_converted(source))
    if not source.is_dir():
        raise UsageError(f"{source}: there is no such folder or file; {_FORMS}")
    files = sorted((source / "answers").glob("*.json"))
    answers = _convert_files(files or sorted(source.glob("*_*.json")), method)
    converted = {answer.query_id: answer for answer in answers}
    if not converted:
        chosen = f" whose name has {method!r}" if method else ""
        raise UsageError(f"{source} holds no answer{chosen}; {_FORMS}")
    return JudgedRun(source.resolve().name, _subset(source), converted)


def _subset(folder: Path) -> str:
    """The name of the run's task file; without one, that of the folder."""
    try:
        return Path(json.loads(read_whole(folder / "config.json"))["files"]["tasks"]["file"]).stem
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return folder.resolve().name


def read_ids(file: Path) -> tuple[str, ...]:
    """The query ids in a file: the keys of an object, as published, or a list. Raises: UsageError."""
    try:
        data = json.loads(read_whole(file))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    if not isinstance(data, (dict, list)) or not data or not all(isinstance(entry, (str, int)) for entry in data):
        raise UsageError(f"{file} holds no query ids: an object with the ids as keys, or a list of them, is needed")
    return tuple(sorted(dict.fromkeys(map(str, data)), key=by_id))


def _convert_files(files: Iterable[Path], method: str | None = None) -> Iterator[JudgedAnswer]:
    """Convert the files of a folder that hold an answer, `<query_id>_<method>.json`, by query id.

    Args:
        method: Only the files whose name has this text; it is then the method's name. Without it, all, and the name is
            what follows the id.
    Raises: UsageError: A file holds no answer; or two hold one of the same query, as of two methods.
    """
    chosen = [file for file in files if method is None or method in file.name]
    seen: dict[str, Path] = {}
    for file in sorted(chosen, key=lambda file: by_id(_query_id(file))):
        query_id = _query_id(file)
        if query_id in seen:
            raise UsageError(f"{seen[query_id]} and {file} answer the same query: choose one by --method")
        seen[query_id] = file
        try:
            data = json.loads(read_whole(file))
            yield convert(query_id, data, method or file.stem.partition("_")[2])
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(
                f"{file} cannot be read: {error}; where it is half-written, remove it and have the query answered again"
            ) from None
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            reason = f"it has no {error}" if isinstance(error, KeyError) else error
            raise UsageError(f"{file} is no answer of ToolBench's form: {reason}; remove it") from None


def _query_id(file: Path) -> str:
    return file.name.removesuffix(".json").partition("_")[0]


def convert(query_id: str, data: Mapping[str, Any], method: str) -> JudgedAnswer:
    """Convert one answer, as it is in its file. Raises: KeyError, TypeError, AttributeError: It is none."""
    generation = data["answer_generation"]
    if generation["valid_data"]:
        final_answer, messages = generation["final_answer"], list(_from_training(generation["train_messages"][-1]))
    else:
        final_answer, messages = "", list(_from_nodes(_drawn_path(data, random.Random(f"{_SEED}:{query_id}"))))
    query = generation["query"]
    details = [("system", ""), ("user", ""), *messages]
    return JudgedAnswer(
        query_id=query_id,
        query=str(query[0]) if isinstance(query, list) else str(query),
        tools=tuple(generation["function"]),
        method=method,
        total_steps=len(details),
        final_answer=final_answer if isinstance(final_answer, str) else json.dumps(final_answer, ensure_ascii=False),
        details=chain(details),
    )


def _from_training(messages: Sequence[Mapping[str, Any]]) -> Iterator[_Message]:
    """A list of training messages; the results of calls join their calls, further user messages are left out."""
    waiting: list[tuple[str, dict[str, Any]]] = []
    ordered: list[_Message] = []
    for message in messages:
        role = message["role"]
        if role == "assistant":
            calls = list(_calls(message))
            waiting = calls if calls else waiting
            ordered += [("tool", call) for _, call in calls]
            if not calls and message.get("content"):
                ordered.append(("assistant", message["content"]))
        elif role in ("function", "tool"):
            _answer(waiting, message)
    yield from ordered


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls of an assistant's message, each with its id, empty where it has none."""
    called = message.get("function_call")
    if called:
        yield "", _tool(called["name"], called["arguments"])
    for entry in message.get("tool_calls") or ():
        yield str(entry.get("id") or ""), _tool(entry["function"]["name"], entry["function"]["arguments"])


def _tool(name: str, arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments, "response": ""}


def _answer(waiting: list[tuple[str, dict[str, Any]]], message: Mapping[str, Any]) -> None:
    """Give a result to the call that it is of: by its id, else the next call without a result."""
    call_id = str(message.get("tool_call_id") or "")
    places = [place for place, (known_id, _) in enumerate(waiting) if call_id and known_id == call_id]
    if waiting:
        _, call = waiting.pop(places[0] if places else 0)
        call["response"] = "" if call["name"] == FINISH else message.get("content") or ""


def _from_nodes(nodes: Iterable[Mapping[str, Any]]) -> Iterator[_Message]:
    """Nodes of a path: an Action and its Action Input are one call, a Thought is a message."""
    name = None
    for node in nodes:
        kind, text = node["node_type"], node["description"]
        if kind == "Thought":
            yield "assistant", text
        elif kind == "Action":
            name = text
        elif kind == "Action Input":
            response = "" if name == FINISH else node.get("observation", "")
            yield "tool", {"name": name or "", "arguments": text, "response": response}
        else:
            raise KeyError(f"a node of type {kind!r}")


def _drawn_path(data: Mapping[str, Any], draw: random.Random) -> Iterator[Mapping[str, Any]]:
    """The nodes of one try of a chain method, or those below the root of a tree on a way to a leaf."""
    if "trys" in data:
        yield from draw.choice(data["trys"])["chain"] if data["trys"] else ()
        return
    node = data["tree"]["tree"]
    while node.get("children"):
        node = draw.choice(node["children"])
        yield node
