"""The most that a question may cost: tokens, seconds and dollars, and what its solve has used of them.

Tokens are those read and written in all requests to the model. Before a request its prompt is estimated, and the answer
may be no longer than what is left; after it, the endpoint's count holds. A solve that goes on counts what it used
before, but for the seconds.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from typing import Any, Literal, Self, TypeVar, cast

from atc.models import Message, Usage
from atc.models.base import FunctionSpec
from atc.models.prices import Price, dollars
from protocols.errors import LimitReached, UsageError
from protocols.text.prose import estimate

__all__ = ["Deadline", "LimitName", "QuestionLimitReached", "QuestionLimits", "Spending"]

Asks = TypeVar("Asks", bound=Callable[..., Any] | None)
LimitName = Literal["max_tokens", "max_seconds", "max_cost"]

_LEAST_ANSWER = 16
"""Tokens below which an answer is not asked for: a call in a line takes about so many."""


@dataclass(frozen=True, slots=True)
class QuestionLimits:
    """The most that a question may cost; None is no limit.

    Args:
        max_tokens: Tokens read and written, cached ones included.
        max_seconds: Wall-clock time, but for the time in which somebody confirms writes.
        max_cost: US dollars.
    Raises: UsageError: One of them is no number above 0.
    """

    max_tokens: int | None = None
    max_seconds: float | None = None
    max_cost: float | None = None

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            kinds = (int,) if entry.name == "max_tokens" else (int, float)
            if value is None or (type(value) in kinds and 0 < value < math.inf):
                continue
            kind = "whole number" if entry.name == "max_tokens" else "number"
            raise UsageError(f"{entry.name} is {value!r}: it must be a {kind} above 0")

    def within(self, other: QuestionLimits) -> Self:
        """The stricter of both, one by one."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return type(self)(*(min((n for n in pair if n is not None), default=None) for pair in pairs))


class QuestionLimitReached(LimitReached):
    """A limit of the question is reached, or the next request would go beyond it; `limit` is its name."""

    def __init__(self, limit: LimitName, message: str) -> None:
        super().__init__(message)
        self.limit: LimitName = limit


class Spending:
    """What a solve has used.

    Args:
        price: Of the model; None where nobody knows it.
    """

    def __init__(self, limits: QuestionLimits, price: Price | None) -> None:
        self._limits = limits
        self._price = price
        self._used = Usage()
        self._counted = True
        self._ratio = 1.0
        self._narrowest: Literal["max_tokens", "max_cost"] | None = None

    @property
    def cost(self) -> float | None:
        """US dollars so far; None where the price is not known, or an endpoint did not count its tokens."""
        if self._price is None or not (self._counted or self._price.is_free):
            return None
        return round(self._dollars, 9)

    def lost(self, messages: Sequence[Message], functions: Sequence[FunctionSpec]) -> Usage:
        """The estimate of a request whose answer nobody took: its prompt, which an endpoint counts all the same."""
        return Usage(prompt_tokens=math.ceil(_size(messages, functions) * self._ratio), model_calls=1)

    def add_lost(self, usage: Usage) -> None:
        """Count requests by their estimate; the cost is then not known."""
        self._counted = False
        self._used += usage

    def room(self, messages: Sequence[Message], functions: Sequence[FunctionSpec], max_tokens: int) -> int:
        """The most tokens that an answer may have, up to `max_tokens`. Raises: QuestionLimitReached."""
        prompt = math.ceil(_size(messages, functions) * self._ratio)
        least = min(_LEAST_ANSWER, max_tokens)
        room, self._narrowest = max_tokens, None
        if (most := self._limits.max_tokens) is not None:
            affordable = most - self._tokens - prompt
            if affordable < least:
                raise self._reached("max_tokens", f"; the next request needs about {prompt + least:,}")
            if affordable < room:
                room, self._narrowest = affordable, "max_tokens"
        if (budget := self._limits.max_cost) is not None and self._price is not None:
            next_cost = self._price.cost(Usage(prompt_tokens=prompt, completion_tokens=least))
            rest = budget - self._dollars - next_cost
            if rest < 0:
                raise self._reached("max_cost", f"; the next request costs at least {dollars(next_cost)}")
            written = self._price.completion
            affordable = least + math.floor(rest * 1e6 / written) if written else room
            if affordable < room:
                room, self._narrowest = affordable, "max_cost"
        return room

    def cut(self, finish: str) -> QuestionLimitReached | None:
        """The limit that cut the answer of the latest `room`, if one did."""
        if finish != "length" or self._narrowest is None:
            return None
        return self._reached(self._narrowest, ", in the middle of the model's answer")

    def _reached(self, limit: Literal["max_tokens", "max_cost"], why: str) -> QuestionLimitReached:
        """`why` is left out where the limit itself is reached."""
        if limit == "max_tokens":
            used, most = float(self._tokens), float(self._limits.max_tokens or 0)
            text = f"stopped at {used:,.0f} of {most:,.0f} tokens (--max-tokens)"
        else:
            used, most = self._dollars, self._limits.max_cost or 0.0
            text = f"stopped at {dollars(used)} of {dollars(most)} (--max-cost)"
        return QuestionLimitReached(limit, text if used >= most else text + why)

    @property
    def _tokens(self) -> int:
        return self._used.prompt_tokens + self._used.completion_tokens

    @property
    def _dollars(self) -> float:
        return self._price.cost(self._used) if self._price is not None else 0.0

    def add(
        self, usage: Usage, messages: Sequence[Message] = (), functions: Sequence[FunctionSpec] = (), text: str = ""
    ) -> None:
        """Count a request; one whose endpoint does not count is estimated."""
        size = _size(messages, functions)
        if usage.prompt_tokens or usage.completion_tokens:
            self._used += usage
            if size and usage.prompt_tokens:
                self._ratio = usage.prompt_tokens / size
        else:
            self._counted = False
            self._used += Usage(prompt_tokens=size, completion_tokens=estimate(text))


