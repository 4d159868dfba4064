"""Where a secret is kept: an environment variable, a file, or the keyring of the desktop. Never a command line.

A command line would show it to process lists and shell histories. No message repeats what may be a secret.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from protocols.errors import UsageError

__all__ = ["SOURCES", "read_secret", "read_text"]

SOURCES = "env:VARIABLE, file:PATH or keyring:SERVICE/USER"

_MIN_SECRET = 4
"""Characters of a secret; fewer occur in ordinary text."""


def read_secret(option: str, source: str, place: str) -> str:
    """The secret in a place; `option` begins the message of an error.

    Args:
        source: env, file or keyring. place: The variable, the path, or SERVICE/USER.
    Raises: UsageError: There is none, or none that could be kept out of what a program sees.
    """
    text, where = read_text(option, source, place)
    secret = text.strip()
    if not secret:
        raise UsageError(f"{option}: {where} is empty")
    if any(not char.isprintable() for char in secret):
        raise UsageError(f"{option}: {where} must hold one line of text")
    if len(secret) < _MIN_SECRET:
        raise UsageError(
            f"{option}: {where} holds fewer than {_MIN_SECRET} characters, "
            "too few to keep them out of what a program sees"
        )
    return secret


def read_text(option: str, source: str, place: str) -> tuple[str, str]:
    """The text in a place as it is, and how to call the place in a message. Raises: UsageError."""
    if source == "keyring":
        return _from_keyring(option, place)
    if source == "env":
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", place):
            raise UsageError(f"{option} …:env: takes the name of an environment variable")
        text = os.environ.get(place, "")
        # A user may have given the secret itself.
        where = f"the environment variable {place}" if text or place.isupper() else "the environment variable named"
        if not text:
            raise UsageError(f"{option}: {where} is not set")
        return text, where
    where = "the file named"
    try:
        path = Path(place).expanduser()
        if path.exists() or (path.parent != Path() and path.parent.is_dir()):
            where = f"the file {place}"
        return path.read_text("utf-8"), where
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a text file"
        raise UsageError(f"{option}: {where} cannot be read: {reason}") from None


def _from_keyring(option: str, place: str) -> tuple[str, str]:
    service, slash, user = place.rpartition("/")
    if not (service and slash and user):
        raise UsageError(f"{option} …:keyring: takes SERVICE/USER, as `keyring set SERVICE USER` stored it")
    try:
        import keyring
        from keyring.errors import KeyringError, NoKeyringError
    except ImportError:
        raise UsageError(f"{option} …:keyring: needs another package: pip install 'atc-toolchain[auth]'") from None
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
