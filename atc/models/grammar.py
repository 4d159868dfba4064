"""A grammar (GBNF, as llama.cpp reads it) by which a program can call no function that there is not.

A small model makes up names like `GET_search_album`. Here every word that begins like the name of a tool must be the
name of one; all other text is free.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

__all__ = ["program_grammar"]

METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
_WORD = "A-Za-z0-9_"


def program_grammar(names: Collection[str]) -> str:
    """The grammar of texts in which words that begin with METHOD_ are among `names`."""
    rules = [
        "root ::= out",
        "other ::= [^" + _WORD + "]",
        'end ::= other out | ""',
        f"word ::= [{_WORD}] word | end",
    ]
    starts: dict[str, list[str]] = {}
    for method in METHODS:
        for length in range(1, len(method) + 1):
            starts.setdefault(method[:length], [])
    rules += [f"{_rule(prefix)} ::= {' | '.join(_after(prefix, starts, names))}" for prefix in sorted(starts)]
    rules.insert(1, f"out ::= {' | '.join(_after('', starts, names))}")
    return "\n".join(rules) + "\n"


def _rule(prefix: str) -> str:
    return f"seen-{prefix.lower()}"


def _after(prefix: str, starts: Collection[str], names: Collection[str]) -> Iterator[str]:
    """What may follow a prefix of a method's name that begins a word."""
    longer = [start for start in starts if start.startswith(prefix) and len(start) > len(prefix)]
    following = sorted({start[len(prefix)] for start in longer})
    taken = list(following)
    for letter in following:
        if prefix + letter in starts:
            yield f'"{letter}" {_rule(prefix + letter)}'
    if prefix in METHODS:
        taken.append("_")
        rests = sorted(name[len(prefix) :] for name in names if name.startswith(f"{prefix}_"))
        if rests:
            listed = " | ".join(f'"{rest}"' for rest in rests)
            yield f"({listed}) end"
    free = _without(taken)
    yield f"[{free}] word"
    yield "other out"
    yield '""'


def _without(taken: Collection[str]) -> str:
    """The characters of words without some of them."""
    letters = [chr(code) for code in (*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1))]
    return "".join(one for one in [*letters, *"0123456789_"] if one not in taken)
