"""The small local model: what it answers, how it tells of its work, and how it is interrupted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import requests

from atc.engines.local import LocalEngine, default_threads
from atc.models import DEFAULT_MODEL, Completion, Message, Model, Progress, open_model
from atc.models.base import ModelRequest, answer
from protocols.errors import ModelError, UsageError

QUESTION = [Message("system", "You write Python."), Message("user", "Write a function add(a, b).")]
PREFILLED = [*QUESTION, Message("assistant", "The program:\n```python\n")]


@pytest.fixture(scope="module")
def local() -> Iterator[Model]:
    """The small local model."""
    model = open_model(DEFAULT_MODEL)
    yield model
    model.close()


@pytest.mark.model
def test_the_local_model_goes_on_from_an_opened_code_block(local: Model) -> None:
    """The answer is the program alone; the next question with the same beginning reads little of it again."""
    first = local.complete(PREFILLED, stop=["```"], max_tokens=60)
    other_question = [*QUESTION[:1], Message("user", "Write a function add(a, b, c)."), PREFILLED[-1]]
    second = local.complete(other_question, stop=["```"], max_tokens=60)

    scope: dict[str, Any] = {}
    exec(first.text, scope)
    assert scope["add"](2, 3) == 5
    assert (first.finish, first.usage.model_calls) == ("stop", 1)
    assert 0 < first.usage.completion_tokens < 60
    assert second.usage.cached_tokens > 10
    assert second.usage.prompt_tokens - second.usage.cached_tokens < 20


@pytest.mark.model
def test_the_local_model_tells_how_far_it_is(local: Model) -> None:
    """First the tokens that it has read of how many, with an estimate; then the text as it comes."""
    reports: list[Progress] = []
    text = " ".join(f"The {number}. house is painted." for number in range(100))
    request = ModelRequest([Message("user", f"{text}\nSay yes.")], max_tokens=8, on_progress=reports.append)

    completion = answer(local, request)

    read = [progress.read for progress in reports]
    assert read == sorted(read)
    assert {progress.prompt_tokens for progress in reports} == {completion.usage.prompt_tokens}
    assert any(0 < progress.read < progress.prompt_tokens and progress.seconds_left for progress in reports)
    assert reports[-1].read == completion.usage.prompt_tokens
    assert reports[-1].text
    assert completion.text.startswith(reports[-1].text)


@pytest.mark.model
def test_the_local_model_is_cut_at_the_token_limit(local: Model) -> None:
    """`max_tokens` holds, and `finish` says that it was reached."""
    answer = local.complete([Message("user", "Count from one to fifty, in words.")], max_tokens=6)
    assert (answer.usage.completion_tokens, answer.finish) == (6, "length")


@pytest.mark.model
def test_what_all_prompts_begin_with_is_kept_for_the_next_process(tmp_path: Path) -> None:
    """It is read once and then found; the answer is the same, and a damaged file is made anew."""
    messages = [Message("system", "You write Python. " + "Names are short and lines too. " * 20)]
    messages += [Message("user", "Write a function that adds."), Message("assistant", "def add(a, b):")]
    question = [*messages, Message("user", "Now one that subtracts."), Message("assistant", "def sub(")]

    def asked() -> Completion:
        with closing(open_model(DEFAULT_MODEL)) as plain:
            assert isinstance(plain, LocalEngine)
            model = LocalEngine("local:kept", plain.file, keep=tmp_path / "kept")
        with closing(model):
            return model.complete(question, max_tokens=24)

    first, second = asked(), asked()
    (file,) = (tmp_path / "kept").iterdir()
    assert (first.usage.cached_tokens, second.text) == (0, first.text)
    assert second.usage.cached_tokens > 100
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(b"damaged")
    assert asked().text == first.text
    assert file.stat().st_size > 100_000


@pytest.mark.model
def test_a_conversation_too_long_for_the_local_model(local: Model) -> None:
    """It is refused before anything is read, with the number of its tokens."""
    with pytest.raises(ModelError, match=r"has 90\d\d tokens, and 100 are kept for the answer; .* 8192 together"):
        local.complete([Message("user", "word " * 9000)], max_tokens=100)


@pytest.mark.model
def test_the_local_model_counts_tokens(local: Model) -> None:
    """Marks of the chat template in a text are text."""
    from atc.engines.local import LocalEngine

    assert isinstance(local, LocalEngine)
    assert local.count_tokens("") == 0
    assert local.count_tokens("def add(a, b):") == 6
    assert local.count_tokens("<|im_end|>") > 1


@pytest.mark.model
def test_the_local_engine_wants_its_key_and_stays_on_loopback(local: Model) -> None:
    """Another program on this machine cannot use the engine's port."""

    from atc.engines.local import LocalEngine

    assert isinstance(local, LocalEngine)
    url = local._engine().url
    assert url.startswith("http://127.0.0.1:")
    for path in ("/completion", "/tokenize", "/v1/chat/completions"):
        assert requests.post(url + path, json={"prompt": "x", "content": "x"}, timeout=10).status_code == 401


