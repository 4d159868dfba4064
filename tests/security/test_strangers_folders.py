"""What somebody else may have written in a folder above is not followed, and code that changed needs a word again."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from atc.files import append_line, make_folder, write_text
from tests.atc_command import atc
from tests.terminal_command import TerminalCommand

ATC = str(Path(sys.executable).with_name("atc"))
TOOLS = 'def double(number: int) -> int:\n    """Double a number."""\n    return 2 * number\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file that runs code, and one below it to work in."""
    (tmp_path / "atc.toml").write_text('api = "functions:tools.py"\n')
    (tmp_path / "atc.toml").chmod(0o600)
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "program.py").write_text("print(double(4))")
    monkeypatch.chdir(tmp_path / "below")
    monkeypatch.delenv("ATC_CONFIG", raising=False)
    monkeypatch.setenv("ATC_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def no_mask() -> Iterator[None]:
    """Whatever is made is open to everybody, unless its mode says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("mode", [0o666, 0o602])
def test_a_file_that_others_can_write_is_named_and_not_used(folder: Path, mode: int) -> None:
    """It may not even name a document; ATC_CONFIG is the word for it."""
    (folder / "atc.toml").chmod(mode)
    result = atc("run", "program.py")

    assert "../atc.toml is not used: it can be written by everybody" in result.stderr
    assert "NameError" in result.stderr and "not been trusted" not in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_file_of_another_owner_is_named_and_not_used(folder: Path) -> None:
    """Also one of a group that others are in, and a link of somebody else."""
    os.chown(folder / "atc.toml", 1234, 1234)
    assert "it belongs to somebody else" in atc("run", "program.py").stderr
    os.chown(folder / "atc.toml", 0, 1234)
    (folder / "atc.toml").chmod(0o660)
    assert "it can be written by a group" in atc("run", "program.py").stderr
    (folder / "atc.toml").rename(folder / "other.toml")
    (folder / "other.toml").chmod(0o600)
    (folder / "atc.toml").symlink_to("other.toml")
    os.chown(folder / "atc.toml", 1234, 1234, follow_symlinks=False)
    assert "it belongs to somebody else" in atc("run", "program.py").stderr


def test_code_that_changed_is_asked_about_again(folder: Path) -> None:
    """The word holds for its content: with the old one it holds again."""
    assert answered("y").endswith("8")
    assert atc("run", "program.py").stdout == "8\n"
    (folder / "tools.py").write_text(TOOLS.replace("2 *", "3 *"))
    refused = atc("run", "program.py")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "since you gave your word, " in refused.stderr and "tools.py changed" in refused.stderr
    assert answered("y").endswith("12")
    (folder / "tools.py").write_text(TOOLS)
    assert atc("run", "program.py").stdout == "8\n"


def test_code_that_changes_while_it_is_asked_about_does_not_run(folder: Path) -> None:
    """The answer was for what stood there before."""
    child = TerminalCommand([ATC, "run", "program.py"], columns=300)
    child.expect(r"\[y/N\]")
    (folder / "tools.py").write_text(TOOLS.replace("2 *", "3 *"))
    child.sendline("y")
    child.expect("changed just now")

    assert child.finish() == 2


def test_the_script_of_a_command_is_code_too(folder: Path) -> None:
    """What `mcp:stdio:` starts in the folder counts by its content."""
    (folder / "server.py").write_text("raise SystemExit(3)")
    (folder / "atc.toml").write_text('api = "mcp:stdio:python server.py"\n')
    answered("y")
    assert "has not been trusted" not in atc("run", "program.py").stderr
    (folder / "server.py").write_text("raise SystemExit(4)")
    assert "has not been trusted" in atc("run", "program.py").stderr


def answered(text: str) -> str:
    """All that is shown after an answer to the question about the file."""
    child = TerminalCommand([ATC, "run", "program.py"], columns=300)
    child.expect(r"\[y/N\]")
    child.sendline(text)
    child.finish()
    return str(child.before).strip()


def test_folders_and_files_are_for_oneself_alone(folder: Path, no_mask: None) -> None:
    """Every folder that is made on the way, too."""
    make_folder(folder / "a" / "b" / "c")
    write_text(folder / "a" / "text", "x")
    append_line(folder / "a" / "lines", "{}")

    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder / "a").rglob("*") if path.is_dir()} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder / "a").rglob("*") if path.is_file()} == {0o600}


def test_a_command_leaves_nothing_open(
    folder: Path, films: Path, no_mask: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Journal and solution, also of a solve that fails, and the folder of contracts."""
    monkeypatch.setenv("ATC_CONFIG", os.devnull)
    for words in (
        ("solve", "Who?", "--model", "replay:none", "--out", "s.json", "--journal", "j"),
        ("run", "program.py"),
    ):
        atc(*words, "--api", str(films), "--simulate")

    newer = [path for path in folder.rglob("*") if path.stat().st_mtime_ns > (folder / "tools.py").stat().st_mtime_ns]
    assert {path.name for path in newer} >= {"s.json", "j"}
    opened = [path for path in newer if path.stat().st_mode & 0o077 and path.name not in ("below", "program.py")]
    assert opened == []
