"""The figures of a server for Prometheus. One process counts them, so the library needs no files to share them."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from atc.apps.server.messages import Ended
from atc.apps.server.pool import SolverPool

__all__ = ["ServerMetrics"]

_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class ServerMetrics:
    """Counters since the start, and the present state of the processes."""

    def __init__(self, pool: SolverPool) -> None:
        self._registry = registry = CollectorRegistry()
        self.solves = Counter("atc_solves", "Solves that are over.", ["status"], registry=registry)
        self._tokens = Counter("atc_model_tokens", "Tokens of the model.", ["kind"], registry=registry)
        self._calls = Counter("atc_model_calls", "Requests to the model.", registry=registry)
        self._cost = Counter("atc_model_cost_usd", "US dollars, by the price table.", registry=registry)
        self.replies = Counter("atc_http_requests", "Answers by HTTP status.", ["code"], registry=registry)
        self.seconds = Histogram("atc_http_solve_seconds", "Synchronous solves.", buckets=_SECONDS, registry=registry)
        gauges = (
            ("atc_solves_running", "Solves that a process has.", lambda: pool.running),
            ("atc_solves_waiting", "Solves that wait for a process.", lambda: pool.waiting),
            ("atc_solver_processes", "Processes that take solves.", lambda: pool.ready),
        )
        for name, text, value in gauges:
            Gauge(name, text, registry=registry).set_function(value)

    def ended(self, message: Ended) -> None:
        """A solve has a solution."""
        self.solves.labels(message.status).inc()
        self._calls.inc(message.tokens["model_calls"])
        self._cost.inc(message.cost or 0.0)
        for kind in ("prompt", "completion"):
            self._tokens.labels(kind).inc(message.tokens[f"{kind}_tokens"])

    def text(self) -> bytes:
        """All of it in Prometheus's text format."""
        return generate_latest(self._registry)
