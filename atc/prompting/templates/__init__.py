"""What the model is told: text files that read from top to bottom, filled in at one place."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from string import Template

from atc.models import Message

__all__ = ["render", "turns"]

_FOLDER = Path(__file__).parent


@cache
def _template(file: Path) -> Template:
    return Template(file.read_text("utf-8"))


def render(name: str, folder: Path = _FOLDER, /, **values: str) -> str:
    """Fill `<name>.txt`. A placeholder left without a value is a KeyError, never a hole in the text."""
    return _template(folder / f"{name}.txt").substitute(values)


_OBJECT = "desk."
"""The object whose methods the examples of functions call."""


def turns(name: str, tools: Iterable[str] = ()) -> tuple[Message, ...]:
    """The conversation in `<name>.txt`; a line `=== user` or `=== assistant` begins a turn.

    Args:
        tools: Those of the prompt; where none is a method of an object, an example of functions has plain ones, too.
    """
    return _turns(name, any("." in tool for tool in tools))


@cache
def _turns(name: str, objects: bool) -> tuple[Message, ...]:
    text = (_FOLDER / f"{name}.txt").read_text("utf-8")
    text = text if objects else text.replace(_OBJECT, "")
    parts = [part.partition("\n") for part in text.split("=== ") if part]
    return tuple(Message("user" if role == "user" else "assistant", text.strip()) for role, _, text in parts)
