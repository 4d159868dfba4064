"""The only door to the network: every call that a program makes goes through here, is checked, sent and recorded.

The broker knows the protocol, so it knows which hosts, methods and paths exist; nothing else is sent. It holds the
credentials; they are put on a request last and taken out of everything that comes back. It keeps the rules for
sending twice: a write that may have reached the service is never sent again, but with the idempotency key that the
operation documents. With a journal this holds for all runs of a solve, and what was answered once is replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from protocols.calls.binding import bind
from protocols.calls.credentials import Credential
from protocols.calls.header_names import normalized_header
from protocols.calls.serialization import BoundCall
from protocols.errors import DoubtfulCall, ToolError
from protocols.functions.values import plain
from protocols.model import Protocol, Tool
from sandbox.body_forms import described_bytes
from sandbox.egress.call_policy import CallPolicy
from sandbox.egress.doubts import Doubts
from sandbox.egress.egress_rules import (
    URL_LIMIT,
    BaseURL,
    CallTarget,
    EgressRules,
    Origin,
    UnreachableError,
    has_parent_step,
)
from sandbox.egress.executor import CallExecutor
from sandbox.egress.pending_call import LimitExceeded, PendingCall, PlannedRequest, join_url, plan, request_arguments
from sandbox.egress.replies import BrokerReply
from sandbox.egress.signing import (
    allowed_form,
    allowed_query,
    may_pass,
    overrides_method,
    parse_cookies,
    prepare,
    with_defaults,
    without_overrides,
)
from sandbox.egress.writes import WriteApproval, Writes
from sandbox.records import CallRecord, Limits
from sandbox.truncation import cut, one_line

if TYPE_CHECKING:
    from sandbox.egress.network import Network
    from sandbox.journal.journal import JournalAttempt

__all__ = ["Broker", "LimitExceeded"]

ARGUMENTS_LIMIT = 1000
NAME_LIMIT = 500
"""Named arguments of a call, and characters of a name: more is nobody's mistake."""


