"""What the commands share that serve an API to others: their options, where they listen, and how they end."""

from __future__ import annotations

import importlib.util
import multiprocessing
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.apps.cli import CONFIG, say
from atc.apps.cli.options import agent_options, api_option, check_api_options, option
from atc.apps.cli.reachable import open_service
from atc.options import Options, WritesPolicy
from protocols.errors import UsageError
from protocols.extras import needs_extra
from protocols.mcp.tools import is_loopback

if TYPE_CHECKING:
    import uvicorn

    from protocols.model import Protocol

__all__ = ["ServingOptions", "address_of", "bound", "check_modules", "http_server", "run_http", "served_options"]


def served_options(default: str, *policies: str) -> Any:
    """A field with the options of the agents of a server: the default of their writes policy in words, and the policies
    that there are beside those of every server."""
    groups = ("document", "service", "program", "network", "clock", "model", "mode", "limit")
    return agent_options(*groups, choices=(*policies, "allow", "deny", "simulate"), writes=default)


@dataclass(frozen=True, kw_only=True)
class ServingOptions:
    """The API, where it is offered, and to whom."""

    api: tuple[str, ...] = api_option(required=True)
    agent: Options = served_options("deny")
    host: str = option(
        "--host", default="127.0.0.1", show_default=True, metavar="H", common=True, help="Address to listen at."
    )
    port: int = option(
        "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, metavar="P", common=True
    )
    key_file: Path | None = option(
        "--key-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        common=True,
        help="Who may ask: lines NAME:KEY; `atc serve` takes limits behind it: concurrent=N per_minute=N, and of each "
        "question max_tokens=N max_seconds=S max_cost=USD. Needed unless H is a loopback address.",
    )

    def check_serving(self, extra: str, modules: Sequence[str]) -> None:
        """Refuse what contradicts itself, an open door, and a missing package. Raises: click.UsageError, UsageError."""
        check_api_options(self.agent.simulate, self.agent.base_url, self.agent.auth)
        if self.key_file is None and not is_loopback(self.host):
            raise click.UsageError(f"{self.host} can be reached from elsewhere: name who may ask with --key-file FILE")
        check_modules(extra, modules)

    def opened(self, otherwise: WritesPolicy) -> tuple[Protocol, Options]:
        """The API and the options of its agents; `otherwise` is their policy if the command names none.

        Raises: ATCError: The document, a credential or the service cannot be had.
        """
        agent = replace(self.agent, writes=self.agent.writes or otherwise)
        config = click.get_current_context().meta.get(CONFIG)
        if self.agent.writes is None and config is not None and (policy := config.shared.get("writes")):
            say(f'{config.file}: writes = "{policy}" is none of this command: its own default holds, or name --writes')
        return open_service(self.api, agent, asks=agent.writes != "allow"), agent


def check_modules(extra: str, modules: Sequence[str]) -> None:
    """See that the modules of an extra are there, without importing one. Raises: UsageError."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(needs_extra(f"this command, without {missing[0]},", extra))


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises: UsageError."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        raise UsageError(f"{host}:{port} cannot be used: {error.strerror}; choose others with --host, --port") from None
    return listener


def address_of(listener: socket.socket) -> str:
    """The URL of what listens."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def http_server(app: Any, grace: float) -> uvicorn.Server:
    """A server for an application that logs nothing of requests; at its end they have `grace` seconds."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=round(grace),
    )
    return uvicorn.Server(config)


def run_http(server: uvicorn.Server, listener: socket.socket) -> None:
    """Serve until ctrl-C or SIGTERM."""
    with suppress(KeyboardInterrupt):  # raised once more when all has ended
        server.run(sockets=[listener])
    for process in multiprocessing.active_children():  # a second ctrl-C waits for nothing
        process.kill()
