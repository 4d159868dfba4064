"""What a solve in a solver process waits for: its turn to compute, the model, and an answer about its planned writes.

Python runs one thread at a time anyway. Where threads share it, all solves of a burst are over late, and come back
together as the next burst; in turns those that came first are over first. Who waits for anything else gives its turn
back.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from functools import partial
from pathlib import Path

from atc.apps.server.messages import Message, PlanAsked
from atc.apps.tui.plan import plan_review
from atc.background import Interruption
from atc.events import Event, FaultFound, ModelWaiting, ProgramWritten, RunEnded, RunStarted
from atc.models import Completion, Model
from atc.models.base import ModelBase, ModelRequest, answer
from sandbox.egress.write_plan import WritePlan

__all__ = ["ComputeTurn", "PlanApproval", "queued"]

PLAN_SECONDS = 24 * 3600.0
"""Seconds after which a plan that nobody answers is declined: a day, so that a question of the evening can be answered
in the morning."""

LOCAL_ENGINES = ("local:", "openvino:", "hf:")

_line = threading.Semaphore()


class ComputeTurn:
    """The turn of one solve, for its thread: `with` has it at first, and takes it back at the end."""

    def __init__(self) -> None:
        self._has_turn = False

    def __enter__(self) -> ComputeTurn:
        self.take()
        return self

    def __exit__(self, *error: object) -> None:
        self.give()

    def take(self) -> None:
        """Wait for the turn, unless the solve has it."""
        if not self._has_turn:
            _line.acquire()
            self._has_turn = True

    def give(self) -> None:
        """Let another solve have it."""
        if self._has_turn:
            self._has_turn = False
            _line.release()

    def follow(self, event: Event) -> None:
        """Give the turn back while the solve waits, and take it again."""
        if isinstance(event, ModelWaiting | RunStarted):
            self.give()
        elif isinstance(event, ProgramWritten | RunEnded | FaultFound):
            self.take()


class PlanApproval:
    """Asks a client about the plans of one solve; `send` tells the serving process."""

    def __init__(
        self, job: str, send: Callable[[Message], None], interruption: Interruption, turn: ComputeTurn
    ) -> None:
        self._job = job
        self._send = send
        self._interruption = interruption
        self._turn = turn
        self._plan = ""
        self._asked_plans = 0
        self._answer: Future[bool] = Future()

    def confirm(self, plan: WritePlan) -> bool:
        """Whether the new writes of a plan may be sent. Raises: KeyboardInterrupt: The solve is to end."""
        self._asked_plans += 1
        content = json.dumps(plan.to_json(), sort_keys=True, default=str)
        # Whoever approves names the content: after a restart an answer to another plan fits none.
        self._plan = f"{self._asked_plans}-{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
        answer = self._answer = Future()
        self._interruption.add(partial(_cancel, answer))
        self._turn.give()
        try:
            self._send(PlanAsked(self._job, self._plan, json.dumps({"plan": self._plan, **plan_review(plan)})))
            return answer.result(PLAN_SECONDS)
        except CancelledError:
            raise KeyboardInterrupt from None
        except TimeoutError:
            return False
        finally:
            self._turn.take()

    def answer(self, plan: str, approved: bool) -> None:
        """The answer of a client to the plan with this id; one to another plan is dropped."""
        if plan == self._plan:
            with suppress(InvalidStateError):  # the solve is to end
                self._answer.set_result(approved)


def _cancel(answer: Future[bool]) -> None:
    answer.cancel()


def queued(model: Model, folder: Path) -> Model:
    """The model, behind a queue if it computes on this machine; `folder` has the queue's lock.

    Such a model uses all cores for one answer, and two answers at once would only take each other's cores. An endpoint
    is asked by all solves at once: it has a queue of its own.
    """
    return _QueuedModel(model, folder / "model.lock") if model.name.startswith(LOCAL_ENGINES) else model


class _QueuedModel(ModelBase):
    """Waits, without using a core, until no other solve of any process is answered."""

    def __init__(self, model: Model, lock: Path) -> None:
        self.name = model.name
        self._model = model
        self._file = lock

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`."""
        # Each request opens the file anew, since a lock keeps out what holds another descriptor, threads too.
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            return answer(self._model, request)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Close the model."""
        self._model.close()
