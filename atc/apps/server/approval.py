"""A solve's question about its planned writes, in the solver process: it waits until a client of the server answers.

Waiting is no running: the turn to compute is given back, and a solve that is to end does not wait for an answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from functools import partial

from atc.apps.server.compute_turn import ComputeTurn
from atc.apps.server.messages import Message, PlanAsked
from atc.apps.tui.plan import plan_review
from atc.background import Interruption
from sandbox.egress.write_plan import WritePlan

__all__ = ["PLAN_SECONDS", "PlanApproval"]

PLAN_SECONDS = 24 * 3600.0
"""Seconds after which a plan that nobody answers is declined: a day, so that a question of the evening can be answered
in the morning."""


class PlanApproval:
    """Asks about the plans of one solve.

    Args:
        send: Tells the serving process.
        interruption: Of the solve.
        turn: Of the solve; it is given back while it waits.
    """

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
        self._interruption.add(partial(_cancelled, answer))
        data = {"plan": self._plan, **plan_review(plan)}
        self._turn.give()
        try:
            self._send(PlanAsked(self._job, self._plan, json.dumps(data)))
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


def _cancelled(answer: Future[bool]) -> None:
    answer.cancel()
