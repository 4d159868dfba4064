"""Puts the options that a message names into the words of Python: `--writes plan` becomes `writes="plan"`.

A model reads the words of the command line, whoever runs it; these are for a caller in Python alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import Field, fields
from functools import cache, partial
from typing import Any, TypeAlias

__all__ = ["in_python"]

_WORD = r"""'[^'\n]*'|[^\s,;()'`"]*[^\s,;()'`".:]"""
_NUMBERS = frozenset({"number", "count", "count or none", "amount", "tools"})

Owners: TypeAlias = tuple[tuple[type, str], ...]
"""Classes that declare options (see atc.options.Flag), each with the text around an argument of it."""


def in_python(text: str, owners: Owners) -> str:
    """A message whose options are named as Python does."""
    return _mentions(owners).sub(partial(_as_argument, owners), text)


@cache
def _declared(owners: Owners) -> Mapping[str, tuple[Field[Any], str]]:
    """Each option with a flag by the names of the flag, with the text around its argument in Python."""
    named = {}
    for owner, around in owners:
        for option in fields(owner):
            flag: Any = option.metadata.get("flag")
            for name in (flag.names or (option.name,)) if flag is not None else ():
                named[name.replace("_", "-")] = option, around
    return named


@cache
def _mentions(owners: Owners) -> re.Pattern[str]:
    """An option in a text, with the word behind it; a whole command in backticks is matched without one."""
    names = "|".join(sorted(map(re.escape, _declared(owners)), key=len, reverse=True))
    return re.compile(rf"`atc [^`]*`|--({names})(?![\w-])(?: ({_WORD})(?=([.:]?(?:[\s,;()`\"]|$))))?")


def _as_argument(owners: Owners, mention: re.Match[str]) -> str:
    if mention[1] is None:
        return mention[0]
    option, around = _declared(owners)[mention[1]]
    flag: Any = option.metadata["flag"]
    if option.default is False:
        return around.format(f"{option.name}=True") + (f" {mention[2]}" if mention[2] else "")
    word = mention[2] or ""
    choices = flag.kind if isinstance(flag.kind, tuple) else tuple((flag.metavar or "").split("|"))
    is_value = (
        word in choices or not re.fullmatch(r"[a-z]+(-[a-z]+)*", word) or bool(mention[3].strip()) or _ends(mention)
    )
    if not word or not is_value:
        return around.format(f"{option.name}=…") + (f" {word}" if word else "")
    return around.format(f"{option.name}={_value(word, flag)}")


def _ends(mention: re.Match[str]) -> bool:
    """Whether the text ends behind the word."""
    return mention.end() == len(mention.string)


def _value(word: str, flag: Any) -> str:
    """A value as Python writes it."""
    word = word.strip("'")
    if flag.kind in _NUMBERS:
        return word
    namespace, equals, rest = word.partition("=")
    if flag.kind == "address":
        return f'{{"{namespace}": "{rest}"}}' if equals and namespace.isidentifier() else f'"{word}"'
    return f'["{word}"]' if "many" in flag.traits else f'"{word}"'
