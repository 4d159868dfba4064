"""Fixtures that every test may use."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from atc.engines.files import installed
from benchmarks.tasks.download import folders
from tests.browser import DRIVER
from tests.json_server import listening
from tests.pythons import interpreter

# A run in the background ignores ctrl-C, and so would every process that a test starts in order to interrupt it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Threads of several processes that train at once sleep while they wait for one another, and take no core.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# As wherever this is not set: the processes that tests start, some 700, would compile our modules again: 0.3 s each.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ATC_DATA", ROOT.parent / "shared" / "data"))
LEFT_OUT = pytest.StashKey[dict[str, int]]()

EXTRAS = {
    "hf": "torch",
    "inspect": "inspect_ai",
    "local": "xllamacpp",
    "manipulation": "ironcalc",
    "openvino": "openvino_genai",
    "providers": "any_llm",
    "ray": "ray",
    "train": "peft",
}
"""A package of each extra whose tests have a marker of that name."""

MISSING = {
    extra: f"there is no {package} (pip install -c constraints.txt '.[{extra}]')"
    for extra, package in EXTRAS.items()
    if importlib.util.find_spec(package) is None
}
"""The extras that are not installed, and what to do."""


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real benchmark data: `ATC_DATA`, else `../shared/data` beside the checkout.

    Without it the tests that ask for it are no part of the run; what they try on real documents the others try on
    the samples in tests/samples.
    """
    return DATA


@pytest.hookimpl(tryfirst=True)  # before the processes are given their shares
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs benchmark data, the local model or a browser, where there is none; it is said at the end."""
    left_out: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not (DATA / "restbench").is_dir() and "data" in getattr(item, "fixturenames", ()):
            left_out.setdefault(f"no benchmark data at {DATA} (set ATC_DATA)", []).append(item)
        elif (files := item.get_closest_marker("document")) and not any(map(_at_hand, files.args)):
            folder = files.args[0].partition("/")[0]
            left_out.setdefault(f"no {files.args[0]} (atc data pull {folder})", []).append(item)
        elif item.get_closest_marker("model") and not installed():
            left_out.setdefault("the local model is not on disk (make model)", []).append(item)
        elif missing := next((why for mark, why in MISSING.items() if item.get_closest_marker(mark)), None):
            left_out.setdefault(missing, []).append(item)
        elif item.get_closest_marker("browser") and not DRIVER:
            left_out.setdefault("there is no browser (apt-get install chromium-driver)", []).append(item)
        elif (python := item.get_closest_marker("python")) and interpreter(python.args[0]) is None:
            left_out.setdefault(f"there is no Python {python.args[0]}", []).append(item)
        elif item.get_closest_marker("docker") and not _has_engine():
            left_out.setdefault("there is no Docker engine (docker info)", []).append(item)
    for needing in left_out.values():
        config.hook.pytest_deselected(items=needing)
        items[:] = [item for item in items if item not in needing]
    config.stash[LEFT_OUT] = {why: len(needing) for why, needing in left_out.items()}
    for item in items:
        if item.get_closest_marker("model"):  # one process reads the model, and no two ask it at once
            item.add_marker(pytest.mark.xdist_group("model"))
            item.add_marker(pytest.mark.timeout(900))
        elif _shares_what_its_module_makes(item):  # it is made once, and not by each process
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    # Groups start first, the larger ones before the others; then what is left in this order. The 2,000 quick tests of
    # protocols come last, so that all processes end together.
    items.sort(key=lambda item: item.nodeid.startswith("tests/protocols"))


def _shares_what_its_module_makes(item: pytest.Item) -> bool:
    """Whether it uses a fixture that is made once for its module."""
    info = getattr(item, "_fixtureinfo", None)
    return info is not None and any(
        fixture.scope == "module" for fixtures in info.name2fixturedefs.values() for fixture in fixtures
    )


@functools.cache
def _has_engine() -> bool:
    docker = shutil.which("docker")
    return docker is not None and subprocess.run([docker, "info"], capture_output=True).returncode == 0


def _at_hand(file: str) -> bool:
    return any((folder / file).is_file() for folder in (DATA, *folders()))


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own settings; models stay where they are, to be downloaded once."""
    monkeypatch.delenv("ATC_MODEL", raising=False)
    monkeypatch.setenv("ATC_CONFIG", os.devnull)


@pytest.fixture
def films() -> Path:
    """A small API document: search a film, get its credits; it wants a bearer token."""
    return ROOT / "tests" / "films.yaml"


@pytest.fixture
def replies() -> Iterator[Callable[..., str]]:
    """Starts an HTTP server on localhost that gives one reply to everything: `replies(status, type, body) -> URL`."""

    with ExitStack() as closing:

        def start(status: int, kind: str, body: str) -> str:
            return closing.enter_context(_serving(lambda request: (status, kind, body)))

        yield start


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Sets up a model endpoint on localhost, asked as `openai:scripted`: `endpoint(first, second, …)`.

    It gives these answers in turn, and the last one from then on; after None it never answers. A mapping in place of an
    answer has one for each question that is under way, by words of it.
    """
    with ExitStack() as closing:

        def start(*answers: str | Mapping[str, str] | None) -> None:
            left = list(answers)
            ended = threading.Event()
            closing.callback(ended.set)

            def answer(request: bytes) -> tuple[int, str, str]:
                if not request:  # which model that is, it does not tell
                    return 404, "application/json", "{}"
                text = left.pop(0) if len(left) > 1 else left[0]
                if isinstance(text, Mapping):
                    text = next(answer for words, answer in text.items() if words in request.decode())
                if text is None:
                    ended.wait()
                message = {"role": "assistant", "content": text}
                usage = {"prompt_tokens": len(request) // 4, "completion_tokens": 20, "total_tokens": 0}
                reply = {
                    "id": "1",
                    "object": "chat.completion",
                    "created": 0,
                    "model": "scripted",
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": usage,
                }
                return 200, "application/json", json.dumps(reply)

            monkeypatch.setenv("OPENAI_BASE_URL", closing.enter_context(_serving(answer)))
            monkeypatch.setenv("OPENAI_API_KEY", "none")

        yield start


@contextmanager
def _serving(reply: Callable[[bytes], tuple[int, str, str]]) -> Iterator[str]:
    """Serve on a free port of localhost: what `reply` makes of a request's body is sent as status, type and body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, kind, body = reply(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            data = body.encode()
            with suppress(ConnectionError):  # who asked may have been interrupted meanwhile
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        do_POST = do_PUT = do_DELETE = do_GET

    with listening(Handler) as url:
        yield url


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out; and where nothing may be skipped (`ATC_NO_SKIP`), that this is why the run fails."""
    for why, number in terminalreporter.config.stash.get(LEFT_OUT, {}).items():
        terminalreporter.write_line(f"{number} tests left out: {why}", yellow=True)
    if skipped := _forbidden_skips(terminalreporter):
        terminalreporter.write_line(f"{skipped} skipped, and ATC_NO_SKIP forbids it", red=True)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what one of several processes left out; all leave out the same."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", {})


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A skipped test fails the run where `ATC_NO_SKIP` is set; one of several processes tells what it left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, {})
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if isinstance(reporter, pytest.TerminalReporter) and _forbidden_skips(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _forbidden_skips(reporter: pytest.TerminalReporter) -> int:
    return len(reporter.stats.get("skipped", [])) if os.environ.get("ATC_NO_SKIP") else 0
