"""The `atc` command: one group whose subcommands load when they are named.

`atc --help` must be quick, and packages to the right of this one must be able to add a subcommand without being
imported from here. So the group knows its own commands by address only, and finds others as entry points of the
group `atc.commands`.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import os
import re
import signal
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.apps.cli.help_pages import HelpGroup, page_width
from atc.doors import SIBLINGS, claim
from protocols.errors import ATCError, UsageError
from protocols.extras import missing_extra
from protocols.quoting import visible

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

claim()  # this process is ours: what lies in the working folder hides no command

__all__ = ["CONFIG", "main", "print_json", "say"]

SECTIONS = {
    "Ask": ("solve", "chat", "tui", "trace", "save", "run"),
    "Your API": ("init", "explain", "check", "simulate", "probe", "contract", "doctor"),
    "Serve": ("serve", "mcp"),
    "Models": ("model",),
    "Research": (),
    "Shell": ("completion",),
    "More": (),
}
"""The commands by what they are for. What else the packages beside this one add is for research; commands of other
distributions are more."""

COMMANDS = {
    name: f"atc.apps.cli.{name}:{name}"
    for names in SECTIONS.values()
    for name in names
    if name != "probe"  # probing adds it
}

WITHOUT_CONFIG = ("init", "doctor", "completion")
"""Commands that must do their work where atc.toml is broken."""

CONFIG = "atc.config"
"""Where the read configuration is among the values of a click context (`meta`)."""

_WORDS = "atc.words"
"""Where the words after the command are among those values."""

_MAY_BE_SECRET = re.compile(r"--(?:auth|header)")
"""How an option begins whose value may be a secret, also one that is spelled wrongly."""

EPILOG = """Options are also read from the environment, such as ATC_SOLVE_API for `atc solve --api` (ATC_MODEL for all
commands), and then from atc.toml in the working folder or above it, or the file that ATC_CONFIG names; `atc init SPEC`
writes one. Its keys are the long options' names: those of several commands first, others in a table such as [solve]."""

EXIT_MEANINGS = {
    "0": "answered, or finished",
    "1": "not solved, the answer rests on no reply, or the program raised or left with a non-zero exit",
    "2": "wrong usage or bad input",
    "3": "refused by the sandbox's policy or by the writes policy",
    "4": "a limit of the run or of the question was hit",
    "5": "the model could not be used",
    "6": "the API could not be reached",
    "130": "interrupted",
}
"""What the commands exit with."""


def say(message: str) -> None:
    """Tell the user something of ours, on stderr; nothing in it can act on the terminal."""
    text = visible(message).replace("\n", "\n  ")  # a further line cannot look like one that we began
    click.echo(f"atc: {text}", err=True)


def print_json(data: object) -> None:
    """Print a result as JSON on stdout."""
    from atc.files import to_json

    click.echo(to_json(data), nl=False)


