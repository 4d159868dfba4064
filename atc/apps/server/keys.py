"""API keys of a server: read from a file, held as hashes, each with limits of its own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from atc.costs import QuestionLimits
from protocols.bounded_files import read_bounded
from protocols.errors import UsageError

__all__ = ["LOCAL", "ApiKeys", "Client", "read_keys"]

MIN_LENGTH = 16
"""Characters of the shortest key that is taken."""

_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_LIMITS = {"concurrent": int, "per_minute": int, "max_tokens": int, "max_seconds": float, "max_cost": float}
_OF_QUESTION = frozenset(entry.name for entry in fields(QuestionLimits))


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks, by the name of the key. Limits of 0 are none.

    Args:
        concurrent: Most solves that are not over.
        per_minute: Most solves accepted in any 60 seconds.
        limits: Of each question.
    """

    name: str
    concurrent: int = 50
    per_minute: int = 600
    limits: QuestionLimits = field(default_factory=QuestionLimits)


LOCAL = Client("local", concurrent=0, per_minute=0)
"""Everybody on this machine, where no key is asked for."""


class ApiKeys:
    """The keys of a server, by their hashes; the keys themselves are not held."""

    def __init__(self, clients: Mapping[bytes, Client]) -> None:
        self._clients = dict(clients)

    @property
    def limit_cost(self) -> bool:
        """True if a key limits what a question may cost."""
        return any(client.limits.max_cost is not None for client in self._clients.values())

    def client(self, authorization: str) -> Client | None:
        """Whose key is in the header `Authorization: Bearer KEY`; None for an unknown one."""
        scheme, _, key = authorization.partition(" ")
        return self._clients.get(_digest(key.strip())) if scheme.lower() == "bearer" else None


def read_keys(file: Path, *, limits: bool = True) -> ApiKeys:
    """Read a key file: a line `NAME:KEY` for each key, then optionally its limits, where the server holds any.

    They are `concurrent=N` and `per_minute=N`, and of each question `max_tokens=N`, `max_seconds=S` and `max_cost=USD`.
    Empty lines and lines that begin with `#` are left out. Raises: UsageError: it never holds a key.
    """
    try:
        lines = read_bounded(file).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageError(f"the key file {file} cannot be read: {reason}") from None
    clients: dict[bytes, Client] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        digest, client = _client(words := line.split(), f"{file}, line {number}")
        if words[1:] and not limits:
            raise UsageError(
                f"{file}, line {number}: this server holds no limits of a key; take those of {client.name} out"
            )
        if digest in clients or client.name in {known_client.name for known_client in clients.values()}:
            raise UsageError(f"{file}, line {number}: the name or the key is in the file twice")
        clients[digest] = client
    if not clients:
        raise UsageError(f"the key file {file} has no key; add a line NAME:KEY, with a key of your own making")
    return ApiKeys(clients)


def _client(words: list[str], where: str) -> tuple[bytes, Client]:
    """The hash and the owner of a key, from the words of its line. Raises: UsageError."""
    name, colon, key = words[0].partition(":")
    if not colon or not _NAME.fullmatch(name):
        raise UsageError(f"{where}: write NAME:KEY; a name has letters, digits and _ . - only")
    if len(key) < MIN_LENGTH:
        raise UsageError(f"{where}: the key of {name} has fewer than {MIN_LENGTH} characters; make a longer one")
    limits: dict[str, Any] = {}
    for word in words[1:]:
        limit, _, text = word.partition("=")
        kind = _LIMITS.get(limit)
        if kind is None or not _NUMBER.fullmatch(text) or (kind is int and "." in text) or not float(text):
            raise UsageError(
                f"{where}: after the key of {name} come only concurrent=N, per_minute=N, max_tokens=N, max_seconds=S "
                "and max_cost=USD, each above 0"
            )
        limits[limit] = kind(text)
    of_question = QuestionLimits(**{limit: limits.pop(limit) for limit in _OF_QUESTION & limits.keys()})
    return _digest(key), Client(name, **limits, limits=of_question)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