class Broker:
    """Calls the tools of one protocol, on behalf of one run. All methods may be used from several threads.

    Args:
        base_url: Where the API lives in place of the documented servers; by namespace where there are several.
        allow: Origins that requests may address besides, under any path. The credentials are for the API alone; they
            go to the allowed origins where there is no protocol.
        tools: Names of the tools that may be called by name; all if None. Requests may address any operation.
        before_call: Given each call before it is sent; returns the reason against it, or None.
        on_call: Told of each call when it is over.
        on_begin: Told of each call when it begins (see `CallExecutor`).
        deadline: `time.monotonic()` at which the run ends: no request goes on beyond it, and no retry waits for it.
            The time that somebody takes to confirm writes is added to it.
        journal: Where calls are matched with those of earlier runs, and written down.
        writes: What becomes of writes (see sandbox.egress.writes).
        doubts: What earlier runs were told (see sandbox.egress.doubts).
        network: The certificates of the user.
    Raises: UsageError: The document names no server that has a host, and there is no `base_url`; or that one holds a
        secret.
    """

    def __init__(
        self,
        protocol: Protocol | None,
        *,
        base_url: BaseURL = None,
        allow: Sequence[Origin] = (),
        credentials: Sequence[Credential] = (),
        limits: Limits | None = None,
        tools: Collection[str] | None = None,
        before_call: Callable[[CallRecord], str | None] | None = None,
        on_call: Callable[[CallRecord], None] | None = None,
        on_begin: Callable[[int, str | None, int | None], None] | None = None,
        deadline: float | None = None,
        journal: JournalAttempt | None = None,
        writes: Writes = "allow",
        doubts: Doubts | None = None,
        network: Network | None = None,
    ) -> None:
        self._doubts = doubts or Doubts()
        self.approval = WriteApproval(writes)
        self.protocol = protocol
        self._rules = EgressRules(protocol, base_url, allow)
        self._executor = CallExecutor(
            protocol, self._rules, credentials, limits or Limits(), self.approval, deadline, on_call, on_begin, network
        )
        self._policy = CallPolicy(self._executor, protocol, journal, self.approval, before_call)
        operations = protocol.tools if protocol else ()
        self._tools = {tool.name: tool for tool in operations if tools is None or tool.name in tools}

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        return self._executor.records

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._executor.warnings

    @property
    def on_call_error(self) -> BaseException | None:
        return self._executor.on_call_error

    def until(self, deadline: float) -> None:
        """Move the end, for a caller that makes one call at a time and thinks in between."""
        self._executor.deadline = deadline
        self._policy.until(deadline)

    def cancel(self) -> None:
        """End every call that is under way; when this returns, each has its record."""
        self._policy.cancel()
        self._executor.cancel()

    def close(self) -> None:
        self._executor.close()
        self._policy.close()

    def give_up(self, error: BaseException) -> None:
        """Record the call of this thread as failed with an error that nobody foresaw."""
        self._executor.give_up(error)

    def call(
        self,
        tool: str,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
        line: int | None = None,
    ) -> object:
        """Call a tool by name and give its result: parsed JSON, text, or None for an empty body.

        Raises:
            ToolError: Wrong arguments, no such tool, a 4xx or 5xx, or no reply.
            LimitExceeded: A limit on calls or on the size of a reply.
        """
        return self.fetch(tool, args, kwargs, line).value()

    def fetch(
        self,
        tool: str,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
        line: int | None = None,
        task: Sequence[str] = (),
    ) -> BrokerReply:
        """Like `call`, with the whole reply; a ToolError is its `problem`. Raises: LimitExceeded."""
        call = self._executor.begin("function", line, tool, task)
        operation = self._tools.get(tool)
        try:
            if operation is None:
                raise self._absent(call, tool)
            call.method, call.url = operation.method, f"{self._rules.base_of(operation)}{operation.path}"
            if any(len(name) > NAME_LIMIT for name in kwargs or ()) or len(kwargs or ()) > ARGUMENTS_LIMIT:
                text = f"takes no more than {ARGUMENTS_LIMIT} arguments, with names of at most {NAME_LIMIT} characters"
                raise ToolError(f"{tool}() {text}", tool=tool)
            bound = self._bound(call, operation, args, kwargs or {})
            if len(bound.path) > URL_LIMIT:
                raise ToolError(f"{tool}(): its path would have more than {URL_LIMIT} characters", tool=tool)
            if has_parent_step(bound.path) and not has_parent_step(operation.path):
                names = [repr(p.argument) for p in operation.parameters if p.location == "path"]
                text = f"a path argument must not have '.' or '..' between slashes ({', '.join(names)})"
                raise ToolError(f"{tool}(): {text}", tool=tool)
            if (refused := self._rules.left_out(operation, bound.path)) is not None:
                raise ToolError(
                    f"{tool}(): {refused.method} {refused.path} can't be called: {refused.sentence}", tool=tool
                )
            planned = plan(bound)
            if operation.function is None:
                planned = without_overrides(operation, planned, self._executor.warn)
            if operation.function is None and overrides_method(operation, planned):
                raise ToolError(f"{tool}() must not give a _method, which may change the method", tool=tool)
        except (ToolError, UnreachableError, ValueError, TypeError, RecursionError) as error:
            # The last three: values that no schema foresees.
            call.arguments = _plain({**{f"args[{i}]": value for i, value in enumerate(args)}, **(kwargs or {})})
            problem = self._executor.redact(str(error))
            record = self._executor.finish(call, problem)
            return BrokerReply(record, call.url, problem=problem, failure="InvalidURL")
        base = self._rules.base_of(operation)
        call.planned, call.target = planned, CallTarget(operation, base, base, bound.path, {})
        call.reads = self._rules.only_reads(call.target)
        call.arguments = _plain(bound.arguments, operation.function is not None)
        call.url = join_url(base + planned.path, planned.query)
        return self._policy.make(call)

    def _absent(self, call: PendingCall, tool: str) -> ToolError:
        """What is said of a name that is no tool; a call of an operation that was left out is recorded as such."""
        if self.protocol and (operation := self.protocol.left_out_as(tool)) is not None:
            call.method, call.url = operation.method, operation.path
            return ToolError(f"{tool}() can't be called: {operation.sentence}", tool=tool)
        return ToolError(f"there is no tool {tool}", tool=tool)

    def _bound(
        self, call: PendingCall, tool: Tool, args: Sequence[object], arguments: Mapping[str, object]
    ) -> BoundCall:
        """The call, checked; one that only the document speaks against once the program insists. Raises: ToolError."""
        definitions = self.protocol.definitions if self.protocol else {}
        try:
            return bind(tool, args, arguments, definitions)
        except DoubtfulCall as doubt:
            problem = str(doubt)
            if not self._doubts.insists(tool.name, doubt.problems, repr((args, sorted(arguments.items())))):
                raise ToolError(f"{problem.rstrip('.')}; {doubt.REMEDY}", tool=tool.name) from None
            call.insists = problem
            return bind(tool, args, arguments, definitions, insists=True)

    def request(
        self,
        method: str,
        url: str,
        *,
        params: Sequence[Sequence[str]] = (),
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        data: bytes | Sequence[Sequence[str]] | None = None,
        json_body: bytes | None = None,
        auth: tuple[str, str] | None = None,
        timeout: float | None = None,
        redirects: bool = True,
        line: int | None = None,
        task: Sequence[str] = (),
    ) -> BrokerReply:
        """Send what a program sends with `requests`; it sees the status as it is, and nothing is sent twice.

        Args:
            url: With a documented server (or the base URL in force) in front.
            data: Raw bytes, or pairs for a form. json_body: A JSON text. timeout: Seconds, as the program asks.
        Raises: LimitExceeded.
        """
        from sandbox.egress.transport import RequestError

        call = self._executor.begin("requests", line, None, task)
        warn, method = self._executor.warn, method.upper()
        call.method, call.url = method, url
        default = {"Content-Type": "application/json"} if json_body is not None else {}
        own_headers, own_cookies = with_defaults(headers or {}, default), dict(cookies or {})
        form = allowed_form(data, own_headers, warn)
        content = json_body if json_body is not None else form
        try:
            prepared = prepare(method, url, params, own_headers, own_cookies, content, auth)
            call.target = self._rules.locate(method, str(prepared.url))
            for text in [text for name, text in own_headers.items() if normalized_header(name) == "cookie"][:1]:
                own_cookies = parse_cookies(text)
            body = prepared.body.encode() if isinstance(prepared.body, str) else prepared.body
            call.planned = PlannedRequest(
                method=str(prepared.method),
                path=call.target.path,
                query=allowed_query(call.target.tool, urlsplit(str(prepared.url)).query, warn),
                headers={name: str(text) for name, text in prepared.headers.items() if may_pass(name, warn)},
                cookies=own_cookies,
                body=body,
                timeout=timeout,
                redirects=redirects,
            )
            if overrides_method(call.target.tool, call.planned):
                raise UnreachableError("InvalidURL", "the body must not give a _method, which may change the method")
        except (RequestError, UnreachableError, UnicodeError, ValueError) as error:
            kind = error.kind if isinstance(error, UnreachableError) else type(error).__name__
            message = one_line(self._executor.redact(str(error)))
            record = self._executor.finish(call, message)
            return BrokerReply(record, record.url, failure=kind, problem=cut(message))
        call.tool = call.target.tool.name if call.target.tool else None
        call.arguments, call.url = request_arguments(call), str(prepared.url)
        call.reads = self._rules.only_reads(call.target)
        return self._policy.make(call)


def _plain(arguments: Mapping[str, object], with_classes: bool = True) -> dict[str, object]:
    """Arguments as a record shows them: bytes by their size and digest, no names of value classes where it has some."""
    return {name: described_bytes(plain(value) if with_classes else value) for name, value in arguments.items()}
