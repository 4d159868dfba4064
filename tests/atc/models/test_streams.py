"""Answers that come in parts: thoughts are seen and kept nowhere, and a stream that hangs or breaks is no answer."""

from __future__ import annotations

import io
import json
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from atc import Agent, Endpoint, Event, ModelProgress, ModelWaiting, Progress, Solution
from atc.apps.cli import main
from atc.apps.tui.live import LiveView
from atc.apps.tui.parts import progress_text
from atc.models import Message, open_model
from atc.models.base import split_reasoning
from protocols import load
from protocols.errors import ModelError, UsageError
from protocols.samples import sample
from tests.atc_command import ATC
from tests.chat_endpoint import ChatEndpoint, serve
from tests.provider_api import serve_provider

QUESTION = [Message("user", "What is the best film?")]
PROGRAM = "```python\nprint(GET_films_top_rated()['films'][0]['title'])\n```"
WRONG = "```python\nprint(GET_films_top_rated()['films'][99]['title'])\n```"


@pytest.fixture
def chat() -> Iterator[ChatEndpoint]:
    with serve() as state:
        yield state


def solve(chat: ChatEndpoint, **options: Any) -> Solution:
    """A solve over the simulated cinema, with the endpoint's model."""
    with Agent(load(sample("cinema")), Endpoint("m", base_url=chat.url), simulate=True, **options) as agent:
        return agent.solve("What is the best film?")


# Thoughts


@pytest.mark.parametrize(
    ("name", "thoughts", "opening"),
    [
        ("reasoning_content", ("Films have ", "a rating."), ""),
        ("reasoning", ("Films have ", "a rating."), ""),
        ("", (), "<think>Films have a rating.</think>\n\n"),
    ],
)
def test_thoughts_are_events_and_nothing_else(
    chat: ChatEndpoint, name: str, thoughts: tuple[str, ...], opening: str
) -> None:
    """Progress has them apart; no prompt, program, note or solution does."""
    chat.thoughts, chat.thoughts_name = thoughts, name
    chat.pieces = (*opening, WRONG)
    events: list[Event] = []

    solution = solve(chat, on_event=events.append)

    progress = [event.progress for event in events if isinstance(event, ModelProgress)]
    assert [step.reasoning for step in progress if not step.text][-1] == "Films have a rating."
    assert progress[-1].text == WRONG
    assert len(chat.requests) > 1
    assert "have a rating" not in json.dumps([chat.requests, solution.to_json()])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("<think>a\n```python\nx\n```</think>\nprint(1)", ("a\n```python\nx\n```", "print(1)")),
        ("a</think>\n\nprint(1)", ("a", "print(1)")),
        ("<think>without an end", ("without an end", "")),
        ("<think></think>print(1)", ("", "print(1)")),
        ("print(1)", ("", "print(1)")),
        ("```python\nprint('</think>')\n```", ("", "```python\nprint('</think>')\n```")),
    ],
)
def test_where_thoughts_end(text: str, parts: tuple[str, str]) -> None:
    """The first tag may be in the prompt; a program may hold one."""
    assert split_reasoning(text) == parts


def test_thoughts_are_shown_dimmed() -> None:
    """The last lines of them, until the answer begins; what a terminal would do is shown as text."""
    sent = io.StringIO()
    console = Console(file=sent, force_terminal=True, width=60, height=20)
    view = LiveView(console)
    view(ModelWaiting(1))
    view(ModelProgress(1, Progress(0, 0, reasoning="\n".join(f"thought {number}\x1b[2J" for number in range(40)))))
    console.print(view.moving())
    thinking = sent.getvalue()
    view(ModelProgress(1, Progress(0, 0, "print(1)", reasoning="thought 39")))
    console.print(view.moving())

    assert "the model thinks" in thinking and "thought 10\n" not in thinking
    assert "\x1b[2mthought 39" in thinking and "\x1b[2J" not in thinking
    assert thinking.count("\n") < 20
    assert "thought" not in sent.getvalue()[len(thinking) :]
    assert progress_text(Progress(0, 0, reasoning="abc")) == "thinks · 3 characters"


def test_an_answer_of_thoughts_alone(chat: ChatEndpoint) -> None:
    """An answer that is cut before it begins is not continued; the message says where its tokens went."""
    chat.text = "<think>" + "Perhaps. " * 50
    body = json.loads(chat.answer({})[2])
    body["choices"][0]["finish_reason"] = "length"
    chat.replies = [(200, {}, json.dumps(body))] * 4

    solution = solve(chat)

    assert len(chat.requests) == len(solution.attempts) == 4
    assert "4096 tokens went into thoughts before an answer" in solution.message


# Streams that end badly


