"""What an installation has: models, engines, extras, folders, settings. Nothing is fetched, and no server is asked."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from atc.apps.cli.config import command_defaults, read_config
from protocols.errors import ATCError
from protocols.extras import install_command, requirements

__all__ = ["Check", "installation", "model_check"]

_EXTRAS = {
    "openai": "models of OpenAI, and of any endpoint like it, `openai:NAME`",
    "local": "models by llama.cpp, `local:NAME`",
    "openvino": "models by OpenVINO, `openvino:NAME`",
    "hf": "models by transformers, `hf:NAME`",
    "providers": "models of providers with an API of their own, `anthropic:NAME`",
    "retrieval": "the choice of tools for a question; every engine brings it",
    "mcp": "tools of an MCP server, `atc mcp serve`",
    "serve": "`atc serve`",
    "tui": "`atc tui`",
    "trace": "OpenTelemetry spans",
    "auth": "OAuth 2 and keyring as sources of --auth",
    "train": "`atc train`, `atc retrieve train`",
    "manipulation": "the spreadsheet task of `atc bench manipulation`",
    "inspect": "benchmarks as tasks of Inspect AI",
    "ray": "`atc bench --engine ray`",
}
"""What the extras are for; those of developers are left out."""


@dataclass(frozen=True, slots=True)
class Check:
    """A part of the installation. `missing` is not needed by everybody, `broken` has to be put right.

    `remedy` is a command or what to do, empty where nothing is to be done.
    """

    part: Literal["settings", "model", "extra", "folder"]
    name: str
    state: Literal["ok", "missing", "broken"]
    detail: str
    remedy: str = ""


def installation(group: click.Group, ctx: click.Context) -> tuple[Check, ...]:
    """All checks; `group` has the commands whose tables `atc.toml` may hold. Values of secrets are never read out."""
    return (*_settings(group, ctx), *_models(), *_extras(), *_folders())


def _settings(group: click.Group, ctx: click.Context) -> Iterator[Check]:
    yield Check("settings", "Python", "ok", f"{sys.version.split()[0]} at {sys.prefix}")
    model = ""
    try:
        unused: list[str] = []
        config = read_config(group.list_commands(ctx), unused.append)
        for reason in unused:
            yield Check("settings", "atc.toml", "broken", reason, "chown or chmod it, or set ATC_CONFIG")
        if config is None:
            yield Check("settings", "atc.toml", "missing", "none here or above", "atc init SPEC")
        else:
            for name in config.tables:
                if (command := group.get_command(ctx, name)) is not None:
                    command_defaults(config, name, command, own=False)
            if (command := group.get_command(ctx, "solve")) is not None:
                model = str(command_defaults(config, "solve", command, own=True).get("model", ""))
            yield Check("settings", "atc.toml", "ok", str(config.file))
    except ATCError as error:
        yield Check("settings", "atc.toml", "broken", str(error), "edit it, or write a new one: atc init SPEC --force")
    from atc.models import default_model

    yield model_check(model if model and not os.environ.get("ATC_MODEL") else default_model())
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        state: Literal["ok", "missing"] = "ok" if os.environ.get(variable, "").strip() else "missing"
        use = "the key of openai: models" if variable.endswith("KEY") else "their endpoint, if it is not OpenAI's"
        yield Check("settings", variable, state, use, "" if state == "ok" else f"export {variable}=…")


def model_check(name: str) -> Check:
    """The model that a solve would ask, as far as this machine tells."""
    from atc.engines import files
    from atc.engines.names import parse
    from atc.models import checked_model

    scheme, _, rest = name.partition(":")
    try:
        if scheme in ("local", "openvino"):
            if not _has_extra(scheme):
                return Check(
                    "model", name, "missing", "the default; its engine is not installed", install_command(scheme)
                )
            file = files.path(parse(rest).base)
            return Check("model", name, "ok", f"the default; {file}")
        if scheme == "hf" and not _has_extra("hf"):
            return Check("model", name, "missing", "the default; its engine is not installed", install_command("hf"))
        if scheme == "replay" and not Path(rest).is_file():
            return Check("model", name, "missing", f"the default; there is no file {rest}", "record one: --record FILE")
        checked_model(name)
        endpoint = os.environ.get("OPENAI_API_KEY", "").strip() or os.environ.get("OPENAI_BASE_URL")
        if scheme == "openai" and not endpoint:
            return Check("model", name, "missing", "the default; it needs a key", "export OPENAI_API_KEY=…")
    except ATCError as error:
        remedy = f"atc model pull {name}" if scheme in ("local", "openvino") else ""
        return Check("model", name, "missing", f"the default; {error}", remedy)
    return Check("model", name, "ok", "the default; not asked")


def _models() -> Iterator[Check]:
    """The models that can be pulled."""
    from atc.engines import files

    on_disk = files.installed()
    for model in files.CATALOGUE:
        name, size = f"local:{model.name}", f"{model.size / 1e9:.2f} GB"
        if model not in on_disk:
            yield Check("model", name, "missing", f"{size}, not on disk", f"atc model pull {name}")
            continue
        actual = (files.folder() / model.file).stat().st_size
        whole = actual == model.size
        remedy = "" if whole else f"delete {files.folder() / model.file}, then atc model pull {name}"
        yield Check("model", name, "ok" if whole else "broken", f"{actual / 1e9:.2f} GB on disk of {size}", remedy)


def _has_extra(name: str) -> bool:
    return not _absent(requirements().get(name, ()))


def _absent(distributions: Sequence[str]) -> list[str]:
    return [name for name in distributions if not _version(name)]


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _extras() -> Iterator[Check]:
    needed = requirements()
    for name, use in _EXTRAS.items():
        if name in needed:
            absent = _absent(needed[name])
            detail = f"{use}; without {', '.join(absent)}" if absent else use
            yield Check("extra", name, "missing" if absent else "ok", detail, install_command(name) if absent else "")


def _folders() -> Iterator[Check]:
    from atc.engines.files import home

    cache = home()
    there = next(folder for folder in (cache, *cache.absolute().parents) if folder.exists())
    usable = there.is_dir() and os.access(there, os.W_OK | os.X_OK)
    detail = f"{cache}{'' if there == cache else ', made when it is needed'}"
    remedy = "" if usable else f"make {there} a folder that you can write to, or name another one: export ATC_HOME=DIR"
    yield Check("folder", "cache", "ok" if usable else "broken", detail, remedy)
