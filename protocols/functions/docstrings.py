"""What a docstring says of a function, of each of its arguments, and of its result."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import docstring_parser

__all__ = ["Docstring", "read_docstring"]


_ON_ONE_LINE = re.compile(r"^(Returns?|Yields|Raises):[ \t]+(\S.*)$", re.MULTILINE)
"""A section of Google's style as it is often written; the parser wants its text in a line below."""


@dataclass(frozen=True, slots=True)
class Docstring:
    """`summary` is the first line, `description` all text before the sections; `arguments` are by name."""

    summary: str
    description: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    returns: str = ""


def read_docstring(text: str) -> Docstring:
    """Read a docstring of the style of Google, NumPy, Sphinx or Epydoc."""
    prose = inspect.cleandoc(text)
    try:
        parsed = docstring_parser.parse(_ON_ONE_LINE.sub(r"\1:\n    \2", prose))
    except docstring_parser.ParseError:  # a part in none of the forms: all of it is prose
        return Docstring(prose.partition("\n")[0], prose)
    arguments = {entry.arg_name.lstrip("*"): _line(entry.description) for entry in parsed.params}
    description = (parsed.description or "").strip()
    returns = _line(parsed.returns.description) if parsed.returns is not None else ""
    return Docstring(description.partition("\n")[0], description, arguments, returns)


def _line(text: str | None) -> str:
    return " ".join((text or "").split())
