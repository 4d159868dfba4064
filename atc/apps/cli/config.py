"""`atc.toml`: options that need not be typed. The command line comes first, then the environment, then this file.

The file lies in the working folder or above it, so it may be a stranger's, as in a checkout. What it could do harm
with (see atc.apps.cli.trust) is announced each time, and needs the user's word once.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from atc.apps.cli.flags import DEFAULTS, FLAGS, flag_names, flags_with
from protocols.bounded_files import read_bounded
from protocols.errors import UsageError
from protocols.private_files import not_trusted

__all__ = ["NAME", "SHARED", "Config", "command_defaults", "is_same_api", "read_config", "settle"]

NAME = "atc.toml"

SHARED = tuple(sorted({"api", *(text for name in flags_with("shared") for text in flag_names(name))}))
"""The keys above all tables: options of several commands. Each command of this package takes those that it has; one
that another package adds, such as a benchmark, takes the keys of its own table alone."""

_KINDS = {text: flag.kind for name, flag in FLAGS.items() for text in flag_names(name)}
"""What the text of an option is, by its key; those that only a command has are not among them."""

_EXPLICIT = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
_AUTH = re.compile(
    r"(?:[\w-]+=)?(?:(?:header|query|cookie):[^:]+|[^:]+):(?:env:[A-Z_][A-Z0-9_]*|(?:file|keyring):.+)", re.DOTALL
)
"""A credential by its source. A variable is in capitals, since a value of that form is shown."""
_PLACE = re.compile(r"(?:FILE(?:\.\w+)?|PAGE|DIR|INDEX|SPEC)$")


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration file, as read: `tables` by command, and the keys above them. `explicit`: ATC_CONFIG names it."""

    file: Path
    explicit: bool
    shared: Mapping[str, Any]
    tables: Mapping[str, Mapping[str, Any]]

    @property
    def folder(self) -> Path:
        """Relative paths in the file start here."""
        return self.file.parent.resolve()

    def title(self, path: tuple[str, ...], key: str) -> str:
        """The file, the table of a command (its path) and the key, for messages."""
        table = f" [{'.'.join(path)}]" if path else ""
        return f"{self.file}:{table} {key}"


def _find_config(warn: Callable[[str], None]) -> tuple[Path, bool] | None:
    """The file and whether ATC_CONFIG names it; else `atc.toml` in the working folder or above, up to the home folder.

    `warn` is told of a file that somebody else may have written, which is not used.

    Raises: UsageError: ATC_CONFIG names a file that is not there.
    """
    if named := os.environ.get("ATC_CONFIG"):
        file = Path(named).expanduser()
        if not file.exists() or file.is_dir():
            raise UsageError(f"ATC_CONFIG names {named}, which is no file; correct it, or unset it")
        return file, True
    try:
        here = Path.cwd()
    except FileNotFoundError:  # the folder was removed
        return None
    for folder in (here, *here.parents):
        if (folder / NAME).is_file():
            file = Path(os.path.relpath(folder / NAME))
            if (why := not_trusted(file)) is None:
                return file, False
            warn(f"{file} is not used: it {why}. If you trust it, name it: ATC_CONFIG={file}")
        if folder == Path.home():
            break
    return None


def read_config(commands: Sequence[str], warn: Callable[[str], None]) -> Config | None:
    """The configuration, None without one. `commands` are those that may have a table.

    Raises: UsageError: The file cannot be read, is no TOML, or has an unknown key above its tables.
    """
    if (config := _find_config(warn)) is None:
        return None
    file, explicit = config
    try:
        data = tomllib.loads(read_bounded(file))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file} is no TOML: {error}; correct it, or go without it: ATC_CONFIG={os.devnull}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    for key, value in data.items():
        if isinstance(value, dict) and key not in commands:
            raise UsageError(f"{file}: [{key}]: there is no command of that name{_near(key, commands)}")
        if not isinstance(value, dict) and key not in SHARED:
            raise UsageError(
                f"{file}: unknown key {key}{_near(key, SHARED)}; above the tables stand {', '.join(SHARED)}, and other "
                "options in the table of their command, such as [solve]"
            )
    tables = {key: value for key, value in data.items() if isinstance(value, dict)}
    return Config(file, explicit, {key: value for key, value in data.items() if key not in tables}, tables)


