"""`atc mcp`: an API for clients of the Model Context Protocol."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal, NoReturn

import click

from atc.apps.cli import say
from atc.apps.cli.flags import for_chosen
from atc.apps.cli.help_pages import BriefCommand, HelpGroup
from atc.apps.cli.options import option, takes
from atc.apps.cli.serving import ServingOptions, address_of, bound, http_server, run_http

__all__ = ["mcp"]

_GRACE = 3.0
"""Seconds that requests have to end when the server is stopped."""


@click.group(cls=HelpGroup)
def mcp() -> None:
    """Offer an API to clients of the Model Context Protocol."""


@dataclass(frozen=True, kw_only=True)
class _Options(ServingOptions):
    transport: Literal["stdio", "http"] = option(
        "--transport",
        type=click.Choice(("stdio", "http")),
        default="stdio",
        show_default=True,
        common=True,
        help="How clients come; --host, --port and --key-file are of http.",
    )


@mcp.command(cls=BriefCommand)
@takes(_Options)
def serve(options: _Options) -> None:
    """Offer questions, programs and tools of the API that SPEC documents to MCP clients.

    The tools are solve, check_program, run_program, search_tools and describe_tool. A client chooses neither server nor
    credentials. With stdio the client starts this command; with http it connects to http://H:P/mcp.
    """
    if options.transport == "stdio" and options.key_file is not None:
        raise click.UsageError("--key-file is for --transport http: with stdio the client started this process")
    options.check_serving("mcp", ("mcp", "starlette", "uvicorn"))
    from atc.apps.mcp_server.app import PATH, create_http_app, create_server, serve_stdio
    from atc.apps.mcp_server.service import ToolService
    from atc.apps.server.keys import read_keys

    protocol, agent = options.opened("deny")
    with ToolService(protocol, for_chosen(agent)) as service:
        server = create_server(service, version("atc-toolchain"))
        if options.transport == "stdio":
            import anyio

            def on_signal() -> NoReturn:
                service.close()
                say("interrupted")
                os._exit(130)

            anyio.run(serve_stdio, server, on_signal)
            return
        keys = read_keys(options.key_file) if options.key_file is not None else None
        with bound(options.host, options.port) as listener:
            listener.listen(128)  # who reads the next line may come at once
            say(f"serving on {address_of(listener)}{PATH}")
            run_http(http_server(create_http_app(server, options.host, keys), _GRACE), listener)
        say("stopped")
