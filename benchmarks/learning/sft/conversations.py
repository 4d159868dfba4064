"""Conversations of a data file, and how they become text: by a model's chat template, or as ToolLLaMA's roles.

The file has lines, or is the array that released training data is: one of some gigabytes is never in memory as a whole.
A chat template may know nothing of calls and their results; then it leaves them out without a word. So conversations
with results are for the other layout, and tool calls for none.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO, cast

from atc.models import Message
from atc.models.chat_format import role_prompt
from protocols.errors import UsageError

__all__ = ["Render", "TrainingConversation", "read_conversation", "read_data", "renderer"]

_CHUNK = 1 << 20
_LONGEST = 1 << 27
"""Characters of an element that may be read before it counts as damaged; released ones have some ten thousand."""
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder(parse_constant=lambda name: None)

Turn = Mapping[str, Any]
Span = tuple[int, int]
Render = Callable[[Sequence[Turn], bool], str]
"""The text of turns; True leaves it open for an answer, where False lets it end with one."""
_STEP = re.compile(r"Step \d+: (.+)", re.DOTALL)
"""The published name of a conversation: its dialogue is that of the query behind the number."""
_PUBLISHED_ROLES = {"human": "user", "gpt": "assistant"}
"""Those that have another name in the older form of the published data."""
_ROLES = ("system", "user", "assistant", "tool", "function")
_RESULTS = ("tool", "function")


def read_data(path: Path) -> Iterator[tuple[str, Any]]:
    """The JSON values of a file, each with its position in words: `FILE, line N` or `FILE, element N`.

    NaN and infinities become None. Empty lines are left out.

    Raises: UsageError: The file cannot be read, or a part of it is no JSON; what came before has been yielded.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            start = file.read(_CHUNK)
            file.seek(0)
            yield from _elements(path, file) if start.lstrip().startswith("[") else _lines(path, file)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _lines(path: Path, file: TextIO) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            value = _DECODER.decode(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}, line {number}: no JSON: {error}; delete the line") from None
        yield f"{path}, line {number}", value


def _elements(path: Path, file: TextIO) -> Iterator[tuple[str, Any]]:
    """The elements of an array. Raises: UsageError."""
    text, position = file.read(_CHUNK).lstrip()[1:], 0
    number = 1
    while True:
        position = _space(text, position)
        if text.startswith("]", position) and number == 1:
            return
        try:
            value, end = _DECODER.raw_decode(text, position)
            end = _space(text, end)
            separator = text[end]
        except (ValueError, IndexError, RecursionError) as error:
            rest = len(text) - position  # as much again each time, so that a long element costs no square
            chunk = "" if isinstance(error, RecursionError) or rest > _LONGEST else file.read(max(_CHUNK, rest))
            if not chunk:
                raise UsageError(f"{path}, element {number}: the array ends or breaks off here: {error}") from None
            text, position = text[position:] + chunk, 0
            continue
        if separator not in ",]":
            raise UsageError(f"{path}, element {number}: {separator!r} follows it in place of a comma or the end")
        yield f"{path}, element {number}", value
        if separator == "]":
            return
        position, number = end + 1, number + 1


def _space(text: str, position: int) -> int:
    """The first position from here that is no white space."""
    match = _SPACE.match(text, position)
    return match.end() if match else position


@dataclass(frozen=True, slots=True)
class TrainingConversation:
    """Turns, each with `role` and `content`.

    `learn` of a turn has the spans of its content that are learned though they are no answer. Conversations of one
    `group` are of one query; one without a group is by itself.
    """

    turns: Sequence[Turn]
    group: str = ""


def read_conversation(where: str, line: Any) -> TrainingConversation:
    """The conversation of a line, in our form or the published one, `conversations` of `from` and `value`.

    Other keys are ignored.

    Raises: UsageError.
    """
    line = line if isinstance(line, dict) else {}
    messages = line.get("messages", line.get("conversations"))
    if not isinstance(messages, list) or not all(isinstance(turn, dict) for turn in messages):
        raise UsageError(
            f'{where}: a conversation is {{"messages": [{{"role": …, "content": …}}, …]}}, or as published '
            '{"conversations": [{"from": …, "value": …}, …]}'
        )
    if "messages" not in line:
        messages = [
            {"role": _PUBLISHED_ROLES.get(turn.get("from"), turn.get("from")), "content": turn.get("value")}
            for turn in messages
        ]
    turns = [_turn(f"{where}: message {number}", turn) for number, turn in enumerate(messages, 1)]
    if not any(turn["role"] == "assistant" for turn in turns):
        raise UsageError(f"{where}: no message of the role assistant, so there is nothing to learn")
    tools = line.get("tools")
    if isinstance(tools, list) and any(isinstance(tool, dict) for tool in tools):
        raise UsageError(
            f"{where}: its tools are not trained on; write them into a message, as toolllama.json has them"
        )
    query = line.get("query_id")
    step = _STEP.match(str(line.get("id"))) if query is None else None
    return TrainingConversation(turns, step[1] if step else f"query {query}" if query is not None else "")


