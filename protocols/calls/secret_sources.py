"""Where a secret is kept: an environment variable, a file, or the keyring of the desktop. Never a command line.

A command line would show it to process lists and shell histories. No message repeats what may be a secret.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.bounded_files import read_bounded
from protocols.errors import UsageError

__all__ = ["MIN_SECRET", "SOURCES", "SecretSource"]

SOURCES = "env:VARIABLE, file:PATH or keyring:SERVICE/USER"

MIN_SECRET = 4
"""Characters of a secret; fewer occur in ordinary text."""


@dataclass(frozen=True, slots=True)
class SecretSource:
    """A place that an option names; `option` begins the message of an error.

    `kind` is env, file or keyring, and `place` the variable (or the prefix of several), the path, or SERVICE/USER.
    """

    option: str
    kind: str
    place: str

    def secret(self) -> str:
        """The secret there. Raises: UsageError: There is none, or none that can be kept out of what a program sees."""
        text, where = self.text()
        secret = text.strip()
        if not secret:
            raise UsageError(f"{self.option}: {where} is empty")
        if any(not char.isprintable() for char in secret):
            raise UsageError(f"{self.option}: {where} must hold one line of text")
        _check_length(self.option, where, secret)
        return secret

    def text(self) -> tuple[str, str]:
        """The text there as it is, and how to call the place in a message. Raises: UsageError."""
        if self.kind == "keyring":
            return _from_keyring(self.option, self.place)
        if self.kind == "env":
            return _from_environment(self.option, self.place)
        return _from_file(self.option, self.place)

    def settings(
        self, required: Sequence[str], optional: Sequence[str] = (), secret: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Several texts: `PREFIX_NAME` in the environment, or the members of a JSON object in a file.

        Args:
            required: Their names in lower case. optional: Those that may be missing, and are no key then.
            secret: Which of them are secrets, long enough to be kept out of what a program sees.
        Raises: UsageError: One is missing, or there is no such source.
        """
        names = (*required, *optional)
        if self.kind == "env":
            values: dict[str, Any] = {
                name: _from_environment(self.option, variable)[0].strip()
                for name in names
                if os.environ.get(variable := f"{self.place}_{name.upper()}") or name in required
            }
        elif self.kind == "file":
            content = self.json_object(names)
            values = {name: content[name] for name in names if content.get(name)}
        else:
            raise UsageError(
                f"{self.option} takes env:PREFIX ({', '.join(f'PREFIX_{name.upper()}' for name in required)}) "
                "or file:PATH"
            )
        if missing := [name for name in required if not values.get(name)]:
            raise UsageError(f"{self.option}: {missing[0]} is missing")
        for name in secret:
            if name in values:
                _check_length(self.option, name, str(values[name]))
        return values

    def json_object(self, names: Sequence[str]) -> Mapping[str, Any]:
        """The JSON object in a file. Raises: UsageError: There is none; the message names the members."""
        text, where = self.text()
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict):
            raise UsageError(f"{self.option}: {where} must hold a JSON object: {', '.join(names)}")
        return content


def _check_length(option: str, where: str, secret: str) -> None:
    if len(secret) < MIN_SECRET:
        raise UsageError(
            f"{option}: {where} holds fewer than {MIN_SECRET} characters, "
            "too few to keep them out of what a program sees"
        )


def _from_environment(option: str, name: str) -> tuple[str, str]:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise UsageError(f"{option}:env: takes the name of an environment variable")
    text = os.environ.get(name, "")
    # A user may have given the secret itself.
    where = f"the environment variable {name}" if text or name.isupper() else "the environment variable named"
    if not text:
        raise UsageError(f"{option}: {where} is not set")
    return text, where


def _from_file(option: str, place: str) -> tuple[str, str]:
    where = "the file named"
    try:
        path = Path(place).expanduser()
        if path.exists() or (path.parent != Path() and path.parent.is_dir()):
            where = f"the file {place}"
        return read_bounded(path), where
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a text file"
        raise UsageError(f"{option}: {where} cannot be read: {reason}") from None


def _from_keyring(option: str, place: str) -> tuple[str, str]:
    service, slash, user = place.rpartition("/")
    if not (service and slash and user):
        raise UsageError(f"{option}:keyring: takes SERVICE/USER, as `keyring set SERVICE USER` stored it")
    try:
        import keyring
        from keyring.errors import KeyringError, NoKeyringError
    except ImportError:
        from protocols.extras import needs_extra

        raise UsageError(needs_extra(f"{option}:keyring:", "auth")) from None
    try:
        text = keyring.get_password(service, user)
    except NoKeyringError:
        raise UsageError(
            f"{option}: there is no keyring on this machine; use env: or file:, or set up a backend of keyring"
        ) from None
    except KeyringError as error:
        raise UsageError(f"{option}: the keyring cannot be read ({type(error).__name__}); unlock it first") from None
    if text is None:
        raise UsageError(f"{option}: the keyring has nothing for {place}; store it with `keyring set {service} {user}`")
    return text, f"the keyring's {place}"
