"""Limits of a program: each ends in its own result, and the host hardly grows."""

from __future__ import annotations

import gc
import hashlib
import json
import signal
import socket
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any, cast

import pytest

from sandbox import Limits, Sandbox
from sandbox.body_store import LargeBody
from sandbox.child import channel
from sandbox.pool import workers
from sandbox.provenance import replay
from tests.local_api import DOCUMENTED, LocalAPI
from tests.sandbox.runs import run


@pytest.mark.parametrize(
    "program",
    [
        "import time\ntime.sleep(60)",
        "try:\n    while True: pass\nexcept BaseException:\n    pass\nwhile True: pass",
        "x = 10 ** 10 ** 8",
        "GET_cities_city_id('drip')",
        f"import requests\nrequests.get('{DOCUMENTED}/cities/hang')",
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as pool:\n    list(pool.map(GET_cities_city_id, ['hang'] * 4))",
    ],
)
def test_the_wall_limit_holds_whatever_happens(api: LocalAPI, program: str) -> None:
    """Endless loops, sleep, C code, silent and dripping servers: a program is gone when its time is over."""
    api.answer("GET", "/cities/drip", "x" * 1000, drip=0.02)

    result = run(api, "print('begun')\n" + program, wall=0.5)

    assert (result.outcome, result.limit) == ("limit", "wall")
    assert result.stdout == "begun\n"
    assert all(call.status is None for call in result.calls)
    assert result.error is not None
    assert result.error.message.startswith("the program ran longer than the 0.5 s allowed")


@pytest.mark.parametrize(
    ("program", "limit", "limits"),
    [
        ("while True: pass", "cpu", {"cpu": 1, "wall": 10}),
        ("x = 'x' * 900_000_000", "memory", {}),
        ("x = []\nwhile True: x.append('x' * 1_000_000)", "memory", {"memory": 200}),
        ("while True: print('spam')", "output", {"output": 1000}),
        ("import sys\nsys.stderr.write('x' * 5000)", "output", {"output": 1000}),
        ("while True: GET_cities_city_id('oslo')", "calls", {"calls": 3}),
        ("print(len(GET_cities_city_id('big')))", "response", {"response": 100_000}),
        ("for _ in range(9): GET_cities_city_id('big')", "traffic", {"traffic": 500_000}),
        ("POST_alerts(text='x' * 2_000_000)", "request", {}),
        (
            f"import requests\nrequests.post('{DOCUMENTED}/alerts', data=bytes(200_000))",
            "request",
            {"request": 100_000},
        ),
    ],
)
def test_each_limit_ends_in_its_own_result(api: LocalAPI, program: str, limit: str, limits: dict[str, float]) -> None:
    """CPU, memory, output, calls, sizes of requests and replies: the Run says which it was, and on which line."""
    api.answer("GET", "/cities/big", "x" * 200_000)

    result = run(api, program, **limits)

    assert (result.outcome, result.limit) == ("limit", limit), result.error
    assert result.error is not None
    assert result.error.type == "LimitReached"
    assert result.error.line == program.count("\n") + 1
    assert len(result.stdout + result.stderr) <= 1000
    assert len(result.calls) <= 4


@pytest.mark.parametrize(
    ("program", "limits"),
    [
        ("print('out', end=''); sys.stderr.write('err'); time.sleep(5)", {"wall": 0.6}),
        ("print('out', end=''); sys.stderr.write('err'); GET_cities_city_id('oslo')", {"calls": 0}),
    ],
)
def test_what_was_printed_before_a_limit_is_there(api: LocalAPI, program: str, limits: dict[str, float]) -> None:
    """Also the beginning of a line, on both streams."""
    result = run(api, f"import sys, time\n{program}", **limits)

    assert (result.outcome, result.limit) == ("limit", next(iter(limits)))
    assert (result.stdout, result.stderr) == ("out", "err")


