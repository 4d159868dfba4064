"""Binds a call: its arguments are checked, and become a request that goes where the protocol allows it to go.

Nothing is sent here, and what cannot be bound never is: the program is told why. A request that the program wrote with
`requests` is bound in sandbox.egress.request_style.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.calls.binding import bind
from protocols.calls.serialization import BoundCall
from protocols.errors import DoubtfulCall, ToolError
from protocols.functions import plain
from protocols.media_types import media_kind
from protocols.model import Parameter, Protocol, Tool
from sandbox.body_forms import described_bytes
from sandbox.egress.egress_rules import URL_LIMIT, CallTarget, UnreachableError, has_parent_step
from sandbox.egress.record import CallContext
from sandbox.egress.signing import overrides_method, without_overrides
from sandbox.egress.stages import Begun, Bound, PlannedRequest, QueryPairs, join_url

__all__ = ["Binder", "Doubts", "Unbound", "idempotency_header"]

ARGUMENTS_LIMIT = 1000
NAME_LIMIT = 500
"""Named arguments of a call, and characters of a name: more is nobody's mistake."""

_MEDIA_RANGE = re.compile(r"[\w.+*-]+/[\w.+*-]+(;[\w.-]+=[\w.\"-]+)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Unbound:
    """A call that cannot be made: what its record shows, what is wrong, and the class of `requests.exceptions`."""

    method: str
    url: str
    arguments: dict[str, object]
    problem: str
    failure: str = "InvalidURL"


@dataclass(frozen=True, slots=True)
class _Route:
    """What holds for all calls of a tool: where it is, the media types that it accepts, its idempotency key."""

    base: str
    accept: str
    key: Parameter | None


class Doubts:
    """What the programs of one sandbox were told of calls that only the document speaks against: each is refused once,
    and sent when the program insists. May be used from several threads.

    Within a run the very same call has to be made again: a loop that goes on with other arguments does not insist. A
    later run insists by the same mistake, and also where it was told of it before it ran.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._earlier: set[tuple[str, str]] = set()
        self._now: set[tuple[str, str, str]] = set()
        self._tools: set[str] = set()

    def begin_run(self, *, again: bool = False) -> None:
        """What was told until now was told to an earlier run; one that runs `again` makes the same calls as before."""
        with self._lock:
            if not again:
                self._earlier |= {(tool, problem) for tool, problem, _ in self._now}
            self._now.clear()

    def tell(self, tool: str) -> None:
        """A program was told before its run that the document speaks against a call of this tool."""
        with self._lock:
            self._tools.add(tool)

    def insists(self, tool: str, problems: Sequence[str], arguments: str) -> bool:
        """True if a program makes a call although it was told of the problems; they count as told from now on."""
        with self._lock:
            insists = tool in self._tools or all(
                (tool, problem) in self._earlier or (tool, problem, arguments) in self._now for problem in problems
            )
            self._now |= {(tool, problem, arguments) for problem in problems}
            return insists


class Binder:
    """Binds the calls of one run; may be used from several threads.

    Args:
        tools: Names of the tools that may be called by name; all if None. Requests may address any operation.
        doubts: What earlier runs were told.
    """

    def __init__(
        self, context: CallContext, protocol: Protocol | None, tools: Collection[str] | None, doubts: Doubts
    ) -> None:
        self._protocol = protocol
        self._rules = context.rules
        self._doubts = doubts
        self._redact = context.redactor.text
        self._warn = context.recorder.warn
        operations = protocol.tools if protocol else ()
        self._tools = {tool.name: tool for tool in operations if tools is None or tool.name in tools}
        self._routes: dict[str, _Route] = {}

    def function(self, call: Begun, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> Bound | Unbound:
        """A call of a tool by its name."""
        tool = self._tools.get(name)
        method = url = ""
        try:
            if tool is None:
                left_out = self._protocol.left_out_as(name) if self._protocol else None
                if left_out is None:
                    raise ToolError(f"there is no tool {name}", tool=name)
                method, url = left_out.method, left_out.path
                raise ToolError(f"{name}() can't be called: {left_out.sentence}", tool=name)
            method = tool.method
            route = self._route(tool)
            url = f"{route.base}{tool.path}"
            if any(len(name) > NAME_LIMIT for name in kwargs) or len(kwargs) > ARGUMENTS_LIMIT:
                text = f"takes no more than {ARGUMENTS_LIMIT} arguments, with names of at most {NAME_LIMIT} characters"
                raise ToolError(f"{name}() {text}", tool=name)
            insists, bound = self._checked(tool, args, kwargs)
            self._check_path(tool, bound.path)
            planned = _planned(bound, route.accept)
            if tool.function is None:
                planned = without_overrides(tool, planned, self._warn)
                if overrides_method(tool, planned):
                    raise ToolError(f"{name}() must not give a _method, which may change the method", tool=name)
        except (ToolError, UnreachableError, ValueError, TypeError, RecursionError) as error:
            # The last three: values that no schema foresees.
            arguments = _described({**{f"args[{i}]": value for i, value in enumerate(args)}, **kwargs})
            return Unbound(method, self._redact(url), arguments, self._redact(str(error)))
        target = CallTarget(tool, route.base, route.base, bound.path, {})
        url = self._redact(join_url(route.base + planned.path, planned.query))
        arguments = _described(bound.arguments, tool.function is not None)
        return Bound(call, target, planned, url, arguments, self._rules.only_reads(target), insists, route.key)

    def _route(self, tool: Tool) -> _Route:
        if tool.name not in self._routes:
            route = _Route(self._rules.base_of(tool), _accept(tool), idempotency_header(tool))
            self._routes[tool.name] = route
        return self._routes[tool.name]

    def _checked(self, tool: Tool, args: Sequence[object], arguments: Mapping[str, object]) -> tuple[str, BoundCall]:
        """The call, and what the document says against it where the program insists. Raises: ToolError."""
        definitions = self._protocol.definitions if self._protocol else {}
        try:
            return "", bind(tool, args, arguments, definitions)
        except DoubtfulCall as doubt:
            problem = str(doubt)
            if not self._doubts.insists(tool.name, doubt.problems, repr((args, sorted(arguments.items())))):
                raise ToolError(f"{problem.rstrip('.')}; {doubt.REMEDY}", tool=tool.name) from None
            return problem, bind(tool, args, arguments, definitions, insists=True)

    def _check_path(self, tool: Tool, path: str) -> None:
        """See that a path stays where the operation has it. Raises: ToolError."""
        if len(path) > URL_LIMIT:
            raise ToolError(f"{tool.name}(): its path would have more than {URL_LIMIT} characters", tool=tool.name)
        if has_parent_step(path) and not has_parent_step(tool.path):
            names = [repr(p.argument) for p in tool.parameters if p.location == "path"]
            text = f"a path argument must not have '.' or '..' between slashes ({', '.join(names)})"
            raise ToolError(f"{tool.name}(): {text}", tool=tool.name)
        if (refused := self._rules.left_out(tool, path)) is not None:
            text = f"{refused.method} {refused.path} can't be called: {refused.sentence}"
            raise ToolError(f"{tool.name}(): {text}", tool=tool.name)


def _described(arguments: Mapping[str, object], with_classes: bool = True) -> dict[str, object]:
    """Arguments as a record shows them: bytes by their size and digest, no names of value classes where it has some."""
    values = {name: plain(value) for name, value in arguments.items()} if with_classes else dict(arguments)
    described: Any = described_bytes(values)
    return dict(described)


def _planned(bound: BoundCall, accept: str) -> PlannedRequest:
    """The request of a call whose arguments are bound."""
    content = bound.content
    headers = {"Accept": accept, **bound.headers}
    if content is not None:
        headers["Content-Type"] = content[1]
    body = content[0] if content is not None else None
    query = QueryPairs(bound.query, bound.written_query)
    return PlannedRequest(bound.tool.method, bound.path, query, headers, bound.cookies, body)


def _accept(tool: Tool) -> str:
    """The media types that the document has for a success, JSON before others, and last any other."""
    types = tool.success.media_types if tool.success is not None else ()
    written = [";".join(part for part in "".join(text.split()).split(";") if part[:8] != "charset=") for text in types]
    ranges = [text for text in dict.fromkeys(written) if _MEDIA_RANGE.fullmatch(text) and text != "*/*"]
    ranges.sort(key=lambda text: media_kind(text) != "json")
    if not ranges:
        return "application/json, */*;q=0.5"
    first = media_kind(ranges[0])
    return ", ".join([*(text if media_kind(text) == first else f"{text};q=0.8" for text in ranges), "*/*;q=0.1"])


def idempotency_header(tool: Tool | None) -> Parameter | None:
    """The header in which the operation takes an idempotency key, if it documents one."""
    return next((parameter for parameter in tool.parameters if parameter.is_idempotency_key), None) if tool else None
