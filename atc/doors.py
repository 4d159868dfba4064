"""Doors for others, and the way to our own packages.

A mode, an engine, a help or a command is an entry point, which is loaded at its first use.

`pyproject.toml` lists ours; a package of somebody else lists its own in the same groups:

atc.modes     a Mode (`atc.modes`)
atc.engines   a function that opens a model by the rest of its name (`atc.models.opening`)
atc.help      a class of help for a model (`atc.help`)
atc.commands  a click command
atc.facts     a fact about a run (`atc.evidence.facts`)
atc.benchmarks  a benchmark (`benchmarks.harness.registry`)
atc.auth      an auth scheme, read by `protocols.calls.auth`

The packages of this distribution have everyday names. A folder `benchmarks/` beside a user's script would be imported
in place of ours, and fail later with an obscure message. So a hidden package is loaded from the folder of `atc`, and
only when it is needed: `import atc` needs two of them, and a user's own `benchmarks` stays theirs until a mode or a
command of ours is asked for. Where another package has the name already, one of the two must be renamed.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["CORE", "SIBLINGS", "Door", "claim", "doors", "load"]

CORE = ("protocols", "sandbox")
"""The packages that `atc` imports."""
SIBLINGS = (*CORE, "probing", "benchmarks")
"""The packages installed beside `atc`."""


def claim(names: tuple[str, ...] = SIBLINGS, home: Path | None = None) -> None:
    """See that the packages are imported from the folder of `atc` itself (`home`).

    Raises: ImportError: One is missing, or something else was imported under its name; the message says what to do.
    """
    home = home or Path(__file__).resolve().parent.parent
    for name in names:
        is_loaded = name in sys.modules
        folder = _folder(sys.modules[name].__spec__ if is_loaded else find_spec(name))
        if folder is not None and folder.parent == home:
            continue
        start = home / name / "__init__.py"
        if not start.is_file():
            raise ImportError(
                f"atc needs its package `{name}` beside it in {home}, and it is not there: install atc-toolchain again",
                name=name,
            )
        if is_loaded:
            raise ImportError(
                f"atc needs its own package `{name}` from {home}, but {folder or 'another module'} was imported under "
                f"that name: rename it, or import it in a process without atc",
                name=name,
                path=str(folder),
            )
        _load(name, start)


def _load(name: str, start: Path) -> None:
    spec = spec_from_file_location(name, start, submodule_search_locations=[str(start.parent)])
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def _folder(spec: ModuleSpec | None) -> Path | None:
    """The location that a module is loaded from; None if nowhere."""
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).resolve()
    return Path(spec.origin).resolve() if spec.origin else None


Door = Literal["atc.modes", "atc.engines", "atc.help", "atc.commands", "atc.benchmarks", "atc.facts"]


@cache
def doors(group: Door) -> dict[str, EntryPoint]:
    """What is registered in a group, by its name."""
    from importlib.metadata import entry_points  # `import atc` needs none of it

    return {entry.name: entry for entry in entry_points(group=group)}


def load(group: Door, name: str) -> Any:
    """What is registered under a name. Raises: KeyError: Nothing is. ImportError: Its module cannot be imported."""
    entry = doors(group)[name]
    if entry.module.partition(".")[0] in SIBLINGS:
        claim()
    return entry.load()
