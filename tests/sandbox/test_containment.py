"""Nothing of a program is left behind, and nothing that its process says holds up its host."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from sandbox import Limits, Sandbox
from sandbox.child import channel
from sandbox.child.exit_frame import parse_exit_frame
from sandbox.pool import workers
from tests.local_api import DOCUMENTED, LocalAPI
from tests.sandbox.runs import children, run


def test_nothing_is_left_behind(api: LocalAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process, thread or folder stays, however the program ended."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    programs = ["print(1)", "1/0", "while True: pass", "import os", "GET_cities_city_id('hang')"]
    run(api, "GET_cities_city_id('oslo')")
    before = children()

    for program in programs:
        run(api, program, wall=0.3)
    time.sleep(0.1)

    assert children() == before
    assert list(tmp_path.iterdir()) == []
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("broker")]


def test_a_worker_that_died_while_it_waited_is_replaced() -> None:
    """Also when the process that workers are forked from dies with it."""
    sandbox = Sandbox(None)
    assert sandbox.run("print(1)").stdout == "1\n"
    time.sleep(0.3)
    (server,) = children()
    waiting = children(server)
    assert waiting

    for number, processes in ((2, waiting), (3, {server})):
        for process in processes:
            os.kill(int(process), signal.SIGKILL)
        time.sleep(0.1)
        assert sandbox.run(f"print({number})").stdout == f"{number}\n"


def test_a_worker_that_was_stopped_holds_nobody_up() -> None:
    """It reads not even its program, which is larger than what the channel takes at once."""
    sandbox = Sandbox(None, limits=Limits(wall=0.5))
    sandbox.run("print(1)")
    time.sleep(0.3)
    (server,) = children()
    for worker in children(server):
        os.kill(int(worker), signal.SIGSTOP)

    stopped = sandbox.run("".join(f"def f{number}(): x\n" for number in range(1900)))

    assert (stopped.outcome, stopped.limit) == ("limit", "wall")
    workers._stop_all()


@pytest.mark.parametrize(
    ("run", "end", "status"),
    [
        ("run('print(1)')", "", 0),
        ("threading.Thread(target=lambda: run('import time; time.sleep(9)'), daemon=True).start()", "kill()", -9),
    ],
    ids=["ends", "is killed"],
)
def test_no_worker_outlives_its_host(run: str, end: str, status: int) -> None:
    """Also one that is killed while its program waits, as for somebody to confirm a write, and reads nothing."""
    host = f"""
import os, signal, threading, time
from sandbox import Sandbox
from tests.sandbox.runs import children
run, kill = Sandbox(None).run, lambda: os.kill(os.getpid(), signal.SIGKILL)
{run}
processes, until = [], time.monotonic() + 20
while len(processes) < 2 and time.monotonic() < until:
    time.sleep(0.1)
    processes = [process for server in children() for process in (server, *children(server))]
print(*processes, flush=True)
{end}
"""
    process = subprocess.run([sys.executable, "-c", host], capture_output=True, text=True, check=False)

    processes = process.stdout.split()
    assert (process.returncode, len(processes) >= 2) == (status, True), process.stderr
    until = time.monotonic() + 3
    while any(map(_is_there, processes)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [process for process in processes if _is_there(process)]


def _is_there(process: str) -> bool:
    return Path(f"/proc/{process}/exe").exists()


def test_a_sandbox_that_cannot_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one message, and no traceback."""

    def gone(self: object) -> None:
        raise OSError("no process can be forked")

    monkeypatch.setattr("sandbox.pool.workers._ForkServer.fork", gone)
    monkeypatch.setattr("sandbox.pool.workers._stock", [])
    result = CliRunner().invoke(main, ["run", "-"], input="print(1)")

    assert result.exit_code == 1
    text = "atc: the sandbox cannot start a process for the program: no process can be forked; see"
    assert result.stderr.startswith(text)


def test_a_program_has_a_bounded_number_of_threads() -> None:
    program = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "import time\n"
        "with ThreadPoolExecutor(10_000) as pool:\n"
        "    print(len(list(pool.map(lambda n: time.sleep(0.001), range(500)))))\n"
    )
    run = Sandbox(None).run(program)

    assert run.stdout == "500\n", run.error


def test_the_child_is_walled_in() -> None:
    """Every layer is up on a kernel that has it; otherwise the run says which is not, and still runs."""
    assert run(None, "print(1)").warnings == ()


