"""Has a simulated API answer the writes of a run; nothing of them leaves this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from protocols.model import Protocol, Tool
from protocols.simulator import Simulator
from protocols.simulator.demand import Demand
from protocols.simulator.http.messages import LENIENT
from sandbox.egress.answer import answer
from sandbox.egress.egress_rules import EgressRules
from sandbox.egress.record import CallContext, CallRecorder, Redaction
from sandbox.egress.send import Sender
from sandbox.egress.signing import Signer
from sandbox.egress.stages import Bound, BrokerReply

__all__ = ["SimulatedWrites", "prepare_simulation"]


class SimulatedWrites:
    """A simulated API for the writes of one run, which share its limits and records; several threads may use it."""

    def __init__(self, protocol: Protocol, recorder: CallRecorder, demands: Sequence[Demand]) -> None:
        with contextlib.ExitStack() as closing:  # what was opened is closed again if the rest fails
            simulator = closing.enter_context(Simulator(_over_http(protocol), now=datetime.now(UTC), open=True))
            session = simulator.session(rehearses=True)
            session.satisfy(demands)
            signer = Signer(simulator.credentials, protocol, lambda _: None)
            rules = EgressRules(protocol, session.base_urls)
            self._sender = Sender(CallContext(rules, signer, Redaction(tuple(simulator.credentials)), recorder))
            closing.callback(self._sender.close)
            self._closing = closing.pop_all()

    def cancel(self) -> None:
        """End every call that is under way."""
        self._sender.cancel()

    def close(self) -> None:
        """Close the simulated API."""
        self._closing.close()

    def answer(self, bound: Bound, tool: Tool) -> BrokerReply:
        """Have the simulated API answer a write of a tool, which gets its record. Raises: LimitExceeded."""
        context, planned = self._sender.context, bound.planned
        context.recorder.warn_of_doubt(bound, "simulated")
        if bound.insists:
            planned = replace(planned, headers={**planned.headers, LENIENT[0]: LENIENT[1]})
        tool = replace(tool, envelope=None)
        target = bound.target._replace(tool=tool, base=context.rules.base_of(tool))
        inner = replace(bound, target=target, planned=planned, insists="")
        reply = answer(self._sender.send(inner, lambda: None), context, url=bound.url, attempts=0, simulated=True)
        return replace(reply, url=bound.url)


def prepare_simulation(protocol: Protocol) -> None:
    """Analyse a protocol whose writes are simulated, before the time of a program counts."""
    reachable = _over_http(protocol)
    if any(tool.writes for tool in reachable.tools):
        Simulator(reachable).prepare()


def _over_http(protocol: Protocol) -> Protocol:
    return protocol.only(tool.name for tool in protocol.tools if tool.function is None)
