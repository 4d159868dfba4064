"""Opens a model by its name, with an engine (`atc.engines`).

local:NAME    a model file on this machine, run by an engine inside our process (extra `local`)
openvino:NAME the same file, run by OpenVINO: reads faster on newer processors (extra `openvino`)
openai:NAME   OpenAI, or any endpoint that speaks its chat completions format (OPENAI_BASE_URL, OPENAI_API_KEY)
hf:NAME       a folder, a hub name or a model file that transformers can load (extra `hf`)
replay:FILE   recorded answers
anthropic:NAME, google:NAME, mistral:NAME, ollama:NAME and others: a provider (extra `providers`)

NAME of a model file is one of the catalogue (`atc model list`), or the path of a GGUF file. `+ADAPTER` after it names a
LoRA adapter: a GGUF file for `local:`, the folder that peft writes for `hf:`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from atc.doors import doors, load
from atc.models.base import SILENCE, AnyModel, Model, as_model
from protocols.errors import UsageError

__all__ = ["DEFAULT_MODEL", "EngineSettings", "checked_model", "default_model", "open_model"]

DEFAULT_MODEL = "local:qwen2.5-coder-1.5b"


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What an engine is told beside the name of its model.

    `seed` is for sampled answers. `keep`: an engine on this machine may keep the common prefix of prompts on disk.
    `threads` is None for the engine's own default. `silence` are the seconds that an endpoint may say nothing.
    """

    seed: int = 0
    keep: bool = False
    threads: int | None = None
    silence: float = SILENCE


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
    silence: float | None = None,
) -> Model:
    """Open a model by its name. Heavy parts are loaded at its first completion.

    Args:
        name: `local:NAME`, `openvino:NAME`, `openai:NAME`, `hf:NAME`, `replay:FILE`, or a provider's, such as
            `anthropic:NAME`; None means `default_model()`. The opened model's name has the hash of an adapter, too
            (see `atc.engines.names`).
        record: A file that every answer is appended to, for `replay:FILE`.
        reuse: A file of recorded answers to use first; new answers are appended to it.
        seed: For models with a seed.
        keep: Whether a local model may keep the common prefix of prompts on disk, and find it there.
        threads: Threads of `local:` and `openvino:`, by default `ATC_THREADS`, else one a core, and a core less from
            four cores on.
        silence: Seconds without a byte after which an endpoint or a provider is given up, by default 120.
    Raises:
        UsageError: No model has that name, nothing can wait so long, or the file to record in cannot be written.
        ModelError: The model is known but unavailable: no file, no key, an extra that is not installed, an adapter of
            another model.
    """
    settings = EngineSettings(seed, keep, threads, SILENCE if silence is None else silence)
    engine, rest = _engine(name or default_model())
    model: Model
    if engine in doors("atc.engines"):
        model = load("atc.engines", engine)(rest, settings)
    else:
        from atc.models.providers import ProviderModel

        model = ProviderModel(engine, rest, silence=settings.silence)
    if record is None and reuse is None:
        return model
    from atc.models.replay import CachingModel, Recorder

    model = CachingModel(model, reuse) if reuse else model
    return Recorder(model, record) if record else model


def checked_model(model: str | AnyModel | None) -> str | Model | None:
    """What an option says of a model: a name that there is, or an object, as a Model; nothing is opened.

    Raises: UsageError: It names no model, or is none. ModelError: The extra for it is not installed.
    """
    if model is not None and not isinstance(model, str):
        return as_model(model)
    _engine(model or default_model())
    return model


def _engine(name: str) -> tuple[str, str]:
    """The engine or provider that a name begins with, and the rest. Raises: as `checked_model`."""
    engine, _, rest = name.partition(":")
    engines = doors("atc.engines")
    if rest and engine in engines:
        return engine, rest
    from atc.models.providers import FAMILIES, check_installed, is_provider, meant

    if rest and is_provider(engine):
        check_installed(name)
        return engine, rest
    if (guess := meant(name, engines)) is not None:
        raise UsageError(f"{name!r} names no model; did you mean {guess}?")
    prefixes = ", ".join(f"{prefix}:…" for prefix in sorted({*engines, *FAMILIES}))
    behind = "" if ":" in name else f"; a model behind an endpoint is openai:{name}"
    raise UsageError(f"{name!r} names no model; give {DEFAULT_MODEL}, or one of {prefixes}{behind}")
