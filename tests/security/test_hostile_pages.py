"""What is read of a solve is text: on pages, terminals, in notebooks, events, spans and files; and the reader survives.

Everything that a stranger writes is there: replies and their keys, prints, notes, thoughts, questions, names, numbers.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from rich.console import Console

from atc import Agent
from atc.apps.page.environment import page_environment, trace_page
from atc.apps.server.solver import ended_with
from atc.apps.tracing import SpanSink
from atc.apps.tui.attempt import program_code, revision_lines
from atc.apps.tui.lines import LineView
from atc.apps.tui.live import LiveView
from atc.apps.tui.parts import tree_text
from atc.apps.tui.text import format_answer
from atc.events import EventSink
from atc.models.openai_compatible import Endpoint
from atc.solution import Solution
from atc.solution_file import solution_of
from protocols import load
from tests.browser import Browser, open_browser
from tests.chat_endpoint import completion, serve
from tests.protocols.wire.service import Service
from tests.scripted import ScriptedModel
from tests.security.poisoned import POISON, acts, poisoned_document, poisoned_reply

READ = "note = GET_notes(kind='a')\n"
MARKUP = (
    '"><script>document.title="owned"</script><img src=x onerror=alert(1)><a href="javascript:alert(1)">a</a>'
    "{{7919*7919}}${7919*7919}[b](data:text/html,x)<svg/onload=alert(1)><math><style>*{display:none}</style>"
    "\x1b]8;;https://evil.example\x1b\\click\x9d[bold][link=x]\x00"
)
LINK = "\x1b]8;;https://evil.example\x1b\\click\x9d8;;x\x9c[bold red]rich[/]\x1b[?1049h\r atc: forged\x00\u200e"


View: TypeAlias = Callable[[Callable[[str], None], Console], EventSink]


def block(program: str) -> str:
    return f"```python\n{program}\n```"


@cache
def solved(*answers: str, sink: EventSink | None = None, profile: str = "large") -> Solution:
    """A solve of a poisoned document whose service says poisoned things."""
    with Service(lambda request: (200, {}, poisoned_reply())) as service:
        model = ScriptedModel(*answers, *answers[-1:] * 4)
        protocol = load(poisoned_document(service.url))
        with Agent(protocol, model, profile=profile, writes="deny", on_event=sink) as agent:
            return agent.solve(f"Which notes? {LINK}")


def stored(**changes: object) -> dict[str, Any]:
    """A solution as JSON: a program that failed, one that answered, poisoned calls."""
    answers = [
        f"I note {POISON.replace('```', '')}\n{block(READ + wrong)}"
        for wrong in ("print(note['nothing'])", "print(note['note'])")
    ]
    return {**solved(*answers).to_json(), **changes}


def marked(value: Any, key: str = "") -> Any:
    """The same with markup behind each text that may be any."""
    if isinstance(value, str):
        closed = ("status", "outcome", "mode", "how", "stage", "standing", "kind", "origin", "method", "style")
        return value if key in closed else value + MARKUP
    if isinstance(value, list):
        return [marked(item, key) for item in value]
    return {name: marked(item, name) for name, item in value.items()} if isinstance(value, dict) else value


def poisoned_solution() -> Solution:
    tree = [
        {"id": 1, "parent": 2, "trial": 1, "thought": POISON, "outcome": "open", "steps": []},
        {"id": 2, "parent": 2, "trial": -5, "thought": MARKUP, "outcome": "error", "why": POISON, "steps": [
            {"name": POISON, "arguments": {POISON: MARKUP}, "observation": POISON, "code": 3, "text": POISON}
        ]},
    ]  # fmt: skip
    data = marked(stored(warnings=[POISON], message=POISON, versions={POISON: MARKUP}))
    return solution_of({**data, "tree": tree, "seconds": {"a\n<b>": float("nan"), "total": 1e308}}, "f")


def painted(view: View, *answers: str) -> str:
    """What a view shows of a solve."""
    lines: list[str] = []
    console = Console(file=io.StringIO(), force_terminal=True, color_system=None, width=120, height=50)
    sink = view(lines.append, console)
    if isinstance(sink, LiveView):
        with sink:
            solved(*answers, sink=sink)
        assert isinstance(console.file, io.StringIO)
        return console.file.getvalue()
    solved(*answers, sink=sink)
    return "\n".join(lines)


VIEWS: dict[str, View] = {
    "lines": lambda write, console: LineView(write, verbose=True),
    "live": lambda write, console: LiveView(console, verbose=True),
}
PROGRAMS = {
    "a link of a terminal": f"print({LINK!r})",
    "a poisoned value": f"{READ}print(note['note'])",
    "a poisoned key": f"{READ}print(list(note)[0])",
    "a key that is missing": f"{READ}print(note['nothing'])",
    "a set in a set": "print('{{1}: 2}')",
    "a list as a key": "print('{[1]: 2}')",
    "digits": "print('[0x' + 'f' * 5000 + ']')",
    "a surrogate": "print('\\ud800')",
    "an error of its own": f"{READ}raise ValueError(note['note'])",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
@pytest.mark.parametrize("view", VIEWS.values(), ids=list(VIEWS))
def test_no_view_of_a_solve_is_acted_on_or_fails(view: View, program: str) -> None:
    text = painted(view, f"I note {LINK}\n{block(program)}")

    assert not [sign for sign in ("\x1b]8", "\x9d", "\x9c", "\x00", "\u200e", "\u202e", "\x9b") if sign in text]
    assert not [line for line in text.replace("\r", "\n").split("\n") if line.startswith(" atc: forged")]


@pytest.mark.parametrize("view", VIEWS.values(), ids=list(VIEWS))
def test_a_note_of_the_model_has_no_line_like_ours(
    view: View,
) -> None:
    """Neither a verdict nor a call."""
    forged = "supported: nothing was found that speaks against it\nattempt 1: 200   12 ms  GET_safe()"
    lines = painted(view, f"{forged}\n{block('print(1)')}").split("\n")

    assert f"note: {forged.splitlines()[0]}" in [line.rstrip() for line in lines]
    assert not set(forged.splitlines()) & {line.rstrip() for line in lines}


@pytest.mark.parametrize(
    "answer",
    ["{[1]: 2}", "{{1}: 2}", "{[1]}", f"[0x{'f' * 5000}]", "{" * 5000, "(" * 9999, "[\x00]", "[]"],
)
def test_what_is_nearly_a_value_is_shown_as_it_is(answer: str) -> None:
    assert format_answer(answer) == answer


def spans(model: Any, url: str) -> list[Any]:
    """The spans of a solve by a model."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with Agent(load(poisoned_document(url)), model, writes="deny", on_event=SpanSink(provider)) as agent:
        agent.solve("Which notes?")
    return list(exporter.get_finished_spans())


