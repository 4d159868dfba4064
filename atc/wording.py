"""The words in which a message names an option: `--writes plan` on the command line, `writes="plan"` in Python.

Messages are written once, in the words of the command line, and so a model reads the same text whoever runs it. What
leaves for a caller in Python is put into Python's words here, by the declarations in atc.options.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import Field, fields
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from protocols.errors import ATCError

if TYPE_CHECKING:
    from atc.options import Flag

__all__ = ["in_words_of_flags", "spoken", "worded"]

P = ParamSpec("P")
Result = TypeVar("Result")

_commands = 0
"""Commands under way in this process."""
_turn = threading.Lock()

_WORD = r"""'[^'\n]*'|[^\s,;()'`"]*[^\s,;()'`".:]"""
_NUMBERS = frozenset({"number", "count", "count or none", "amount", "tools"})


@contextmanager
def in_words_of_flags() -> Iterator[None]:
    """While this lasts, messages name options as the command line does."""
    global _commands
    with _turn:
        _commands += 1
    try:
        yield
    finally:
        with _turn:
            _commands -= 1


def worded(text: str) -> str:
    """A message in the words of whoever called: a command, or Python."""
    return text if _commands or "--" not in text else _mentions().sub(_as_argument, text)


def spoken(function: Callable[P, Result]) -> Callable[P, Result]:
    """A function whose errors of ours are `worded`."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except ATCError as error:
            error.args = (worded(str(error)), *error.args[1:])
            raise

    return called


@cache
def _declared() -> Mapping[str, tuple[Field[Any], str]]:
    """Each option with a flag by the names of the flag, with the text around its argument in Python."""
    from atc.options import Options, SearchSettings

    named = {}
    for owner, around in ((Options, "{}"), (SearchSettings, "search=SearchSettings({})")):
        for option in fields(owner):
            flag: Flag | None = option.metadata.get("flag")
            for name in (flag.names or (option.name,)) if flag is not None else ():
                named[name.replace("_", "-")] = option, around
    return named


@cache
def _mentions() -> re.Pattern[str]:
    """An option in a text, with the word behind it; a whole command in backticks is matched without one."""
    names = "|".join(sorted(map(re.escape, _declared()), key=len, reverse=True))
    return re.compile(rf"`atc [^`]*`|--({names})(?![\w-])(?: ({_WORD})(?=([.:]?(?:[\s,;()`\"]|$))))?")


def _as_argument(mention: re.Match[str]) -> str:
    if mention[1] is None:
        return mention[0]
    option, around = _declared()[mention[1]]
    flag: Flag = option.metadata["flag"]
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


def _value(word: str, flag: Flag) -> str:
    """A value as Python writes it."""
    word = word.strip("'")
    if flag.kind in _NUMBERS:
        return word
    namespace, equals, rest = word.partition("=")
    if flag.kind == "address":
        return f'{{"{namespace}": "{rest}"}}' if equals and namespace.isidentifier() else f'"{word}"'
    return f'["{word}"]' if "many" in flag.traits else f'"{word}"'
