"""`atc serve`: solves over HTTP."""

from __future__ import annotations

import importlib.util
import multiprocessing
import socket
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

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
    workers_option,
)
from atc.apps.cli.reachable import check_server
from protocols.errors import ATCError, UsageError

if TYPE_CHECKING:
    from atc.apps.server.keys import ApiKeys
    from atc.apps.server.settings import ServerSettings
    from atc.apps.server.store import RequestStore
    from atc.options import Options

__all__ = ["serve"]

_FOR_AGENT = [
    *("model", "mode", "max_reflections", "profile", "effort"),
    *("base_url", "auth", "headers", "simulate", "allow", "seed", "now", "strict_sandbox"),
    *LIMITS,
    *("only", "without", "reads"),
    *("call_timeout", "max_calls", "ca_file", "client_cert"),
]
"""The options that the agents take as they are."""


@dataclass(frozen=True, kw_only=True)
class _Options(LimitOptions, ModelOptions, ProgramOptions):
    api: tuple[str, ...] = api_option(required=True)
    writes: Literal["allow", "deny", "simulate"] | None = option(
        "--writes",
        type=click.Choice(("allow", "deny", "simulate")),
        help="Whether calls that may change something are sent: allow (those that the question gives a reason for), "
        "deny, or simulate (a simulated API answers them)  [default: deny, and allow with --simulate]",
    )
    host: str = option("--host", default="127.0.0.1", show_default=True, metavar="H", help="Address to listen at.")
    port: int = option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, metavar="P")
    workers: int = workers_option("Solver processes")
    key_file: Path | None = option(
        "--key-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Who may ask: lines NAME:KEY [concurrent=N] [per_minute=N] [max_tokens=N] [max_seconds=S] [max_cost=USD], "
        "the latter three of each question. Needed unless H is a loopback address.",
    )
    journal: Path = option(
        "--journal",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("atc-serve"),
        show_default=True,
        metavar="DIR",
        help="Keep requests, calls and results in DIR; what was accepted in the background goes on after a stop.",
    )
    strict_sandbox: bool = strict_option()

    def check(self) -> None:
        """Refuse what is missing or contradicts itself. Raises: click.UsageError, UsageError."""
        check_api_options(self.simulate, self.base_url, self.auth)
        if self.key_file is None and not is_loopback(self.host):
            raise click.UsageError(f"{self.host} can be reached from elsewhere: name who may ask with --key-file FILE")
        missing = [
            name
            for name in ("prometheus_client", "sse_starlette", "starlette", "uvicorn")
            if importlib.util.find_spec(name) is None
        ]
        if missing:
            raise UsageError(f"atc serve needs {missing[0]}: pip install 'atc-toolchain[serve]'")


@click.command()
@takes(_Options)
def serve(options: _Options) -> None:
    """Answer questions over HTTP with the API that SPEC documents, until ctrl-C or SIGTERM.

    POST /v1/solve with {"query": "…"} is answered with the Solution; docs/scale.md lists all endpoints.
    """
    options.check()
    from atc.apps.server.keys import read_keys
    from atc.apps.server.settings import ServerSettings
    from atc.apps.server.store import RequestStore

    keys = read_keys(options.key_file) if options.key_file is not None else None
    if options.key_file is not None and options.key_file.stat().st_mode & 0o077:
        say(f"warning: others may read {options.key_file}; chmod 600 {options.key_file}")
    if keys is not None and keys.limit_cost:
        from atc.engines.names import identity
        from atc.models import default_model
        from atc.models.prices import read_prices

        prices = read_prices(Path(options.prices) if options.prices is not None else None)
        prices.required(identity(options.model or default_model()))
    settings = ServerSettings(options.api, _agent_options(options), options.workers, options.journal.absolute())
    with bound(options.host, options.port) as listener, closing(RequestStore(settings.folder)) as store:
        _run(settings, store, keys, listener)
    say("stopped")


def _run(settings: ServerSettings, store: RequestStore, keys: ApiKeys | None, listener: socket.socket) -> None:
    """Serve until a signal. Raises: ATCError: The solver processes cannot be set up."""
    import uvicorn

    from atc.apps.server.app import create_app
    from atc.apps.server.settings import GRACE

    failures: list[ATCError] = []

    def on_start(failure: ATCError | None) -> None:
        host, port = listener.getsockname()[:2]
        if failure is None:
            say(f"serving on http://{f'[{host}]' if ':' in host else host}:{port}")
        else:
            failures.append(failure)
            server.should_exit = True

    config = uvicorn.Config(
        create_app(settings, store, keys, on_start, lambda: server.force_exit),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=round(GRACE),
    )
    server = uvicorn.Server(config)
    with suppress(KeyboardInterrupt):  # raised once more when all has ended
        server.run(sockets=[listener])
    for process in multiprocessing.active_children():  # a second ctrl-C waits for nothing
        process.kill()
    if failures:
        raise failures[0]


def _agent_options(options: _Options) -> Options:
    """The options of the agents. Raises: ATCError: The document, a credential or the service cannot be had."""
    from atc.options import Options
    from protocols.calls.auth import credential, header_of

    writes = options.writes or ("allow" if options.simulate else "deny")
    protocol = open_protocol(options, asks=writes != "allow")
    if not options.simulate:
        for text in options.auth:
            credential(text, protocol)
        for text in options.headers:
            header_of(text, protocol)
        check_server(protocol, options.base_url, options.allow)
    return Options(**{name: getattr(options, name) for name in _FOR_AGENT}, writes=writes)
