"""`atc contract`: what is known of an API's responses, and where the service is not as its document says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json
from atc.apps.cli.options import DocumentOptions, argument, json_option, option, out_file, takes
from atc.apps.cli.reachable import open_protocol
from atc.apps.tui.text import visible
from protocols.errors import UsageError
from sandbox.truncation import one_line

if TYPE_CHECKING:
    from protocols.contracts.contract import ValueType
    from protocols.contracts.store import ContractStore
    from protocols.model import Protocol

__all__ = ["contract"]


@dataclass(frozen=True, kw_only=True)
class _Options(DocumentOptions):
    store: Path = option(
        "--store",
        required=True,
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="What `atc solve --store DIR` learned.",
    )

    def opened(self) -> tuple[Protocol, ContractStore]:
        """The document and the store."""
        from protocols.contracts.store import ContractStore

        return open_protocol(self.api, self.agent), ContractStore(self.store)


@dataclass(frozen=True, kw_only=True)
class _DiffOptions(_Options):
    as_json: bool = json_option()


@dataclass(frozen=True, kw_only=True)
class _ShowOptions(_DiffOptions):
    tool: str | None = argument(required=False)


@dataclass(frozen=True, kw_only=True)
class _ExportOptions(_Options):
    out: Path | None = option("-o", "--out", type=out_file, metavar="FILE", help="Write to FILE instead of stdout.")


@click.group()
def contract() -> None:
    """Show what responses hold: by the document, its examples, and what was observed."""


@contract.command()
@takes(_ShowOptions)
def show(options: _ShowOptions) -> None:
    """Show which keys the responses of TOOL may have, or how much was seen of each tool."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    tool = options.tool
    protocol, contract_store = options.opened()
    observed = contract_store.observed(protocol)
    if tool is None:
        rows = {
            name: {"bodies": observations.bodies, "statuses": dict(observations.statuses)}
            for name, observations in sorted(observed.items())
        }
        if options.as_json:
            print_json(rows)
            return
        table = Table("tool", "bodies", "statuses", title=Text(one_line(f"Observed of {protocol.title}")))
        for name, observations in sorted(observed.items()):
            statuses = ", ".join(f"{status}: {count}" for status, count in sorted(observations.statuses.items()))
            table.add_row(name, str(observations.bodies), statuses)
        Console().print(table)
        return
    if tool not in protocol:
        raise UsageError(f"{protocol.title} has no tool {tool}")
    body = contract_store.contract(protocol).body(tool)
    if options.as_json:
        print_json(asdict(body) if body else None)
    else:
        lines = [visible(line).replace("\n", "␊") for line in _lines(body, "")] if body else []
        click.echo("\n".join(lines) or f"nothing is known of what {tool} returns")


@contract.command()
@takes(_DiffOptions)
def diff(options: _DiffOptions) -> None:
    """List where the service did not answer as its document says.

    new: seen and not documented; missing: documented, and not always there; changed: of another type.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from protocols.contracts.store import contract_drift

    protocol, contract_store = options.opened()
    drift = contract_drift(protocol, contract_store.observed(protocol))
    if options.as_json:
        print_json([asdict(difference) for difference in drift])
        return
    title = Text(one_line(f"{protocol.title}: {len(drift)} differences"))
    table = Table("tool", "", "place", "difference", title=title)
    for difference in drift:
        table.add_row(difference.tool, difference.kind, Text(visible(difference.path)), Text(visible(difference.text)))
    Console().print(table)


@contract.command()
@takes(_ExportOptions)
def export(options: _ExportOptions) -> None:
    """Print the JSON schemas of the bodies that were observed, by tool."""
    from atc.files import write_json

    protocol, contract_store = options.opened()
    schemas = {
        name: dict(observations.schema)
        for name, observations in sorted(contract_store.observed(protocol).items())
        if observations.bodies
    }
    if options.out:
        write_json(options.out, schemas, private=True)
    else:
        print_json(schemas)


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
