"""YAML of small files that a user names: without what makes a small file large, aliases and endless numbers."""

from __future__ import annotations

from typing import Any

import yaml

__all__ = ["SettingsLoader", "parse_settings"]


class SettingsLoader(yaml.SafeLoader):
    """The safe loader of YAML without aliases: thirty lines of them can stand for a billion values."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """As the base class. Raises: yaml.MarkedYAMLError: There is an alias."""
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="an alias, which is not taken here", problem_mark=mark)
        return super().compose_node(parent, index)


def parse_settings(text: str) -> Any:
    """The data of a text. Raises: yaml.YAMLError, ValueError, RecursionError: It is none, or has an endless number."""
    data = yaml.load(text, Loader=SettingsLoader)
    repr(data)  # a ValueError where a number, such as a hexadecimal one, has no decimal form that Python writes
    return data
