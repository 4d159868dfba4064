"""Language models behind one interface: the data of a request and an answer; `open_model` opens one by its name.

What opens a model (atc.models.opening) is loaded at its first use: an agent may be given an object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from atc.models.base import AnyModel, Completion, Message, Model, Progress, Usage

if TYPE_CHECKING:
    from atc.models.opening import DEFAULT_MODEL, EngineSettings, checked_model, default_model, open_model

__all__ = [
    "DEFAULT_MODEL",
    "AnyModel",
    "Completion",
    "EngineSettings",
    "Message",
    "Model",
    "Progress",
    "Usage",
    "checked_model",
    "default_model",
    "open_model",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        from atc.models import opening

        return getattr(opening, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
