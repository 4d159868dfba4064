"""What the journal promises: no write twice, whatever failed in between; the same replies in the same places."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atc import Agent
from atc.cli import main
from protocols import Protocol, load
from protocols.calls.auth import Credential
from protocols.errors import UsageError
from sandbox import Broker, CallRecord, Journal, Limits, Sandbox
from tests.local_api import PREFIX, Answer, LocalAPI, Received, document
from tests.scripted import ScriptedModel

SECRET = "tok/en+4711=="
STORM = 'POST_alerts(text="Storm")'


class Orders:
    """Counts the alerts that were posted, and numbers them."""

    def __init__(self, api: LocalAPI, wait: Callable[[], float] = lambda: 0.0) -> None:
        self.made: list[object] = []
        self._wait = wait
        self._lock = threading.Lock()
        api.respond("POST", "/alerts", self.post)

    def post(self, received: Received) -> Answer:
        wait = self._wait()
        time.sleep(wait)
        with self._lock:
            self.made.append(received.json())
            return Answer(body={"text": "Storm", "level": len(self.made)})


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [{"id": "oslo", "name": "Oslo"}]})
        api.answer("GET", "/cities/oslo", {"id": "oslo", "name": "Oslo"})
        api.answer("GET", "/alerts", [])
        api.answer("POST", "/alerts", {"text": "Storm", "level": 3})
        yield api


def more(api: LocalAPI) -> Protocol:
    """The protocol with more writes: an item that can be put and patched, a payment with an idempotency key."""
    text = document(api.url)
    paths = text["paths"]
    assert isinstance(paths, dict)
    city = {"type": "object", "properties": {"name": {"type": "string"}, "population": {"type": "integer"}}}
    body = {"content": {"application/json": {"schema": city}}}
    ok = {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}}}
    key = {"name": "Idempotency-Key", "in": "header", "required": True, "schema": {"type": "string", "format": "uuid"}}
    paths["/cities/{city_id}"] |= {
        "put": {"requestBody": body, "responses": ok},
        "patch": {"requestBody": body, "responses": ok},
    }
    paths["/payments"] = {"post": {"parameters": [key], "requestBody": body, "responses": ok}}
    return load(text)


def sent(api: LocalAPI, *methods: str) -> list[str]:
    """What arrived: `POST /alerts`."""
    requests = [f"{request.method} {request.path.removeprefix(PREFIX)}" for request in api.requests]
    return [text for text in requests if not methods or text.partition(" ")[0] in methods]


def runs(protocol: Protocol, journal: Journal | None, *programs: str) -> list[str]:
    """Run programs one after the other, as attempts at the same thing: what each printed, or its error."""
    outputs = []
    with Sandbox(protocol, journal=journal) as sandbox:
        for program in programs:
            run = sandbox.run(program)
            outputs.append(run.stdout.strip() if run.outcome == "ok" else f"{run.error and run.error.message}")
    return outputs


# --- Across attempts


@pytest.mark.parametrize(
    "call",
    [
        "requests.get(base + '/cities?query=%{byte}')",
        "requests.get(base + '/cities/%{byte}')",
        "requests.post(base + '/alerts', data=b'text=%{byte}', headers={{'Content-Type': "
        "'application/x-www-form-urlencoded'}})",
    ],
)
def test_bytes_that_are_no_text_tell_calls_apart(api: LocalAPI, call: str) -> None:
    program = f"import requests\nbase = {api.url!r}\nprint({call}.status_code)"
    first, other = (program.format(byte=byte) for byte in ("FF", "FE"))
    for byte in ("FF", "FE"):
        api.answer("GET", f"/cities/%{byte}", {"id": byte})
    with Journal() as journal:
        runs(api.protocol, journal, first, other, first)

    assert len(api.requests) == 2


def test_a_repaired_program_repeats_no_write(api: LocalAPI) -> None:
    """The second program begins with the write of the first one, on another line; the service sees it once."""
    orders = Orders(api)
    model = ScriptedModel(f'alert = {STORM}\nprint(alert["lvl"])', f'\n\nalert = {STORM}\nprint(alert["level"])')

    agent = Agent(api.protocol, model=model, writes="allow", without=["check"])
    solution = agent.solve("Warn of a storm. Which level does it have?")

    assert (solution.answer, len(orders.made)) == ("1", 1)
    first, second = (attempt.calls[0] for attempt in solution.attempts)
    assert (first.replayed, second.replayed, second.attempts, second.response) == (False, True, 0, first.response)
    assert solution.abandoned == ()


def test_without_a_journal_it_would_be_repeated(api: LocalAPI) -> None:
    """The same without a journal, so that the test above shows something."""
    orders = Orders(api)
    runs(api.protocol, None, STORM, STORM)

    assert len(orders.made) == 2


def test_both_styles_make_the_same_call(api: LocalAPI) -> None:
    """A function's call and a request to the same operation are one call, whatever the order of names."""
    orders = Orders(api)
    by_request = (
        "import requests\n"
        f"reply = requests.post({api.url!r} + '/alerts', json={{'level': 3, 'text': 'Storm'}})\n"
        "print(reply.json()['level'], reply.status_code)"
    )
    by_text = by_request.replace("json={", "data='{").replace(
        "'level': 3, 'text': 'Storm'}", '"text":"Storm","level":3}\''
    )
    outputs = runs(api.protocol, Journal(), 'print(POST_alerts(text="Storm", level=3)["level"])', by_request, by_text)

    assert outputs == ["1", "1 200", "1 200"]
    assert len(orders.made) == 1


