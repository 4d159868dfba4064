"""Read the API call in a piece of code, and compare it with the calls that a catalogue lists, by their syntax trees.

A call names its function, a repository and models in it. A listed call is the same API if it names the same function
and repository, and no model that the written call lacks. A written repository may add a version (`owner/name:v1`).

Source: AST sub-tree matching of Gorilla (arXiv:2305.15334), section 4; its released script searches the values of
`repo_or_dir` and `model` in the text of the written call instead.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

__all__ = ["APICall", "matching_call", "read_calls_in"]

_REPOSITORY, _MODEL = "repo_or_dir", "model"
_BARE_TEXT = re.compile(r"(?<=[(,])\s*(['\"][^'\"]*['\"])\s*(?=[,)])")


@dataclass(frozen=True, slots=True)
class APICall:
    """A call as data: the dotted name of its function, repository, model names, and its other arguments as Python."""

    function: str
    repository: str
    models: frozenset[str]
    arguments: Mapping[str, str]

    def is_api(self, listed: APICall) -> bool:
        """Whether this is a call of the API that a listed call stands for."""
        repositories = (self.repository, self.repository.partition(":")[0])
        return self.function == listed.function and listed.repository in repositories and listed.models <= self.models

    def has_arguments(self, listed: APICall) -> bool:
        """Whether all arguments of a listed call are here, with equal values."""
        return listed.arguments.items() <= self.arguments.items()


def read_calls_in(code: str) -> list[APICall]:
    """All calls in a piece of code, in the order of the text; none where it is no Python.

    Some listed calls have a positional argument after a named one, which Python refuses; they are read all the same.
    """
    for text in (code, _named(code)):
        try:
            tree = ast.parse(text.strip())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        return [_read(call) for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset))]
    return []


def _named(code: str) -> str:
    """The code with a name before each bare string that is an argument."""
    numbers = count(1)
    return _BARE_TEXT.sub(lambda match: f"_{next(numbers)}={match[1]}", code)


def _read(call: ast.Call) -> APICall:
    named = dict(_keywords(call))
    bare = [*call.args, *(named.pop(name) for name in list(named) if re.fullmatch(r"_\d+", name))]
    repository = named.pop(_REPOSITORY, None) or (bare.pop(0) if bare else None)
    models = [*bare, *([named.pop(_MODEL)] if _MODEL in named else [])]
    return APICall(
        ast.unparse(call.func),
        next(_texts([repository] if repository else []), ""),
        frozenset(_texts(models)),
        {name: ast.unparse(value) for name, value in named.items()},
    )


def _keywords(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The named arguments, those of a literal `**{...}` included."""
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value
        elif isinstance(keyword.value, ast.Dict):
            for name, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                if isinstance(name, ast.Constant):
                    yield str(name.value), value


def _texts(values: Sequence[ast.expr]) -> Iterator[str]:
    return (value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str))


def matching_call(calls: Sequence[APICall], listed: Sequence[APICall]) -> tuple[int, APICall] | None:
    """The first call that is of a listed API, with the place of that API; None if there is none.

    Where several listed calls fit, it is the one that names the most models.
    """
    for call in calls:
        places = [place for place, entry in enumerate(listed) if call.is_api(entry)]
        if places:
            return max(places, key=lambda place: len(listed[place].models)), call
    return None
