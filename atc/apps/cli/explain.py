"""`atc explain`: what the model would be shown for a question, without asking it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass, replace

import click

from atc.apps.cli import print_json
from atc.apps.cli.flags import for_chosen
from atc.apps.cli.options import agent_options, api_option, argument, json_option, takes
from atc.apps.cli.reachable import open_protocol
from atc.options import Options
from protocols.errors import ModelError, UsageError

__all__ = ["explain"]


@dataclass(frozen=True, kw_only=True)
class _Options:
    api: tuple[str, ...] = api_option(required=True)
    query: str = argument()
    agent: Options = agent_options("document", "auth", "prompt", "model")
    as_json: bool = json_option("Print all of it as JSON.")


@click.command()
@takes(_Options)
def explain(options: _Options) -> None:
    """Show what the model would be asked with QUERY.

    That is: the chosen tools, where identifiers come from, and the prompt. No model and no API is asked.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from atc.agent import Agent
    from protocols.quoting import one_line, visible

    query = options.query.strip()
    if not query:
        raise UsageError("the question is empty")
    model = options.agent.model
    with Agent(open_protocol(options.api, options.agent), **vars(replace(for_chosen(options.agent), auth=()))) as agent:
        opened = agent.opening(query)
        total = len(agent.protocol.tools)
        aliases = agent.protocol.aliases
    messages = opened.messages()
    counted = _counted(str(model), [message.content for message in messages]) if model else None
    tokens = opened.tokens() if counted is None else counted
    if options.as_json:
        data = {
            "query": opened.query.text,
            "tools": list(opened.ranked),
            "aliases": {alias: name for alias, name in aliases.items() if name in opened.ranked},
            "described": list(opened.details),
            "speaks_of": dict(opened.speaks_of),
            "hints": list(opened.hints),
            "demonstrations": [asdict(demonstration) for demonstration in opened.solved],
            "messages": [message.to_json() for message in messages],
            "tokens": tokens,
            "estimated": counted is None,
        }
        print_json(data)
        return
    console = Console()
    table = Table(title=f"{len(opened.tools)} of {total} tools, the likeliest first")
    for column in ("tool", "operation id", "in the prompt"):
        table.add_column(column, overflow="fold")
    for name in opened.ranked:
        detail = "whole" if name in opened.details else "in a line"
        table.add_row(
            name, ", ".join(escape(one_line(alias)) for alias, tool in aliases.items() if tool == name), detail
        )
    console.print(table)
    for field, value in opened.speaks_of.items():
        console.print(f'the question speaks of "{escape(visible(value))}", a value of {escape(visible(field))}')
    console.print("\nWhere identifiers come from:")
    for hint in dict.fromkeys(opened.hints):
        console.print(f"  {visible(hint)}", markup=False, highlight=False, soft_wrap=True)
    for message in messages:
        console.print(f"\n--- what the model is asked: {message.role}", style="dim")
        console.print(visible(message.content), markup=False, highlight=False, soft_wrap=True)
    text = f"about {tokens:,} tokens (estimated)" if counted is None else f"{tokens:,} tokens"
    console.print(f"\n{text}", style="bold")


def _counted(name: str, texts: list[str]) -> int | None:
    """The tokens of texts; None if the model's tokenizer is not on this machine. Raises: UsageError: No such model."""
    from atc.models import open_model

    try:
        with closing(open_model(name)) as model:
            count = getattr(model, "count_tokens", None)
            return sum(count(text) for text in texts) if count is not None else None
    except ModelError:
        return None