def _size(messages: Sequence[Message], functions: Sequence[FunctionSpec]) -> int:
    """The approximate tokens of a request."""
    texts = [message.content + "".join(call.name + call.arguments for call in message.calls) for message in messages]
    texts += [json.dumps(asdict(function)) for function in functions]
    return estimate("".join(texts))


class Deadline:
    """Calls a function, from a thread of its own, when the time of a solve is over; `with` runs it.

    Args:
        seconds: None for no end.
    """

    def __init__(self, seconds: float | None, on_end: Callable[[], None] | None) -> None:
        self.expired = False
        self._seconds = seconds
        self._on_end = on_end
        self._changed = threading.Condition()
        self._over = False
        self._asking = 0
        self._asked_at = self._paused = 0.0
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        if self._seconds is not None:
            threading.Thread(target=self._watch, name="deadline", daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def reached(self) -> QuestionLimitReached:
        """What ended the solve."""
        with self._changed:
            used = self._elapsed()
        text = f"stopped at {used:.1f} of {self._seconds or 0:g} seconds (--max-seconds)"
        return QuestionLimitReached("max_seconds", text)

    def unhurried(self, ask: Asks) -> Asks:
        """The same question to somebody, whose time does not count; None for None."""
        if ask is None:
            return ask

        def asked(*args: Any) -> Any:
            with self._changed:
                self._asking += 1
                self._asked_at = time.monotonic() if self._asking == 1 else self._asked_at
            try:
                return ask(*args)
            finally:
                with self._changed:
                    self._asking -= 1
                    if not self._asking:
                        self._paused += time.monotonic() - self._asked_at
                    self._changed.notify_all()

        return cast("Asks", asked)

    def _elapsed(self) -> float:
        return (self._asked_at if self._asking else time.monotonic()) - self._started - self._paused

    def _watch(self) -> None:
        with self._changed:
            while not self._over:
                remaining = (self._seconds or 0.0) - self._elapsed()
                if remaining <= 0 and not self._asking:
                    self.expired = True
                    break
                self._changed.wait(None if self._asking else remaining)
        if self.expired and self._on_end is not None:
            self._on_end()
