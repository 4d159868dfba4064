"""Functions of this process as tools: their signatures, hints and docstrings are read, and they are called here.

An instance of a class travels as an object of its fields with the name of its class under `CLASS`.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CLASS", "plain"]

CLASS = "__class__"
"""The key under which an instance has the name of its class."""


def plain(value: object) -> object:
    """A JSON value without the names of classes."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items() if key != CLASS}
    return [plain(item) for item in value] if isinstance(value, list) else value
