"""Kinds of sources that packages to the right of this one add: what stands before the colon of a source."""

from __future__ import annotations

__all__ = ["LOADERS"]

LOADERS: dict[str, str] = {}
"""The function that loads a source, as `module:function`, by its scheme. It takes the text behind the colon and the
credentials, as `protocols.load` takes them, and gives a Protocol. It is imported at its first use."""
