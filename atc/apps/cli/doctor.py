"""`atc doctor`: which walls stand around a program on this machine, and what the installation has.

Nothing is fetched, no server is asked, and no value of a secret is read out.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from atc.apps.cli import print_json
from atc.apps.cli.config import command_defaults, read_config
from protocols.errors import ATCError, UsageError
from protocols.extras import install_command, requirements

if TYPE_CHECKING:
    from sandbox import Layer

__all__ = ["Check", "doctor", "model_check"]

_LAYERS = {
    "policy": "the language: no way from an object into the interpreter",
    "process": "a process of its own, without environment and open files",
    "folder": "an empty working folder that is on no disk",
    "no_new_privs": "no privileges by starting another program",
    "user namespace": "no user of this machine",
    "network namespace": "no network, not even this machine",
    "capabilities": "no capabilities",
    "parent": "the worker ends with the process that started it",
    "landlock": "no files but Python's library",
    "seccomp": "no system calls but the ones that computing needs",
    "rlimits": "limits on memory, CPU time, files and their size",
}

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


@click.command()
@click.option("--strict-sandbox", "strict", is_flag=True, help="Exit with 2 if a layer is missing.")
@click.option("--json", "as_json", is_flag=True, help="Print layers and checks as JSON.")
def doctor(strict: bool, as_json: bool) -> None:
    """Show what this installation has and lacks, the sandbox first.

    Listed are the layers of the sandbox that are active here. Checked are atc.toml, the model and its engine, extras
    and the folder for models; each lack comes with its remedy. No server is asked, and no secret is read out. Exit code
    0: nothing is broken, though something may be missing; 1: something is broken.
    """
    from atc.apps.cli import main
    from sandbox import Sandbox

    context = click.get_current_context()
    layers = Sandbox(None).layers()
    checks = (*_settings(main, context.find_root()), *_models(), *_extras(), *_folders())
    if as_json:
        print_json({"layers": [asdict(layer) for layer in layers], "checks": [asdict(check) for check in checks]})
    else:
        _print(layers, checks)
    if strict and any(not layer.active for layer in layers):
        raise UsageError("a layer of the sandbox is missing")
    context.exit(1 if any(check.state == "broken" for check in checks) else 0)


def _print(layers: Sequence[Layer], checks: Sequence[Check]) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    from protocols.quoting import visible

    console = Console(highlight=False)

    def tell(state: str, name: str, detail: str, remedy: str = "") -> None:
        head = Text.assemble((f"{state} ", {"ok": "green", "broken": "red"}.get(state, "yellow")), (name, "bold"))
        console.print(Padding(head + Text(f": {visible(detail)}" if detail else ""), (0, 0, 0, 2)))
        if remedy:  # in one line, so that it can be copied
            console.print(Text(f"    → {visible(remedy)}"), soft_wrap=True)

    console.print("Layers of the sandbox", style="bold")
    for layer in layers:
        tell("ok" if layer.active else "missing", layer.name, layer.reason or _LAYERS.get(layer.name, ""))
    for part in dict.fromkeys(check.part for check in checks):
        console.print(f"\n{part.capitalize()}", style="bold")
        for check in checks:
            if check.part == part:
                tell(check.state, check.name, check.detail, check.remedy)
    default = next(check for check in checks if check.part == "model")  # the first one is the model of a solve
    verdict = f"ready: atc solve asks {default.name}" if default.state == "ok" else f"not yet ready: {default.remedy}"
    # A Text, since `[local]` in a command is no markup.
    console.print(Text(f"\n{verdict}. What else is missing is needed only for what its line names.", style="bold"))


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

    def missing(why: str, remedy: str) -> Check:
        return Check("model", name, "missing", f"the default; {why}", remedy)

    scheme, _, rest = name.partition(":")
    if scheme in ("local", "openvino", "hf") and _absent(scheme):
        return missing("its engine is not installed", install_command(scheme))
    has_file = scheme in ("local", "openvino")
    try:
        if has_file:
            return Check("model", name, "ok", f"the default; {files.path(parse(rest).base)}")
        if scheme == "replay" and not Path(rest).is_file():
            return missing(f"there is no file {rest}", "record one: --record FILE")
        checked_model(name)
    except ATCError as error:
        return missing(str(error), f"atc model pull {name}" if has_file else "")
    endpoint = os.environ.get("OPENAI_API_KEY", "").strip() or os.environ.get("OPENAI_BASE_URL")
    if scheme == "openai" and not endpoint:
        return missing("it needs a key", "export OPENAI_API_KEY=…")
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


def _absent(extra: str) -> list[str]:
    """The distributions of an extra that are not installed."""
    return [name for name in requirements().get(extra, ()) if not any(importlib.metadata.distributions(name=name))]


def _extras() -> Iterator[Check]:
    for name, use in _EXTRAS.items():
        if name in requirements():
            absent = _absent(name)
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
