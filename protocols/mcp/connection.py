"""One connection to an MCP server, for callers in any thread: an event loop in a thread of its own speaks with it.

The server is a process of ours, or a service. Neither is trusted to answer, to end, or to keep its tools.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from protocols.bounded_bodies import async_bound, more_than
from protocols.calls.credentials import Credential, RequestToSign, ServerVariable
from protocols.calls.redaction import redact
from protocols.errors import APIError, ATCError, UsageError
from protocols.extras import needs_extra
from protocols.functions.host_function import NoReplyError, Remaining, RemoteCallError
from protocols.mcp.answers import BOUNDED_LINES, BROKEN, MOST_BYTES, value_of, with_any_content
from protocols.quoting import MOST_TITLE, one_line, words_of_service

if TYPE_CHECKING:
    import mcp_types as types
    from anyio.from_thread import BlockingPortal

__all__ = ["MCPAddress", "MCPConnection", "ServerListing", "claims_to_read"]

_START = 30.0
"""Seconds in which a server has to start and to list its tools."""

_END = 10.0
"""Seconds in which it has to end; the SDK kills it after six."""

_TICK = 0.02
"""Seconds between two looks at how long a call may still take."""

_PAGES = 10.0
"""Seconds after which no further page of them is asked for."""

_MOST_PAGES = 200
_MOST_TOOLS = 5000
_LAST_WORDS = 0.5
"""Seconds to wait for the end of the server's stderr."""

_ERROR_LINES = 20
"""Lines of the server's stderr that are kept, for a message when it ends."""

_DIES_WITH_US = (
    "import ctypes, os, sys\n"
    "prctl = getattr(ctypes.CDLL(None), 'prctl', None)\n"  # Linux alone has it
    "prctl and prctl(1, 9)\n"  # PR_SET_PDEATHSIG: SIGKILL
    "os.execvp(sys.argv[1], sys.argv[1:])\n"
)
"""Runs the server's command, such that it does not outlive this process however that ends."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class MCPAddress:
    """Where a server is: a command line to start it with (no shell reads it), or a URL; the other one is empty."""

    command: tuple[str, ...] = ()
    url: str = ""

    @property
    def text(self) -> str:
        """The server as messages name it: the command, whose arguments may be secrets, or the URL without its query."""
        return f"`{PurePath(self.command[0]).name}`" if self.command else self.url.partition("?")[0]


@dataclass(frozen=True)
class ServerListing:
    """What a server says of itself, and its tools in its order.

    `broken` are the names of what is listed and is no tool, and what is wrong with each.
    """

    title: str
    version: str
    instructions: str
    tools: tuple[types.Tool, ...]
    warnings: tuple[str, ...] = ()
    broken: tuple[tuple[str, str], ...] = ()

    def differs_in(self, later: ServerListing) -> str | None:
        """The name of a tool that is gone or another one in a later listing; None if there is none."""
        contracts = {tool.name: _contract(tool) for tool in later.tools}
        return next((tool.name for tool in self.tools if contracts.get(tool.name) != _contract(tool)), None)


def claims_to_read(tool: types.Tool) -> bool:
    """True if a server's hints say of a tool that it changes nothing, and none of them says the opposite."""
    hints = tool.annotations
    return hints is not None and hints.read_only_hint is True and hints.destructive_hint is not True


def _contract(tool: types.Tool) -> object:
    """What a program and the writes policy rely on."""
    return tool.input_schema, tool.output_schema, claims_to_read(tool)


