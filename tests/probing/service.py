"""A service that we did not write, to be probed: Kinto, a store of JSON records, with a document of 40 operations.

`LocalAPI` answers as a test tells it to. A real service has what no test of ours would think of: lists that hold
several kinds of things, an operation that only ever fails, one that empties everything, and a document that does not
say all that is sent. It keeps everything in memory, listens on the loopback address alone, and asks nobody else.

Usage:
    with service() as kinto:
        sandbox = Sandbox(load(kinto.document), base_url=kinto.base_url, credentials=[kinto.credential])
"""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import requests

from protocols.auth import Credential

__all__ = ["SECRET", "Service", "Unavailable", "service"]

_USER = ("librarian", "tell-nobody")
SECRET = ":".join(_USER)
"""What `--auth basicauth:env:VARIABLE` reads from the variable: the user who owns all that is stored."""

_SETTINGS = """\
[server:main]
use = egg:waitress#main
listen = 127.0.0.1:{port}
[app:main]
use = egg:kinto
kinto.includes = kinto.plugins.default_bucket kinto.plugins.history
kinto.storage_backend = kinto.core.storage.memory
kinto.cache_backend = kinto.core.cache.memory
kinto.permission_backend = kinto.core.permission.memory
kinto.userid_hmac_secret = the same for every run
kinto.experimental_permissions_endpoint = true
multiauth.policies = basicauth
"""
_BOOKS = "/buckets/library/collections/books"
_STORED: Mapping[str, Mapping[str, object]] = {
    "/buckets/library": {"title": "The town's library", "floors": 3},
    "/buckets/kitchen": {"title": "The kitchen"},
    "/buckets/library/groups/readers": {"members": ["basicauth:ada", "basicauth:ben"]},
    "/buckets/library/groups/keepers": {"members": []},
    _BOOKS: {"title": "Books", "cache_expires": 60},
    "/buckets/library/collections/films": {"title": "Films"},
    "/buckets/kitchen/collections/recipes": {},
    f"{_BOOKS}/records/emma": {"title": "Emma", "year": 1815, "author": {"name": "Jane Austen"}, "tags": ["novel"]},
    f"{_BOOKS}/records/walden": {"title": "Walden", "year": 1854, "author": None, "tags": []},
    f"{_BOOKS}/records/beowulf": {"title": "Beowulf", "tags": ["poem", "old"]},
    "/buckets/library/collections/films/records/metropolis": {"title": "Metropolis", "minutes": 153.5},
    "/buckets/kitchen/collections/recipes/records/soup": {"title": "Soup", "vegetarian": True},
}
"""What is stored, by path: buckets hold groups and collections, and these hold records of any shape."""


class Unavailable(Exception):  # noqa: N818 - no error: a test that meets it is left out
    """The service is not installed; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Service:
    """A running service."""

    base_url: str

    @property
    def document(self) -> str:
        """The URL of its own document, in Swagger 2.0."""
        return f"{self.base_url}/__api__"

    @property
    def credential(self) -> Credential:
        return Credential("basic", SECRET, scheme="basicauth")

    def stored(self) -> dict[str, object]:
        """What lies in it now, by path, to see that a probe left all as it was."""
        with requests.Session() as asking:
            asking.auth = _USER
            return {path: asking.get(self.base_url + path, timeout=10).json() for path in ("/buckets", *_STORED)}


@contextmanager
def service(seconds: float = 30.0) -> Iterator[Service]:
    """Start it in a process of its own, filled with a few things; at the end nothing of it is left.

    Raises:
        Unavailable: It is not installed.
        TimeoutError: It did not answer within `seconds`.
    """
    for module in ("kinto", "pkg_resources"):  # Pyramid, below Kinto, needs the latter: setuptools before 82 has it
        if importlib.util.find_spec(module) is None:
            raise Unavailable(f"there is no module {module} (pip install -c constraints.txt '.[service]')")
    with tempfile.TemporaryDirectory() as folder, Path(folder, "log").open("w+b") as log:
        port = _free_port()
        settings = Path(folder, "kinto.ini")
        settings.write_text(_SETTINGS.format(port=port), "utf-8")
        command = [sys.executable, "-m", "pyramid.scripts.pserve", str(settings)]  # what `kinto start` runs
        # No environment: Kinto would take settings from it, such as where a store lies that somebody needs.
        process = subprocess.Popen(command, cwd=folder, env={}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            running = Service(f"http://127.0.0.1:{port}/v1")
            if not _answers(running, process, time.monotonic() + seconds):
                log.seek(0)
                raise TimeoutError(f"Kinto does not answer: {log.read()[-2000:].decode('utf-8', 'replace')}")
            for path, data in _STORED.items():
                requests.put(running.base_url + path, json={"data": data}, auth=_USER, timeout=10).raise_for_status()
            yield running
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _answers(running: Service, process: subprocess.Popen[bytes], until: float) -> bool:
    while process.poll() is None and time.monotonic() < until:
        with suppress(requests.ConnectionError):
            return requests.get(f"{running.base_url}/__heartbeat__", timeout=10).ok
        time.sleep(0.05)
    return False


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
