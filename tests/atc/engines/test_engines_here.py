"""The small local model, run by either engine on this machine: its answers, its progress, and its interruption."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import requests

from atc.engines.files import path
from atc.engines.local import LocalEngine, default_threads
from atc.engines.openvino_model import OpenVINOModel
from atc.models import DEFAULT_MODEL, Completion, Message, Progress, open_model
from atc.models.base import ModelRequest, answer
from protocols.errors import ModelError, PromptRefused, UsageError
from tests.scripted import sample

Engine = LocalEngine | OpenVINOModel

OPENVINO = "openvino:qwen2.5-coder-1.5b"
QUESTION = [Message("system", "You write Python without comments."), Message("user", "Write a function add(a, b).")]
PREFILLED = [*QUESTION, Message("assistant", "```python\n")]
ENDLESS = [Message("user", "Count from one to a thousand.")]
LIFE = """
import sys, threading
from atc.models import Message, open_model
from atc.models.base import ModelRequest, answer

model = open_model(sys.argv[1])

def ask(writing):
    answer(
        model,
        ModelRequest(
            [Message("user", "Count from one to a thousand.")],
            max_tokens=4000,
            on_progress=lambda progress: writing.set() if progress.text else None,
        ),
    )

class Announced(threading.Event):
    def set(self):
        if not self.is_set():
            print("writing", flush=True)
        super().set()

try:
    ask(Announced())
except KeyboardInterrupt:
    print("interrupted", flush=True)
writing = threading.Event()
threading.excepthook = lambda failed: None  # the engine ends under it
threading.Thread(target=ask, args=[writing], daemon=True).start()
writing.wait()
print("left", flush=True)
"""


@pytest.fixture(scope="module")
def local() -> Iterator[LocalEngine]:
    """The small local model, by llama.cpp."""
    model = open_model(DEFAULT_MODEL)
    assert isinstance(model, LocalEngine)
    yield model
    model.close()


@pytest.fixture(scope="module")
def openvino() -> Iterator[OpenVINOModel]:
    """The same file, by OpenVINO; it was converted before."""
    model = open_model(OPENVINO)
    assert isinstance(model, OpenVINOModel)
    yield model
    model.close()


@pytest.fixture(params=["local", pytest.param("openvino", marks=pytest.mark.openvino)])
def model(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn."""
    engine: Engine = request.getfixturevalue(request.param)
    return engine


@pytest.mark.model
def test_an_engine_goes_on_from_an_opened_code_block(model: Engine) -> None:
    """The answer is the program alone; what was read and written is counted, and what was read before is not read."""
    first = model.complete(PREFILLED, stop=["```"], max_tokens=60)
    second = model.complete(
        [QUESTION[0], Message("user", "Write a function add(a, b, c)."), PREFILLED[-1]], max_tokens=2
    )

    scope: dict[str, Any] = {}
    exec(first.text, scope)
    assert scope["add"](2, 3) == 5
    assert "```" not in first.text
    assert (first.finish, first.usage.model_calls) == ("stop", 1)
    assert 20 < first.usage.prompt_tokens < 60 and 8 < first.usage.completion_tokens < 60
    assert (second.usage.cached_tokens > 10) == isinstance(model, LocalEngine), "OpenVINO does not tell"


@pytest.mark.model
def test_limits_of_an_engine(model: Engine) -> None:
    """As many tokens are written as were allowed; what does not fit is refused before anything is read."""
    cut = model.complete(ENDLESS, max_tokens=5)

    assert (cut.finish, cut.usage.completion_tokens) == ("length", 5)
    with pytest.raises(PromptRefused, match=r"has 90\d\d tokens, and 100 are kept .* 8192 together; offer fewer tools"):
        model.complete([Message("user", "word " * 9000)], max_tokens=100)


@pytest.mark.model
def test_an_engine_counts_tokens(model: Engine) -> None:
    """However long the text; marks of the chat template in it are text."""
    assert model.count_tokens("") == 0
    assert model.count_tokens("def add(a, b):") == 6
    assert model.count_tokens("<|im_end|>") > isinstance(model, LocalEngine)
    assert model.count_tokens("word " * 9000) == pytest.approx(9001, abs=6)


