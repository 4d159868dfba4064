"""A grammar (GBNF, for llama.cpp) that keeps a program from calling functions that do not exist.

A small model hallucinates names like `GET_search_album`, and arguments. In the grammar, every word that begins like
the name of a tool has to be one, and a call begins with an argument of the tool: a required one, if there are any.
Other text is free.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from atc.models.base import AllowedCalls
from protocols.model import Tool

__all__ = ["first_arguments", "program_grammar"]

METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
_WORD_CHARACTERS = "A-Za-z0-9_"
_UNPACKING = '"*" out'


def first_arguments(tool: Tool) -> tuple[str, ...]:
    """The arguments of which one comes first in a call of a tool; `)` stands for none."""
    required = tuple(parameter.argument for parameter in tool.arguments if parameter.required)
    return required or (*(parameter.argument for parameter in tool.arguments), ")")


def program_grammar(functions: AllowedCalls) -> str:
    """The grammar of texts whose words that begin with METHOD_ are among `functions`, and are called as these are."""
    rules = [
        "root ::= out",
        f"other ::= [^{_WORD_CHARACTERS}]",
        f"apart ::= [^{_WORD_CHARACTERS}(]",
        f'word ::= [{_WORD_CHARACTERS}] word | other out | ""',
        r'gap ::= "" | " " | "\n" indent',
        'indent ::= "" | " " indent',
    ]
    starts = {method[:length] for method in METHODS for length in range(1, len(method) + 1)}
    call_rules = {arguments: f"call-{number}" for number, arguments in enumerate(sorted(set(functions.values())))}
    for arguments, rule in call_rules.items():
        alternatives = [f'"{argument}" gap "=" out' for argument in arguments if argument != ")"]
        without_arguments = ['")" out'] * (")" in arguments)
        rules.append(f'{rule} ::= "(" gap {rule}-first | apart out | ""')
        rules.append(f"{rule}-first ::= {' | '.join([*alternatives, *without_arguments, _UNPACKING])}")
    called = {name: call_rules[arguments] for name, arguments in functions.items()}
    rules.insert(1, f"out ::= {' | '.join(_continuations('', starts, called))}")
    rules += [
        f"{_prefix_rule(prefix)} ::= {' | '.join(_continuations(prefix, starts, called))}" for prefix in sorted(starts)
    ]
    return "\n".join(rules) + "\n"


def _prefix_rule(prefix: str) -> str:
    return f"seen-{prefix.lower()}"


def _continuations(prefix: str, starts: Collection[str], call_rules: Mapping[str, str]) -> Iterator[str]:
    """The alternatives after a prefix of a method's name; `call_rules` has the rule of each function's call."""
    longer = [start for start in starts if start.startswith(prefix) and len(start) > len(prefix)]
    following = sorted({start[len(prefix)] for start in longer})
    excluded = list(following)
    for letter in following:
        if prefix + letter in starts:
            yield f'"{letter}" {_prefix_rule(prefix + letter)}'
    if prefix in METHODS:
        excluded.append("_")
        for name in sorted(call_rules):
            if name.startswith(f"{prefix}_"):
                yield f'"{name[len(prefix) :]}" {call_rules[name]}'
    free = _remaining_letters(excluded)
    yield f"[{free}] word"
    yield "other out"
    yield '""'


def _remaining_letters(excluded: Collection[str]) -> str:
    """The characters of words, without the excluded ones."""
    letters = [chr(code) for code in (*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1))]
    return "".join(letter for letter in [*letters, *"0123456789_"] if letter not in excluded)
