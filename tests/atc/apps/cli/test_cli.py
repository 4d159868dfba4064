"""The `atc` command as a user has it: `explain`, `simulate`, `model`, its help and its exit codes."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path

import click
import pytest
import requests

from atc.apps.cli import EXIT_MEANINGS, main
from atc.engines.files import CATALOGUE
from atc.solution import EXIT_CODES
from benchmarks.cli import BenchCommand
from tests.atc_command import QUESTION, atc, start

# --- atc explain


def test_explain_shows_the_prompt_and_asks_nobody(films: Path, endpoint: Callable[..., None]) -> None:
    """The tools, where identifiers come from and the prompt with its tokens; no model is there to be asked."""
    endpoint("")
    shown = atc("explain", QUESTION, "--api", films)
    told = json.loads(atc("explain", QUESTION, "--api", films, "--json").stdout)

    assert shown.exit_code == 0, shown.stderr
    assert "film_id: int — from GET_search_film(query=…)" in shown.stdout
    assert told["messages"][0]["content"] in shown.stdout  # no line is broken in two
    assert f"Question: {QUESTION}" in shown.stdout
    assert "about" in shown.stdout.splitlines()[-1]
    assert set(told["tools"]) == {"GET_search_film", "GET_film_film_id_credits", "GET_film_latest"}
    assert told["messages"][-1]["content"].endswith(f"Question: {QUESTION}")
    assert told["estimated"]
    assert told["tokens"] > 500
    assert atc("explain", " ", "--api", films).exit_code == 2


# --- atc simulate


@pytest.mark.parametrize(("options", "end"), [((), signal.SIGINT), (("--no-auth",), signal.SIGTERM)])
def test_simulate_serves_until_interrupted(films: Path, options: tuple[str, ...], end: signal.Signals) -> None:
    """It prints its base URL and the credential that it wants, answers 401 without it, and ends with 130."""
    process = start("simulate", films, *options)
    assert process.stdout
    url, credential = (process.stdout.readline().strip() for _ in range(2))
    name, _, value = credential.removeprefix("credential: header ").partition(": ")
    try:
        bare = requests.get(f"{url}/film/latest", timeout=5)
        signed = requests.get(f"{url}/film/latest", headers={} if options else {name: value}, timeout=5)
    finally:
        process.send_signal(end)
        process.communicate(timeout=20)

    assert credential == "credential: none needed" if options else name == "Authorization"
    assert (bare.status_code, signed.status_code) == (200 if options else 401, 200)
    assert isinstance(signed.json()["title"], str)
    assert process.returncode == 130


# --- atc model, help


def test_models_have_a_path_once_they_are_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`list` tells what can be pulled and what is here; `path` of one that is not here exits 5. A file that is there is
    not fetched again; `pull` and `path` print where it lies."""
    monkeypatch.setenv("ATC_HOME", str(tmp_path))
    file = tmp_path / "models" / CATALOGUE[0].file
    name = f"local:{CATALOGUE[0].name}"

    assert "on disk" not in atc("model", "list").stdout
    assert [atc("model", "path", model).exit_code for model in (name, "local:none")] == [5, 2]
    file.parent.mkdir()
    file.touch()
    assert atc("model", "pull", name).stdout.strip() == str(file)
    assert atc("model", "path", name).stdout.strip() == str(file)
    assert f"{name}\t" in atc("model", "list").stdout and "on disk" in atc("model", "list").stdout


def test_guide_and_help_agree_on_exit_codes() -> None:
    """One table: the guide's is the one that --help prints, below all commands, those of the benchmarks too."""
    guide = (Path(__file__).resolve().parents[4] / "docs" / "your-api.md").read_text("utf-8")
    table = [line.strip("| ").split(" | ") for line in guide.splitlines() if line.startswith("| ") and " | " in line]
    documented = {row[0].strip(): row[1].strip() for row in table if row[0].strip().isdigit()}

    assert set(documented) == {"2", *(str(code) for code in EXIT_CODES.values())}
    assert documented == EXIT_MEANINGS
    page = atc("--help").stdout
    assert all(f"\n  {name} " in page for name in ("solve", "run", "simulate", "model", "bench"))
    assert "130  interrupted" in page and "cannot be loaded" not in page


def test_readme_uses_options_that_exist() -> None:
    """Every `atc …` line in the README, that of the figures and the guide names commands and options that there are."""
    root = Path(__file__).resolve().parents[4]
    pages = [root / "README.md", root / "benchmarks/README.md", *sorted((root / "docs").glob("*.md"))]
    readme = "".join(page.read_text("utf-8") for page in pages)
    lines = [line.strip("`$ ") for line in re.findall(r"^(?:\$ )?atc .*|`atc [^`]*`", readme, re.M)]
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
        if (
            command and "ignore_unknown_options" in command.context_settings
        ):  # its arguments are those of another command
            continue
        known = {option for one in command.params for option in one.opts} if command else {"--help"}
        assert {word for word in words if word.startswith("--")} <= {*known, "--help"}, line

    assert len(lines) > 8