def test_a_large_reply_reaches_the_program_whole(api: LocalAPI) -> None:
    """Whether it is JSON or not; the record has it in a file by its hash, for as long as there is a record."""
    items = [{"id": number, "name": "Ø" * 100} for number in range(20_000)]
    api.answer("GET", "/cities/json", items)
    api.answer("GET", "/cities/torn", "[" * 300_000, headers={"Content-Type": "application/json"})

    result = run(
        api,
        """\
        found = GET_cities_city_id("json")
        print(len(found), found[-1]["name"] == "Ø" * 100)
        try:
            GET_cities_city_id("torn")
        except ToolError as error:
            print(error, error.status, len(error.body))
        """,
    )

    assert (
        result.stdout
        == "20000 True\nGET_cities_city_id: the reply is JSON that is nested too deeply to be read 200 300000\n"
    ), result.error
    body = result.calls[0].response
    assert isinstance(body, LargeBody)
    assert (hashlib.sha256(body.read()).hexdigest(), len(body.read())) == (body.sha256, body.size)
    assert json.loads(body.read()) == items
    assert body.beginning.startswith('[{"id": 0, "name": "')
    file = body.path
    del result, body
    until = time.monotonic() + 10
    while file.exists() and time.monotonic() < until:
        gc.collect()
        time.sleep(0.01)  # the thread that answered the last call may still be leaving
    assert not file.exists()


def test_replies_of_parallel_calls_do_not_mix(api: LocalAPI) -> None:
    """Each is many times what the channel takes at once."""
    for letter in "abcdefgh":
        api.answer("GET", f"/cities/{letter}", letter * 3_000_000)

    result = run(
        api,
        """\
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(8) as pool:
            print([set(text) for text in pool.map(GET_cities_city_id, "abcdefgh")])
        """,
    )

    assert result.stdout == str([{letter} for letter in "abcdefgh"]) + "\n", result.error


ATTEMPT = """
def attempt(call, *args, **options):
    try:
        call(*args, **options)
    except (ToolError, requests.RequestException):
        pass
"""

GROWTH = """
import json, sys, threading
from protocols import load
from sandbox import Journal, Limits, Sandbox
from tests.local_api import document

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) // 1024

protocol = load(document(sys.argv[1]))
Sandbox(protocol, journal=Journal()).run("GET_cities_city_id('oslo')")
before = peak()
for program in json.loads(sys.argv[2]):
    run = Sandbox(protocol, limits=Limits(wall=120, cpu=60), journal=Journal()).run(program)
    print(peak() - before, run.outcome, run.limit)
"""

POOL = "with ThreadPoolExecutor(8) as pool: list(pool.map({}))"


@pytest.mark.parametrize(
    "programs",
    [
        [
            (POOL.format("GET_cities_city_id, ['huge'] * 8"), "ok None"),
            (POOL.format("GET_cities_city_id, ['nested'] * 15"), "ok None"),
            (POOL.format("lambda _: attempt(GET_cities_city_id, 'headers'), range(20)"), "ok None"),
            ("attempt(GET_cities_city_id, 'line')", "ok None"),
            ("GET_cities_city_id('bomb')", "limit response"),
        ],
        [
            (POOL.format("lambda _: requests.post(BASE + '/alerts', data=bytes(15_000_000)), range(16)"), "ok None"),
            ("for _ in range(12): POST_alerts(body=[[]] * 60_000)", "error None"),
            ("for _ in range(12): attempt(POST_alerts, **{f'a{i}': 1 for i in range(50_000)})", "ok None"),
            (
                "headers = {f'X{i}': '' for i in range(30_000)}\n"
                "for _ in range(20): attempt(requests.get, BASE + '/cities', headers=headers)",
                "ok None",
            ),
            ("for _ in range(30): attempt(requests.get, 'http://h/' + '😀' + 'x' * 900_000)", "ok None"),
            ("while True: print('x' * 1000)", "limit output"),
            ("raise ValueError('x' * 50_000_000)", "error None"),
        ],
    ],
    ids=["replies", "requests and output"],
)
def test_the_host_hardly_grows_whatever_a_program_does(api: LocalAPI, programs: list[tuple[str, str]]) -> None:
    """Large and deep replies, large requests, endless headers and names, much output: 80 MiB, with a journal.

    What a program repeats is more than that together, if one copy of each were kept.
    """
    api.answer("GET", "/cities/headers", {}, headers={f"X{number}": "a" * 65_000 for number in range(90)})
    api.answer("GET", "/cities/line", raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 100_000_000)
    packed = zlib.compress(zlib.compress(b"x" * 400_000_000))
    api.answer("GET", "/cities/huge", b"[" + b'"' + "ø".encode() * 8_000_000 + b'"]')
    api.answer("GET", "/cities/nested", [[]] * 60_000)
    api.answer("GET", "/cities/bomb", packed, headers={"Content-Encoding": "deflate, deflate"})
    start = f"import requests\nfrom concurrent.futures import ThreadPoolExecutor\nBASE = {api.url!r}\n{ATTEMPT}\n"
    texts = json.dumps([start + program for program, _ in programs])

    process = subprocess.run(
        [sys.executable, "-c", GROWTH, api.url, texts], capture_output=True, text=True, check=False
    )

    assert process.returncode == 0, process.stderr
    lines = [line.split(" ", 1) for line in process.stdout.splitlines()]
    assert [outcome for _, outcome in lines] == [end for _, end in programs]
    assert max(int(grown) for grown, _ in lines) <= 80, lines


