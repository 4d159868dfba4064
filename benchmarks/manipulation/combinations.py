"""What counts as a function of an action: its calls, or a request with its parameters.

Source: Xu et al. (arXiv:2305.16504), appendix D.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import parse_qsl

from benchmarks.manipulation.curl import CurlError, parse_curl

__all__ = ["combination", "request_parameters"]


def combination(action: str, called: Sequence[str]) -> tuple[str, ...]:
    """The calls of an action; where it is a request, its function with the parameters counts as a function."""
    parameters = request_parameters(action) if len(called) == 1 and action.lstrip().startswith("curl") else ""
    return (f"{called[0]}?{parameters}",) if parameters else tuple(called)


def request_parameters(line: str) -> str:
    """The names of the parameters of a curl line, of its address and of its body, but for the key."""
    try:
        request = parse_curl(line.strip())
    except CurlError:
        return ""
    return "&".join(sorted({name for name, _ in request.query}.union(_members(request.body or "")) - {"appid"}))


def _members(body: str) -> Iterable[str]:
    try:
        data = json.loads(body)
    except ValueError:
        return [name for name, _ in parse_qsl(body)]
    return data if isinstance(data, Mapping) else ()
