"""Result files: whole or as they were, for their owner alone, and never through a link."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from atc.files import append_line, write_text
from atc.models import open_model
from atc.models.replay import Recorder
from protocols.errors import UsageError
from sandbox import Journal


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_private_file_is_its_owners(tmp_path: Path) -> None:
    """Also where it was there before with another mode."""
    file = tmp_path / "out.json"
    file.write_text("old")
    file.chmod(0o644)
    write_text(file, "new", private=True)

    assert (file.read_text(), mode(file)) == ("new", 0o600)
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_another_file_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    write_text(file, "one")
    fresh = mode(file)
    file.chmod(0o640)
    write_text(file, "two")

    assert (file.read_text(), mode(file)) == ("two", 0o640)
    assert fresh == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


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


def test_a_record_and_a_journal_are_their_owners(tmp_path: Path) -> None:
    Recorder(open_model("replay:" + str(_empty(tmp_path))), tmp_path / "record.jsonl")
    Journal(tmp_path / "journal.db").close()

    assert {mode(tmp_path / name) for name in ("record.jsonl", "journal.db")} == {0o600}


@pytest.mark.parametrize("damage", [b"x" * 5000, b""])
def test_a_damaged_journal_is_a_message(tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "journal.db"
    with Journal(file) as journal:
        journal.note("asked", {"query": "x" * 20_000})
    data = file.read_bytes()
    file.write_bytes(data[:100] + damage + data[100 + len(damage) + 300 : -2000])

    with pytest.raises(UsageError, match=r"is damaged|no journal of atc|cannot be used as a journal"):
        Journal(file)