class LazyGroup(HelpGroup):
    """A group that turns our errors into one line and an exit code, and ctrl-C or SIGTERM into 130."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it; the command's defaults are those of the user's atc.toml."""
        name, command, rest = super().resolve_command(ctx, args)
        ctx.meta[_WORDS] = tuple(rest)  # parsing empties the list
        if name is not None and command is not None and name not in WITHOUT_CONFIG and not ctx.resilient_parsing:
            from atc.apps.cli.config import command_defaults, read_config

            config = read_config(self.list_commands(ctx), say)
            if config is not None:
                ctx.meta[CONFIG] = config
                ctx.default_map = {name: command_defaults(config, name, command, own=name in COMMANDS)}
        return name, command, rest

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Without arguments it prints the help, and `help COMMAND` is `COMMAND --help`."""
        if not args or args[0] == "help":
            args = [*args[1:], "--help"]
        return super().make_context(info_name, args, parent, terminal_width=page_width(), **extra)

    def sections(self, ctx: click.Context) -> list[tuple[str, list[str]]]:
        """As SECTIONS has them, with the commands that other packages add."""
        sections = {title: list(names) for title, names in SECTIONS.items()}
        listed = {name for names in SECTIONS.values() for name in names}
        for name in self.list_commands(ctx):
            if name not in listed:
                ours = _added()[name].value.partition(".")[0] in SIBLINGS
                sections["Research" if ours else "More"].append(name)
        return [(title, names) for title, names in sections.items() if names]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("Exit codes of all commands"):
            formatter.write_dl(list(EXIT_MEANINGS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        items = [CompletionItem(name, help=self.summary(ctx, name).get_short_help_str()) for name in names]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def summary(self, ctx: click.Context, name: str) -> click.Command:
        """A command, or a stand-in with its docstring, for which nothing is imported."""
        address = COMMANDS.get(name) or _added()[name].value
        docstring = _docstring(*address.split(":")) if address.count(":") == 1 else None
        return click.Command(name, help=docstring) if docstring else super().summary(ctx, name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *sorted(name for name in _added() if name not in COMMANDS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            module, _, name = COMMANDS[cmd_name].partition(":")
            command: click.Command = getattr(importlib.import_module(module), name)
            return command
        entry = _added().get(cmd_name)
        return _load(entry) if entry else None

    def main(self, *args: Any, **options: Any) -> Any:
        """As `click.Group.main`; where a local model still computes for nobody, the process does not wait for it."""
        try:
            return super().main(*args, **options)
        except SystemExit as end:
            models = sys.modules.get("atc.engines.local")
            if models is not None and models.any_running():
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(end.code if isinstance(end.code, int) else 1)
            raise

    def invoke(self, ctx: click.Context) -> object:
        for stream in (sys.stdout, sys.stderr):
            # Text of an API may hold what the terminal's encoding has no bytes for; that must not end a solve.
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        from atc.options import in_words_of_flags

        try:
            with in_words_of_flags():
                return super().invoke(ctx)
        except ATCError as error:
            say(str(error))
            ctx.exit(error.exit_code)
        except click.UsageError as error:
            message = _without_secrets(error.format_message(), ctx.meta.get(_WORDS, ()))
            raise click.UsageError(message, error.ctx) from None
        except ModuleNotFoundError as error:
            if (sentence := missing_extra(error, "this command")) is None:
                raise
            say(sentence)
            ctx.exit(UsageError.exit_code)
        except (KeyboardInterrupt, click.Abort):
            say("interrupted")
            ctx.exit(130)
        finally:
            signal.signal(signal.SIGTERM, before)


def _without_secrets(message: str, words: Sequence[str]) -> str:
    """A message about a command line without what stands behind `--auth` or `--header`, up to the next option."""
    is_value = False
    for word in words:
        match = _MAY_BE_SECRET.match(word)
        is_value = match is not None or (is_value and not word.startswith("--"))
        if is_value and word not in ("--auth", "--header") and len(word) > 3:
            message = message.replace(word, f"{match[0] if match else ''}…")
    return message


@functools.cache
def _added() -> dict[str, EntryPoint]:
    """The commands that other packages add, by name."""
    return {entry.name: entry for entry in entry_points(group="atc.commands")}


def _docstring(module: str, function: str) -> str | None:
    """The docstring of a function, read from the file where its module should be: nothing is imported."""
    package, *names = module.split(".")
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        try:
            tree = ast.parse(Path(folder, *names).with_suffix(".py").read_bytes())
        except (OSError, SyntaxError, ValueError):
            return None
        nodes = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
        return ast.get_docstring(nodes[-1]) if nodes else None
    return None


def _load(entry: EntryPoint) -> click.Command:
    """The added command; one that cannot be loaded says so when it is used, and leaves the others alone."""
    try:
        command = entry.load()
        if isinstance(command, click.Command):
            return command
        raise TypeError(f"{command!r} is not a click command")
    except (ImportError, AttributeError, TypeError) as error:
        missing = missing_extra(error, f"atc {entry.name}") if isinstance(error, ModuleNotFoundError) else None
        reason = missing or f"{entry.value} cannot be loaded: {error}"

        @click.command(entry.name, short_help=f"({reason})", context_settings={"ignore_unknown_options": True})
        @click.argument("args", nargs=-1, type=click.UNPROCESSED)
        def broken(args: tuple[str, ...]) -> None:
            raise UsageError(reason) if missing else click.ClickException(reason)

        return broken


@click.group(
    cls=LazyGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "ATC"},
)
@click.version_option(None, "-V", "--version", package_name="atc-toolchain", prog_name="atc", allow_from_autoenv=False)
def main() -> None:
    """Answer questions with an API: a language model writes one program that chains its calls, a sandbox runs it."""
