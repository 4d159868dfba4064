"""Small models now and then write the same for ever; this tells when."""

from __future__ import annotations

import re

__all__ = ["repetition_start"]

_MIN_COPIES = 4
"""Copies, one after another, of which no more is expected than further ones."""
_MAX_BLOCK_LINES = 12
"""Lines of what is repeated, at most."""
_MIN_REPEATED_LENGTH = 240
"""Letters of all copies, at least: short lines may well be the same some times."""
_REPEATED_INLINE = re.compile(r"(.{4,120}?)\1{11,}$", re.DOTALL)
"""Twelve copies of something within one line, at the end of it."""


def repetition_start(text: str) -> int | None:
    """Where what a text ends with was written for the first time, if it ends with copies of it; None where it does not.

    Lines are looked at once they have ended, and what is being written on a line that is long already.
    """
    *lines, last = text.split("\n")
    if len(last) > _MIN_REPEATED_LENGTH:
        match = _REPEATED_INLINE.search(last[-120 * 13 :])
        return len(text) - (len(match[0]) - len(match[1])) if match is not None else None
    for size in range(1, min(_MAX_BLOCK_LINES, len(lines) // _MIN_COPIES) + 1):
        block = lines[-size:]
        length = sum(len(line) + 1 for line in block)
        times = max(_MIN_COPIES, -(-_MIN_REPEATED_LENGTH // length))
        if any(block) and lines[-size * times :] == block * times:
            return len(text) - len(last) - length * (times - 1)
    return None