def test_spans_have_nothing_that_an_endpoint_or_a_reply_made_up() -> None:
    """A model that is called 300 kB; exceptions that a program names after a reply."""
    named = completion(block(READ + "raise type(note['note'], (Exception,), {})('x')"))
    with serve() as endpoint, Service(lambda request: (200, {}, poisoned_reply())) as service:
        endpoint.replies = [(200, {}, json.dumps({**named, "model": f"m{POISON}{'x' * 300_000}"}))] * 4
        recorded = spans(Endpoint("x", base_url=endpoint.url, api_key="k"), service.url)
    texts = [str(value) for span in recorded for value in (span.name, *span.attributes.values())]

    encode_spans(recorded)
    assert max(map(len, texts)) <= 100 and acts("\n".join(texts)) == ""
    assert [text for text in texts if "INJECTED" in text and not text.startswith("mevil")] == []


def test_a_notebook_shows_signs() -> None:
    """In question, answer, program and names of tools."""
    html = poisoned_solution()._repr_html_()

    assert not [sign for sign in ("\x1b", "\u202e", "\x9b", "\x00", "<script", "<img", "<svg") if sign in html]


def test_events_and_solutions_of_a_server_are_json() -> None:
    """Also where a service says NaN: a browser reads no such thing, and would ask for it again and again."""
    data = stored(evidence=[])
    data["attempts"][-1]["calls"][0]["response"] = {"level": float("nan"), "all": [float("inf"), -float("inf"), "NaN"]}
    text = ended_with("id", data).solution

    def refuse(name: str) -> object:
        raise ValueError(name)

    response = json.loads(text, parse_constant=refuse)["attempts"][-1]["calls"][0]["response"]
    assert response == {"level": None, "all": [None, None, "NaN"]}


