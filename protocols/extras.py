"""The extras of this distribution: which one brings a library, and the sentence for one that is not installed.

The core installs in seconds and asks no model. Whatever needs more says which command brings it.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from typing import Any

from protocols.errors import MissingExtraError

__all__ = ["install_command", "load", "missing_extra", "needs_extra", "requirements"]

_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([^\]]*)\])?[^;]*;.*extra == ['\"]([\w-]+)['\"]")


def requirements() -> dict[str, tuple[str, ...]]:
    """The distributions that each extra needs, as the installed metadata says, with those of extras that it names."""
    from protocols.installed_from import DISTRIBUTION

    direct: dict[str, list[str]] = {}
    named: dict[str, list[str]] = {}
    for line in importlib.metadata.requires(DISTRIBUTION) or []:
        if match := _REQUIREMENT.match(line):
            distribution, extras, extra = match.groups()
            if distribution == DISTRIBUTION:
                named.setdefault(extra, []).extend(extras.split(","))
            direct.setdefault(extra, []).extend([] if distribution == DISTRIBUTION else [distribution])
    return {
        extra: tuple(dict.fromkeys([*own, *(name for other in named.get(extra, ()) for name in direct.get(other, ()))]))
        for extra, own in direct.items()
    }


def load(module: str, subject: str) -> Any:
    """A module of an extra. Raises: MissingExtraError: It is not installed; the message says what it is for."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (sentence := missing_extra(error, subject)) is None:
            raise
        raise MissingExtraError(sentence) from None


def missing_extra(error: ModuleNotFoundError, subject: str) -> str | None:
    """The sentence for a module that an extra brings; None for one that no extra brings under its own name."""
    module = (error.name or "").partition(".")[0]
    name = module.replace("_", "-")
    extra = next((extra for extra, distributions in requirements().items() if name in distributions), None)
    return extra and needs_extra(f"{subject}, without {module},", extra)


def install_command(extra: str) -> str:
    """The command that adds an extra to this installation."""
    from protocols.installed_from import extra_command

    return extra_command(extra, requirements().get(extra, ()))


def needs_extra(subject: str, extra: str) -> str:
    """The sentence for what an extra is missing for; `subject` is its first words, such as `atc tui`."""
    return f"{subject} needs the extra `{extra}`: {install_command(extra)}"
