"""A model that may be asked for so much and no more: what one question of a benchmark may cost."""

from __future__ import annotations

import time
from collections.abc import Sequence

from atc.models.base import Completion, Message, Model, constrained, sample
from protocols.errors import LimitReached

__all__ = ["Budgeted"]


class Budgeted:
    """Asks another model until a budget is used up; 0 means no limit. One is made for each question.

    Args:
        calls: Completions. tokens: Read and written, cached ones included. seconds: From now on.
    """

    def __init__(self, model: Model, *, calls: int = 0, tokens: int = 0, seconds: float = 0.0) -> None:
        self.name = model.name
        self._model = model
        self._calls, self._tokens = calls, tokens
        self._made = self._spent = 0
        self._end = time.monotonic() + seconds if seconds else None

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        """Ask. Raises: LimitReached: The budget is used up; what `Model.complete` raises."""
        self._check()
        return self._counted(self._model.complete(messages, stop=stop, max_tokens=max_tokens))

    def sample(
        self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024, seed: int
    ) -> Completion:
        """As `atc.models.base.sample`. Raises: as `complete`."""
        self._check()
        return self._counted(sample(self._model, messages, stop=stop, max_tokens=max_tokens, seed=seed))

    def constrained(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        max_tokens: int = 1024,
        names: Sequence[str],
        seed: int | None = None,
    ) -> Completion:
        """As `atc.models.base.constrained`. Raises: as `complete`."""
        self._check()
        held = constrained(self._model, messages, stop=stop, max_tokens=max_tokens, names=names, seed=seed)
        return self._counted(held)

    def _check(self) -> None:
        if self._calls and self._made >= self._calls:
            raise LimitReached(f"the budget of {self._calls} model calls is used up")
        if self._tokens and self._spent >= self._tokens:
            raise LimitReached(f"the budget of {self._tokens} tokens is used up")
        if self._end is not None and time.monotonic() >= self._end:
            raise LimitReached("the budget of seconds is used up")

    def _counted(self, completion: Completion) -> Completion:
        self._made += 1
        self._spent += completion.usage.prompt_tokens + completion.usage.completion_tokens
        return completion

    def close(self) -> None:
        """Leaves the model open: other questions go on with it."""
