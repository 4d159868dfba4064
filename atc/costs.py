"""The most that a question may cost: tokens, seconds and dollars, and what its solve has used of them.

Tokens are those read and written in all requests to the model. Before a request its prompt is estimated, and the answer
may be no longer than what is left; after it, the endpoint's count holds. A solve that goes on counts what it used
before, but for the seconds. Dollars are those of a small price table in YAML, ours or the user's.
"""

from __future__ import annotations

import json
import math
import threading
import time
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, cast

from atc.models import Message, Usage
from atc.models.base import FunctionSpec
from protocols.errors import LimitReached, UsageError
from protocols.quoting import estimate

__all__ = [
    "Deadline",
    "LimitName",
    "Price",
    "Prices",
    "QuestionLimitReached",
    "QuestionLimits",
    "Spending",
    "dollars",
    "read_prices",
]

_OWN = ("local:", "openvino:", "hf:")
"""Models that run on the user's machine."""


class _Tokens(typing.Protocol):
    """Tokens of one or more requests."""

    @property
    def prompt_tokens(self) -> int: ...
    @property
    def cached_tokens(self) -> int: ...
    @property
    def completion_tokens(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens; `cached` are prompt tokens that come from the endpoint's cache."""

    prompt: float
    cached: float
    completion: float
    source: str

    def cost(self, used: _Tokens) -> float:
        """What the tokens cost."""
        fresh = max(used.prompt_tokens - used.cached_tokens, 0)
        cached = used.prompt_tokens - fresh
        return (fresh * self.prompt + cached * self.cached + used.completion_tokens * self.completion) / 1e6

    @property
    def is_free(self) -> bool:
        """True if no token costs anything."""
        return not (self.prompt or self.cached or self.completion)


@dataclass(frozen=True, slots=True)
class Prices:
    """A price table: since when its prices hold, where they are from, and a price for each name of a model."""

    currency: str
    date: str
    source: str
    models: Mapping[str, Price]

    def of(self, model: str) -> Price | None:
        """The price of a model: the entry of its name, or the longest beginning that fits (`openai:*`).

        A recorded model costs what it cost then. One that runs here costs nothing, unless the table says otherwise.
        """
        model = _priced(model)
        if model in self.models:
            return self.models[model]
        fitting = [name for name in self.models if name.endswith("*") and model.startswith(name[:-1])]
        if fitting:
            return self.models[max(fitting, key=len)]
        return Price(0, 0, 0, "runs on your own machine") if model.startswith(_OWN) else None

    def required(self, model: str) -> Price:
        """The price of a model, for a limit of cost. Raises: UsageError: There is none."""
        price = self.of(model)
        if price is None:
            raise UsageError(
                f"{model} has no price, and --max-cost needs one: name a table with --prices FILE that has an entry "
                f'such as "{_priced(model)}": {{prompt: 2.0, completion: 8.0}}, in US dollars for a million tokens'
            )
        return price


def _priced(model: str) -> str:
    """The name that a price is looked up by: of a record that of its model."""
    if not model.startswith("replay:"):
        return model
    from atc.models.replay import recorded_model

    return recorded_model(Path(model.removeprefix("replay:"))) or model


def dollars(amount: float) -> str:
    """An amount for people: at most three digits that count, from a dollar on whole cents."""
    if amount <= 0:
        return "$0"
    if not math.isfinite(amount):  # of a file
        return "$?"
    whole, _, part = f"{amount:,.{max(2, 2 - math.floor(math.log10(amount)))}f}".partition(".")
    return f"${whole}.{part[:2]}{part[2:].rstrip('0')}"


def read_prices(file: Path | None = None) -> Prices:
    """Read a price table, the one we ship where no file is named. Raises: UsageError: Where in the file, and what."""
    if file is None:
        return _shipped()
    from atc.price_file import checked_table, text_of

    return _prices(checked_table(text_of(file), str(file)))


@cache
def _shipped() -> Prices:
    from protocols.settings_yaml import parse_settings

    return _prices(parse_settings(files(__package__).joinpath("prices.yaml").read_text("utf-8")))


def _prices(data: Any) -> Prices:
    models = {
        str(name): Price(
            entry["prompt"],
            entry.get("cached", entry["prompt"]),
            entry["completion"],
            entry.get("source", str(data["source"])),
        )
        for name, entry in data["models"].items()
    }
    day = data["date"].isoformat() if isinstance(data["date"], date) else str(data["date"])
    return Prices(str(data["currency"]), day, str(data["source"]), models)


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