def test_silence_in_the_middle_of_an_answer(chat: ChatEndpoint) -> None:
    """The limit counts from the last byte on; the connection is closed."""
    chat.pieces, chat.hangs = ("print(",), True

    with pytest.raises(ModelError, match=r"was silent for 0\.5 seconds in the middle of its answer"):
        Endpoint("m", base_url=chat.url, silence=0.5).complete(QUESTION)
    assert chat.closed.wait(60)
    assert len(chat.requests) == 1


def test_an_endpoint_that_never_answers() -> None:
    """It is asked three times, as the message says."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        with pytest.raises(ModelError, match=r"was silent for 0\.1 seconds, 3 times"):
            Endpoint("m", base_url=url, silence=0.1).complete(QUESTION)


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        ("200 OK", "text/event-stream", "broke off in the middle of the answer"),
        ("200 OK", "application/json", "broke off in the middle of the answer"),
        ("400 Bad Request", "application/json", "broke off in the middle of an error"),
    ],
)
def test_a_connection_that_is_lost_in_the_middle_of_an_answer(status: str, kind: str, message: str) -> None:
    """A body that is shorter than it says is told as half an answer, not as a stack trace."""
    chunk = 'data: {"choices": [{"index": 0, "delta": {"content": "print("}, "finish_reason": null}]}\n\n'
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: 9999\r\n\r\n"

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            lines = iter(self.rfile.readline, b"\r\n")
            length = next(
                int(line.split(b":")[1]) for line in list(lines) if line.lower().startswith(b"content-length")
            )
            self.rfile.read(length)
            self.wfile.write((head + chunk).encode())

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(ModelError, match=message):
            Endpoint("m", base_url=f"http://127.0.0.1:{server.server_address[1]}/v1").complete(QUESTION)
        server.shutdown()


def test_half_a_stream_ends_a_solve_with_one_sentence(chat: ChatEndpoint) -> None:
    """No half program is run."""
    chat.pieces, chat.ends = (PROGRAM[:-10],), False

    solution = solve(chat)

    assert (solution.status, len(solution.calls)) == ("model_error", 0)
    assert "broke off in the middle of the answer" in solution.message


def ask_and_interrupt(model: str, opened: threading.Event) -> int:
    """Press ctrl-C in `atc solve` once an answer is on its way; its exit code."""
    command = [ATC, "solve", "Best film?", "--api", str(sample("cinema")), "--simulate", "--model", model]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert opened.wait(120), process.communicate()
    process.send_signal(signal.SIGINT)
    process.communicate()
    return process.returncode


def test_ctrl_c_closes_the_connection_to_an_endpoint(chat: ChatEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """While an answer is on its way: exit 130, and the endpoint sees that nobody waits."""
    monkeypatch.setenv("OPENAI_BASE_URL", chat.url)
    chat.pieces, chat.hangs = ("print(",), True

    assert ask_and_interrupt("openai:m", chat.opened) == 130
    assert chat.closed.wait(60)


@pytest.mark.providers
def test_ctrl_c_closes_the_connection_to_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for a provider with a client of its own."""
    with serve_provider("anthropic") as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "key-0123456789")
        api.hangs = True

        assert ask_and_interrupt("anthropic:m", api.opened) == 130
        assert api.closed.wait(60)


# The limit of silence


@pytest.mark.parametrize("silence", [0, -1, float("nan"), float("inf"), "abc", True])
def test_a_limit_of_silence_is_a_number_of_seconds(silence: Any) -> None:
    """Anything else is refused where it is given, and 0 is not taken for the default."""
    for opened in (
        lambda: Endpoint("m", base_url="http://127.0.0.1:9/v1", silence=silence),
        lambda: open_model("openai:m", silence=silence),
        lambda: Agent(load(sample("cinema")), lambda messages: PROGRAM, silence=silence),
    ):
        with pytest.raises(UsageError, match=r"silence is .*: it must be a number of seconds"):
            opened()


def test_the_limit_of_silence_is_an_option(chat: ChatEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the model, of the agent, of the command, and of `atc.toml`."""
    chat.pieces, chat.hangs = ("print(",), True
    monkeypatch.setenv("OPENAI_BASE_URL", chat.url)
    says = "was silent for 0.25 seconds"
    with Agent(load(sample("cinema")), "openai:m", simulate=True, silence=0.25) as agent:
        assert says in agent.solve("Best film?").message
    (tmp_path / "atc.toml").write_text(f'api = "{sample("cinema")}"\nsimulate = true\nsilence = 0.25\n')
    monkeypatch.setenv("ATC_CONFIG", str(tmp_path / "atc.toml"))
    for options in ([], ["--silence", "0.125"]):
        done = CliRunner().invoke(main, ["solve", "Best film?", "--model", "openai:m", *options])
        assert done.exit_code == 5
        assert says.replace("0.25", options[-1] if options else "0.25") in done.stderr
