"""What helps a small model, by name: each can be taken away, to see what it is worth."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from protocols.errors import UsageError

__all__ = ["PARTS", "PROMPT", "Part", "remaining"]

Part = Literal[
    "check",
    "mend",
    "hints",
    "closure",
    "meaning",
    "examples",
    "demonstrations",
    "names",
    "remedy",
    "focus",
    "afresh",
    "inspect",
    "stable",
]
"""
check: programs are looked at before they are run
mend: what is wrong with them is put right where that needs no model
hints: one line for each identifier says which call yields it
closure: who is shown a tool is shown those that yield its identifiers, too
meaning: tools and answered questions are chosen by what is meant, and not by words alone
examples: the likeliest tools are shown in a few lines of a program, written from the data flow
demonstrations: questions like this one that were answered before are shown with their programs, where they are kept
names: the model can write no name of a function that there is not, and begins no call with an argument that it has not
remedy: a revision is told what would have been right, where that is known
focus: a revision is asked for with the functions that it needs, and not with all that was said before
afresh: who repeats a failed program is asked without it, and then for another one than the likeliest
inspect: an answer is looked at again before it is taken
stable: an API that is small is written down whole and the same for every question, so that it is read once
"""

PARTS: tuple[Part, ...] = get_args(Part)
PROMPT: frozenset[Part] = frozenset({"hints", "closure", "meaning", "examples", "demonstrations", "stable"})
"""Those that every mode has; the others are of mode `attribute` alone."""


def remaining(names: Iterable[str]) -> frozenset[Part]:
    """The parts that are left when these are taken away. Raises: UsageError: There is none of that name."""
    gone = set(names)
    if unknown := sorted(gone.difference(PARTS)):
        raise UsageError(f"there is no part {unknown[0]!r} to leave out: the parts are {', '.join(PARTS)}")
    return frozenset(part for part in PARTS if part not in gone)