def test_other_arguments_are_another_call(api: LocalAPI) -> None:
    """Only what asks for the same is the same; and writes that are not repeated are listed."""
    journal = Journal()
    orders = Orders(api)
    runs(api.protocol, journal, STORM, 'POST_alerts(text="Rain")')

    assert len(orders.made) == 2
    assert [(call.tool, call.arguments, call.status) for call in journal.abandoned] == [
        ("POST_alerts", {"text": "Storm"}, 200)
    ]


def test_equal_writes_of_one_program_are_all_sent(api: LocalAPI) -> None:
    """Who writes the same three times means it; a repaired program gets the three replies in their order."""
    orders = Orders(api)
    program = "print([POST_alerts(text='Storm')['level'] for _ in range({})])"

    assert runs(api.protocol, Journal(), program.format(3), program.format(4), program.format(2)) == [
        "[1, 2, 3]",
        "[1, 2, 3, 4]",
        "[1, 2]",
    ]
    assert len(orders.made) == 4


def test_a_thousand_schedules_give_the_same_results(api: LocalAPI) -> None:
    """Equal writes side by side: whichever thread is first, each task gets the reply of the same task before."""
    journal = Journal()
    draw = random.Random(1)
    tasks = [(f"order#{number}",) for number in range(8)]
    levels = iter(range(1, 9))

    def run_all(answer: Callable[[], int]) -> dict[tuple[str, ...], int]:
        attempt = journal.attempt()
        got: dict[tuple[str, ...], int] = {}
        order = draw.sample(tasks, len(tasks))
        start = threading.Barrier(4)

        def work(mine: Sequence[tuple[str, ...]]) -> None:
            start.wait()
            for task in mine:
                entry, lookup = attempt.begin("the same", task, RECORD)
                if lookup == "new":
                    attempt.sent(entry)
                    attempt.finish(entry, "confirmed", {"status": 200, "error": None, "level": answer()})
                got[task] = attempt.reply(entry)[0]["level"]

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, [order[i::4] for i in range(4)]))
        return got

    first = run_all(lambda: next(levels))
    assert sorted(first.values()) == list(range(1, 9))
    assert all(run_all(lambda: -1) == first for _ in range(1000))


def test_whole_programs_in_any_schedule(api: LocalAPI) -> None:
    """The same with real programs, threads and delays; the repaired one has its pool elsewhere."""
    draw = random.Random(2)
    orders = Orders(api, wait=lambda: draw.random() / 100)
    program = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def warn(n):\n"
        "    return POST_alerts(text='Storm')['level']\n"
        "with ThreadPoolExecutor(6) as pool:\n"
        "    print(list(pool.map(warn, range(6))))\n"
    )
    nested = program.replace("POST_alerts(text='Storm')['level']", "ThreadPoolExecutor(1).submit(once).result()")
    nested = "def once(): return POST_alerts(text='Storm')['level']\n" + nested
    renamed = program.replace("warn", "alarm")
    loop = "print([POST_alerts(text='Storm')['level'] for _ in range(6)])"
    for text, repaired in (
        (program, program),
        (nested, nested),
        (program, renamed),
        (program, nested),
        (loop, renamed),
    ):
        count = len(orders.made)
        first, *repeats = runs(api.protocol, Journal(), text, *[BEFORE + repaired.replace("(6) as", "(4) as")] * 6)
        assert len(orders.made) == count + 6
        assert set(repeats) == {first}
        assert len(json.loads(first)) == 6


