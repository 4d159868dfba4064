"""Result files: whole or as they were, for their owner alone, and never through a link."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from atc.files import append_line, cut_unfinished, write_text
from atc.models import open_model
from atc.models.replay import Recorder
from protocols.errors import UsageError
from sandbox import Journal


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_an_unfinished_last_line_is_cut(tmp_path: Path) -> None:
    """A whole file is not touched, none is needed, and what is no file is a message."""
    file = tmp_path / "lines.jsonl"
    cut_unfinished(file)
    assert not file.exists()
    for content, kept in (("1\n2\n", "1\n2\n"), ("1\n2", "1\n"), ("1", ""), ("", "")):
        file.write_text(content)
        cut_unfinished(file)
        assert file.read_text() == kept
    with pytest.raises(UsageError, match="cannot be written: Is a directory"):
        cut_unfinished(tmp_path)


def test_another_file_keeps_its_mode(tmp_path: Path) -> None:
    """A new one is its owner's alone; who opened it up meant to."""
    file = tmp_path / "spec.yaml"
    write_text(file, "one")
    fresh = mode(file)
    file.chmod(0o640)
    write_text(file, "two")

    assert (file.read_text(), mode(file)) == ("two", 0o640)
    assert fresh == 0o600


def test_no_link_is_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("mine")
    link.symlink_to(target)

    with pytest.raises(UsageError, match="is a symbolic link, which is not followed"):
        write_text(link, "theirs")
    with pytest.raises(UsageError, match="cannot be written"):
        append_line(link, "theirs")
    with pytest.raises(UsageError, match="cannot record"):
        Recorder(open_model("replay:" + str(_empty(tmp_path))), link)
    with pytest.raises(UsageError, match="is a symbolic link, which is not followed"):
        Journal(link)
    assert target.read_text() == "mine"


def _empty(folder: Path) -> Path:
    file = folder / "answers.jsonl"
    file.write_text("")
    return file


