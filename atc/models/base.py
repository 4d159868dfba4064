"""The interface of language models.

A conversation whose last message has the role "assistant" ends with a prefill: the model continues that text, and the
completion holds only the continuation. Programs are requested in this way, with the code block already opened.

A request may offer functions. The completion then has calls beside its text, the conversation keeps them in the
assistant's message, and each result is a message of the role "tool". Only a model that `calls_functions` takes these.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from operator import add
from typing import Any, Literal

from protocols.errors import PromptRefused, UsageError

__all__ = [
    "SILENCE",
    "TEMPERATURE",
    "AnyModel",
    "Completion",
    "FunctionCall",
    "FunctionSpec",
    "Layout",
    "Message",
    "Model",
    "ModelBase",
    "ModelRequest",
    "Progress",
    "Usage",
    "answer",
    "as_model",
    "calls_functions",
    "check_context_length",
    "check_text_only",
    "checked_silence",
    "cut_at_stop",
    "read_calls",
    "request_hash",
    "split_prefill",
    "split_reasoning",
]

Layout = Literal["chat", "roles"]

TEMPERATURE = 0.7
"""The temperature of sampled answers."""

SILENCE = 120.0
"""Seconds without a byte after which an endpoint is given up: a model may think for minutes, but not in silence."""

_REASONING = re.compile(r"\s*<think>(.*?)(?:</think>\s*|\Z)|((?:(?!```|<think>).)*?)</think>\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """A function that a model may call; `parameters` is the JSON Schema of an object, as the model reads it."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call that a model asks for; `arguments` is the text that it wrote, which may be no JSON at all.

    `id` is unique in a conversation; the message with the result repeats it.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    Args:
        role: "tool" for the result of a call.
        content: The text; may be empty beside calls.
        calls: The calls of an assistant's message, in order. Each needs a "tool" message with its result.
        call_id: `FunctionCall.id` of the call whose result this is.
        name: The function of that call.
        shared: Characters at the beginning that other questions have, too: a provider may keep what it read of them.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[FunctionCall, ...] = ()
    call_id: str = ""
    name: str = ""
    shared: int = field(default=0, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Role and content, and of the other fields those that are not empty."""
        data: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.calls:
            data["calls"] = [asdict(call) for call in self.calls]
        return data | {key: value for key, value in (("call_id", self.call_id), ("name", self.name)) if value}


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of completions. `prompt_tokens` include the cached ones; `seconds` are wall-clock, waiting included."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    model_calls: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(add, astuple(self), astuple(other)))

    def counts(self) -> dict[str, int]:
        """All but the seconds, as a dictionary."""
        return {name: value for name, value in asdict(self).items() if name != "seconds"}


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer, without the prefill and the stop sequence.

    `finish` is "stop" after the model's own end or a stop sequence, "length" at `max_tokens`; an endpoint may use other
    words. `calls` may be several; they can be made in any order. Of an endpoint, `model` is its own name for what
    answered, and `server` the URL that was asked, without secrets.
    """

    text: str
    usage: Usage = Usage()
    finish: str = "stop"
    calls: tuple[FunctionCall, ...] = ()
    model: str = field(default="", compare=False)
    server: str = field(default="", compare=False)

    def message(self) -> Message:
        """The completion as a turn of the conversation."""
        return Message("assistant", self.text, self.calls)


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a completion.

    Args:
        read: Tokens of the prompt read so far, cached ones included.
        prompt_tokens: Tokens of the whole prompt.
        text: The text written so far.
        seconds_left: Estimate for the rest of the prompt; None without one.
        reasoning: What the model wrote before its answer so far. It is for whoever waits: no prompt, program or record
            has it.
    """

    read: int
    prompt_tokens: int
    text: str = ""
    seconds_left: float | None = None
    reasoning: str = ""


class Model(typing.Protocol):
    """A language model. Opening one is cheap: heavy parts are loaded in the first `complete`.

    Models with a tokenizer also have `count_tokens(text) -> int`. Do not fit prompts with it: a recorded answer is
    found by its exact prompt, and a replay has no tokenizer.
    """

    name: str

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        """Answer a conversation, or continue its prefill.

        Args:
            messages: Oldest first; a last one of role "assistant" is a prefill.
            stop: Texts that end the answer; they are not part of it.
            max_tokens: Most tokens to write.
        Raises: ModelError: The model is unavailable, or the conversation is longer than its context.
        """

    def close(self) -> None:
        """Free the model's resources; a second call does nothing. A later `complete` opens it again."""


class Completer(typing.Protocol):
    """The least that a class needs to be a model; `name`, `close`, `context` and `profile` are optional."""

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        """As `Model.complete`."""


AnyModel: typing.TypeAlias = Completer | Callable[[Sequence[Message]], str]
"""A model of the user's: an object with `complete`, or a function of a conversation that returns the answer."""


def cut_at_stop(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """The text up to the first stop sequence, and whether there was one."""
    ends = [end for end in (text.find(sequence) for sequence in stop) if end >= 0]
    return (text[: min(ends)], True) if ends else (text, False)


def split_prefill(messages: Sequence[Message]) -> tuple[list[dict[str, str]], str]:
    """The turns for a chat template, and the prefill; empty without one."""
    prefill = messages[-1].content if messages[-1].role == "assistant" else ""
    turns = messages[:-1] if messages[-1].role == "assistant" else messages
    return [{"role": turn.role, "content": turn.content} for turn in turns], prefill


def check_context_length(name: str, length: int, max_tokens: int, context: int) -> None:
    """Raises: PromptRefused: a conversation of `length` tokens and its answer do not fit into the model's context."""
    if length + max_tokens > context:
        raise PromptRefused(
            f"the conversation has {length} tokens, and {max_tokens} are kept for the answer; "
            f"{name} can hold {context} together; offer fewer tools, or take a model with a longer context"
        )


def calls_functions(model: object) -> bool:
    """Whether requests to a model may offer functions; False for a model that does not say so."""
    return bool(getattr(model, "calls_functions", False))


def read_calls(entries: Iterable[Mapping[str, str]]) -> tuple[FunctionCall, ...]:
    """Calls from JSON, as `dataclasses.asdict` wrote them. Raises: TypeError: An entry has other fields."""
    return tuple(FunctionCall(**entry) for entry in entries)


def check_text_only(name: str, request: ModelRequest) -> None:
    """Raises: UsageError: The request has functions, calls or results of calls, which the model cannot take.

    Results are text in the layout "roles".
    """
    results = request.layout == "chat" and any(message.role == "tool" for message in request.messages)
    if request.functions or results or any(message.calls for message in request.messages):
        raise UsageError(f"{name} cannot call functions; use --format text, or a model that can (openai:NAME)")


def checked_silence(seconds: float) -> float:
    """The seconds of a limit of silence. Raises: UsageError: Nothing can wait so long."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= threading.TIMEOUT_MAX:
        raise UsageError(f"silence is {seconds!r}: it must be a number of seconds, more than 0")
    return seconds


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to a model.

    `seed` is None for the likeliest answer; with one, the answer is sampled at TEMPERATURE. `on_progress` is called
    during the completion where the model supports it; it is not part of the request's identity. `functions` may be
    called instead of an answer, or beside one. With the `layout` "roles" the model reads the messages as
    `atc.models.chat_format` writes them, results of calls included, and its chat template is not used. `unlimited` is
    what `max_tokens` would be, where a limit of the question has lowered it: a record has that answer, too.
    """

    messages: Sequence[Message]
    stop: Sequence[str] = ()
    max_tokens: int = 1024
    seed: int | None = None
    on_progress: Callable[[Progress], None] | None = field(default=None, compare=False, repr=False)
    functions: Sequence[FunctionSpec] = ()
    layout: Layout = "chat"
    unlimited: int | None = field(default=None, compare=False)


class ModelBase:
    """Base class of the models that answer any `ModelRequest`; their `complete` makes one."""

    @property
    def context(self) -> int | None:
        """Tokens of the context window, where that is known: that of the wrapped model, if there is one."""
        return getattr(getattr(self, "_model", None), "context", None)

    @property
    def calls_functions(self) -> bool:
        """Whether requests may offer functions: as the wrapped model, if there is one."""
        return calls_functions(getattr(self, "_model", None))

    def answer(self, request: ModelRequest) -> Completion:
        """Answer a request. Raises: as `Model.complete`."""
        raise NotImplementedError

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        """As `Model.complete`."""
        return self.answer(ModelRequest(messages, stop, max_tokens))


class OwnModel(ModelBase):
    """A model of the user's: what it lacks of a Model has a default."""

    def __init__(self, model: AnyModel) -> None:
        self._model = model
        self.name = str(getattr(model, "name", "") or getattr(model, "__name__", type(model).__name__))
        self.profile = getattr(model, "profile", None)

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`. Raises: UsageError: The request has functions or calls; the model returns no text."""
        check_text_only(self.name, request)
        started = time.monotonic()
        complete, draw = getattr(self._model, "complete", None), getattr(self._model, "sample", None)
        limits = {"stop": request.stop, "max_tokens": request.max_tokens}
        if complete is None:
            reply = self._model(request.messages)  # type: ignore[operator]
        elif request.seed is None or draw is None:
            reply = complete(request.messages, **limits)
        else:
            reply = draw(request.messages, **limits, seed=request.seed)
        if isinstance(reply, str):
            text, _ = cut_at_stop(reply, request.stop)
            reply = Completion(text, Usage(model_calls=1, seconds=time.monotonic() - started))
        if not isinstance(reply, Completion) or not isinstance(reply.text, str):
            raise UsageError(
                f"{self.name} returned {type(reply).__name__}; a model returns a str or a Completion with a text"
            )
        return reply

    def close(self) -> None:
        """Close the model, if that can be closed."""
        getattr(self._model, "close", lambda: None)()


def as_model(model: AnyModel) -> Model:
    """A Model as it is, and any other as one. Raises: UsageError: It can be no model."""
    if isinstance(model, type):
        raise UsageError(f"{model.__name__} is a class: give an object of it, such as {model.__name__}()")
    if isinstance(model, ModelBase) or all(hasattr(model, name) for name in ("name", "complete", "close")):
        return typing.cast(Model, model)
    if not callable(getattr(model, "complete", model)):
        raise UsageError(f"{model!r} is no model: give a name, a function of messages, or an object with `complete`")
    return OwnModel(model)


def answer(model: Model, request: ModelRequest) -> Completion:
    """Answer a request with any model; what it thought in the text of its answer is no part of that.

    A model outside `ModelBase` samples with its method `sample`, if it has one.
    Raises: as `Model.complete`. UsageError: The request has functions or calls, and the model takes none.
    """
    completion = (model if isinstance(model, ModelBase) else OwnModel(model)).answer(request)
    return replace(completion, text=split_reasoning(completion.text)[1])


def split_reasoning(text: str) -> tuple[str, str]:
    """What a text begins with between `<think>` and `</think>`, and the rest; the first tag may be in the prompt."""
    match = _REASONING.match(text) if "think>" in text else None
    return ((match[1] or match[2] or "").strip(), text[match.end() :]) if match else ("", text)


def request_hash(
    messages: Sequence[Message],
    stop: Sequence[str],
    max_tokens: int,
    functions: Sequence[FunctionSpec] = (),
    layout: Layout = "chat",
) -> str:
    """sha256, in hex, over the canonical JSON of a request.

    Fields for functions are left out where they are empty, and the layout of a chat.
    """
    turns = [message.to_json() for message in messages]
    request: dict[str, object] = {"messages": turns, "stop": list(stop), "max_tokens": max_tokens}
    if functions:
        request["functions"] = [asdict(function) for function in functions]
    if layout != "chat":
        request["layout"] = layout
    text = json.dumps(request, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