BEFORE = "print(end='')\nGET_cities(query='Oslo')\n"
RECORD = CallRecord(0, "POST_alerts", "POST", "http://api/alerts", {}, 1, None, 0.0, 0, "function")


# --- Reads


def test_reads_are_replayed_until_something_is_written(api: LocalAPI) -> None:
    """A read is replayed where the same writes came before it, and sent where others did."""
    read = "GET_alerts()\n"
    runs(api.protocol, Journal(), read, read, read + STORM, f"{read}{STORM}\n{read}", f"{STORM}\n{read}")

    assert sent(api) == ["GET /alerts", "POST /alerts", "GET /alerts"]


def test_reads_after_another_write_are_sent(api: LocalAPI) -> None:
    """The repaired program writes something else first, so what was read before may be out of date."""
    runs(api.protocol, Journal(), f"{STORM}\nGET_alerts()", "POST_alerts(text='Rain')\nGET_alerts()", "GET_alerts()")

    assert sent(api, "GET") == ["GET /alerts"] * 3


def test_a_failed_read_is_sent_again(api: LocalAPI) -> None:
    """Only a success is replayed."""
    api.script("GET", "/alerts", Answer(404, {"message": "not yet"}), Answer(body=[]))

    assert runs(api.protocol, Journal(), "GET_alerts()", "print(GET_alerts())")[1] == "[]"


def test_refresh_sends_all_reads_and_no_write(api: LocalAPI) -> None:
    """With refresh, what is read is up to date; writes stay as they are."""
    orders = Orders(api)
    runs(api.protocol, Journal(refresh=True), *[f"GET_cities(query='Oslo')\n{STORM}"] * 3)

    assert (len(sent(api, "GET")), len(orders.made)) == (3, 1)


def test_large_and_odd_replies_are_replayed_as_they_were(api: LocalAPI) -> None:
    """Text, empty bodies, headers, redirect histories and bodies over 256 KiB come back the same."""
    big = {"name": "x" * 400_000}
    api.answer("GET", "/cities/big", big)
    api.answer("GET", "/cities/text", "plain", headers={"X-Kind": "odd"})
    api.answer("GET", "/cities/old", status=302, headers={"Location": f"{PREFIX}/cities/oslo"})
    api.answer("DELETE", "/cities/oslo", status=204)
    program = (
        "import requests\n"
        f"base = {api.url!r}\n"
        "print(len(GET_cities_city_id(city_id='big')['name']))\n"
        "r = requests.get(base + '/cities/text')\n"
        "print(r.text, r.headers['x-kind'], r.status_code, r.url)\n"
        "r = requests.get(base + '/cities/old')\n"
        "print(r.json(), r.url, [h.status_code for h in r.history])\n"
        "print(DELETE_cities_city_id(city_id='oslo'))\n"
    )
    first, second = runs(api.protocol, Journal(), program, program)

    assert first == second
    assert len(sent(api)) == 5


def test_the_host_hardly_grows_by_a_journal(api: LocalAPI) -> None:
    """Two runs with sixty replies of 4 MB each: they lie in a file, in the journal too."""
    api.answer("GET", "/cities/huge", b'["' + b"x" * 4_000_000 + b'"]')
    program = "with ThreadPoolExecutor(8) as pool: list(pool.map(GET_cities_city_id, ['huge'] * 60))"
    text = f"from concurrent.futures import ThreadPoolExecutor\n{program}"
    process = subprocess.run([sys.executable, "-c", GROWTH, api.url, text], capture_output=True, text=True, check=False)

    assert process.returncode == 0, process.stderr
    grown, outcomes = process.stdout.split(" ", 1)
    assert (outcomes.strip(), len(sent(api))) == ("ok True ok True", 61)
    assert int(grown) <= 64


