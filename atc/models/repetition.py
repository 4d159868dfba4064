"""Detect endless repetition in an answer, which small models fall into now and then."""

from __future__ import annotations

import re

__all__ = ["repetition_start"]

_MIN_COPIES = 4
"""Consecutive copies that count as endless."""
_MAX_BLOCK_LINES = 12
"""Lines of a repeated block."""
_MIN_REPEATED_LENGTH = 240
"""Letters of all copies together: short lines may well repeat some times."""
_REPEATED_INLINE = re.compile(r"(.{4,120}?)\1{11,}$", re.DOTALL)
"""Twelve copies of a text at the end of a line."""


def repetition_start(text: str) -> int | None:
    """The end of the first copy of the block that a text ends with copies of; None without repetition.

    Only finished lines are compared, and the last line once it is long.
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
