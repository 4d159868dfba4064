"""`atc solve` as a user has it: what goes to stdout, what to stderr, and with which exit code it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.atc_command import ATC, QUESTION, RIGHT, WRONG, atc, solve, start

FILES = "```python\nprint(open('/etc/passwd').read())\n```"


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


@pytest.mark.parametrize(
    ("answer", "place", "code", "status", "message"),
    [
        (WRONG, ("--simulate",), 1, "failed", "atc: not solved in 2 attempts: IndexError"),
        (FILES, ("--simulate", "--mode", "none"), 3, "refused", "open"),
        (RIGHT, ("--base-url", "http://127.0.0.1:9"), 6, "api_error", "nobody answers at http://127.0.0.1:9"),
        ("", ("--simulate",), 5, "model_error", "atc: http://127.0.0.1:9 cannot be reached"),
    ],
)
def test_solve_without_an_answer(
    films: Path,
    endpoint: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    place: tuple[str, ...],
    code: int,
    status: str,
    message: str,
) -> None:
    """The reason is the last line on stderr, the exit code tells its kind, and the attempts are in --out."""
    endpoint(answer)
    if not answer:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    options = ("--max-reflections", "1", "--model", "openai:scripted", "--out", tmp_path / "s.json")
    result = atc("solve", QUESTION, "--api", films, *place, *options)
    solution = json.loads((tmp_path / "s.json").read_text())

    assert (result.exit_code, result.stdout, solution["status"]) == (code, "", status), result.stderr
    assert message in result.stderr.splitlines()[-1]
    assert len(solution["attempts"]) == {1: 2, 3: 1}.get(code, 0)


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
        (["--simulate", "--mode", "clever"], "choose one of attribute, naive, none, codeact"),
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