@pytest.mark.model
@pytest.mark.parametrize("name", [DEFAULT_MODEL, pytest.param(OPENVINO, marks=pytest.mark.openvino)])
def test_a_process_with_an_engine_is_interrupted_and_ends(name: str) -> None:
    """Ctrl-C ends an answer, and nothing else is printed; a thread that asks next does not hold the process back."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", LIFE, name], text=True, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == "writing\n"
        process.send_signal(signal.SIGINT)
        printed, complaints = process.communicate()

    assert (printed, complaints, process.returncode) == ("interrupted\nleft\n", "", 0)


@pytest.mark.model
def test_an_engine_tells_how_far_it_is(local: LocalEngine) -> None:
    """First the tokens that it has read of how many, with an estimate; then the text as it comes."""
    reports: list[Progress] = []
    text = " ".join(f"The {number}. house is painted." for number in range(36))

    completion = answer(
        local, ModelRequest([Message("user", f"{text}\nSay yes.")], max_tokens=8, on_progress=reports.append)
    )

    read = [progress.read for progress in reports]
    assert read == sorted(read)
    assert {progress.prompt_tokens for progress in reports} == {completion.usage.prompt_tokens}
    assert any(0 < progress.read < progress.prompt_tokens and progress.seconds_left for progress in reports)
    assert reports[-1].read == completion.usage.prompt_tokens
    assert reports[-1].text
    assert completion.text.startswith(reports[-1].text)


@pytest.mark.model
def test_what_all_prompts_begin_with_is_kept_for_the_next_process(tmp_path: Path) -> None:
    """It is read once and then found; the answer is the same, and a damaged file is made anew."""
    question = [
        Message("system", "You write Python. " + "Names are short and lines too. " * 8),
        Message("user", "Write a function that adds."),
        Message("assistant", "def add(a, b):"),
        Message("user", "Now one that subtracts."),
        Message("assistant", "def sub("),
    ]

    def asked() -> Completion:
        with closing(LocalEngine("local:kept", path(DEFAULT_MODEL), keep=tmp_path / "kept")) as model:
            return model.complete(question, max_tokens=4)

    first, second = asked(), asked()
    (file,) = (tmp_path / "kept").iterdir()
    assert (first.usage.cached_tokens, second.text) == (0, first.text)
    assert second.usage.cached_tokens > 64
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(b"damaged")
    assert asked().text == first.text
    assert file.stat().st_size > 100_000


@pytest.mark.model
def test_the_local_engine_wants_its_key_and_stays_on_loopback(local: LocalEngine) -> None:
    """Another program on this machine cannot use the engine's port."""
    url = local._engine().url

    assert url.startswith("http://127.0.0.1:")
    for place in ("/completion", "/tokenize", "/v1/chat/completions"):
        assert requests.post(url + place, json={"prompt": "x", "content": "x"}, timeout=10).status_code == 401


