"""The options that choose operations: `--only`, `--without` and `--read`, with patterns of protocols.choice."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import click

__all__ = ["PatternType", "only_option", "pattern_option", "read_option", "without_option"]


class PatternType(click.ParamType[str]):
    """A pattern of operations; those of an environment variable stand between commas, since they may hold spaces."""

    name = "pattern"
    envvar_list_splitter = ","

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value).strip():
            self.fail("it is empty", param, ctx)
        return str(value).strip()


def pattern_option(*flags: str, help_text: str) -> Any:
    """An option that names operations."""
    settings = {"type": PatternType(), "metavar": "WHAT", "multiple": True, "help": help_text}
    return field(metadata={"parameter": click.option, "flags": flags, "settings": settings})


def only_option() -> Any:
    """`--only`: what is kept of an API."""
    return pattern_option(
        "--only",
        help_text="Offer these operations alone: a tag, an operation id, a tool, GET, '/orders/*' or 'POST /search'. "
        "Repeatable; shop=GET for one of several APIs.",
    )


def without_option() -> Any:
    """`--without`: what is left out of an API."""
    return pattern_option(
        "--without", help_text="Leave these operations out, named like that, such as DELETE. Repeatable."
    )


def read_option() -> Any:
    """`--read`: what changes nothing."""
    return pattern_option(
        *("--read", "--reads"),
        help_text="These operations change nothing, whatever their method, such as 'POST /search'. Repeatable; none "
        "takes back what the document says of that.",
    )
