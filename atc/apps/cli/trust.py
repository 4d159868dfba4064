"""What a configuration file may not do unasked: run code, sign in, let writes through, write elsewhere.

`atc.toml` lies where the user works, and that may be a stranger's folder. A file that wants such a thing is trusted
when `atc init` wrote that, when the user said so at the terminal, or when ATC_CONFIG names the file. It is announced
each time all the same. The user's word holds for the code as it is: files of it that changed need it again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from atc.apps.cli.config import Config, is_same_api
from atc.apps.cli.flags import FLAGS, flags_with
from atc.apps.tui.plan import unhidden
from protocols.calls.auth import SCHEMES
from protocols.errors import ATCError, UsageError
from protocols.naming import split_namespace
from protocols.quoting import one_line

if TYPE_CHECKING:
    from protocols.model import Protocol

__all__ = ["announce", "code_of", "destination", "origins", "risks", "trust", "trusts"]

_MOST_SHOWN = 1500
"""Characters of what is announced: the question below it is on the same screen."""
_CHANGED = "with other code"
_MADE = "was made by atc"
_RUNS_CODE = ("functions:", "mcp:stdio:")
_NO_DOCUMENT = (*_RUNS_CODE, "mcp:", "saved:")
"""Sources that no server is read from before the user has agreed to them."""


def announce(ctx: click.Context, config: Config, values: Mapping[str, Any]) -> None:
    """Say on stderr what the file does that could do harm; the first time, ask.

    Raises: UsageError: The user has not agreed to it, or is not there.
    """
    used = {
        name: value for name, value in values.items() if ctx.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
    }
    if values.get("simulate"):  # then nothing leaves this machine
        used = {name: value for name, value in used.items() if name not in FLAGS or not FLAGS[name].risk}
    own = [
        name for name in flags_with("signs_in") if values.get(name) and name not in used and not values.get("simulate")
    ]
    api = ctx.default_map["api"] if ctx.default_map and is_same_api(ctx, values) else ()
    places = _written(ctx, used)
    overwritten = [
        f"{flag} writes {place}"
        for flag, place in places
        if not place.resolve().is_relative_to(config.folder) or (place.is_file() and not trusts(place, [_MADE]))
    ]
    phrases = [*risks(used, api), *(destination(used) if own else ()), *overwritten]
    if phrases:
        _ask(config, used, api, phrases)
    for _, place in places:  # what this command makes, it may write again
        if not place.exists():
            with contextlib.suppress(UsageError):
                trust(place, [_MADE], {})


def _ask(config: Config, used: Mapping[str, Any], api: Sequence[str] | str, phrases: Sequence[str]) -> None:
    """Announce, and ask unless the user has agreed. Raises: UsageError: The user has not agreed to it."""
    from atc.apps.cli import say
    from atc.apps.cli.confirm import can_ask

    displayed = [*risks(_displayed(used), api), *phrases[len(risks(used)) :]]
    text = unhidden(f"{config.file}: {'; '.join(displayed)}")
    if len(text) > _MOST_SHOWN and not config.explicit:
        raise UsageError(f"{config.file} wants more than can be shown at once; read it, and name it with ATC_CONFIG")
    say(text)
    code = code_of(config.folder, _running(used))
    digest, agreed = _digest(config.file, phrases, code), _trusted()
    if config.explicit or digest in agreed:
        return
    if code and trusts(config.file, [*phrases, _CHANGED]):
        say(f"since you gave your word, {', '.join(map(str, code))} changed")
    path = one_line(str(config.file.resolve()))
    if can_ask() and click.confirm(f"Does {path} have your word for that?", default=False, err=True):
        if _digest(config.file, phrases, code_of(config.folder, _running(used))) != digest:
            raise UsageError(f"{', '.join(map(str, code))} changed just now; look at it, and repeat the command")
        trust(config.file, phrases, code)
        return
    raise UsageError(
        f"{config.file} has not been trusted with that. If it is yours, answer y at a terminal, or name it: "
        f"ATC_CONFIG={config.file}"
    )


def trust(file: Path, phrases: Sequence[str], code: Mapping[Path, str]) -> None:
    """Remember that the user agreed to what the file does, until it or a file of `code` changes. Raises: UsageError."""
    from atc.files import append_line, make_folder

    record = _record()
    make_folder(record.parent)
    for digest in (_digest(file, phrases, code), *([_digest(file, [*phrases, _CHANGED], {})] if code else [])):
        append_line(record, digest)


def trusts(file: Path, phrases: Sequence[str]) -> bool:
    """True if the user's word for this is remembered."""
    return _digest(file, phrases, {}) in _trusted()


def code_of(folder: Path, apis: Sequence[str] | str) -> dict[Path, str]:
    """The files that sources run, each with a digest: that of `functions:FILE`, and in the folder those of a command.

    What they import is not among them, but a module that is named, as in `python -m server`.
    """
    files: dict[Path, str] = {}
    for api in [apis] if isinstance(apis, str) else apis:
        source = split_namespace(str(api))[1]
        scheme = next((scheme for scheme in _RUNS_CODE if source.lower().startswith(scheme)), None)
        if scheme is None:
            continue
        rest = source[len(scheme) :]
        try:
            words = [rest] if scheme == "functions:" else shlex.split(rest)
        except ValueError:  # the command says so
            words = []
        names = words if scheme == "functions:" else [name for word in words for name in _names(word)]
        for path in (folder / name for name in names):
            with contextlib.suppress(OSError):
                if path.is_file() and (scheme == "functions:" or path.resolve().is_relative_to(folder)):
                    with path.open("rb") as file:
                        files[path] = hashlib.file_digest(file, "sha256").hexdigest()
    return files


