"""Language models behind one interface; `open_model` opens one by its name.

local:NAME    a model file on this machine, run by an engine inside our process (extra `local`)
openvino:NAME the same file, run by OpenVINO: reads faster on newer processors (extra `openvino`)
openai:NAME   OpenAI, or any endpoint that speaks its chat completions format (OPENAI_BASE_URL, OPENAI_API_KEY)
hf:NAME       a folder, a hub name or a model file that transformers can load (extra `hf`)
replay:FILE   recorded answers

NAME of a model file is one of the catalogue (`atc model list`), or the path of a GGUF file. `+ADAPTER` after it names a
LoRA adapter: a GGUF file for `local:`, the folder that peft writes for `hf:`.
"""

from __future__ import annotations

import os
from pathlib import Path

from atc.models.base import Completion, Message, Model, Progress, Usage
from protocols.errors import UsageError

__all__ = ["DEFAULT_MODEL", "Completion", "Message", "Model", "Progress", "Usage", "default_model", "open_model"]

DEFAULT_MODEL = "local:qwen2.5-coder-1.5b"


def default_model() -> str:
    """The default model: `ATC_MODEL`, else the small local one."""
    return os.environ.get("ATC_MODEL") or DEFAULT_MODEL


def open_model(
    name: str | None = None,
    *,
    record: Path | None = None,
    reuse: Path | None = None,
    seed: int = 0,
    keep: bool = False,
    threads: int | None = None,
) -> Model:
    """Open a model by its name. Heavy parts are loaded at its first completion.

    Args:
        name: `local:NAME`, `openvino:NAME`, `openai:NAME`, `hf:NAME` or `replay:FILE`; None means `default_model()`.
            The opened model's name has the hash of an adapter, too (see `atc.models.names`).
        record: A file that every answer is appended to, for `replay:FILE`.
        reuse: A file of recorded answers to use first; new answers are appended to it.
        seed: For models with a seed.
        keep: Whether a local model may keep the common prefix of prompts on disk, and find it there.
        threads: Threads of `local:` and `openvino:`, by default `ATC_THREADS`, else one a core, and a core less from
            four cores on.
    Raises:
        UsageError: No model has that name, or the file to record in cannot be written.
        ModelError: The model is known but unavailable: no file, no key, an extra that is not installed, an adapter of
            another model.
    """
    model = _open(name or default_model(), seed, keep, threads)
    if record is None and reuse is None:
        return model
    from atc.models.replay import CachingModel, Recorder

    model = CachingModel(model, reuse) if reuse else model
    return Recorder(model, record) if record else model


def _open(name: str, seed: int, keep: bool, threads: int | None) -> Model:
    scheme, _, model_name = name.partition(":")
    if model_name:
        if scheme == "local":
            from atc.models import files
            from atc.models.local import CONTEXT, LocalEngine, default_threads
            from atc.models.names import identity, parse

            parts = parse(model_name)
            file = files.path(parts.base)
            return LocalEngine(
                identity(name),
                file,
                seed=seed,
                context=CONTEXT if files.is_listed(parts.base) else min(CONTEXT, files.context_length(file)),
                keep=files.prefixes() if keep else None,
                threads=threads or default_threads(),
                adapter=parts.adapter,
            )
        if scheme == "openvino":
            from atc.models import files
            from atc.models.local import default_threads
            from atc.models.names import parse
            from atc.models.openvino_model import OpenVINOModel

            parts = parse(model_name)
            if parts.adapter is not None:
                raise UsageError(
                    f"openvino: takes no adapter, since it knows no layers of a converted model by their names; give "
                    f"local:{model_name}, or one file that `atc train adapter FOLDER --merge` writes"
                )
            file = files.path(parts.base)
            return OpenVINOModel(name, file, files.converted(file), threads or default_threads())
        if scheme == "openai":
            from atc.models.openai_compatible import OpenAIModel

            return OpenAIModel(model_name, seed=seed)
        if scheme == "hf":
            from atc.models.names import identity, parse
            from atc.models.transformers_model import TransformersModel

            parts = parse(model_name)
            return TransformersModel(parts.base, parts.adapter, identity(name))
        if scheme == "replay":
            from atc.models.replay import ReplayModel

            return ReplayModel(Path(model_name))
    from atc.models.files import CATALOGUE

    known_names = ", ".join(f"{scheme}:{model.name}" for model in CATALOGUE for scheme in ("local", "openvino"))
    raise UsageError(f"{name!r} names no model; give {known_names}, openai:NAME, hf:NAME or replay:FILE")