def _turn(where: str, turn: Mapping[str, Any]) -> Turn:
    content = turn.get("content")
    if turn.get("tool_calls"):
        raise UsageError(f"{where}: tool calls are not trained on; write them as text, as toolllama.json has them")
    if turn.get("role") not in _ROLES or not isinstance(content, str):
        raise UsageError(f"{where} needs a role of {', '.join(_ROLES)} and a text as content")
    try:
        content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"{where}: character {error.start} of its content is half a character; correct it") from None
    checked = {"role": turn["role"], "content": content}
    if "learn" in turn:
        checked["learn"] = _places(turn["learn"], len(content), f"{where}: learn")
    return checked


def _places(places: Any, length: int, where: str) -> list[Span]:
    """Spans of a content of so many characters, in their order. Raises: UsageError."""
    end = 0
    for span in places if isinstance(places, list) else [None]:
        if not isinstance(span, list) or [type(place) for place in span] != [int, int] or not end <= span[0] < span[1]:
            raise UsageError(f"{where} is a list of [first, end], in their order")
        end = span[1]
    if end > length:
        raise UsageError(f"{where} ends at {end}, and its content at {length}")
    return [(first, last) for first, last in places]


def renderer(tokenizer: Any, layout: str) -> Callable[[str, TrainingConversation], Render]:
    """How conversations become text, each told with its place in the data.

    Args:
        layout: "chat" is the tokenizer's chat template; "roles" is the text that a model reads under
            `--format toolllama`, ended by the tokenizer's end token.
    Raises, for a conversation: UsageError: A part of it would be left out.
    """
    if layout == "roles":
        return lambda where, conversation: _roles(tokenizer, where, conversation)

    def chat(where: str, conversation: TrainingConversation) -> Render:
        if any(turn["role"] in _RESULTS for turn in conversation.turns):
            raise UsageError(f"{where}: a chat template may leave out results of calls; set layout: roles")
        return lambda turns, open_end: _templated(tokenizer, turns, open_end)

    return chat


def _templated(tokenizer: Any, turns: Sequence[Turn], open_end: bool) -> str:
    if not turns:
        return ""
    import jinja2

    try:
        text: str = tokenizer.apply_chat_template(
            [dict(turn) for turn in turns], tokenize=False, add_generation_prompt=open_end
        )
    except jinja2.TemplateError as error:
        roles = ", ".join(turn["role"] for turn in turns)
        raise UsageError(f"the chat template cannot render a conversation of {roles}: {error}") from None
    return text


def _roles(tokenizer: Any, where: str, conversation: TrainingConversation) -> Render:
    if tokenizer.eos_token is None:
        raise UsageError(f"{where}: layout roles ends an answer with the end token, and the tokenizer has none")
    roles = [turn["role"] for turn in conversation.turns]
    if ("assistant", "assistant") in itertools.pairwise(roles):
        raise UsageError(f"{where}: layout roles cannot tell two turns of the assistant in a row apart; join them")
    first = tokenizer("a")["input_ids"][:1]
    beginning = tokenizer.bos_token if tokenizer.bos_token and first == [tokenizer.bos_token_id] else ""

    def render(turns: Sequence[Turn], open_end: bool) -> str:
        messages = [Message(_role(turn["role"]), turn["content"]) for turn in turns]
        if open_end:
            # The space and the line break before an answer are learned, too, as in the published code.
            return beginning + role_prompt(messages).removesuffix(" \n")
        answer = messages.pop().content.removeprefix("\n")
        return f"{beginning}{role_prompt(messages)}{answer}{tokenizer.eos_token}"

    return render


def _role(name: str) -> Literal["system", "user", "assistant", "tool"]:
    return cast('Literal["system", "user", "assistant", "tool"]', "tool" if name == "function" else name)