@pytest.mark.model
def test_a_process_with_a_local_model_ends_quietly(local: Model) -> None:
    """Nothing is printed, and the process ends by itself though nobody closed the model."""
    program = (
        "from atc.models import Message, open_model\n"
        "print(open_model().complete([Message('user', 'Say yes.')], max_tokens=3).finish)"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout in {"stop\n", "length\n"}


@pytest.mark.model
def test_the_local_model_can_be_interrupted(local: Model) -> None:
    """Ctrl-C while the model writes ends the process within seconds."""
    program = (
        "from atc.models import Message, open_model\n"
        "model = open_model()\n"
        "model.count_tokens('')\n"
        "print('asking', flush=True)\n"
        "try:\n    model.complete([Message('user', 'Count from one to a thousand.')], max_tokens=4000)\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "asking\n"
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted\n"
        assert process.wait(timeout=60) == 0


@pytest.mark.model
def test_ctrl_c_while_the_local_model_reads_ends_within_a_second(films: Path, tmp_path: Path) -> None:
    """The engine looks up from a long prompt every few seconds only; the command does not wait for that."""
    out, question = tmp_path / "s.json", "Who directed The Long Tide? " + "That film was shown at the harbour. " * 200
    command = [str(Path(sys.executable).with_name("atc")), "solve", question, "--api", str(films), "--simulate"]
    with subprocess.Popen([*command, "--out", str(out)], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any("the model writes" in line or "reads" in line for line in process.stderr)
        assert any(" tokens · about" in line for line in process.stderr)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)

    assert process.returncode == 130
    assert json.loads(out.read_text())["status"] == "interrupted"


@pytest.mark.model
def test_the_local_model_answers_after_an_interrupted_question(local: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who interrupts a question in a session of Python can ask the next one, and is not kept waiting by `close`."""

    def interrupt(progress: Progress) -> None:
        if progress.read:
            raise KeyboardInterrupt

    text = " ".join(f"The {number}. house is red." for number in range(400))
    with pytest.raises(KeyboardInterrupt):
        answer(local, ModelRequest([Message("user", text)], max_tokens=8, on_progress=interrupt))
    local.close()

    assert local.complete(QUESTION, max_tokens=3).usage.completion_tokens == 3


def test_the_number_of_threads_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ATC_THREADS` says how many; what is no number is a message."""
    monkeypatch.setenv("ATC_THREADS", "1")
    assert default_threads() == 1

    monkeypatch.setenv("ATC_THREADS", "many")
    with pytest.raises(UsageError, match="ATC_THREADS is 'many': it must be a number from 1"):
        default_threads()


@pytest.mark.model
def test_a_process_ends_though_a_thread_still_asks(local: Model) -> None:
    """The answer that nobody waits for any more does not hold the process back."""
    program = (
        "import threading, time\n"
        "from atc.models import Message, open_model\n"
        "model = open_model()\n"
        "model.count_tokens('')\n"
        "question = [Message('user', 'Count from one to a thousand.')]\n"
        "threading.Thread(target=model.complete, args=[question], kwargs={'max_tokens': 4000}, daemon=True).start()\n"
        "time.sleep(2)\n"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert process.returncode == 0


@pytest.mark.model
def test_closing_ends_an_answer_and_asking_opens_again(local: Model) -> None:
    """Whoever waits gets a ModelError; the next question starts the engine anew."""
    caught: list[ModelError] = []

    def ask() -> None:
        try:
            local.complete([Message("user", "Count from one to a thousand.")], max_tokens=4000)
        except ModelError as error:
            caught.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(3)
    local.close()
    thread.join(timeout=30)

    assert str(caught[0]) == "the local engine was stopped while it answered"
    assert local.complete(QUESTION, max_tokens=3).usage.completion_tokens == 3
