"""What every language model looks like from outside, so that the agent never learns whose model it asks.

A conversation whose last message has the role "assistant" is a prefill: the model goes on from the end of that text,
and the completion holds only what it added. Programs are asked for in this way, with the code block already opened.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from protocols.errors import PromptRefused

__all__ = [
    "TEMPERATURE",
    "Completion",
    "Message",
    "Model",
    "ModelBase",
    "ModelRequest",
    "Progress",
    "Usage",
    "answer",
    "check_context_length",
    "cut_at_stop",
    "sample",
]

TEMPERATURE = 0.7
"""At which answers are drawn, where not the likeliest one is wanted."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What asking cost. `prompt_tokens` include the cached ones; `seconds` are wall-clock, waiting included."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    model_calls: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.model_calls + other.model_calls,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer, without the prefill and without the stop sequence that ended it.

    `finish` is "stop" when the model ended by itself or at a stop sequence, "length" when `max_tokens` cut it off;
    an endpoint may answer other words.
    """

    text: str
    usage: Usage
    finish: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a model is with an answer.

    Args:
        read: Tokens of the prompt that it has read, the cached ones included.
        prompt_tokens: Tokens of the whole prompt.
        text: What it has written so far.
        seconds_left: Estimate for the rest of the prompt; None while there is none.
    """

    read: int
    prompt_tokens: int
    text: str = ""
    seconds_left: float | None = None


class Model(typing.Protocol):
    """A language model that can be asked. Opening one is cheap: what is heavy happens in the first `complete`.

    Models that hold their own tokenizer also have `count_tokens(text) -> int`. Prompts should not be fitted with it:
    a recorded answer is found only by the same prompt, and a replay has no tokenizer.
    """

    name: str

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        """Answer a conversation, or go on from its prefill.

        Args:
            messages: Oldest first; a last one of role "assistant" is a prefill.
            stop: Texts that end the answer; they are not part of it.
            max_tokens: Most tokens to write.
        Raises: ModelError: The model could not be had, or the conversation is longer than it can read.
        """

    def close(self) -> None:
        """Give back what the model holds; a second call does nothing. A later `complete` opens it again."""


def cut_at_stop(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """The text up to the first stop sequence in it, and whether there was one."""
    ends = [end for end in (text.find(sequence) for sequence in stop) if end >= 0]
    return (text[: min(ends)], True) if ends else (text, False)


def check_context_length(name: str, length: int, max_tokens: int, context: int) -> None:
    """Raises: PromptRefused: a conversation of `length` tokens and its answer do not fit into the model's context."""
    if length + max_tokens > context:
        raise PromptRefused(
            f"the conversation has {length} tokens, and {max_tokens} are kept for the answer; "
            f"{name} can hold {context} together"
        )


AllowedCalls: TypeAlias = Mapping[str, tuple[str, ...]]
"""By function, the arguments of which one comes first in a call of it; `)` stands for none."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked.

    `seed` is None for the likeliest answer; with one, an answer is drawn at TEMPERATURE. `functions` are the only ones
    that a program may call, and how a call of each begins; they bind a model that can be held to them, and None holds
    it to nothing. `on_progress` is called while the model reads and writes, where the model can tell; it is no part
    of the question.
    """

    messages: Sequence[Message]
    stop: Sequence[str] = ()
    max_tokens: int = 1024
    seed: int | None = None
    functions: AllowedCalls | None = None
    on_progress: Callable[[Progress], None] | None = field(default=None, compare=False, repr=False)


class ModelBase:
    """A model that answers any `ModelRequest`; its `complete` is one.

    `supports_grammar`: the answers keep to a request's `functions`.
    """

    supports_grammar = False

    def answer(self, request: ModelRequest) -> Completion:
        """The answer to a request. Raises: as `Model.complete`."""
        raise NotImplementedError

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        """As `Model.complete`."""
        return self.answer(ModelRequest(messages, stop, max_tokens))


def answer(model: Model, request: ModelRequest) -> Completion:
    """Ask any model. One that is not `ModelBase` draws where it has a method `sample`, and is held to nothing."""
    if isinstance(model, ModelBase):
        return model.answer(request)
    draw = getattr(model, "sample", None)
    if request.seed is None or draw is None:
        return model.complete(request.messages, stop=request.stop, max_tokens=request.max_tokens)
    drawn: Completion = draw(request.messages, stop=request.stop, max_tokens=request.max_tokens, seed=request.seed)
    return drawn


def sample(
    model: Model, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024, seed: int
) -> Completion:
    """One of the answers that a model might give, drawn with a seed at TEMPERATURE."""
    return answer(model, ModelRequest(messages, stop, max_tokens, seed))
