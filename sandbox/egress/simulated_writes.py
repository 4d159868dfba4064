"""Has a simulated API answer the writes of a run; nothing of them leaves this machine."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from protocols.simulator.demand import Demand

__all__ = ["SimulatedWrites", "prepare_simulation"]


class SimulatedWrites:
    """The simulated writes of one run, which share its limits and records; may be used from several threads."""

    def __init__(
        self,
        protocol: Protocol | None,
        allowance: Allowance,
        recorder: CallRecorder,
        demands: Sequence[Demand] = (),
    ) -> None:
        self._protocol = protocol
        self._demands = demands
        self._allowance = allowance
        self._recorder = recorder
        self._simulated_api: tuple[Sender, Answerer] | None = None
        self._closing = contextlib.ExitStack()
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """End every call that is under way."""
        if self._simulated_api is not None:
            self._simulated_api[0].cancel()

    def close(self) -> None:
        """Close the simulated API."""
        self._closing.close()

    def answer(self, bound: Bound) -> BrokerReply:
        """Have the simulated API answer a write, which gets its record. Raises: LimitExceeded."""
        tool, planned = bound.target.tool, bound.planned
        assert tool is not None and self._protocol is not None  # else it was refused
        self._recorder.warn_of_doubt(bound, "simulated")
        sender, answerer = self._open(self._protocol)
        if bound.insists:
            from protocols.simulator.http.messages import LENIENT

            planned = replace(planned, headers={**planned.headers, LENIENT[0]: LENIENT[1]})
        tool = replace(tool, envelope=None)
        target = bound.target._replace(tool=tool, base=sender.rules.base_of(tool))
        inner = replace(bound, target=target, planned=planned, insists="")
        reply = answerer.answer(sender.send(inner, lambda: None), url=bound.url, attempts=0, simulated=True)
        return replace(reply, url=bound.url)

    def _open(self, protocol: Protocol) -> tuple[Sender, Answerer]:
        """The way to the simulated API, both made for the first simulated write."""
        with self._lock:
            if self._simulated_api is None:
                from protocols.simulator import Simulator

                reachable = _over_http(protocol)
                simulator = self._closing.enter_context(Simulator(reachable, now=datetime.now(UTC), open=True))
                session = simulator.session(rehearses=True)
                session.satisfy(self._demands)
                redaction = Redaction(tuple(simulator.credentials))
                signer = Signer(simulator.credentials, protocol, lambda _: None)
                rules = EgressRules(protocol, session.base_urls)
                sender = Sender(rules, signer, self._allowance, self._recorder, redaction)
                self._closing.callback(sender.close)
                self._simulated_api = sender, Answerer(self._allowance, self._recorder, redaction, signer)
            return self._simulated_api


def prepare_simulation(protocol: Protocol) -> None:
    """Analyse a protocol whose writes are simulated, before the time of a program counts."""
    from protocols.simulator import Simulator

    reachable = _over_http(protocol)
    if any(tool.writes for tool in reachable.tools):
        Simulator(reachable).prepare()


def _over_http(protocol: Protocol) -> Protocol:
    return protocol.only(tool.name for tool in protocol.tools if tool.function is None)
