"""`atc toolbench compress`."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import json_option, limit_option, option, out_file, takes
from benchmarks.toolbench.server.command import data_option, open_catalogue

__all__ = ["compress"]


@dataclass(frozen=True, kw_only=True)
class _Options:
    """The command line of `atc toolbench compress`."""

    data: tuple[Path, ...] = data_option()  # type: ignore[assignment]
    server: str = option("--server", required=True, metavar="URL", help="Where one reply of each API is asked.")
    model: str = option("--model", required=True, metavar="NAME", help="Who writes the schemas.")
    record: Path | None = option("--reuse", type=out_file, metavar="FILE", help="Take and add the model's answers.")
    limit: int | None = limit_option("APIs")
    out: Path = option(
        "--out",
        required=True,
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Schemas as CATEGORY/TOOL.json; those that it has are not written again.",
    )
    as_json: bool = json_option("Print the counts as JSON.")


@click.command()
@takes(_Options)
def compress(options: _Options) -> None:
    """Write for each API which keys of its long replies to keep, for `atc toolbench serve --schemas DIR`.

    An API whose reply is short needs no schema. A schema has keys of the reply alone. To go on after a stop, repeat the
    command.
    """
    from rich.console import Console
    from rich.progress import track

    from atc.models import open_model
    from benchmarks.toolbench.server.compression import ResponseSchemas, shortened, write_schema
    from benchmarks.toolbench.server.filtering import basic_call
    from benchmarks.toolbench.server.upstream import Upstream
    from protocols.calls.envelope import literal
    from protocols.errors import APIError

    catalogue = open_catalogue(options.data, needed=True)
    assert catalogue is not None
    schemas, server = ResponseSchemas(options.out), Upstream(options.server)
    counts: Counter[str] = Counter()
    addresses = list(catalogue.addresses())[: options.limit]
    with closing(open_model(options.model, reuse=options.record)) as model:
        for address in track(addresses, "APIs", console=Console(stderr=True)):
            tool = catalogue.tool(address.category, address.tool)
            if schemas.get(address) is not None or tool is None:
                counts["there already"] += 1
                continue
            reply = server.answer(basic_call(address, tool.records[address.api]))
            if reply is None:
                raise APIError(f"{server.problem or options.server + ' gives no reply'}; repeat the command to go on")
            value = literal(reply["response"]) if isinstance(reply["response"], str) else reply["response"]
            if reply["error"] or not isinstance(value, dict | list):
                counts["no data"] += 1
            elif shortened(value, None) is value:
                counts["short enough"] += 1
            elif isinstance(schema := write_schema(model, tool.title, tool.records[address.api], value), str):
                counts["no usable schema"] += 1
                say(f"{address.tool}/{address.api}: {schema}")
            else:
                schemas.put(address, schema)
                counts["written"] += 1
    if options.as_json:
        print_json(dict(counts))
    else:
        say(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
