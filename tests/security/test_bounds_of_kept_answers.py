"""What is kept of answers has a bounded size: a record that is played back, and the solved questions of a store."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from atc.models.replay import ReplayModel
from atc.retrieval.demonstrations import Demonstration, Demonstrations
from protocols import UsageError, load
from protocols.samples import sample
from tests.security.measured import in_process

ENTRY = {"hash": "h", "model": "m", "text": "t", "finish": "stop", "usage": {"prompt_tokens": 1}}


@pytest.mark.parametrize(("line", "times"), [({**ENTRY, "text": "x" * (15 << 20)}, 40), (ENTRY, 300_000)])
def test_a_packed_record_of_many_answers_is_not_kept(line: object, times: int, tmp_path: Path) -> None:
    """600 MB in half a megabyte were all in memory."""
    file = tmp_path / "record.jsonl.gz"
    with gzip.open(file, "wb", 1) as stream:
        packed = f"{json.dumps(line)}\n".encode()
        for _ in range(times):
            stream.write(packed)
    text, grown = in_process(
        "from pathlib import Path; from atc.models.replay import ReplayModel", f"ReplayModel(Path('{file}'))"
    )

    assert text.startswith(f"UsageError {file} holds more than is read of a record; split it")
    assert grown < 400


def test_lines_without_end_are_not_read(tmp_path: Path) -> None:
    """Two gigabytes of empty lines kept a command busy for minutes."""
    file = tmp_path / "record.jsonl.gz"
    file.write_bytes(gzip.compress(b"\n" * 2_000_000, 1))
    with pytest.raises(UsageError, match="more than is read of a record"):
        ReplayModel(file)


def test_the_newest_solved_questions_are_kept(tmp_path: Path) -> None:
    """The file of a store grew, and with it the time of each solve; a store that is too large already is cut once."""
    store = Demonstrations(tmp_path, load(sample("cinema")))
    entries = [{"query": f"Question {number}?", "program": "print(1)", "tools": ["t"]} for number in range(1500)]
    store.file.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    removed = [store.add(Demonstration(query, "print(2)", ("t",))) for query in ("New?", "Newer?", "Newer?")]

    assert removed == [501, 1, 0]
    assert [solved.query for solved in store.all()] == [*(f"Question {n}?" for n in range(502, 1500)), "New?", "Newer?"]


def test_long_programs_leave_room_for_fewer(tmp_path: Path) -> None:
    """A program may have 100,000 characters."""
    store = Demonstrations(tmp_path, load(sample("cinema")))
    for number in range(60):
        store.add(Demonstration(f"Question {number}?", "x" * 100_000, ("t",)))

    assert store.file.stat().st_size < 4 << 20
    assert store.all()[-1].query == "Question 59?"


def test_a_large_file_of_solved_questions_is_not_read(tmp_path: Path) -> None:
    store = Demonstrations(tmp_path, load(sample("cinema")))
    with store.file.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(UsageError, match="atc writes none so large; delete it"):
        store.all()
