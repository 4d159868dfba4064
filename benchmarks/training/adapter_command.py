"""`atc train adapter`: a trained adapter as a file for `local:`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import click

from atc.cli import print_json, say
from atc.cli.options import argument, json_option, option, takes

__all__ = ["adapter"]


@dataclass(frozen=True, kw_only=True)
class _AdapterOptions:
    folder: Path = argument(type=click.Path(path_type=Path), metavar="FOLDER")
    out: Path = option(
        "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="FILE", help="A .gguf file."
    )
    base: str | None = option(
        "--base",
        metavar="MODEL",
        help="The model that it was trained on: a name of `atc model list` or a GGUF file  [default: as FOLDER says]",
    )
    as_json: bool = json_option("Print the result as JSON.")


@click.command()
@takes(_AdapterOptions)
def adapter(options: _AdapterOptions) -> None:
    """Convert the LoRA adapter in FOLDER, as peft writes it, to a GGUF file for local:MODEL+FILE."""
    from atc.models import files
    from atc.training.gguf_adapter import convert, default_base

    base = options.base or default_base(options.folder)
    written = convert(options.folder, files.path(base), options.out)
    if options.as_json:
        print_json({**asdict(written), "file": str(written.file)})
    else:
        say(f"{written.tensors} tensors of rank {written.rank}, {written.size / 1e6:.1f} MB")
        say(f"ask with --model local:{base.removeprefix('local:')}+{written.file}")
