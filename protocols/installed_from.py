"""How this installation gets an optional package: the command that works for the way in which it was installed.

The distribution is on no package index, so its name alone installs nothing. pip notes in `direct_url.json` (PEP 610)
what it installed from; uv and pipx leave a receipt in the environments that they make for a tool.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["DISTRIBUTION", "extra_command", "packages_command"]

DISTRIBUTION = "atc-toolchain"

_ROOT = Path(__file__).resolve().parents[1]


def extra_command(extra: str, packages: Iterable[str]) -> str:
    """The command that adds an extra to this installation.

    Args:
        packages: Those of the extra. They are named in an environment of pipx, and where what this was installed from
            is not there any more.
    """
    source, is_editable = _source()
    if source is None or (Path(sys.prefix) / "pipx_metadata.json").is_file():
        return packages_command(*packages)
    receipt = _uv_receipt()
    if receipt is None:
        return " ".join([*_pip(), *(["-e"] if is_editable else []), shlex.quote(_with_extras(source, [extra]))])
    others = [item for item in receipt if item["name"] != DISTRIBUTION]
    extras = [*(name for item in receipt if item not in others for name in item.get("extras", ())), extra]
    additions = [word for item in others for word in ("--with", shlex.quote(_requirement(item)))]
    options = [*(["--editable"] if is_editable else []), *additions]
    return " ".join(["uv", "tool", "install", *options, shlex.quote(_with_extras(source, extras))])


def packages_command(*requirements: str) -> str:
    """The command that adds packages from the index to the environment of this installation."""
    receipt = _uv_receipt()
    if (Path(sys.prefix) / "pipx_metadata.json").is_file():
        words = ["pipx", "inject", shlex.quote(Path(sys.prefix).name)]
    elif receipt is not None:
        words = ["uv", "pip", "install", "--python", shlex.quote(sys.prefix)]
    else:
        words = _pip()
    return " ".join([*words, *map(shlex.quote, requirements)])


def _installed() -> Distribution | None:
    try:
        return distribution(DISTRIBUTION)
    except PackageNotFoundError:
        return None


def _source() -> tuple[str | None, bool]:
    """The checkout, archive or address that this is of, and whether it is a checkout that is used as it is."""
    project = _ROOT / "pyproject.toml"
    if project.is_file() and f'name = "{DISTRIBUTION}"' in project.read_text("utf-8"):
        return _from_here(_ROOT), True
    installed = _installed()
    text = installed.read_text("direct_url.json") if installed else None
    if text is None:
        return None, False
    noted = json.loads(text)
    url = urlsplit(noted["url"])
    if url.scheme == "file" and "vcs_info" not in noted:
        path = Path(unquote(url.path))
        return (_from_here(path) if path.exists() else None), False
    vcs = noted.get("vcs_info")
    return (f"{vcs['vcs']}+{noted['url']}@{vcs['commit_id']}" if vcs else noted["url"]), False


def _from_here(path: Path) -> str:
    """A path as a command takes it: short where it is below the working folder."""
    if not path.is_relative_to(Path.cwd()):
        return str(path)
    return "." if path == Path.cwd() else f"./{path.relative_to(Path.cwd())}"


def _with_extras(source: str, extras: list[str]) -> str:
    listed = ",".join(dict.fromkeys(extras))
    return f"{DISTRIBUTION}[{listed}] @ {source}" if "://" in source else f"{source}[{listed}]"


def _pip() -> list[str]:
    """pip of this environment, uv's where that made it; plain `pip` where the shell finds this one."""
    installed = _installed()
    if installed is not None and (installed.read_text("INSTALLER") or "").strip() == "uv":
        return ["uv", "pip", "install", "--python", shlex.quote(_from_here(Path(sys.executable)))]
    pip = shutil.which("pip")
    if pip is not None and Path(pip).parent == Path(sys.executable).parent:
        return ["pip", "install"]
    return [shlex.quote(_from_here(Path(sys.executable))), "-m", "pip", "install"]


def _uv_receipt() -> list[dict[str, Any]] | None:
    """The requirements of an environment that `uv tool` made; None of another one."""
    receipt = Path(sys.prefix) / "uv-receipt.toml"
    if not receipt.is_file():
        return None
    requirements: list[dict[str, Any]] = tomllib.loads(receipt.read_text("utf-8"))["tool"]["requirements"]
    return requirements


def _requirement(item: dict[str, Any]) -> str:
    """An entry of a receipt as a requirement."""
    source = item.get("directory") or item.get("editable") or item.get("path") or item.get("url")
    return f"{item['name']} @ {source}" if source else f"{item['name']}{item.get('specifier', '')}"