def test_the_parent_does_not_trust_the_size_of_a_message() -> None:
    """A child that was taken over can't make the host read or keep what it likes."""
    frames = channel.Frames(1000)
    whole = channel.encode(channel.STDOUT, {}, b"x" * 100)

    assert list(frames.feed(whole[:50])) == []
    assert list(frames.feed(whole[50:] + whole)) == [((channel.STDOUT, {}, b"x" * 100), 0)] * 2
    with pytest.raises(ValueError, match="too large"):
        list(frames.feed(b"O" + (0).to_bytes(4, "big") + (4_000_000_000).to_bytes(4, "big")))
    with pytest.raises(ValueError, match="without a JSON object"):
        list(channel.Frames(1000).feed(b"D" + (2).to_bytes(4, "big") + (0).to_bytes(4, "big") + b"[]"))


@pytest.mark.parametrize(
    ("end", "meaning"),
    [
        ("import sys\nclass Three(int):\n    def __and__(self, other): return 'x'\nsys.exit(Three(3))",
         ("SystemExit", 3)),
        ("import sys\nclass Zero(int):\n    def __eq__(self, other): return 'x'\nsys.exit(Zero(0))", (None, 0)),
        ("class Text(str):\n    def __getitem__(self, key): return self\n"
         "class Name:\n    def __str__(self): return Text('get_' * 400_000)\nraise NameError('x', name=Name())",
         ("NameError", 1)),
        ("class Text(str):\n    def __getitem__(self, key): return {1}\n"
         "class Wrong(Exception):\n    def __str__(self): return Text('x')\nraise Wrong()", ("Wrong", 1)),
        ("error = SyntaxError('x')\nerror.lineno = float('inf')\nraise error", ("SyntaxError", 1)),
        ("a, b = ValueError('a'), ValueError('b')\na.__cause__, b.__cause__ = b, a\nraise a", ("ValueError", 1)),
        ("raise ValueError('\\ud800')", ("ValueError", 1)),
    ],
)  # fmt: skip
def test_an_end_is_what_it_is_whatever_it_says_of_itself(end: str, meaning: tuple[str | None, int]) -> None:
    """Classes of the program's own may lie about their texts and numbers."""
    result = run(None, end)

    assert (result.error and result.error.type, result.exit_status) == meaning
    assert len(str(result.error).encode()) < 2000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("error", 5), ("error", {"type": 1, "message": 2}), ("error", {"type": "E"})),
        *(("limit", "none such"), ("limit", ["wall"])),
    ],
)
def test_an_end_that_is_none_is_refused(name: str, value: object) -> None:
    """What a child says of its end is looked at once, before anything relies on it."""
    with pytest.raises((ValueError, TypeError)):
        parse_exit_frame({name: value})


def test_of_an_end_only_what_is_sane_is_kept() -> None:
    """Texts are cut, and numbers are numbers."""
    failure = {
        "type": "T" * 999,
        "message": "m" * 999_999,
        "name": "n" * 999_999,
        "call": "0",
        "trace": [1, "2", 1e999],
    }

    frame = parse_exit_frame({"error": failure, "exit_status": "x", "cpu": "x", "memory": float("inf"), "trace": 7})

    assert frame.failure is not None
    assert (len(frame.failure.type), len(frame.failure.message), len(frame.failure.name or "")) == (200, 100_000, 200)
    assert (frame.failure.trace, frame.failure.call) == ((1,), None)
    assert (frame.exit_status, frame.cpu, frame.memory, frame.trace) == (1, 0.0, 0.0, ())