def command_defaults(config: Config, name: str, command: click.Command, *, own: bool) -> dict[str, Any]:
    """The file's values for a command as click's `default_map`, by parameter; those of a group by subcommand.

    `own`: The keys above the tables hold for it, too.
    Raises: UsageError: An unknown key, or a value that its option does not take.
    """
    return _defaults(config, (name,), command, config.tables.get(name, {}), config.shared if own else {})


def _defaults(
    config: Config, path: tuple[str, ...], command: click.Command, table: Mapping[str, Any], shared: Mapping[str, Any]
) -> dict[str, Any]:
    defaults: dict[str, Any] = {}
    if isinstance(command, click.Group):
        context = click.Context(command)
        names = command.list_commands(context)
        _refuse_unknown(config, path, table, names)
        for name in names if shared else table:
            member = command.get_command(context, name)
            keys = table.get(name, {})
            if not isinstance(keys, dict):
                raise UsageError(f"{config.title(path, name)} is a command; give it a table [{'.'.join(path)}.{name}]")
            if member is not None:
                defaults[name] = _defaults(config, (*path, name), member, keys, shared)
        return defaults
    options = {
        flag[2:]: parameter
        for parameter in command.params
        if isinstance(parameter, click.Option) and parameter.expose_value
        for flag in parameter.opts
        if flag.startswith("--")
    }
    _refuse_unknown(config, path, table, sorted(options))
    if table and not hasattr(command.callback, "announces"):
        raise UsageError(f"{config.title(path, next(iter(table)))}: this command takes no options from a file")
    for key, value in shared.items():
        if key not in options or key in table:
            continue
        choices = _KINDS.get(key)
        # A choice that other commands have, as `writes = "ask"` for a server: its own default holds, and it says so.
        is_of_others = isinstance(choices, tuple) and value in choices
        if not is_of_others or value in getattr(options[key].type, "choices", (value,)):
            defaults |= _default(config, (), key, value, options[key], optional=True)
    for key, value in table.items():
        defaults |= _default(config, path, key, value, options[key], optional=False)
    if table.get("simulate") is True:  # for this command, in place of the service that all others ask
        defaults = {name: value for name, value in defaults.items() if name not in flags_with("real")}
    return defaults


def _refuse_unknown(config: Config, path: tuple[str, ...], table: Mapping[str, Any], names: Sequence[str]) -> None:
    for key in table:
        if key not in names:
            keys = ", ".join(names) or "none"
            raise UsageError(f"{config.title(path, key)}: unknown key{_near(key, names)}; the keys there are {keys}")


