"""The MCP server: the tools of a ToolService, over stdio or HTTP, by the official SDK."""

from __future__ import annotations

import functools
import json
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, ParamSpec, TypeVar

import anyio
import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError as ToolFailed
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import ToolAnnotations
from pydantic import Field

from atc.apps.mcp_server.service import (
    CheckedProgram,
    FoundTools,
    ProgramRun,
    SolvedQuestion,
    ToolDocumentation,
    ToolService,
)
from atc.apps.server.keys import ApiKeys
from atc.apps.server.requests import MAX_QUERY
from atc.apps.tui.parts import call_text, fault_text
from atc.events import CallMade, Event, FaultFound, ProgramWritten, SolveEnded
from protocols.errors import ATCError
from protocols.quoting import MOST_TITLE, one_line

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["PATH", "create_http_app", "create_server", "serve_stdio"]

PATH = "/mcp"
_LOCAL = ("127.0.0.1", "localhost", "[::1]")

P = ParamSpec("P")
Result = TypeVar("Result")

Query = Annotated[str, Field(description="A question or a task, in plain words.", max_length=MAX_QUERY)]
Program = Annotated[
    str,
    Field(description="Python that calls the tools as functions, by keyword arguments, and prints what it finds."),
]


def create_server(service: ToolService, version: str) -> MCPServer[Any]:
    """The server with its five tools; `ToolAnnotations.read_only_hint` follows from the writes policy."""
    api = service.protocol
    title = one_line(api.title, MOST_TITLE).replace('"', "'")
    server: MCPServer[Any] = MCPServer(
        "atc",
        title=f"atc: {title}",
        version=version,
        instructions=f'Answers questions with {len(api.tools)} tools of "{title}", and runs programs that call them. '
        "Find tools with search_tools, read describe_tool, then write one program; or let solve do all of it.",
        log_level="WARNING",
        subscriptions=False,
    )
    looks = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    acts = ToolAnnotations(read_only_hint=service.changes_nothing, open_world_hint=not service.simulated)

    @server.tool(title=f"Answer a question with {title}", annotations=acts)
    async def solve(query: Query, context: Context[Any, Any]) -> SolvedQuestion:
        """Answer a question with the API: a model writes a program, which is run, and revised when it fails."""
        done = 0
        try:
            async for event in service.solve(query):
                if isinstance(event, SolveEnded):
                    return SolvedQuestion.model_validate(event.solution)
                if text := _progress(event):
                    done += 1
                    await context.report_progress(done, message=text)
        except ATCError as error:
            raise ToolFailed(one_line(str(error))) from None
        raise ToolFailed("the solve ended without a solution")

    @server.tool(title="Check a program without running it", annotations=looks)
    async def check_program(program: Program) -> CheckedProgram:
        """Tell what is wrong with a program: names of tools, arguments, keys of responses. Nothing is run."""
        return await _in_thread(service.check_program, program)

    @server.tool(title="Run a program in a sandbox", annotations=acts)
    async def run_program(program: Program) -> ProgramRun:
        """Run a program that chains calls of the tools; it has no files and no network but these calls."""
        return await _in_thread(service.run_program, program)

    @server.tool(title="Find tools", annotations=looks)
    async def search_tools(
        query: Query, limit: Annotated[int, Field(ge=1, le=100, description="Most tools.")] = 10
    ) -> FoundTools:
        """Find the tools that a question needs, best first, each in a line."""
        return await _in_thread(service.search_tools, query, limit)

    @server.tool(title="Read the documentation of a tool", annotations=looks)
    async def describe_tool(name: Annotated[str, Field(description="As search_tools gives it.")]) -> ToolDocumentation:
        """Read how a tool is called, where its identifiers come from, and what it returns."""
        return await _in_thread(service.describe_tool, name)

    return server


async def _in_thread(action: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Do something that blocks. Raises: ToolFailed: An error of ours, which the client is told."""
    try:
        return await anyio.to_thread.run_sync(functools.partial(action, *args, **kwargs))
    except ATCError as error:
        raise ToolFailed(one_line(str(error))) from None


def _progress(event: Event) -> str:
    """An event in a line; empty for one that tells a client nothing."""
    match event:
        case ProgramWritten(attempt):
            return f"attempt {attempt}: a program was written"
        case CallMade(attempt, call):
            return f"attempt {attempt}: {call_text(call)}"
        case FaultFound(attempt, fault):
            return f"attempt {attempt}: {one_line(fault_text(fault))}"
    return ""


async def serve_stdio(server: MCPServer[Any], on_signal: Callable[[], NoReturn]) -> None:
    """Serve the client behind stdin and stdout until it leaves; all else that is printed goes to stderr.

    Args:
        on_signal: Ends the process, at SIGINT or SIGTERM: stdin is read in a thread that nothing can wake.
    """

    async def watch() -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                on_signal()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        await server.run_stdio_async()
        group.cancel_scope.cancel()


def create_http_app(server: MCPServer[Any], host: str, keys: ApiKeys | None) -> ASGIApp:
    """The server as an ASGI application under /mcp.

    Requests whose `Host` or `Origin` is another one than this server's are refused: a page in a browser could have its
    own name resolve to this machine. Where the address is that of all interfaces, its names are not known, and `keys`
    alone protect it.
    """
    own = f"[{host}]" if ":" in host else host
    names = [f"{name}:*" for name in dict.fromkeys([own, *_LOCAL])]
    anywhere = host in ("0.0.0.0", "::", "")
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=not anywhere,
        allowed_hosts=[*names, *_LOCAL, own],
        allowed_origins=[f"http://{name}" for name in names],
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, transport_security=security, host=host
    )
    return app if keys is None else _KeyMiddleware(app, keys)


class _KeyMiddleware:
    """Refuses requests without a key."""

    def __init__(self, app: ASGIApp, keys: ApiKeys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        authorization = dict(scope["headers"]).get(b"authorization", b"") if scope["type"] == "http" else b""
        if scope["type"] == "http" and self._keys.client(authorization.decode("latin-1")) is None:
            error = {"error": "an API key is needed: send the header `Authorization: Bearer KEY`"}
            headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": json.dumps(error).encode()})
            return
        await self._app(scope, receive, send)
