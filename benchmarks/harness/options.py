"""The options that all benchmarks have, each declared once: settings take theirs by name from the command's options."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from atc.apps.cli.options import json_option, limit_option, option, record_option, results_option, reuse_option
from atc.apps.cli.options import workers_option as several

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    SettingsT = TypeVar("SettingsT", bound=DataclassInstance)

__all__ = ["RunOptions", "WorkerOptions", "repeat_option", "settings_of"]


def repeat_option() -> Any:
    """`--repeat`, of benchmarks whose settings have `seed` and `repeat`."""
    return option(
        "--repeat",
        type=click.IntRange(min=1),
        metavar="K",
        help="Run K times, into DIR/1 to DIR/K: the same tasks, with the seed of what is drawn from --seed on.",
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Which tasks are run, and where what comes of them goes."""

    limit: int | None = limit_option("tasks")
    half: str | None = option(
        "--half",
        type=click.Choice(["even", "odd"]),
        help="Every other task: even from the first on, odd from the second.",
    )
    out: Path = results_option("tasks")
    record: Path | None = record_option()
    reuse: Path | None = reuse_option()
    as_json: bool = json_option("Print summary.json instead of the tables.")


@dataclass(frozen=True, kw_only=True)
class WorkerOptions(RunOptions):
    """The options of a benchmark whose tasks can run side by side."""

    workers: int = several("Tasks")
    engine: str = option(
        "--engine",
        type=click.Choice(["threads", "ray"]),
        default="threads",
        show_default=True,
        help="What runs the tasks.",
    )
    address: str | None = option(
        "--address", metavar="HOST:PORT", help="A Ray cluster; without it, --engine ray starts one here."
    )


def settings_of(kind: type[SettingsT], options: DataclassInstance, **derived: Any) -> SettingsT:
    """The settings of a run: each field as it is derived, else the option of that name, else its default."""
    values = {
        field.name: derived.pop(field.name, getattr(options, field.name, None))
        for field in fields(kind)
        if field.name in derived or (hasattr(options, field.name) and field.name != "repeat")
    }
    if derived:
        raise TypeError(f"{kind.__name__} has no {', '.join(derived)}")
    return kind(**values)
