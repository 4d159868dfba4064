"""A model with a budget: the most that one question of a benchmark may cost."""

from __future__ import annotations

import time
from collections.abc import Callable

from atc.models.base import Completion, Model, ModelBase, ModelRequest, answer
from protocols.errors import LimitReached

__all__ = ["BudgetedModel"]


class BudgetedModel(ModelBase):
    """Asks another model until a budget is used up; 0 means no limit. Make one for each question.

    Args:
        calls: Completions. tokens: Read and written, cached ones included. seconds: From now on.
        stopped: True once nobody waits for answers; the next request then raises KeyboardInterrupt.
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
        self._max_calls, self._max_tokens = calls, tokens
        self._calls_used = self._tokens_used = 0
        self._stopped = stopped
        self._deadline = time.monotonic() + seconds if seconds else None

    def answer(self, request: ModelRequest) -> Completion:
        """Ask. Raises: LimitReached: The budget is used up; what `Model.complete` raises."""
        self._check_budget()
        return self._count(answer(self._model, request))

    def _check_budget(self) -> None:
        if self._stopped():
            raise KeyboardInterrupt
        if self._max_calls and self._calls_used >= self._max_calls:
            raise LimitReached(f"the budget of {self._max_calls} model calls is used up")
        if self._max_tokens and self._tokens_used >= self._max_tokens:
            raise LimitReached(f"the budget of {self._max_tokens} tokens is used up")
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise LimitReached("the budget of seconds is used up")

    def _count(self, completion: Completion) -> Completion:
        self._calls_used += 1
        self._tokens_used += completion.usage.prompt_tokens + completion.usage.completion_tokens
        return completion

    def close(self) -> None:
        """Leave the model open for other questions."""
