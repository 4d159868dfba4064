"""OpenTelemetry spans of solves, made from the event stream: `Agent(..., on_event=SpanSink())`.

    invoke_agent atc
    ├── chat qwen2.5-coder-1.5b      one request to the model for a program, or for the next step
    ├── check                        what is wrong in the program is found before it runs
    └── run                          the program in the sandbox
        └── execute_tool GET_cities  a call of the program

Names and attributes follow the GenAI semantic conventions; what they do not name begins with `atc.`. A span has names,
counts, times and the kind of an error. It has no question, prompt, program, argument, URL path, header, reply or error
message: each of them may hold what is private.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from atc.events import (
    CallMade,
    Event,
    EventSink,
    FaultFound,
    ModelWaiting,
    ProgramWritten,
    RunEnded,
    RunStarted,
    SolveEnded,
    SolveStarted,
)
from protocols.errors import UsageError
from protocols.extras import needs_extra
from protocols.quoting import MOST_TITLE, one_line

try:
    from opentelemetry.trace import Span, SpanKind, StatusCode, TracerProvider, get_tracer, set_span_in_context
except ImportError:
    raise UsageError(needs_extra("a trace", "trace")) from None

if TYPE_CHECKING:
    from atc.fault import Attribution, Fault
    from atc.solution import Solution
    from sandbox.records import CallRecord

__all__ = ["FLUSH_SECONDS", "SpanSink", "export_spans"]

FLUSH_SECONDS = 5.0
"""Most seconds that `export_spans` waits at its end for spans to be taken."""

_METHODS = frozenset({"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"})

_log = logging.getLogger(__name__)

Attributes: TypeAlias = dict[str, str | int | float | bool]


@dataclass
class _OpenSolve:
    """The open spans of one solve. `stage` is that of its current stage, and `ended` its end in nanoseconds once that
    is known: a fault that is found afterwards still belongs to it. `checked` is the start of the check, and `call_id`
    is the model's own id for the call that is made next."""

    root: Span
    model: str
    stage: Span | None = None
    ended: int | None = None
    checked: int | None = None
    call_id: str = ""


class SpanSink:
    """A reader of events that makes spans of them. It follows several solves at once, from any thread.

    A failure in the tracing is logged and never reaches the solve. A solve is a child of the span that is current where
    it starts.

    Args:
        provider: Where spans go; by default OpenTelemetry's global provider.
    """

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer = get_tracer("atc", tracer_provider=provider)
        self._solves: dict[str, _OpenSolve] = {}
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        try:
            with self._lock:
                self._read(event)
        except Exception:  # a span processor of the user's may fail in any way
            _log.exception("an event could not be traced")

    def close(self) -> None:
        """End the spans of solves that ended without an outcome, as failed."""
        with self._lock:
            while self._solves:
                solve = self._solves.popitem()[1]
                _finish(solve)
                _fail(solve.root, "_OTHER")
                solve.root.end()

    def _read(self, event: Event) -> None:
        now = time.time_ns()
        if isinstance(event, SolveStarted):
            self._solves[event.solve] = self._started(event)
            return
        solve = self._solves.get(event.solve)
        if solve is None:
            return
        match event:
            case ModelWaiting():
                name = f"chat {_model(solve.model)[1]}"
                attributes = {"gen_ai.operation.name": "chat", **_model_attributes(solve.model)}
                self._begin(solve, name, attributes, now, SpanKind.CLIENT)
            case ProgramWritten(_, _, usage):
                solve.call_id = one_line(event.call_id, MOST_TITLE)
                if solve.stage is not None and usage.model_calls:
                    solve.stage.set_attributes(_usage_attributes(usage.counts()) | _server(event.server))
                    if event.model:
                        solve.stage.set_attribute("gen_ai.response.model", one_line(event.model, MOST_TITLE))
                    solve.ended = solve.ended or now
                solve.checked = now
            case RunStarted():
                self._check(solve, now)
                _finish(solve)
                self._begin(solve, "run", {}, now)
            case CallMade(_, call):
                solve.checked = None
                self._call(solve, call, now)
            case RunEnded(_, run):
                solve.ended = now
                if solve.stage is not None:
                    solve.stage.set_attribute("atc.run.outcome", run.outcome)
            case FaultFound(_, fault, attribution):
                if fault.stage == "check":
                    self._check(solve, now)
                if solve.stage is not None:
                    _blame(solve.stage, fault, attribution)
                _finish(solve)
                solve.checked = None
            case SolveEnded(solution):
                if solve.stage is not None and solve.ended is None and solution.status != "answered":
                    _fail(solve.stage, solution.status)
                _finish(solve)
                _end(solve.root, solution)
                del self._solves[event.solve]

    def _started(self, event: SolveStarted) -> _OpenSolve:
        root = self._tracer.start_span(
            "invoke_agent atc",
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "atc",
                "atc.solve.id": event.solve,
                "atc.tools": len(event.tools),
                **_model_attributes(event.model),
            },
        )
        return _OpenSolve(root, event.model)

    def _begin(
        self, solve: _OpenSolve, name: str, attributes: Attributes, start: int, kind: SpanKind = SpanKind.INTERNAL
    ) -> None:
        """End the current stage of a solve, and begin the next one."""
        _finish(solve)
        context = set_span_in_context(solve.root)
        solve.stage = self._tracer.start_span(name, context, kind=kind, attributes=attributes, start_time=start)

    def _check(self, solve: _OpenSolve, now: int) -> None:
        """The check that was under way is the current stage, and over."""
        if solve.checked is not None:
            self._begin(solve, "check", {}, solve.checked)
            solve.ended, solve.checked = now, None

    def _call(self, solve: _OpenSolve, call: CallRecord, now: int) -> None:
        """The span of a call, below the run; below the solve in the modes that make one call at a time."""
        running = solve.stage if solve.ended is None else None
        start = now if call.replayed else now - int(call.ms * 1e6)
        span = self._tracer.start_span(
            f"execute_tool {call.tool}" if call.tool is not None else call.method,
            set_span_in_context(running or solve.root),
            attributes=_call_attributes(call),
            start_time=start,
        )
        if solve.call_id:
            span.set_attribute("gen_ai.tool.call.id", solve.call_id)
            solve.call_id = ""
        if call.status is None or call.status >= 400:
            _fail(span, str(call.status or ("refused" if call.refused else "_OTHER")))
        span.end(now)


