"""`atc explain`: what the model would be shown for a question, without asking it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import click

from atc.cli import print_json
from atc.cli.options import (
    DocumentOptions,
    argument,
    json_option,
    open_protocol,
    option,
    profile_option,
    takes,
    tool_count,
)
from protocols.errors import UsageError

__all__ = ["explain"]


@dataclass(frozen=True, kw_only=True)
class _Options(DocumentOptions):
    query: str = argument()
    tools: int | Literal["all"] | None = option(
        "--tools", type=tool_count, metavar="N|all", help="How many tools are shown  [default: as the profile says]"
    )
    store: Path | None = option(
        "--store",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Show the questions like QUERY that `atc solve --store DIR` answered.",
    )
    model: str | None = option(
        "--model",
        metavar="NAME",
        help="Count tokens as this local:, openvino: or hf: model does; else they are estimated.",
    )
    profile: str | None = profile_option()
    as_json: bool = json_option("Print all of it as JSON.")


@click.command()
@takes(_Options)
def explain(options: _Options) -> None:
    """Show what the model would be asked with QUERY: the chosen tools, where identifiers come from, and the prompt.

    No model and no API is asked.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from atc.agent import Agent
    from atc.tui.text import visible

    query = options.query.strip()
    if not query:
        raise UsageError("the question is empty")
    with Agent(open_protocol(options), tools=options.tools, store=options.store, profile=options.profile) as agent:
        opened = agent.opening(query)
        total = len(agent.protocol.tools)
        aliases = agent.protocol.aliases
    messages = opened.messages()
    tokens = _counted(options.model, [message.content for message in messages]) if options.model else opened.tokens()
    if options.as_json:
        data = {
            "query": opened.question.text,
            "tools": list(opened.ranked),
            "aliases": {alias: name for alias, name in aliases.items() if name in opened.ranked},
            "described": list(opened.details),
            "speaks_of": dict(opened.speaks_of),
            "hints": list(opened.hints),
            "demonstrations": [asdict(demonstration) for demonstration in opened.solved],
            "messages": [message.to_json() for message in messages],
            "tokens": tokens,
            "estimated": options.model is None,
        }
        print_json(data)
        return
    console = Console()
    table = Table(title=f"{len(opened.tools)} of {total} tools, the likeliest first")
    for column in ("tool", "also", "shown"):
        table.add_column(column)
    for name in opened.ranked:
        detail = "described" if name in opened.details else "in short"
        table.add_row(name, ", ".join(alias for alias, tool in aliases.items() if tool == name), detail)
    console.print(table)
    for field, value in opened.speaks_of.items():
        console.print(f'the question speaks of "{escape(visible(value))}", a value of {escape(visible(field))}')
    console.print("\nWhere identifiers come from:")
    for hint in dict.fromkeys(opened.hints):
        console.print(f"  {visible(hint)}", markup=False, highlight=False)
    for message in messages:
        console.print(f"\n--- {message.role}", style="dim")
        console.print(visible(message.content), markup=False, highlight=False)
    console.print(f"\n{'about ' if options.model is None else ''}{tokens:,} tokens", style="bold")


def _counted(name: str, texts: list[str]) -> int:
    """The tokens of texts. Raises: UsageError: The model has no tokenizer of its own."""
    from atc.models import open_model

    with closing(open_model(name)) as model:
        count = getattr(model, "count_tokens", None)
        if count is None:
            raise UsageError(f"--model: {name} cannot count tokens; name a local:, openvino: or hf: model")
        return sum(count(text) for text in texts)