def test_a_second_run_that_no_longer_reads_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program may have run out of memory in its threads: what was sent to it is not waited for without end."""
    ended = run(None, "")
    monkeypatch.setattr(replay, "LONGEST", 0.3)
    ours, child = socket.socketpair()
    monkeypatch.setattr(workers, "take", lambda: workers.Worker(0, ours, cast("Any", None)))
    monkeypatch.setattr(workers, "retire", lambda worker: None)
    head = {"tool": "GET_cities", "args": [], "kwargs": {}, "id": 1, "line": 1, "task": []}
    answered = replay.ReplyLog()
    answered.add(answered.key(channel.CALL, head, b""), {"index": 0}, b"x" * 10_000_000)
    channel.send(child.fileno(), channel.encode(channel.CALL, head))

    provenance = replay.replay_run("GET_cities()", ended, answered, Limits(), {})

    assert provenance is None
    ours.close()
    child.close()


def test_a_program_may_catch_a_memory_error() -> None:
    """It is an exception like any other as long as it is caught."""
    result = run(None, "try:\n    x = 'x' * 900_000_000\nexcept MemoryError:\n    print('too much')")

    assert (result.outcome, result.stdout) == ("ok", "too much\n")


@pytest.mark.parametrize(
    "recursive",
    [
        "def f(n): return f(n + 1)",
        "def f(n): return sorted([n], key=lambda x: f(n + 1))",
        "class A:\n    def __repr__(self): return repr([self])\ndef f(n): return repr(A())",
    ],
)
def test_endless_recursion_is_an_error_of_the_program(recursive: str) -> None:
    """However high it sets its own limit, also where the recursion goes through C: the process does not crash."""
    result = run(None, f"import sys\nsys.setrecursionlimit(10 ** 9)\n{recursive}\nf(0)")

    assert result.outcome == "error"
    assert result.error is not None
    assert result.error.type == "RecursionError"


def test_resources_are_measured() -> None:
    """Seconds, MiB and bytes are those of the program's own process."""
    result = run(None, "x = bytearray(60_000_000)\nfor i in range(0, len(x), 4096): x[i] = 1\nprint('done')")

    assert 60 < result.resources.memory < 200
    assert 0 < result.resources.cpu < result.resources.wall < 10
    assert result.resources.output == 5


def test_an_interrupt_ends_the_child_and_keeps_the_calls(api: LocalAPI, tmp_path: Path) -> None:
    """Ctrl-C in the terminal: the run returns, says so, and has what was done until then."""
    script = tmp_path / "interrupted.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        "from protocols import load\nfrom sandbox import Sandbox\nfrom tests.local_api import document\n"
        f"sandbox = Sandbox(load(document({api.url!r})))\n"
        "run = sandbox.run('GET_cities_city_id(\"oslo\")\\nprint(1)\\nwhile True: pass')\n"
        "print(run.outcome, len(run.calls), repr(run.stdout))\n"
    )
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    while not api.requests:
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)

    assert process.communicate(timeout=5)[0] == "interrupted 1 '1\\n'\n"


def test_calls_beyond_the_limit_are_not_recorded(api: LocalAPI) -> None:
    """However many are made at once, or forged: the one that is too many ends the run."""
    program = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def call(n):\n"
        "    try: GET_cities(query=str(n))\n"
        "    except BaseException: pass\n"
        "with ThreadPoolExecutor(64) as pool: list(pool.map(call, range(3000)))\n"
    )
    with Sandbox(api.protocol, limits=Limits(calls=10)) as sandbox:
        run = sandbox.run(program)

    assert (run.outcome, run.limit) == ("limit", "calls")
    assert len(run.calls) <= 11
