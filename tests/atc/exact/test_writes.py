"""The writes policy: what is sent, what is asked, what is refused, and what a simulated API answers instead."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from atc import Agent
from protocols import load
from protocols.samples import sample
from sandbox import CallRecord, Journal, Limits, Sandbox
from tests.atc.exact.journal_runs import specification
from tests.atc_command import atc
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

STORM = "print(len(GET_alerts()), POST_alerts(text='Storm')['text'])"


def methods(api: LocalAPI) -> list[str]:
    """The methods of what arrived."""
    return [request.method for request in api.requests]


def test_a_program_cannot_swallow_the_refusal(api: LocalAPI) -> None:
    """A program that goes on after the refusal prints something, which is no answer all the same."""
    program = f"try:\n    {STORM}\nexcept ToolError:\n    print('warned')"
    with Agent(api.protocol, model=ScriptedModel(program), writes="deny") as agent:
        solution = agent.solve("Warn of a storm")

    assert (solution.status, solution.answer, solution.exit_code) == ("refused", None, 3)
    assert solution.attempts[0].run is not None
    assert solution.attempts[0].run.stdout == "warned\n"
    assert [call.refused for call in solution.calls] == [False, True]


def test_reads_are_never_refused(api: LocalAPI) -> None:
    """GET, HEAD and OPTIONS change nothing."""
    api.answer("HEAD", "/alerts")
    with Sandbox(api.protocol, writes="deny") as sandbox:
        run = sandbox.run(f"import requests\nGET_alerts()\nprint(requests.head({api.url!r} + '/alerts').status_code)")

    assert (run.stdout, methods(api)) == ("200\n", ["GET", "HEAD"])


def test_who_is_asked_sees_the_write(api: LocalAPI) -> None:
    """Tool, method, URL and arguments, of both styles; a yes sends it, a no does not."""
    questions: list[CallRecord] = []

    def confirm(call: CallRecord) -> bool:
        questions.append(call)
        return call.arguments["text"] != "Rain"

    program = (
        "import requests\n"
        "print(POST_alerts(text='Storm')['level'])\n"
        "try:\n"
        f"    requests.post({api.url!r} + '/alerts', json={{'text': 'Rain'}})\n"
        "except requests.ConnectionError as error:\n"
        "    print(error)"
    )
    with Sandbox(api.protocol, writes=confirm) as sandbox:
        run = sandbox.run(program)

    assert run.stdout == "3\nPOST_alerts: a write that was not confirmed\n"
    assert [(call.tool, call.method, call.url, call.arguments) for call in questions] == [
        ("POST_alerts", "POST", f"{api.url}/alerts", {"text": text}) for text in ("Storm", "Rain")
    ]
    assert methods(api) == ["POST"]


def test_the_time_of_an_answer_is_not_the_programs(api: LocalAPI) -> None:
    """Somebody may think for longer than the program may run; after that its own limit still holds."""

    def confirm(call: CallRecord) -> bool:
        time.sleep(1.0)
        return True

    with Sandbox(api.protocol, writes=confirm, limits=Limits(wall=0.6)) as sandbox:
        good = sandbox.run("POST_alerts(text='Storm')\nprint('done')")
        endless = sandbox.run("POST_alerts(text='Storm')\nimport time\ntime.sleep(20)")

    assert (good.outcome, good.stdout) == ("ok", "done\n")
    assert (endless.outcome, endless.limit) == ("limit", "wall")


def test_nobody_is_asked_about_what_is_replayed(api: LocalAPI) -> None:
    """A repaired program needs no second yes for the same write."""
    questions: list[CallRecord] = []

    def confirm(call: CallRecord) -> bool:
        questions.append(call)
        return True

    with Sandbox(api.protocol, writes=confirm, journal=Journal()) as sandbox:
        runs = [sandbox.run(STORM) for _ in range(3)]

    assert [run.stdout for run in runs] == ["0 Storm\n"] * 3
    assert (len(questions), methods(api)) == (1, ["GET", "POST"])


def test_simulated_writes_stay_on_this_machine(api: LocalAPI) -> None:
    """Reads are the service's, writes are answered by a simulated API; the records say so."""
    journal = Journal()
    with Sandbox(api.protocol, writes="simulate", journal=journal) as sandbox:
        runs = [sandbox.run(STORM) for _ in range(2)]

    assert [run.stdout for run in runs] == ["0 Storm\n"] * 2
    assert methods(api) == ["GET"]
    read, write = runs[1].calls
    assert (read.replayed, read.simulated, write.replayed, write.simulated) == (True, False, False, True)
    assert (write.url, write.attempts) == (f"{api.url}/alerts", 0)
    assert journal.abandoned == ()

    with Sandbox(api.protocol, writes="allow", journal=journal) as sandbox:  # and never replayed as a real one
        assert sandbox.run(STORM).outcome == "ok"
    assert methods(api) == ["GET", "POST"]


def test_what_cannot_be_simulated_is_refused(api: LocalAPI) -> None:
    """Without a protocol there is nothing to make a simulated API of."""
    with Sandbox(None, allow=[api.url.removesuffix("/v1")], writes="simulate") as sandbox:
        run = sandbox.run(f"import requests\nrequests.post({api.url!r} + '/alerts', json={{}})")

    assert "cannot be simulated (--writes simulate)" in str(run.error)
    assert (run.calls[0].refused, methods(api)) == (True, [])


def test_a_simulated_write_takes_real_identifiers() -> None:
    """What the real service has exists for the simulated one, too: a film that only the former knows is reviewed."""
    protocol = load(sample("cinema"))
    program = (
        "print(POST_films_filmId_reviews(filmId=987654321, stars=5, text='Good')['filmId'])\n"
        "print(PUT_me_watchlist(filmIds=[987654321, 123]), DELETE_me_watchlist(filmIds=[123]))"
    )
    with Sandbox(protocol, base_url="http://127.0.0.1:9", writes="simulate") as sandbox:
        run = sandbox.run(program)

    assert (run.error, run.stdout) == (None, "987654321\nNone None\n")