class MCPConnection:
    """A server whose tools are listed and called; it is started by the first of these, and again after `close`.

    All methods may be used from several threads. What a later start lists must be what the first one listed.

    Args:
        credentials: Variables of the server's environment, or what is sent to it in headers. They are in no message.
    """

    def __init__(self, address: MCPAddress, credentials: Sequence[Credential] = ()) -> None:
        self._address = address
        self._credentials = tuple(credentials)
        self._session: _Session | None = None
        self._listing: ServerListing | None = None
        self._lock = threading.RLock()
        _OPEN.add(self)

    def listing(self) -> ServerListing:
        """The server's tools as they were first listed. Raises: APIError: It does not start, or is no MCP server."""
        with self._lock:
            if self._listing is None:
                self._listing = self._started().listing(lambda: _START)
            return self._listing

    def call(self, name: str, arguments: dict[str, object], remaining: Remaining) -> object:
        """Call a tool with arguments by the names of its schema, and give its result as JSON.

        Raises:
            RemoteCallError: The server answers that the call failed.
            NoReplyError: It does not answer in time, has ended, or its tools are others than before.
        """
        try:
            session = self._started()
            listing = session.listing(remaining)
        except ATCError as error:
            raise NoReplyError(str(error), may_have_left=False) from None
        if self._listing is not None and self._listing is not listing:
            session.refuse_change(self._listing.differs_in(listing))
        try:
            return value_of(session.call(name, arguments, remaining))
        except RemoteCallError:
            session.refuse_change(session.changed_tool(remaining))
            raise

    def close(self) -> None:
        """End the connection, and with it a server that was started."""
        with self._lock:
            session, self._session = self._session, None
        if session is not None:
            session.close()

    def _started(self) -> _Session:
        """The session. Raises: UsageError, APIError: It cannot be opened."""
        with self._lock:
            if self._session is None:
                self._session = _Session(self._address, self._credentials)
            return self._session


