"""`atc mcp`: an API for clients of the Model Context Protocol."""

from __future__ import annotations

import importlib.util
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import click

from atc.apps.cli import say
from atc.apps.cli.config import LIMITS
from atc.apps.cli.limits import LimitOptions
from atc.apps.cli.listening import bound, is_loopback
from atc.apps.cli.options import (
    ModelOptions,
    ProgramOptions,
    api_option,
    check_api_options,
    open_protocol,
    option,
    strict_option,
    takes,
)
from atc.apps.cli.reachable import check_server
from protocols.errors import UsageError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

__all__ = ["mcp"]

_FOR_AGENT = [
    *("model", "mode", "max_reflections", "profile", "effort"),
    *("base_url", "auth", "headers", "simulate", "allow", "seed", "now", "strict_sandbox"),
    *LIMITS,
    *("call_timeout", "max_calls", "ca_file", "client_cert"),
]
"""The options that the agent takes as they are."""


@click.group()
def mcp() -> None:
    """Offer an API to clients of the Model Context Protocol."""


@dataclass(frozen=True, kw_only=True)
class _Options(LimitOptions, ModelOptions, ProgramOptions):
    api: tuple[str, ...] = api_option(required=True)
    writes: Literal["allow", "deny", "simulate"] = option(
        "--writes",
        type=click.Choice(("allow", "deny", "simulate")),
        default="deny",
        show_default=True,
        help="Whether calls that may change something are sent: allow (of a solve, those that the question gives a "
        "reason for), deny, or simulate (a simulated API answers them).",
    )
    transport: Literal["stdio", "http"] = option(
        "--transport",
        type=click.Choice(("stdio", "http")),
        default="stdio",
        show_default=True,
        help="How clients come.",
    )
    host: str = option(
        "--host", default="127.0.0.1", show_default=True, metavar="H", help="Address to listen at, with http."
    )
    port: int = option(
        "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, metavar="P", help="Its port."
    )
    key_file: Path | None = option(
        "--key-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Who may connect with http: lines NAME:KEY. Needed unless H is a loopback address.",
    )
    strict_sandbox: bool = strict_option()

    def check(self) -> None:
        """Refuse what is missing or contradicts itself. Raises: click.UsageError, UsageError."""
        check_api_options(self.simulate, self.base_url, self.auth)
        if self.transport == "stdio" and self.key_file is not None:
            raise click.UsageError("--key-file is for --transport http: with stdio the client started this process")
        if self.transport == "http" and self.key_file is None and not is_loopback(self.host):
            raise click.UsageError(f"{self.host} can be reached from elsewhere: name who may ask with --key-file FILE")
        if any(importlib.util.find_spec(name) is None for name in ("mcp", "starlette", "uvicorn")):
            raise UsageError("atc mcp serve needs another package: pip install 'atc-toolchain[mcp]'")


@mcp.command()
@takes(_Options)
def serve(options: _Options) -> None:
    """Offer questions, programs and tools of the API that SPEC documents to MCP clients.

    The tools are solve, check_program, run_program, search_tools and describe_tool. A client chooses neither server nor
    credentials. With stdio the client starts this command; with http it connects to http://H:P/mcp.
    """
    options.check()
    from atc.apps.mcp_server.app import create_server, serve_stdio
    from atc.apps.mcp_server.service import ToolService
    from atc.options import Options

    protocol = open_protocol(options, asks=options.writes != "allow")
    agent_options = Options(**{name: getattr(options, name) for name in _FOR_AGENT}, writes=options.writes)
    if not options.simulate:
        check_server(protocol, options.base_url, options.allow)
    with ToolService(protocol, agent_options) as service:
        server = create_server(service, version("atc-toolchain"))
        if options.transport == "stdio":
            import anyio

            def on_signal() -> NoReturn:
                service.close()
                say("interrupted")
                os._exit(130)

            anyio.run(serve_stdio, server, on_signal)
            return
        with bound(options.host, options.port) as listener:
            _serve_http(server, options, listener)


def _serve_http(server: MCPServer[Any], options: _Options, listener: socket.socket) -> None:
    """Serve over HTTP until ctrl-C or SIGTERM."""
    import uvicorn

    from atc.apps.mcp_server.app import PATH, create_http_app
    from atc.apps.server.keys import read_keys

    keys = read_keys(options.key_file) if options.key_file is not None else None
    listener.listen(128)  # who reads the next line may come at once
    host, port = listener.getsockname()[:2]
    say(f"serving on http://{f'[{host}]' if ':' in host else host}:{port}{PATH}")
    config = uvicorn.Config(
        create_http_app(server, options.host, keys),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    with suppress(KeyboardInterrupt):  # raised once more when all has ended
        uvicorn.Server(config).run(sockets=[listener])
    say("stopped")
