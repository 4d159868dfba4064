"""`atc data pull NAME`: the public files of a benchmark, at one pinned commit, checked, with their licence.

They go to the folder `ATC_DATA`, or to the user's cache folder, where `atc bench` looks, too.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import requests
from rich.console import Console
from rich.progress import track

from protocols.documents.validation import home
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
    "restbench": DownloadSource(
        "Yifan-Song793/RestGPT",
        "d99012860cb45323975bf5780152d7aa44f390f5",
        "MIT",
        {
            "restbench/LICENSE": ("LICENSE", "c2ff1e27cc35cdea32bfee69d9dee9c36ade8e473fce34441b9d79b3e1ac0cae"),
            "restbench/tmdb_oas.json": (
                "specs/tmdb_oas.json",
                "6e5a3c4ebdf2e3deeada3331ad65c7b802b0aeb58c6167704db700be49b00017",
            ),
            "restbench/spotify_oas.json": (
                "specs/spotify_oas.json",
                "7cfaf223ea373d8aa7429e6d62d9085b4678617556865cf23496ab2c4bf44c54",
            ),
            "restbench/tmdb.json": (
                "datasets/tmdb.json",
                "6a9686067683ec6c33221de05bd2e763cfbfedf2cac6f4e6b607d7ab80a858d4",
            ),
            "restbench/spotify.json": (
                "datasets/spotify.json",
                "b6ba57cc6f29adf352c6a1ceeb4434d6fd508eedfe514afb2d79b6a282f8efc0",
            ),
        },
    ),
    "toolflow": DownloadSource(
        "mangopy/AutoTools",
        "09c88df0959b2baf03e570aeff4365ea9f4d8b64",
        "Apache-2.0",
        {
            "toolflow/LICENSE": ("LICENSE", "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"),
            "toolflow/tmdb.candidates.json": (
                "data/tmdb.eval.json",
                "152a3e77f5e375170c30134b4221b1ed13bad7983acf336a76c501cdd3e75e50",
            ),
            "toolflow/spotify.candidates.json": (
                "data/spotify.eval.json",
                "a5e2440555400a83aebd8a216a627555594684d7c9152ce9fadb25c878075e65",
            ),
            "toolflow/toolflow.json": (
                "data/autotool.eval.json",
                "e0d935d247289d962fc1d7d30f98ea8012d8b6364a291d97b14bae6f02ddbde2",
            ),
            "toolflow/food.tools.json": (
                "tools/food.tools.json",
                "4d0951e4476097e73b749f039b3db0b0b4933b7598709667dd8406a9f14e846c",
            ),
            "toolflow/weather.tools.json": (
                "tools/weather.tools.json",
                "be66611715be6dd4251db52218b195cbaeeee1b2a96659e4253a7d1a7a7d4e13",
            ),
            "toolflow/tmdb.tools.json": (
                "tools/tmdb.tools.json",
                "4a9fd93e7e48527522527f3d753d1636e80b5fc81d92a46defec49e868f4db8d",
            ),
            "toolflow/spotify.tools.json": (
                "tools/spotify.tools.json",
                "9357cfea5371a8bd9e908cd9ae9737619310faa23f12edeb1af41e36a9756dea",
            ),
        },
    ),
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
