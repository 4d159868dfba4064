"""`atc train adapter`: a trained adapter as a file for `local:`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import argument, json_option, option, out_file, takes

__all__ = ["adapter"]


@dataclass(frozen=True, kw_only=True)
class _AdapterOptions:
    folder: Path = argument(type=click.Path(path_type=Path), metavar="FOLDER")
    out: Path = option("--out", type=out_file, required=True, metavar="FILE", help="A .gguf file.")
    base: str | None = option(
        "--base",
        metavar="MODEL",
        help="The model that it was trained on: a name of `atc model list` or a GGUF file  [default: as FOLDER says]",
    )
    merge: bool = option(
        "--merge",
        is_flag=True,
        help="Write the whole model with FOLDER's weights, in 8 bit, for local:FILE and openvino:FILE. FOLDER may then "
        "be a model's, such as `merged` of `method: full`.",
    )
    as_json: bool = json_option("Print the result as JSON.")


@click.command()
@takes(_AdapterOptions)
def adapter(options: _AdapterOptions) -> None:
    """Convert the LoRA adapter in FOLDER, as peft writes it, to a GGUF file for local:MODEL+FILE.

    OpenVINO takes no adapter; with --merge the file is a model of its own, which both engines read.
    """
    from atc.engines import files
    from benchmarks.learning.gguf_adapter import convert, default_base
    from benchmarks.learning.gguf_model import merge

    base = options.base or default_base(options.folder)
    if options.merge:
        model = merge(options.folder, files.path(base), options.out)
        _report(
            options, asdict(model), f"{model.tensors} tensors tuned", f"local:{model.file} or openvino:{model.file}"
        )
        return
    written = convert(options.folder, files.path(base), options.out)
    name = f"local:{base.removeprefix('local:')}+{written.file}"
    _report(options, asdict(written), f"{written.tensors} tensors of rank {written.rank}", name)


def _report(options: _AdapterOptions, figures: dict[str, Any], tensors: str, name: str) -> None:
    """Print what was written, and how to ask it."""
    if options.as_json:
        print_json({**figures, "file": str(figures["file"])})
        return
    say(f"{tensors}, {figures['size'] / 1e6:.1f} MB")
    say(f"ask with --model {name}")