GROWTH = """
import sys
from protocols import load
from sandbox import Journal, Sandbox
from tests.local_api import document

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) // 1024

sandbox = Sandbox(load(document(sys.argv[1])), journal=Journal())
sandbox.run("GET_cities_city_id('oslo')")
before = peak()
runs = [sandbox.run(sys.argv[2]) for _ in range(2)]
replayed = [all(call.replayed for call in run.calls) for run in runs]
print(peak() - before, *(word for run, old in zip(runs, replayed) for word in (run.outcome, old == (run is runs[1]))))
"""


# --- Writes whose outcome is not known


def test_a_write_without_a_reply_is_not_sent_again(api: LocalAPI) -> None:
    """The connection breaks after the request left: the program, the next one and the solution are told so."""
    api.script("POST", "/alerts", Answer(cut=True), Answer(body={"level": 1}))
    read = "GET_cities(query='Oslo')\n"
    model = ScriptedModel(f"{read}try:\n    {STORM}\nexcept ToolError:\n    {STORM}", f"{read}{STORM}", "print(1)")

    with Agent(api.protocol, model=model, mode="naive", writes="allow", max_reflections=1) as agent:
        solution = agent.solve("Warn of a storm")

    assert sent(api, "POST") == ["POST /alerts"]
    why = "POST_alerts: a call like this was sent before and its outcome is unknown; it was not sent again"
    assert [str(attempt.fault and attempt.fault.message) for attempt in solution.attempts] == [why, why]
    assert any("not known whether this write was done" in line and "Storm" in line for line in solution.warnings)


@pytest.mark.parametrize(("status", "times"), [(500, 1), (503, 1), (302, 1), (400, 2), (404, 2), (409, 2)])
def test_what_a_status_says_about_a_write(api: LocalAPI, status: int, times: int) -> None:
    """A 4xx means that nothing was done; a 5xx leaves it open."""
    api.answer("POST", "/alerts", {"message": "no"}, status=status)
    runs(api.protocol, Journal(), STORM, STORM)

    assert len(sent(api)) == times


def test_a_write_that_never_left_is_sent_later(api: LocalAPI) -> None:
    """Nobody listened the first time; that is known for sure."""
    orders = Orders(api)
    journal = Journal()
    gone = "http://127.0.0.1:9/v1"
    with Sandbox(api.documented, base_url=gone, journal=journal) as sandbox:
        assert "connection refused" in str(sandbox.run(STORM).error)
    with Sandbox(api.documented, base_url=api.url, journal=journal) as sandbox:
        sandbox.run(STORM)

    assert len(orders.made) == 1
    assert journal.unknown == ()


def test_a_timeout_leaves_a_write_open(api: LocalAPI) -> None:
    """The service takes too long, and may do it all the same."""
    api.answer("POST", "/alerts", {}, wait=2.0)
    journal = Journal()
    with Sandbox(api.protocol, journal=journal, limits=Limits(request_timeout=0.2)) as sandbox:
        sandbox.run(STORM)
        sandbox.run(STORM)

    assert (len(sent(api)), len(journal.unknown)) == (1, 1)


@pytest.mark.parametrize(
    ("status", "item", "requests"),
    [
        (404, {}, ["DELETE /cities/oslo", "GET /cities/oslo"]),
        (410, {}, ["DELETE /cities/oslo", "GET /cities/oslo"]),
        (200, {"id": "oslo"}, ["DELETE /cities/oslo", "GET /cities/oslo", "DELETE /cities/oslo"]),
        (500, {}, ["DELETE /cities/oslo", "GET /cities/oslo"]),
    ],
)
def test_a_delete_is_settled_by_a_read(api: LocalAPI, status: int, item: object, requests: list[str]) -> None:
    """The city is gone: it was done. The city is there: it was not. Otherwise nobody knows."""
    api.script("DELETE", "/cities/oslo", Answer(cut=True), Answer(204))
    api.answer("GET", "/cities/oslo", item, status=status)
    journal = Journal()
    program = "print(DELETE_cities_city_id(city_id='oslo'))"
    outputs = runs(api.protocol, journal, program, program)

    assert sent(api) == requests
    assert (outputs[1] == "None", len(journal.unknown)) == ((True, 0) if status != 500 else (False, 1))


