"""Which writes a probe may send: none, all of them, or those on objects of its own, which it removes at the end."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from protocols.errors import UsageError
from protocols.graph import noun_of_identifier
from protocols.model import Protocol, Tool
from protocols.words import WRAPPERS, noun_of, words
from sandbox import CallRecord

__all__ = ["WRITES", "Made", "Permission"]

WRITES = ("deny", "own", "all")
_LOOKS = frozenset(
    {"calculate", "check", "count", "estimate", "filter", "find", "get", "list", "lookup", "preview", "query", "read"}
    | {"search", "validate"}
)
"""Verbs of what only reads, whatever its method."""
_PARAMETER = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Made:
    """An object that a probe made: the call that removes it."""

    undo: str
    argument: str
    value: str | int

    @property
    def program(self) -> str:
        """What removes it."""
        return f"{self.undo}({self.argument}={self.value!r})"


class Permission:
    """Says of each call that may change something whether it may be sent; a sandbox asks it (`writes=`).

    Args:
        writes: "deny", "own" (what creates an object where the protocol has a way to remove it, and what is done to
            such an object), or "all".
        reads: Tools, by name or as `POST /x/filter`, that only read whatever their method.
    Raises: UsageError: `reads` names no tool.
    """

    def __init__(
        self, protocol: Protocol, writes: Literal["deny", "own", "all"] = "deny", reads: Iterable[str] = ()
    ) -> None:
        self._protocol = protocol
        self._writes = writes
        self.reads = frozenset(_named(protocol, one).name for one in reads)
        self.made: list[Made] = []
        """What is to be removed, oldest first."""
        self.lost: list[str] = []
        """What was made and cannot be removed, and why."""
        self._undo = dict(_undoings(protocol)) if writes == "own" else {}
        self._roots = {_collection(protocol.tool(name).path): name for name in self._undo}

    def __call__(self, call: CallRecord) -> bool:
        """Whether a call may be sent. Of a write on an object of our own its identifier is looked at, too."""
        if self._writes == "all":
            return True
        if call.tool is None:
            return False
        if call.tool in self.reads or call.tool in self._undo:
            return True
        owner = self.owner(self._protocol.tool(call.tool))
        if owner is None:
            return False
        maker, argument = owner
        undo = self._undo.get(maker)
        named = str(call.arguments.get(argument))
        return undo is not None and any((one.undo, str(one.value)) == (undo.name, named) for one in self.made)

    def allows(self, tool: Tool) -> bool:
        """Whether calls of a tool may be allowed at all."""
        return (
            not tool.writes
            or self._writes == "all"
            or tool.name in self.reads
            or tool.name in self._undo
            or self.owner(tool) is not None
        )

    def makes(self, tool: Tool) -> bool:
        """Whether a tool creates objects that are removed at the end."""
        return tool.name in self._undo

    def why_not(self, tool: Tool) -> str:
        """What to say of a tool that is not allowed."""
        reason = "it may change something: allow it with --writes"
        if self._writes == "own":
            reason = "it changes what the probe did not make, or makes what it could not remove"
        if looks_like_read(tool):
            reason += f"; by its name it only reads: if so, say --read '{tool.method} {tool.path}'"
        return reason

    def owner(self, tool: Tool) -> tuple[str, str] | None:
        """The tool that makes the object on which a tool acts, with the argument that names it."""
        found = _PARAMETER.search(tool.path)
        if found is None or not tool.writes:
            return None
        maker = self._roots.get(_collection(tool.path[: found.start()]))
        argument = next((p.argument for p in tool.parameters if p.location == "path" and p.name == found[1]), None)
        return (maker, argument) if maker is not None and argument is not None else None

    def saw(self, call: CallRecord) -> None:
        """Remember what a call made, and forget what it removed."""
        if call.tool is None or call.status is None or not 200 <= call.status < 300:
            return
        undo = self._undo.get(call.tool)
        if undo is not None:
            argument = _last(undo)
            found = identity(call.response, argument, call.tool)
            if found is not None:
                self.made.append(Made(undo.name, argument, found[1]))
            else:  # what it made can't be found again: it makes nothing more
                self.lost.append(f"what {call.tool} made at first: its answer holds no {argument}")
                del self._undo[call.tool]
        elif self._protocol.tool(call.tool).method == "DELETE":
            values = {str(value) for value in call.arguments.values()}
            self.made = [one for one in self.made if one.undo != call.tool or str(one.value) not in values]


def looks_like_read(tool: Tool) -> bool:
    """Whether a POST only queries, by the verb of its name, its path or its description."""
    if tool.method != "POST":
        return False
    path = words(tool.path.rstrip("/").rpartition("/")[2])
    said = words(tool.summary or tool.description)[:1]
    return not _LOOKS.isdisjoint({*path[:1], *path[-1:], *said})


def _undoings(protocol: Protocol) -> Iterable[tuple[str, Tool]]:
    """Tools that create an object, each with the one that removes it."""
    removing: Mapping[str, Tool] = {
        _collection(_PARAMETER.split(tool.path)[0]): tool
        for tool in protocol.tools
        if tool.method == "DELETE" and len(_PARAMETER.findall(tool.path)) == 1 and tool.path.rstrip("/").endswith("}")
    }
    for tool in protocol.tools:
        if (
            tool.method == "POST"
            and "{" not in tool.path
            and (undo := removing.get(_collection(tool.path))) is not None
        ):
            yield tool.name, undo


def _collection(path: str) -> str:
    return path.rstrip("/")


def _last(tool: Tool) -> str:
    return next(p.argument for p in tool.parameters if p.location == "path")


def identity(body: object, argument: str, maker: str) -> tuple[tuple[str, ...], str | int] | None:
    """Where the identifier of an object that was made lies in what its maker answered, and what it is.

    Args:
        argument: What takes the identifier.
        maker: The name of the tool that made it, whose last word says what was made.
    """
    if not isinstance(body, Mapping):
        return None
    noun = noun_of_identifier(argument) or noun_of(maker)
    for key in (argument, "id", f"{noun}_id", f"{noun}Id", "uuid", "slug", "key", "name"):
        value = body.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return (key,), value
    wrapped = [key for key in body if noun_of(str(key)) in WRAPPERS | {noun}]
    for key in wrapped or list(body):
        found = identity(body[key], argument, maker)
        if found is not None:
            return (str(key), *found[0]), found[1]
    return None


def _named(protocol: Protocol, text: str) -> Tool:
    """The tool of a name, or of a method and a path. Raises: UsageError."""
    for tool in protocol.tools:
        if text in (tool.name, f"{tool.method} {tool.path}"):
            return tool
    known: Collection[str] = [f"{tool.method} {tool.path}" for tool in protocol.tools if tool.writes]
    raise UsageError(f"--read {text!r} names no tool; of those that write there are {', '.join(known) or 'none'}")
