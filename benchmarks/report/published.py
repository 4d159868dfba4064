"""Published figures: a YAML file for each source, kept apart from ours and never shown without that word."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml

__all__ = ["published"]


@cache
def published(source: Literal["paper", "toolbench", "complexity", "manipulation"]) -> Mapping[str, Any]:
    """The figures of `SOURCE.yaml`: of the ATC paper, ToolLLM, and Xu et al. (complexity, manipulation)."""
    data: Mapping[str, Any] = yaml.safe_load(files(__package__).joinpath(f"{source}.yaml").read_text("utf-8"))
    return data