class _Session:
    """One life of a connection: its thread, its process or HTTP client, and its end."""

    def __init__(self, address: MCPAddress, credentials: Sequence[Credential]) -> None:
        portal = _portal()
        self._address = address
        self._credentials = tuple(credentials)
        self._output = _ErrorOutput() if address.command else None
        self._listed: Future[ServerListing] = Future()
        self._suspected = self._over = False
        self._client: Any = None
        self._stop: Any = None
        self._portal_manager: AbstractContextManager[BlockingPortal] = portal
        self._portal = portal.__enter__()
        self._life: Future[None] = self._portal.start_task_soon(self._live)
        self._life.add_done_callback(self._on_end)

    # For callers in other threads

    def listing(self, remaining: Remaining) -> ServerListing:
        """The tools that the server listed at its start. Raises: APIError."""
        try:
            return _wait_for(self._listed, min(_START, remaining()))
        except (FutureTimeoutError, CancelledError):
            self._life.cancel()
            raise APIError(
                f"the MCP server {self._address.text} did not list its tools in time{self._last_words()}; see that it "
                "is an MCP server and starts by itself"
            ) from None
        except (Exception, BaseExceptionGroup) as error:
            raise self._failure(error) from None

    def call(self, name: str, arguments: dict[str, object], remaining: Remaining) -> types.CallToolResult:
        """Raises: RemoteCallError, NoReplyError."""
        import mcp_types as types
        from mcp import MCPError
        from pydantic import ValidationError

        if self._over or self._life.done():
            raise NoReplyError(self._ended(), may_have_left=False)
        if self._suspected:
            self._list_again(remaining)
        try:
            result: types.CallToolResult = self._do(remaining, self._call, name, arguments)
            return result
        except MCPError as error:
            if error.message.endswith(more_than(MOST_BYTES)):
                raise NoReplyError(f"{more_than(MOST_BYTES)}; ask the tool for less") from None
            if error.code == types.CONNECTION_CLOSED or self._life.done():
                self._over = True
                raise NoReplyError(self._ended()) from None
            status = {types.INVALID_PARAMS: 400, types.METHOD_NOT_FOUND: 404}.get(error.code, 500)
            words = words_of_service(self._clean(error.message))
            raise RemoteCallError(words or "the server refused the call", status) from None
        except ValidationError:
            raise RemoteCallError("the answer is no result of a tool", 500) from None
        except FutureTimeoutError:
            raise NoReplyError("no answer in time", timeout=True) from None
        except (CancelledError, RuntimeError, OSError) as error:
            if isinstance(error, RuntimeError) and not self._life.done():
                raise RemoteCallError(self._clean(str(error)), 500) from None
            raise NoReplyError(self._ended()) from None

    def _list_again(self, remaining: Remaining) -> None:
        """Look at the tools again. Raises: NoReplyError: They are others, or not listed, so nothing is sent."""
        import mcp_types as types

        self._suspected = False
        try:
            tool = self._do(remaining, self._changed_tool)
        except Exception as error:  # whatever went wrong, what the tools are now is not known
            closed = getattr(error, "code", None) == types.CONNECTION_CLOSED
            self._suspected, self._over = True, closed or self._life.done()
            why = self._ended() if self._over else f"the MCP server {self._address.text} does not list its new tools"
            raise NoReplyError(why, may_have_left=False) from None
        if tool is not None:  # else it stays what it is: the server may have said so again meanwhile
            self._suspected = True
        self.refuse_change(tool)

    def refuse_change(self, tool: str | None) -> None:
        """Raises: NoReplyError: A tool is gone or another one than at the start."""
        if tool is not None:
            text = (
                f"the MCP server {self._address.text} changed its tools: {one_line(tool, 100)} is no longer as it was "
                "listed; start again, so that programs are written for the tools that it has now"
            )
            raise NoReplyError(text, may_have_left=False) from None

    def changed_tool(self, remaining: Remaining) -> str | None:
        """The name of a tool that is another one than at the start; None if none is, or the server does not say."""
        with suppress(Exception):
            tool: str | None = self._do(remaining, self._changed_tool)
            return tool
        return None

    def close(self) -> None:
        """End it, whatever it does: by the SDK, else with its process group."""
        if self._life.done():
            self._end_thread()
            return
        with suppress(RuntimeError):
            self._portal.start_task_soon(self._set_stop)
        try:
            _wait_for(self._life, _END)
        except BaseException as error:
            self._life.cancel()
            with suppress(BaseException):
                _wait_for(self._life, _END)
            if isinstance(error, KeyboardInterrupt):
                raise
        self._end_thread()

    def _do(self, remaining: Remaining, action: Callable[..., Any], *args: object) -> Any:
        """Do something in the event loop; it is cancelled when the time is up. Raises: FutureTimeoutError."""
        future: Future[Any] = self._portal.start_task_soon(action, *args)
        try:
            while True:
                seconds = remaining()
                if seconds <= 0:
                    raise FutureTimeoutError
                if self._life.done() and not future.done():
                    with suppress(FutureTimeoutError):  # its error comes with the end of the connection
                        return future.result(_TICK)
                    raise CancelledError
                with suppress(FutureTimeoutError):
                    return future.result(min(seconds, _TICK))
        finally:
            future.cancel()

    # In the event loop

    async def _live(self) -> None:
        """From the start of the server to its end."""
        import anyio

        self._stop = anyio.Event()
        output = self._output
        try:
            async with self._open(output) as self._client, anyio.create_task_group() as group:
                if output is not None:
                    output.close_ours()
                self._listed.set_result(await self._list())
                group.start_soon(self._listen)
                await self._stop.wait()
                group.cancel_scope.cancel()
        finally:
            if output is not None:
                output.close_ours()

    def _open(self, output: _ErrorOutput | None) -> Any:
        """The client, not yet entered. Raises: APIError: There is no such command."""
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client

        if output is None:
            client = self._http_client()
            transport = streamable_http_client(self._address.url, http_client=client, max_sse_event_size=None)
            return Client(with_any_content(transport), cache=None, message_handler=self._on_message)
        program = self._address.command[0]
        if shutil.which(program) is None:
            raise APIError(f"the MCP server cannot be started: there is no command {program!r}; check the command line")
        command = [*("-I", "-S", "-c", _DIES_WITH_US), *self._address.command]
        variables = {sent.name: sent.value for sent in self._credentials if isinstance(sent, ServerVariable)}
        locale = {name: value for name, value in os.environ.items() if name in ("LANG", "LC_ALL", "LC_CTYPE", "TZ")}
        parameters = StdioServerParameters(
            command=sys.executable, args=command, env=locale | variables, encoding=BOUNDED_LINES
        )
        transport = stdio_client(parameters, output.theirs)
        return Client(with_any_content(transport), cache=None, message_handler=self._on_message)

    def _http_client(self) -> Any:
        """An HTTP client that puts the credentials on each request; the SDK follows no redirect to another origin."""
        import httpx2
        from mcp.shared._httpx_utils import create_mcp_http_client

        credentials = self._credentials

        def sign(request: httpx2.Request) -> None:
            for sent in credentials:
                parts = RequestToSign(request.method, str(request.url), dict(request.headers), request.content)
                request.headers.update(sent.sign(parts))

        class _SignIn(httpx2.Auth):
            requires_request_body = True

            def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
                sign(request)
                response = yield request
                if response.status_code == 401 and any(
                    sent.renew(request.headers, response.headers) for sent in credentials
                ):
                    sign(request)
                    yield request

        client = create_mcp_http_client(auth=_SignIn())
        # Errors of which the SDK makes the failure of a request.
        client.event_hooks = {"response": [async_bound(MOST_BYTES, httpx2.StreamError, httpx2.SSEError)]}
        return client

    async def _list(self) -> ServerListing:
        broken: dict[str, str] = {}
        tools, problem = await self._tools(broken)
        warning = f"the MCP server {self._address.text} {problem}; the {len(tools)} tools so far are used"
        info = self._client.server_info
        title = one_line(info.title or info.name, MOST_TITLE) if info is not None else self._address.text
        version = one_line(info.version, MOST_TITLE) if info is not None else ""
        instructions = self._client.instructions or ""
        warnings = (warning,) if problem else ()
        return ServerListing(title, version, instructions, tuple(tools), warnings, tuple(broken.items()))

    async def _tools(self, broken: dict[str, str]) -> tuple[list[types.Tool], str]:
        """The tools of all pages; where the pages have no end, those so far and what is wrong. `broken` gets others."""
        tools: dict[str, types.Tool] = {}
        cursors: list[str | None] = [None]
        end, size = time.monotonic() + _PAGES, 0
        while self._client.server_capabilities.tools is not None:
            page = await self._client.list_tools(cursor=cursors[-1])
            broken.update((page.meta or {}).get(BROKEN, ()))
            for tool in page.tools:
                tools.setdefault(tool.name, tool)
                size += len(tool.model_dump_json())
            if not page.next_cursor:
                break
            if page.next_cursor in cursors:
                return list(tools.values()), "sends the same page of its tools again and again"
            cursors.append(page.next_cursor)
            if size > MOST_BYTES:
                return list(tools.values()), f"lists more than {MOST_BYTES >> 20} MiB of tools"
            if len(cursors) > _MOST_PAGES or len(tools) > _MOST_TOOLS or time.monotonic() > end:
                return list(tools.values()), "sends pages of its tools without end"
        return list(tools.values()), ""

    async def _listen(self) -> None:
        """Hear of changed tools, where the protocol's version has a subscription for it."""
        with suppress(Exception):
            async with self._client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._suspected = True

    async def _on_message(self, message: object) -> None:
        import mcp_types as types

        if isinstance(message, types.ToolListChangedNotification):
            self._suspected = True

    async def _call(self, name: str, arguments: dict[str, object]) -> types.CallToolResult:
        import mcp_types as types

        # Not `Client.call_tool`: it checks results with patterns of the server's own, which may take forever.
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments=arguments))
        result: types.CallToolResult = await self._client.session.send_request(request, types.CallToolResult)
        return result

    async def _changed_tool(self) -> str | None:
        return self._listed.result().differs_in(await self._list())

    async def _set_stop(self) -> None:
        if self._stop is not None:
            self._stop.set()

    # Its end

    def _on_end(self, life: Future[None]) -> None:
        if not self._listed.done():
            error = CancelledError() if life.cancelled() else life.exception()
            self._listed.set_exception(error or APIError(self._ended()))

    def _end_thread(self) -> None:
        """End the event loop, unless it hangs; it ends with this process."""
        if self._life.done():
            with suppress(Exception):
                self._portal_manager.__exit__(None, None, None)

    def _ended(self) -> str:
        verb = "ended" if self._address.command else "closed the connection"
        return f"the MCP server {self._address.text} {verb}{self._last_words()}"

    def _failure(self, error: BaseException) -> ATCError:
        """The error of a server that did not come to list its tools."""
        import mcp_types as types
        from mcp import MCPError

        leaf = error
        while isinstance(leaf, BaseExceptionGroup):
            own = [part for part in leaf.exceptions if isinstance(part, ATCError)]
            leaf = (own or leaf.exceptions)[0]
        if isinstance(leaf, ATCError):
            return leaf
        where = self._address.text
        if isinstance(leaf, MCPError) and leaf.code == types.CONNECTION_CLOSED and self._address.command:
            return APIError(f"the MCP server {where} ended before it listed its tools{self._last_words()}")
        if isinstance(leaf, MCPError):
            return APIError(f"{where} does not answer as an MCP server: {self._clean(leaf.message)}")
        return APIError(f"the MCP server {where} cannot be reached: {self._clean(str(leaf) or type(leaf).__name__)}")

    def _last_words(self) -> str:
        """The last line of a server's stderr, in brackets; empty if there is none."""
        line = self._output.last_line() if self._output is not None else ""
        return f" ({self._clean(line)})" if line else ""

    def _clean(self, text: str) -> str:
        return one_line(redact(text, self._credentials), 300)