# --- The commands


def solve(api: LocalAPI, folder: Path, *options: str) -> tuple[str | Path, ...]:
    """The arguments of a solve whose model is the scripted one."""
    return ("solve", "Warn of a storm", "--api", specification(api, folder), "--model", "openai:scripted", *options)


@pytest.mark.parametrize(
    ("options", "code", "message", "sent"),
    [
        ((), 3, "nobody is there to confirm it; --writes allow allows it", ["GET"]),
        (("--writes", "deny"), 3, "POST_alerts: a write, which --writes deny refuses", ["GET"]),
        (("--writes", "allow"), 0, "answered", ["GET", "POST"]),
        (("--writes", "simulate"), 0, "(simulated)", ["GET"]),
        (("--simulate",), 0, "answered", []),
    ],
)
def test_solve_with_each_policy(
    api: LocalAPI,
    endpoint: Callable[..., None],
    tmp_path: Path,
    options: tuple[str, ...],
    code: int,
    message: str,
    sent: list[str],
) -> None:
    """By default `ask` against a real service, `allow` in a rehearsal; without a terminal `ask` is a no."""
    endpoint(STORM)
    result = atc(*solve(api, tmp_path, *options))

    assert (result.exit_code, methods(api)) == (code, sent), result.stderr
    assert message in result.stderr


@pytest.mark.parametrize(
    ("options", "code", "message", "sent"),
    [
        ((), 0, "", ["GET", "POST"]),
        (("--writes", "ask"), 3, "--writes allow allows it", ["GET"]),
        (("--writes", "simulate", "-v"), 0, "(simulated)", ["GET"]),
    ],
)
def test_run_with_each_policy(
    api: LocalAPI, tmp_path: Path, options: tuple[str, ...], code: int, message: str, sent: list[str]
) -> None:
    """By default `allow`: it is the user's own program."""
    program = tmp_path / "program.py"
    program.write_text(STORM)
    result = atc("run", program, "--api", specification(api, tmp_path), *options)

    assert (result.exit_code, methods(api)) == (code, sent), result.stderr
    assert message in result.stderr
    assert result.stdout == ("0 Storm\n" if code == 0 else "")


def test_a_refused_solve_goes_on_when_it_is_allowed(
    api: LocalAPI, endpoint: Callable[..., None], tmp_path: Path
) -> None:
    """The journal has all but the write: --resume with --writes allow sends just that."""
    endpoint(STORM)
    file = tmp_path / "solve.journal"
    refused = atc(*solve(api, tmp_path, "--journal", str(file)))
    result = atc("solve", "--resume", file, "--writes", "allow")

    assert refused.exit_code == 3
    assert f"atc solve --resume {file} goes on from here" in refused.stderr
    assert (result.exit_code, result.stdout) == (0, "0 Storm\n")
    assert methods(api) == ["GET", "POST"]


def test_a_terminal_is_asked(api: LocalAPI, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """The live view makes room for the question, which shows the request; its word sends it."""
    endpoint(STORM)
    status, screen = on_terminal([*ATC, *map(str, solve(api, tmp_path))], {"for yes": "WORD\n"})

    assert (status, methods(api)) == (0, ["GET", "POST"]), screen
    assert "The program wants to write: POST_alerts" in screen
    assert f"POST {api.url}/alerts" in screen
    assert 'text: "Storm"' in screen


def test_an_empty_line_at_the_question_is_a_no(api: LocalAPI, tmp_path: Path) -> None:
    """Whoever presses Enter by habit sends nothing."""
    (tmp_path / "program.py").write_text(STORM)
    command = [*ATC, "run", str(tmp_path / "program.py"), "--api", str(specification(api, tmp_path))]
    status, screen = on_terminal([*command, "--writes", "ask"], {"for no:": "\n"})

    assert (status, methods(api)) == (3, ["GET"]), screen


def test_ctrl_c_at_the_question_ends_the_command(api: LocalAPI, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Nothing is sent, and nobody has to press return for it."""
    endpoint(STORM)
    status, screen = on_terminal([*ATC, *map(str, solve(api, tmp_path))], {"Send it?": "\x03"})

    assert (status, methods(api)) == (130, ["GET"]), screen


ATC = [sys.executable, "-c", "from atc.apps.cli import main; main()"]


def on_terminal(command: list[str], replies: dict[str, str]) -> tuple[int, str]:
    """Run a command on a terminal of its own; type each reply once its text is seen. Gives exit code and screen.

    WORD in a reply is the word of the question.
    """
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    typed_at: dict[str, float] = {}
    sent = b""
    with subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
        preexec_fn=_controlling,
    ) as process:
        os.close(theirs)
        deadline = time.monotonic() + 110  # a command starts slowly where many run at once
        with suppress(OSError):  # how Linux says that nobody holds the other end any more
            while time.monotonic() < deadline:
                if select.select([ours], [], [], 0.1)[0]:
                    sent += os.read(ours, 65536)
                for text, reply in replies.items():  # again where it came before the question listened
                    if text.encode() in sent and time.monotonic() - typed_at.get(text, 0.0) > 5:
                        typed_at[text] = time.monotonic()
                        word = re.findall(rb"Type (\w+) for yes", sent)[-1:] or [b""]
                        os.write(ours, reply.encode().replace(b"WORD", word[0]))
        os.close(ours)
    return process.returncode, re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sent.decode(errors="replace"))


def _controlling() -> None:
    """The terminal becomes the one whose ctrl-C the process gets."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