def two(before: str, after: str) -> Solution:
    """A solution of two programs."""
    data = stored()
    data["attempts"][0]["program"], data["attempts"][1]["program"] = before, after
    return solution_of(data, "f")


LONG = ("\n".join(["x = 1", "y = 2"] * 20_000), "\n".join(["y = 2", "x = 1", "z = 3"] * 13_000))
LARGE: Mapping[str, Callable[[], object]] = {
    "the diff of two programs on a page": lambda: trace_page(two(*LONG)),
    "the same on a terminal": lambda: revision_lines(*LONG),
    "a program of 100,000 lines and calls": lambda: program_lines("x\n" * 100_000, [{"line": 1}] * 100_000),
    "a program of one quotation mark": lambda: draw(program_code('"' * 100_000)),
    "a program of formatted texts": lambda: draw(program_code("f'{" * 30_000)),
    "a search of 30,000 messages": lambda: draw(tree_text(chain(30_000, 1))),
    "one that forks at each": lambda: trace_page(solution_of(stored(tree=nodes(9_000, 2)), "f")),
    "a reply 240 levels deep": lambda: trace_page(deep()),
    "a cost without bounds": lambda: trace_page(solution_of(stored(cost=float("inf")), "f")),
    "4,000 digits of seconds": lambda: trace_page(solution_of(stored(seconds={"total": "9" * 4000}), "f")),
}


def program_lines(program: str, calls: list[dict[str, int]]) -> None:
    template = page_environment().from_string("{{ program_lines(attempt)|length }}")
    template.render(attempt={"program": program, "calls": calls})


def draw(part: Any) -> None:
    Console(file=io.StringIO(), force_terminal=True, width=100).print(part)


def nodes(number: int, width: int) -> list[dict[str, object]]:
    common = {"trial": 1, "thought": "x", "outcome": "open", "steps": []}
    return [{"id": id, "parent": (id - 1) if width == 1 else id // width, **common} for id in range(1, number + 1)]


def chain(number: int, width: int) -> Any:
    return solution_of(stored(tree=nodes(number, width)), "f").tree


def deep() -> Solution:
    data, value = stored(), 1
    for _ in range(240):
        value = [value]  # type: ignore[assignment]
    data["attempts"][-1]["calls"][0]["response"] = value
    return solution_of(data, "f")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("step", LARGE.values(), ids=list(LARGE))
def test_what_is_large_or_deep_is_shown(step: Callable[[], object]) -> None:
    step()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as window:
        yield window


@pytest.mark.browser
def test_a_page_is_text_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    """Every text of the solution is markup, style, script, template and signs that act: nothing runs or loads."""
    page = tmp_path / "page.html"
    page.write_text(trace_page(poisoned_solution()), "utf-8")
    browser.open(page)
    browser.run("document.querySelectorAll('details').forEach(part => part.open = true)")
    time.sleep(0.2)

    assert browser.run("return document.title") == "atc trace"
    assert browser.count("script, img, svg, math, iframe, object, link, base, form, main style") == 0
    assert browser.run("return [...document.links].every(link => link.getAttribute('href').startsWith('#'))")
    text = browser.run("return document.body.innerText")
    assert "{{7919*7919}}" in text and "62710561" not in text and "<U+202E>" in text
    assert browser.run("return getComputedStyle(document.querySelector('main')).display") == "block"
    assert browser.logged() == []


@pytest.mark.browser
def test_the_page_of_a_server_spells_out_what_takes_no_room(browser: Browser) -> None:
    """Its own function, on tags, fillers, joiners and marks of direction; a family of emoji keeps its letters."""
    script = (Path(__file__).parents[2] / "atc/apps/server/static/ui.js").read_text()
    source = script[script.index("const ACTING") : script.index("const json")]
    hidden = "\U000e0041\u3164\u2800\u034f\u115f\uffa0\u202e\u200b\x1b\x9b\r\ufeff"
    spelled = browser.run(f"{source} return visible({json.dumps('a' + hidden + 'b😀')})")

    assert spelled == "a" + "".join(f"<U+{ord(sign):04X}>" for sign in hidden) + "b😀"
