"""Has a simulated API answer the writes of a run; nothing of them leaves this machine."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from protocols.errors import LimitReached
from protocols.model import Protocol
from sandbox.egress.allowance import Allowance
from sandbox.egress.answer import Answerer
from sandbox.egress.egress_rules import EgressRules
from sandbox.egress.record import CallRecorder
from sandbox.egress.redaction import Redaction
from sandbox.egress.replies import BrokerReply
from sandbox.egress.send import Sender
from sandbox.egress.signing import Signer
from sandbox.egress.stages import Bound
from sandbox.egress.writes import WriteApproval

__all__ = ["SimulatedWrites", "prepare_simulation"]


class _World(NamedTuple):
    """The way to the simulated API, with limits and records of its own."""

    allowance: Allowance
    sender: Sender
    answerer: Answerer


class SimulatedWrites:
    """The simulated writes of one run; may be used from several threads. `outer` is the allowance of the run."""

    def __init__(self, protocol: Protocol | None, outer: Allowance, recorder: CallRecorder) -> None:
        self._protocol = protocol
        self._outer = outer
        self._recorder = recorder
        self._world: _World | None = None
        self._closing = contextlib.ExitStack()
        self._lock = threading.Lock()

    def until(self, deadline: float) -> None:
        """Move the end of the run."""
        if self._world is not None:
            self._world.allowance.deadline = deadline

    def cancel(self) -> None:
        """End every call that is under way."""
        if self._world is not None:
            self._world.allowance.cancel()
            self._world.sender.cancel()
            self._world.answerer.recorder.cancel()

    def close(self) -> None:
        """Close the simulated API."""
        self._closing.close()

    def answer(self, bound: Bound) -> BrokerReply:
        """Have the simulated API answer a write, which gets its record. Raises: LimitExceeded."""
        tool = bound.target.tool
        assert tool is not None and self._protocol is not None  # else it was refused
        self._recorder.warn_of_doubt(bound, "simulated")
        world = self._start(self._protocol)
        planned = bound.planned
        if bound.insists:
            from protocols.simulator.http.messages import LENIENT

            planned = replace(planned, headers={**planned.headers, LENIENT[0]: LENIENT[1]})
        tool = replace(tool, envelope=None)
        target = bound.target._replace(tool=tool, base=world.sender.rules.base_of(tool))
        try:
            call = world.answerer.recorder.begin(bound.call.style, bound.call.line, tool.name, ())
            inner = replace(bound, call=call, target=target, planned=planned, insists="")
            reply = world.answerer.answer(world.sender.send(inner, lambda: None))
        except LimitReached as error:
            self._recorder.finish(bound.call, str(error))
            raise
        record, answer = self._recorder, reply.record
        own = record.finish(bound.call, answer.error, status=answer.status, response=answer.response, simulated=True)
        return replace(reply, record=own, url=own.url)

    def _start(self, protocol: Protocol) -> _World:
        """The way to the simulated API, both made for the first simulated write."""
        with self._lock:
            if self._world is None:
                from protocols.simulator import Simulator

                sent = _over_http(protocol)
                simulator = self._closing.enter_context(Simulator(sent, now=datetime.now(UTC), open=True))
                allowance = Allowance(self._outer.limits, WriteApproval("allow"), self._outer.deadline)
                redactor = Redaction(tuple(simulator.credentials))
                recorder = CallRecorder(allowance, redactor)
                signer = Signer(simulator.credentials, protocol, recorder.warn)
                rules = EgressRules(protocol, simulator.base_urls)
                sender = Sender(rules, signer, allowance, recorder, redactor)
                self._closing.callback(sender.close)
                self._world = _World(allowance, sender, Answerer(allowance, recorder, redactor, signer))
            return self._world


def prepare_simulation(protocol: Protocol) -> None:
    """Analyse a protocol whose writes are simulated, before the time of a program counts."""
    from protocols.simulator import Simulator

    sent = _over_http(protocol)
    if any(tool.writes for tool in sent.tools):
        Simulator(sent).prepare()


def _over_http(protocol: Protocol) -> Protocol:
    return protocol.only(tool.name for tool in protocol.tools if tool.function is None)
