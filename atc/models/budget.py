"""A model that may be asked for so much and no more: what one question of a benchmark may cost."""

from __future__ import annotations

import time
from collections.abc import Callable

from atc.models.base import Completion, Model, ModelBase, ModelRequest, answer
from protocols.errors import LimitReached

__all__ = ["BudgetedModel"]


class BudgetedModel(ModelBase):
    """Asks another model until a budget is used up; 0 means no limit. One is made for each question.

    Args:
        calls: Completions. tokens: Read and written, cached ones included. seconds: From now on.
        stopped: Whether nobody waits for answers any more; then the next question is a KeyboardInterrupt.
    """

    def __init__(
        self,
        model: Model,
        *,
        calls: int = 0,
        tokens: int = 0,
        seconds: float = 0.0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self.name = model.name
        self._model = model
        self._calls, self._tokens = calls, tokens
        self._made = self._spent = 0
        self._stopped = stopped
        self._end = time.monotonic() + seconds if seconds else None

    def answer(self, request: ModelRequest) -> Completion:
        """Ask. Raises: LimitReached: The budget is used up; what `Model.complete` raises."""
        self._check()
        return self._counted(answer(self._model, request))

    def _check(self) -> None:
        if self._stopped():
            raise KeyboardInterrupt
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