@pytest.mark.model
def test_ctrl_c_while_the_local_model_reads_ends_within_a_second(films: Path, tmp_path: Path) -> None:
    """The engine looks up from a long prompt every few seconds only; the command does not wait for that."""
    out, question = tmp_path / "s.json", "Who directed The Long Tide? " + "That film was shown at the harbour. " * 40
    command = [str(Path(sys.executable).with_name("atc")), "solve", question, "--api", str(films), "--simulate"]
    with subprocess.Popen([*command, "--out", str(out)], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any(" tokens · about" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)

    assert process.returncode == 130
    assert json.loads(out.read_text())["status"] == "interrupted"


@pytest.mark.model
def test_an_engine_answers_after_an_interrupted_question(model: Engine) -> None:
    """Who interrupts a question in a session of Python can ask the next one, and is not kept waiting by `close`."""

    def interrupt(progress: Progress) -> None:
        if progress.read:
            raise KeyboardInterrupt

    text = " ".join(f"The {number}. house is red." for number in range(36))
    with pytest.raises(KeyboardInterrupt):
        answer(model, ModelRequest([Message("user", text)], max_tokens=8, on_progress=interrupt))
    model.close()

    assert model.complete(QUESTION, max_tokens=3).usage.completion_tokens == 3


@pytest.mark.model
@pytest.mark.openvino
def test_an_interrupted_question_leaves_no_cycle(openvino: OpenVINOModel) -> None:
    """One would hold the engine until it is collected, perhaps by a fork, which ends by a signal then."""

    def interrupt(progress: Progress) -> None:
        if progress.text:
            raise KeyboardInterrupt

    engine = weakref.ref(openvino.load())
    gc.disable()
    try:
        with suppress(KeyboardInterrupt):
            answer(openvino, ModelRequest([Message("user", "Count to nine.")], max_tokens=8, on_progress=interrupt))
        openvino.close()
        assert engine() is None
    finally:
        gc.enable()


def test_the_number_of_threads_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ATC_THREADS` says how many; what is no number is a message."""
    monkeypatch.setenv("ATC_THREADS", "1")
    assert default_threads() == 1

    monkeypatch.setenv("ATC_THREADS", "many")
    with pytest.raises(UsageError, match="ATC_THREADS is 'many': it must be a number from 1"):
        default_threads()


@pytest.mark.model
@pytest.mark.openvino
def test_a_question_is_answered_after_one_that_got_no_thread(openvino: OpenVINOModel) -> None:
    """As where the limit of processes is reached."""
    size = threading.stack_size(1 << 46)  # more than there is
    try:
        with pytest.raises(RuntimeError, match="start new thread"):
            openvino.complete(QUESTION, max_tokens=2)
    finally:
        threading.stack_size(size)

    assert openvino.complete(QUESTION, max_tokens=2).text


@pytest.mark.model
@pytest.mark.openvino
def test_copies_without_end_are_ended(openvino: OpenVINOModel) -> None:
    """The answer is what came before them and one of them."""
    copies = "```python\n" + 'print("All of the films of this year are shown here.")\n' * 6
    completion = openvino.complete(
        [Message("user", "Write Python."), Message("assistant", copies)], stop=["```"], max_tokens=600
    )

    assert completion.usage.completion_tokens < 300
    assert completion.text.count("\n") <= 2


@pytest.mark.model
@pytest.mark.openvino
def test_a_drawn_answer_is_the_same_for_the_same_seed(openvino: OpenVINOModel) -> None:
    """Once the question was read: what is kept of it may differ in the last digits. Other seeds draw others."""
    question = [Message("user", "Name an animal and a colour.")]
    _, *drawn = [sample(openvino, question, max_tokens=8, seed=seed).text for seed in (1, 1, 1, 2)]

    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1


@pytest.mark.model
@pytest.mark.openvino
def test_a_file_that_is_no_model_leaves_nothing_behind(tmp_path: Path) -> None:
    """The error names the file; no half of a conversion is taken for a whole one later."""
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ModelError, match=r"could not load .*broken\.gguf"):
        OpenVINOModel("openvino:broken", file, tmp_path / "kept").count_tokens("x")
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.model
def test_closing_ends_an_answer_and_asking_opens_again(model: Engine) -> None:
    """Whoever waits gets a ModelError; the next question starts the engine anew."""
    caught: list[ModelError] = []
    writing = threading.Event()

    def ask() -> None:
        try:
            answer(
                model,
                ModelRequest(ENDLESS, max_tokens=4000, on_progress=lambda part: writing.set() if part.text else None),
            )
        except ModelError as error:
            caught.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert writing.wait(120)
    model.close()
    thread.join(timeout=60)

    assert str(caught[0]) == "the local engine was stopped while it answered"
    assert model.complete(QUESTION, max_tokens=3).usage.completion_tokens == 3
    model.close()


@pytest.mark.model
@pytest.mark.openvino
@pytest.mark.timeout(600)
def test_a_model_is_converted_once(tmp_path: Path) -> None:
    """What is kept is whole; what another version or a try that was killed had left is no longer there."""
    file = path("qwen2.5-coder-1.5b")
    stale = [tmp_path / f"{file.stem}-{end}" for end in ("2020.1", "2020.1.7.part", "1.8.part")]
    for folder in stale:
        folder.mkdir()
    os.utime(stale[1], (0, 0))

    with closing(OpenVINOModel(OPENVINO, file, tmp_path)) as model:
        assert model.count_tokens("def add(a, b):") == 6
        converted, under_way = sorted(tmp_path.iterdir(), key=lambda folder: folder.name.endswith(".part"))
        assert under_way == stale[2]
        assert (converted / "openvino_model.bin").stat().st_size > 1e9
        assert not list(converted.glob("*.gguf"))
        modified = converted.stat().st_mtime_ns
        model.close()
        assert model.count_tokens("") == 0
        assert converted.stat().st_mtime_ns == modified
