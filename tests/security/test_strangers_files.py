"""Pipes, devices, holes and damaged files where a command looks in a stranger's folder: a message, little memory."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from atc.apps.cli.documents import documents_in
from atc.apps.tui.stored import stored_solutions
from atc.retrieval import encoder
from atc.retrieval.tool_index import ToolDocument, ToolIndex, build_index
from benchmarks.report.render import print_table
from protocols import load
from protocols.bounded_files import read_bounded
from protocols.errors import UsageError
from tests.atc_command import atc
from tests.benchmarks.report_runs import sample
from tests.security.measured import in_process
from tests.security.poisoned import POISON, acts

SOLVE = ("solve", "Which film?", "--api", "films.yaml", "--simulate", "--model", "replay:pipe")
EXPLAIN = ("explain", "Which film?", "--api", "films.yaml")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, films: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a document, a store and a run in which some files are pipes."""
    (tmp_path / "films.yaml").write_bytes(films.read_bytes())
    (tmp_path / "store").mkdir()
    (tmp_path / "saved").mkdir()
    digest = load(films).digest[:16]
    monkeypatch.chdir(tmp_path)
    stored = [f"store/{digest}.json", f"store/{digest}.solved.jsonl"]
    for name in ("pipe", *stored, "saved/x.py", "openapi.json", "1_x.json"):
        os.mkfifo(name)
    return tmp_path


COMMANDS = {
    "a document": ("explain", "Which film?", "--api", "pipe"),
    "recorded answers": SOLVE,
    "prices": (*SOLVE, "--max-cost", "1", "--prices", "pipe"),
    "a profile": (*EXPLAIN, "--profile", "pipe"),
    "a store": (*EXPLAIN, "--store", "store"),
    "a solution": ("trace", "pipe"),
    "a world": ("simulate", "films.yaml", "--world", "pipe"),
    "tasks": ("data", "show", "pipe", "--api", "films.yaml"),
    "answers": ("eval", "convert", ".", "--out", "converted.json"),
    "saved programs": ("explain", "Which film?", "--api", "saved:saved"),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_a_pipe_is_not_waited_for(command: tuple[str, ...]) -> None:
    """Nobody need ever write to it."""
    result = atc(*command)

    assert isinstance(result.exception, SystemExit) and result.exit_code in (2, 5), result.output


@pytest.mark.timeout(60)
def test_a_pipe_is_not_looked_into() -> None:
    """Not by `atc init` for documents, nor by `atc tui` for solutions, links that go round among them."""
    assert documents_in(Path()) == [Path("films.yaml")]
    Path("loop").symlink_to(".")
    Path("zero.json").symlink_to("/dev/zero")
    assert [entry for entry in stored_solutions(Path()) if entry] == []


def test_the_pipe_of_a_shell_is_read() -> None:
    """As in `--prices <(curl ...)`."""
    reading, writing = os.pipe()
    os.write(writing, b"text")
    os.close(writing)

    assert read_bounded(Path(f"/dev/fd/{reading}")) == "text"


def broken(file: Path, how: str) -> None:
    """Put something else in the place of a file."""
    deep = "[" * 100_000
    texts = {"depth": deep, "depth that ends": deep + "]" * 100_000, "no object": "3", "digits": f"[{'9' * 5000}]"}
    if how in texts:
        file.write_text(texts[how])
        return
    file.unlink()
    if how == "a pipe":
        os.mkfifo(file)
    elif how == "a device":
        file.symlink_to("/dev/zero")
    else:
        with file.open("wb") as hole:
            hole.truncate(1 << 36)


WAYS = ["depth", "depth that ends", "no object", "digits", "a pipe", "a device", "a hole of 64 GiB"]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("name", ["config.json", "tasks/*.json"])
def test_a_damaged_run_is_a_message(name: str, how: str, folder: Path) -> None:
    """Whatever stands in the place of its settings or of a task."""
    [run] = sample(folder / "runs", 2, ["none"])
    broken(next(run.glob(name)), how)
    result = atc("report", run)

    assert isinstance(result.exception, SystemExit) and result.exit_code == 2, result.output


def test_a_report_shows_a_cell_as_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No text of a run begins a row of its own, and no link that lies there is followed."""
    print_table("Failures\nforged", ("reason",), [["odd\x1b[2J\n│ forged"]])
    table = capsys.readouterr().out
    assert "odd␛[2J │ forged" in table and "Failures forged" in table

    [run] = sample(folder / "runs", 2, ["none"])
    Path("mine").write_text("mine")
    Path("page.html").symlink_to("mine")
    assert "is not followed" in atc("report", run, "--html", "page.html").stderr
    assert Path("mine").read_text() == "mine"


def index(change: Callable[[Path], object]) -> Path:
    """An index that somebody changed."""
    build_index(Path("index"), [ToolDocument("a", "films", "find", "search", "find a film")], "bm25")
    change(Path("index"))
    return Path("index")


def packed(folder: Path) -> None:
    """A line of 1 GB."""
    with gzip.open(folder / "documents.jsonl.gz", "wb", 1) as file:
        for _ in range(64):
            file.write(bytes(1 << 24))


INDEXES: dict[str, Callable[[Path], object]] = {
    "depth": lambda folder: broken(folder / "index.json", "depth that ends"),
    "a pipe": lambda folder: broken(folder / "documents.jsonl.gz", "a pipe"),
    "no gzip inside": lambda folder: (folder / "documents.jsonl.gz").write_bytes(gzip.compress(b"x" * 999)[:-20]),
    "a list for a text": lambda folder: (folder / "documents.jsonl.gz").write_bytes(gzip.compress(b'{"id": []}')),
    "words without rows": lambda folder: (folder / "bm25" / "vocab.index.json").write_text('{"film": 1000000000}'),
    "deep words": lambda folder: broken(folder / "bm25" / "vocab.index.json", "depth that ends"),
    "a hole": lambda folder: broken(folder / "bm25" / "vocab.index.json", "a hole of 64 GiB"),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("change", INDEXES.values(), ids=list(INDEXES))
def test_a_damaged_index_is_a_message(change: Callable[[Path], object]) -> None:
    with pytest.raises(UsageError):
        ToolIndex(index(change)).search("find a film")


def test_a_packed_index_takes_little_memory() -> None:
    """1 GB of zeros in 5 MB."""
    folder = index(packed).resolve()
    imports = "from pathlib import Path\nfrom atc.retrieval.tool_index import ToolIndex"
    text, grown = in_process(imports, f"ToolIndex(Path({str(folder)!r})).documents")

    assert "it unpacks to more than" in text and grown < 400


def test_what_an_index_says_is_one_line_on_the_terminal() -> None:
    build_index(Path("index"), [ToolDocument("a", POISON, POISON, POISON, "find a film")], "bm25")

    assert acts(atc("retrieve", "query", "index", "a film").output) == ""


@pytest.mark.parametrize(
    ("kind", "is_ours"),
    [
        ("sentence_transformers.models.Transformer", True),
        ("joblib.numpy_pickle", False),
        ("sentence_transformers.util.pickle", False),
        (["x"], False),
    ],
)
def test_an_encoder_of_another_library_is_not_imported(kind: object, is_ours: bool) -> None:
    """`joblib.numpy_pickle` would load a file of the folder, and run what it holds."""
    Path("modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "x.pkl", "type": kind}]))
    if is_ours:
        encoder.check_modules(Path())
    else:
        with pytest.raises(UsageError, match="is no part of sentence-transformers"):
            encoder.check_modules(Path())
