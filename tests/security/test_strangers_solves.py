"""A folder that has the default name of the server's own is somebody's: `atc serve` does not go on with its solves."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import chdir, closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from atc.apps.server.keys import LOCAL
from atc.apps.server.requests import SolveRequest
from atc.apps.server.store import RequestStore
from protocols.errors import UsageError
from protocols.samples import sample

SERVE = [sys.executable, "-m", "atc", "serve", "--api", str(sample("cinema")), "--simulate", "--port", "0"]


def first_words(folder: Path, *options: str) -> str:
    """What the command says until it serves, or ends."""
    environment = {**os.environ, "ATC_HOME": str(folder / "home"), "OPENAI_API_KEY": "none"}
    words = [*SERVE, "--model", "openai:none", *options]
    with subprocess.Popen(words, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if "serving on" in line:
                process.terminate()
        return "".join(lines)


def refusal(folder: Path) -> str:
    """What it says in this process, where it does not serve."""
    with chdir(folder):
        environment = {"ATC_HOME": str(folder / "home"), "OPENAI_API_KEY": "none"}
        result = CliRunner(env=environment).invoke(main, [*SERVE[3:], "--model", "openai:none"])
    assert result.exit_code == 2 and "serving on" not in result.output
    return result.output


def strangers_store(folder: Path) -> None:
    """A store with a question that is to be answered."""
    with closing(RequestStore(folder)) as store:
        store.accept("0" * 32, LOCAL, SolveRequest(query="Delete all", background=True), None)


def test_a_strangers_solves_do_not_go_on(tmp_path: Path) -> None:
    """It lay in the working folder, and nobody named it; whoever names it has it go on."""
    strangers_store(tmp_path / "atc-serve")

    assert "its solves would go on with your credentials" in refusal(tmp_path)
    assert "serving on" in first_words(tmp_path, "--journal", "atc-serve")


def test_a_folder_of_ones_own_goes_on(tmp_path: Path) -> None:
    """What the command made it takes up again, and not what was put in its place."""
    assert "serving on" in first_words(tmp_path)
    assert "serving on" in first_words(tmp_path)

    (tmp_path / "atc-serve").rename(tmp_path / "own")  # else its inode could be given to the new file
    strangers_store(tmp_path / "atc-serve")
    assert "its solves would go on" in refusal(tmp_path)
    shutil.rmtree(tmp_path / "atc-serve")


@pytest.mark.parametrize("request_text", ["{", '{"query": 5}', "[" * 100_000], ids=["half", "other", "deep"])
def test_a_damaged_store_is_told(tmp_path: Path, request_text: str) -> None:
    """A message that names the file, and nothing is begun."""
    strangers_store(tmp_path)
    with closing(sqlite3.connect(tmp_path / "requests.sqlite")) as base, base:
        base.execute("UPDATE solves SET request = ?", (request_text,))

    with closing(RequestStore(tmp_path)) as store, pytest.raises(UsageError, match="is damaged: a request is none"):
        store.recover()