@pytest.mark.parametrize("line", ["Infinity", "1"])
def test_a_child_that_speaks_nonsense_ends_as_an_error(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """A process that a program took over can write what it likes; the run ends, and nothing is raised."""
    ours, theirs = socket.socketpair()
    head = b'{"id": Infinity, "line": %s, "tool": "x", "args": [], "kwargs": {}}' % line.encode()
    theirs.sendall(channel.CALL + len(head).to_bytes(4, "big") + (0).to_bytes(4, "big") + head)
    worker = replace(workers.take(), socket=ours)
    monkeypatch.setattr(workers, "take", lambda: worker)

    result = run(None, "print(1)", wall=2)

    theirs.close()
    assert result.outcome == "error"
    assert "spoke out of turn" in str(result.warnings)


def message(kind: bytes, head: bytes = b"", payload: bytes = b"") -> bytes:
    return kind + len(head).to_bytes(4, "big") + len(payload).to_bytes(4, "big") + head + payload


def forged_call(**parts: object) -> bytes:
    head = {"id": 1, "line": 1, "tool": "GET_cities", "args": [], "kwargs": {}, "task": [], **parts}
    return message(channel.CALL, json.dumps(head).encode())


@pytest.mark.parametrize(
    "frames",
    [
        message(channel.STDOUT) * 100_000,
        message(b"Z", b'{"a": 1}') * 50_000,
        message(channel.READY, b'{"layers": []}') * 50_000,
        message(channel.READY, b'{"layers": [1, 2]}'),
        message(channel.READY, b'{"layers": [["\\ud800", 1, "\\udfff"]]}') + message(channel.DONE),
        message(channel.DONE, b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        message(channel.DONE, '{"a": 1}'.encode("utf-16")),
        message(channel.DONE) * 2 + forged_call(),
        message(channel.REPLY, b'{"id": 1}'),
        message(channel.CALL, b'{"id": ' + b"1" * 5000 + b"}"),
        b"O" + b"\xff" * 8,
        b"D\x00\x00\x00",
        forged_call(id=10**4000, line=10**4000),
        forged_call(args=[float("nan")], kwargs={"query": float("inf")}),
        forged_call(kwargs=[[1, 2]], tool={"a": 1}),
        forged_call(tool="\ud800", kwargs={"\udfff": "\ud800"}, task=["\ud800"]),
        forged_call(kwargs={"query": "\ud800"}),
        forged_call(args=[[]] * 200_000, task="\u1234" * 10_000),
        b"".join(forged_call(id=number) for number in range(2000)),
    ],
)
def test_nothing_that_a_process_says_holds_up_its_host(
    api: LocalAPI, monkeypatch: pytest.MonkeyPatch, frames: bytes
) -> None:
    """Floods, unknown kinds, a second end, calls after it, odd numbers and texts: the run ends within its limit, and
    its record can be written down."""
    ours, theirs = socket.socketpair()
    worker = replace(workers.take(), socket=ours)
    monkeypatch.setattr(workers, "take", lambda: worker)
    sandbox = Sandbox(api.protocol, limits=Limits(wall=1), track=False)

    def speak() -> None:
        with suppress(OSError):
            theirs.sendall(frames)

    speaking = threading.Thread(target=speak, daemon=True)
    speaking.start()
    result = sandbox.run("print(1)")

    theirs.close()
    speaking.join(timeout=5)
    assert json.dumps(asdict(result)).encode()


def test_a_mistake_in_a_call_ends_the_run_and_leaves_a_record(api: LocalAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong on our side of a call is the end of that run, not of the host."""

    def fail(*args: object, **options: object) -> object:
        raise AttributeError("no such thing")

    monkeypatch.setattr("sandbox.egress.transport.Transport.send", fail)
    result = run(api, "print('begun')\nGET_cities_city_id('oslo')")

    assert (result.outcome, result.stdout) == ("error", "begun\n")
    assert result.error is not None
    assert (result.error.line, result.error.message) == (2, "a call could not be made (AttributeError: no such thing)")
    assert [call.error for call in result.calls] == ["AttributeError: no such thing"]


def test_data_of_absurd_depth_is_kept_as_text(api: LocalAPI) -> None:
    """A record becomes JSON later, by code that goes down into it; the program gets the data itself."""
    api.answer("GET", "/cities/deep", b"[" * 300 + b"]" * 300, headers={"Content-Type": "application/json"})
    program = f"""\
        import requests
        deep = GET_cities_city_id("deep")
        print(type(deep))
        requests.post("{DOCUMENTED}/alerts", json=deep)
        requests.post("{DOCUMENTED}/alerts", data="[" * 100_000)
        try:
            POST_alerts(text="x", level=deep)
        except ToolError as error:
            print(error)
    """

    result = run(api, program)

    assert result.stdout.startswith("<class 'list'>\n"), result.error
    assert result.calls[0].response == "[" * 300 + "]" * 300
    assert json.loads(json.dumps(asdict(result)))["outcome"] == "ok"
