"""`atc mcp`: an API for clients of the Model Context Protocol."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal, NoReturn

import click

from atc.apps.cli import CONFIG, print_json, say
from atc.apps.cli.config import settle
from atc.apps.cli.documents import loaded
from atc.apps.cli.flags import for_chosen
from atc.apps.cli.help_pages import BriefCommand, HelpGroup
from atc.apps.cli.options import announced, option, takes
from atc.apps.cli.serving import ServingOptions, address_of, bound, check_modules, http_server, run_http
from atc.apps.cli.trust import announce
from protocols.naming import split_namespace

__all__ = ["mcp"]

_MODULES = ("mcp", "starlette", "uvicorn")
"""What the extra `mcp` brings."""

_GRACE = 3.0
"""Seconds that requests have to end when the server is stopped."""

_KEPT = re.compile(r"(?:^|[:=])\s*(?:env|file|keyring):")
"""Names the place of a secret."""
_SECRET_URL = re.compile(r"://[^/?#]*@|[?]")
"""A URL with a password, or with a query, which often holds a key."""
_KEPT_IN_ENV = re.compile(r"\benv:(\w+)")


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
    options.check_serving("mcp", _MODULES)
    from atc.apps.mcp_server.app import PATH, create_http_app, create_server, serve_stdio
    from atc.apps.mcp_server.service import ToolService
    from atc.apps.server.keys import read_keys

    keys = read_keys(options.key_file, limits=False) if options.key_file is not None else None
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
        with bound(options.host, options.port) as listener:
            listener.listen(128)  # who reads the next line may come at once
            say(f"serving on {address_of(listener)}{PATH}")
            run_http(http_server(create_http_app(server, options.host, keys), _GRACE), listener)
        say("stopped")


@mcp.command(context_settings={"ignore_unknown_options": True})
@click.option("--client", type=click.Choice(("claude", "cursor")), default="claude", show_default=True)
@click.option("--name", default="atc", show_default=True, metavar="NAME", help="Of the server, as the client lists it.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTION OF atc mcp serve]...")
@announced
def config(client: str, name: str, arguments: tuple[str, ...]) -> None:
    """Print what a client's configuration needs to start `atc mcp serve` with these options and those of atc.toml.

    Commands and files are absolute, since a client starts from a folder of its own. A credential stays a name, such as
    env:MY_TOKEN: Cursor reads the variable from where it runs, and Claude Desktop needs its value below "env".
    """
    context = click.get_current_context()
    group, settings = context.parent, context.meta.get(CONFIG)
    defaults = group.default_map if group is not None and group.default_map else {}
    checked = serve.make_context("atc mcp config", list(arguments), default_map=defaults.get("serve"))
    values = settle(checked, checked.params)
    if settings is not None and not (settings.shared or settings.tables):
        settings = None
    if settings is not None:
        announce(checked, settings, values)
    check_modules("mcp", _MODULES)
    if files := [api for api in values["api"] if not re.match(r"\w[\w-]*:", split_namespace(api)[1])]:
        loaded(files)
    if checked.params["transport"] == "http":
        raise click.UsageError("a client connects to --transport http by its URL; it starts a server over stdio alone")
    literal = [text for text in (*values["auth"], *values["headers"]) if not _KEPT.search(text)]
    if literal or any(_SECRET_URL.search(argument) for argument in arguments):
        raise click.UsageError("a configuration holds no secret: name where it is kept, as --auth bearer:env:VARIABLE")
    variables = _KEPT_IN_ENV.findall(" ".join((*values["auth"], *values["headers"])))
    script = Path(sys.executable).with_name("atc")
    command, *first = [str(script)] if script.is_file() else [sys.executable, "-m", "atc"]
    server: dict[str, object] = {"command": command, "args": [*first, "mcp", "serve", *map(_absolute, arguments)]}
    environment = {variable: f"${{env:{variable}}}" for variable in variables if client == "cursor"}
    if settings is not None:  # a client starts elsewhere, and would find none
        environment["ATC_CONFIG"] = str(settings.file.resolve())
    if environment:
        server["env"] = environment
    print_json({"mcpServers": {name: server}})
    where = "~/.cursor/mcp.json" if client == "cursor" else "claude_desktop_config.json (Settings, Developer)"
    say(f"add it to {where}")
    if settings is not None:
        say(f"its options are also those of {settings.file}, which the server reads at each start")
    if client == "claude" and variables:
        say(f'Claude Desktop passes no variables on: add {", ".join(variables)} to "env" there')


def _absolute(argument: str) -> str:
    """An argument whose file, alone or behind a name or `file:`, is found from any folder."""
    head, separator, path = argument.rpartition("file:" if "file:" in argument else "=")
    return f"{head}{separator}{Path(path).resolve()}" if Path(path).is_file() else argument
