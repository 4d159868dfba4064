"""OpenTelemetry spans of solves: their tree, their attributes, and what never is in them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from atc import Agent
from atc.apps.tracing import SpanSink
from atc.models.openai_compatible import Endpoint
from tests.atc_command import atc
from tests.chat_endpoint import serve, tool_call
from tests.json_server import listening
from tests.local_api import LocalAPI, document
from tests.scripted import ScriptedModel

SECRET = "s3cr3t-t0ken"
PRIVATE = "Ada Lovelace"
GOOD = 'city = GET_cities(query="Oslo")["results"][0]\nprint(city["name"])'
WRONG_CALL = 'print(GET_cities_city_id(city_id="nowhere")["name"])'
NO_QUERY = 'print(GET_cities()["results"][0]["name"])'
CRASH = 'print(GET_cities(query="Oslo")["results"][5]["name"])'


@pytest.fixture
def weather() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [{"id": "osl", "name": "Oslo", "mayor": PRIVATE, "key": SECRET}]})
        yield api


class Traced:
    """A sink whose spans stay in memory."""

    def __init__(self) -> None:
        self.memory = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.memory))
        self.sink = SpanSink(provider)

    @property
    def spans(self) -> list[ReadableSpan]:
        """Those that ended, by their start."""
        return sorted(self.memory.get_finished_spans(), key=lambda span: span.start_time or 0)

    def tree(self) -> list[tuple[str, str]]:
        """Each span with its parent, by name; by start."""
        names = {span.context.span_id: span.name for span in self.spans if span.context}
        return [(names[span.parent.span_id] if span.parent else "", span.name) for span in self.spans]

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]


def attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def solve(api: LocalAPI, traced: Traced, *programs: str) -> str | None:
    agent = Agent(api.protocol, ScriptedModel(*programs), auth=["bearer:env:TOKEN"], on_event=traced.sink)
    return agent.solve(f"Which city is {PRIVATE} the mayor of?").answer


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", SECRET)


def test_what_a_solve_cost_is_in_its_span(weather: LocalAPI, tmp_path: Path) -> None:
    """In dollars, by the price table, and the limit that ended it; without a price there is no such attribute."""
    table = "{currency: USD, date: 2026-05-01, source: s, models: {scripted: {prompt: 10, cached: 2, completion: 50}}}"
    (tmp_path / "prices.yaml").write_text(table)
    traced = Traced()
    model = ScriptedModel(CRASH, GOOD)
    agent = Agent(weather.protocol, model, on_event=traced.sink, prices=tmp_path / "prices.yaml", max_tokens=1500)
    solution = agent.solve("Which city is it?")
    Agent(weather.protocol, ScriptedModel(GOOD), on_event=traced.sink).solve("Which city is it?")
    known, unknown = map(attributes, traced.named("invoke_agent atc"))

    assert (known["atc.cost.usd"], solution.cost) == (solution.cost, (50 * 10 + 50 * 2 + 20 * 50) * 2 / 1e6)
    assert "atc.cost.usd" not in unknown


def test_a_solve_is_a_tree_of_spans(weather: LocalAPI) -> None:
    """Solve, model call, check and run; a tool call lies below its run, with the names of the conventions."""
    traced = Traced()

    assert solve(weather, traced, GOOD) == "Oslo"

    root = "invoke_agent atc"
    assert traced.tree() == [
        ("", root),
        (root, "chat scripted"),
        (root, "check"),
        (root, "run"),
        ("run", "execute_tool GET_cities"),
    ]
    (agent,), (chat,), (call,) = map(traced.named, (root, "chat scripted", "execute_tool GET_cities"))
    assert chat.kind == SpanKind.CLIENT
    assert attributes(chat).items() >= {
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.request.model", "scripted"),
        ("gen_ai.usage.input_tokens", 100),
        ("gen_ai.usage.output_tokens", 20),
        ("gen_ai.usage.cache_read.input_tokens", 50),
    }
    assert attributes(call).items() >= {
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "GET_cities"),
        ("gen_ai.tool.type", "extension"),
        ("http.request.method", "GET"),
        ("http.response.status_code", 200),
        ("server.address", "127.0.0.1"),
        ("code.line.number", 1),
    }
    assert attributes(agent).items() >= {
        ("gen_ai.operation.name", "invoke_agent"),
        ("gen_ai.agent.name", "atc"),
        ("gen_ai.usage.input_tokens", 100),
        ("atc.status", "answered"),
    }
    assert all(span.status.status_code != StatusCode.ERROR for span in traced.spans)


def test_who_answered_and_the_id_of_a_call_are_in_the_spans(weather: LocalAPI) -> None:
    """Of an endpoint the model that answered and the host; of a call that the model asked for, its own id."""
    traced = Traced()
    with serve() as endpoint:
        endpoint.reply(None, tool_calls=[tool_call("call-7", "GET_cities", '{"query": "Oslo"}')])
        endpoint.text = "Oslo"
        model = Endpoint("asked", base_url=endpoint.url)
        agent = Agent(weather.protocol, model, mode="react", auth=["bearer:env:TOKEN"], on_event=traced.sink)
        answer = agent.solve("Which city is it?").answer
        model.close()
    chats, (call,) = traced.named("chat asked"), traced.named("execute_tool GET_cities")

    assert answer == "Oslo"
    assert attributes(call)["gen_ai.tool.call.id"] == "call-7"
    assert attributes(chats[0]).items() >= {
        ("gen_ai.request.model", "asked"),
        ("gen_ai.response.model", "small"),
        ("server.address", "127.0.0.1"),
    }


def test_a_failed_attempt_is_an_error_that_names_the_tool(weather: LocalAPI) -> None:
    """The stage that failed has the status ERROR, the kind of the fault, and the tool to blame."""
    traced = Traced()

    assert solve(weather, traced, NO_QUERY, WRONG_CALL, CRASH, GOOD) == "Oslo"

    check, *_ = traced.named("check")
    assert check.status.status_code == StatusCode.ERROR
    assert attributes(check)["atc.attribution.tool"] == "GET_cities"
    failed, crashed, good = traced.named("run")
    assert failed.status.status_code == crashed.status.status_code == StatusCode.ERROR
    assert attributes(failed)["atc.attribution.tool"] == "GET_cities_city_id"
    assert attributes(crashed)["error.type"] == "IndexError"
    assert attributes(crashed)["atc.attribution.tool"] == "GET_cities"
    assert good.status.status_code == StatusCode.UNSET
    (rejected,) = traced.named("execute_tool GET_cities_city_id")
    assert attributes(rejected)["error.type"] == "404"


def test_nothing_private_is_in_a_span(weather: LocalAPI) -> None:
    """No question, argument, header, reply, printed text or error message; also where the attempts fail."""
    weather.answer("GET", "/alerts", {"message": f"{SECRET} of {PRIVATE}"}, status=422)
    traced = Traced()
    raises = f'raise ValueError("{PRIVATE}")'

    solve(weather, traced, f"{GOOD}\n{raises}", "GET_alerts()", f'print(GET_cities(query="{PRIVATE}"))')

    assert weather.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    text = "".join(span.to_json() for span in traced.spans)
    assert "execute_tool GET_alerts" in text
    assert not [word for word in (SECRET, PRIVATE, "Oslo", "/cities", "mayor") if word in text]


def test_several_solves_keep_apart(weather: LocalAPI) -> None:
    """One sink, four solves at once: each has a trace of its own with all of its spans."""
    weather.answer("GET", "/cities", {"results": [{"name": "Oslo", "mayor": PRIVATE}]}, wait=0.2)
    traced = Traced()
    threads = [threading.Thread(target=solve, args=(weather, traced, GOOD)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    traces: dict[int, list[str]] = {}
    for span in traced.spans:
        assert span.context
        traces.setdefault(span.context.trace_id, []).append(span.name)
    names = ["chat scripted", "check", "execute_tool GET_cities", "invoke_agent atc", "run"]
    assert [sorted(trace) for trace in traces.values()] == [names] * 4


def test_a_solve_lies_below_the_users_span(weather: LocalAPI) -> None:
    """Spans join the trace of the program that asks."""
    traced = Traced()
    provider = TracerProvider(shutdown_on_exit=False)

    with provider.get_tracer("mine").start_as_current_span("request") as request:
        solve(weather, traced, GOOD)

    (agent,) = traced.named("invoke_agent atc")
    assert agent.parent is not None and agent.parent.span_id == request.get_span_context().span_id


def test_a_broken_span_processor_breaks_no_solve(weather: LocalAPI) -> None:
    """Whatever the tracing does, the question is answered."""

    class Broken(SpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:
            raise RuntimeError("no")

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Broken())
    agent = Agent(weather.protocol, ScriptedModel(GOOD), on_event=SpanSink(provider))

    assert agent.solve("Which city?").answer == "Oslo"


# --- OTLP


@contextmanager
def collector(status: int) -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """A collector on localhost: its URL, and what it got."""
    requests: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/traces":
                requests.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(status)
            self.end_headers()

    with listening(Handler) as url:
        yield url, requests


@pytest.mark.parametrize(("status", "options"), [(200, ["--otel"]), (403, ["--otel"]), (200, [])])
def test_spans_reach_a_collector(
    status: int,
    options: list[str],
    weather: LocalAPI,
    tmp_path: Path,
    endpoint: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`atc solve --otel` sends the spans to where the standard variable says, by the end of the command; one that
    refuses is told in a line without the password of the URL. The variable alone turns nothing on."""
    endpoint(GOOD)
    with collector(status) as (url, requests):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url.replace("//", f"//me:{SECRET}@"))
        (tmp_path / "api.json").write_text(json.dumps(document(weather.url)))
        place = ["--api", tmp_path / "api.json", "--base-url", weather.url, "--auth", "bearer:env:TOKEN"]
        result = atc("solve", "Which city?", *place, "--model", "openai:scripted", *options)
    err = result.stderr

    assert (result.exit_code, result.stdout) == (0, "Oslo\n")
    assert SECRET not in err and "Traceback" not in err
    assert err.count("spans were lost") == (status == 403) and (url in err) == (status == 403)
    assert SECRET not in str(requests) and bool(requests) == bool(options)
    if options and status == 200:
        (resource,) = [spans for request in requests for spans in request.resource_spans]
        spans = [span for scope in resource.scope_spans for span in scope.spans]
        assert {span.name for span in spans} >= {"invoke_agent atc", "chat scripted", "run", "execute_tool GET_cities"}
        named = {entry.key: entry.value.string_value for entry in resource.resource.attributes}
        assert named["service.name"] == "atc"
