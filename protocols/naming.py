"""Wire names become Python names by one rule, so that a tool or argument has the same name everywhere.

The papers write `GET_search_person` for `GET /search/person`: all but letters and digits folds into one underscore. The
same rule names arguments. Equal names get a number, in document order.
"""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterable

from protocols.errors import UsageError

__all__ = ["RESERVED", "argument_name", "check_namespace", "fold", "split_namespace", "tool_name", "unique"]


RESERVED = frozenset({*dir(builtins), *keyword.kwlist, *keyword.softkwlist, "ToolError", "requests"})
"""Names that mean something else in a program."""


_COMPARISONS = {"<=": "lte", ">=": "gte", "<>": "ne", "!=": "ne", "<": "lt", ">": "gt", "!": "ne", "~": "like"}


def fold(text: str) -> str:
    """Letters and digits of `text`, all else folded into single underscores: `vote_average.gte` -> `vote_average_gte`.

    Compatibility forms are normalised first (as Python does with identifiers). May be empty, or start with a digit.
    """
    normal = unicodedata.normalize("NFKC", text)
    folded = "".join(char if char.isascii() or ("a" + char).isidentifier() else "_" for char in normal)
    return re.sub(r"[\W_]+", "_", folded).strip("_")


def tool_name(method: str, path: str) -> str:
    """`get`, `/person/{person_id}/movie_credits` -> `GET_person_person_id_movie_credits`."""
    folded = fold(path)
    return f"{method.upper()}_{folded}" if folded else method.upper()


def argument_name(name: str) -> str:
    """What a program writes for the wire name `name`: folded, a keyword with `_` behind it.

    A leading underscore is not kept (the sandbox refuses such names); a leading digit gets `n` in front. Comparisons
    are spelled out: `StartTime<` -> `StartTime_lt`.
    """
    folded = fold(_spelled(name)) or "value"
    if folded[0].isdigit():
        folded = f"n{folded}"
    return f"{folded}_" if keyword.iskeyword(folded) else folded


def _spelled(name: str) -> str:
    """The name with a comparison at its end, or a sign at its beginning, in letters: `StartTime<` -> `StartTime_lt`."""
    for sign, letters in _COMPARISONS.items():
        if name.endswith(sign) and fold(name):
            return f"{name.removesuffix(sign)}_{letters}"
    signed = re.fullmatch(r"([+-])(\d.*)", name)
    return f"{'plus' if signed[1] == '+' else 'minus'}_{signed[2]}" if signed else name


def split_namespace(text: str) -> tuple[str, str]:
    """`shop=REST` -> `shop` and `REST`; the namespace is "" where nothing stands before the first of `=`, `:`, `/`."""
    match = re.match(r"\s*([^=:/\\]+)=", text)
    return (match[1].strip(), text[match.end() :].strip()) if match is not None else ("", text)


def check_namespace(name: str) -> str:
    """The name, if programs can write it before `__` and the name of a tool. Raises: UsageError."""
    if re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*", name) is None or keyword.iskeyword(name):
        raise UsageError(
            f"{name[:100]!r} is no name for an API: take ASCII letters, digits and single underscores, as in shop=SPEC "
            "(a file with = in its name is written ./FILE)"
        )
    return name


def unique(names: Iterable[str]) -> list[str]:
    """The names in their order; the second of two equal ones gets `_2`, the third `_3`, skipping names in use."""
    listed = list(names)
    first = set(listed)
    used: set[str] = set()
    numbers: dict[str, int] = {}  # the next of each name: from 2 each time, thousands of equal names would take minutes
    result = []
    for name in listed:
        candidate, stem = name, name.rstrip("_")
        while candidate in used or (candidate != name and candidate in first):
            number = numbers.get(stem, 2)
            candidate, numbers[stem] = f"{stem}_{number}", number + 1
        used.add(candidate)
        result.append(candidate)
    return result
