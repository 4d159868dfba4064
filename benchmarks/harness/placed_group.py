"""A group of commands, each of which loads when it is named: what one of them needs costs the others nothing."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from atc.apps.cli.help_pages import HelpGroup

__all__ = ["PlacedGroup", "loaded"]


def loaded(place: str) -> Any:
    """What is at `module:name`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


class PlacedGroup(HelpGroup):
    """A group by the places of its commands, `module:name`, in the order of the help."""

    def __init__(self, *arguments: Any, places: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in their order."""
        return list(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, loaded now."""
        return loaded(self._places[cmd_name]) if cmd_name in self._places else None
