"""`atc serve`: solves over HTTP."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from atc.apps.cli import say
from atc.apps.cli.help_pages import BriefCommand
from atc.apps.cli.options import option, takes, workers_option
from atc.apps.cli.serving import ServingOptions, address_of, bound, http_server, run_http, served_options
from atc.options import Options
from protocols.errors import ATCError, UsageError
from protocols.quoting import one_line

if TYPE_CHECKING:
    from atc.apps.server.store import RequestStore
    from protocols.model import Protocol

__all__ = ["serve"]


@dataclass(frozen=True, kw_only=True)
class _Options(ServingOptions):
    agent: Options = served_options("deny; with --ui plan, else with --simulate allow", "plan")
    ui: bool = option(
        "--ui", is_flag=True, common=True, help="Serve a page at /, where one asks, watches and approves writes."
    )
    workers: int = workers_option("Solver processes")
    journal: Path = option(
        "--journal",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("atc-serve"),
        show_default=True,
        metavar="DIR",
        common=True,
        help="Keep requests, calls and results in DIR; what was accepted in the background goes on after a stop.",
    )


@click.command(cls=BriefCommand)
@takes(_Options)
def serve(options: _Options) -> None:
    """Answer questions over HTTP with the API that SPEC documents.

    It ends with ctrl-C or SIGTERM. POST /v1/solve with {"query": "…"} is answered with the Solution; docs/scale.md
    lists all endpoints. With --writes plan a solve in the background lists what it would change, and waits until a
    client approves that.
    """
    options.check_serving("serve", ("prometheus_client", "sse_starlette", "starlette", "uvicorn"))
    from atc.apps.server.app import create_app
    from atc.apps.server.keys import read_keys
    from atc.apps.server.messages import ServerSettings
    from atc.apps.server.service import GRACE
    from atc.apps.server.ui import ui_routes
    from atc.resolved import resolve

    keys = read_keys(options.key_file) if options.key_file is not None else None
    if options.key_file is not None and options.key_file.stat().st_mode & 0o077:
        say(f"warning: others may read {options.key_file}; chmod 600 {options.key_file}")
    if keys is not None and keys.limit_cost:
        from atc.costs import read_prices
        from atc.engines.names import identity
        from atc.models import default_model

        prices = read_prices(Path(options.agent.prices) if options.agent.prices is not None else None)
        prices.required(identity(str(options.agent.model or default_model())))
    protocol, agent = options.opened("allow" if options.agent.simulate and not options.ui else "deny")
    if options.ui and options.agent.writes is None:
        agent = _planning(protocol, agent)
    resolve(protocol, agent)  # what nothing can be done with is refused before a process starts
    pages = ui_routes(protocol.title, agent.writes, bool(agent.simulate)) if options.ui else []
    settings = ServerSettings(options.api, agent, options.workers, options.journal.absolute())
    failures: list[ATCError] = []
    with bound(options.host, options.port) as listener, closing(_opened_store(settings.folder)) as store:

        def on_start(failure: ATCError | None) -> None:
            if failure is None:
                say(f"serving on {address_of(listener)}")
                if options.ui:
                    say(f"open {address_of(listener)}/ in a browser")
            else:
                failures.append(failure)
                server.should_exit = True

        server = http_server(create_app(settings, store, keys, on_start, lambda: server.force_exit, pages), GRACE)
        run_http(server, listener)
    if failures:
        raise failures[0]
    say("stopped")


def _opened_store(folder: Path) -> RequestStore:
    """The store of a folder; one that nobody named has to be of this command's making: its solves go on, signed in as
    the user. Raises: UsageError."""
    from atc.apps.cli.trust import trust, trusts
    from atc.apps.server.store import RequestStore

    file = folder / "requests.sqlite"
    source = click.get_current_context().get_parameter_source("journal")
    if source in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT):
        return RequestStore(folder)
    is_new = not file.exists()
    if not is_new and not trusts(file, [_goes_on(file)]):
        raise UsageError(
            f"{one_line(str(folder))} was there before, and its solves would go on with your credentials; if it is "
            "yours, name it with --journal"
        )
    store = RequestStore(folder)
    if is_new:
        trust(file, [_goes_on(file)], {})
    return store


def _goes_on(file: Path) -> str:
    return f"goes on with the file {file.stat().st_ino}"


def _planning(protocol: Protocol, agent: Options) -> Options:
    """The options with writes that somebody approves on the page; as they were where writes cannot be planned."""
    from atc.resolved import resolve

    planning = replace(agent, writes="plan")
    try:
        resolve(protocol, planning)
    except UsageError:  # by the mode, or because functions cannot be simulated; another reason is told by the caller
        return agent
    return planning
