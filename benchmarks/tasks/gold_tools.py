"""The tool that a gold call of a benchmark names: by its name, or by a path that may be written in another way."""

from __future__ import annotations

import re
import warnings
from urllib.parse import urlsplit

from protocols.errors import UsageError
from protocols.model import Protocol
from protocols.naming import tool_name

__all__ = ["match_gold"]

_VARIABLE = re.compile(r"\{[^{}]*\}")


def match_gold(protocol: Protocol, gold: str) -> str:
    """The name of the tool that a line of a benchmark means: `GET /person/{person_id}` or a tool's name.

    Names of path variables do not matter. An unknown path matches the only tool of that method whose path differs by a
    plural `s`, with a warning.

    Raises: UsageError: No tool matches, or more than one.
    """
    method, _, path = gold.strip().partition(" ")
    if not path:
        if gold.strip() in protocol:
            return gold.strip()
        raise UsageError(f"{gold!r} is no tool of {protocol.title!r}")
    path = _path_within_server(protocol, path.strip())
    if tool_name(method, path) in protocol:
        return tool_name(method, path)
    tools = [tool for tool in protocol.tools if tool.method == method.upper()]
    for form in (_anonymous, _singular):
        candidates = [tool for tool in tools if form(tool.path) == form(path)]
        if len(candidates) == 1:
            if form is _singular:
                warnings.warn(
                    f"{gold!r} is no tool; taken for {candidates[0].name} ({candidates[0].path})", stacklevel=2
                )
            return candidates[0].name
    raise UsageError(f"{gold!r} is no tool of {protocol.title!r}")


def _path_within_server(protocol: Protocol, path: str) -> str:
    for server in protocol.servers:
        if path.startswith(server.url + "/"):
            return path[len(server.url) :]
    try:
        return urlsplit(path).path if "://" in path else path
    except ValueError:  # an address that is none, such as http://[
        return path


def _anonymous(path: str) -> str:
    return _VARIABLE.sub("{}", path).rstrip("/")


def _singular(path: str) -> str:
    return "/".join(segment.removesuffix("s") for segment in _anonymous(path).split("/"))
