"""A grammar (GBNF, as llama.cpp reads it) by which a program can call no function that there is not.

A small model makes up names like `GET_search_album`, and arguments. Here every word that begins like the name of a tool
must be the name of one, and a call begins with an argument that the tool has: a required one, if there are any. All
other text is free.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from atc.models.base import AllowedCalls
from protocols.model import Tool

__all__ = ["first_arguments", "program_grammar"]

METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
_WORD = "A-Za-z0-9_"
_STARRED = '"*" out'


def first_arguments(tool: Tool) -> tuple[str, ...]:
    """The arguments of which one comes first in a call of a tool; `)` stands for none."""
    required = tuple(one.argument for one in tool.arguments if one.required)
    return required or (*(one.argument for one in tool.arguments), ")")


def program_grammar(functions: AllowedCalls) -> str:
    """The grammar of texts in which words that begin with METHOD_ are among `functions`, and called as these are."""
    rules = [
        "root ::= out",
        f"other ::= [^{_WORD}]",
        f"apart ::= [^{_WORD}(]",
        f'word ::= [{_WORD}] word | other out | ""',
        r'gap ::= "" | " " | "\n" indent',
        'indent ::= "" | " " indent',
    ]
    starts = {method[:length] for method in METHODS for length in range(1, len(method) + 1)}
    ways = {first: f"call-{number}" for number, first in enumerate(sorted(set(functions.values())))}
    for first, way in ways.items():
        named = [f'"{one}" gap "=" out' for one in first if one != ")"]
        none = ['")" out'] * (")" in first)
        rules.append(f'{way} ::= "(" gap {way}-first | apart out | ""')
        rules.append(f"{way}-first ::= {' | '.join([*named, *none, _STARRED])}")
    called = {name: ways[first] for name, first in functions.items()}
    rules.insert(1, f"out ::= {' | '.join(_after('', starts, called))}")
    rules += [f"{_rule(prefix)} ::= {' | '.join(_after(prefix, starts, called))}" for prefix in sorted(starts)]
    return "\n".join(rules) + "\n"


def _rule(prefix: str) -> str:
    return f"seen-{prefix.lower()}"


def _after(prefix: str, starts: Collection[str], called: Mapping[str, str]) -> Iterator[str]:
    """What may follow a prefix of a method's name that begins a word; `called` has the rule of each function's call."""
    longer = [start for start in starts if start.startswith(prefix) and len(start) > len(prefix)]
    following = sorted({start[len(prefix)] for start in longer})
    taken = list(following)
    for letter in following:
        if prefix + letter in starts:
            yield f'"{letter}" {_rule(prefix + letter)}'
    if prefix in METHODS:
        taken.append("_")
        for name in sorted(called):
            if name.startswith(f"{prefix}_"):
                yield f'"{name[len(prefix) :]}" {called[name]}'
    free = _without(taken)
    yield f"[{free}] word"
    yield "other out"
    yield '""'


def _without(taken: Collection[str]) -> str:
    """The characters of words without some of them."""
    letters = [chr(code) for code in (*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1))]
    return "".join(one for one in [*letters, *"0123456789_"] if one not in taken)
