"""Engines: what opens a model by the rest of its name. Those on this machine are here; each imports its library late.

An engine is an entry point `atc.engines`: a function of (name, EngineSettings) that gives a Model.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from protocols.errors import ModelError, UsageError
from protocols.extras import needs_extra

if TYPE_CHECKING:
    from atc.models import EngineSettings, Model

__all__ = ["open_hf", "open_local", "open_openai", "open_openvino", "open_replay"]


def open_local(name: str, settings: EngineSettings) -> Model:
    """A model file, run by llama.cpp inside our process (extra `local`)."""
    from atc.engines import files
    from atc.engines.local import CONTEXT, LocalEngine, default_threads
    from atc.engines.names import identity, parse

    _check_engine(f"local:{name}", "xllamacpp", "local")
    parts = parse(name)
    file = files.path(parts.base)
    return LocalEngine(
        identity(f"local:{name}"),
        file,
        seed=settings.seed,
        context=CONTEXT if files.is_listed(parts.base) else min(CONTEXT, files.context_length(file)),
        keep=files.prefixes() if settings.keep else None,
        threads=settings.threads or default_threads(),
        adapter=parts.adapter,
    )


def open_openvino(name: str, settings: EngineSettings) -> Model:
    """The same file, run by OpenVINO (extra `openvino`)."""
    from atc.engines import files
    from atc.engines.local import default_threads
    from atc.engines.names import parse
    from atc.engines.openvino_model import OpenVINOModel

    parts = parse(name)
    if parts.adapter is not None:
        raise UsageError(
            f"openvino: takes no adapter, since it knows no layers of a converted model by their names; give "
            f"local:{name}, or a GGUF file of the merged model"
        )
    _check_engine(f"openvino:{name}", "openvino_genai", "openvino")
    file = files.path(parts.base)
    return OpenVINOModel(f"openvino:{name}", file, files.converted(file), settings.threads or default_threads())


def _check_engine(model: str, module: str, extra: str) -> None:
    """Before its file is looked for, which has a gigabyte. Raises: ModelError: The engine is not installed."""
    if find_spec(module) is None:
        raise ModelError(needs_extra(model, extra))


def open_hf(name: str, settings: EngineSettings) -> Model:
    """A folder, a hub name or a file that transformers can load (extra `hf`)."""
    from atc.engines.names import identity, parse
    from atc.engines.transformers_model import TransformersModel

    parts = parse(name)
    return TransformersModel(parts.base, parts.adapter, identity(f"hf:{name}"))


def open_openai(name: str, settings: EngineSettings) -> Model:
    """OpenAI, or any endpoint that speaks its chat completions format."""
    from atc.models.openai_compatible import Endpoint

    return Endpoint(name, seed=settings.seed, silence=settings.silence)


def open_replay(name: str, settings: EngineSettings) -> Model:
    """Recorded answers."""
    from atc.models.replay import ReplayModel

    return ReplayModel(Path(name))
