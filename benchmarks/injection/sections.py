"""The text files of both corpora, to be read from top to bottom.

A section is a line `### name`, lines `key: value`, an empty line, and a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["Half", "Section", "read_sections"]

Half = Literal["seen", "held"]
"""The half to look at while rules are worked on, and the half for the figures at the end."""

_HEADER = re.compile(r"(?P<key>[a-z]+): (?P<value>.+)")


@dataclass(frozen=True, slots=True)
class Section:
    """One program of a file, with its headers; a key may occur more than once."""

    name: str
    headers: tuple[tuple[str, str], ...]
    program: str


def read_sections(file: Path) -> Iterator[Section]:
    """The sections of a file. Raises: ValueError: A line before the program is no header."""
    for section in file.read_text("utf-8").split("\n### ")[1:]:
        head, _, program = section.partition("\n\n")
        name, *lines = head.splitlines()
        headers = []
        for line in lines:
            header = _HEADER.fullmatch(line)
            if header is None:
                raise ValueError(f"{file.name}, {name}: {line!r} is no header")
            headers.append((header["key"], header["value"]))
        yield Section(name.strip(), tuple(headers), program.strip("\n") + "\n")
