"""A solver process: it has the document, the model and an agent, and solves many questions at once in threads.

It ends when its pipe does, so no solve outlives the process that serves the requests.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, replace
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from atc.agent import SIMULATED_NOW, Agent
from atc.apps.server.messages import (
    Cancel,
    Cancelled,
    Ended,
    Job,
    JobEvent,
    Message,
    PlanAnswer,
    Postponed,
    Ready,
    Refused,
    ServerSettings,
)
from atc.apps.server.waiting import ComputeTurn, PlanApproval, queued
from atc.apps.unsolved import unsolved
from atc.background import Interruption
from atc.engines.names import identity
from atc.events import Event, EventSink, SolveEnded
from atc.models import Model, default_model, open_model
from atc.options import in_words_of_flags
from atc.resume import recorded_solution
from protocols.choice import choose
from protocols.combined import load_specs
from protocols.errors import ATCError
from sandbox import Journal
from sandbox.journal.journal import JournalUnavailableError
from sandbox.pool import workers

if TYPE_CHECKING:
    from atc.write_gate import ConfirmPlan
    from protocols.simulator import Simulator

__all__ = ["ended_with", "main"]


def main(settings: ServerSettings, connection: Connection) -> None:
    """Solve what comes over the pipe until it ends; never returns."""
    for signum in (signal.SIGINT, signal.SIGTERM):  # the serving process says when it is over
        signal.signal(signum, signal.SIG_IGN)
    process = _SolverProcess(settings, connection)
    try:
        with in_words_of_flags():
            process.serve()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)  # as kill -9 would: what is under way goes on from its journal


class _SolverAgents:
    """The agents of a process, one for each mode, with one model.

    Raises: ATCError: The document, the model or a credential cannot be had.
    """

    def __init__(self, settings: ServerSettings) -> None:
        options = settings.options
        protocol = load_specs(settings.api, options.auth, options.base_url)
        self._protocol = choose(protocol, options.only, options.without, options.reads, hints=options.takes_hints)
        name = str(options.model or default_model())
        self.model_name = identity(name)
        model = open_model(name, seed=options.seed, keep=True, silence=options.silence)
        self._model: Model = queued(model, settings.folder)
        self._lock = threading.Lock()
        self._agents: dict[str, Agent] = {}
        self._simulator: Simulator | None = None
        if options.simulate:
            from protocols.simulator import Simulator

            options = replace(options, simulate=False, now=options.now or SIMULATED_NOW)
            self._simulator = Simulator(self._protocol, seed=options.seed, now=options.now)
        self._options = options
        self.agent(options.mode).opening("anything")  # what it loads is there for the first question
        workers.warm()

    def agent(self, mode: str) -> Agent:
        """The agent of a mode, made at its first use."""
        with self._lock:
            if mode not in self._agents:
                options = replace(self._options, mode=mode, model=self.model_name)
                agent = Agent(self._protocol, **vars(options))
                agent.knowledge.shared()
                self._agents[mode] = agent
            return self._agents[mode]

    @contextmanager
    def solving(self, job: Job, sink: EventSink, confirm: ConfirmPlan) -> Iterator[Agent]:
        """An agent for one job, in a simulated world of its own where the API is simulated."""
        request, simulator = job.request, self._simulator
        world = simulator.session(query=request.query, rehearses=True) if simulator is not None else None
        with self.agent(request.mode or self._options.mode).within(self._model, world) as agent:
            agent.on_event = sink
            settings = agent.settings
            settings = replace(settings, question_limits=settings.question_limits.within(request.limits))
            if job.asks:
                settings = replace(settings, options=replace(settings.options, confirm_plan=confirm))
            if request.max_reflections is not None and settings.mode.reflections:
                settings = replace(settings, max_reflections=request.max_reflections)
            agent.settings = settings
            yield agent


class _SolverProcess:
    """The process's side of the pipe."""

    def __init__(self, settings: ServerSettings, connection: Connection) -> None:
        self._settings = settings
        self._connection = connection
        self._sending = threading.Lock()
        self._running: dict[str, Interruption] = {}
        self._approvals: dict[str, PlanApproval] = {}

    def serve(self) -> None:
        """Take jobs until the pipe ends."""
        try:
            self._agents = _SolverAgents(self._settings)
        except ATCError as error:
            self._send(Refused(str(error)))
            return
        gc.collect()
        gc.freeze()  # the document stays: it need not be looked through again and again
        self._send(Ready())
        with suppress(EOFError, OSError):
            while True:
                match self._connection.recv():
                    case Job() as job:
                        interruption = self._running[job.id] = Interruption()
                        threading.Thread(target=self._solve, args=(job, interruption), daemon=True).start()
                    case Cancel(id=id) if id in self._running:
                        self._running[id].set()
                    case PlanAnswer(id=id, plan=plan, approved=approved) if id in self._approvals:
                        self._approvals[id].answer(plan, approved)

    def _send(self, message: Message) -> None:
        with self._sending, suppress(OSError):
            self._connection.send(message)

    def _solve(self, job: Job, interruption: Interruption) -> None:
        try:
            message = self._solved(job, interruption)
        except JournalUnavailableError:
            message = Postponed(job.id)
        except ATCError as error:
            message = self._failed(job, error.exit_code, str(error))
        except KeyboardInterrupt:
            message = Cancelled(job.id)
        except BaseException as error:
            traceback.print_exc()
            message = self._failed(job, 1, f"an error of the server ended this solve ({type(error).__name__})")
        self._running.pop(job.id, None)
        self._approvals.pop(job.id, None)
        self._send(message)

    def _solved(self, job: Job, interruption: Interruption) -> Message:
        """Solve a job, or go on with it. Raises: ATCError, KeyboardInterrupt."""
        with Journal(job.journal) if job.journal is not None else nullcontext() as journal, ComputeTurn() as turn:
            if journal is not None and (data := recorded_solution(journal)) is not None:
                data.pop("exit_code", None)
                return ended_with(job.id, data)
            approval = self._approvals[job.id] = PlanApproval(job.id, self._send, interruption, turn)
            with self._agents.solving(job, partial(self._on_event, job, turn), approval.confirm) as agent:
                solution = agent.solve(job.request.query, journal=journal, interruption=interruption)
            if solution.status == "interrupted" and job.journal is None:
                return Cancelled(job.id)
            return ended_with(job.id, solution.to_json())  # of what was stopped, too: it tells which writes were sent

    def _on_event(self, job: Job, turn: ComputeTurn, event: Event) -> None:
        turn.follow(event)
        if job.events and not isinstance(event, SolveEnded):  # the serving process sends the Solution itself
            data = asdict(event)
            data.pop("server", None)  # where the model is, is no business of a client
            self._send(JobEvent(job.id, type(event).__name__, _json(data)))

    def _failed(self, job: Job, exit_code: int, message: str) -> Ended:
        return ended_with(job.id, unsolved(job.request.query, self._agents.model_name, exit_code, message).to_json())


def ended_with(id: str, data: dict[str, Any]) -> Ended:
    """The message that a solve has a solution, given as JSON data."""
    usage = data["usage"]
    tokens = {kind: int(usage[kind]) for kind in ("prompt_tokens", "completion_tokens", "model_calls")}
    return Ended(id, _json(data), str(data["status"]), tokens, data.get("cost"))


def _json(data: object) -> str:
    """JSON for any reader: what no JSON has, NaN and infinities of a reply, becomes null."""
    dump = partial(json.dumps, default=str, separators=(",", ":"))
    try:
        return dump(data, allow_nan=False)
    except ValueError:
        return dump(json.loads(dump(data), parse_constant=lambda name: None))
