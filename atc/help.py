"""Help for a model beside asking it: four moments of a solve at which somebody may do something.

The core knows this interface alone. A help registers as an entry point `atc.help` (`atc.doors`), and a profile names
it; a strong model has none, and a solve with it loads nothing of `atc.assist`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TypeAlias

from atc.doors import doors, load
from atc.evidence import Finding
from atc.fault import Attribution, Fault
from atc.models.base import Message
from atc.profile import FEATURES, Profile
from atc.prompting import Offer
from atc.query import Query
from atc.solution import Attempt
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import UsageError
from sandbox.records import Run

__all__ = ["NO_HELP", "Accept", "Help", "Reject", "Review", "Rewrite", "check_parts", "open_help", "parts"]


@dataclass(frozen=True, slots=True)
class Accept:
    """The program may run."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The program was put right without the model; `fault` says what was wrong with it."""

    program: str
    fault: Fault
    attribution: Attribution


@dataclass(frozen=True, slots=True)
class Reject:
    """The model is to write another program.

    Args:
        details: What it is told beside the fault.
        certain: It is not run as the last program either.
        doubtful_tools: Those whose doubtful arguments the model now knows of.
    """

    fault: Fault
    attribution: Attribution
    details: tuple[str, ...] = ()
    certain: bool = False
    doubtful_tools: tuple[str, ...] = ()


Review: TypeAlias = Accept | Rewrite | Reject


class Help:
    """What is done for a model beside asking it: here nothing. No method makes a call or sees a secret.

    `attempts` are those of the try so far, oldest first: a help keeps no state of its own.
    """

    def leanings(self, text: str, graph: ProtocolGraph, *, choosing: bool) -> Mapping[str, float]:
        """Before tools are ranked for a text: what is added to their scores. `choosing`: some of them are left out."""
        return {}

    def sections(self, query: Query, offer: Offer) -> Sequence[str]:
        """Before the first prompt: texts that stand in it behind the functions."""
        return ()

    def review(self, program: str, query: Query, offer: Offer, attempts: Sequence[Attempt]) -> Review:
        """Before a run; a rewritten program is reviewed again."""
        return Accept()

    def doubts(self, program: str, run: Run, query: Query, offer: Offer) -> Sequence[Finding]:
        """After a good run: what speaks against the answer beside the facts."""
        return ()

    def next_prompt(self, query: Query, offer: Offer, attempts: Sequence[Attempt]) -> Sequence[Message] | None:
        """What a revision is asked with; None for Eq. 2 of the paper."""
        return None


NO_HELP = Help()


def open_help(name: str, options: Mapping[str, bool]) -> Help:
    """The help of a name, with its parts turned off or on; that which does nothing for an empty name.

    Raises: UsageError: No such help is installed.
    """
    if not name:
        return NO_HELP
    try:
        opened: Help = load("atc.help", name)(**options)
    except KeyError:
        listed = ", ".join(doors("atc.help")) or "none, so install the package anew"
        raise UsageError(f"there is no help {name!r}; installed: {listed}") from None
    return opened


def parts(name: str) -> Mapping[str, str]:
    """What can be turned off of a help, with what it does; empty for none. Raises: UsageError: It is not installed."""
    help = open_help(name, {})
    if not is_dataclass(help):
        return {}
    return {entry.name: entry.metadata["part"] for entry in fields(help) if "part" in entry.metadata}


def check_parts(profile: Profile) -> None:
    """Refuse parts that the help of a profile has not. Raises: UsageError."""
    help_parts = parts(profile.help)
    unknown = [name for name in profile.help_off if name not in help_parts]
    if unknown:
        raise UsageError(f"there is no feature {unknown[0]!r} to leave out: {', '.join((*help_parts, *FEATURES))}")
