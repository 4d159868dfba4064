"""The `atc` command as a user has it: what goes to stdout, what to stderr, and with which exit code it ends."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click
import pytest
import requests
from click.testing import CliRunner, Result

from atc.cli import main
from atc.solution import EXIT_CODES
from benchmarks.cli import BenchCommand
from tests.local_api import LocalAPI

ATC = str(Path(sys.executable).with_name("atc"))
QUESTION = "Who directed The Long Tide?"
RIGHT = """```python
film = GET_search_film(query="The Long Tide")["results"][0]
crew = GET_film_film_id_credits(film_id=film["id"])["crew"]
print([person["name"] for person in crew if person["job"] == "Director"][0])
```"""
WRONG = RIGHT.replace('["results"][0]', '["results"][99]')


def atc(*arguments: str | Path) -> Result:
    """Run the command in this process, where there is no terminal."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def solve(films: Path, *arguments: str | Path) -> Result:
    """Ask the scripted model about a simulated API."""
    return atc("solve", QUESTION, "--api", films, "--simulate", "--model", "openai:scripted", *arguments)


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    """Start the command as a process of its own."""
    command = [ATC, *(str(argument) for argument in arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def on_terminal(command: list[str]) -> str:
    """Run a command on a terminal of 80 columns; all that it sends there."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "30"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        sent = b""
        with suppress(OSError):  # how Linux says that nobody holds the other end any more
            while chunk := os.read(ours, 65536):
                sent += chunk
        os.close(ours)
    assert process.returncode == 0, sent
    return sent.decode()


# --- atc solve


def test_solve_prints_the_answer(films: Path, endpoint: Callable[..., None]) -> None:
    """The answer alone is on stdout; how it was found is on stderr, as plain lines."""
    endpoint(RIGHT)
    result = solve(films)

    assert result.exit_code == 0, result.stderr
    assert len(result.stdout.splitlines()) == 1
    assert f"query: {QUESTION}" in result.stderr
    assert "GET_film_film_id_credits(film_id=" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("answered · 0 reflections · 2 calls")


def test_solve_repairs_and_writes_the_solution(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """--out has every attempt with its fault and attribution; --json prints the same and nothing else."""
    endpoint(WRONG, RIGHT)
    result = solve(films, "--out", tmp_path / "solution.json", "--json")
    solution = json.loads(result.stdout)

    assert result.exit_code == 0
    assert result.stderr == ""
    assert solution == json.loads((tmp_path / "solution.json").read_text())
    assert solution["status"] == "answered"
    assert solution["reflections"] == 1
    assert [attempt["stage"] for attempt in solution["attempts"]] == ["run", "done"]
    assert solution["attempts"][0]["attribution"]["tool"] == "GET_search_film"
    assert [call["tool"] for call in solution["calls"]] == ["GET_search_film", "GET_film_film_id_credits"]
    assert solution["usage"]["model_calls"] == 2
    assert [file.name for file in tmp_path.iterdir()] == ["solution.json"]


def test_solve_verbose_shows_programs(films: Path, endpoint: Callable[..., None]) -> None:
    """-v adds the programs to the log."""
    endpoint(RIGHT)

    assert '    film = GET_search_film(query="The Long Tide")["results"][0]' in solve(films, "-v").stderr


def test_solve_shows_what_was_wrong_before_a_run(films: Path, endpoint: Callable[..., None]) -> None:
    """A program that is not run is told of like any that fails."""
    endpoint(RIGHT.replace('["results"][0]', '["results"][0]["director"]'), RIGHT)
    result = solve(films, "-v", "--profile", "small")

    assert result.exit_code == 0, result.stderr
    assert "to blame: GET_search_film (seen before anything ran)" in result.stderr


def test_solve_that_fails(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Without an answer the reason is one line on stderr, the exit code 1, and the attempts are in --out."""
    endpoint(WRONG)
    result = solve(films, "--max-reflections", "1", "--out", tmp_path / "s.json")

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1].startswith("atc: not solved in 2 attempts: IndexError")
    assert len(json.loads((tmp_path / "s.json").read_text())["attempts"]) == 2


def test_solve_refused_by_policy(films: Path, endpoint: Callable[..., None]) -> None:
    """A program that wants the file system is refused: exit code 3."""
    endpoint("```python\nprint(open('/etc/passwd').read())\n```")

    assert solve(films, "--mode", "none").exit_code == 3


def test_solve_with_a_model_that_cannot_be_reached(
    films: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The endpoint is down: exit code 5, one message, and --out tells it too."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    result = solve(films, "--out", tmp_path / "s.json")
    solution = json.loads((tmp_path / "s.json").read_text())

    assert result.exit_code == 5
    assert "atc: http://127.0.0.1:9 cannot be reached" in result.stderr
    assert solution["status"] == "model_error"
    assert solution["attempts"] == []


def test_solve_without_the_model_file(films: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A local model that is not on disk: one message with the command that fetches it, exit code 5."""
    monkeypatch.setenv("ATC_HOME", str(tmp_path))
    result = atc("solve", QUESTION, "--api", films, "--simulate", "--out", tmp_path / "s.json")

    assert result.exit_code == 5
    assert "atc model pull local:qwen2.5-coder-1.5b" in result.stderr
    assert json.loads((tmp_path / "s.json").read_text())["status"] == "model_error"


def test_solve_with_an_unknown_model(films: Path) -> None:
    """A name that means no model is bad input."""
    result = atc("solve", QUESTION, "--api", films, "--simulate", "--model", "parrot")

    assert result.exit_code == 2
    assert "'parrot'" in result.stderr


@pytest.mark.parametrize(
    "content", [None, "{not yaml: [", "just text", '{"openapi": "3.0.0", "info": {}, "paths": {}}']
)
def test_solve_with_a_broken_document(
    content: str | None, endpoint: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document that is missing or none at all: exit code 2, one message that names it, and --out is written."""
    endpoint(RIGHT)
    spec = tmp_path / "spec.yaml"
    if content is not None:
        spec.write_text(content)
    result = solve(spec, "--out", tmp_path / "s.json")

    assert result.exit_code == 2
    assert result.stderr.startswith("atc: ")
    assert "spec.yaml" in result.stderr
    assert "Traceback" not in result.stderr
    assert json.loads((tmp_path / "s.json").read_text())["status"] == "failed"


def test_solve_with_the_api_down(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Nothing listens at --base-url: exit code 6 before the model is asked, and the result is written."""
    endpoint(RIGHT)
    arguments = ("--base-url", "http://127.0.0.1:9", "--model", "openai:scripted", "--out", tmp_path / "s.json")
    result = atc("solve", QUESTION, "--api", films, *arguments)
    solution = json.loads((tmp_path / "s.json").read_text())

    assert result.exit_code == 6
    assert "http://127.0.0.1:9" in result.stderr.splitlines()[-1]
    assert solution["status"] == "api_error"
    assert solution["attempts"] == []


@pytest.mark.parametrize(
    ("status", "kind", "body", "hint"),
    [
        (401, "application/json", '{"message": "no"}', "--auth"),
        (200, "text/html", "<!DOCTYPE html><html><body>Welcome</body></html>", "--base-url"),
    ],
)
def test_solve_with_an_api_that_will_not(
    films: Path,
    endpoint: Callable[..., None],
    replies: Callable[[int, str, str], str],
    status: int,
    kind: str,
    body: str,
    hint: str,
) -> None:
    """A 401, or a web page in place of JSON: exit code 6, and the message says which option to look at."""
    endpoint(RIGHT)
    url = replies(status, kind, body)
    result = atc("solve", QUESTION, "--api", films, "--base-url", url, "--model", "openai:scripted")

    assert result.exit_code == 6
    assert hint in result.stderr.splitlines()[-1]


def test_solve_on_a_terminal(films: Path, endpoint: Callable[..., None]) -> None:
    """On a terminal the view is live and holds the answer, once; what a program prints cannot drive the terminal."""
    endpoint(WRONG, RIGHT.replace("print(", 'print("\\x1b]0;owned\\x07", '))
    arguments = ["solve", QUESTION, "--api", str(films), "--simulate", "--model", "openai:scripted"]
    seen = on_terminal([ATC, *arguments])

    assert "program 2" in seen
    assert "❱" in seen
    assert seen.count("␛]0;owned␇") >= 1
    assert "\x1b]0;owned" not in seen
    assert seen.count("\x1b[1m␛]0;owned␇") == 1, "the answer is the one line in bold; frames may show the output, too"


def test_recorded_answers_play_back(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """What --record keeps, replay:FILE answers without any model; another question is a miss with its hash."""
    endpoint(RIGHT)
    tape = tmp_path / "tape.jsonl"
    first = solve(films, "--record", tape)
    again = atc("solve", QUESTION, "--api", films, "--simulate", "--model", f"replay:{tape}")
    other = atc("solve", "Something else?", "--api", films, "--simulate", "--model", f"replay:{tape}")

    assert first.exit_code == again.exit_code == 0
    assert first.stdout == again.stdout
    assert other.exit_code == 5
    assert "no answer to the request" in other.stderr


def test_interrupted_solve_keeps_what_there_is(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Ctrl-C while the model thinks: exit code 130 within a moment, no stack trace, and --out is written."""
    endpoint(WRONG, None)
    out = tmp_path / "s.json"
    arguments = ("--api", films, "--simulate", "--model", "openai:scripted", "--out", out)
    process = start("solve", QUESTION, *arguments)
    assert process.stderr
    for line in process.stderr:
        if "attempt 2: the model" in line:
            break
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    solution = json.loads(out.read_text())

    assert process.returncode == 130
    assert "Traceback" not in errors
    assert solution["status"] == "interrupted"
    assert len(solution["attempts"]) == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--simulate", "--base-url", "http://x"], "exclude each other"),
        (["--simulate", "--auth", "bearer:env:TOKEN"], "needs no --auth"),
        (["--simulate", "--now", "yesterday"], "2024-06-01T12:00:00Z"),
        (["--simulate", "--tools", "0"], "neither a number from 1 nor `all`"),
        (["--simulate", "--mode", "clever"], "choose one of attribute, naive, none, react"),
        (["--simulate", "--mode", "react@0"], "from 1, as in react@3"),
        (["--simulate", "--out", "no/such/folder/s.json"], "does not exist"),
        (["--auth", "bearer:s3cr3t"], "never the secret itself"),
        (["--auth", "bearer:env:ATC_TEST_UNSET"], "ATC_TEST_UNSET is not set"),
    ],
)
def test_wrong_usage(films: Path, endpoint: Callable[..., None], arguments: list[str], complaint: str) -> None:
    """Exit code 2 and a message that says what would be right; a literal secret is not repeated."""
    endpoint(RIGHT)
    result = atc("solve", QUESTION, "--api", films, "--model", "openai:scripted", *arguments)

    assert result.exit_code == 2
    assert complaint in " ".join(result.stderr.split())
    assert "s3cr3t" not in result.stderr


# --- atc run


def test_run_passes_output_through(films: Path, tmp_path: Path) -> None:
    """A program's output arrives as it is, and a run that succeeds prints nothing of ours."""
    program = tmp_path / "program.py"
    program.write_text('print(GET_search_film(query="Tide")["results"][0]["title"])\n')
    result = atc("run", program, "--api", films, "--simulate")

    assert result.exit_code == 0, result.stderr
    assert "Tide" in result.stdout
    assert result.stderr == ""


def test_run_prints_as_the_program_prints(films: Path, tmp_path: Path) -> None:
    """Output is not held back until the end."""
    program = tmp_path / "program.py"
    program.write_text("print('first')\nwhile True: pass\n")
    process = start("run", program, "--api", films, "--simulate", "--wall", "20")
    try:
        assert process.stdout
        assert process.stdout.readline() == "first\n"
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 130


def test_run_reads_stdin(films: Path) -> None:
    """`-` is standard input."""
    result = CliRunner().invoke(main, ["run", "-", "--api", str(films), "--simulate"], input="print(6 * 7)\n")

    assert (result.exit_code, result.stdout) == (0, "42\n")


def test_run_json_and_verbose(films: Path, tmp_path: Path) -> None:
    """--json prints the run; -v tells each call on stderr."""
    program = tmp_path / "program.py"
    program.write_text('print(GET_search_film(query="Tide")["results"][0]["title"])\n')
    result = atc("run", program, "--api", films, "--simulate", "--json", "-v")
    run = json.loads(result.stdout)

    assert run["outcome"] == "ok"
    assert run["calls"][0]["tool"] == "GET_search_film"
    assert run["resources"]["wall"] > 0
    assert 'GET_search_film(query="Tide")' in result.stderr


@pytest.mark.parametrize(
    ("program", "code", "message"),
    [
        ("x = 1\nprint({}['a'])\n", 1, "line 2: KeyError: 'a'"),
        ("import sys\nsys.exit(3)\n", 1, "exit status 3"),
        ("import os\n", 3, "program.py, line 1: `import os` is not allowed"),
        ("while True: pass\n", 4, "line 1: the program used more than the 1 s of CPU time"),
        ("for _ in range(3): GET_film_latest()\n", 4, "line 1: the program made more than the 2 calls"),
        ("def broken(:\n", 1, "line 1: SyntaxError"),
    ],
)
def test_run_that_ends_badly(films: Path, tmp_path: Path, program: str, code: int, message: str) -> None:
    """The reason is one message on stderr, with the line; the exit code tells the kind."""
    file = tmp_path / "program.py"
    file.write_text(program)
    result = atc("run", file, "--api", films, "--simulate", "--wall", "8", "--cpu", "1", "--calls", "2")

    assert result.exit_code == code, result.stderr
    assert result.stderr.startswith("atc: ")
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_run_with_the_api_down(films: Path, tmp_path: Path) -> None:
    """A program that fails because nothing answers ends with 6, not with 1."""
    file = tmp_path / "program.py"
    file.write_text("GET_film_latest()\n")

    assert atc("run", file, "--api", films, "--base-url", "http://127.0.0.1:9").exit_code == 6


def test_run_without_an_api(films: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program reaches what --allow names, with the credential, and nothing else."""
    monkeypatch.setenv("WEATHER", "s3cret-token")
    file = tmp_path / "program.py"
    with LocalAPI() as api:
        api.answer("GET", "/cities/oslo", {"name": "Oslo"})
        file.write_text(f"import requests\nprint(requests.get('{api.url}/cities/oslo').json()['name'])\n")
        origin = api.url.removesuffix("/v1")

        done = atc("run", file, "--allow", origin, "--auth", "bearer:env:WEATHER")
        refused = atc("run", file)

        assert (done.exit_code, done.stdout, done.stderr) == (0, "Oslo\n", "")
        assert api.requests[0].headers["authorization"] == "Bearer s3cret-token"
        assert refused.exit_code == 1
        assert "this program may reach no host" in refused.stderr
        assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--simulate"], "--simulate needs --api"),
        (["--base-url", "http://localhost"], "--base-url needs --api"),
        (["--auth", "bearer:env:X"], "there is nothing to sign in to"),
        (["--allow", "localhost:80"], "--allow takes an origin like"),
    ],
)
def test_run_without_an_api_needs_sense(tmp_path: Path, arguments: list[str], message: str) -> None:
    """What has no meaning without an API is refused."""
    file = tmp_path / "program.py"
    file.write_text("print(1)")
    result = atc("run", file, *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_run_without_a_program(films: Path, tmp_path: Path) -> None:
    """A missing file and a file that is no text are bad input."""
    binary = tmp_path / "program.py"
    binary.write_bytes(b"\xff\xfe\x00")

    assert atc("run", tmp_path / "none.py", "--api", films, "--simulate").exit_code == 2
    assert atc("run", binary, "--api", films, "--simulate").exit_code == 2


# --- atc explain


def test_explain_shows_the_prompt_and_asks_nobody(films: Path, endpoint: Callable[..., None]) -> None:
    """The tools, where identifiers come from and the prompt with its tokens; no model is there to be asked."""
    endpoint("")
    shown = atc("explain", QUESTION, "--api", films)
    told = json.loads(atc("explain", QUESTION, "--api", films, "--json").stdout)

    assert shown.exit_code == 0, shown.stderr
    assert "film_id: int — from GET_search_film(query=…)" in shown.stdout
    assert f"Question: {QUESTION}" in shown.stdout
    assert "about" in shown.stdout.splitlines()[-1]
    assert set(told["tools"]) == {"GET_search_film", "GET_film_film_id_credits", "GET_film_latest"}
    assert told["messages"][-1]["content"].endswith(f"Question: {QUESTION}")
    assert told["estimated"]
    assert told["tokens"] > 500
    assert atc("explain", " ", "--api", films).exit_code == 2
    assert "cannot count tokens" in atc("explain", QUESTION, "--api", films, "--model", "openai:scripted").stderr


# --- atc simulate


def test_what_a_question_names_is_there(films: Path, endpoint: Callable[..., None]) -> None:
    """A simulated API made for a question knows its names, however made up they are."""
    endpoint('```python\nprint([film["title"] for film in GET_search_film(query="Zarnigold Ebb")["results"]])\n```')
    result = atc("solve", "Who directed Zarnigold Ebb?", "--api", films, "--simulate", "--model", "openai:scripted")

    assert result.exit_code == 0, result.stderr
    assert "Zarnigold Ebb" in result.stdout


def test_simulate_serves_until_interrupted(films: Path) -> None:
    """It prints its base URL and the credential that it wants, answers 401 without it, and ends with 130."""
    process = start("simulate", films)
    assert process.stdout
    url, credential = (process.stdout.readline().strip() for _ in range(2))
    try:
        kind, _, header = credential.removeprefix("credential: ").partition(" ")
        name, _, value = header.partition(": ")
        refused = requests.get(f"{url}/film/latest", timeout=5)
        accepted = requests.get(f"{url}/film/latest", headers={name: value}, timeout=5)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)

    assert (kind, name) == ("header", "Authorization")
    assert (refused.status_code, accepted.status_code) == (401, 200)
    assert isinstance(accepted.json()["title"], str)
    assert process.returncode == 130


def test_simulate_without_auth(films: Path) -> None:
    """--no-auth answers anybody; SIGTERM ends it like ctrl-C."""
    process = start("simulate", films, "--no-auth")
    assert process.stdout
    url, credential = (process.stdout.readline().strip() for _ in range(2))
    try:
        reply = requests.get(f"{url}/film/latest", timeout=5)
    finally:
        process.terminate()
        process.communicate(timeout=20)

    assert credential == "credential: none needed"
    assert reply.status_code == 200
    assert process.returncode == 130


def test_simulate_on_a_port_in_use(films: Path, replies: Callable[[int, str, str], str]) -> None:
    """A port that is taken is bad input with a message, not a stack trace."""
    port = replies(200, "text/plain", "").rpartition(":")[2]
    result = atc("simulate", films, "--port", port)

    assert result.exit_code == 2
    assert port in result.stderr
    assert "Traceback" not in result.stderr


# --- atc model, help


def test_models_are_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`atc model list` tells what can be pulled and what is here; `path` of one that is not here exits 5."""
    monkeypatch.setenv("ATC_HOME", str(tmp_path))
    listed = atc("model", "list").stdout

    assert "local:qwen2.5-coder-1.5b" in listed
    assert "not pulled" in listed
    assert atc("model", "path", "local:qwen2.5-coder-1.5b").exit_code == 5
    assert atc("model", "path", "local:none").exit_code == 2


def test_pulled_model_has_a_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file that is there is not fetched again; `pull` and `path` print where it lies."""
    from atc.models.files import CATALOGUE

    monkeypatch.setenv("ATC_HOME", str(tmp_path))
    file = tmp_path / "models" / CATALOGUE[0].file
    file.parent.mkdir()
    file.touch()
    name = f"local:{CATALOGUE[0].name}"

    assert atc("model", "pull", name).stdout.strip() == str(file)
    assert atc("model", "path", name).stdout.strip() == str(file)
    assert "on disk" in atc("model", "list").stdout


def test_help_has_the_exit_codes() -> None:
    """`atc --help` lists all commands, the one added by the benchmarks too, and the exit codes."""
    shown = atc("--help").stdout

    assert all(f"\n  {name} " in shown for name in ("solve", "run", "simulate", "model", "bench"))
    assert "130  interrupted" in shown
    assert "cannot be loaded" not in shown


def test_readme_and_help_agree_on_exit_codes() -> None:
    """One table: the README's is the one that --help prints."""
    readme = (Path(__file__).resolve().parent.parent / "README.md").read_text("utf-8")
    table = [line.strip("| ").split(" | ") for line in readme.splitlines() if line.startswith("| ") and " | " in line]
    documented = {row[0].strip(): row[1].strip() for row in table if row[0].strip().isdigit()}
    shown = atc("--help").stdout

    assert set(documented) == {"2", *(str(code) for code in EXIT_CODES.values())}
    assert all(f"  {code:<5}{meaning}" in shown for code, meaning in documented.items())


def test_readme_uses_options_that_exist() -> None:
    """Every `atc …` line in the README, that of the figures and the guide names commands and options that there are."""
    root = Path(__file__).resolve().parent.parent
    pages = [root / "README.md", root / "benchmarks/README.md", *sorted((root / "docs").glob("*.md"))]
    readme = "".join(page.read_text("utf-8") for page in pages)
    lines = [line.strip("`") for line in re.findall(r"^atc .*|`atc [^`]*`", readme, re.M)]
    context = click.Context(main)
    for line in lines:
        name, *words = line.split()[1:]
        command = main.get_command(context, name)
        assert command is not None or name == "COMMAND", line
        if isinstance(command, click.Group) and words:
            command = command.get_command(context, words[0])
            assert command is not None, line
        if isinstance(command, BenchCommand) and words:
            command = command.own_command(words[0]) or command
        known = {option for one in command.params for option in one.opts} if command else {"--help"}
        assert {word for word in words if word.startswith("--")} <= {*known, "--help"}, line

    assert len(lines) > 8


def test_unknown_command() -> None:
    """A typo is wrong usage."""
    assert atc("slove").exit_code == 2


def test_progress_does_not_need_a_terminal_nor_utf8(films: Path, endpoint: Callable[..., None]) -> None:
    """In a pipe with an ASCII locale, an answer with any letters still ends well."""
    endpoint("```python\nfilm = GET_film_latest()\nprint('Amélie' if film else film)\n```")
    done = subprocess.run(
        [ATC, "solve", "Which film?", "--api", str(films), "--simulate", "--model", "openai:scripted"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "NO_COLOR": "1"},
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == "Amélie\n"


def test_a_doubtful_answer_under_strict(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """It exits with 1 and says why; without the option with 0; a supported answer always with 0."""
    out = tmp_path / "s.json"
    doubtful = f"{RIGHT.partition('print(')[0]}print(film['id'])\n```"
    endpoint(doubtful)
    lenient = solve(films, "--out", out, "--max-reflections", "0")
    endpoint(doubtful)
    strict = solve(films, "--strict", "--max-reflections", "0")

    standing = json.loads(out.read_text("utf-8"))["standing"]
    assert (standing, lenient.exit_code, strict.exit_code) == ("doubtful", 0, 1)
    assert "the answer is doubtful" in strict.stderr
    endpoint(RIGHT)
    assert solve(films, "--strict").exit_code == 0