def test_a_name_that_somebody_laid_in_wait_is_not_written_to(tmp_path: Path) -> None:
    """Names of temporary files cannot be guessed."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / f".out.json.{os.getpid()}.tmp").symlink_to(victim)
    write_text(tmp_path / "out.json", "new", private=True)

    assert victim.read_text() == "mine"


@pytest.mark.parametrize("damage", ["another form", "cut", "later pages"])
def test_a_damaged_journal_is_a_message(tmp_path: Path, damage: str) -> None:
    """Also where its first page is whole."""
    file = tmp_path / "journal.db"
    with Journal(file) as journal:
        for number in range(20):
            journal.note(f"asked {number}", {"query": "x" * 3000})
    data = file.read_bytes()
    filling = b"x" * 5000 if damage == "another form" else b""
    whole = 8192 if damage == "later pages" else 100
    rest = b"\xff" * (len(data) - whole) if damage == "later pages" else data[400 + len(filling) : -2000]
    file.write_bytes(data[:whole] + filling + rest)

    with pytest.raises(UsageError, match=r"is damaged|no journal of atc|cannot be used"), Journal(file) as journal:
        for number in range(20):
            journal.noted(f"asked {number}")


KINDS = ("journal", "record", "out")


def write_as(kind: str, file: Path) -> None:
    """What a command does to a file of this kind."""
    if kind == "journal":
        Journal(file).close()
    elif kind == "record":
        Recorder(open_model("replay:" + str(_empty(file.parent))), file)
        append_line(file, "{}")
    else:
        write_text(file, "new", private=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_all_could_read_is_its_owners_from_then_on(tmp_path: Path, kind: str) -> None:
    """One that was copied, or made by another tool, is closed to others before anything more is written to it."""
    file = tmp_path / "file"
    if kind == "journal":
        Journal(file).close()
    else:
        file.write_text("")
    file.chmod(0o666)
    write_as(kind, file)

    assert mode(file) == 0o600
    assert {path.name for path in tmp_path.iterdir()} <= {"file", "answers.jsonl"}


@pytest.mark.parametrize("kind", KINDS)
def test_no_mask_opens_a_private_file(tmp_path: Path, kind: str) -> None:
    before = os.umask(0)
    try:
        write_as(kind, tmp_path / "file")
        if kind == "journal":
            with Journal(tmp_path / "file") as journal:
                journal.note("asked", 1)
                modes = {mode(path) for path in tmp_path.iterdir() if path.name.startswith("file")}
            assert modes == {0o600}
    finally:
        os.umask(before)

    assert mode(tmp_path / "file") == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
@pytest.mark.parametrize("kind", ["journal", "record", "pipe"])
def test_nothing_private_is_written_to_a_file_of_somebody_else(tmp_path: Path, kind: str) -> None:
    """Who laid it there, as in /tmp, could read it."""
    file = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.touch()
    os.chown(file, 12345, -1)

    with pytest.raises(UsageError, match="belongs to somebody else"):
        write_as("out" if kind == "pipe" else kind, file)


@pytest.mark.parametrize("kind", ["journal", "record"])
def test_nothing_private_goes_through_a_second_name(tmp_path: Path, kind: str) -> None:
    """A hard link is another's name for the same file."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "file").hardlink_to(victim)

    with pytest.raises(UsageError, match="hard link"):
        write_as(kind, tmp_path / "file")
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("end", ["-wal", "-journal", "-shm"])
def test_the_files_beside_a_journal_are_no_links(tmp_path: Path, end: str) -> None:
    """The database writes to them, too."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / f"journal.db{end}").symlink_to(victim)

    with pytest.raises(UsageError, match="is a symbolic link, which is not followed"):
        Journal(tmp_path / "journal.db")
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_what_is_no_file_is_no_journal(tmp_path: Path, kind: str) -> None:
    """And nothing waits for the other end of a pipe."""
    file = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        file = Path("/dev/null")

    with pytest.raises(UsageError, match=r"no file|cannot be|belongs"):
        Journal(file)


@pytest.mark.parametrize(
    ("statement", "begin"),
    [
        ("UPDATE notes SET value = '{' WHERE name = 'asked'", True),
        ("UPDATE notes SET value = x'ff00' WHERE name = 'asked'", True),
        ("UPDATE notes SET value = '[1]' WHERE name = 'asked'", False),
        ("UPDATE notes SET value = '{\"query\": 1, \"more\": 2}' WHERE name = 'asked'", False),
        ("DROP TABLE notes", True),
        ("DROP TABLE calls", True),
        ("ALTER TABLE attempts RENAME COLUMN over TO under", True),
    ],
)
def test_a_journal_that_holds_something_else_is_a_message(tmp_path: Path, statement: str, begin: bool) -> None:
    """Whoever wrote it, and whatever is in it: one line, and no traceback."""
    file = tmp_path / "journal.db"
    with Journal(file) as journal:
        journal.note("asked", {"query": "x"})
    with closing(sqlite3.connect(file)) as base:
        base.execute(statement)
        base.commit()
    result = CliRunner().invoke(main, ["solve", "--resume", str(file)])

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("atc: ")
    assert result.stderr.count("\n") == 1
    if begin:
        with pytest.raises(UsageError), Journal(file) as journal:
            journal.noted("asked")


def test_a_password_in_an_address_is_not_kept(tmp_path: Path) -> None:
    """Neither of the document nor of the service: the journal would hold it."""
    for options in (
        ["--api", "http://ann:pass-word@127.0.0.1:9/openapi.json"],
        ["--api", str(tmp_path / "x.json"), "--base-url", "http://ann:pass-word@127.0.0.1:9"],
    ):
        result = CliRunner().invoke(main, ["solve", "What?", *options, "--journal", str(tmp_path / "j")])
        assert result.exit_code == 2
        assert "pass-word" not in result.stderr + result.stdout
        assert not (tmp_path / "j").exists()


def test_who_resumes_is_told_what_signs_in(tmp_path: Path) -> None:
    """A journal of somebody else may name any variable or file as a credential."""
    file = tmp_path / "journal.db"
    asked = {"query": "Which film?", "api": [str(tmp_path)], "model": None, "auth": ["bearer:env:GITHUB_TOKEN"]}
    with Journal(file) as journal:
        journal.note("asked", asked)
    result = CliRunner().invoke(main, ["solve", "--resume", str(file)])

    assert "bearer:env:GITHUB_TOKEN" in result.stderr
