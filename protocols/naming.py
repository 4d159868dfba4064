"""Wire names become Python names by one rule, so that a tool or argument has the same name everywhere.

The papers write `GET_search_person` for `GET /search/person`: all but letters and digits folds into one underscore. The
same rule names arguments. Equal names get a number, in document order.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterable

__all__ = ["argument_name", "fold", "tool_name", "unique"]


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

    A leading underscore is not kept (the sandbox refuses such names); a leading digit gets `n` in front.
    """
    folded = fold(name) or "value"
    if folded[0].isdigit():
        folded = f"n{folded}"
    return f"{folded}_" if keyword.iskeyword(folded) else folded


def unique(names: Iterable[str]) -> list[str]:
    """The names in their order; the second of two equal ones gets `_2`, the third `_3`, skipping names in use."""
    listed = list(names)
    first = set(listed)
    used: set[str] = set()
    result = []
    for name in listed:
        candidate, number = name, 2
        while candidate in used or (candidate != name and candidate in first):
            candidate, number = f"{name.rstrip('_')}_{number}", number + 1
        used.add(candidate)
        result.append(candidate)
    return result
