"""The local model's file, run by OpenVINO."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from atc.engines.files import path
from atc.engines.openvino_model import OpenVINOModel
from atc.models import Message, Model, open_model
from protocols.errors import ModelError, PromptRefused
from tests.scripted import sample

pytestmark = [pytest.mark.model, pytest.mark.openvino]

NAME = "openvino:qwen2.5-coder-1.5b"
PREFILLED = [
    Message("system", "You write Python without comments."),
    Message("user", "Write a function add(a, b)."),
    Message("assistant", "```python\n"),
]
ENDLESS = [Message("user", "Count from one to a thousand.")]


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    """The small local model."""
    opened = open_model(NAME)
    yield opened
    opened.close()


def test_it_goes_on_from_an_opened_code_block(model: Model) -> None:
    """The answer is the program alone, and what was read and written is counted."""
    completion = model.complete(PREFILLED, stop=["```"], max_tokens=60)

    scope: dict[str, Any] = {}
    exec(completion.text, scope)
    assert scope["add"](2, 3) == 5
    assert completion.finish == "stop"
    assert "```" not in completion.text
    assert 20 < completion.usage.prompt_tokens < 60
    assert 8 < completion.usage.completion_tokens < 60


def test_copies_without_end_are_ended(model: Model) -> None:
    """The answer is what came before them and one of them."""
    messages = [
        Message("user", "Write Python."),
        Message("assistant", "```python\n" + 'print("All of the films of this year are shown here.")\n' * 6),
    ]
    completion = model.complete(messages, stop=["```"], max_tokens=600)

    assert completion.usage.completion_tokens < 300
    assert completion.text.count("\n") <= 2


def test_a_drawn_answer_is_the_same_for_the_same_seed(model: Model) -> None:
    """Once the question was read: what is kept of it may differ in the last digits. Other seeds draw others."""
    question = [Message("user", "Name an animal and a colour.")]
    _, *drawn = [sample(model, question, max_tokens=24, seed=seed).text for seed in (1, 1, 1, 2, 3)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1


def test_an_answer_that_is_cut_off_says_so(model: Model) -> None:
    """Exactly as many tokens are written as were allowed."""
    completion = model.complete(ENDLESS, max_tokens=5)
    assert (completion.finish, completion.usage.completion_tokens) == ("length", 5)


def test_what_does_not_fit_is_refused_with_its_size(model: Model) -> None:
    """Before anything is read."""
    with pytest.raises(PromptRefused, match=r"has 90\d\d tokens, and 100 .* 8192 together; offer fewer tools"):
        model.complete([Message("user", "word " * 9000)], max_tokens=100)


def test_it_counts_tokens(model: Model) -> None:
    """However long the text."""
    assert isinstance(model, OpenVINOModel)
    assert model.count_tokens("") == 0
    assert model.count_tokens("def add(a, b):") == 6
    assert model.count_tokens("word " * 9000) == pytest.approx(9001, abs=6)


def test_it_can_be_interrupted(model: Model) -> None:
    """Ctrl-C while the model writes ends the process by itself, and nothing is printed but by the program."""
    program = (
        "from atc.models import Message, open_model\n"
        f"model = open_model({NAME!r})\n"
        "model.count_tokens('')\n"
        "print('asking', flush=True)\n"
        "try:\n    model.complete([Message('user', 'Count from one to a thousand.')], max_tokens=4000)\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"asking\n"
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        completion, complaints = process.communicate(timeout=60)
    assert (completion, complaints, process.returncode) == (b"interrupted\n", b"", 0)


def test_a_process_ends_though_a_thread_still_asks(model: Model) -> None:
    """The answer that nobody waits for any more does not hold the process back."""
    program = (
        "import threading, time\n"
        "from atc.models import Message, open_model\n"
        f"model = open_model({NAME!r})\n"
        "model.count_tokens('')\n"
        "question = [Message('user', 'Count from one to a thousand.')]\n"
        "threading.Thread(target=model.complete, args=[question], kwargs={'max_tokens': 4000}, daemon=True).start()\n"
        "time.sleep(3)\n"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=90)
    assert process.returncode == 0, process.stderr


def test_closing_ends_an_answer_and_asking_opens_again(model: Model) -> None:
    """Whoever waits gets a ModelError; the next question loads it anew."""
    caught: list[ModelError] = []

    def ask() -> None:
        try:
            model.complete(ENDLESS, max_tokens=4000)
        except ModelError as error:
            caught.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(3)
    model.close()
    thread.join(timeout=60)

    assert str(caught[0]) == "the local engine was stopped while it answered"
    assert model.complete(PREFILLED, max_tokens=3).usage.completion_tokens == 3


def test_a_file_that_is_no_model_leaves_nothing_behind(tmp_path: Path) -> None:
    """The error names the file; no half of a conversion is taken for a whole one later."""
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ModelError, match=r"could not load .*broken\.gguf"):
        OpenVINOModel("openvino:broken", file, tmp_path / "kept").count_tokens("x")
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.timeout(600)
def test_it_is_converted_once(tmp_path: Path) -> None:
    """What is kept is whole; what another version or a try that was killed had left is no longer there."""
    file = path("qwen2.5-coder-1.5b")
    stale = [
        tmp_path / f"{file.stem}-2020.1",
        tmp_path / f"{file.stem}-2020.1.7.part",
        tmp_path / f"{file.stem}-1.8.part",
    ]
    for folder in stale:
        folder.mkdir()
    os.utime(stale[1], (0, 0))

    assert OpenVINOModel(NAME, file, tmp_path).count_tokens("def add(a, b):") == 6

    converted, under_way = sorted(tmp_path.iterdir(), key=lambda folder: folder.name.endswith(".part"))
    assert under_way == stale[2]
    assert (converted / "openvino_model.bin").stat().st_size > 1e9
    assert not list(converted.glob("*.gguf"))
    modified = converted.stat().st_mtime_ns
    assert OpenVINOModel(NAME, file, tmp_path).count_tokens("") == 0
    assert converted.stat().st_mtime_ns == modified
