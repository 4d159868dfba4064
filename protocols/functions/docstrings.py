"""What a docstring says of a function, of each of its arguments, and of its result."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Docstring", "read_docstring"]

_SECTION = re.compile(r"(Args|Arguments|Parameters|Returns?|Yields|Raises|Examples?|Notes?|Attributes|Source):\s*(.*)")
_ARGUMENT = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_FIELD = re.compile(r":(?:param|arg)\s+(?:[^:]*\s)?\*{0,2}(\w+):\s*(.*)|:returns?:\s*(.*)")


@dataclass(frozen=True, slots=True)
class Docstring:
    """`summary` is the first line, `description` all text before the sections; `arguments` are by name."""

    summary: str
    description: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    returns: str = ""


def read_docstring(text: str) -> Docstring:
    """Read a docstring with sections (`Args:`, `Returns:`) or fields (`:param x:`)."""
    prose: list[str] = []
    arguments: dict[str, str] = {}
    returns: list[str] = []
    section, indent, name = "", 0, ""
    for line in inspect.cleandoc(text).splitlines():
        content, depth = line.strip(), len(line) - len(line.lstrip())
        if (heading := _SECTION.fullmatch(content)) and depth == 0:
            section, indent, name = heading[1], 0, ""
            content = heading[2]
        elif documented := _FIELD.match(content):
            section, name = ("Args", documented[1]) if documented[1] else ("Returns", "")
            content = documented[2] if documented[1] else documented[3]
            indent = depth + 1
            if name:
                arguments[name] = content
                continue
        if section in ("Args", "Arguments", "Parameters", "Attributes"):
            indent = indent or depth
            if content and depth <= indent and (entry := _ARGUMENT.match(content)):
                name = entry[1]
                arguments[name] = entry[2]
            elif content and name:
                arguments[name] = f"{arguments[name]} {content}".strip()
        elif section.startswith("Return"):
            returns.append(content)
        elif not section:
            prose.append(content)
    description = "\n".join(prose).strip()
    return Docstring(description.partition("\n")[0], description, arguments, " ".join(filter(None, returns)))