def _names(word: str) -> Iterator[str]:
    """The files that a word of a command may run, or a word in it (`bash -c "python server.py"`, `--hook=a.js`)."""
    for part in dict.fromkeys((word, *re.split(r"[\s=;&|'\"]+", word))):
        module = PurePosixPath(part.removeprefix("-m").replace(".", "/"))
        yield from (part, f"{part}/__main__.py", f"{module}.py", f"{module}/__main__.py")
        yield from (f"{package}/__init__.py" for package in (module, *module.parents))


def risks(used: Mapping[str, Any], api: Sequence[str] | str = ()) -> list[str]:
    """What values of a file do that could do harm, a phrase each; they are by parameter, as options take them.

    `api`: That of the file where the command line names the same one, so that both speak of the same place.
    """
    values = {name: value if isinstance(value, tuple | list) else (value,) for name, value in used.items() if value}
    phrases = [f"runs {source}" for source in _running(used)]
    where = _where({"api": api} | dict(used)) or "the API of the command line"
    for name, flag in FLAGS.items():
        is_harmless = isinstance(flag.kind, tuple) and values.get(name, ("allow",))[0] in {*flag.kind} - {"allow"}
        if flag.risk and name in values and not is_harmless:
            phrases.append(flag.risk.format(value=", ".join(map(str, values[name])), where=where))
    if "resume" in values:  # a journal is as good as a command line
        phrases.append(f"goes on with {used['resume']}")
    return phrases + [
        f"{name.replace('_', '-')} = {used[name]}" for name in ("host", "key_file", "address") if name in values
    ]


def _running(used: Mapping[str, Any]) -> list[str]:
    """The values that run code, whatever their option: the document of a benchmark, too."""
    texts = [str(text) for value in used.values() for text in (value if isinstance(value, tuple | list) else [value])]
    return [text for text in texts if split_namespace(text)[1].lower().startswith(_RUNS_CODE)]


def _displayed(used: Mapping[str, Any]) -> dict[str, Any]:
    """The values with credentials and headers as they can be shown: what is wrong with one may be a secret."""
    readers = {name: _READERS[str(flag.kind)] for name, flag in FLAGS.items() if flag.kind in ("credential", "header")}
    return {name: tuple(map(readers[name], value)) if name in readers else value for name, value in used.items()}


def _credential_text(value: str) -> str:
    """`KIND:SOURCE`, as far as the kind is one of ours, and a file is there."""
    match = re.fullmatch(r"(?:[\w-]+=)?(.+?):(env|file|keyring):(.+)", value, re.DOTALL)
    if match is None:
        return "…"
    kind, source, place = match.groups()
    is_place = source == "env" or (Path(place).is_file() if source == "file" else "/" in place)
    return f"{kind if kind.partition(':')[0] in SCHEMES else '…'}:{source}:{place if is_place else '…'}"


def _header_text(value: str) -> str:
    """The name of a header."""
    name, colon, _ = value.partition(":")
    return name if colon and re.fullmatch(r"[\w-]+", name) else "…"


_READERS: dict[str, Callable[[str], str]] = {"credential": _credential_text, "header": _header_text}


def destination(used: Mapping[str, Any]) -> list[str]:
    """The phrase for a file that says where the credentials of the command line go; none where it does not."""
    where = _where(used)
    return [f"sends your credentials to {where}"] if where else []


def _where(used: Mapping[str, Any]) -> str:
    """The servers that the values name, by their document where they have no address; empty if they name none."""
    urls = used.get("base_url") or ()
    named = list(urls.values() if isinstance(urls, Mapping) else [urls] if isinstance(urls, str) else urls)
    if not named:
        apis = used.get("api") or ()
        named = _servers([apis] if isinstance(apis, str) else list(map(str, apis)))
    return ", ".join(dict.fromkeys(map(str, named)))


def _servers(apis: list[str]) -> list[str]:
    """The origins of the servers that documents name; the documents themselves where they have none."""
    from atc.apps.cli.documents import loaded

    if not apis or any(split_namespace(api)[1].lower().startswith(_NO_DOCUMENT) for api in apis):
        return apis
    try:
        protocol = loaded(apis)
    except ATCError:  # the command says so
        return apis
    return origins(protocol) or apis


def origins(protocol: Protocol) -> list[str]:
    """The scheme and host of each server that a document names."""
    urls = [server.url for server in (*protocol.servers, *(s for tool in protocol.tools for s in tool.servers))]
    parts = [urlsplit(url) for url in dict.fromkeys(urls)]
    return list(dict.fromkeys(f"{part.scheme}://{part.netloc}" for part in parts if part.netloc))


def _written(ctx: click.Context, used: Mapping[str, Any]) -> list[tuple[str, Path]]:
    """The places that the values have written to, each with its option."""
    return [
        (option.opts[0], Path(str(place)))
        for option in ctx.command.params
        if isinstance(option, click.Option) and _is_written(option)
        for value in [used.get(str(option.name), ())]
        for place in (value if isinstance(value, tuple) else [value])
    ]


def _is_written(option: click.Option) -> bool:
    if isinstance(option.type, click.Path):
        return not option.type.exists
    is_place = re.fullmatch(r"FILE(\.\w+)?|PAGE|DIR", option.metavar or "")
    return is_place is not None and isinstance(option.type, click.types.FuncParamType)


def _record() -> Path:
    from atc.engines.files import home

    return home() / "trusted"


def _trusted() -> frozenset[str]:
    try:
        return frozenset(_record().read_text("utf-8").split())
    except (OSError, UnicodeDecodeError):
        return frozenset()


def _digest(file: Path, phrases: Sequence[str], code: Mapping[Path, str]) -> str:
    contents = [sorted(code.values())] if code else []
    return hashlib.sha256(json.dumps([str(file.resolve()), sorted(phrases), *contents]).encode()).hexdigest()
