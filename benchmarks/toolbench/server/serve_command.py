"""`atc toolbench serve`: the published API server on this machine."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from atc.apps.cli import say
from atc.apps.cli.options import option, takes

if TYPE_CHECKING:
    from benchmarks.toolbench.server.address import VirtualCall
    from benchmarks.toolbench.server.catalogue import Catalogue
    from benchmarks.toolbench.server.reply_sources import ModelSource, SchemaSource, Upstream

__all__ = ["serve"]

_KEY_VARIABLE = "TOOLBENCH_KEY"


@dataclass(frozen=True, kw_only=True)
class _Options:
    """The command line of `atc toolbench serve`."""

    data: tuple[Path, ...] = option(
        "--data",
        type=click.Path(path_type=Path),
        multiple=True,
        metavar="PATH",
        help="Tools: an unpacked release or its folder of tools, query files (their api_list), or one file. "
        "Repeatable.  [default: the releases under $ATC_DATA]",
    )
    cache: Path | None = option(
        "--cache",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="A published cache of responses: it is read, and new replies are added. Several servers may share it.",
    )
    simulate: Literal["schema", "model", "none"] = option(
        "--simulate",
        type=click.Choice(["schema", "model", "none"]),
        default="schema",
        show_default=True,
        help="What answers a call that is not cached: a simulated API of the tool's documentation, a model, or nothing "
        "(an error text). Simulated replies are marked.",
    )
    model: str | None = option(
        "--model", metavar="NAME", help="The model of --simulate model, as `atc solve --model` takes it."
    )
    record: str | None = option(
        "--record",
        metavar="URL",
        help="Ask this server of the same protocol first, and keep its replies. The key that it wants is read from "
        f"{_KEY_VARIABLE}.",
    )
    port: int = option("--port", type=click.IntRange(0, 65535), default=0, metavar="P", help="[default: any]")
    compat: bool = option(
        "--compat",
        is_flag=True,
        help="As the published server: cached arguments must match exactly, and a request has all six fields.",
    )
    schemas: Path | None = option(
        "--schemas",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="The key schemas of a release: they shorten long replies to calls with `strip`.",
    )
    seed: int = option("--seed", type=int, default=0, show_default=True, help="Of the simulated worlds.")


@click.command()
@takes(_Options)
def serve(options: _Options) -> None:
    """Serve the APIs of ToolBench on this machine until ctrl-C: POST /virtual and POST /rapidapi.

    Prints the base URL. A request is {category, tool_name, api_name, tool_input, strip, toolbench_key}, a reply is
    {error, response}. Every call is stateless.
    """
    from benchmarks.toolbench.server.cache import ResponseCache
    from benchmarks.toolbench.server.virtual_server import VirtualServer
    from protocols.errors import UsageError

    if (options.model is not None) != (options.simulate == "model"):
        raise UsageError("--simulate model and --model NAME belong together: give both, or neither")
    catalogue = _catalogue(options.data, needed=options.simulate != "none")
    with ExitStack() as closing:
        source = _source(options, catalogue, closing)
        cache = ResponseCache(options.cache, exact=options.compat)
        server = VirtualServer(
            catalogue,
            cache,
            source=source,
            upstream=_upstream(options.record),
            compat=options.compat,
            shorten=_shortener(options.schemas) if options.schemas else None,
        )
        with server:
            click.echo(server.start(options.port))
            documented = f"{len(catalogue)} tools" if catalogue is not None else "no documented tools"
            say(f"{documented}; ctrl-C stops the server")
            lists = [catalogue.warnings if catalogue is not None else [], cache.warnings, server.warnings]
            try:
                _tell_warnings(lists)
            finally:
                counts = ", ".join(f"{count} {kind}" for kind, count in sorted(server.counts.items()))
                say(f"replies: {counts or 'none'}")


def _catalogue(data: tuple[Path, ...], *, needed: bool) -> Catalogue | None:
    """The tools of `--data`, or of the releases under `ATC_DATA`; None if there are none and none are needed.

    Raises: UsageError: A path cannot be used, or tools are needed and there are none.
    """
    from benchmarks.toolbench.server.catalogue import Catalogue, default_sources
    from protocols.errors import UsageError

    if data:
        return Catalogue(data)
    try:
        return Catalogue(default_sources())
    except UsageError:
        if needed:
            raise
        return None


def _source(options: _Options, catalogue: Catalogue | None, closing: ExitStack) -> SchemaSource | ModelSource | None:
    if options.simulate == "none" or catalogue is None:
        return None
    if options.simulate == "schema":
        from benchmarks.toolbench.server.reply_sources import SchemaSource

        return SchemaSource(catalogue, options.seed)
    from atc.models import open_model
    from benchmarks.toolbench.server.reply_sources import ModelSource

    source = ModelSource(open_model(options.model, seed=options.seed, keep=True))
    closing.callback(source.close)
    return source


def _shortener(folder: Path) -> Callable[[VirtualCall, Any], Any]:
    """What shortens the value of a reply whose call wants it filtered (`strip`)."""
    from benchmarks.toolbench.server.compression import response_schemas, shortened

    def shorten(call: VirtualCall, value: Any) -> Any:
        if call.strip == "truncate":
            return value
        schemas = response_schemas(folder / call.address.category / f"{call.address.tool}.json")
        return shortened(value, schemas.get(call.address.api))

    return shorten


def _upstream(url: str | None) -> Upstream | None:
    """The server of `--record`, asked with the key of the environment."""
    if url is None:
        return None
    from benchmarks.toolbench.server.reply_sources import Upstream
    from protocols.calls.auth import credential

    has_key = bool(os.environ.get(_KEY_VARIABLE))
    return Upstream(url, credential(f"header:toolbench_key:env:{_KEY_VARIABLE}", None) if has_key else None)


def _tell_warnings(lists: list[list[str]]) -> None:
    """Show warnings as they come, until the process is interrupted."""
    shown = [0] * len(lists)
    pause = threading.Event()
    while True:
        for number, warnings in enumerate(lists):
            for text in warnings[shown[number] :]:
                say(text)
                shown[number] += 1
        pause.wait(0.5)
