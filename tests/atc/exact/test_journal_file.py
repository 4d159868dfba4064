"""The journal's file, and the solves that go on from it: `atc solve --journal` and `--resume`."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from atc import Agent
from protocols.calls.credentials import BearerToken
from protocols.errors import UsageError
from sandbox import Journal, Sandbox
from tests.atc.exact.journal_runs import RECORD, STORM, Orders, more, runs, sent, specification
from tests.atc_command import atc
from tests.local_api import Answer, LocalAPI, Received
from tests.scripted import ScriptedModel

SECRET = "tok/en+4711=="


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
    credentials = [BearerToken(SECRET)]
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

    for file, why in ((text, "is no journal"), (database, "is no journal"), (old, "version 99, not 3")):
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


# --- atc solve --journal and --resume


def solve(api: LocalAPI, folder: Path, *options: str | Path) -> tuple[str | Path, ...]:
    """The arguments of a solve whose model is the scripted one."""
    spec = specification(api, folder)
    return ("solve", "Warn of a storm", "--api", spec, "--model", "openai:scripted", "--writes", "allow", *options)


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    """Start the command as a process of its own."""
    command = [sys.executable, "-c", "from atc.apps.cli import main; main()", *map(str, arguments)]
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
    options: dict[str, Any] = {"writes": "allow", "ablate": ["check"]}
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
