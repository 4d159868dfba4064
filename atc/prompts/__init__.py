"""What the model is told: text files that read from top to bottom, filled in at one place."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

__all__ = ["render"]

_FOLDER = Path(__file__).parent


@cache
def _template(name: str) -> Template:
    return Template((_FOLDER / f"{name}.txt").read_text("utf-8"))


def render(name: str, **values: str) -> str:
    """Fill `prompts/<name>.txt`. A placeholder left without a value is a KeyError, never a hole in the text."""
    return _template(name).substitute(values)
