"""Refuse to work with a foreign `sandbox` or `benchmarks` package.

The packages of this distribution have everyday names. A folder `benchmarks/` beside a user's script comes first on the
import path and would be imported in place of ours, and fail later with an obscure message. So the import of `atc`
checks the locations of its siblings, without importing them.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

__all__ = ["SIBLINGS", "check"]

SIBLINGS = ("protocols", "sandbox", "probing", "benchmarks")
"""The packages installed beside `atc`."""


def check(home: Path | None = None) -> None:
    """Check that every sibling is in the folder of `atc` itself (`home`).

    Raises: ImportError: One is missing or shadowed; the message names the shadowing folder and the remedy.
    """
    home = home or Path(__file__).resolve().parent.parent
    for name in SIBLINGS:
        folder = _folder(name)
        if folder is None:
            raise ImportError(
                f"atc needs its package `{name}` beside it in {home}, and it is not there: install atc-toolchain again",
                name=name,
            )
        if folder.parent != home:
            raise ImportError(
                f"atc needs its own package `{name}` from {home}, but {folder} comes first on the import path: "
                f"rename that folder, or start Python elsewhere or with `-P`, so that it does not look there",
                name=name,
                path=str(folder),
            )


def _folder(name: str) -> Path | None:
    """The location that `import name` would load from; None if nowhere."""
    spec = sys.modules[name].__spec__ if name in sys.modules else find_spec(name)
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).resolve()
    return Path(spec.origin).resolve() if spec.origin else None
