"""The options of commands as dataclasses: each is declared once, and a command takes them as one object.

Those of an agent are declared in atc.options; a command takes them by their groups, as one `Options`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from atc.apps.cli import CONFIG
from atc.apps.cli.flags import FLAGS, RealRange, click_settings, with_values
from atc.options import Options
from protocols.bounded_files import read_bounded
from protocols.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from sandbox.egress.egress_rules import BaseURL

__all__ = [
    "DocumentOptions",
    "RealRange",
    "agent_option",
    "agent_options",
    "announced",
    "api_option",
    "argument",
    "check_api_options",
    "is_typed",
    "json_option",
    "keep_sources",
    "limit_option",
    "option",
    "out_file",
    "per_second",
    "read_program",
    "record_option",
    "results_option",
    "reuse_option",
    "takes",
    "workers_option",
]

Values = TypeVar("Values", bound="DataclassInstance")


def out_file(text: str) -> Path:
    """A file to write at the end; what will not do is told before any work. Raises: click.BadParameter."""
    path = Path(text)
    if path.parent.is_file():
        raise click.BadParameter(f"{str(path.parent)!r} is a file, and no folder; name a file in a folder")
    if not path.parent.is_dir():
        raise click.BadParameter(f"the folder {str(path.parent)!r} does not exist; make it first")
    if path.is_dir():
        raise click.BadParameter(f"{text!r} is a folder; name a file")
    if not os.access(path if path.exists() and not path.is_file() else path.parent, os.W_OK):
        raise click.BadParameter(f"nothing can be written to the folder {str(path.parent)!r}")
    return path


def keep_sources(sources: Iterable[Path], out: Path, kind: str = "a source") -> None:
    """See that a file to write is none that is read; `kind` says what those are. Raises: click.UsageError."""
    if out.resolve() in {source.resolve() for source in sources}:
        raise click.UsageError(f"{out} is {kind}, and would be overwritten: name another --out")


def per_second(text: str) -> float:
    """A rate such as `10/s` or `0.5/s`; the unit may be left out. Raises: click.BadParameter."""
    try:
        rate = float(text.strip().removesuffix("/s"))
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise click.BadParameter(f"{text!r} is no rate; write it like 10/s")
    return rate


class FlagNamedOption(click.Option):
    """An option whose variable may have the name of any of its flags: `--read` is `ATC_RUN_READ`, too.

    Args:
        common: The short help of a BriefCommand lists it.
    """

    def __init__(self, *args: Any, common: bool = False, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.common = common

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        value = super().resolve_envvar_value(ctx)
        flags = [flag[2:] for flag in self.opts if flag.startswith("--")] if ctx.auto_envvar_prefix else []
        names = [f"{ctx.auto_envvar_prefix}_{flag.replace('-', '_').upper()}" for flag in flags]
        return value if value is not None else next((text for name in names if (text := os.environ.get(name))), None)


def option(*flags: str, **settings: Any) -> Any:
    """A field of a command's options that is an option; `flags` and `settings` as FlagNamedOption takes them."""
    return field(metadata={"declare": partial(click.option, *flags, cls=FlagNamedOption, **settings)})


def argument(**settings: Any) -> Any:
    """A field of a command's options that is an argument; `settings` as click.argument takes them."""
    return field(metadata={"declare": partial(click.argument, **settings)})


def agent_option(name: str, **settings: Any) -> Any:
    """A field that is one option of an agent; `settings` in place of those of its declaration."""
    declared = {**click_settings(name), **settings}
    return option(*declared.pop("flags"), **declared)


def agent_options(*names: str, writes: str = "", choices: tuple[str, ...] = ()) -> Any:
    """A field with the `Options` of an agent: those of these names and groups, all of them by default.

    Args:
        writes: What --help says of the default of the policy.
        choices: The policies that the command takes.
    """
    declared = {}
    for name in (name for name, flag in FLAGS.items() if not names or {name, flag.group} & {*names}):
        settings = click_settings(name)
        if isinstance(settings.get("type"), click.Choice) and writes:
            settings["help"] = f"Whether calls that may change something are sent  [default: {writes}]"
            settings["type"] = click.Choice(choices or settings["type"].choices)
        declared[name] = partial(click.option, *settings.pop("flags"), cls=FlagNamedOption, **settings)
    return field(metadata={"agent": declared})