@contextmanager
def export_spans(warn: Callable[[str], None]) -> Iterator[EventSink]:
    """A reader of events whose spans go to an OpenTelemetry collector (OTLP over HTTP) while the block runs.

    The standard variables say where and how: `OTEL_EXPORTER_OTLP_ENDPOINT` (`http://localhost:4318` by default),
    `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` and their like.

    Args:
        warn: Told in one line, at the end, that spans were lost.
    Raises: UsageError: OpenTelemetry is not installed, or one of the variables is malformed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise UsageError(needs_extra("a trace", "trace")) from None
    try:
        exporter = OTLPSpanExporter()
        resource = Resource.create()
        if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
            resource = resource.merge(Resource({SERVICE_NAME: "atc"}))
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(exporter))
    except ValueError as error:
        raise UsageError(f"the OTEL_ variables of the environment cannot be used: {error}") from None
    problems = _Problems()
    logger = logging.getLogger("opentelemetry")
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(problems)
    sink = SpanSink(provider)
    try:
        yield sink
    finally:
        sink.close()
        flushing = threading.Thread(target=provider.shutdown, daemon=True)
        flushing.start()
        flushing.join(FLUSH_SECONDS)
        if flushing.is_alive() or problems.seen:
            why = "does not answer in time" if flushing.is_alive() else "cannot be reached, or refuses them"
            names = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
            parts = urlsplit(next(filter(None, map(os.environ.get, names)), "http://localhost:4318"))
            collector = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
            warn(f"spans were lost: the collector at {collector} {why}; see OTEL_EXPORTER_OTLP_ENDPOINT")
        else:
            logger.removeHandler(problems)
            logger.propagate = propagated


class _Problems(logging.Handler):
    """Takes the log of the exporter, whose lines would break into a live view, and may hold a URL with a password."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.seen = False

    def emit(self, record: logging.LogRecord) -> None:
        self.seen = True


def _finish(solve: _OpenSolve) -> None:
    """End the current stage of a solve, at the time at which it was over."""
    if solve.stage is not None:
        solve.stage.end(solve.ended)
    solve.stage, solve.ended = None, None


def _fail(span: Span, kind: str) -> None:
    span.set_status(StatusCode.ERROR)
    span.set_attribute("error.type", kind)


def _blame(span: Span, fault: Fault, attribution: Attribution) -> None:
    """Mark a stage as the one in which an attempt failed, with the tool to blame."""
    _fail(span, fault.type)
    named = {"how": attribution.how, "tool": attribution.tool, "call": attribution.call}
    span.set_attribute("atc.fault.stage", fault.stage)
    span.set_attributes(_present({f"atc.attribution.{name}": value for name, value in named.items()}))


def _end(root: Span, solution: Solution) -> None:
    root.set_attributes(_usage_attributes(solution.usage.counts()))
    outcome = {
        "atc.status": solution.status,
        "atc.reflections": solution.reflections,
        "atc.cost.usd": solution.cost,
        "atc.limit": solution.limit,
        "gen_ai.agent.version": solution.versions.get("atc"),
        "atc.standing": solution.standing,
    }
    root.set_attributes(_present(outcome))
    if solution.status != "answered":
        _fail(root, solution.status)
    root.end()


def _present(values: Mapping[str, str | int | float | bool | None]) -> Attributes:
    """The attributes that have a value."""
    return {name: value for name, value in values.items() if value is not None}


def _model(name: str) -> tuple[str, str]:
    """Provider and model of a name such as `openai:gpt-4.1`."""
    provider, colon, model = name.partition(":")
    return (provider, model) if colon else ("_OTHER", name or "unknown")


def _model_attributes(name: str) -> Attributes:
    provider, model = _model(name)
    return {"gen_ai.provider.name": provider, "gen_ai.request.model": model}


def _usage_attributes(counts: Mapping[str, int]) -> Attributes:
    return {
        "gen_ai.usage.input_tokens": counts["prompt_tokens"],
        "gen_ai.usage.output_tokens": counts["completion_tokens"],
        "gen_ai.usage.cache_read.input_tokens": counts["cached_tokens"],
        "atc.model_calls": counts["model_calls"],
    }


def _call_attributes(call: CallRecord) -> Attributes:
    is_request = call.method in _METHODS
    attributes = {
        "atc.call.index": call.index,
        "gen_ai.operation.name": "execute_tool" if call.tool is not None else None,
        "gen_ai.tool.name": call.tool,
        "code.line.number": call.line,
        "atc.call.replayed": call.replayed or None,
        "atc.call.refused": call.refused or None,
        "atc.call.simulated": call.simulated or None,
        "gen_ai.tool.type": "extension" if is_request else "function",
    }
    if is_request:
        attributes |= {
            "http.request.method": call.method,
            "http.response.status_code": call.status,
            "http.request.resend_count": call.attempts - 1 if call.attempts > 1 else None,
        }
    return _present(attributes) | (_server(call.url) if is_request else {})


def _server(url: str) -> Attributes:
    """Host and port of a URL; nothing of one that has none."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return {}
    return _present({"server.address": parts.hostname, "server.port": port or None}) if parts.hostname else {}
