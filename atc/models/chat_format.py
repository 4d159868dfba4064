"""The forms of a conversation: the chat completions format, how an answer in it is read, and one text.

A prefill, which the format lacks, becomes a request to begin the answer with that text. Calls are also read in the
older form, `function_call`, and a call without an id gets one. What a model reasons comes beside its answer, as text
under a name of the endpoint's; it is seen while it comes, and is no part of the answer.

One text, `Role: value` a turn, is the layout that the ToolLLaMA weights were trained on (arXiv:2307.16789, and its
released files). It goes to a model as it is, without a chat template, of which such weights have none.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from string import Template
from types import SimpleNamespace
from typing import Any

from atc.models.base import Completion, FunctionCall, FunctionSpec, Message, ModelRequest, Progress, Usage, cut_at_stop

__all__ = [
    "BrokenStreamError",
    "StreamedAnswer",
    "after_prefill",
    "chat_completion",
    "chat_payload",
    "role_prompt",
    "usage_of",
    "without_prefill",
]

PREFILL = """$message

Begin your answer with exactly the following text, and go on from its end:
$prefill"""


REASONING = ("reasoning_content", "reasoning")
"""What endpoints call the text that a model writes before its answer, in an answer and in the parts of one."""

_MOST_CHARACTERS = 4 << 20
"""Of an answer in parts; an output of 128,000 tokens has an eighth of it."""

_MOST_TOKENS = 1 << 40
"""Of one request: an endpoint may count anything, and costs are computed with it."""

_SIZE_OF_CALL = 40
"""Counted for each part of a call beside its text: a call without arguments takes memory, too."""


class BrokenStreamError(Exception):
    """A stream ended before its answer did."""


class StreamedAnswer:
    """An answer that comes in parts; what a part has in another form than the format's counts for nothing.

    Args:
        on_progress: Told of each part, what the model reasons included.
    """

    def __init__(self, on_progress: Callable[[Progress], None] | None = None) -> None:
        self._on_progress = on_progress
        self._text = self._reasoning = ""
        self._finish: str | None = None
        self._usage: Any = None
        self._model: Any = None
        self._calls: dict[int, SimpleNamespace] = {}
        self._size_of_calls = 0

    def add(self, chunk: Any) -> None:
        """Add a part. Raises: ValueError: It has another form."""
        try:
            self._add(chunk)
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"its stream is none of the format ({type(error).__name__}: {error})") from None
        if len(self._text) + len(self._reasoning) + self._size_of_calls > _MOST_CHARACTERS:
            raise ValueError(f"it has more than {_MOST_CHARACTERS:,} characters")
        if self._on_progress is not None:
            self._on_progress(Progress(0, 0, self._text, reasoning=self._reasoning))

    def _add(self, chunk: Any) -> None:
        self._usage = getattr(chunk, "usage", None) or self._usage
        self._model = getattr(chunk, "model", None) or self._model
        choices = getattr(chunk, "choices", None)
        for choice in choices[:1] if isinstance(choices, list) else ():
            delta = getattr(choice, "delta", None)
            self._text += _text(getattr(delta, "content", None))
            self._reasoning += _reasoning(delta)
            for call in getattr(delta, "tool_calls", None) or ():
                self._add_call(call)
            finish = getattr(choice, "finish_reason", None)
            self._finish = finish if isinstance(finish, str) else self._finish

    def _add_call(self, call: Any) -> None:
        index = getattr(call, "index", None)
        index = index if isinstance(index, int) else len(self._calls)
        function = getattr(call, "function", None)
        begun = self._calls.setdefault(
            index, SimpleNamespace(id=None, function=SimpleNamespace(name=None, arguments=""))
        )
        begun.id = getattr(call, "id", None) or begun.id
        begun.function.name = getattr(function, "name", None) or begun.function.name
        arguments = str(getattr(function, "arguments", None) or "")
        begun.function.arguments += arguments
        self._size_of_calls += len(arguments) + _SIZE_OF_CALL

    def completion(self) -> Any:
        """The answer in the form of one that came whole. Raises: BrokenStreamError: It did not."""
        if self._finish is None:
            raise BrokenStreamError(f"broke off in the middle of the answer, after {len(self._text):,} characters")
        calls = [self._calls[index] for index in sorted(self._calls)]
        message = SimpleNamespace(content=self._text or None, tool_calls=calls or None, function_call=None)
        return SimpleNamespace(
            choices=[SimpleNamespace(message=message, finish_reason=self._finish)],
            usage=self._usage,
            model=self._model,
        )


def _text(content: Any) -> str:
    """The text of a content, which some endpoints send in parts of several types; empty without one."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _reasoning(delta: Any) -> str:
    """What a part has of the text before the answer: a text, or an object with one."""
    for name in REASONING:
        value = getattr(delta, name, None)
        text = getattr(value, "content", value)
        if isinstance(text, str) and text:
            return text
    return ""