def announced(command: Callable[..., None]) -> Callable[..., None]:
    """Have a command settle its values, and announce what those of `atc.toml` could do harm with, before it runs.

    A command without it takes no options from the file.
    """

    @wraps(command)
    def called(*args: Any, **values: Any) -> None:
        context = click.get_current_context()
        if config := context.meta.get(CONFIG):
            from atc.apps.cli.config import settle
            from atc.apps.cli.trust import announce

            values = settle(context, values)
            announce(context, config, values)
        command(*args, **values)

    called.announces = True  # type: ignore[attr-defined]
    return called


def takes(options: type[Values]) -> Callable[[Callable[[Values], None]], Callable[..., None]]:
    """Give a command the options of a dataclass, and its function one object with their values.

    --help lists the fields in their order in the dataclass: those of its last base first. A field that a subclass
    defines anew keeps its place.
    """
    agent = {entry.name: entry.metadata["agent"] for entry in fields(options) if "agent" in entry.metadata}

    def decorate(command: Callable[[Values], None]) -> Callable[..., None]:
        @wraps(command)
        def called(**values: Any) -> None:
            parts = {
                name: with_values(Options(), {key: values.pop(key) for key in declared})
                for name, declared in agent.items()
            }
            command(options(**values, **parts))

        decorated = announced(called)
        for entry in reversed(fields(options)):
            declared = agent.get(entry.name) or {entry.name: entry.metadata["declare"]}
            for name, declare in reversed(declared.items()):
                decorated = declare(name)(decorated)
        return decorated

    return decorate


def is_typed(name: str) -> bool:
    """True of an option of the current command that stands on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def json_option(help_text: str = "Print JSON.") -> Any:
    """`--json`, with what it prints."""
    return option("--json", is_flag=True, help=help_text, common=True)


def api_option(
    help_text: str = "OpenAPI document or *.tools.json: file or URL, JSON or YAML; functions:FILE.py; saved:DIR; or an "
    "MCP server: mcp:stdio:COMMAND or mcp:URL.",
    **settings: Any,
) -> Any:
    """`--api`, with what it may name; several of them have a name each."""
    help_text += " Repeatable with a name for each, which then stands before its tools: shop=SPEC."
    return option("--api", metavar="[NAME=]SPEC", multiple=True, help=help_text, common=True, **settings)


def record_option(whose: str = "model's answers", name: str = "model") -> Any:
    """`--record`: a file of what a model answers."""
    return option("--record", type=out_file, metavar="FILE", help=f"Record the {whose} for --{name} replay:FILE.")


def reuse_option(whose: str = "model's answers") -> Any:
    """`--reuse`: such a file, in place of a model where it has an answer."""
    return option(
        "--reuse",
        type=out_file,
        metavar="FILE",
        help=f"Take the {whose} from FILE, and add the others: runs share what they ask.",
    )


def limit_option(what: str) -> Any:
    """`--limit`: only the first `what`."""
    return option("--limit", type=click.IntRange(min=1), metavar="N", common=True, help=f"Only the first N {what}.")


def results_option(what: str) -> Any:
    """`--out`: the folder of a run over `what`, which goes on where it was."""
    return option(
        "--out",
        required=True,
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help=f"Results; {what} already in it are skipped.",
    )


def workers_option(what: str) -> Any:
    """`--workers`: how many `what` run at once."""
    return option(
        "--workers", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help=f"{what} at once."
    )


@dataclass(frozen=True, kw_only=True)
class DocumentOptions:
    """The API that a command is about; a credential is for an MCP server, which must be asked for its tools."""

    api: tuple[str, ...] = api_option(required=True)
    agent: Options = agent_options("document", "auth")


def read_program(file: Path) -> str:
    """The text of a program, of stdin for `-`. Raises: UsageError: It is no text, or larger than any program."""
    try:
        return sys.stdin.read() if str(file) == "-" else read_bounded(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{file} is not a program: it is no UTF-8 text ({error.reason} at byte {error.start})"
        ) from None


def check_api_options(simulate: object, base_url: BaseURL, auth: Iterable[str]) -> None:
    """Refuse what contradicts itself. Raises: click.UsageError."""
    urls = [base_url] if isinstance(base_url, str) else (base_url or {}).values()
    if any("@" in url.partition("//")[2].partition("/")[0] for url in urls):
        raise click.UsageError("--base-url holds a user name or password; leave it out and pass it with --auth")
    if simulate and base_url:
        raise click.UsageError("--simulate and --base-url exclude each other: the simulated API has a URL of its own")
    if simulate and auth:
        raise click.UsageError("--simulate needs no --auth: the simulated API comes with a made-up credential")
