"""What `--help` prints: the options that people use first, and every page readable in a terminal of 40 columns.

click makes no page narrower than 50 columns and shortens the line of a command to what fits. Here a narrow page has
the description below its term, and nothing is cut.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable
from typing import Any

import click
from click.exceptions import NoSuchCommand

__all__ = ["ALL_OPTIONS", "BriefCommand", "HelpGroup", "page_width"]

ALL_OPTIONS = "atc.help_all"
"""The key of a context's `meta` that makes `get_help` list all options."""


def page_width() -> int | None:
    """The width of help on a narrow terminal; None where click's own rule is right."""
    columns = shutil.get_terminal_size().columns
    return max(columns - 2, 20) if columns < 60 else None


class _Formatter(click.HelpFormatter):
    """Where terms would take half the width, their descriptions go below; examples are wrapped at a narrow page."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        rows = list(rows)
        if min(max(len(term) for term, _ in rows), col_max) <= self.width // 2:
            return super().write_dl(rows, col_max, col_spacing)
        for term, text in rows:
            margin = " " * self.current_indent
            # A list of words such as ask|allow|deny may break after each bar.
            for line in self._lines(term.replace("|", "| "), margin, f"{margin}  "):
                self.write(f"{line.replace('| ', '|')}\n")
            for line in self._lines(text, f"{margin}    ", f"{margin}    "):
                self.write(f"{line}\n")
        return None

    def write_text(self, text: str) -> None:
        for number, paragraph in enumerate(text.split("\n\n")):
            self.write("\n" if number else "")
            if paragraph.startswith("\b\n") and self.width < 60:
                margin = " " * self.current_indent
                for line in paragraph.splitlines()[1:]:
                    self.write("\n".join(self._lines(line, margin, f"{margin}    ")) + "\n")
            else:
                super().write_text(paragraph)

    def _lines(self, text: str, first: str, others: str) -> list[str]:
        return textwrap.wrap(
            text,
            self.width,
            initial_indent=first,
            subsequent_indent=others,
            break_long_words=False,
            break_on_hyphens=False,
        )


class _HelpContext(click.Context):
    formatter_class = _Formatter


class HelpGroup(click.Group):
    """A group whose list of commands has their whole first sentences, and that knows a mistyped command."""

    context_class = _HelpContext

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise NoSuchCommand(args[0], possibilities=names, ctx=ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            command.context_class = _HelpContext
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in self.sections(ctx):
            with formatter.section(title):
                formatter.write_dl([(name, self.summary(ctx, name).get_short_help_str(200)) for name in names])

    def sections(self, ctx: click.Context) -> list[tuple[str, list[str]]]:
        """The commands by the title above them."""
        return [("Commands", self.list_commands(ctx))]

    def summary(self, ctx: click.Context, name: str) -> click.Command:
        """A command, or a stand-in with its docstring."""
        command = self.get_command(ctx, name)
        assert command is not None
        return command


class BriefCommand(click.Command):
    """A command whose `--help` lists the options marked as common, and `--help-all` the others, too."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._help_all = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            help="Show all options and exit.",
            callback=_show_all,
        )

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), self._help_all]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option)]
        own = {*self.params}
        if not ctx.meta.get(ALL_OPTIONS):
            options = [item for item in options if item not in own or item.required or getattr(item, "common", False)]
        records = [record for item in options if (record := item.get_help_record(ctx)) is not None]
        with formatter.section("Options"):
            formatter.write_dl(records)


def _show_all(ctx: click.Context, _: click.Parameter, asked_for: bool) -> None:
    if asked_for and not ctx.resilient_parsing:
        ctx.meta[ALL_OPTIONS] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()
