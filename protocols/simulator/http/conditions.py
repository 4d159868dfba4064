"""Adverse conditions of a simulated service: delays, transient failures and a rate limit; and its request log.

Failures are drawn from the seed and the request itself, so they are the same in every order of requests. A repeated
request is drawn again.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from protocols.errors import UsageError
from protocols.simulator.http.messages import RequestError
from protocols.simulator.world.seeded_rng import SeededRNG

__all__ = ["FaultInjector", "RequestLog", "ServiceConditions"]

_FAILURES = (503, 500, 502, 429, 503)
_RETRY_AFTER = 1


@dataclass(frozen=True, slots=True)
class ServiceConditions:
    """The delays, failures and limits of a service.

    Args:
        latency: Seconds added to each response.
        fail_rate: The share of requests that fail with 5xx or 429 before any effect; from 0 to 1.
        rate_limit: Requests a second in each session; more are refused with 429. 0 for no limit.
    Raises: UsageError: A number is out of range.
    """

    latency: float = 0.0
    fail_rate: float = 0.0
    rate_limit: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.latency) and self.latency >= 0):
            raise UsageError(f"latency is {self.latency}: it must be 0 seconds or more")
        if not 0 <= self.fail_rate <= 1:
            raise UsageError(f"fail_rate is {self.fail_rate}: it must be from 0 to 1")
        if not (math.isfinite(self.rate_limit) and self.rate_limit >= 0):
            raise UsageError(f"rate_limit is {self.rate_limit}: it must be 0 requests a second (no limit) or more")


class FaultInjector:
    """The conditions in one session. Thread-safe."""

    def __init__(self, conditions: ServiceConditions, *seed: object) -> None:
        self._conditions = conditions
        self._seed = seed
        self._lock = threading.Lock()
        self._request_counts: Counter[tuple[object, ...]] = Counter()
        self._tokens = max(conditions.rate_limit, 1.0)
        self._last = time.monotonic()

    def refusal(self, method: str, target: str, body: bytes) -> RequestError | None:
        """Wait for the latency; return a refusal, or None for a request that gets through."""
        if self._conditions.latency:
            time.sleep(self._conditions.latency)
        with self._lock:
            return self._rate_refusal() or self._failure_refusal(method, target, body)

    def reset(self) -> None:
        """Restart the sequence of failures."""
        with self._lock:
            self._request_counts.clear()

    def _rate_refusal(self) -> RequestError | None:
        rate = self._conditions.rate_limit
        if not rate:
            return None
        now = time.monotonic()
        self._tokens = min(max(rate, 1.0), self._tokens + (now - self._last) * rate)
        self._last = now
        if self._tokens >= 1:
            self._tokens -= 1
            return None
        return RequestError(429, f"more than {rate:g} requests a second", math.ceil((1 - self._tokens) / rate))

    def _failure_refusal(self, method: str, target: str, body: bytes) -> RequestError | None:
        if not self._conditions.fail_rate:
            return None
        request = (method, target, body)
        self._request_counts[request] += 1
        rng = SeededRNG(*self._seed, "failure", *request, self._request_counts[request])
        if rng.fraction() >= self._conditions.fail_rate:
            return None
        status = rng.choose(_FAILURES)
        return RequestError(status, "the service failed; try again", _RETRY_AFTER if status in {429, 503} else 0)


class RequestLog:
    """One JSON line for each request: time, method, path, status, ms and session.

    Query, headers and bodies are left out, because they may hold secrets.

    Raises: UsageError: The file cannot be written.
    """

    def __init__(self, file: Path) -> None:
        try:
            self._file = os.fdopen(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"the log {file} cannot be written: {error.strerror}") from None
        self._lock = threading.Lock()

    def write(self, session: str, method: str, target: str, status: int, seconds: float) -> None:
        """Append a line and flush it."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        path = target.partition("?")[0].partition("#")[0]
        entry = {"time": now, "method": method, "path": path, "status": status, "ms": round(seconds * 1000, 2)}
        with self._lock:
            if not self._file.closed:
                self._file.write(json.dumps({**entry, "session": session}) + "\n")
                self._file.flush()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()
