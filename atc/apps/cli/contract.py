"""`atc contract`: what is known of an API's responses."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.apps.cli import print_json
from atc.apps.cli.help_pages import HelpGroup
from atc.apps.cli.options import DocumentOptions, argument, json_option, option, takes
from atc.apps.cli.reachable import open_protocol
from protocols.errors import UsageError
from protocols.json_path import subscripts
from protocols.quoting import one_line, visible

if TYPE_CHECKING:
    from protocols.contracts.contract import ValueType
    from protocols.contracts.store import ContractStore
    from protocols.model import Protocol

__all__ = ["contract"]


@dataclass(frozen=True, kw_only=True)
class _Options(DocumentOptions):
    tool: str | None = argument(required=False)
    store: Path = option(
        "--store",
        required=True,
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="What `atc solve --store DIR` learned.",
    )
    as_json: bool = json_option()


@click.group(cls=HelpGroup)
def contract() -> None:
    """Show what responses hold, as documented and as observed."""


@contract.command()
@takes(_Options)
def show(options: _Options) -> None:
    """Show which keys the responses of TOOL may have, or how much was seen of each tool."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from protocols.contracts.store import ContractStore

    protocol, contract_store = open_protocol(options.api, options.agent), ContractStore(options.store)
    if options.tool is not None:
        _show_tool(protocol, contract_store, options.tool, options.as_json)
        return
    rows: dict[str, dict[str, Any]] = {}
    for name, observations in sorted(contract_store.observed(protocol).items()):
        rows[name] = {"bodies": observations.bodies, "statuses": dict(observations.statuses)}
        if observations.left_out:
            rows[name]["left_out"] = [subscripts(path) for path in observations.left_out]
    if options.as_json:
        print_json(rows)
        return
    table = Table(title=Text(one_line(f"Observed of {protocol.title}")))
    for column in ("tool", "bodies", "statuses"):
        table.add_column(column, overflow="fold")
    for name, row in rows.items():
        statuses = ", ".join(f"{status}: {count}" for status, count in sorted(row["statuses"].items()))
        table.add_row(name, str(row["bodies"]), statuses)
    Console().print(table)
    for name, row in rows.items():
        for path in row.get("left_out", ()):
            click.echo(visible(f"{name}: what is in {path or 'the reply'} is not kept: it is data, or too much"))


def _show_tool(protocol: Protocol, contract_store: ContractStore, tool: str, as_json: bool) -> None:
    if tool not in protocol:
        raise UsageError(f"{protocol.title} has no tool {tool}")
    body = contract_store.contract(protocol).body(tool)
    if as_json:
        print_json(asdict(body) if body else None)
    else:
        lines = [visible(line).replace("\n", "␊") for line in _lines(body, "")] if body else []
        click.echo("\n".join(lines) or f"nothing is known of what {tool} returns")


def _lines(shape: ValueType, indent: str) -> list[str]:
    """A shape as indented lines: `title: str`, with `?` where a key is not always there."""
    if shape.kind == "list":
        return _lines(shape.item, indent) if shape.item is not None else []
    lines = []
    for name, key in shape.keys.items():
        inner = key.type
        kind = inner.kind if inner.kind != "list" else f"list of {inner.item.kind if inner.item else 'any'}"
        lines.append(f"{indent}{name}{'' if key.certain else '?'}: {kind}")
        lines += _lines(inner, f"{indent}  ")
    return [*lines, f"{indent}…"] if shape.open and shape.keys else lines