def _near(key: str, names: Sequence[str]) -> str:
    """` (did you mean …?)`, where a name is near."""
    near = difflib.get_close_matches(key.replace("_", "-"), names, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _default(
    config: Config, path: tuple[str, ...], key: str, value: Any, option: click.Option, *, optional: bool
) -> dict[str, Any]:
    """The value as its option takes it, by the parameter's name; nothing for an `optional` place that is not there."""
    title = config.title(path, key)
    if isinstance(value, list) and not option.multiple:
        raise UsageError(f"{title}: a list, and the option takes one value")
    values = [_checked(config, title, key, entry, option) for entry in (value if isinstance(value, list) else [value])]
    if optional and isinstance(option.type, click.Path) and option.type.exists and not option.required:
        values = [entry for entry in values if Path(entry).exists()]
    if not values:
        return {}
    return {str(option.name): tuple(values) if option.multiple else values[0]}


def _checked(config: Config, title: str, key: str, value: Any, option: click.Option) -> Any:
    """A single value as click takes it from a default map. Raises: UsageError: It is of another type."""
    kind = option.type
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if option.is_flag:
        fits, wanted = isinstance(value, bool), "true or false"
    elif isinstance(kind, click.types.IntParamType):
        fits, wanted = is_number and isinstance(value, int), "a whole number"
    elif isinstance(kind, click.types.FloatParamType):
        fits, wanted = is_number, "a number"
    else:
        # TOML has times of its own; a function of ours reads a number from a text.
        if isinstance(value, date):  # a datetime is one
            value = value.isoformat()
        elif is_number and isinstance(kind, click.types.FuncParamType):
            value = str(value)
        fits, wanted = isinstance(value, str), "a string"
    if not fits:
        kinds = {bool: "true or false", str: "a string", list: "a list", dict: "a table"}
        raise UsageError(f"{title} must be {wanted}, not {value if is_number else kinds.get(type(value), 'that')}")
    if isinstance(value, str):
        value = _placed(config, title, key, value, option)
    if option.is_flag:
        return value
    try:
        kind.convert(value, option, None)
    except click.BadParameter as error:
        raise UsageError(f"{title}: {error.message}") from None
    return value


def _placed(config: Config, title: str, key: str, text: str, option: click.Option) -> str:
    """A text whose relative paths start at the file's folder. Raises: UsageError: It may be a secret."""
    if _KINDS.get(key) == "credential" and not _AUTH.fullmatch(text):
        raise UsageError(
            f"{title} takes KIND:SOURCE such as bearer:env:MY_TOKEN (in capitals), never the secret itself"
        )
    if re.match(r"(?:[^=/]+=)?\w+://[^/]*@", text):
        raise UsageError(f"{title} holds a user name or password; leave it out and name its source with auth")
    return _rebased(config.folder, _KINDS.get(key), text, option)


def _rebased(folder: Path, kind: object, value: str, option: click.Option) -> str:
    """The value with a relative path in it starting at a folder; `kind` is what the text is."""
    metavar = option.metavar or ""
    if kind in ("credential", "header"):
        start, separator, path = value.partition(":file:")
        return f"{start}{separator}{folder / Path(path).expanduser()}" if separator else value
    if kind == "model":
        scheme, _, rest = value.partition(":")
        parts = [str(folder / part) if (folder / part).exists() else part for part in rest.split("+")]
        return f"{scheme}:{'+'.join(parts)}" if rest else value
    if kind == "certificate":
        return ",".join(str(folder / Path(part.strip()).expanduser()) for part in value.split(",", 1))
    if value in metavar.split("|") or not (isinstance(option.type, click.Path) or _PLACE.search(metavar)):
        return value
    start = re.findall(r"^(?:\w[\w-]*=)?(?:functions:|saved:)?", value)[0]
    rest = value.removeprefix(start)
    if rest.startswith(("mcp:", "http://", "https://", "file:")):
        return value
    return f"{start}{folder / Path(rest).expanduser()}"


def settle(ctx: click.Context, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a command without those of the file that the command line or the environment speaks against.

    Another API has neither the credentials nor the address of the file's, and no address is asked with --simulate.
    """
    explicit = {name for name in values if ctx.get_parameter_source(name) in _EXPLICIT}
    from_file = {name for name in values if ctx.get_parameter_source(name) is ParameterSource.DEFAULT_MAP}
    dropped: set[str] = set()
    if "api" in explicit and "api" in (ctx.default_map or {}) and not is_same_api(ctx, values):
        dropped.update(flags_with("service"))
    if values.get("resume"):  # the journal knows
        dropped.update(flags_with("resumable"))
    if values.get("simulate") and "simulate" in explicit:
        dropped.update(flags_with("real"))
    if explicit.intersection(flags_with("real")):
        dropped.add("simulate")
    return {name: DEFAULTS[name] if name in dropped & from_file else value for name, value in values.items()}


def is_same_api(ctx: click.Context, values: Mapping[str, Any]) -> bool:
    """True if a command asks the API of the file, by the same paths and addresses, whoever named them."""
    own = (ctx.default_map or {}).get("api")
    return own is not None and _documents(values.get("api")) == _documents(own)


def _documents(api: object) -> list[str]:
    return [str(Path(str(source)).resolve()) for source in (api if isinstance(api, tuple | list) else [api])]
