"""Protocols of the project's own writing, for demos and first steps."""

from __future__ import annotations

from pathlib import Path

__all__ = ["sample"]


def sample(name: str) -> Path:
    """The file of a sample protocol: `sample("cinema")`.

    Raises: FileNotFoundError: No sample has that name; the message lists the existing names.
    """
    folder = Path(__file__).parent
    file = folder / f"{name}.yaml"
    if not file.is_file():
        names = ", ".join(sorted(path.stem for path in folder.glob("*.yaml")))
        raise FileNotFoundError(f"no sample is called {name!r}; there are: {names}")
    return file
