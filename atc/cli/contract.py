"""`atc contract`: what is known of an API's responses, and where the service is not as its document says."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.cli.options import out_file
from atc.tui.text import visible
from protocols.errors import UsageError
from sandbox.truncation import one_line

if TYPE_CHECKING:
    from protocols.contracts.contract import ValueType
    from protocols.contracts.store import ContractStore
    from protocols.model import Protocol

__all__ = ["contract"]

_api = click.option(
    "--api", required=True, metavar="SPEC", help="OpenAPI document or *.tools.json: file or URL, JSON or YAML."
)
_store = click.option(
    "--store",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="What `atc solve --store DIR` learned.",
)


@click.group()
def contract() -> None:
    """Show what responses hold: by the document, its examples, and what was observed."""


@contract.command()
@click.argument("tool", required=False)
@_api
@_store
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(tool: str | None, api: str, store: Path, as_json: bool) -> None:
    """Show which keys the responses of TOOL may have, or how much was seen of each tool."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from atc.files import to_json

    protocol, contract_store = _opened(api, store)
    observed = contract_store.observed(protocol)
    if tool is None:
        rows = {
            name: {"bodies": observations.bodies, "statuses": dict(observations.statuses)}
            for name, observations in sorted(observed.items())
        }
        if as_json:
            click.echo(to_json(rows), nl=False)
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
    if as_json:
        click.echo(to_json(asdict(body) if body else None), nl=False)
    else:
        lines = [visible(line).replace("\n", "␊") for line in _lines(body, "")] if body else []
        click.echo("\n".join(lines) or f"nothing is known of what {tool} returns")


@contract.command()
@_api
@_store
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff(api: str, store: Path, as_json: bool) -> None:
    """List where the service did not answer as its document says.

    new: seen and not documented; missing: documented, and not always there; changed: of another type.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from atc.files import to_json
    from protocols.contracts.store import contract_drift

    protocol, contract_store = _opened(api, store)
    drift = contract_drift(protocol, contract_store.observed(protocol))
    if as_json:
        click.echo(to_json([asdict(difference) for difference in drift]), nl=False)
        return
    title = Text(one_line(f"{protocol.title}: {len(drift)} differences"))
    table = Table("tool", "", "place", "difference", title=title)
    for difference in drift:
        table.add_row(difference.tool, difference.kind, Text(visible(difference.path)), Text(visible(difference.text)))
    Console().print(table)


@contract.command()
@_api
@_store
@click.option("-o", "--out", type=out_file, metavar="FILE", help="Write to FILE instead of stdout.")
def export(api: str, store: Path, out: Path | None) -> None:
    """Print the JSON schemas of the bodies that were observed, by tool."""
    from atc.files import to_json, write_json

    protocol, contract_store = _opened(api, store)
    schemas = {
        name: dict(observations.schema)
        for name, observations in sorted(contract_store.observed(protocol).items())
        if observations.bodies
    }
    if out:
        write_json(out, schemas)
    else:
        click.echo(to_json(schemas), nl=False)


def _opened(api: str, folder: Path) -> tuple[Protocol, ContractStore]:
    from protocols import load
    from protocols.contracts.store import ContractStore

    return load(api), ContractStore(folder)


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
