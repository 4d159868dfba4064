"""A value of the user's under a name in a header, the query or a cookie: a secret, or a header that is none."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, cast

from protocols.calls.credentials import Credential, Place, RequestToSign, secrets_of_login
from protocols.calls.secret_sources import SecretSource

__all__ = ["APIKey", "PublicHeader", "read_key"]

_MIN_PART = 8
"""Characters of a part of a header that is a secret by itself; shorter ones are its words."""


@dataclass(frozen=True)
class APIKey(Credential):
    """A secret under a name in a header, the query or a cookie."""

    secret: str = field(repr=False)
    location: Literal["header", "query", "cookie"] = "header"
    parameter: str = "Authorization"

    @property
    def place(self) -> Place:
        return self.location, self.parameter

    def query(self) -> Mapping[str, str]:
        return {self.parameter: self.secret} if self.location == "query" else {}

    def cookies(self) -> Mapping[str, str]:
        return {self.parameter: self.secret} if self.location == "cookie" else {}

    def sign(self, request: RequestToSign) -> Mapping[str, str]:
        return {self.parameter: self.secret} if self.location == "header" else {}

    def secrets(self) -> tuple[str, ...]:
        return (self.secret, *(_parts_of_header(self.secret) if self.location == "header" else ()))

    def has_prefix(self, prefix: str) -> bool:
        """True if the secret begins like that, in capitals or not."""
        return self.secret.lower().startswith(prefix.lower())


@dataclass(frozen=True)
class PublicHeader(Credential):
    """A header of the user whose value is no secret."""

    name: str
    value: str

    @property
    def place(self) -> Place:
        return "header", self.name

    def sign(self, request: RequestToSign) -> Mapping[str, str]:
        return {self.name: self.value}


def _parts_of_header(value: str) -> Iterator[str]:
    """The token after `Bearer` or another word, the values of `key=value`, and the login of `Basic …`."""
    word, _, rest = value.partition(" ")
    yield rest.strip()
    for part in re.split(r"[\s,;]+", value):  # Token token="…", session=…; user=…
        text = part.partition("=")[2].strip('"')
        if len(text) >= _MIN_PART:
            yield text
    if word.lower() == "basic":
        with suppress(ValueError):
            login = base64.b64decode(rest.strip(), validate=True).decode()
            yield from (login, *secrets_of_login(login))


def read_key(kind: str, source: SecretSource) -> APIKey:
    """`header:NAME:SOURCE`, or the same with `query` or `cookie`."""
    location, _, name = kind.partition(":")
    return APIKey(source.secret(), cast(Literal["header", "query", "cookie"], location), name)
