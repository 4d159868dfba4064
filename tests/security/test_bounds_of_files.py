"""Files of any content and size are read or named: exit code 2 or 5, no traceback, little memory, and they stay."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path

import pytest

from tests.atc_command import atc
from tests.security.measured import in_process

FILMS = Path(__file__).parents[1] / "films.yaml"
SOLVE = ["solve", "Which films?", "--simulate", "--api", str(FILMS), "--model", "replay:{}"]
OTHER = [*SOLVE[:-1], f"replay:{Path(__file__).parents[2]}/benchmarks/data/recorded/services.jsonl.gz"]
READERS = {
    "record": SOLVE,
    "prices": [*OTHER, "--max-cost", "1", "--prices", "{}"],
    "profile": [*OTHER, "--profile", "{}"],
    "credential": [*(word for word in OTHER if word != "--simulate"), "--auth", "oauth2:file:{}"],
    "journal": ["solve", "--resume", "{}"],
    "solution": ["trace", "{}"],
    "document": [*OTHER[:4], "{}", *OTHER[5:]],
}
ANSWER = '{"hash": %s, "model": "m", "text": "t", "finish": "stop", "usage": {"prompt_tokens": %s}}'
CONTENTS = {
    "half a line": '{"a": [1, ',
    "deep": "[" * 100_000,
    "deep and whole": "[" * 100_000 + "]" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "deep in YAML": "a: " + "[" * 20_000,
    "no number": '{"hash": NaN, "usage": Infinity, "query": NaN, "base": NaN}',
    "half a surrogate pair": '{"query": "\\ud800", "attempts": ["\\ud800"], "base": "\\ud800"}',
    "a name twice": '{"query": "a", "query": "b", "attempts": [], "attempts": {}}',
    "a large number": '{"query": "a", "attempts": [' + "9" * 6000 + "]}",
    "an answer with a large number": ANSWER % ('"x"', "9" * 6000),
    "an answer of another form": ANSWER % ("[]", '"a"'),
    "aliases of aliases": "a: &a [x]\n"
    + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)),
    "a cycle": "a: &a [*a]\n",
    "zeros": "\0" * 1000,
    "nothing": "",
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("reader", READERS)
def test_a_file_of_another_content_is_a_message(reader: str, content: str, tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(content)
    result = atc(*(argument.format(file) for argument in READERS[reader]))

    assert isinstance(result.exception, SystemExit) and result.exit_code in (2, 5), result.output[-500:]
    assert len(result.output) < 20_000
    assert file.read_bytes() == content.encode() or (reader == "journal" and not content)  # a new one begins


def test_a_file_of_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    """It took 2.1 GB as a record, a profile or a price table. Each reader is tried in one process."""
    file = tmp_path / "f.yaml"
    with file.open("wb") as stream:
        stream.write(b'{"a": "')
        stream.truncate(1 << 30)
    commands = [[argument.format(file) for argument in command] for command in READERS.values()]
    step = f"for command in {commands}:\n    try: main(command)\n    except SystemExit as e: print('code', e.code)"
    text, grown = in_process("import sys; from atc.apps.cli import main", step)

    assert [line for line in text.splitlines() if line.startswith("code ")] == ["code 2"] * len(READERS)
    assert grown < 350  # a solution may have 256 MiB, and so many are read before it is refused


def test_a_record_that_unpacks_to_much_is_not_unpacked(tmp_path: Path) -> None:
    """600 MB in a file of 3 MB took 1.3 GB."""
    file = tmp_path / "bomb.jsonl.gz"
    with gzip.open(file, "wb", 1) as stream:
        for _ in range(600):
            stream.write(b" " * (1 << 20))
    text, grown = in_process(
        "from pathlib import Path; from atc.models.replay import ReplayModel", f"ReplayModel(Path('{file}'))"
    )

    assert text.startswith(f"UsageError {file} has a line of more than ")
    assert grown < 200


@pytest.mark.parametrize("value", ["[" * 100_000, "7", '"x"', "[1]", '{"query": 1}', "NaN", "{"])
@pytest.mark.parametrize("name", ["solve", "solution", "lost requests", "open request", "cut answers", "id", "turns"])
def test_a_note_of_a_journal_of_another_form_is_a_message(name: str, value: str, tmp_path: Path) -> None:
    """A journal whose rows were written by something else, at any place that is read back."""
    file = tmp_path / "j"
    atc(*OTHER, "--journal", file)
    with sqlite3.connect(file) as base:
        base.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))
    base.close()
    result = atc("solve", "--resume", file)

    assert isinstance(result.exception, SystemExit) and result.exit_code in (2, 5), repr(result.exception)
    assert "--resume takes" not in result.output