def chat_payload(request: ModelRequest, messages: Sequence[Message], prefill: str) -> dict[str, Any]:
    """The part of a payload that a conversation without its prefill decides."""
    payload: dict[str, Any] = {"messages": [_turn(message) for message in messages], "max_tokens": request.max_tokens}
    # The answer repeats the prefill: a stop sequence in there would end it before it began.
    if stops := [text for text in request.stop if text.strip() not in prefill]:
        payload["stop"] = stops
    if request.functions:
        payload["tools"] = [_tool(function) for function in request.functions]
    return payload


def chat_completion(
    reply: Any, messages: Sequence[Message], prefill: str, stop: Sequence[str], seconds: float
) -> Completion:
    """Read a reply to a conversation without its prefill. Raises: ValueError: It is none of the format."""
    choices: Any = getattr(reply, "choices", None)
    message: Any = getattr(choices[0], "message", None) if choices and isinstance(choices, list) else None
    if not hasattr(message, "content"):
        raise ValueError("it holds no message")
    text, stopped = cut_at_stop(after_prefill(_text(message.content), prefill), stop)
    finish = "stop" if stopped else str(choices[0].finish_reason or "stop")
    model = getattr(reply, "model", None)
    name = model if isinstance(model, str) else ""
    return Completion(text, usage_of(reply.usage, seconds), finish, _calls(message, messages), name)


def without_prefill(messages: Sequence[Message]) -> tuple[list[Message], str]:
    """The conversation with its prefill as a sentence of the last question, and the prefill."""
    if not messages or messages[-1].role != "assistant" or messages[-1].calls:
        return list(messages), ""
    *earlier, last = messages
    prefill = last.content
    question = earlier.pop() if earlier and earlier[-1].role == "user" else Message("user", "")
    text = Template(PREFILL).substitute(message=question.content, prefill=prefill).lstrip()
    return [*earlier, replace(question, content=text)], prefill


def after_prefill(text: str, prefill: str) -> str:
    """The answer without its prefill, whether it repeats all of that, its last line, or nothing."""
    for opening in (prefill.strip(), prefill.strip().rpartition("\n")[2]):
        if opening and opening in text:
            addition = text.partition(opening)[2]
            return addition.removeprefix("\n") if prefill.endswith("\n") else addition
    return text


def _tool(function: FunctionSpec) -> dict[str, Any]:
    schema = {"name": function.name, "description": function.description, "parameters": function.parameters}
    return {"type": "function", "function": schema}


def _turn(message: Message) -> dict[str, Any]:
    """A message in the endpoint's form; content beside calls is null where it is empty."""
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        turn["content"] = message.content or None
        turn["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.role == "tool":
        turn.update(tool_call_id=message.call_id, name=message.name)
    return turn


def _calls(message: Any, earlier: Sequence[Message]) -> tuple[FunctionCall, ...]:
    """The calls of a reply; a call without an id of its own in the conversation gets one.

    Raises: ValueError: The endpoint's calls are not of the format.
    """
    listed = getattr(message, "tool_calls", None) or []
    if not isinstance(listed, list):
        raise ValueError("the calls are no list")
    entries = [(getattr(call, "id", None), getattr(call, "function", None)) for call in listed]
    if not entries and getattr(message, "function_call", None) is not None:
        entries = [(None, message.function_call)]
    ids = {call.id for turn in earlier for call in turn.calls}
    calls: list[FunctionCall] = []
    for id, function in entries:
        name, arguments = getattr(function, "name", None), getattr(function, "arguments", None)
        if not isinstance(name, str):
            raise ValueError("a call names no function")
        if not isinstance(id, str) or not id or id in ids:
            id = next(
                text for text in (f"call_{number}" for number in itertools.count(len(ids) + 1)) if text not in ids
            )
        ids.add(id)
        if not isinstance(arguments, str):  # some endpoints send the object itself
            arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
        calls.append(FunctionCall(id, name, arguments))
    return tuple(calls)


def usage_of(counted: Any, seconds: float) -> Usage:
    """The endpoint's usage; zeros from one that does not count."""
    details = getattr(counted, "prompt_tokens_details", None)
    places = ((counted, "prompt_tokens"), (counted, "completion_tokens"), (details, "cached_tokens"))
    counts = [getattr(place, name, 0) for place, name in places]
    prompt, answer, cached = (min(max(count, 0), _MOST_TOKENS) if isinstance(count, int) else 0 for count in counts)
    return Usage(prompt, answer, cached, 1, seconds)


_ROLES = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Function"}


def role_prompt(messages: Sequence[Message]) -> str:
    """The conversation, open for the assistant's answer, or for the rest of the prefill that it ends with.

    A turn is its role, a colon, a space and its content, and ends with a line break. The training data begin an
    answer with one, so that the open turn has it already.
    """
    prefill = messages[-1].content if messages and messages[-1].role == "assistant" else "\n"
    turns = messages[:-1] if messages and messages[-1].role == "assistant" else messages
    text = "".join(f"{_ROLES[turn.role]}:{f' {turn.content}' if turn.content else ''}\n" for turn in turns)
    return f"{text}{_ROLES['assistant']}: {prefill}"