@pytest.mark.parametrize(
    ("method", "item", "times"),
    [
        ("PUT", {"id": 1, "name": "Oslo", "population": 7}, 1),
        ("PATCH", {"city": {"name": "Oslo", "population": "7"}}, 1),
        ("PUT", {"name": "Oslo", "population": 6}, 2),
        ("PATCH", {"name": "Oslo"}, 1),
    ],
)
def test_a_put_is_settled_by_a_read(api: LocalAPI, method: str, item: object, times: int) -> None:
    """All that was sent is there: it was done. Something differs: it was not. Something is missing: nobody knows."""
    api.script(method, "/cities/oslo", Answer(cut=True), Answer(body={"name": "sent"}))
    api.answer("GET", "/cities/oslo", item)
    journal = Journal()
    program = f"print({method}_cities_city_id(city_id='oslo', name='Oslo', population=7))"
    outputs = runs(more(api), journal, program, program, program)

    assert len(sent(api, method)) == times
    assert len(journal.unknown) == (item == {"name": "Oslo"})
    if not journal.unknown:
        assert outputs[1] == outputs[2] == str(item if times == 1 else {"name": "sent"})


def test_an_idempotency_key_lets_a_write_be_sent_again(api: LocalAPI) -> None:
    """Where the operation documents one, the broker fills it in, and an open write goes again with the same key."""
    api.script("POST", "/payments", Answer(cut=True), Answer(body={"paid": 1}), Answer(body={"paid": 2}))
    outputs = runs(
        more(api),
        Journal(),
        "POST_payments(name='x')",
        "print(POST_payments(name='x'))\nprint(POST_payments(name='x'))",
        "print(POST_payments(name='x'))\nprint(POST_payments(name='x'))",
    )
    keys = [request.headers["idempotency-key"] for request in api.requests]

    assert outputs[1:] == ["{'paid': 1}\n{'paid': 2}"] * 2
    assert keys[0] == keys[1] != keys[2]
    assert len(keys) == 3


def test_a_program_may_bring_its_own_idempotency_key(api: LocalAPI) -> None:
    """The first one counts: a repaired program that draws another key means the same payment."""
    api.script("POST", "/payments", Answer(500, {}), Answer(body={"paid": 1}))
    pay = "print(POST_payments(name='x', Idempotency_Key='{}'))"
    first_key, second_key = "6f2b6b4e-8d1c-4f0e-9d43-0a4f0e1b8a11", "00000000-0000-4000-8000-000000000001"
    outputs = runs(more(api), Journal(), pay.format(first_key), pay.format(second_key), pay.format(second_key))

    assert outputs[1:] == ["{'paid': 1}"] * 2
    assert [request.headers["idempotency-key"] for request in api.requests] == [first_key, first_key]


# --- The file


def test_a_journal_goes_on_in_another_process(api: LocalAPI, tmp_path: Path) -> None:
    """What is confirmed is replayed from the file, what was under way is unknown, what was planned is forgotten."""
    orders = Orders(api)
    file = tmp_path / "solve.journal"
    with Journal(file) as journal:
        runs(api.protocol, journal, STORM)
        attempt = journal.attempt()
        for key, state in (("a", "sent"), ("b", "planned")):
            entry, _ = attempt.begin(key, (), replace(RECORD, arguments={"key": key}))
            if state == "sent":
                attempt.sent(entry)
    with Journal(file) as journal:
        assert [call.arguments for call in journal.unknown] == [{"key": "a"}]
        runs(api.protocol, journal, STORM)

    assert len(orders.made) == 1
    assert oct(file.stat().st_mode)[-3:] == "600"


def test_no_secret_is_in_the_file(api: LocalAPI, tmp_path: Path) -> None:
    """The credential goes to the service, which echoes it; neither is in the file."""
    api.respond("POST", "/alerts", lambda got: Answer(body={"text": got.headers["authorization"]}))
    file = tmp_path / "solve.journal"
    credentials = [Credential("bearer", SECRET)]
    with Journal(file) as journal, Sandbox(api.protocol, journal=journal, credentials=credentials) as sandbox:
        sandbox.run(f"POST_alerts(text='{SECRET}')")
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())

    assert api.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert b"POST_alerts" in written
    assert SECRET.encode() not in written


def test_a_journal_is_for_one_process(tmp_path: Path) -> None:
    """Two that use one file would each believe in their own."""
    file = tmp_path / "solve.journal"
    with Journal(file), pytest.raises(UsageError, match="in use by another process"):
        Journal(file)
    Journal(file).close()


