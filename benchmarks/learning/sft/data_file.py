"""The conversations of a data file, read one at a time: lines, or the array that released training data is.

An array of some gigabytes is never in memory as a whole; only the element that is being read is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from protocols.errors import UsageError

__all__ = ["read_data"]

_CHUNK = 1 << 20
_LONGEST = 1 << 27
"""Characters of an element that may be read before it counts as damaged; released ones have some ten thousand."""
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder(parse_constant=lambda name: None)


def read_data(path: Path) -> Iterator[tuple[str, Any]]:
    """The JSON values of a file, each with its position in words: `FILE, line N` or `FILE, element N`.

    NaN and infinities become None. Empty lines are left out.

    Raises: UsageError: The file cannot be read, or a part of it is no JSON; what came before has been yielded.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            start = file.read(_CHUNK)
            file.seek(0)
            yield from _elements(path, file) if start.lstrip().startswith("[") else _lines(path, file)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _lines(path: Path, file: TextIO) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            value = _DECODER.decode(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}, line {number}: no JSON: {error}; delete the line") from None
        yield f"{path}, line {number}", value


def _elements(path: Path, file: TextIO) -> Iterator[tuple[str, Any]]:
    """The elements of an array. Raises: UsageError."""
    text, position = file.read(_CHUNK).lstrip()[1:], 0
    number = 1
    while True:
        position = _space(text, position)
        if text.startswith("]", position) and number == 1:
            return
        try:
            value, end = _DECODER.raw_decode(text, position)
            end = _space(text, end)
            separator = text[end]
        except (ValueError, IndexError, RecursionError) as error:
            rest = len(text) - position  # as much again each time, so that a long element costs no square
            chunk = "" if isinstance(error, RecursionError) or rest > _LONGEST else file.read(max(_CHUNK, rest))
            if not chunk:
                raise UsageError(f"{path}, element {number}: the array ends or breaks off here: {error}") from None
            text, position = text[position:] + chunk, 0
            continue
        if separator not in ",]":
            raise UsageError(f"{path}, element {number}: {separator!r} follows it in place of a comma or the end")
        yield f"{path}, element {number}", value
        if separator == "]":
            return
        position, number = end + 1, number + 1


def _space(text: str, position: int) -> int:
    """The first position from here that is no white space."""
    match = _SPACE.match(text, position)
    return match.end() if match else position
