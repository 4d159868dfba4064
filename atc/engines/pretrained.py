"""Where transformers finds a model, and what it loads of it: for `hf:`, and for the base of a fine-tuning.

Files that are damaged, missing or of another kind make transformers and the libraries below it raise errors of many
classes. Here each is a ModelError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atc.engines import files
from atc.engines.gguf_metadata import read_metadata
from protocols.errors import ModelError

__all__ = ["BaseModelFiles", "find_base", "load_part", "load_tokenizer", "load_weights", "loading", "look_up"]

_HUB_TIMEOUT = 10.0
_MODEL_FILES = ("config.json", "modules.json")
_END_TOKEN = "tokenizer.ggml.eos_token_id"


@dataclass(frozen=True, slots=True)
class BaseModelFiles:
    """Where transformers finds a model: a folder or hub name, and the GGUF file in that folder if it is one."""

    name: str
    source: str
    gguf: str | None = None

    def options(self) -> dict[str, str]:
        """The keywords of `from_pretrained`."""
        return {"gguf_file": self.gguf} if self.gguf else {}


def find_base(name: str) -> BaseModelFiles:
    """Find the files of a model: a name of the catalogue, a folder, a GGUF file, or a name on the hub.

    Raises:
        ModelError: There are none. A name on the hub is not looked up here.
        UsageError: The catalogue has no model of that name.
    """
    short = name.removeprefix("local:")
    is_listed = files.is_listed(short) or name.startswith("local:")
    if is_listed or name.endswith(".gguf"):
        file = files.path(short)
        return BaseModelFiles(short if is_listed else file.stem, str(file.parent), file.name)
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise ModelError(f"{folder} is no model folder: it has no config.json")
        return BaseModelFiles(folder.name, str(folder))
    if name.startswith((".", "/", "~")):
        raise ModelError(f"there is no model folder {folder}")
    return BaseModelFiles(name, name)


def look_up(source: str, owner: str = "") -> None:
    """Ask the hub once for what is no folder and not in its cache: loading it asks again and again, for over a minute.

    Args:
        owner: Whose models may be named without it.
    Raises: what huggingface_hub raises, of many classes.
    """
    from huggingface_hub import model_info, try_to_load_from_cache
    from huggingface_hub.errors import RepositoryNotFoundError

    names = [f"{owner}/{source}", source] if owner and "/" not in source else [source]
    cached = (isinstance(try_to_load_from_cache(name, file), str) for name in names for file in _MODEL_FILES)
    if Path(source).exists() or any(cached):
        return
    for name in names[:-1]:
        with suppress(RepositoryNotFoundError):
            model_info(name, timeout=_HUB_TIMEOUT)
            return
    model_info(names[-1], timeout=_HUB_TIMEOUT)


def load_part(base: BaseModelFiles, load: Callable[..., Any], **options: Any) -> Any:
    """What a `from_pretrained` of transformers loads of a model. Raises: ModelError."""
    with loading(base):
        look_up(base.source)
        return load(base.source, **base.options(), **options)


def load_weights(base: BaseModelFiles, **options: Any) -> Any:
    """A causal language model with its weights; those of a GGUF file are unpacked. Raises: ModelError."""
    import transformers

    if base.gguf and hasattr(transformers, "GgufConfig"):  # since 5.23 blocks stay packed unless this is said
        options["quantization_config"] = transformers.GgufConfig(dequantize=True)
    return load_part(base, transformers.AutoModelForCausalLM.from_pretrained, **options)


def load_tokenizer(base: BaseModelFiles) -> Any:
    """The tokenizer of a model. Raises: ModelError.

    Its end token is that of a GGUF file's metadata, at which engines stop: some versions of transformers (5.17) take
    another one, and a model that learns to end with that one goes on writing.
    """
    import transformers

    tokenizer = load_part(base, transformers.AutoTokenizer.from_pretrained)
    if base.gguf:
        end = read_metadata(Path(base.source, base.gguf), [_END_TOKEN]).get(_END_TOKEN)
        if isinstance(end, int) and end != tokenizer.eos_token_id:
            tokenizer.eos_token = tokenizer.convert_ids_to_tokens(end)
    return tokenizer


@contextmanager
def loading(base: BaseModelFiles) -> Iterator[None]:
    """Have transformers load quietly, and tell what to do where it cannot. Raises: ModelError."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        yield
    except Exception as error:  # of many classes; a damaged safetensors file has one of its own
        reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        raise ModelError(f"transformers cannot load {base.name}: {reason}{_remedy(base, error)}") from error


def _remedy(base: BaseModelFiles, error: Exception) -> str:
    if isinstance(error, ImportError):  # its message says what to install
        return ""
    if Path(base.source).is_dir():
        return f"; if {Path(base.source, base.gguf or '')} is damaged or incomplete, copy it there again"
    return (
        "; if the hub cannot be reached from here, download the model elsewhere "
        "(`hf download NAME --local-dir FOLDER`) and name the folder in its place"
    )
