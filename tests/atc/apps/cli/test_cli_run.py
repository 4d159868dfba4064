"""`atc run` as a user has it: what goes to stdout, what to stderr, and with which exit code it ends."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.atc_command import atc, start
from tests.local_api import LocalAPI


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