def test_other_files_are_no_journals(tmp_path: Path) -> None:
    """A text, another database, a journal of another version: one line each, and the file stays as it is."""
    text, database, old = (tmp_path / name for name in ("text", "database", "old"))
    text.write_text("not a journal, however long it is\n" * 100)
    with closing(sqlite3.connect(database)) as base:
        base.execute("CREATE TABLE mine (x)")
    Journal(old).close()
    with closing(sqlite3.connect(old)) as base:
        base.execute("PRAGMA user_version = 99")
    before = [file.read_bytes() for file in (text, database)]

    for file, why in ((text, "is no journal"), (database, "is no journal"), (old, "version 99, not 1")):
        with pytest.raises(UsageError, match=why):
            Journal(file)
    assert [file.read_bytes() for file in (text, database)] == before


def test_a_full_disk_stops_the_call(api: LocalAPI, tmp_path: Path) -> None:
    """A call that cannot be written down is not sent."""
    with Journal(tmp_path / "solve.journal") as journal:
        journal._base.execute("PRAGMA max_page_count = 1")
        with pytest.raises(UsageError, match="cannot be written"):
            runs(api.protocol, journal, "POST_alerts(text='x' * 100_000)")

    assert api.requests == []


def test_what_the_journal_costs(api: LocalAPI, tmp_path: Path) -> None:
    """Less than a millisecond for a call, on disk; measured here with room to spare for a busy machine."""
    reply = {"status": 200, "error": None, "headers": {"Content-Type": "application/json"}}
    times = []
    with Journal(tmp_path / "solve.journal") as journal:
        attempt = journal.attempt()
        for number in range(300):
            started = time.perf_counter()
            entry, _ = attempt.begin(f"key {number}", (), RECORD)
            attempt.sent(entry)
            attempt.finish(entry, "confirmed", reply, b"x" * 500)
            times.append(time.perf_counter() - started)

    assert sorted(times)[150] < 0.005


# --- atc solve --journal and --resume


def specification(api: LocalAPI, folder: Path) -> Path:
    """The API's document as a file."""
    file = folder / "api.json"
    file.write_text(json.dumps(document(api.url)))
    return file