class _ErrorOutput:
    """The stderr of a server, which is not the user's: a thread keeps its last lines."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.theirs: TextIO = os.fdopen(writing, "w")
        self._lines: deque[str] = deque(maxlen=_ERROR_LINES)
        self._over = threading.Event()
        threading.Thread(target=self._keep_lines, args=(reading,), name="mcp stderr", daemon=True).start()

    def close_ours(self) -> None:
        """Close this process's end, once the server has its own."""
        self.theirs.close()

    def last_line(self) -> str:
        """The last line that is not empty; that of a server which has just ended may still be on its way."""
        self._over.wait(_LAST_WORDS)
        return next((line for line in reversed(self._lines) if line.strip()), "")

    def _keep_lines(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            rest = b""
            while data := stream.read(65536):
                *whole, rest = (rest + data)[-65536:].split(b"\n")
                self._lines.extend(line.decode("utf-8", "replace")[-1000:] for line in whole)
            self._lines.append(rest.decode("utf-8", "replace")[-1000:])
        self._over.set()


def _wait_for(future: Future[Result], seconds: float) -> Result:
    return future.result(max(0.0, seconds))


def _portal() -> AbstractContextManager[BlockingPortal]:
    """An event loop in a thread of its own. Raises: UsageError: The extra is not installed."""
    try:
        import mcp  # noqa: F401
        from anyio.from_thread import start_blocking_portal
    except ImportError:
        raise UsageError(needs_extra("an MCP server", "mcp")) from None
    for name in ("mcp", "client"):  # the SDK's loggers would print what a server sends, with a traceback
        logging.getLogger(name).addHandler(logging.NullHandler())
    return start_blocking_portal("asyncio", name="mcp")


_OPEN: weakref.WeakSet[MCPConnection] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for connection in list(_OPEN):
        with suppress(Exception):
            connection.close()
