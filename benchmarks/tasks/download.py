"""`atc data pull NAME`: the public files of a benchmark, at one pinned commit, checked, with their licence.

They go to the folder `ATC_DATA`, or to the user's cache folder, where `atc bench` looks, too.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import requests
import yaml
from rich.console import Console
from rich.progress import track

from atc.models.files import home
from protocols.errors import APIError, UsageError

__all__ = ["SOURCES", "DownloadSource", "folders", "pull"]

HOST = "https://raw.githubusercontent.com"
TIMEOUT = (5.0, 60.0)


@dataclass(frozen=True, slots=True)
class DownloadSource:
    """Files of one repository at one commit: where each goes, its path there, and its SHA-256."""

    repository: str
    commit: str
    licence: str
    files: Mapping[str, tuple[str, str]]


SOURCES: Mapping[str, DownloadSource] = {
    name: DownloadSource(**{**entry, "files": {place: tuple(file) for place, file in entry["files"].items()}})
    for name, entry in yaml.safe_load(files(__package__).joinpath("sources.yaml").read_text("utf-8")).items()
}


def folders() -> list[Path]:
    """Where benchmark files are sought, and the first of them where they are put."""
    data_folder = os.environ.get("ATC_DATA")
    return [*([Path(data_folder)] if data_folder else []), home() / "data"]


def pull(name: str, target: Path, host: str = HOST) -> list[Path]:
    """Fetch the files of a source that are not there yet.

    Raises:
        UsageError: There is no such source, or a file cannot be written.
        APIError: The host cannot be reached, or gives another file than the pinned one.
    """
    source = SOURCES.get(name)
    if source is None:
        raise UsageError(f"there is no data called {name!r}; there are {', '.join(SOURCES)}")
    got: list[Path] = []
    console = Console(stderr=True)
    for place, (path, digest) in track(source.files.items(), name, console=console, disable=not console.is_terminal):
        file = target / place
        if file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == digest:
            continue
        url = f"{host}/{source.repository}/{source.commit}/{path}"
        try:
            reply = requests.get(url, timeout=TIMEOUT)
            reply.raise_for_status()
        except requests.RequestException as error:
            status = error.response.status_code if error.response is not None else "no connection"
            raise APIError(
                f"{url} could not be fetched ({status}); {len(got)} of {len(source.files)} files came. Where the host "
                f"cannot be reached, copy the files from elsewhere to {target} and set ATC_DATA to that folder"
            ) from None
        if hashlib.sha256(reply.content).hexdigest() != digest:
            raise APIError(f"{url} is another file than the one that is expected (its SHA-256 differs)")
        partial = file.with_name(f".{file.name}.part")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(reply.content)
            partial.replace(file)
        except OSError as error:
            raise UsageError(f"{file} cannot be written: {error.strerror or error}") from None
        got.append(file)
    return got