def atc(*arguments: str | Path) -> Result:
    """Run the command in this process, where there is no terminal."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def solve(api: LocalAPI, folder: Path, *options: str | Path) -> tuple[str | Path, ...]:
    """The arguments of a solve whose model is the scripted one."""
    spec = specification(api, folder)
    return ("solve", "Warn of a storm", "--api", spec, "--model", "openai:scripted", "--writes", "allow", *options)


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    """Start the command as a process of its own."""
    command = [sys.executable, "-c", "from atc.cli import main; main()", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


TWO_WRITES = 'print(POST_alerts(text="Storm")["level"], POST_alerts(text="Rain")["level"])'


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_solve_goes_on(
    api: LocalAPI, endpoint: Callable[..., None], tmp_path: Path, kill: signal.Signals
) -> None:
    """Killed while its second write is under way: resumed, it repeats neither, asks no model, and says what is open."""
    waiting = threading.Event()

    def post(received: Received) -> Answer:
        if b"Rain" in received.body:
            waiting.set()
            return Answer(body={"level": 2}, wait=30)
        return Answer(body={"level": 1})

    api.respond("POST", "/alerts", post)
    endpoint(TWO_WRITES, "print('the model was asked again')")
    file = tmp_path / "solve.journal"
    with start(*solve(api, tmp_path, "--journal", file, "--mode", "none")) as process:
        assert waiting.wait(60)
        os.kill(process.pid, kill)
        _, messages = process.communicate(timeout=30)
    result = atc("solve", "--resume", file, "--json")
    solution = json.loads(result.stdout)

    assert process.returncode == (-9 if kill == signal.SIGKILL else 130), messages
    if kill == signal.SIGINT:
        assert f"atc solve --resume {file} goes on from here" in messages
    assert sent(api) == ["POST /alerts", "POST /alerts"]
    assert result.exit_code == 1
    assert "its outcome is unknown; it was not sent again" in solution["message"]
    assert any("Rain" in line and "not known" in line for line in solution["warnings"])
    assert [call["replayed"] for call in solution["calls"]] == [True, False]
    assert solution["usage"]["model_calls"] == 1


def test_a_solve_cut_off_between_attempts_goes_on(api: LocalAPI, tmp_path: Path) -> None:
    """The first program fails after its write and a 404; the model is then gone. Resumed, only the model is asked."""
    orders = Orders(api)
    first = (
        f"alert = {STORM}\ntry:\n    GET_cities_city_id(city_id='nowhere')\nexcept ToolError:\n    print(alert['lvl'])"
    )
    file = tmp_path / "solve.journal"
    options: dict[str, Any] = {"writes": "allow", "without": ["check"]}
    with Journal(file) as journal, Agent(api.protocol, model=ScriptedModel(first), **options) as agent:
        assert agent.solve("Warn of a storm", journal=journal).status == "model_error"
    before = len(api.requests)
    model = ScriptedModel(f"alert = {STORM}\nprint(alert['level'])")
    with Journal(file) as journal, Agent(api.protocol, model=model, **options) as agent:
        solution = agent.solve("Warn of a storm", journal=journal)

    assert (solution.answer, solution.reflections, len(model.asked)) == ("1", 1, 1)
    assert len(api.requests) == before, "the 404 of the first attempt was not asked for again"
    assert [call.replayed for attempt in solution.attempts for call in attempt.calls] == [True] * 3
    assert len(orders.made) == 1


def test_a_finished_journal_tells_its_answer_again(
    api: LocalAPI, endpoint: Callable[..., None], tmp_path: Path
) -> None:
    """Nothing is asked or sent; --json and --out are what they were."""
    endpoint(f"print({STORM}['level'])")
    file = tmp_path / "solve.journal"
    first = atc(*solve(api, tmp_path, "--journal", file, "--json"))
    request_count = len(api.requests)
    again = atc("solve", "--resume", file)

    assert first.exit_code == again.exit_code == 0, first.stderr + again.stderr
    assert again.stdout == "3\n"
    assert atc("solve", "--resume", file, "--json").stdout == first.stdout
    assert len(api.requests) == request_count


def test_wrong_use_of_journals(api: LocalAPI, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Each mistake is one line that says what to do, and exit code 2."""
    endpoint("print(1)")
    file = tmp_path / "solve.journal"
    Journal(file).close()
    text = tmp_path / "text"
    text.write_text("x" * 200)
    cases = (
        (("solve", "--resume", file), "holds no question; start anew"),
        (("solve", "--resume", text), "is no journal of atc"),
        (("solve", "--resume", tmp_path / "nothing"), "does not exist"),
        (("solve", "--resume", file, "--seed", "3", "Why?"), "leave out QUERY, --seed"),
        (("solve", "Why?"), "Missing option '--api' (or --resume FILE)"),
        (("solve",), "Missing argument 'QUERY' (or --resume FILE)"),
        (solve(api, tmp_path, "--journal", file), f"--resume {file}"),
    )
    for arguments, why in cases:
        result = atc(*arguments)
        assert (result.exit_code, why in " ".join(result.stderr.split())) == (2, True), result.stderr
    with Journal(file):
        assert "in use by another process" in atc("solve", "--resume", file).stderr


def test_a_journal_belongs_to_its_question_and_document(api: LocalAPI, tmp_path: Path) -> None:
    """Going on with another question, or after the document has changed, could repeat what was done."""
    file = tmp_path / "solve.journal"
    with Journal(file) as journal, Agent(api.protocol, model=ScriptedModel("print(1)")) as agent:
        agent.solve("How many cities?", journal=journal)
        with pytest.raises(UsageError, match="belongs to another question: How many cities"):
            agent.solve("How many alerts?", journal=journal)
    with Journal(file) as journal, pytest.raises(UsageError, match="belongs to another document"):
        Agent(more(api), model=ScriptedModel("print(1)")).solve("How many cities?", journal=journal)


def test_the_broker_takes_an_attempt_of_a_journal(api: LocalAPI) -> None:
    """Without a sandbox, too: each attempt is the view of one broker."""
    journal = Journal()
    for _ in range(2):
        broker = Broker(api.protocol, journal=journal.attempt())
        assert broker.call("POST_alerts", (), {"text": "Storm"}) == {"text": "Storm", "level": 3}
        broker.close()

    assert len(api.requests) == 1
