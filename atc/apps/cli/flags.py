"""The options of an agent on the command line: what atc.options declares, with a click type for each kind."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields, is_dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import click

from atc.models import checked_model
from atc.modes import modes, parse
from atc.options import Flag, Options
from protocols.errors import UsageError
from protocols.naming import split_namespace
from sandbox.egress.egress_rules import BaseURL

__all__ = [
    "DEFAULTS",
    "FLAGS",
    "RealRange",
    "click_settings",
    "flag_names",
    "flag_values",
    "flags_with",
    "for_chosen",
    "with_values",
]


class RealRange(click.FloatRange):
    """A finite number in a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is no finite number", param, ctx)
        return number


class PatternType(click.ParamType[str]):
    """A pattern of operations; those of an environment variable stand between commas, since they may hold spaces."""

    name = "pattern"
    envvar_list_splitter = ","

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value).strip():
            self.fail("it is empty", param, ctx)
        return str(value).strip()


def _moment(text: str) -> datetime:
    """A point in time in ISO 8601; UTC where it names no offset. Raises: click.BadParameter."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no time; write it like 2024-06-01T12:00:00Z") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _tool_count(text: str) -> int | Literal["all"]:
    """How many tools: a number from 1, or "all". Raises: click.BadParameter."""
    if text == "all":
        return "all"
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(f"{text!r} is neither a number from 1 nor `all`")
    return int(text)


def _mode_name(text: str) -> str:
    """A mode, or MODE@N. Raises: click.BadParameter."""
    try:
        parse(text)
    except UsageError as error:
        raise click.BadParameter(str(error)) from None
    return text


def _model(text: str) -> str:
    """The name of a model. Raises: click.BadParameter: There is none of that name. ModelError."""
    try:
        checked_model(text)
    except UsageError as error:
        raise click.BadParameter(str(error)) from None
    return text


def _addresses(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> BaseURL:
    """None, one URL, or URLs by the name of their API. Raises: click.BadParameter."""
    named = [split_namespace(text) for text in texts]
    urls = dict(named)
    if len(urls) < len(named):
        raise click.BadParameter("it is given twice for the same API")
    return urls[""] if list(urls) == [""] else urls or None


KINDS: Mapping[str, Mapping[str, Any]] = {
    "text": {},
    "number": {"type": int},
    "count": {"type": click.IntRange(min=1)},
    "count or none": {"type": click.IntRange(min=0)},
    "amount": {"type": RealRange(min=0, min_open=True)},
    "moment": {"type": _moment},
    "pattern": {"type": PatternType()},
    "tools": {"type": _tool_count},
    "mode": {"type": _mode_name, "metavar": "|".join(modes())},
    "model": {"envvar": "ATC_MODEL", "type": _model},
    "address": {"callback": _addresses},
    "credential": {},
    "header": {},
    "certificate": {},
    "place": {},
    "file": {"type": click.Path(exists=True, dir_okay=False)},
    "index": {"type": click.Path(exists=True, file_okay=False)},
    "folder": {"type": click.Path(file_okay=False, path_type=Path)},
}
"""The settings of a click option, by the kind of its flag. A "place" is a file that is read later."""

_ENTRY = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


def _declared(owner: type) -> Iterator[tuple[Field[Any], str]]:
    """The fields with a flag of a class and of what its fields hold, each with its entry in the docstring."""
    entries = dict(_ENTRY.findall(inspect.cleandoc(owner.__doc__ or "")))
    for entry in fields(owner):
        if "flag" in entry.metadata:
            yield entry, " ".join(entries.get(entry.name, "").split())
        elif is_dataclass(entry.default):
            yield from _declared(type(entry.default))


_FIELDS = {entry.name: (entry, text) for entry, text in _declared(Options)}
FLAGS: Mapping[str, Flag] = {name: entry.metadata["flag"] for name, (entry, _) in _FIELDS.items()}
"""The flag of each option that has one, in the order of --help."""

DEFAULTS: Mapping[str, Any] = {name: entry.default for name, (entry, _) in _FIELDS.items()}


def flag_names(name: str) -> tuple[str, ...]:
    """What an option is called on the command line and in `atc.toml`, without dashes in front."""
    return tuple(text.replace("_", "-") for text in FLAGS[name].names or (name,))


def flags_with(trait: str) -> tuple[str, ...]:
    """The options that have a trait."""
    return tuple(name for name, flag in FLAGS.items() if trait in flag.traits)


def click_settings(name: str) -> dict[str, Any]:
    """An option as click.option takes it: `flags` and all else; --help has its entry, without what is of Python."""
    entry, text = _FIELDS[name]
    flag, default = FLAGS[name], entry.default
    text = re.sub(r" *(\[default: [^]]*\])\.?(.*)", r"\2  \1", text.partition(" In Python")[0])
    settings: dict[str, Any] = {"help": text} | ({} if default in (None, ()) else {"default": default})
    if isinstance(flag.kind, tuple):
        settings["type"] = click.Choice(flag.kind)
    else:
        settings |= KINDS[flag.kind]
    settings |= {"is_flag": True} if default is False else {}
    settings |= {"metavar": flag.metavar} if flag.metavar is not None else {}
    settings |= {"multiple": True} if "many" in flag.traits else {}
    settings |= {"common": True} if "common" in flag.traits else {}
    settings |= {"show_default": True} if isinstance(default, int | str) and default is not False else {}
    return settings | {"flags": [f"--{text}" for text in flag_names(name)]}


def flag_values(options: Options) -> dict[str, Any]:
    """The values of all options that have a flag, by name, those of its parts as well."""
    parts = [options, *(part for part in vars(options).values() if is_dataclass(part))]
    return {name: getattr(part, name) for name in FLAGS for part in parts if hasattr(part, name)}


def with_values(options: Options, values: Mapping[str, Any]) -> Options:
    """The same options with other values for some that have a flag."""
    own = {entry.name: values[entry.name] for entry in fields(options) if entry.name in values}
    for name, part in vars(options).items():
        if is_dataclass(part) and not isinstance(part, type):
            inner = {entry.name: values[entry.name] for entry in fields(part) if entry.name in values}
            own |= {name: replace(part, **inner)} if inner else {}
    return replace(options, **own)


def for_chosen(options: Options) -> Options:
    """The same for a protocol whose operations the command has chosen already."""
    patterns = {name: () for name, flag in FLAGS.items() if flag.kind == "pattern"}
    return with_values(options, patterns | {"trust_hints": True})
