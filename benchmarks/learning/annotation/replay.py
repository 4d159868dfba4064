"""Make the recorded calls of an export again, and compare what comes of them.

Of a conversation each call is made as its text says, and its result must read as recorded. Of a triple the program is
run, and must print the recorded answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from atc.files import read_lines
from atc.session import TryEnded
from benchmarks.learning.annotation.exports import FINISH
from benchmarks.methods.actions import Action, BadActionError
from benchmarks.methods.call_path import ApiSession
from benchmarks.methods.formats import toolllama
from benchmarks.toolbench.corpus.queries import ToolQuery, served_protocol
from protocols.errors import APIError, ProtocolError, UsageError
from sandbox import Limits, Sandbox

__all__ = ["ReplayedLine", "replay"]

_SHOWN = 120
"""Characters of a text in a message."""


@dataclass(frozen=True, slots=True)
class ReplayedLine:
    """A line, the calls (or the program, as one) that were made again, and what differs; empty if nothing does."""

    where: str
    made: int
    difference: str


@dataclass(frozen=True, slots=True)
class _RecordedCall:
    name: str
    arguments: Mapping[str, Any]
    observation: str


def replay(file: Path, queries: Mapping[int, ToolQuery], server: str, now: datetime) -> Iterator[ReplayedLine]:
    """Replay the lines of an export.

    Args:
        queries: The annotated queries by id. server: The base URL of the virtual API server.
        now: The time that programs see.
    Raises:
        UsageError: It is no export, or of other queries.
        APIError: The server cannot be had.
    """
    count = 0
    for where, line in read_lines(file):
        count += 1
        if not isinstance(line, dict) or not isinstance(line.get("messages"), list):
            raise UsageError(f"{where}: this is no line of an export")
        number = line.get("query_id")
        query = queries.get(number) if isinstance(number, int) else None
        if query is None:
            raise UsageError(f"{where}: its query {line.get('query_id')} is not in the queries.json beside the file")
        try:
            if "program" in line:
                yield ReplayedLine(where, 1, _run(line, query, server, now))
            else:
                calls = list(_spoken(line) if "conversations" in line else _called(line))
                yield ReplayedLine(where, len(calls), _difference(calls, query, server))
        except ProtocolError as error:
            raise UsageError(f"{where}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else error
            raise UsageError(f"{where}: this is no line of an export ({reason}); export the queries again") from None
        except BadActionError as error:
            yield ReplayedLine(where, 0, f"a message cannot be read: {error}")
    if not count:
        raise UsageError(f"{file} has no line")


def _spoken(line: Mapping[str, Any]) -> Iterator[_RecordedCall]:
    """The calls of a conversation in ToolLLaMA's form that have a result. Raises: BadActionError."""
    turns = _turns(line["conversations"], "from")
    for turn, following in pairwise(turns):
        if turn["from"] == "assistant" and following["from"] == "function":
            message = toolllama.read_message(turn["value"])
            if message.name != FINISH:
                yield _RecordedCall(message.name, message.arguments, following["value"])


def _called(line: Mapping[str, Any]) -> Iterator[_RecordedCall]:
    """The tool calls of a conversation, each with its result."""
    turns = _turns(line["messages"], "role")
    results = {turn["tool_call_id"]: turn["content"] for turn in turns if turn["role"] == "tool"}
    for turn in turns:
        for call in turn.get("tool_calls") or ():
            function = call["function"]
            yield _RecordedCall(function["name"], json.loads(function["arguments"]), results[call["id"]])


def _turns(conversation: Any, role: str) -> Sequence[Mapping[str, Any]]:
    """The turns of a conversation. Raises: ValueError: There are none, or none of the assistant.

    Args:
        role: The key of a turn that says whose it is.
    """
    if not isinstance(conversation, list) or not all(isinstance(turn, dict) and role in turn for turn in conversation):
        raise ValueError(f"its conversation is no list of turns with `{role}`")
    if not any(turn[role] == "assistant" for turn in conversation):
        raise ValueError("no turn of its conversation is the assistant's")
    return conversation


def _difference(calls: list[_RecordedCall], query: ToolQuery, server: str) -> str:
    """What the first call that has another result now says; empty if all are as recorded."""
    protocol = served_protocol(query, server)
    limits = Limits(calls=len(calls) + 1)
    with (
        Sandbox(protocol, base_url=protocol.servers[0].url, limits=limits) as sandbox,
        closing(ApiSession(protocol, sandbox, limits, None)) as session,
    ):
        for call in calls:
            if call.name not in protocol:
                return f"there is no function {call.name}"
            try:
                observation = session.call(Action(call.name, call.arguments)).text
            except TryEnded as error:
                raise APIError(f"{call.name} cannot be called again: {error}") from None
            if observation != call.observation:
                return f"{call.name} says {_cut(observation)} and said {_cut(call.observation)}"
    return ""


def _run(line: Mapping[str, Any], query: ToolQuery, server: str, now: datetime) -> str:
    """What the program of a triple prints, if that is not the recorded answer."""
    protocol = served_protocol(ToolQuery(query.id, line["query"], tuple(line["protocol"])), server)
    with Sandbox(protocol, base_url=protocol.servers[0].url, now=now) as sandbox:
        run = sandbox.run(line["program"])
    if run.error is not None:
        return f"the program fails: {run.error.type}: {_cut(run.error.message)}"
    printed = run.stdout.strip()
    return "" if printed == line["answer"] else f"the program prints {_cut(printed)} and printed {_cut(line['answer'])}"


def _cut(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
