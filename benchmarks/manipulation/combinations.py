"""What counts as a function of an action: its calls, or a request with its parameters.

Source: Xu et al. (arXiv:2305.16504), appendix D.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import parse_qsl, urlsplit

from benchmarks.manipulation.curl import DATA_OPTIONS

__all__ = ["combination", "request_parameters"]


def combination(action: str, called: Sequence[str]) -> tuple[str, ...]:
    """The calls of an action; where it is a request, its function with the parameters counts as a function."""
    parameters = request_parameters(action) if len(called) == 1 and action.lstrip().startswith("curl") else ""
    return (f"{called[0]}?{parameters}",) if parameters else tuple(called)


def request_parameters(line: str) -> str:
    """The names of the parameters of a curl line, of its address and of its body, but for the key."""
    try:
        words = shlex.split(line)
    except ValueError:
        return ""
    parameters = set()
    for place, word in enumerate(words):
        if word.startswith(("http:", "https:")):
            parameters |= {name for name, _ in parse_qsl(urlsplit(word).query, keep_blank_values=True)}
        elif words[place - 1] in DATA_OPTIONS or word.startswith("-d"):
            parameters |= set(_members(word if words[place - 1] in DATA_OPTIONS else word[2:]))
    return "&".join(sorted(parameters - {"appid"}))


def _members(body: str) -> Iterable[str]:
    try:
        data = json.loads(body)
    except ValueError:
        return [name for name, _ in parse_qsl(body)]
    return data if isinstance(data, Mapping) else ()
